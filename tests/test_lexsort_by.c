/* SPDX-License-Identifier: MIT */
/* Sorts by parts of a key and of records by fields: order, routes, in place, graphs. */
#include <gp/lexsort.h>

#include "radixsort_check.h"

/* ---- the oracle ------------------------------------------------------------------------------ */

/* One number of each item, as the test made it. */
struct column {
    gp_dtype dtype;
    bool descending;
    void *values;
};

struct table {
    int columns;
    size_t n;
    struct column column[GP_KEY_PARTS_MAX];
};

/* Stable sorts, the last column first. */
static size_t *oracle_order(const struct table *t)
{
    size_t *order = t_host(t->n * sizeof *order), *next = t_host(t->n * sizeof *next);
    for (size_t i = 0; i < t->n; i++)
        order[i] = i;
    for (int c = t->columns; c-- > 0;) {
        const struct column *col = &t->column[c];
        void *keys = oracle_pick(col->values, gp_dtype_bytes(col->dtype), order, t->n);
        size_t *by = oracle_argsort(col->dtype, keys, t->n, col->descending, 0, 0);
        for (size_t i = 0; i < t->n; i++)
            next[i] = order[by[i]];
        memcpy(order, next, t->n * sizeof *order);
        free(keys), free(by);
    }
    free(next);
    return order;
}

static void table_free(struct table *t)
{
    for (int c = 0; c < t->columns; c++)
        free(t->column[c].values);
}

/* Columns of any dtypes and patterns; the first ones repeat, so that the next ones decide. */
static struct table table_new(size_t n, int columns, uint64_t seed)
{
    struct table t = {.columns = columns, .n = n};
    uint64_t state = t_seed() + seed;
    for (int c = 0; c < columns; c++) {
        struct column *col = &t.column[c];
        col->dtype = t_dtypes[t_random_below(&state, T_DTYPE_COUNT)];
        col->descending = t_random_below(&state, 2);
        enum pattern p = (enum pattern)t_random_below(&state, PATTERN_COUNT);
        if (c + 1 < columns && t_random_below(&state, 2))
            p = PATTERN_THREE_VALUES;
        col->values = pattern_new(p, col->dtype, n);
    }
    return t;
}

/* ---- by parts -------------------------------------------------------------------------------- */

/* Columns in arrays of their own, strides and alignments from the seed. */
static void put_columns(const struct table *t, uint64_t seed, t_array *arrays, gp_lexsort_desc *d)
{
    uint64_t state = seed;
    d->num_parts = t->columns;
    for (int c = 0; c < t->columns; c++) {
        const struct column *col = &t->column[c];
        const size_t bytes = gp_dtype_bytes(col->dtype);
        const size_t stride = bytes + (t_random_below(&state, 2) ? t_random_below(&state, 9) : 0);
        const size_t offset = t_random_below(&state, 2) ? t_random_below(&state, 16) : 0;
        char *host = t_host(t->n * stride);
        memset(host, 0x5a, t->n * stride);
        for (size_t i = 0; i < t->n; i++)
            memcpy(host + i * stride, (const char *)col->values + i * bytes, bytes);
        /* nothing behind the last number is the array's */
        arrays[c] = t_new_from(host, t->n ? (t->n - 1) * stride + bytes : 0, offset);
        d->parts[c] = (gp_key_part){arrays[c].data, stride, col->dtype,
                                    col->descending ? GP_DESCENDING : GP_ASCENDING};
        free(host);
    }
}

static void check_indices(const size_t *order, size_t n, gp_dtype dtype, const t_array *out)
{
    uint64_t *expected = t_host(n * 8), *actual = t_host(n * 8);
    uint32_t *narrow = t_host(n * 4);
    const size_t bytes = gp_dtype_bytes(dtype);
    for (size_t i = 0; i < n; i++)
        expected[i] = order[i];
    t_get(out, dtype == GP_U32 ? (void *)narrow : (void *)actual, n * bytes);
    for (size_t i = 0; dtype == GP_U32 && i < n; i++)
        actual[i] = narrow[i];
    t_same("indices", GP_U64, expected, actual, n);
    t_check_guards(out);
    free(expected), free(actual), free(narrow);
}

/* Whether row a comes before row b. */
static bool row_before(const struct table *t, uint64_t *const *words, size_t a, size_t b)
{
    for (int c = 0; c < t->columns; c++)
        if (words[c][a] != words[c][b])
            return t->column[c].descending ? words[c][a] > words[c][b] : words[c][a] < words[c][b];
    return a < b;
}

