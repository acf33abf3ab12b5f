/* SPDX-License-Identifier: MIT */
/* COO to CSR, and transpose. */
#include <limits.h>

#include "csr_cases.h"

/* ---- COO to CSR ---- */

static gp_coo_desc desc_of(const gp_dtype pair[2], gp_dtype value, gp_duplicates policy)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = pair[0];
    d.offset_dtype = pair[1];
    d.value_dtype = value;
    d.duplicates = policy;
    return d;
}

/* Arrays of one conversion on the device. */
struct conversion {
    t_array rows, cols, values, pointers, out_cols, out_values, out_nnz;
};

static struct conversion conversion_new(const struct coo *m, const gp_coo_desc *d, size_t offset)
{
    size_t ib = gp_dtype_bytes(d->index_dtype), vb = gp_dtype_bytes(m->dtype);
    struct conversion c = {
        .rows = index_array(m->rows, m->nnz, d->index_dtype, offset * ib),
        .cols = index_array(m->cols, m->nnz, d->index_dtype, offset * ib),
        .values = t_new_from(m->values, m->nnz * vb, offset * vb),
        .pointers = t_new(bytes_of(d->offset_dtype, m->num_rows + 1),
                          offset * gp_dtype_bytes(d->offset_dtype)),
        .out_cols = t_new(m->nnz * ib, offset * ib),
        .out_values = t_new(m->nnz * vb, offset * vb),
        .out_nnz = t_new(8, 8 * offset),
    };
    return c;
}

static void conversion_free(struct conversion *c)
{
    t_array *all[] = {&c->rows,     &c->cols,       &c->values, &c->pointers,
                      &c->out_cols, &c->out_values, &c->out_nnz};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        t_free(all[i]);
}

static gp_status convert(const struct coo *m, const gp_coo_desc *d, struct conversion *c)
{
    return gp_csr_from_coo(t_ctx(), d, m->num_rows, m->num_cols, c->rows.data, c->cols.data,
                           m->dtype ? c->values.data : NULL, m->nnz, c->pointers.data,
                           c->out_cols.data, m->dtype ? c->out_values.data : NULL, c->out_nnz.data);
}

static void check_conversion(const struct conversion *c, const gp_coo_desc *d,
                             const struct csr *want)
{
    ck_assert_uint_eq(t_get_u64(&c->out_nnz), want->nnz);
    check_indices("row pointers", &c->pointers, want->pointers, want->num_rows + 1,
                  d->offset_dtype);
    check_indices("columns", &c->out_cols, want->cols, want->nnz, d->index_dtype);
    check_values(&c->out_values, want);
    t_check_guards(&c->out_nnz);
}

static void from_coo_case(const struct coo *m, const gp_dtype pair[2], gp_duplicates policy,
                          size_t offset)
{
    gp_coo_desc d = desc_of(pair, m->dtype, policy);
    struct csr want = oracle_from_coo(m, policy);
    struct conversion c = conversion_new(m, &d, offset);
    T_OK(convert(m, &d, &c));
    check_conversion(&c, &d, &want);
    check_indices("rows stay", &c.rows, m->rows, m->nnz, d.index_dtype);
    if (policy != GP_DUPLICATES_KEEP)
        T_OK(gp_check_csr(t_ctx(), pair[0], pair[1], m->num_rows, m->num_cols, want.nnz,
                          c.pointers.data, c.out_cols.data));
    conversion_free(&c);
    csr_free(&want);
}

START_TEST(test_from_coo_matrices_match_oracle)
{
    struct coo m = coo_make((enum matrix)(_i / PAIRS), 3000, GP_F32, t_seed());
    from_coo_case(&m, pairs[_i % PAIRS], GP_DUPLICATES_SUM, (size_t)_i % 3);
    coo_free(&m);
}
END_TEST

/* Runs from 1 to about 100 entries, and one of 5000. */
START_TEST(test_from_coo_policies_match_oracle)
{
    for (int policy = GP_DUPLICATES_SUM; policy <= GP_DUPLICATES_KEEP; policy++) {
        struct coo m = coo_make(DUPLICATES, 2500, t_dtypes[_i], t_seed());
        struct coo one = coo_make(ONE_PLACE, 5000, t_dtypes[_i], t_seed());
        from_coo_case(&m, pairs[policy % PAIRS], (gp_duplicates)policy, 0);
        from_coo_case(&one, pairs[policy % PAIRS], (gp_duplicates)policy, 1);
        coo_free(&m), coo_free(&one);
    }
}
END_TEST

