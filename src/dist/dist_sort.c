/* SPDX-License-Identifier: MIT */
/* Sorts over ranks: sort here, find the borders, exchange, merge. */
#include <gp/fill.h>
#include <gp/merge.h>
#include <gp/radixsort.h>

#include <inttypes.h>
#include <string.h>

#include "core/workspace.h"
#include "dist/dist_internal.h"

struct sort_args {
    struct gpi_dist_args a;
    gp_dist_desc desc;
    gp_dtype dtype;
    gp_order order;
    size_t key_bytes, value_bytes; /* value_bytes: 0 without values */
    bool indices;                  /* values are the places of keys */
    const void *keys_in, *values_in;
    size_t n;
    void *keys_out, *values_out; /* keys_out: NULL, not wanted */
    uint64_t *out_count;
};

/* Keys and their values, in order. */
struct run {
    char *keys, *values;
    uint64_t n;
};

/* What a sort has while it runs. */
struct sorting {
    struct sort_args *s;
    gp_comm *comm;
    const char *f;
    struct gpi_frame *frame;
    uint64_t *scratch; /* of probes */
    struct run here, came, out;
};

static struct run at(const struct sorting *x, struct run r, uint64_t first, uint64_t n)
{
    r.keys += first * x->s->key_bytes;
    r.values = r.values ? r.values + first * x->s->value_bytes : NULL;
    r.n = n;
    return r;
}

/* Memory for n keys and values out of the frame. */
static struct run take(struct sorting *x, uint64_t n)
{
    struct run r = {gpi_frame_take(x->frame, n * x->s->key_bytes), NULL, n};
    if (x->s->value_bytes)
        r.values = gpi_frame_take(x->frame, n * x->s->value_bytes);
    return r;
}

static uint64_t run_bytes(const struct sort_args *s, uint64_t n)
{
    return gpi_piece(n * s->key_bytes) + gpi_piece(n * s->value_bytes);
}

/* ---- the frame ------------------------------------------------------------------------------- */

/* The most that this rank may get: a sort as it falls is bounded by its room. */
static uint64_t most_here(const struct sorting *x, uint64_t total)
{
    const uint64_t room = x->comm->notes[x->comm->rank].capacity;
    if (x->s->desc.result != GP_DIST_FREE)
        return x->comm->get[x->comm->rank];
    return room < total ? room : total;
}

/* Sorted keys stay; the sort's own memory, and later what came with the merges', lie behind. */
static gp_status bytes_needed(const struct sorting *x, uint64_t most, size_t *bytes)
{
    const struct sort_args *s = x->s;
    const gp_target target = gpi_target_of(x->comm->ctx);
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    size_t sort = 0, merge = 0, after;
    o.order = s->order;
    GPI_TRY(gpi_dist_blame(
        x->comm->ctx, x->f,
        gp_radix_sort_workspace_bytes(&target, s->dtype, s->value_bytes, s->n, &o, &sort)));
    GPI_TRY(gpi_dist_blame(x->comm->ctx, x->f,
                           gp_merge_workspace_bytes(&target, s->dtype, most, &merge)));
    if (s->indices)
        sort += gpi_piece(s->n * s->value_bytes);
    after = run_bytes(s, most) + merge;
    if (!s->keys_out)
        after += gpi_piece(most * s->key_bytes);
    *bytes = gpi_piece(2 * GPI_DIST_PROBES * sizeof(uint64_t)) + run_bytes(s, s->n) +
             (sort > after ? sort : after);
    return GP_OK;
}

/* ---- here ------------------------------------------------------------------------------------ */

/* Indices of this rank's keys begin behind those of the ranks before. */
static gp_status number_keys(struct sorting *x, void *places)
{
    const struct sort_args *s = x->s;
    uint64_t first = 0;
    for (int r = 0; r < x->comm->rank; r++)
        first += x->comm->have[r];
    const uint32_t narrow = (uint32_t)first, narrow_one = 1;
    const uint64_t one = 1;
    if (s->value_bytes == 4)
        return gp_iota(x->comm->ctx, GP_U32, &narrow, &narrow_one, s->n, places);
    return gp_iota(x->comm->ctx, GP_U64, &first, &one, s->n, places);
}

