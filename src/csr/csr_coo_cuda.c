/* SPDX-License-Identifier: MIT */
/* CUDA: COO to CSR out of the sort and the kernels of this room. */
#include <gp/radixsort.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/cuda.h"
#include "core/state.h"
#include "core/workspace.h"
#include "csr/csr_by_row.h"
#include "csr/csr_internal.h"
#include "validate/validate_internal.h"

static gp_radix_sort_options options_of(const struct gpi_csr_coo *c, unsigned begin, unsigned end)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.begin_bit = (int)begin;
    o.end_bit = (int)end;
    o.algorithm = c->algorithm;
    o.device_n = c->device_nnz;
    return o;
}

/* ---- workspace ---- */

/* Whether entries in order are left where they are. */
static bool looks_for_order(const struct gpi_csr_coo *c)
{
    return c->nnz >= GPI_CSR_ORDER_ITEMS && !gpi_csr_is_wide(c) && !c->sort_bit && !c->by_row &&
           c->algorithm == GP_ALGORITHM_AUTO;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Tiles of the pass behind the sort, whose states are the context's. */
static uint64_t write_tiles(const struct gpi_csr_coo *c)
{
    return c->nnz / GPI_CSR_WRITE_TILE + 1;
}

/* What the calls inside take at most, one after the other. */
static gp_status nested_bytes(const gp_target *target, const struct gpi_csr_coo *c, size_t *bytes)
{
    size_t n = (size_t)c->nnz, sort = 0, argsort = 0;
    if (gpi_csr_is_wide(c)) {
        gp_radix_sort_options by_row = options_of(c, 0, c->row_bits);
        GPI_TRY(gp_argsort_workspace_bytes(target, GP_U64, n, GP_U64, &by_row, &argsort));
        gp_radix_sort_options by_col = options_of(c, 0, c->col_bits);
        GPI_TRY(gp_argsort_workspace_bytes(target, GP_U64, n, GP_U64, &by_col, &sort));
        argsort = max_size(argsort, sort);
        GPI_TRY(gp_radix_sort_workspace_bytes(target, GP_U64, 8, n, &by_row, &sort));
    } else {
        gp_radix_sort_options o = options_of(c, c->sort_bit, c->key_bits);
        GPI_TRY(gp_radix_sort_workspace_bytes(target, GP_U64, c->value_bytes, n, &o, &sort));
    }
    *bytes = max_size(max_size(sort, argsort), gpi_state_bytes(write_tiles(c)));
    return GP_OK;
}

/* Pieces of the frame of a conversion. */
struct pieces {
    size_t words;       /* arrays of one uint64_t per entry */
    size_t values;      /* bytes of the sorted values, 0 if they go straight to the output */
    size_t bits, ranks; /* of heads */
    size_t unsorted;    /* words, where order is looked for or rows are sorted by themselves */
};

static struct pieces pieces_of(const struct gpi_csr_coo *c)
{
    size_t n = (size_t)c->nnz;
    bool keep = c->duplicates == GP_DUPLICATES_KEEP;
    struct pieces p = {.words = gpi_csr_is_wide(c) ? 5 : 2};
    p.values = keep ? 0 : n * c->value_bytes;
    p.bits = keep ? 0 : gpi_csr_head_words(n) * 4;
    p.ranks = keep ? 0 : gpi_csr_head_words(n) * (c->nnz >> 32 ? 8 : 4);
    if (gpi_csr_sorts_rows(c) || looks_for_order(c))
        p.unsorted = (GPI_CSR_UNSORTED_WORDS + gpi_csr_left_words(c->nnz)) * sizeof(uint64_t);
    return p;
}

/* By pairs or by packed keys; rows of 8 bytes may take either way, and their figure must not fall
 * while one of the sizes rises. */
gp_status gpi_csr_coo_cuda_bytes(const gp_target *target, const struct gpi_csr_coo *c,
                                 size_t *bytes)
{
    const bool may_pair = c->sort_bit && c->value_bytes <= 4;
    gp_target cuda = *target;
    size_t pairs = 0;
    cuda.backend = GP_BACKEND_CUDA;
    *bytes = 0;
    if (c->nnz == 0)
        return GP_OK;
    if (may_pair)
        GPI_TRY(gpi_csr_transpose_cuda_bytes(&cuda, c, &pairs));
    if (!may_pair || c->index_bytes == 8) {
        struct pieces p = pieces_of(c);
        GPI_TRY(nested_bytes(&cuda, c, bytes));
        *bytes += p.words * gpi_piece((size_t)c->nnz * sizeof(uint64_t)) + gpi_piece(p.values) +
                  gpi_piece(p.bits) + gpi_piece(p.ranks) + gpi_piece(p.unsorted);
    }
    *bytes = max_size(*bytes, pairs);
    return GP_OK;
}

/* ---- sort ---- */

static gp_status sort_packed(gp_context *ctx, const struct gpi_csr_coo *c, uint64_t *words[],
                             void *values, struct gpi_csr_sorted *sorted)
{
    size_t n = (size_t)c->nnz;
    gp_radix_sort_options o = options_of(c, c->sort_bit, c->key_bits);
    sorted->keys = words[1];
    if (sorted->unsorted)
        o.device_n = sorted->unsorted;
    if (sorted->unsorted && !c->by_row) {
        if (c->nnz >= GPI_CSR_ORDER_ROWS) {
            sorted->by_row_cols = words[0];
            sorted->by_row_values = values == c->out_values ? values : words[1];
            sorted->by_row_left = sorted->unsorted + GPI_CSR_UNSORTED_WORDS;
        }
        GPI_TRY(gpi_csr_kernels_of(ctx, c)->write(ctx, sorted, true));
    }
    GPI_TRY(gpi_csr_kernels_of(ctx, c)->pack(ctx, c, words[0], sorted->unsorted));
    if (c->value_bytes == 0)
        return gp_radix_sort(ctx, GP_U64, words[0], n, words[1], &o);
    return gp_radix_sort_pairs(ctx, GP_U64, words[0], c->value_bytes, c->values, n, words[1],
                               values, &o);
}

/* Keys that are not packed are checked as they came. */
static gp_status check_wide(gp_context *ctx, const struct gpi_csr_coo *c)
{
    struct gpi_content rules[] = {
        GPI_BELOW(c->names[0], c->rows, c->nnz, c->index_dtype, c->num_rows),
        GPI_BELOW(c->names[1], c->cols, c->nnz, c->index_dtype, c->num_cols)};
    rules[0].device_n = rules[1].device_n = c->device_nnz;
    rules[0].device_bound = c->device_num_rows;
    for (int i = 0; i < 2; i++)
        if (c->names[i])
            GPI_TRY(gpi_content_report(ctx, c->function, &rules[i]));
    return GP_OK;
}

static gp_status gather(gp_context *ctx, const struct gpi_csr_coo *c, size_t item_bytes,
                        const void *in, const uint64_t *indices, void *out)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = item_bytes;
    d.index_dtype = GP_U64;
    d.device_n = c->device_nnz;
    return gp_gather_by(ctx, &d, in, indices, (size_t)c->nnz, out);
}

