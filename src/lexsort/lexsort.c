/* SPDX-License-Identifier: MIT */
/* The front door of lexicographic sorts of (row, column), which are the two parts of a key. */
#include "lexsort/lexsort_parts_internal.h"

#include <gp/lexsort.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "radixsort/radixsort_internal.h"
#include "validate/validate_internal.h"

/* A call; its sort has parts once the options are applied. */
struct job {
    gp_dtype pair_dtype;
    const void *pair[2]; /* rows and columns */
    int bits[2];         /* resolved: 1 to the width */
    struct gpi_lex_sort sort;
};

static size_t pair_bytes(const struct job *j)
{
    return gpi_dtype_bytes(j->pair_dtype);
}

static gp_status check_bits(gp_context *ctx, const char *f, const char *member, int width, int bits)
{
    if (bits < 0 || bits > width)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: options->%s is %d, expected 0 to %d", f,
                        member, bits, width);
    return GP_OK;
}

/* A part of the key; the bits above are 0. */
static void add_part(struct job *j, int part, int bits, gp_order order)
{
    const size_t bytes = pair_bytes(j);
    j->bits[part] = bits ? bits : 8 * (int)bytes;
    gpi_lex_add_part(&j->sort.parts, j->pair[part], bytes, bytes == 4 ? GP_U32 : GP_U64, order)
        ->mask = ~(uint64_t)0 >> (64 - j->bits[part]);
}

static gp_status apply_options(gp_context *ctx, const char *f, const gp_lexsort_options *options,
                               struct job *j)
{
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    const int width = 8 * (int)pair_bytes(j);
    if (options)
        GPI_TRY(gpi_take_struct(ctx, f, "options", options, &o, GPI_FORM(gp_lexsort_options)));
    GPI_TRY(gpi_check_order(ctx, f, "options->order", o.order));
    GPI_TRY(check_bits(ctx, f, "row_bits", width, o.row_bits));
    GPI_TRY(check_bits(ctx, f, "col_bits", width, o.col_bits));
    add_part(j, 0, o.row_bits, o.order);
    add_part(j, 1, o.col_bits, o.order);
    j->sort.device_n = o.device_n;
    return GP_OK;
}

/* The count on the device, over which no output lies. */
static gp_status check_count(gp_context *ctx, const char *f, const struct job *j)
{
    const struct gpi_lex_sort *s = &j->sort;
    const uint64_t pairs = s->indices ? 0 : s->n * pair_bytes(j);
    const struct gpi_array arrays[] = {
        GPI_COUNT("options->device_n", s->device_n),
        GPI_WRITE("indices_out", s->indices, s->indices ? s->n * s->index_bytes : 0, 1),
        GPI_WRITE("rows_out", s->outs[0], pairs, 1),
        GPI_WRITE("cols_out", s->outs[1], pairs, 1),
        GPI_WRITE("values_out", s->values_out, s->n * s->value_bytes, 1),
    };
    if (!s->device_n)
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
static struct gpi_content rule_of(const char *name, const struct job *j, int part)
{
    const int most = 8 * (int)pair_bytes(j) - gpi_dtype_is_signed(j->pair_dtype);
    const int bits = j->bits[part] < most ? j->bits[part] : most;
    struct gpi_content rule = GPI_BELOW(name, j->pair[part], bits < 64 ? j->sort.n : 0,
                                        j->pair_dtype, (uint64_t)1 << bits % 64);
    rule.device_n = j->sort.device_n;
    return rule;
}

/* names: of the arguments rows and cols. */
static gp_status run(gp_context *ctx, const char *f, struct job *j, const char *const names[2])
{
    struct gpi_lex_sort *s = &j->sort;
    GPI_TRY(check_count(ctx, f, j));
    s->n = gpi_count_now(ctx, &s->device_n, s->n);
    if (s->n == 0)
        return GP_OK;
    const struct gpi_content rules[] = {rule_of(names[0], j, 0), rule_of(names[1], j, 1)};
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_lex_sort(ctx, f, s));
}