static gp_status sort_here(struct sorting *x)
{
    struct sort_args *s = x->s;
    gp_context *ctx = x->comm->ctx;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->order;
    if (s->n == 0)
        return GP_OK;
    if (s->value_bytes == 0)
        return gp_radix_sort(ctx, s->dtype, s->keys_in, s->n, x->here.keys, &o);
    if (!s->indices)
        return gp_radix_sort_pairs(ctx, s->dtype, s->keys_in, s->value_bytes, s->values_in, s->n,
                                   x->here.keys, x->here.values, &o);
    GPI_FRAME(inner, ctx, x->f, gpi_piece(s->n * s->value_bytes));
    void *places = gpi_frame_take(&inner, s->n * s->value_bytes);
    GPI_TRY(number_keys(x, places));
    return gp_radix_sort_pairs(ctx, s->dtype, s->keys_in, s->value_bytes, places, s->n,
                               x->here.keys, x->here.values, &o);
}

/* The words of the first and last key; of a rank without keys none. */
static gp_status ends_here(struct sorting *x, const struct gpi_dist_keys *keys, uint64_t *ends)
{
    ends[0] = UINT64_MAX;
    ends[1] = 0;
    if (keys->n == 0)
        return GP_OK;
    GPI_TRY(gpi_dist_word(x->comm, x->f, keys, 0, &ends[0]));
    return gpi_dist_word(x->comm, x->f, keys, keys->n - 1, &ends[1]);
}

/* Sort, agree that all ranks could, and find the borders. */
static gp_status divide(struct sorting *x)
{
    struct sort_args *s = x->s;
    const struct gpi_dist_keys keys = {x->here.keys, s->n, s->key_bytes,
                                       gpi_radix_order_of(s->dtype, s->order), x->scratch};
    uint64_t ends[2] = {0, 0}, least = UINT64_MAX, most = 0;
    gp_status status = gpi_named(x->comm->ctx, x->f, sort_here(x));
    if (status == GP_OK)
        status = ends_here(x, &keys, ends);
    GPI_TRY(gpi_dist_agree(x->comm, &s->a, status, ends, 2));
    for (int r = 0; r < x->comm->ranks; r++) {
        const uint64_t *e = x->comm->notes[r].words;
        least = e[0] < least ? e[0] : least;
        most = e[1] > most ? e[1] : most;
    }
    GPI_TRY(gpi_dist_select(x->comm, x->f, &keys, least < most ? least : most, most,
                            s->desc.result == GP_DIST_FREE, x->comm->get, x->comm->cuts));
    return gpi_dist_check_room(x->comm, x->f);
}

/* ---- there ----------------------------------------------------------------------------------- */

/* Where the interval for rank to begins in the keys of rank from. */
static uint64_t cut_before(const struct sorting *x, int from, int to)
{
    const int borders = x->comm->ranks - 1;
    if (to == 0)
        return 0;
    return to > borders ? x->comm->have[from]
                        : x->comm->cuts[(size_t)from * (size_t)borders + (size_t)to - 1];
}

static uint64_t piece_of(const struct sorting *x, int from, int to)
{
    return cut_before(x, from, to + 1) - cut_before(x, from, to);
}

/* Send each rank its interval; what this rank keeps is merged from where it lies. */
static gp_status exchange(struct sorting *x, size_t bytes, const char *from, char *to)
{
    const int me = x->comm->rank, ranks = x->comm->ranks;
    const size_t p = (size_t)ranks;
    uint64_t *send_at = x->comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, place = 0;
    for (int r = 0; r < ranks; r++) {
        send_at[r] = cut_before(x, me, r) * bytes;
        send_bytes[r] = r == me ? 0 : piece_of(x, me, r) * bytes;
        recv_at[r] = place;
        recv_bytes[r] = r == me ? 0 : piece_of(x, r, me) * bytes;
        place += recv_bytes[r];
    }
    const struct gpi_route route = {from, send_at, send_bytes, to, recv_at, recv_bytes};
    return x->comm->transport->exchange(x->comm, x->f, &route);
}

static gp_status merge(struct sorting *x, struct run a, struct run b, struct run out)
{
    const struct sort_args *s = x->s;
    gp_context *ctx = x->comm->ctx;
    if (!s->value_bytes)
        return gp_merge(ctx, s->dtype, s->order, a.keys, a.n, b.keys, b.n, out.keys);
    return gp_merge_pairs(ctx, s->dtype, s->order, s->value_bytes, a.keys, a.values, a.n, b.keys,
                          b.values, b.n, out.keys, out.values);
}

static gp_status copy(struct sorting *x, struct run a, struct run out)
{
    GPI_TRY(gp_copy(x->comm->ctx, a.keys, a.n * x->s->key_bytes, out.keys));
    return gp_copy(x->comm->ctx, a.values, a.n * x->s->value_bytes, out.values);
}

static int levels_of(int count)
{
    int levels = 0;
    while (1 << levels < count)
        levels++;
    return levels;
}

