/* SPDX-License-Identifier: MIT */
/*
 * What a context that validates finds in the arrays of balance.h and csr.h: the exact text, nothing
 * written, and the context usable afterwards.
 */
#include <inttypes.h>
#include <stdio.h>

#include "csr_cases.h"
#include "segments.h"

/* ---- a matrix and the calls that take parts of it -------------------------------------------- */

/* n rows and n entries, n + 1 columns, in arrays of the context. */
struct given {
    gp_dtype index, offset;
    bool by;
    size_t n, nnz;
    uint64_t *h_pointers, *h_rows, *h_cols;
    t_array pointers, rows, cols, values;
    t_array out[4];
};

enum { OUTS = 4 };

/* Rows of 0, 2 and 1 entries; the first pointer is base. */
static struct given given_new(const gp_dtype pair[2], size_t n, uint64_t base, bool by)
{
    struct given g = {.index = pair[0], .offset = pair[1], .by = by, .n = n, .nnz = n};
    float *values = t_host((n + 1) * sizeof *values);
    g.h_pointers = t_host((n + 1) * 8);
    g.h_rows = t_host(n * 8);
    g.h_cols = t_host(n * 8);
    for (size_t r = 0; r <= n; r++)
        g.h_pointers[r] = base + (r % 3 == 1 && r < n ? r - 1 : r);
    for (size_t r = 0; r < n; r++)
        for (uint64_t i = g.h_pointers[r] - base; i < g.h_pointers[r + 1] - base; i++) {
            g.h_rows[i] = r;
            g.h_cols[i] = (r * 7 + i) % (n + 1);
        }
    for (size_t i = 0; i <= n; i++)
        values[i] = (float)(i % 17);
    g.pointers = index_array(g.h_pointers, n + 1, g.offset, 0);
    g.rows = index_array(g.h_rows, n, g.index, 0);
    g.cols = index_array(g.h_cols, n, g.index, 0);
    g.values = t_new_from(values, (n + 1) * sizeof *values, 0);
    for (int i = 0; i < OUTS; i++)
        g.out[i] = t_new((n + 2) * 8, 0);
    free(values);
    return g;
}

static void given_free(struct given *g)
{
    t_array *all[] = {&g->pointers, &g->rows, &g->cols, &g->values};
    for (int i = 0; i < 4; i++)
        t_free(all[i]);
    for (int i = 0; i < OUTS; i++)
        t_free(&g->out[i]);
    free(g->h_pointers);
    free(g->h_rows);
    free(g->h_cols);
}

enum call { SEARCH, EXPAND, PARTITION, TO_COO, SPMV, TRANSPOSE, FROM_COO, UNSORTED, POINTERS };

/* Outputs of each. */
static const int outs[] = {2, 1, 2, 1, 1, 3, 4, 1, 1};

static const char *name_of(enum call call, bool by)
{
    static const char *const names[][2] = {
        {"gp_balance_search", "gp_balance_search_by"},
        {"gp_expand", "gp_expand_by"},
        {"gp_merge_path_partition", "gp_merge_path_partition_by"},
        {"gp_csr_to_coo", "gp_csr_to_coo_by"},
        {"gp_spmv", "gp_spmv_by"},
        {"gp_csr_transpose", "gp_csr_transpose"},
        {"gp_csr_from_coo", "gp_csr_from_coo"},
        {"gp_csr_row_pointers_unsorted", "gp_csr_row_pointers_unsorted_by"},
        {"gp_csr_row_pointers", "gp_csr_row_pointers_by"},
    };
    return names[call][by];
}

static gp_status run_short(enum call call, gp_context *c, const struct given *g)
{
    const void *at = g->pointers.data, *rows = g->rows.data, *cols = g->cols.data;
    void *a = g->out[0].data, *b = g->out[1].data;
    switch (call) {
    case SEARCH:
        return gp_balance_search(c, g->offset, at, g->n, g->nnz, g->index, a, b);
    case EXPAND:
        return gp_expand(c, 4, g->values.data, g->offset, at, g->n, g->nnz, a);
    case PARTITION:
        return gp_merge_path_partition(c, g->offset, at, g->n, g->nnz, g->n, a, b);
    case TO_COO:
        return gp_csr_to_coo(c, g->offset, at, g->n, g->nnz, g->index, a);
    case SPMV:
        return gp_spmv(c, g->index, g->offset, GP_F32, g->n, g->n + 1, g->nnz, at, cols,
                       g->values.data, NULL, g->values.data, NULL, a);
    case UNSORTED:
        return gp_csr_row_pointers_unsorted(c, g->index, rows, g->nnz, g->n, g->offset, a);
    default:
        return gp_csr_row_pointers(c, g->index, rows, g->nnz, g->n, g->offset, a);
    }
}