/* The order of the entries in words[3], their sorted rows in words[2]. */
static gp_status order_wide(gp_context *ctx, const struct gpi_csr_coo *c, uint64_t *words[])
{
    size_t n = (size_t)c->nnz;
    gp_radix_sort_options by_row = options_of(c, 0, c->row_bits);
    gp_radix_sort_options by_col = options_of(c, 0, c->col_bits);
    if (c->sort_bit) {
        GPI_TRY(gp_argsort(ctx, GP_U64, c->rows, n, GP_U64, words[3], &by_row));
        return gather(ctx, c, 8, c->rows, words[3], words[2]);
    }
    GPI_TRY(gp_argsort(ctx, GP_U64, c->cols, n, GP_U64, words[0], &by_col));
    GPI_TRY(gather(ctx, c, 8, c->rows, words[0], words[1]));
    return gp_radix_sort_pairs(ctx, GP_U64, words[1], 8, words[0], n, words[2], words[3], &by_row);
}

static gp_status sort_wide(gp_context *ctx, const struct gpi_csr_coo *c, uint64_t *words[],
                           void *values, struct gpi_csr_sorted *sorted)
{
    sorted->rows = words[2];
    sorted->cols = words[4];
    GPI_TRY(check_wide(ctx, c));
    GPI_TRY(order_wide(ctx, c, words));
    GPI_TRY(gather(ctx, c, 8, c->cols, words[3], words[4]));
    if (c->value_bytes == 0)
        return GP_OK;
    return gather(ctx, c, c->value_bytes, c->values, words[3], values);
}