/* Merge neighbours until one run is left; levels alternate between two arrays and end in out. */
static gp_status merge_all(struct sorting *x, struct run *runs, int count, struct run other)
{
    if (count == 1)
        return copy(x, runs[0], x->out);
    for (int level = levels_of(count); level > 0; level--) {
        const struct run to = level & 1 ? x->out : other;
        uint64_t place = 0;
        int i = 0;
        for (; i + 1 < count; i += 2) {
            const struct run merged = at(x, to, place, runs[i].n + runs[i + 1].n);
            GPI_TRY(merge(x, runs[i], runs[i + 1], merged));
            runs[i / 2] = merged;
            place += merged.n;
        }
        if (i < count) {
            const struct run last = at(x, to, place, runs[i].n);
            GPI_TRY(copy(x, runs[i], last));
            runs[i / 2] = last;
        }
        count = (count + 1) / 2;
    }
    return GP_OK;
}

/* What came lies where the first level does not write. */
static struct run landing(const struct sorting *x, int count, struct run other)
{
    return levels_of(count) & 1 ? other : x->out;
}

static int list_runs(const struct sorting *x, struct run came, struct run *runs)
{
    const int me = x->comm->rank;
    uint64_t place = 0;
    int count = 0;
    for (int r = 0; r < x->comm->ranks; r++) {
        const uint64_t n = piece_of(x, r, me);
        if (n)
            runs[count++] =
                r == me ? at(x, x->here, cut_before(x, me, me), n) : at(x, came, place, n);
        place += r == me ? 0 : n;
    }
    return count;
}

