/* SPDX-License-Identifier: MIT */
/* Sorts of (row, column): order, values, in place, bits of the options, errors, graphs. */
#include <gp/lexsort.h>

#include "radixsort_check.h"

static const gp_dtype pair_dtypes[] = {GP_U32, GP_I32, GP_U64, GP_I64};

struct lex {
    gp_dtype dtype;
    size_t n, value_bytes;
    int row_bits, col_bits; /* of the indices, and of the options unless untold */
    bool untold, descending, in_place;
};

static uint64_t number(gp_dtype dtype, const void *array, size_t i)
{
    return gp_dtype_bytes(dtype) == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

/* Random indices; few enough that pairs repeat if the bits are few. */
static void *indices_new(gp_dtype dtype, size_t n, int bits, uint64_t seed)
{
    size_t bytes = gp_dtype_bytes(dtype);
    char *array = t_host(n * bytes);
    uint64_t state = t_seed() + seed;
    int most = 8 * (int)bytes - t_is_signed(dtype);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = t_random(&state) >> (64 - (bits < most ? bits : most));
        memcpy(array + i * bytes, &x, bytes);
    }
    return array;
}

struct entry {
    uint64_t row, col;
    size_t index;
};

static int compare_entries(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static size_t *oracle_lex(const struct lex *x, const void *rows, const void *cols)
{
    struct entry *e = t_host(x->n * sizeof *e);
    size_t *order = t_host(x->n * sizeof *order);
    for (size_t i = 0; i < x->n; i++) {
        uint64_t row = number(x->dtype, rows, i), col = number(x->dtype, cols, i);
        e[i] = (struct entry){x->descending ? ~row : row, x->descending ? ~col : col, i};
    }
    qsort(e, x->n, sizeof *e, compare_entries);
    for (size_t i = 0; i < x->n; i++)
        order[i] = e[i].index;
    free(e);
    return order;
}

static gp_lexsort_options lex_options(const struct lex *x)
{
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    o.order = x->descending ? GP_DESCENDING : GP_ASCENDING;
    o.row_bits = x->untold ? 0 : x->row_bits;
    o.col_bits = x->untold ? 0 : x->col_bits;
    return o;
}

static void same_picked(const char *name, const void *in, size_t bytes, const size_t *order,
                        size_t n, const t_array *out)
{
    void *expected = oracle_pick(in, bytes, order, n), *actual = t_host(n * bytes);
    t_get(out, actual, n * bytes);
    t_same_bytes(name, expected, actual, n * bytes);
    t_check_guards(out);
    free(expected), free(actual);
}

static void check_order(const struct lex *x, const void *rows, const void *cols,
                        const size_t *order)
{
    size_t bytes = x->n * gp_dtype_bytes(x->dtype);
    t_array r = t_new_from(rows, bytes, 8), c = t_new_from(cols, bytes, 16);
    t_array narrow = t_new(x->n * 4, 4), wide = t_new(x->n * 8, 8);
    uint32_t *expected = t_host(x->n * 4), *actual = t_host(x->n * 4);
    uint64_t *actual64 = t_host(x->n * 8);
    gp_lexsort_options o = lex_options(x);
    for (size_t i = 0; i < x->n; i++)
        expected[i] = (uint32_t)order[i];
    T_OK(gp_lexsort(t_ctx(), x->dtype, r.data, c.data, x->n, GP_U32, narrow.data, &o));
    T_OK(gp_lexsort(t_ctx(), x->dtype, r.data, c.data, x->n, GP_U64, wide.data, &o));
    t_get(&narrow, actual, x->n * 4);
    t_same("indices", GP_U32, expected, actual, x->n);
    t_get(&wide, actual64, x->n * 8);
    for (size_t i = 0; i < x->n; i++)
        actual[i] = (uint32_t)actual64[i];
    t_same("wide indices", GP_U32, expected, actual, x->n);
    t_check_guards(&narrow);
    t_check_guards(&wide);
    t_free(&r), t_free(&c), t_free(&narrow), t_free(&wide);
    free(expected), free(actual), free(actual64);
}

static void check_pairs(const struct lex *x, const void *rows, const void *cols,
                        const size_t *order)
{
    size_t pair = gp_dtype_bytes(x->dtype), bytes = x->n * pair, vb = x->n * x->value_bytes;
    void *values = values_new(x->n, x->value_bytes), *host = t_host(bytes);
    t_array r = t_new_from(rows, bytes, 8), c = t_new_from(cols, bytes, 16);
    t_array v = t_new_from(values, vb, 16);
    t_array ro = t_new(bytes, 8), co = t_new(bytes, 8), vo = t_new(vb, 0);
    t_array *rp = x->in_place ? &r : &ro, *cp = x->in_place ? &c : &co;
    t_array *vp = x->in_place ? &v : &vo;
    gp_lexsort_options o = lex_options(x);
    T_OK(gp_lexsort_pairs(t_ctx(), x->dtype, r.data, c.data, x->value_bytes, v.data, x->n, rp->data,
                          cp->data, vp->data, &o));
    same_picked("rows", rows, pair, order, x->n, rp);
    same_picked("columns", cols, pair, order, x->n, cp);
    same_picked("values", values, x->value_bytes, order, x->n, vp);
    if (!x->in_place) {
        t_get(&r, host, bytes);
        t_same_bytes("input rows", rows, host, bytes);
        t_get(&c, host, bytes);
        t_same_bytes("input columns", cols, host, bytes);
    }
    t_free(&r), t_free(&c), t_free(&v), t_free(&ro), t_free(&co), t_free(&vo);
    free(values), free(host);
}

static void check_lex(const struct lex *x)
{
    void *rows = indices_new(x->dtype, x->n, x->row_bits, 1);
    void *cols = indices_new(x->dtype, x->n, x->col_bits, 2);
    size_t *order = oracle_lex(x, rows, cols);
    check_order(x, rows, cols, order);
    check_pairs(x, rows, cols, order);
    free(rows), free(cols), free(order);
}

/* ---- values ---------------------------------------------------------------------------------- */

START_TEST(test_lexsort_bits_and_sizes)
{
    static const int bits[][2] = {{3, 4}, {16, 16}, {20, 13}, {1, 31}, {32, 32}, {32, 1}};
    static const size_t sizes[] = {0, 1, 2, 3000, 20001};
    for (size_t k = 0; k < 5; k++)
        for (int told = 0; told < 2; told++) {
            struct lex x = {.dtype = pair_dtypes[_i % 4], .n = sizes[k], .untold = !told};
            x.row_bits = bits[_i / 4][0];
            x.col_bits = bits[_i / 4][1];
            x.value_bytes = told ? 8 : 0;
            x.descending = k & 1;
            check_lex(&x);
        }
}
END_TEST

/* More than 64 bits together. */
START_TEST(test_lexsort_wide_pairs)
{
    static const int bits[][2] = {{64, 64}, {40, 30}, {2, 63}, {64, 1}};
    for (int k = 0; k < 4; k++) {
        struct lex x = {.dtype = _i ? GP_I64 : GP_U64, .n = 5003};
        x.row_bits = bits[k][0];
        x.col_bits = bits[k][1];
        x.value_bytes = k & 1 ? 12 : 4;
        x.in_place = k & 1;
        x.descending = k & 2;
        check_lex(&x);
        x.row_bits = 2; /* many pairs alike, and the options do not say so */
        x.untold = true;
        check_lex(&x);
    }
}
END_TEST

START_TEST(test_lexsort_value_sizes_in_place)
{
    static const size_t sizes[] = {0, 1, 2, 4, 8, 16, 3, 24, 100};
    for (int k = 0; k < 4; k++) {
        struct lex x = {.dtype = pair_dtypes[k], .n = 3001, .value_bytes = sizes[_i]};
        x.in_place = true;
        x.row_bits = 7;
        x.col_bits = k & 1 ? 6 : 30;
        check_lex(&x);
    }
}
END_TEST

/* ---- workspace, graphs ----------------------------------------------------------------------- */

START_TEST(test_lexsort_captured_and_replayed)
{
    struct lex x = {.dtype = GP_U32, .n = 20000, .row_bits = 9, .col_bits = 20};
    gp_lexsort_options o = lex_options(&x);
    size_t bytes;
    T_OK(gp_lexsort_workspace_bytes(NULL, x.dtype, 0, x.n, &o, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    t_array r = t_new(x.n * 4, 0), c = t_new(x.n * 4, 0), ro = t_new(x.n * 4, 0);
    t_array co = t_new(x.n * 4, 0);
    if (t_capture_begin()) {
        T_OK(gp_lexsort_pairs(t_ctx(), x.dtype, r.data, c.data, 0, NULL, x.n, ro.data, co.data,
                              NULL, &o));
        t_capture_end();
        for (uint64_t seed = 0; seed < 3; seed++) {
            void *rows = indices_new(x.dtype, x.n, 9, seed);
            void *cols = indices_new(x.dtype, x.n, seed ? 20 : 3, seed + 9);
            size_t *order = oracle_lex(&x, rows, cols);
            t_put(&r, rows, x.n * 4);
            t_put(&c, cols, x.n * 4);
            t_replay();
            same_picked("rows", rows, 4, order, x.n, &ro);
            same_picked("columns", cols, 4, order, x.n, &co);
            free(rows), free(cols), free(order);
        }
        t_capture_free();
    }
    t_free(&r), t_free(&c), t_free(&ro), t_free(&co);
}
END_TEST

/* The sorts inside find room in the frame: one that does not returns an error. */
START_TEST(test_lexsort_workspace_bytes_is_enough)
{
    static const size_t values[] = {0, 4, 16, 24};
    struct lex x = {.dtype = pair_dtypes[_i], .n = 30001};
    for (int k = 0; k < 8; k++) {
        gp_context *ctx;
        gp_context_options co = GP_CONTEXT_OPTIONS_INIT;
        size_t bytes, n = x.n, value = values[k / 2], pair = gp_dtype_bytes(x.dtype);
        x.row_bits = k & 1 ? 0 : 10;
        x.col_bits = 20;
        gp_lexsort_options o = lex_options(&x);
        t_array r = t_new(n * pair, 0), c = t_new(n * pair, 0), v = t_new(n * 24, 0);
        co.backend = gp_context_backend(t_ctx());
        T_OK(gp_lexsort_workspace_bytes(NULL, x.dtype, value, n, &o, &bytes));
        co.workspace_bytes = bytes;
        T_OK(gp_context_create(&ctx, &co));
        T_OK(gp_lexsort_pairs(ctx, x.dtype, r.data, c.data, value, v.data, n, r.data, c.data,
                              v.data, &o));
        T_OK(gp_lexsort(ctx, x.dtype, r.data, c.data, n, GP_U64, v.data, &o));
        T_OK(gp_context_synchronize(ctx));
        gp_context_destroy(ctx);
        t_free(&r), t_free(&c), t_free(&v);
    }
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_lexsort_errors)
{
    t_array a = t_new(4096, 0);
    char *r = a.data, *k = r + 512, *v = r + 1024, *ro = r + 1536, *ko = r + 2048, *vo = r + 2560;
    gp_context *c = t_ctx();
    size_t n = 8, big = ((size_t)1 << 40) + 1;
#define LEX(...) gp_lexsort(__VA_ARGS__, NULL)
#define PAIRS(...) gp_lexsort_pairs(__VA_ARGS__, NULL)
    T_STATUS(GP_ERROR_POINTER, LEX(NULL, GP_U32, r, k, n, GP_U32, ro));
    T_STATUS(GP_ERROR_DTYPE, LEX(c, GP_U16, r, k, n, GP_U32, ro));
    T_STATUS(GP_ERROR_POINTER, LEX(c, GP_U32, NULL, k, n, GP_U32, ro));
    T_STATUS(GP_ERROR_POINTER, LEX(c, GP_U32, r, NULL, n, GP_U32, ro));
    T_STATUS(GP_ERROR_POINTER, LEX(c, GP_U64, r, k + 4, n, GP_U32, ro));
    T_STATUS(GP_ERROR_ARGUMENT, LEX(c, GP_U32, r, k, big, GP_U64, ro));
    T_STATUS(GP_ERROR_ARGUMENT, LEX(c, GP_U32, r, k, (size_t)1 << 32, GP_U32, ro));
    T_STATUS(GP_ERROR_DTYPE, LEX(c, GP_U32, r, k, n, GP_I32, ro));
    T_STATUS(GP_ERROR_POINTER, LEX(c, GP_U32, r, k, n, GP_U32, NULL));
    T_STATUS(GP_ERROR_OVERLAP, LEX(c, GP_U32, r, k, n, GP_U32, r));
    T_STATUS(GP_ERROR_OVERLAP, LEX(c, GP_U32, r, k, n, GP_U32, k + 28));
    T_STATUS(GP_ERROR_POINTER, PAIRS(NULL, GP_U32, r, k, 0, NULL, n, ro, ko, NULL));
    T_STATUS(GP_ERROR_DTYPE, PAIRS(c, GP_F32, r, k, 0, NULL, n, ro, ko, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, r, k, 65537, v, n, ro, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, r, k, 4, NULL, n, ro, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, r, k, 4, v, n, NULL, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, r, k, 4, v, n, ro, NULL, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, r, k, 4, v, n, ro, ko, NULL));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, r, k, 4, v, n, k, ko, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, r, k, 4, v, n, r + 4, ko, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, r, k, 4, v, n, ro, ro, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, r, k, 4, v, n, ro, ko, ko + 4));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, r, k, 4, v, n, ro, v, vo));