/* ---- rows by themselves ---- */

/* Rows that fit shared memory, or go in parts; *all: that is all of them. Otherwise the numbers of
 * entries and rows that are left, all or none, are in `unsorted`, and rows of entries are found. */
static gp_status sort_rows(gp_context *ctx, const struct gpi_csr_coo *c, uint64_t *words[],
                           uint64_t *unsorted, bool *all)
{
    const struct gpi_csr_by_row_ops *ops = gpi_csr_by_row_find(ctx, c->index_bytes);
    struct gpi_balance_args rows_of = *c->rows_of;
    const bool in_parts = c->nnz <= GPI_CSR_PARTS_ITEMS && c->value_bytes <= sizeof *words[1] &&
                          ops->longest >= GPI_CSR_PARTS_ROOM;
    const struct gpi_csr_by_row by = {rows_of.name,
                                      rows_of.offsets,
                                      c->out_cols,
                                      c->out_values,
                                      unsorted + GPI_CSR_UNSORTED_WORDS,
                                      in_parts ? words[0] : NULL,
                                      words[1],
                                      unsorted};
    GPI_TRY(ops->sort(ctx, c, &by));
    *all = in_parts || c->nnz <= ops->longest;
    rows_of.device_limit = unsorted;
    rows_of.device_num_segments = unsorted + 1;
    return *all ? GP_OK : gpi_balance_search(ctx, c->function, &rows_of);
}

/* ---- write ---- */

static gp_status run(gp_context *ctx, const struct gpi_csr_coo *c, struct gpi_frame *frame)
{
    struct pieces p = pieces_of(c);
    struct gpi_csr_sorted sorted = {.c = c};
    uint64_t *words[5];
    for (size_t i = 0; i < p.words; i++)
        words[i] = gpi_frame_take(frame, (size_t)c->nnz * sizeof(uint64_t));
    void *values = p.values ? gpi_frame_take(frame, p.values) : c->out_values;
    sorted.heads.bits = p.bits ? gpi_frame_take(frame, p.bits) : NULL;
    sorted.heads.ranks = p.ranks ? gpi_frame_take(frame, p.ranks) : NULL;
    sorted.heads.wide = c->nnz >> 32 != 0;
    sorted.unsorted = p.unsorted ? gpi_frame_take(frame, p.unsorted) : NULL;
    sorted.values = values;
    if (sorted.unsorted)
        GPI_TRY(gpi_cuda_fill(ctx, sorted.unsorted, 0,
                              (GPI_CSR_UNSORTED_WORDS + GPI_CSR_LEFT_COUNTERS) * sizeof(uint64_t)));
    if (c->rows_of) {
        bool all;
        GPI_TRY(sort_rows(ctx, c, words, sorted.unsorted, &all));
        if (all)
            return GP_OK;
    }
    if (gpi_csr_is_wide(c))
        GPI_TRY(sort_wide(ctx, c, words, values, &sorted));
    else
        GPI_TRY(sort_packed(ctx, c, words, values, &sorted));
    GPI_TRY(gpi_csr_kernels_of(ctx, c)->write(ctx, &sorted, false));
    return p.bits && c->value_bytes ? gpi_csr_kernels_of(ctx, c)->merge(ctx, &sorted) : GP_OK;
}

gp_status gpi_csr_coo_cuda(gp_context *ctx, const struct gpi_csr_coo *c)
{
    gp_target target = gpi_target_of(ctx);
    struct gpi_state state;
    size_t need;
    if (gpi_csr_by_pairs(c))
        return gpi_csr_transpose_cuda(ctx, c);
    GPI_TRY(gpi_csr_coo_cuda_bytes(&target, c, &need));
    GPI_FRAME(frame, ctx, c->function, need);
    /* Now: were the states missing only behind the sort, outputs would have been written. */
    GPI_TRY(gpi_state_get(ctx, c->function, write_tiles(c), &state));
    return run(ctx, c, &frame);
}