/* There is only one order in which each index stands once and each row comes before the next. */
static void check_order(const struct table *t, const size_t *order)
{
    uint64_t *words[GP_KEY_PARTS_MAX];
    char *seen = t_host(t->n);
    memset(seen, 0, t->n);
    for (int c = 0; c < t->columns; c++) {
        words[c] = t_host(t->n * 8);
        for (size_t i = 0; i < t->n; i++)
            words[c][i] = oracle_word(t->column[c].dtype, t->column[c].values, i);
    }
    for (size_t i = 0; i < t->n; i++) {
        ck_assert_msg(order[i] < t->n && !seen[order[i]], "index %zu", i);
        seen[order[i]] = 1;
        ck_assert_msg(i == 0 || row_before(t, words, order[i - 1], order[i]), "row %zu", i);
    }
    for (int c = 0; c < t->columns; c++)
        free(words[c]);
    free(seen);
}

/* The stable order, for free(). That of many rows is the library's, proved: serial sorts of them
 * take minutes. */
static size_t *order_of(const struct table *t)
{
    enum { SORTED_MAX = 50000 };
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    t_array arrays[GP_KEY_PARTS_MAX], out;
    if (t->n <= SORTED_MAX)
        return oracle_order(t);
    size_t *order = t_host(t->n * sizeof *order);
    uint32_t *indices = t_host(t->n * 4);
    d.index_dtype = GP_U32;
    put_columns(t, 0, arrays, &d);
    out = t_new(t->n * 4, 0);
    T_OK(gp_lexsort_by(t_ctx(), &d, t->n, out.data));
    t_get(&out, indices, t->n * 4);
    for (size_t i = 0; i < t->n; i++)
        order[i] = indices[i];
    check_order(t, order);
    for (int c = 0; c < t->columns; c++)
        t_free(&arrays[c]);
    t_free(&out);
    free(indices);
    return order;
}

static void check_parts(const struct table *t, uint64_t seed)
{
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    t_array arrays[GP_KEY_PARTS_MAX];
    size_t *order = order_of(t);
    put_columns(t, seed, arrays, &d);
    for (int wide = 0; wide < 2; wide++) {
        d.index_dtype = wide ? GP_U64 : GP_U32;
        t_array out = t_new(t->n * gp_dtype_bytes(d.index_dtype), 8);
        T_OK(gp_lexsort_by(t_ctx(), &d, t->n, out.data));
        check_indices(order, t->n, d.index_dtype, &out);
        t_free(&out);
    }
    for (int c = 0; c < t->columns; c++)
        t_free(&arrays[c]);
    free(order);
}

START_TEST(test_lexsort_by_any_parts)
{
    static const size_t sizes[] = {0, 1, 2, 33, 4095, 20001};
    struct table t = table_new(t_at_most(sizes[_i % 6]), 1 + _i % 8, (uint64_t)_i);
    check_parts(&t, (uint64_t)_i);
    table_free(&t);
}
END_TEST

/* From here on sorts are planned; and from there on by 32 bits, too. */
#define PLANNED (((size_t)1 << (t_is_cuda() ? 20 : 12)) + 77)
#define NARROW (((size_t)1 << (t_is_cuda() ? 21 : 12)) + 77)

START_TEST(test_lexsort_by_many_items)
{
    struct table t = table_new(t_at_most(PLANNED), 2 + _i % 7, 100 + (uint64_t)_i);
    check_parts(&t, (uint64_t)_i);
    table_free(&t);
}
END_TEST

/* Two or three parts of 64 bits that take a route each. */
enum route { ROUTE_DISTINCT, ROUTE_SOME_EQUAL, ROUTE_LONG_RUN, ROUTE_REPEATS, ROUTE_NARROW };

/* Numbers that the first part does not tell apart. Places between those that a sample of every
 * n / 4096th item sees. */
static void make_equal(uint64_t *first, size_t n, size_t length, size_t runs, uint64_t *state)
{
    for (size_t r = 0; r < runs; r++) {
        const uint64_t value = t_random(state);
        for (size_t k = 0; k < length; k++) {
            const size_t s = t_random_below(state, 4095);
            const size_t low = s * n / 4096 + 1, high = (s + 1) * n / 4096;
            if (low < high)
                first[low + t_random_below(state, high - low)] = value;
        }
    }
}

START_TEST(test_lexsort_by_routes)
{
    const enum route route = (enum route)(_i % 5);
    const size_t n = t_at_most(_i < 7 ? PLANNED : NARROW);
    struct table t = {.columns = 2 + (_i == 6 || _i == 10), .n = n};
    uint64_t state = t_seed() + 7;
    for (int c = 0; c < t.columns; c++) {
        t.column[c] = (struct column){GP_U64, c & 1, t_host(n * 8)};
        uint64_t *x = t.column[c].values;
        for (size_t i = 0; i < n; i++)
            x[i] = route == ROUTE_NARROW ? (t_random(&state) >> 46 << 13) + 5 : t_random(&state);
    }
    uint64_t *first = t.column[0].values;
    if (route == ROUTE_SOME_EQUAL)
        make_equal(first, n, 7, 100, &state);
    if (route == ROUTE_LONG_RUN)
        make_equal(first, n, 60, 1, &state);
    /* near each other or far apart */
    for (size_t i = 0; route == ROUTE_REPEATS && i < n; i++)
        first[i] = first[i] % 1000 * (_i < 7 ? 1 : 0x9e3779b97f4a7c15u);
    first[n / 2] = first[n - 1] = first[0]; /* the ends of the array */
    check_parts(&t, 0);
    table_free(&t);
}
END_TEST

