/* SPDX-License-Identifier: MIT */
/*
 * Lexicographic sort of (row, column), the front door. Up to 64 bits together: both become one
 * word, row << col_bits | column, which is sorted and taken apart again. More: they are the two
 * parts of a key (lexsort_parts_internal.h).
 *
 * Scratch, each piece 256-byte aligned:
 *   one word   [words n][words n][the sort's]
 *   parts      [indices n][those of the order by parts][copy of values]
 */
#include "lexsort/lexsort_parts_internal.h"

#include <gp/lexsort.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "radixsort/radixsort_internal.h"
#include "validate/validate_internal.h"

struct job {
    size_t pair_bytes; /* 4 or 8 */
    gp_order order;
    int row_bits, col_bits; /* resolved: 1 to the width */
    size_t value_bytes;     /* 0: none */
    size_t n;
    const uint64_t *device_n; /* NULL, or n is its bound, on CUDA */
    const void *rows, *cols, *values;
    void *rows_out, *cols_out, *values_out; /* rows_out NULL: indices are wanted */
    gp_dtype index_dtype;
    void *indices_out;
};

static bool is_wide(const struct job *j)
{
    return j->row_bits + j->col_bits > 64;
}

/* Bytes of the word that holds both. */
static size_t word_bytes_of(const struct job *j)
{
    return j->row_bits + j->col_bits <= 32 ? 4 : 8;
}

static gp_dtype dtype_of(size_t bytes)
{
    return bytes == 4 ? GP_U32 : GP_U64;
}

static gp_radix_sort_options options_of(const struct job *j, int bits)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = j->order;
    o.end_bit = bits;
    o.device_n = j->device_n;
    return o;
}

/* Rows and columns as parts of a key. */
static struct gpi_lex_parts parts_of(const struct job *j, gp_order order)
{
    struct gpi_lex_parts parts = {.count = 0};
    gpi_lex_add_part(&parts, j->rows, j->pair_bytes, dtype_of(j->pair_bytes), order);
    gpi_lex_add_part(&parts, j->cols, j->pair_bytes, dtype_of(j->pair_bytes), order);
    return parts;
}

/* ---- workspace ------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What the sort of words takes at most. */
static gp_status nested_bytes(const gp_target *t, const struct job *j, size_t *bytes)
{
    const gp_dtype word = dtype_of(word_bytes_of(j));
    gp_radix_sort_options o = options_of(j, j->row_bits + j->col_bits);
    size_t order, narrow, move;
    GPI_TRY(gp_argsort_workspace_bytes(t, word, j->n, GP_U64, &o, &order));
    GPI_TRY(gp_radix_sort_workspace_bytes(t, word, j->value_bytes, j->n, &o, &move));
    *bytes = larger(order, move);
    if (j->n > UINT32_MAX)
        return GP_OK;
    GPI_TRY(gp_argsort_workspace_bytes(t, word, j->n, GP_U32, &o, &narrow));
    *bytes = larger(*bytes, narrow);
    return GP_OK;
}

static gp_status frame_bytes(const gp_target *t, const struct job *j, size_t *bytes)
{
    *bytes = 0;
    if (j->n == 0)
        return GP_OK;
    if (is_wide(j)) {
        const struct gpi_lex_parts parts = parts_of(j, j->order);
        *bytes = gpi_lex_order_bytes(t, &parts, j->n, 8) + gpi_piece(j->n * 8) +
                 gpi_piece(j->n * j->value_bytes);
        return GP_OK;
    }
    GPI_TRY(nested_bytes(t, j, bytes));
    *bytes += 2 * gpi_piece(j->n * word_bytes_of(j));
    return GP_OK;
}

/* ---- the two ways ---------------------------------------------------------------------------- */