static gp_status run_by(enum call call, gp_context *c, const struct given *g)
{
    const void *at = g->pointers.data, *rows = g->rows.data;
    void *a = g->out[0].data, *b = g->out[1].data;
    gp_balance_desc walk = GP_BALANCE_DESC_INIT;
    gp_csr_desc csr = GP_CSR_DESC_INIT;
    walk.item_bytes = call == EXPAND ? 4 : 0;
    walk.offset_dtype = csr.offset_dtype = g->offset;
    walk.index_dtype = call == SEARCH ? g->index : (gp_dtype)0;
    csr.index_dtype = g->index;
    csr.value_dtype = call == SPMV ? GP_F32 : (gp_dtype)0;
    switch (call) {
    case SEARCH:
        return gp_balance_search_by(c, &walk, at, g->n, g->nnz, a, b);
    case EXPAND:
        return gp_expand_by(c, &walk, g->values.data, at, g->n, g->nnz, a);
    case PARTITION:
        return gp_merge_path_partition_by(c, &walk, at, g->n, g->nnz, g->n, a, b);
    case TO_COO:
        return gp_csr_to_coo_by(c, &csr, at, g->n, g->nnz, a);
    case SPMV:
        return gp_spmv_by(c, &csr, g->n, g->n + 1, g->nnz, at, g->cols.data, g->values.data, NULL,
                          g->values.data, NULL, a);
    case UNSORTED:
        return gp_csr_row_pointers_unsorted_by(c, &csr, rows, g->nnz, g->n, a);
    default:
        return gp_csr_row_pointers_by(c, &csr, rows, g->nnz, g->n, a);
    }
}

static gp_status run(enum call call, gp_context *c, const struct given *g)
{
    const t_array *o = g->out;
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = g->index;
    d.offset_dtype = g->offset;
    if (call == TRANSPOSE)
        return gp_csr_transpose(c, &d, g->n, g->n + 1, g->nnz, g->pointers.data, g->cols.data,
                                g->values.data, o[0].data, o[1].data, o[2].data);
    if (call == FROM_COO)
        return gp_csr_from_coo(c, &d, g->n, g->n + 1, g->rows.data, g->cols.data, g->values.data,
                               g->nnz, o[0].data, o[1].data, o[2].data, o[3].data);
    return g->by ? run_by(call, c, g) : run_short(call, c, g);
}

/* All outputs of a call with valid data. */
static void outputs_of(enum call call, gp_context *c, struct given *g, char *to)
{
    for (int i = 0; i < outs[call]; i++)
        t_poison(&g->out[i]);
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_msg(run(call, c, g) == GP_OK, "%s", gp_last_error(c));
    ck_assert_msg(gp_context_synchronize(c) == GP_OK, "%s", gp_last_error(c));
    for (int i = 0; i < outs[call]; i++, to += g->out[0].bytes)
        t_get(&g->out[i], to, g->out[i].bytes);
}

/* A run with what is wrong: text follows the name of the call. */
static void expect(enum call call, gp_context *v, struct given *g, const char *text)
{
    char full[300];
    snprintf(full, sizeof full, "%s: %s", name_of(call, g->by), text);
    for (int i = 0; i < outs[call]; i++)
        t_poison(&g->out[i]);
    T_OK(gp_context_synchronize(t_ctx()));
    t_refused(v, run(call, v, g), full);
    for (int i = 0; i < outs[call]; i++)
        t_check_untouched(&g->out[i]);
}

static void put_item(t_array *array, gp_dtype dtype, size_t i, uint64_t value)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    char item[8];
    t_store(dtype, item, 0, value);
    T_OK(gp_copy(t_ctx(), item, bytes, (char *)array->data + i * bytes));
    T_OK(gp_context_synchronize(t_ctx()));
}