/* (u64, u64) with values, the same routes. */
START_TEST(test_lexsort_pairs_routes)
{
    const size_t n = t_at_most(_i < 5 ? PLANNED : NARROW), bytes = n * 8;
    struct table t = {.columns = 2, .n = n};
    uint64_t state = t_seed() + 3;
    const int bits = _i % 3 == 0 ? 64 : _i % 3 == 1 ? 31 : 9;
    const bool in_place = _i / 3;
    for (int c = 0; c < 2; c++) {
        t.column[c] = (struct column){GP_U64, in_place, t_host(bytes)};
        for (size_t i = 0; i < n; i++)
            ((uint64_t *)t.column[c].values)[i] = (t_random(&state) >> (64 - bits)) + 12;
    }
    size_t *order = order_of(&t);
    char *values = values_new(n, 6);
    t_array in[3] = {t_new_from(t.column[0].values, bytes, 8),
                     t_new_from(t.column[1].values, bytes, 0), t_new_from(values, n * 6, 2)};
    t_array out[3] = {t_new(bytes, 0), t_new(bytes, 8), t_new(n * 6, 4)};
    t_array *to = in_place ? in : out;
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    o.order = in_place ? GP_DESCENDING : GP_ASCENDING;
    T_OK(gp_lexsort_pairs(t_ctx(), GP_U64, in[0].data, in[1].data, 6, in[2].data, n, to[0].data,
                          to[1].data, to[2].data, &o));
    for (int k = 0; k < 3; k++) {
        const size_t item = k == 2 ? 6 : 8;
        void *expected = oracle_pick(k == 2 ? values : t.column[k].values, item, order, n);
        void *actual = t_host(n * item);
        t_get(&to[k], actual, n * item);
        t_same_bytes("output", expected, actual, n * item);
        t_check_guards(&to[k]);
        free(expected), free(actual);
    }
    for (int k = 0; k < 3; k++)
        t_free(&in[k]), t_free(&out[k]);
    table_free(&t), free(order), free(values);
}
END_TEST

/* ---- records --------------------------------------------------------------------------------- */

/* Records of bytes of their number, with the columns of a table in them. */
static char *records_new(const struct table *t, gp_record_sort_desc *d, uint64_t seed)
{
    uint64_t state = seed;
    char *records = values_new(t->n, d->record_bytes);
    size_t at = 0, used = 0;
    for (int c = 0; c < t->columns; c++)
        used += gp_dtype_bytes(t->column[c].dtype);
    d->num_fields = t->columns;
    for (int c = 0; c < t->columns; c++) {
        const struct column *col = &t->column[c];
        const size_t bytes = gp_dtype_bytes(col->dtype);
        const size_t gap = d->record_bytes - used > 0 ? t_random_below(&state, 2) : 0;
        at += gap;
        used += gap;
        d->fields[c] =
            (gp_record_field){at, col->dtype, col->descending ? GP_DESCENDING : GP_ASCENDING};
        for (size_t i = 0; i < t->n; i++)
            memcpy(records + i * d->record_bytes + at, (const char *)col->values + i * bytes,
                   bytes);
        at += bytes;
    }
    return records;
}

static void check_records(const struct table *t, size_t record_bytes, bool in_place, uint64_t seed)
{
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    d.record_bytes = record_bytes;
    const size_t bytes = t->n * record_bytes;
    char *records = records_new(t, &d, seed), *actual = t_host(bytes);
    size_t *order = order_of(t);
    char *expected = oracle_pick(records, record_bytes, order, t->n);
    t_array in = t_new_from(records, bytes, 0), out = t_new(bytes, 16);
    t_array *to = in_place ? &in : &out;
    T_OK(gp_record_sort(t_ctx(), &d, in.data, t->n, to->data));
    t_get(to, actual, bytes);
    t_same_bytes("records", expected, actual, bytes);
    t_check_guards(to);
    if (!in_place) {
        t_get(&in, actual, bytes);
        t_same_bytes("input", records, actual, bytes);
    }
    t_free(&in), t_free(&out);
    free(records), free(actual), free(order), free(expected);
}