gp_status gp_lexsort(gp_context *ctx, gp_dtype pair_dtype, const void *rows, const void *cols,
                     size_t n, gp_dtype index_dtype, void *indices_out,
                     const gp_lexsort_options *options)
{
    static const char f[] = "gp_lexsort";
    const size_t index_bytes = gpi_dtype_bytes(index_dtype), item = gpi_dtype_bytes(pair_dtype);
    struct job j = {.pair_dtype = pair_dtype,
                    .pair = {rows, cols},
                    .sort = {.n = n, .index_bytes = index_bytes, .indices = indices_out}};
    const struct gpi_array arrays[] = {
        GPI_READ("rows", rows, (uint64_t)n * item, item),
        GPI_READ("cols", cols, (uint64_t)n * item, item),
        GPI_WRITE("indices_out", indices_out, (uint64_t)n * index_bytes, index_bytes),
    };
    GPI_CALL(ctx, f);
    GPI_TRY(check_inputs(ctx, f, pair_dtype, n, arrays));
    GPI_TRY(gpi_check_unsigned_index(ctx, f, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_index_range(ctx, f, n, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_outputs(ctx, f, arrays, 2, 3));
    GPI_TRY(apply_options(ctx, f, options, &j));
    return run(ctx, f, &j, (const char *const[]){"rows", "cols"});
}

/* Only its own input may be an output. */
static gp_status check_pairs(gp_context *ctx, const char *f, const struct job *j)
{
    const struct gpi_lex_sort *s = &j->sort;
    const size_t item = pair_bytes(j), alignment = gpi_item_alignment(s->value_bytes);
    const uint64_t pairs = s->n * item, values = s->n * s->value_bytes;
    const struct gpi_array arrays[] = {
        GPI_READ("rows_in", j->pair[0], pairs, item),
        GPI_READ("cols_in", j->pair[1], pairs, item),
        GPI_READ("values_in", s->values, values, alignment),
        GPI_WRITE_OVER(3, "rows_out", s->outs[0], pairs, item),
        GPI_WRITE_OVER(3, "cols_out", s->outs[1], pairs, item),
        GPI_WRITE_OVER(3, "values_out", s->values_out, values, alignment),
    };
    GPI_TRY(check_inputs(ctx, f, j->pair_dtype, s->n, arrays));
    if (s->value_bytes)
        GPI_TRY(gpi_check_item_bytes(ctx, f, "value_bytes", s->value_bytes));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 2, 4));
    return gpi_check_apart(ctx, f, arrays, 3, 6);
}

gp_status gp_lexsort_pairs(gp_context *ctx, gp_dtype pair_dtype, const void *rows_in,
                           const void *cols_in, size_t value_bytes, const void *values_in, size_t n,
                           void *rows_out, void *cols_out, void *values_out,
                           const gp_lexsort_options *options)
{
    static const char f[] = "gp_lexsort_pairs";
    struct job j = {.pair_dtype = pair_dtype,
                    .pair = {rows_in, cols_in},
                    .sort = {.n = n,
                             .index_bytes = gpi_radix_index_bytes(n),
                             .outs = {rows_out, cols_out},
                             .value_bytes = value_bytes,
                             .values = values_in,
                             .values_out = values_out}};
    GPI_CALL(ctx, f);
    GPI_TRY(check_pairs(ctx, f, &j));
    GPI_TRY(apply_options(ctx, f, options, &j));
    return run(ctx, f, &j, (const char *const[]){"rows_in", "cols_in"});
}

gp_status gp_lexsort_workspace_bytes(const gp_target *target, gp_dtype pair_dtype,
                                     size_t value_bytes, size_t n,
                                     const gp_lexsort_options *options, size_t *bytes)
{
    static const char f[] = "gp_lexsort_workspace_bytes";
    struct job j = {.pair_dtype = pair_dtype,
                    .sort = {.n = n,
                             .index_bytes = gpi_radix_index_bytes(n),
                             .outs = {bytes, bytes}, /* any arrays: there are some */
                             .value_bytes = value_bytes}};
    gp_target t;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_index_dtype(NULL, f, "pair_dtype", pair_dtype));
    if (value_bytes)
        GPI_TRY(gpi_check_item_bytes(NULL, f, "value_bytes", value_bytes));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(apply_options(NULL, f, options, &j));
    const size_t pairs = gpi_lex_sort_bytes(&t, &j.sort);
    j.sort.indices = bytes;
    j.sort.index_bytes = 8;
    j.sort.outs[0] = j.sort.outs[1] = NULL;
    j.sort.value_bytes = 0;
    const size_t indices = gpi_lex_sort_bytes(&t, &j.sort);
    *bytes = pairs > indices ? pairs : indices;
    return GP_OK;
}