/* The number as a text shows an item of dtype. */
static const char *number(gp_dtype dtype, uint64_t value, char text[24])
{
    const bool is_wide = gp_dtype_bytes(dtype) == 8;
    if (t_is_signed(dtype))
        snprintf(text, 24, "%" PRId64, is_wide ? (int64_t)value : (int32_t)(uint32_t)value);
    else
        snprintf(text, 24, "%" PRIu64, is_wide ? value : (uint32_t)value);
    return text;
}

/* Item i of an array becomes value, for one run that is refused. */
static void spoil(enum call call, gp_context *v, struct given *g, t_array *array, gp_dtype dtype,
                  const uint64_t *host, size_t i, uint64_t value, const char *name,
                  const char *rule, const uint64_t *bound, const char *end)
{
    char text[200], is[24], than[24];
    snprintf(text, sizeof text, "%s[%zu] is %s, %s%s%s", name, i, number(dtype, value, is), rule,
             bound ? number(dtype, *bound, than) : "", end);
    put_item(array, dtype, i, value);
    expect(call, v, g, text);
    put_item(array, dtype, i, host[i]);
}

static const size_t sizes[] = {1, 2, 1000, 100003};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Both forms of a call take turns with long arrays. */
static bool is_skipped(int i, int size)
{
    return size == SIZES - 1 && i % 2 != i / 2 % 2;
}

/* ---- offsets --------------------------------------------------------------------------------- */

static void spoil_pointers(enum call call, gp_context *v, struct given *g, const char *name)
{
    const size_t n = g->n, places[] = {1, 2, n / 2, n - 1, n};
    const uint64_t *p = g->h_pointers;
    t_array *a = &g->pointers;
    const gp_dtype dtype = g->offset;
    for (int k = 0; k < 5; k++) {
        const size_t i = places[k];
        if (i == 0 || i > n)
            continue;
        const uint64_t before = p[i - 1];
        if (before > 0)
            spoil(call, v, g, a, dtype, p, i, before - 1, name, "below the ", &before,
                  " before it");
        if (t_is_signed(dtype))
            spoil(call, v, g, a, dtype, p, i, (uint64_t)-7, name, "below the ", &before,
                  " before it");
    }
    if (t_is_signed(dtype))
        spoil(call, v, g, a, dtype, p, 0, (uint64_t)-1, name, "negative", NULL, "");
    const uint64_t zero = 0, more = p[n] + 1;
    if (call >= TO_COO)
        spoil(call, v, g, a, dtype, p, 0, 1, name, "expected ", &zero, "");
    spoil(call, v, g, a, dtype, p, n, more, name, "expected ", &p[n], "");
}

/* The number of items is not what the offsets say; arrays are as long as it says. */
static void spoil_count(enum call call, gp_context *v, struct given *g, const char *name)
{
    char text[200], is[24], want[24];
    const uint64_t last = g->h_pointers[g->n];
    g->nnz--;
    snprintf(text, sizeof text, "%s[%zu] is %s, expected %s", name, g->n,
             number(g->offset, last, is), number(g->offset, last - 1, want));
    expect(call, v, g, text);
    g->nnz++;
}

/* Of each pair of dtypes and each form. */
START_TEST(test_offsets)
{
    const gp_dtype *pair = pairs[_i / 2];
    gp_context *v = t_validating();
    for (int s = 0; s < SIZES; s++)
        for (int call = SEARCH; call <= TRANSPOSE && !is_skipped(_i, s); call++) {
            const char *name = call <= EXPAND ? "offsets" : "row_pointers";
            struct given g = given_new(pair, t_at_most(sizes[s]), call < TO_COO ? 5 : 0, _i % 2);
            const size_t bytes = (size_t)outs[call] * g.out[0].bytes;
            char *want = t_host(bytes), *got = t_host(bytes);
            outputs_of((enum call)call, t_ctx(), &g, want);
            outputs_of((enum call)call, v, &g, got);
            t_same_bytes("validated", want, got, bytes);
            spoil_pointers((enum call)call, v, &g, name);
            spoil_count((enum call)call, v, &g, name);
            outputs_of((enum call)call, v, &g, got);
            t_same_bytes("validated after errors", want, got, bytes);
            free(want);
            free(got);
            given_free(&g);
        }
    gp_context_destroy(v);
}
END_TEST