START_TEST(test_record_sort_sizes_and_fields)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 100, 1000};
    static const size_t items[] = {0, 1, 3000, 20011};
    const size_t record = sizes[_i % 11];
    for (int k = 0; k < 4; k++) {
        struct table t = table_new(t_at_most(items[k]), 1 + k, (uint64_t)(_i * 8 + k));
        size_t used = 0;
        for (int c = 0; c < t.columns; c++) { /* as many fields as there is room for */
            used += gp_dtype_bytes(t.column[c].dtype);
            if (used > record && c == 0) {
                t.column[0].dtype = GP_U8;
                used = 1;
            } else if (used > record) {
                for (int e = c; e < t.columns; e++)
                    free(t.column[e].values);
                t.columns = c;
            }
        }
        check_records(&t, record, (_i / 11 + k) & 1, (uint64_t)_i);
        table_free(&t);
    }
}
END_TEST

/* ---- workspace, graphs ----------------------------------------------------------------------- */

START_TEST(test_lexsort_by_workspace_bytes_is_enough)
{
    const size_t n = t_at_most(_i % 2 ? NARROW : 3000);
    gp_record_sort_desc r = GP_RECORD_SORT_DESC_INIT;
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    t_array records = t_new(n * 24, 0), out = t_new(n * 8, 0);
    gp_context_options co = GP_CONTEXT_OPTIONS_INIT;
    size_t bytes[2];
    r.record_bytes = 24;
    r.num_fields = d.num_parts = 1 + _i / 2;
    d.index_dtype = GP_U64;
    for (int k = 0; k < 3; k++) {
        r.fields[k] = (gp_record_field){8 * (size_t)k, GP_U64, GP_ASCENDING};
        d.parts[k] = (gp_key_part){(char *)records.data + 8 * (size_t)k, 24, GP_U64, GP_ASCENDING};
    }
    T_OK(gp_record_sort_workspace_bytes(NULL, &r, n, &bytes[0]));
    T_OK(gp_lexsort_by_workspace_bytes(NULL, &d, n, &bytes[1]));
    for (int k = 0; k < 2; k++) {
        gp_context *ctx;
        co.backend = gp_context_backend(t_ctx());
        co.workspace_bytes = bytes[k];
        T_OK(gp_context_create(&ctx, &co));
        if (k == 0)
            T_OK(gp_record_sort(ctx, &r, records.data, n, records.data));
        else
            T_OK(gp_lexsort_by(ctx, &d, n, out.data));
        T_OK(gp_context_synchronize(ctx));
        gp_context_destroy(ctx);
    }
    t_free(&records), t_free(&out);
}
END_TEST

START_TEST(test_lexsort_by_captured_and_replayed)
{
    const size_t n = t_at_most(NARROW);
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    t_array keys = t_new(n * 16, 0), out = t_new(n * 4, 0);
    size_t bytes;
    d.index_dtype = GP_U32;
    d.num_parts = 2;
    for (int k = 0; k < 2; k++)
        d.parts[k] = (gp_key_part){(char *)keys.data + 8 * (size_t)k, 16, GP_F64, GP_DESCENDING};
    T_OK(gp_lexsort_by_workspace_bytes(NULL, &d, n, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    if (t_capture_begin()) {
        T_OK(gp_lexsort_by(t_ctx(), &d, n, out.data));
        t_capture_end();
        for (int round = 0; round < 3; round++) { /* another route each time */
            struct table t = {.columns = 2, .n = n};
            char *host = t_host(n * 16);
            for (int c = 0; c < 2; c++) {
                t.column[c] = (struct column){GP_F64, true, NULL};
                t.column[c].values = pattern_new(round == 0   ? PATTERN_BITS
                                                 : round == 1 ? PATTERN_NARROW
                                                              : PATTERN_SPECIAL,
                                                 GP_F64, n);
                for (size_t i = 0; i < n; i++)
                    memcpy(host + i * 16 + 8 * (size_t)c, (char *)t.column[c].values + i * 8, 8);
            }
            size_t *order = order_of(&t);
            t_put(&keys, host, n * 16);
            t_replay();
            check_indices(order, n, GP_U32, &out);
            free(order), free(host), table_free(&t);
        }
        t_capture_free();
    }
    t_free(&keys), t_free(&out);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("lexsort_by");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_lexsort_by_any_parts, 0, 48);
    tcase_add_loop_test(c, test_lexsort_by_many_items, 0, 3);
    tcase_add_loop_test(c, test_lexsort_by_routes, 0, 12);
    tcase_add_loop_test(c, test_lexsort_pairs_routes, 1, 7);
    tcase_add_loop_test(c, test_record_sort_sizes_and_fields, 0, 22);
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_lexsort_by_workspace_bytes_is_enough, 0, 6);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_lexsort_by_captured_and_replayed);
    return t_main(argc, argv, s);
}