static gp_status gather_up(struct sorting *x)
{
    struct run runs[GP_COMM_RANKS_MAX], other = take(x, x->comm->get[x->comm->rank]);
    struct sort_args *s = x->s;
    const int count = list_runs(x, other, runs);
    x->out = (struct run){s->keys_out, s->values_out, other.n};
    if (!s->keys_out)
        x->out.keys = gpi_frame_take(x->frame, other.n * s->key_bytes);
    const struct run came = landing(x, count, other);
    list_runs(x, came, runs);
    GPI_TRY(exchange(x, s->key_bytes, x->here.keys, came.keys));
    if (s->value_bytes)
        GPI_TRY(exchange(x, s->value_bytes, x->here.values, came.values));
    if (count)
        GPI_TRY(gpi_named(x->comm->ctx, x->f, merge_all(x, runs, count, other)));
    return gpi_dist_tell(x->comm, x->f, s->out_count);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static gp_status meet(struct sorting *x)
{
    struct sort_args *s = x->s;
    struct gpi_note note = {.status = (uint32_t)s->a.status,
                            .dtype = (uint32_t)s->dtype,
                            .op = (uint32_t)s->order,
                            .item = s->value_bytes,
                            .n = s->n,
                            .capacity = gpi_dist_room(x->comm, &s->desc, s->n)};
    if (s->a.status == GP_OK)
        note.hash = gpi_dist_desc_hash(x->comm, &s->desc);
    return gpi_dist_meet(x->comm, &s->a, &note);
}

static gp_status run_sort(gp_comm *comm, void *args)
{
    struct sort_args *s = args;
    struct gpi_frame frame = {NULL, 0, 0};
    struct sorting x = {.s = s, .comm = comm, .f = s->a.function, .frame = &frame};
    size_t need = 0;
    GPI_TRY(meet(&x));
    const uint64_t total = gpi_dist_total(comm);
    if (s->indices && s->value_bytes == 4 && total > UINT32_MAX)
        return gpi_fail(comm->ctx, GP_ERROR_ARGUMENT,
                        "%s: %" PRIu64 " keys in all, expected less than 2^32 with index_dtype u32",
                        x.f, total);
    GPI_TRY(gpi_dist_place(comm, x.f, &s->desc, total, NULL));
    if (s->desc.result != GP_DIST_FREE)
        GPI_TRY(gpi_dist_check_room(comm, x.f));
    gp_status status = bytes_needed(&x, most_here(&x, total), &need);
    if (status == GP_OK)
        status = gpi_frame_open(comm->ctx, x.f, need, &frame);
    GPI_TRY(gpi_dist_agree(comm, &s->a, status, NULL, 0));
    x.scratch = gpi_frame_take(&frame, 2 * GPI_DIST_PROBES * sizeof(uint64_t));
    x.here = take(&x, s->n);
    status = divide(&x);
    if (status == GP_OK)
        status = gather_up(&x);
    gpi_frame_close(&frame);
    return status;
}

static gp_status check_sort(gp_comm *comm, const gp_dist_desc *desc, struct sort_args *s)
{
    const char *f = s->a.function;
    gp_context *ctx = comm->ctx;
    GPI_TRY(gpi_dist_take(comm, f, "desc", desc, &s->desc));
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", s->dtype));
    GPI_TRY(gpi_check_order(ctx, f, "order", s->order));
    GPI_TRY(gpi_check_n(ctx, f, "n", s->n));
    s->key_bytes = gpi_dtype_bytes(s->dtype);
    return GP_OK;
}

/* All arrays; those of a sort of indices are keys_in and values_out. */
static gp_status check_sort_arrays(gp_comm *comm, const struct sort_args *s)
{
    const uint64_t room = gpi_dist_room(comm, &s->desc, s->n), n = s->n;
    const size_t unit = s->value_bytes ? gpi_item_alignment(s->value_bytes) : 1;
    const struct gpi_array arrays[] = {
        GPI_READ("keys_in", s->keys_in, n * s->key_bytes, s->key_bytes),
        GPI_READ("values_in", s->values_in, s->indices ? 0 : n * s->value_bytes, unit),
        GPI_WRITE_OVER(2, "keys_out", s->keys_out, s->indices ? 0 : room * s->key_bytes,
                       s->key_bytes),
        GPI_WRITE_OVER(2, s->indices ? "indices_out" : "values_out", s->values_out,
                       room * s->value_bytes, unit),
        GPI_WRITE_IF("out_count", s->out_count, sizeof(uint64_t), sizeof(uint64_t))};
    return gpi_check_arrays(comm->ctx, s->a.function, arrays, 5);
}

gp_status gp_dist_sort(gp_comm *comm, const gp_dist_desc *desc, gp_dtype dtype, gp_order order,
                       const void *keys_in, size_t n, void *keys_out, uint64_t *out_count)
{
    struct sort_args s = {.a = {"gp_dist_sort", GPI_DIST_SORT, GP_OK},
                          .dtype = dtype,
                          .order = order,
                          .keys_in = keys_in,
                          .n = n,
                          .keys_out = keys_out,
                          .out_count = out_count};
    GPI_DIST_CALL(comm, s.a.function);
    s.a.status = check_sort(comm, desc, &s);
    if (s.a.status == GP_OK)
        s.a.status = check_sort_arrays(comm, &s);
    return gpi_dist_submit(comm, run_sort, &s, sizeof s);
}

gp_status gp_dist_sort_pairs(gp_comm *comm, const gp_dist_desc *desc, gp_dtype dtype,
                             gp_order order, const void *keys_in, size_t value_bytes,
                             const void *values_in, size_t n, void *keys_out, void *values_out,
                             uint64_t *out_count)
{
    struct sort_args s = {.a = {"gp_dist_sort_pairs", GPI_DIST_SORT_PAIRS, GP_OK},
                          .dtype = dtype,
                          .order = order,
                          .value_bytes = value_bytes,
                          .keys_in = keys_in,
                          .values_in = values_in,
                          .n = n,
                          .keys_out = keys_out,
                          .values_out = values_out,
                          .out_count = out_count};
    GPI_DIST_CALL(comm, s.a.function);
    s.a.status = check_sort(comm, desc, &s);
    if (s.a.status == GP_OK)
        s.a.status = gpi_check_item_bytes(comm->ctx, s.a.function, "value_bytes", value_bytes);
    if (s.a.status == GP_OK)
        s.a.status = check_sort_arrays(comm, &s);
    return gpi_dist_submit(comm, run_sort, &s, sizeof s);
}

gp_status gp_dist_argsort(gp_comm *comm, const gp_dist_desc *desc, gp_dtype dtype, gp_order order,
                          const void *keys_in, size_t n, gp_dtype index_dtype, void *indices_out,
                          uint64_t *out_count)
{
    struct sort_args s = {.a = {"gp_dist_argsort", GPI_DIST_ARGSORT, GP_OK},
                          .dtype = dtype,
                          .order = order,
                          .value_bytes = gpi_dtype_bytes(index_dtype),
                          .indices = true,
                          .keys_in = keys_in,
                          .n = n,
                          .values_out = indices_out,
                          .out_count = out_count};
    GPI_DIST_CALL(comm, s.a.function);
    s.a.status = check_sort(comm, desc, &s);
    if (s.a.status == GP_OK)
        s.a.status = gpi_check_unsigned_index(comm->ctx, s.a.function, "index_dtype", index_dtype);
    if (s.a.status == GP_OK)
        s.a.status = check_sort_arrays(comm, &s);
    return gpi_dist_submit(comm, run_sort, &s, sizeof s);
}
