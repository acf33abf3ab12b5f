/* SPDX-License-Identifier: MIT */
/* Sorts over ranks by bins: which bins there are, and how many keys each has. */
#include <gp/radixsort.h>

#include "dist/dist_split_internal.h"

/* Bytes of each rank, on the average, from which on this is faster (dist-04). A build that tests
 * faults has both ways. */
#ifdef GPI_FAULT
#define BYTES_CUDA ((uint64_t)1 << 16)
#else
#define BYTES_CUDA ((uint64_t)1 << 30)
#endif
enum { BYTES_CPU = 1 << 10, GROUP_CUDA = 1 << 22, GROUP_CPU = 1 << 8 };

/* Keys of a group that a GPU sorts in the least time for each (dist-12). */
#define GROUP_MOST ((uint64_t)1 << 27)

/* Of notes, as ranks may be of both backends: the limits of each. */
enum { WORD_BYTES = 3, WORD_GROUP = 4 };

void gpi_dist_note_split(const gp_comm *comm, struct gpi_note *note)
{
    const bool cuda = comm->ctx->backend == GP_BACKEND_CUDA;
    note->words[WORD_BYTES] = cuda ? BYTES_CUDA : BYTES_CPU;
    note->words[WORD_GROUP] = cuda ? GROUP_CUDA : GROUP_CPU;
}

/* The highest limit of all ranks. */
static uint64_t limit_of(const gp_comm *comm, int word)
{
    uint64_t limit = 0;
    for (int r = 0; r < comm->ranks; r++)
        limit = comm->notes[r].words[word] > limit ? comm->notes[r].words[word] : limit;
    return limit;
}

bool gpi_dist_all_on_gpus(const gp_comm *comm)
{
    bool all = true;
    for (int r = 0; r < comm->ranks; r++)
        all = all && comm->notes[r].words[WORD_GROUP] == GROUP_CUDA;
    return all;
}

/* Floats alone would be sorted by some of their bits as pairs, and narrow keys are counted. */
bool gpi_dist_suits_split(const struct gpi_sort_args *s)
{
    return s->desc.result != GP_DIST_FREE && s->key_bytes >= 4 && s->value_bytes <= 8 &&
           (s->value_bytes || !gpi_dtype_is_float(s->dtype));
}

bool gpi_dist_is_large(const struct gpi_sorting *x, uint64_t total)
{
    const uint64_t bytes = total * (x->s->key_bytes + x->s->value_bytes);
    return bytes / (uint64_t)x->comm->ranks >= limit_of(x->comm, WORD_BYTES);
}

bool gpi_dist_may_split(const struct gpi_sorting *x, uint64_t total)
{
    const gp_comm *comm = x->comm;
    if (comm->ranks < 2 || comm->ranks > GPI_SPLIT_RANKS || !gpi_dist_suits_split(x->s))
        return false;
    for (int r = 0; r < comm->ranks; r++)
        if (comm->get[r] == total)
            return false;
    return gpi_dist_is_large(x, total);
}

/* ---- memory ---------------------------------------------------------------------------------- */

uint64_t gpi_split_group_least(const struct gpi_sorting *x)
{
    return limit_of(x->comm, WORD_GROUP);
}

uint64_t gpi_split_group_least_any(void)
{
    return GROUP_CUDA;
}

uint64_t gpi_split_group_wanted(uint64_t get, uint64_t least)
{
    const uint64_t quarter = get / 4 < GROUP_MOST ? get / 4 : GROUP_MOST;
    return quarter > least ? quarter : least;
}

uint64_t gpi_split_group_max(uint64_t get, uint64_t least, uint64_t total)
{
    const uint64_t most = gpi_split_group_wanted(get, least) + total / GPI_SPLIT_SHARE;
    return most < get ? most : get;
}

static gp_status sort_bytes(const gp_target *target, const struct gpi_sort_args *s, uint64_t n,
                            int begin_bit, size_t *bytes)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->order;
    o.begin_bit = begin_bit;
    return gp_radix_sort_workspace_bytes(target, s->dtype, s->value_bytes, n, &o, bytes);
}

/* First the sort into bins, then what comes here, cut bins and a group's sort. */
gp_status gpi_dist_split_bytes(const gp_target *target, const struct gpi_sort_args *s, uint64_t get,
                               uint64_t least, uint64_t total, size_t *bytes)
{
    const uint64_t group = gpi_split_group_max(get, least, total), cut = total / GPI_SPLIT_SHARE;
    const uint64_t most = group > cut ? group : cut;
    size_t by_bins = 0, by_all = 0;
    GPI_TRY(sort_bytes(target, s, s->n, 8 * (int)s->key_bytes - GPI_SPLIT_BIN_BITS, &by_bins));
    GPI_TRY(sort_bytes(target, s, most, 0, &by_all));
    by_bins += s->indices ? gpi_piece(s->n * s->value_bytes) : 0;
    by_all += gpi_run_bytes(s, get) + 2 * gpi_run_bytes(s, cut);
    by_all += s->keys_out ? 0 : gpi_piece(most * s->key_bytes);
    *bytes = by_bins > by_all ? by_bins : by_all;
    return GP_OK;
}