static gp_status sort_words(gp_context *ctx, const struct job *j, struct gpi_frame *frame)
{
    const struct gpi_lex_part_kernels *kernels = gpi_lex_kernels_of(ctx);
    const size_t bytes = word_bytes_of(j);
    const gp_dtype word = dtype_of(bytes);
    gp_radix_sort_options o = options_of(j, j->row_bits + j->col_bits);
    /* descending is the order of words */
    struct gpi_lex_pack k = {.parts = parts_of(j, GP_ASCENDING),
                             .word_bytes = bytes,
                             .n = j->n,
                             .device_n = j->device_n};
    k.plan = (struct gpi_lex_plan){.bits = {(uint32_t)j->row_bits, (uint32_t)j->col_bits},
                                   .at = {(uint32_t)j->col_bits},
                                   .total = (uint32_t)(j->row_bits + j->col_bits)};
    void *const outs[] = {j->rows_out, j->cols_out};
    k.words = gpi_frame_take(frame, j->n * bytes);
    kernels->pack(ctx, &k);
    if (!j->rows_out)
        return gp_argsort(ctx, word, k.words, j->n, j->index_dtype, j->indices_out, &o);
    void *sorted = gpi_frame_take(frame, j->n * bytes);
    if (j->value_bytes)
        GPI_TRY(gp_radix_sort_pairs(ctx, word, k.words, j->value_bytes, j->values, j->n, sorted,
                                    j->values_out, &o));
    else
        GPI_TRY(gp_radix_sort(ctx, word, k.words, j->n, sorted, &o));
    kernels->unpack(ctx, &k, sorted, outs);
    return GP_OK;
}

static gp_status sort_wide(gp_context *ctx, const char *f, const struct job *j,
                           struct gpi_frame *frame)
{
    const bool moves = j->rows_out != NULL;
    const gp_dtype index = moves ? dtype_of(gpi_radix_index_bytes(j->n)) : j->index_dtype;
    void *const outs[] = {j->rows_out, j->cols_out};
    struct gpi_lex_order o = {.parts = parts_of(j, j->order),
                              .n = j->n,
                              .device_n = j->device_n,
                              .index_bytes = gpi_dtype_bytes(index),
                              .indices = j->indices_out,
                              .outs = moves ? outs : NULL};
    if (moves)
        o.indices = gpi_frame_take(frame, j->n * 8);
    GPI_TRY(gpi_lex_order(ctx, f, &o, frame));
    if (!moves)
        return GP_OK;
    struct gpi_gather_args all =
        gpi_gather_of(j->pair_bytes, NULL, o.index_bytes, o.indices, 0, NULL);
    all.device_n = o.collect_n;
    all.n = gpi_count_now(ctx, &all.device_n, j->n);
    GPI_TRY(gpi_lex_collect(ctx, f, all, j->rows, o.rooms[0], j->rows_out));
    GPI_TRY(gpi_lex_collect(ctx, f, all, j->cols, o.rooms[1], j->cols_out));
    if (j->value_bytes == 0)
        return GP_OK;
    void *room = j->values == j->values_out ? gpi_frame_take(frame, j->n * j->value_bytes) : NULL;
    all = gpi_gather_of(j->value_bytes, NULL, o.index_bytes, o.indices, j->n, NULL);
    all.device_n = j->device_n;
    return gpi_lex_collect(ctx, f, all, j->values, room, j->values_out);
}

/* ---- front door ------------------------------------------------------------------------------ */

static gp_status check_bits(gp_context *ctx, const char *f, const char *member, int width, int bits)
{
    if (bits < 0 || bits > width)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: options->%s is %d, expected 0 to %d", f,
                        member, bits, width);
    return GP_OK;
}

static gp_status apply_options(gp_context *ctx, const char *f, const gp_lexsort_options *options,
                               struct job *j)
{
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    int width = 8 * (int)j->pair_bytes;
    if (options)
        GPI_TRY(gpi_take_struct(ctx, f, "options", options, &o, GPI_FORM(gp_lexsort_options)));
    GPI_TRY(gpi_check_order(ctx, f, "options->order", o.order));
    GPI_TRY(check_bits(ctx, f, "row_bits", width, o.row_bits));
    GPI_TRY(check_bits(ctx, f, "col_bits", width, o.col_bits));
    j->order = o.order;
    j->row_bits = o.row_bits ? o.row_bits : width;
    j->col_bits = o.col_bits ? o.col_bits : width;
    j->device_n = o.device_n;
    return GP_OK;
}

