/* SPDX-License-Identifier: MIT */
/* Sorts over ranks: sort here, find the borders, exchange, merge. */
#include <gp/fill.h>
#include <gp/merge.h>
#include <gp/radixsort.h>

#include <inttypes.h>

#include "dist/dist_sort_internal.h"

/* Memory for n keys and values out of the frame. */
struct gpi_run gpi_run_take(struct gpi_sorting *x, uint64_t n)
{
    struct gpi_run r = {gpi_frame_take(x->frame, n * x->s->key_bytes), NULL, n};
    if (x->s->value_bytes)
        r.values = gpi_frame_take(x->frame, n * x->s->value_bytes);
    return r;
}

/* ---- the frame ------------------------------------------------------------------------------- */

/* The most that this rank may get: a sort as it falls is bounded by its room. */
static uint64_t most_here(const struct gpi_sorting *x, uint64_t total)
{
    const uint64_t room = x->comm->notes[x->comm->rank].capacity;
    if (x->s->desc.result != GP_DIST_FREE)
        return x->comm->get[x->comm->rank];
    return room < total ? room : total;
}

/* Where words are read from and counted by a kernel: probes and samples. */
#define SCRATCH_BYTES (GPI_DIST_SCRATCH * sizeof(uint64_t))

/* Sorted keys stay; the sort's own memory, and later what came with the merges', lie behind. */
gp_status gpi_dist_sort_bytes(const gp_target *target, const struct gpi_sort_args *s, uint64_t most,
                              size_t *bytes)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    size_t sort = 0, merge = 0, after;
    o.order = s->order;
    GPI_TRY(gp_radix_sort_workspace_bytes(target, s->dtype, s->value_bytes, s->n, &o, &sort));
    GPI_TRY(gp_merge_workspace_bytes(target, s->dtype, most, &merge));
    if (s->indices)
        sort += gpi_piece(s->n * s->value_bytes);
    after = gpi_run_bytes(s, most) + merge;
    if (!s->keys_out)
        after += gpi_piece(most * s->key_bytes);
    *bytes = gpi_piece(SCRATCH_BYTES) + gpi_run_bytes(s, s->n) + (sort > after ? sort : after);
    return GP_OK;
}

/* Keys that are split may turn out to be better merged; for least see gpi_split_group_max(). */
static gp_status bytes_of_both(const gp_target *target, const struct gpi_sort_args *s, bool split,
                               uint64_t get, uint64_t least, uint64_t total, size_t *bytes)
{
    size_t by_split = 0;
    GPI_TRY(gpi_dist_sort_bytes(target, s, get, bytes));
    if (!split)
        return GP_OK;
    GPI_TRY(gpi_dist_split_bytes(target, s, get, least, total, &by_split));
    by_split += gpi_piece(SCRATCH_BYTES) + gpi_run_bytes(s, s->n);
    *bytes = by_split > *bytes ? by_split : *bytes;
    return GP_OK;
}

static gp_status bytes_needed(const struct gpi_sorting *x, uint64_t total, size_t *bytes)
{
    const gp_target target = gpi_target_of(x->comm->ctx);
    return gpi_dist_blame(x->comm->ctx, x->f,
                          bytes_of_both(&target, x->s, gpi_dist_may_split(x, total),
                                        most_here(x, total), gpi_split_group_least(x), total,
                                        bytes));
}

/* ---- here ------------------------------------------------------------------------------------ */

gp_status gpi_dist_number(struct gpi_sorting *x, uint64_t first, uint64_t n, void *places)
{
    const uint32_t narrow = (uint32_t)first, narrow_one = 1;
    const uint64_t one = 1;
    if (x->s->value_bytes == 4)
        return gp_iota(x->comm->ctx, GP_U32, &narrow, &narrow_one, n, places);
    return gp_iota(x->comm->ctx, GP_U64, &first, &one, n, places);
}

/* Indices of this rank's keys begin behind those of the ranks before. */
static gp_status number_keys(struct gpi_sorting *x, void *places)
{
    uint64_t first = 0;
    for (int r = 0; r < x->comm->rank; r++)
        first += x->comm->have[r];
    return gpi_dist_number(x, first, x->s->n, places);
}