#undef LEX
#undef PAIRS
    T_OK(gp_lexsort(c, GP_U32, NULL, NULL, 0, GP_U32, NULL, NULL));
    T_OK(gp_lexsort_pairs(c, GP_U32, NULL, NULL, 4, NULL, 0, NULL, NULL, NULL, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

START_TEST(test_lexsort_option_and_size_errors)
{
    const gp_lexsort_options good = GP_LEXSORT_OPTIONS_INIT;
    gp_lexsort_options bad[5] = {good, good, good, good, good};
    gp_target target = GP_TARGET_INIT;
    t_array a = t_new(1024, 0);
    size_t bytes = 77, big = ((size_t)1 << 40) + 1;
    char *r = a.data;
    bad[0].size = 1;
    bad[1].order = (gp_order)2;
    bad[2].row_bits = -1;
    bad[3].row_bits = 33;
    bad[4].col_bits = 33;
#define BYTES gp_lexsort_workspace_bytes
    for (int i = 0; i < 5; i++) {
        T_STATUS(GP_ERROR_ARGUMENT, gp_lexsort(t_ctx(), GP_U32, r, r, 8, GP_U32, r + 512, &bad[i]));
        T_STATUS(GP_ERROR_ARGUMENT, gp_lexsort_pairs(t_ctx(), GP_U32, r, r + 128, 0, NULL, 8,
                                                     r + 512, r + 640, NULL, &bad[i]));
        T_STATUS(GP_ERROR_ARGUMENT, BYTES(NULL, GP_U32, 0, 8, &bad[i], &bytes));
    }
    target.size = 1;
    T_STATUS(GP_ERROR_ARGUMENT, BYTES(&target, GP_U32, 0, 8, NULL, &bytes));
    T_STATUS(GP_ERROR_DTYPE, BYTES(NULL, GP_F64, 0, 8, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, BYTES(NULL, GP_U32, 65537, 8, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, BYTES(NULL, GP_U32, 0, big, NULL, &bytes));
    T_STATUS(GP_ERROR_POINTER, BYTES(NULL, GP_U32, 0, 8, NULL, NULL));
#undef BYTES
    ck_assert_uint_eq(bytes, 77);
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

static void add_cases(Suite *s)
{
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_lexsort_bits_and_sizes, 0, 4 * 6);
    tcase_add_loop_test(c, test_lexsort_wide_pairs, 0, 2);
    tcase_add_loop_test(c, test_lexsort_value_sizes_in_place, 0, 9);
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_lexsort_workspace_bytes_is_enough, 0, 4);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_lexsort_captured_and_replayed);
    c = t_case(s, "errors");
    tcase_add_test(c, test_lexsort_errors);
    tcase_add_test(c, test_lexsort_option_and_size_errors);
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("lexsort");
    add_cases(s);
    return t_main(argc, argv, s);
}