/* ---- rows and columns ------------------------------------------------------------------------ */

static void spoil_indices(enum call call, gp_context *v, struct given *g, bool rows)
{
    const size_t n = g->n, places[] = {0, n / 2, n - 1};
    const uint64_t bound = rows ? n : n + 1, values[] = {bound, 1u << 30, UINT64_MAX};
    const uint64_t *host = rows ? g->h_rows : g->h_cols;
    for (int k = 0; k < 3; k++)
        for (int x = 0; x < 3; x++) {
            const size_t i = places[k];
            /* -1 among rows that should ascend is below the one before it as well. */
            const bool falls = call == POINTERS && i > 0 && x == 2 && t_is_signed(g->index);
            spoil(call, v, g, rows ? &g->rows : &g->cols, g->index, host, i, values[x],
                  rows ? "rows" : "cols", falls ? "below the " : "expected below ",
                  falls ? &host[i - 1] : &bound, falls ? " before it" : "");
        }
}

static void spoil_order(gp_context *v, struct given *g)
{
    const size_t n = g->n, places[] = {1, n / 2, n - 1};
    for (int k = 0; k < 3; k++) {
        const size_t i = places[k];
        if (i > 0 && i < n && g->h_rows[i - 1] > 0)
            spoil(POINTERS, v, g, &g->rows, g->index, g->h_rows, i, g->h_rows[i - 1] - 1, "rows",
                  "below the ", &g->h_rows[i - 1], " before it");
    }
}

START_TEST(test_indices)
{
    const gp_dtype *pair = pairs[_i / 2];
    gp_context *v = t_validating();
    for (int s = 0; s < SIZES; s++)
        for (int c = SPMV; c <= POINTERS && !is_skipped(_i, s); c++) {
            const enum call call = (enum call)c;
            struct given g = given_new(pair, t_at_most(sizes[s]), 0, _i % 2);
            const size_t bytes = (size_t)outs[call] * g.out[0].bytes;
            char *want = t_host(bytes), *got = t_host(bytes);
            outputs_of(call, t_ctx(), &g, want);
            outputs_of(call, v, &g, got);
            t_same_bytes("validated", want, got, bytes);
            if (call >= FROM_COO)
                spoil_indices(call, v, &g, true);
            if (call <= FROM_COO)
                spoil_indices(call, v, &g, false);
            if (call == POINTERS)
                spoil_order(v, &g);
            outputs_of(call, v, &g, got);
            t_same_bytes("validated after errors", want, got, bytes);
            free(want);
            free(got);
            given_free(&g);
        }
    gp_context_destroy(v);
}
END_TEST

/* A matrix that has no place for its entries. */
START_TEST(test_entries_without_a_place)
{
    gp_context *v = t_validating();
    struct given g = given_new(pairs[_i], 3, 0, false);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = g.index;
    d.offset_dtype = g.offset;
    T_OK(gp_context_synchronize(t_ctx()));
    const t_array *o = g.out;
    t_refused(v,
              gp_csr_from_coo(v, &d, 0, 9, g.rows.data, g.cols.data, g.values.data, 3, o[0].data,
                              o[1].data, o[2].data, o[3].data),
              "gp_csr_from_coo: rows[0] is 1, expected below 0");
    t_refused(v,
              gp_csr_from_coo(v, &d, 9, 0, g.rows.data, g.cols.data, g.values.data, 3, o[0].data,
                              o[1].data, o[2].data, o[3].data),
              "gp_csr_from_coo: cols[0] is 3, expected below 0");
    t_refused(v,
              gp_csr_transpose(v, &d, 3, 0, 3, g.pointers.data, g.cols.data, g.values.data,
                               o[0].data, o[1].data, o[2].data),
              "gp_csr_transpose: cols[0] is 3, expected below 0");
    for (int i = 0; i < OUTS; i++)
        t_check_untouched(&g.out[i]);
    given_free(&g);
    gp_context_destroy(v);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("validate_sparse");
    TCase *c = t_case(s, "rules");
    tcase_add_loop_test(c, test_offsets, 0, 2 * PAIRS);
    tcase_add_loop_test(c, test_indices, 0, 2 * PAIRS);
    tcase_add_loop_test(c, test_entries_without_a_place, 0, PAIRS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