gp_status gpi_dist_sort_here(struct gpi_sorting *x, int begin_bit)
{
    struct gpi_sort_args *s = x->s;
    gp_context *ctx = x->comm->ctx;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->order;
    o.begin_bit = begin_bit;
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
static gp_status ends_here(struct gpi_sorting *x, const struct gpi_dist_keys *keys, uint64_t *ends)
{
    ends[0] = UINT64_MAX;
    ends[1] = 0;
    if (keys->n == 0)
        return GP_OK;
    GPI_TRY(gpi_dist_word(x->comm, x->f, keys, 0, &ends[0]));
    return gpi_dist_word(x->comm, x->f, keys, keys->n - 1, &ends[1]);
}

/* Sort, agree that all ranks could, and find the borders. */
static gp_status divide(struct gpi_sorting *x)
{
    struct gpi_sort_args *s = x->s;
    const struct gpi_dist_keys keys = {x->here.keys, s->n,
                                       s->key_bytes, gpi_radix_order_of(s->dtype, s->order),
                                       x->scratch,   false};
    uint64_t ends[2] = {0, 0}, least = UINT64_MAX, most = 0;
    gp_status status = gpi_named(x->comm->ctx, x->f, gpi_dist_sort_here(x, 0));
    if (status == GP_OK)
        status = ends_here(x, &keys, ends);
    GPI_TRY(gpi_dist_agree(x->comm, &s->a, status, ends, 2));
    for (int r = 0; r < x->comm->ranks; r++) {
        const uint64_t *e = x->comm->notes[r].words;
        least = e[0] < least ? e[0] : least;
        most = e[1] > most ? e[1] : most;
    }
    GPI_TRY(gpi_dist_select(x->comm, x->f, &keys, least < most ? least : most, most,
                            s->desc.result == GP_DIST_FREE, x->comm->get, x->comm->cuts, NULL));
    return gpi_dist_check_room(x->comm, x->f);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* If the keys of all ranks may be few, the frame for them is opened before: its status is in this
 * note, and a second one is not needed. */
static gp_status meet(struct gpi_sorting *x)
{
    struct gpi_sort_args *s = x->s;
    const uint64_t few = gpi_dist_small_limit(x->comm);
    const bool small = s->desc.result != GP_DIST_FREE && s->n <= few;
    if (s->a.status == GP_OK && (!x->comm->mail || s->desc.result == GP_DIST_FREE))
        s->a.status = gpi_dist_check_capture(x->comm, x->f);
    if (s->a.status == GP_OK && small)
        s->a.status = gpi_dist_open_small(x);
    if (s->a.status == GP_OK && small && gpi_dist_reads_all(x->comm))
        s->a.status = x->comm->transport->announce(x->comm, x->f);
    struct gpi_note note = {.status = (uint32_t)s->a.status,
                            .dtype = (uint32_t)s->dtype,
                            .op = (uint32_t)s->order,
                            .item = s->value_bytes,
                            .n = s->n,
                            .capacity = gpi_dist_room(x->comm, &s->desc, s->n)};
    note.words[0] = few;
    note.words[1] = (uintptr_t)s->keys_in;
    note.words[2] = (uintptr_t)s->values_in;
    gpi_dist_note_split(x->comm, &note);
    if (s->a.status == GP_OK)
        note.hash = gpi_dist_desc_hash(x->comm, &s->desc);
    return gpi_dist_meet(x->comm, &s->a, &note);
}

/* What other ranks read, where all of this rank's memory can be read, or in its window. */
static gp_status take_here(struct gpi_sorting *x, uint64_t total)
{
    const struct gpi_sort_args *s = x->s;
    const uint64_t cut = total / GPI_SPLIT_SHARE;
    char *memory;
    if (!x->comm->window) {
        x->here = gpi_run_take(x, s->n);
        return GP_OK;
    }
    GPI_TRY(
        gpi_window_reserve(x->comm, x->f, gpi_run_bytes(s, s->n) + gpi_run_bytes(s, cut), &memory));
    x->here = gpi_run_in(s, memory, s->n);
    x->cut = gpi_run_in(s, memory + gpi_run_bytes(s, s->n), cut);
    return GP_OK;
}

static gp_status sort_large(struct gpi_sorting *x, uint64_t total)
{
    const bool captured = x->comm->capture != GPI_DIST_NO_CAPTURE;
    bool sorted = false;
    x->scratch = gpi_frame_take(x->frame, SCRATCH_BYTES);
    GPI_TRY(take_here(x, total));
    if (!captured && gpi_dist_may_split(x, total))
        GPI_TRY(gpi_dist_split(x, total, &sorted));
    if (sorted)
        return GP_OK;
    /* Merges that ask the GPU where their runs are take longer than a host waits for much. */
    if (gpi_dist_cuts_lent(x) && (captured || !gpi_dist_is_large(x, total)))
        return gpi_dist_sort_lent(x);
    GPI_TRY(divide(x));
    return gpi_dist_gather_up(x);
}

/* In a larger frame, whose status all have to know. */
static gp_status sort_in_frame(struct gpi_sorting *x, uint64_t total)
{
    size_t need = 0;
    gpi_frame_close(x->frame);
    *x->frame = (struct gpi_frame){NULL, 0, 0};
    if (x->comm->transport->windows && !x->comm->introduced && gpi_dist_all_on_gpus(x->comm) &&
        gpi_dist_may_split(x, total))
        GPI_TRY(gpi_window_introduce(x->comm, x->f));
    gp_status status = bytes_needed(x, total, &need);
    if (status == GP_OK && x->comm->window)
        need -= gpi_run_bytes(x->s, x->s->n);
    if (status == GP_OK)
        status = gpi_frame_open(x->comm->ctx, x->f, need, x->frame);
    GPI_TRY(gpi_dist_agree(x->comm, &x->s->a, status, NULL, 0));
    return sort_large(x, total);
}

static gp_status plan(struct gpi_sorting *x, uint64_t total)
{
    const struct gpi_sort_args *s = x->s;
    if (s->indices && s->value_bytes == 4 && total > UINT32_MAX)
        return gpi_fail(x->comm->ctx, GP_ERROR_ARGUMENT,
                        "%s: %" PRIu64 " keys in all, expected less than 2^32 with index_dtype u32",
                        x->f, total);
    GPI_TRY(gpi_dist_place(x->comm, x->f, &s->desc, total, NULL));
    return s->desc.result == GP_DIST_FREE ? GP_OK : gpi_dist_check_room(x->comm, x->f);
}

gp_status gpi_dist_run_sort(gp_comm *comm, struct gpi_sort_args *s)
{
    struct gpi_frame frame = {NULL, 0, 0};
    struct gpi_sorting x = {.s = s, .comm = comm, .f = s->a.function, .frame = &frame};
    uint64_t total = 0;
    gp_status status = meet(&x);
    if (status == GP_OK) {
        total = gpi_dist_total(comm);
        status = plan(&x, total);
    }
    if (status == GP_OK)
        status = gpi_dist_is_small(&x, total) ? gpi_dist_sort_small(&x, total)
                                              : sort_in_frame(&x, total);
    gpi_frame_close(&frame);
    return status;
}

static gp_status run_sort(gp_comm *comm, void *args)
{
    return gpi_dist_run_sort(comm, args);
}

static gp_status check_sort(gp_comm *comm, const gp_dist_desc *desc, struct gpi_sort_args *s)
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
static gp_status check_sort_arrays(gp_comm *comm, const struct gpi_sort_args *s)
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
    struct gpi_sort_args s = {.a = {"gp_dist_sort", GPI_DIST_SORT, GP_OK},
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
    struct gpi_sort_args s = {.a = {"gp_dist_sort_pairs", GPI_DIST_SORT_PAIRS, GP_OK},
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
    struct gpi_sort_args s = {.a = {"gp_dist_argsort", GPI_DIST_ARGSORT, GP_OK},
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

/* ---- workspace ------------------------------------------------------------------------------- */

/* Few keys lie in a frame of their own. */
static gp_status figure(const char *f, const gp_target *target, int ranks, struct gpi_sort_args *s,
                        uint64_t most, uint64_t total, size_t *bytes)
{
    gp_target t;
    size_t small = 0;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", s->dtype));
    if (s->indices)
        GPI_TRY(gpi_check_unsigned_index(NULL, f, "index_dtype", s->indices_of));
    GPI_TRY(gpi_check_n(NULL, f, "n", s->n));
    GPI_TRY(gpi_check_n(NULL, f, "most", most));
    GPI_TRY(gpi_check_n(NULL, f, "total", total));
    GPI_TRY(gpi_check_figure(f, bytes));
    s->order = GP_ASCENDING;
    s->key_bytes = gpi_dtype_bytes(s->dtype);
    GPI_TRY(gpi_dist_blame(NULL, f, gpi_dist_small_bytes(&t, s, &small)));
    GPI_TRY(gpi_dist_blame(NULL, f,
                           bytes_of_both(&t, s, gpi_dist_suits_split(s), most,
                                         gpi_split_group_least_any(), total, bytes)));
    *bytes = small > *bytes ? small : *bytes;
    return GP_OK;
}

gp_status gp_dist_sort_workspace_bytes(const gp_target *target, int ranks, gp_dtype dtype,
                                       size_t value_bytes, size_t n, size_t most, size_t total,
                                       size_t *bytes)
{
    struct gpi_sort_args s = {
        .dtype = dtype, .value_bytes = value_bytes, .n = n, .keys_out = &s /* wanted */};
    return figure("gp_dist_sort_workspace_bytes", target, ranks, &s, most, total, bytes);
}

gp_status gp_dist_argsort_workspace_bytes(const gp_target *target, int ranks, gp_dtype dtype,
                                          gp_dtype index_dtype, size_t n, size_t most, size_t total,
                                          size_t *bytes)
{
    struct gpi_sort_args s = {.dtype = dtype,
                              .value_bytes = gpi_dtype_bytes(index_dtype),
                              .indices = true,
                              .indices_of = index_dtype,
                              .n = n};
    return figure("gp_dist_argsort_workspace_bytes", target, ranks, &s, most, total, bytes);
}