/* ---- bins ------------------------------------------------------------------------------------ */

static struct gpi_dist_keys keys_of(const struct gpi_sorting *x, const void *keys)
{
    return (struct gpi_dist_keys){
        keys,       x->s->n, x->s->key_bytes, gpi_radix_order_of(x->s->dtype, x->s->order),
        x->scratch, false};
}

static int sampled(uint64_t n)
{
    return n < GPI_DIST_SAMPLES ? (int)n : GPI_DIST_SAMPLES;
}

/* Words of rank r; each row has room for GPI_DIST_SAMPLES. */
static const uint64_t *sample_of(const gp_comm *comm, int r)
{
    return comm->table + (size_t)r * (GPI_DIST_SAMPLES + 1) + 1;
}

/* The highest bits that vary in the sample. */
static struct gpi_bins bins_of(const gp_comm *comm)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (int r = 0; r < comm->ranks; r++)
        for (int i = 0; i < sampled(comm->have[r]); i++) {
            const uint64_t word = sample_of(comm, r)[i];
            least = word < least ? word : least;
            most = word > most ? word : most;
        }
    const int bits = least < most ? 64 - __builtin_clzll(least ^ most) : 0;
    const int shift = bits > GPI_SPLIT_BIN_BITS ? bits - GPI_SPLIT_BIN_BITS : 0;
    return (struct gpi_bins){least >> shift, shift, (int)((most >> shift) - (least >> shift)) + 1};
}

/* Whether by the sample, which has a few words of a bin, none has far too many. */
static bool sample_fits(const gp_comm *comm, const struct gpi_bins *bins, uint64_t total)
{
    uint64_t count[GPI_SPLIT_BINS] = {0};
    for (int r = 0; r < comm->ranks; r++)
        for (int i = 0; i < sampled(comm->have[r]); i++)
            count[(sample_of(comm, r)[i] >> bins->shift) - bins->first] +=
                comm->have[r] / (uint64_t)sampled(comm->have[r]);
    for (int b = 0; b < bins->count; b++)
        if (count[b] > total / (GPI_SPLIT_SHARE / 2))
            return false;
    return true;
}

static gp_status find_bins(struct gpi_split *p, uint64_t total, bool *fits)
{
    struct gpi_sorting *x = p->x;
    const struct gpi_dist_keys keys = keys_of(x, x->s->keys_in);
    const gp_status s = gpi_dist_sample(x->comm, x->f, &keys, sampled(keys.n), x->comm->mine + 1);
    GPI_TRY(gpi_dist_gather_words(x->comm, x->f, s, GPI_DIST_SAMPLES));
    p->bins = bins_of(x->comm);
    *fits = sample_fits(x->comm, &p->bins, total);
    return GP_OK;
}

/* From the counts of all: where bins and ranks begin in the keys of all. */
static bool lay_out(struct gpi_split *p, uint64_t total)
{
    const gp_comm *comm = p->x->comm;
    bool fits = true;
    for (int b = 0; b <= p->bins.count; b++) {
        p->below[b] = 0;
        for (int r = 0; r < comm->ranks; r++)
            p->below[b] += gpi_split_at(p, r, b);
        fits = fits && (b == 0 || p->below[b] - p->below[b - 1] <= total / GPI_SPLIT_SHARE);
    }
    p->border[0] = 0;
    for (int r = 0; r < comm->ranks; r++)
        p->border[r + 1] = p->border[r] + comm->get[r];
    return fits;
}

/* Sort into bins here, then gather the counts of all. */
static gp_status count_bins(struct gpi_split *p, uint64_t total, bool *fits)
{
    struct gpi_sorting *x = p->x;
    const struct gpi_dist_keys keys = keys_of(x, x->here.keys);
    const int inner = p->bins.count - 1;
    uint64_t words[GPI_SPLIT_BINS];
    for (int b = 0; b < inner; b++)
        words[b] = (p->bins.first + (uint64_t)b + 1) << p->bins.shift;
    gp_status s = gpi_named(x->comm->ctx, x->f, gpi_dist_sort_here(x, p->bins.shift));
    if (s == GP_OK)
        s = gpi_dist_probe(x->comm, x->f, &keys, words, inner, x->comm->mine + 1);
    GPI_TRY(gpi_dist_gather_words(x->comm, x->f, s, inner));
    *fits = lay_out(p, total);
    return GP_OK;
}

gp_status gpi_dist_split(struct gpi_sorting *x, uint64_t total, bool *sorted)
{
    struct gpi_split p = {.x = x};
    bool fits;
    *sorted = false;
    GPI_TRY(find_bins(&p, total, &fits));
    if (fits)
        GPI_TRY(count_bins(&p, total, &fits));
    if (!fits)
        return GP_OK;
    *sorted = true;
    GPI_TRY(gpi_split_move(&p, total));
    return gpi_dist_tell(x->comm, x->f, x->s->out_count);
}