/* By bytes: which of several zeros and NaNs, and NaNs with all their bits. */
static void selected_case(struct coo *m, gp_duplicates policy)
{
    uint64_t state = t_seed();
    t_fill_special(m->dtype, m->values, m->nnz, &state);
    gp_coo_desc d = desc_of(pairs[0], m->dtype, policy);
    struct csr want = oracle_from_coo(m, policy);
    struct conversion c = conversion_new(m, &d, 0);
    size_t bytes = bytes_of(m->dtype, want.nnz);
    void *got = t_host(bytes);
    T_OK(convert(m, &d, &c));
    t_get(&c.out_values, got, bytes);
    t_same_bytes("values that were selected", want.values, got, bytes);
    free(got);
    conversion_free(&c);
    csr_free(&want);
}

START_TEST(test_from_coo_selected_values_keep_their_bits)
{
    static const gp_duplicates policies[] = {GP_DUPLICATES_MIN, GP_DUPLICATES_MAX,
                                             GP_DUPLICATES_FIRST, GP_DUPLICATES_LAST,
                                             GP_DUPLICATES_KEEP};
    for (int k = 0; k < 15; k++) {
        const enum matrix kind = k % 3 == 2 ? ONE_PLACE : DUPLICATES;
        const uint64_t n = k % 3 == 0 ? 60 : k % 3 == 1 ? 2500 : 5000;
        struct coo m = coo_make(kind, n, t_dtypes[_i], t_seed());
        selected_case(&m, policies[k / 3]);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_from_coo_pattern_has_no_values)
{
    for (int policy = GP_DUPLICATES_SUM; policy <= GP_DUPLICATES_KEEP; policy++) {
        struct coo m = coo_make(DUPLICATES, 1000, (gp_dtype)0, t_seed());
        from_coo_case(&m, pairs[_i], (gp_duplicates)policy, 0);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_from_coo_every_small_size)
{
    for (uint64_t n = (uint64_t)_i * 128; n < (uint64_t)(_i + 1) * 128; n++) {
        struct coo m = coo_make(n % 2 ? RANDOM : DUPLICATES, n, GP_F64, t_seed() + n);
        from_coo_case(&m, pairs[n % PAIRS], GP_DUPLICATES_SUM, 0);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_from_coo_sizes)
{
    struct coo m = coo_make((enum matrix)(RANDOM - _i % 2), t_sizes[_i], GP_U16, t_seed());
    from_coo_case(&m, pairs[_i % PAIRS], GP_DUPLICATES_LAST, 0);
    coo_free(&m);
}
END_TEST

/* So many that order is looked for: entries that have it, or all but one. */
START_TEST(test_from_coo_with_order_matches_oracle)
{
    enum { N = (1 << 18) + 99 };
    static const enum matrix kinds[] = {BANDED, DUPLICATES, RANDOM, SINGLE_ROW};
    static const gp_dtype values[] = {GP_U8, GP_F16, GP_F32, GP_U64};
    static const uint64_t late[] = {N, 0, 1024, N - 2};
    const gp_duplicates policy = (gp_duplicates)(GP_DUPLICATES_SUM + _i % 6);
    struct coo m = coo_make(kinds[_i % 4], N, values[_i / 2 % 4], t_seed());
    coo_sort(&m, late[_i / 4 % 4]);
    from_coo_case(&m, pairs[_i % PAIRS], policy, (size_t)_i % 2);
    coo_free(&m);
}
END_TEST

/* So many that columns are sorted within rows that are in order, but for a row that is too long. */
START_TEST(test_from_coo_with_rows_in_order)
{
    enum { N = (1 << 21) + 99 };
    const gp_duplicates policy = _i == 1 ? GP_DUPLICATES_KEEP : GP_DUPLICATES_SUM;
    struct coo m = coo_make(RANDOM, t_is_cuda() ? N : 0, _i ? GP_U8 : GP_F32, t_seed());
    coo_in_rows(&m, _i == 2 ? 20000 : 1, 1000);
    from_coo_case(&m, pairs[2 * _i], policy, 0);
    coo_free(&m);
}
END_TEST

/* Row and column take 65 bits together. */
START_TEST(test_from_coo_keys_past_64_bits)
{
    uint64_t seed = t_seed(), n = 20000;
    struct coo m = coo_new(((uint64_t)1 << 24) + 1, (uint64_t)1 << 40, n, GP_F32);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t place = t_random_below(&seed, n / 2);
        coo_add(&m, place % 3 ? place * 1234567 % m.num_rows : m.num_rows - 1 - place % 2,
                place * 987654321987 % m.num_cols);
    }
    t_fill_random(GP_F32, m.values, n, &seed);
    from_coo_case(&m, pairs[2], GP_DUPLICATES_SUM, 0);
    from_coo_case(&m, pairs[5], GP_DUPLICATES_KEEP, 0);
    coo_free(&m);
}
END_TEST

START_TEST(test_from_coo_error_policy_reports_duplicates)
{
    struct coo unique = coo_make(IDENTITY, 1000, GP_F32, t_seed());
    from_coo_case(&unique, pairs[_i], GP_DUPLICATES_ERROR, 0);
    unique.rows[999] = unique.rows[0];
    unique.cols[999] = unique.cols[0];
    gp_coo_desc d = desc_of(pairs[_i], GP_F32, GP_DUPLICATES_ERROR);
    struct csr want = oracle_from_coo(&unique, GP_DUPLICATES_FIRST);
    struct conversion c = conversion_new(&unique, &d, 0);
    T_OK(convert(&unique, &d, &c));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    check_conversion(&c, &d, &want);
    conversion_free(&c);
    csr_free(&want);
    coo_free(&unique);
}
END_TEST

static void check_conversion_guards(const struct conversion *c)
{
    t_check_guards(&c->pointers);
    t_check_guards(&c->out_cols);
    t_check_guards(&c->out_values);
    t_check_guards(&c->out_nnz);
}

START_TEST(test_from_coo_out_of_range_is_reported)
{
    static const uint64_t bad[] = {0, 1, UINT64_MAX, (uint64_t)1 << 31}; /* added to the size */
    for (int b = 0; b < 4; b++) {
        struct coo m = coo_make(RANDOM, 2000, GP_F32, t_seed());
        gp_coo_desc d = desc_of(pairs[_i], GP_F32, b % 2 ? GP_DUPLICATES_KEEP : GP_DUPLICATES_SUM);
        uint64_t *which = b % 2 ? m.rows : m.cols;
        which[1234] = bad[b] == UINT64_MAX ? bad[b] : (b % 2 ? m.num_rows : m.num_cols) + bad[b];
        struct conversion c = conversion_new(&m, &d, 0);
        T_OK(convert(&m, &d, &c));
        T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
        T_OK(gp_context_synchronize(t_ctx()));
        check_conversion_guards(&c);
        conversion_free(&c);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_from_coo_entries_without_a_place_are_reported)
{
    struct coo m = coo_make(RANDOM, 10, GP_F32, t_seed());
    gp_coo_desc d = desc_of(pairs[_i], GP_F32, GP_DUPLICATES_SUM);
    struct csr want = {3, 0, 0, t_host(4 * 8), t_host(8), t_host(8), GP_F32};
    memset(want.pointers, 0, 4 * 8);
    m.num_rows = 3;
    m.num_cols = 0;
    struct conversion c = conversion_new(&m, &d, 0);
    T_OK(convert(&m, &d, &c));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    check_conversion(&c, &d, &want);
    conversion_free(&c);
    csr_free(&want);
    coo_free(&m);
}
END_TEST

/* ---- transpose ---- */

/* Transpose a to out arrays, compare with the oracle, and return the oracle. */
static struct csr transpose_with(const struct csr *a, const gp_dtype pair[2], gp_duplicates policy)
{
    gp_coo_desc d = desc_of(pair, a->dtype, policy);
    struct coo exchanged = oracle_exchange(a);
    struct csr want = oracle_from_coo(&exchanged, GP_DUPLICATES_KEEP);
    size_t vb = gp_dtype_bytes(a->dtype);
    t_array pointers = index_array(a->pointers, a->num_rows + 1, pair[1], 0);
    t_array values = t_new_from(a->values, a->nnz * vb, 0);
    struct conversion c = conversion_new(&exchanged, &d, 1); /* its rows are a's columns */
    T_OK(gp_csr_transpose(t_ctx(), &d, a->num_rows, a->num_cols, a->nnz, pointers.data, c.rows.data,
                          a->dtype ? values.data : NULL, c.pointers.data, c.out_cols.data,
                          a->dtype ? c.out_values.data : NULL));
    check_indices("row pointers", &c.pointers, want.pointers, want.num_rows + 1, pair[1]);
    check_indices("columns", &c.out_cols, want.cols, want.nnz, pair[0]);
    check_values(&c.out_values, &want);
    t_free(&pointers);
    t_free(&values);
    conversion_free(&c);
    coo_free(&exchanged);
    return want;
}

static struct csr transpose_case(const struct csr *a, const gp_dtype pair[2])
{
    return transpose_with(a, pair, GP_DUPLICATES_SUM);
}

START_TEST(test_transpose_twice_is_identity)
{
    struct coo m =
        coo_make((enum matrix)(_i / PAIRS), 4000, t_dtypes[_i % T_DTYPE_COUNT], t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_FIRST);
    struct csr t = transpose_case(&a, pairs[_i % PAIRS]);
    struct csr b = transpose_case(&t, pairs[_i % PAIRS]);
    t_same("row pointers", GP_U64, a.pointers, b.pointers, a.num_rows + 1);
    t_same("columns", GP_U64, a.cols, b.cols, a.nnz);
    t_same_bytes("values", a.values, b.values, bytes_of(a.dtype, a.nnz));
    csr_free(&a);
    csr_free(&t);
    csr_free(&b);
    coo_free(&m);
}
END_TEST

START_TEST(test_transpose_keeps_duplicates_in_order)
{
    struct coo m = coo_make(DUPLICATES, 3000, _i % 2 ? GP_U32 : (gp_dtype)0, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct csr t = transpose_case(&a, pairs[_i]);
    csr_free(&a);
    csr_free(&t);
    coo_free(&m);
}
END_TEST

START_TEST(test_transpose_does_not_look_at_duplicates)
{
    static const int values[] = {GP_DUPLICATES_KEEP, GP_DUPLICATES_ERROR, 0, 8, 99, -1, INT_MIN};
    gp_duplicates policy = (gp_duplicates)values[_i];
    gp_coo_desc d = desc_of(pairs[0], GP_U32, policy), plain = desc_of(pairs[0], GP_U32, values[0]);
    size_t bytes, plain_bytes;
    struct coo m = coo_make(DUPLICATES, 3000, GP_U32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct csr t = transpose_with(&a, pairs[0], policy);
    T_OK(gp_csr_transpose_workspace_bytes(NULL, &d, 100, 100, 1000, &bytes));
    T_OK(gp_csr_transpose_workspace_bytes(NULL, &plain, 100, 100, 1000, &plain_bytes));
    ck_assert_uint_eq(bytes, plain_bytes);
    csr_free(&a);
    csr_free(&t);
    coo_free(&m);
}
END_TEST

START_TEST(test_transpose_sizes)
{
    struct coo m = coo_make(RANDOM, t_sizes[_i], GP_U32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_LAST);
    struct csr t = transpose_case(&a, pairs[_i % PAIRS]);
    csr_free(&a);
    csr_free(&t);
    coo_free(&m);
}
END_TEST

/* ---- capture ---- */

START_TEST(test_capture_replays_with_other_data)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    struct coo m = coo_make(RANDOM, 6000, GP_F32, t_seed());
    size_t reserve;
    T_OK(gp_csr_from_coo_workspace_bytes(NULL, &d, m.num_rows, m.num_cols, m.nnz, &reserve));
    T_OK(gp_context_reserve(t_ctx(), reserve));
    t_array rows = index_array(m.rows, m.nnz, GP_U32, 0),
            cols = index_array(m.cols, m.nnz, GP_U32, 0);
    t_array values = t_new_from(m.values, m.nnz * 4, 0), pointers = t_new((m.num_rows + 1) * 4, 0);
    t_array out_cols = t_new(m.nnz * 4, 0), out_values = t_new(m.nnz * 4, 0), nnz = t_new(8, 0);
    if (t_capture_begin()) {
        T_OK(gp_csr_from_coo(t_ctx(), &d, m.num_rows, m.num_cols, rows.data, cols.data, values.data,
                             m.nnz, pointers.data, out_cols.data, out_values.data, nnz.data));
        T_STATUS(GP_ERROR_WORKSPACE, gp_check_csr(t_ctx(), GP_U32, GP_U32, m.num_rows, m.num_cols,
                                                  m.nnz, pointers.data, cols.data));
        t_capture_end();
        for (uint64_t round = 0; round < 3; round++) {
            for (uint64_t i = 0; i < m.nnz; i++)
                m.cols[i] = (m.cols[i] * 7 + round) % m.num_cols;
            void *changed = narrowed(m.cols, m.nnz, GP_U32);
            struct csr want = oracle_from_coo(&m, GP_DUPLICATES_SUM);
            t_put(&cols, changed, m.nnz * 4);
            t_replay();
            ck_assert_uint_eq(t_get_u64(&nnz), want.nnz);
            check_indices("row pointers", &pointers, want.pointers, m.num_rows + 1, GP_U32);
            check_indices("columns", &out_cols, want.cols, want.nnz, GP_U32);
            check_values(&out_values, &want);
            csr_free(&want);
            free(changed);
        }
        t_capture_free();
    }
    t_array *all[] = {&rows, &cols, &values, &pointers, &out_cols, &out_values, &nnz};
    for (int i = 0; i < 7; i++)
        t_free(all[i]);
    coo_free(&m);
}
END_TEST

/* Calls that search in row pointers say so, by the name that their caller knows. */
START_TEST(test_row_pointers_that_miss_nnz_are_named)
{
    uint64_t pointers[] = {0, 1, 4}, cols[] = {0, 1, 2, 0, 1};
    const gp_dtype *pair = pairs[_i];
    gp_coo_desc d = desc_of(pair, (gp_dtype)0, GP_DUPLICATES_KEEP);
    t_array at = index_array(pointers, 3, pair[1], 0), in = index_array(cols, 5, pair[0], 0);
    t_array rows = t_new(40, 0), to = t_new(40, 0);
    T_OK(gp_csr_to_coo(t_ctx(), pair[1], at.data, 2, 5, pair[0], rows.data));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    ck_assert_str_eq(gp_last_error(t_ctx()),
                     "gp_csr_to_coo: row_pointers[2] - row_pointers[0] is 4, expected 5");
    T_OK(gp_csr_transpose(t_ctx(), &d, 2, 3, 5, at.data, in.data, NULL, to.data, rows.data, NULL));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    ck_assert_str_eq(gp_last_error(t_ctx()),
                     "gp_csr_transpose: row_pointers[2] - row_pointers[0] is 4, expected 5");
    t_free(&at), t_free(&in), t_free(&rows), t_free(&to);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_coo");
    TCase *c = t_case(s, "from_coo");
    tcase_add_loop_test(c, test_from_coo_matrices_match_oracle, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_from_coo_selected_values_keep_their_bits, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_from_coo_policies_match_oracle, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_from_coo_pattern_has_no_values, 0, PAIRS);
    tcase_add_loop_test(c, test_from_coo_every_small_size, 0, 5);
    tcase_add_loop_test(c, test_from_coo_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_from_coo_with_order_matches_oracle, 0, 24);
    tcase_add_loop_test(c, test_from_coo_with_rows_in_order, 0, 3);
    tcase_add_test(c, test_from_coo_keys_past_64_bits);
    tcase_add_loop_test(c, test_from_coo_error_policy_reports_duplicates, 0, PAIRS);
    tcase_add_loop_test(c, test_from_coo_out_of_range_is_reported, 0, PAIRS);
    tcase_add_loop_test(c, test_from_coo_entries_without_a_place_are_reported, 0, PAIRS);
    c = t_case(s, "transpose");
    tcase_add_loop_test(c, test_transpose_twice_is_identity, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_transpose_keeps_duplicates_in_order, 0, PAIRS);
    tcase_add_loop_test(c, test_transpose_does_not_look_at_duplicates, 0, 7);
    tcase_add_loop_test(c, test_transpose_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_row_pointers_that_miss_nnz_are_named, 0, PAIRS);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_capture_replays_with_other_data);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