/* The count on the device, over which no output lies. */
static gp_status check_count(gp_context *ctx, const char *f, const struct job *j)
{
    const uint64_t pairs = (uint64_t)j->n * j->pair_bytes;
    const struct gpi_array arrays[] = {
        GPI_COUNT("options->device_n", j->device_n),
        GPI_WRITE("indices_out", j->indices_out, j->n * gpi_dtype_bytes(j->index_dtype), 1),
        GPI_WRITE("rows_out", j->rows_out, j->rows_out ? pairs : 0, 1),
        GPI_WRITE("cols_out", j->cols_out, j->cols_out ? pairs : 0, 1),
        GPI_WRITE("values_out", j->values_out, (uint64_t)j->n * j->value_bytes, 1),
    };
    if (!j->device_n)
        return GP_OK;
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 1));
    return gpi_check_apart(ctx, f, arrays, 1, 5);
}

/* The first two arrays of a call are rows and columns. */
static gp_status check_inputs(gp_context *ctx, const char *f, gp_dtype pair_dtype, size_t n,
                              const struct gpi_array *arrays)
{
    GPI_TRY(gpi_check_index_dtype(ctx, f, "pair_dtype", pair_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    return gpi_check_memory(ctx, f, arrays, 2);
}

/* An index below 2^bits; of a signed dtype also not negative. */
static struct gpi_content rule_of(const char *name, const void *indices, size_t n, gp_dtype dtype,
                                  int bits)
{
    const int most = 8 * (int)gpi_dtype_bytes(dtype) - gpi_dtype_is_signed(dtype);
    bits = bits < most ? bits : most;
    return (struct gpi_content)GPI_BELOW(name, indices, bits < 64 ? n : 0, dtype,
                                         (uint64_t)1 << bits % 64);
}

static gp_status sort(gp_context *ctx, const char *f, const struct job *j, size_t bytes)
{
    GPI_FRAME(frame, ctx, f, bytes);
    gp_status s = is_wide(j) ? sort_wide(ctx, f, j, &frame) : sort_words(ctx, j, &frame);
    GPI_TRY(gpi_named(ctx, f, s));
    return gpi_launched(ctx, f);
}

/* names: of the arguments rows and cols. */
static gp_status run(gp_context *ctx, const char *f, struct job *j, gp_dtype pair_dtype,
                     const char *const names[2])
{
    const gp_target target = gpi_target_of(ctx);
    size_t bytes;
    GPI_TRY(check_count(ctx, f, j));
    j->n = gpi_count_now(ctx, &j->device_n, j->n);
    if (j->n == 0)
        return GP_OK;
    struct gpi_content rules[] = {
        rule_of(names[0], j->rows, j->n, pair_dtype, j->row_bits),
        rule_of(names[1], j->cols, j->n, pair_dtype, j->col_bits),
    };
    rules[0].device_n = rules[1].device_n = j->device_n;
    if (!gpi_lex_kernels_of(ctx))
        return gpi_fail_sm(ctx, f);
    GPI_TRY(frame_bytes(&target, j, &bytes));
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, sort(ctx, f, j, bytes));
}

gp_status gp_lexsort(gp_context *ctx, gp_dtype pair_dtype, const void *rows, const void *cols,
                     size_t n, gp_dtype index_dtype, void *indices_out,
                     const gp_lexsort_options *options)
{
    static const char f[] = "gp_lexsort";
    struct job j = {.pair_bytes = gpi_dtype_bytes(pair_dtype),
                    .n = n,
                    .rows = rows,
                    .cols = cols,
                    .index_dtype = index_dtype,
                    .indices_out = indices_out};
    const size_t index_bytes = gpi_dtype_bytes(index_dtype);
    const uint64_t pairs = (uint64_t)n * j.pair_bytes;
    const struct gpi_array arrays[] = {
        GPI_READ("rows", rows, pairs, j.pair_bytes),
        GPI_READ("cols", cols, pairs, j.pair_bytes),
        GPI_WRITE("indices_out", indices_out, (uint64_t)n * index_bytes, index_bytes),
    };
    GPI_CALL(ctx, f);
    GPI_TRY(check_inputs(ctx, f, pair_dtype, n, arrays));
    GPI_TRY(gpi_check_unsigned_index(ctx, f, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_index_range(ctx, f, n, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_outputs(ctx, f, arrays, 2, 3));
    GPI_TRY(apply_options(ctx, f, options, &j));
    return run(ctx, f, &j, pair_dtype, (const char *const[]){"rows", "cols"});
}

/* Only its own input may be an output. */
static gp_status check_pairs(gp_context *ctx, const char *f, gp_dtype pair_dtype,
                             const struct job *j)
{
    const size_t item = j->pair_bytes, alignment = gpi_item_alignment(j->value_bytes);
    const uint64_t pairs = (uint64_t)j->n * item, values = (uint64_t)j->n * j->value_bytes;
    const struct gpi_array arrays[] = {
        GPI_READ("rows_in", j->rows, pairs, item),
        GPI_READ("cols_in", j->cols, pairs, item),
        GPI_READ("values_in", j->values, values, alignment),
        GPI_WRITE_OVER(3, "rows_out", j->rows_out, pairs, item),
        GPI_WRITE_OVER(3, "cols_out", j->cols_out, pairs, item),
        GPI_WRITE_OVER(3, "values_out", j->values_out, values, alignment),
    };
    GPI_TRY(check_inputs(ctx, f, pair_dtype, j->n, arrays));
    if (j->value_bytes)
        GPI_TRY(gpi_check_item_bytes(ctx, f, "value_bytes", j->value_bytes));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 2, 4));
    return gpi_check_apart(ctx, f, arrays, 3, 6);
}

gp_status gp_lexsort_pairs(gp_context *ctx, gp_dtype pair_dtype, const void *rows_in,
                           const void *cols_in, size_t value_bytes, const void *values_in, size_t n,
                           void *rows_out, void *cols_out, void *values_out,
                           const gp_lexsort_options *options)
{
    static const char f[] = "gp_lexsort_pairs";
    struct job j = {.pair_bytes = gpi_dtype_bytes(pair_dtype),
                    .value_bytes = value_bytes,
                    .n = n,
                    .rows = rows_in,
                    .cols = cols_in,
                    .values = values_in,
                    .rows_out = rows_out,
                    .cols_out = cols_out,
                    .values_out = values_out};
    GPI_CALL(ctx, f);
    GPI_TRY(check_pairs(ctx, f, pair_dtype, &j));
    GPI_TRY(apply_options(ctx, f, options, &j));
    return run(ctx, f, &j, pair_dtype, (const char *const[]){"rows_in", "cols_in"});
}

gp_status gp_lexsort_workspace_bytes(const gp_target *target, gp_dtype pair_dtype,
                                     size_t value_bytes, size_t n,
                                     const gp_lexsort_options *options, size_t *bytes)
{
    static const char f[] = "gp_lexsort_workspace_bytes";
    struct job j = {.pair_bytes = gpi_dtype_bytes(pair_dtype), .value_bytes = value_bytes, .n = n};
    gp_target t;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_index_dtype(NULL, f, "pair_dtype", pair_dtype));
    if (value_bytes)
        GPI_TRY(gpi_check_item_bytes(NULL, f, "value_bytes", value_bytes));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(apply_options(NULL, f, options, &j));
    return frame_bytes(&t, &j, bytes);
}
