/* SPDX-License-Identifier: MIT */
/* Which entries of the input those of a conversion or of a transpose are; transposes of many. */
#include "csr_cases.h"

/* m with the number of each entry as its value: what a conversion selects are numbers. */
static struct coo numbered(const struct coo *m)
{
    struct coo n = coo_new(m->num_rows, m->num_cols, m->nnz, GP_U64);
    for (uint64_t i = 0; i < m->nnz; i++) {
        coo_add(&n, m->rows[i], m->cols[i]);
        ((uint64_t *)n.values)[i] = i;
    }
    return n;
}

static gp_coo_desc desc_of(const gp_dtype pair[2], gp_dtype value, gp_duplicates policy)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = pair[0];
    d.offset_dtype = pair[1];
    d.value_dtype = value;
    d.duplicates = policy;
    return d;
}

/* Other values by the permutation are those of a conversion of other values. */
static void check_refill(const struct coo *m, const struct csr *places, const t_array *permutation,
                         gp_dtype offset)
{
    const gp_dtype index = gp_dtype_bytes(offset) == 8 ? GP_U64 : GP_U32;
    uint64_t *others = t_host(m->nnz * 8), *want = t_host(m->nnz * 8);
    for (uint64_t i = 0; i < m->nnz; i++)
        others[i] = i * i + 5;
    for (uint64_t j = 0; j < places->nnz; j++)
        want[j] = others[((uint64_t *)places->values)[j]];
    t_array in = t_new_from(others, m->nnz * 8, 0), out = t_new(m->nnz * 8, 0);
    T_OK(gp_gather(t_ctx(), 8, in.data, index, permutation->data, places->nnz, out.data));
    check_indices("new values", &out, want, places->nnz, GP_U64);
    t_free(&in);
    t_free(&out);
    free(others);
    free(want);
}

static void places_case(const struct coo *m, const gp_dtype pair[2], gp_duplicates policy,
                        bool pattern, size_t offset)
{
    const size_t ib = gp_dtype_bytes(pair[0]), ob = gp_dtype_bytes(pair[1]);
    const size_t vb = gp_dtype_bytes(m->dtype);
    struct coo n = numbered(m);
    struct csr want = oracle_from_coo(m, policy), places = oracle_from_coo(&n, policy);
    gp_coo_desc d = desc_of(pair, pattern ? (gp_dtype)0 : m->dtype, policy);
    t_array rows = index_array(m->rows, m->nnz, pair[0], offset * ib);
    t_array cols = index_array(m->cols, m->nnz, pair[0], offset * ib);
    t_array values = t_new_from(m->values, m->nnz * vb, offset * vb), nnz = t_new(8, 0);
    t_array pointers = t_new((m->num_rows + 1) * ob, 0), out_cols = t_new(m->nnz * ib, 0);
    t_array out_values = t_new(m->nnz * vb, 0), permutation = t_new(m->nnz * ob, offset * ob);
    d.permutation = permutation.data;
    T_OK(gp_csr_from_coo(t_ctx(), &d, m->num_rows, m->num_cols, rows.data, cols.data, values.data,
                         m->nnz, pointers.data, out_cols.data, out_values.data, nnz.data));
    ck_assert_uint_eq(t_get_u64(&nnz), want.nnz);
    check_indices("row pointers", &pointers, want.pointers, m->num_rows + 1, pair[1]);
    check_indices("columns", &out_cols, want.cols, want.nnz, pair[0]);
    check_indices("permutation", &permutation, places.values, want.nnz, pair[1]);
    if (!pattern)
        check_values(&out_values, &want);
    check_refill(m, &places, &permutation, pair[1]);
    t_array *all[] = {&rows, &cols, &values, &nnz, &pointers, &out_cols, &out_values, &permutation};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        t_free(all[i]);
    csr_free(&want);
    csr_free(&places);
    coo_free(&n);
}

static const gp_dtype value_dtypes[] = {GP_F32, GP_F64, GP_U8, GP_I16};
static const gp_duplicates policies[] = {GP_DUPLICATES_FIRST, GP_DUPLICATES_LAST,
                                         GP_DUPLICATES_KEEP};

START_TEST(test_permutation_matrices)
{
    for (int p = 0; p < 3; p++) {
        struct coo m = coo_make((enum matrix)(_i / PAIRS), 2500, value_dtypes[_i % 4], t_seed());
        places_case(&m, pairs[_i % PAIRS], policies[p], p == _i % 5, (size_t)p);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_permutation_sizes)
{
    struct coo m = coo_make(DUPLICATES, t_sizes[_i], GP_F32, t_seed());
    places_case(&m, pairs[_i % PAIRS], policies[_i % 3], false, 0);
    coo_free(&m);
}
END_TEST

/* So many that order is looked for: entries that have it, or all but one. */
START_TEST(test_permutation_with_order)
{
    enum { N = (1 << 18) + 5 };
    struct coo m = coo_make(_i % 2 ? BANDED : RANDOM, N, value_dtypes[_i % 4], t_seed());
    coo_sort(&m, _i < 3 ? N : 1000);
    places_case(&m, pairs[_i % PAIRS], policies[_i % 3], false, 1);
    coo_free(&m);
}
END_TEST

START_TEST(test_permutation_past_64_bits)
{
    const gp_dtype pair[2] = {GP_U64, GP_U64};
    struct coo m = coo_make(RANDOM, 5000, GP_F64, t_seed());
    m.num_cols = (uint64_t)1 << 40;
    for (uint64_t i = 0; i < m.nnz; i++)
        m.cols[i] <<= 28;
    m.num_rows = 40000000;
    places_case(&m, pair, GP_DUPLICATES_LAST, false, 0);
    coo_free(&m);
}
END_TEST

START_TEST(test_permutation_of_a_transpose)
{
    const gp_dtype *pair = pairs[_i % PAIRS];
    struct coo m = coo_make((enum matrix)(_i / PAIRS), 3000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct coo turned = oracle_exchange(&a), n = numbered(&turned);
    struct csr want = oracle_from_coo(&turned, GP_DUPLICATES_KEEP);
    struct csr places = oracle_from_coo(&n, GP_DUPLICATES_KEEP);
    gp_coo_desc d = desc_of(pair, GP_F32, GP_DUPLICATES_SUM); /* ignored */
    t_array pointers = index_array(a.pointers, a.num_rows + 1, pair[1], 0);
    t_array cols = index_array(a.cols, a.nnz, pair[0], 0),
            values = t_new_from(a.values, a.nnz * 4, 0);
    t_array out[] = {t_new(bytes_of(pair[1], a.num_cols + 1), 0),
                     t_new(bytes_of(pair[0], a.nnz), 0), t_new(a.nnz * 4, 0),
                     t_new(bytes_of(pair[1], a.nnz), 0)};
    d.permutation = out[3].data;
    T_OK(gp_csr_transpose(t_ctx(), &d, a.num_rows, a.num_cols, a.nnz, pointers.data, cols.data,
                          values.data, out[0].data, out[1].data, out[2].data));
    check_indices("row pointers", &out[0], want.pointers, a.num_cols + 1, pair[1]);
    check_indices("columns", &out[1], want.cols, a.nnz, pair[0]);
    check_values(&out[2], &want);
    check_indices("permutation", &out[3], places.values, a.nnz, pair[1]);
    t_array *all[] = {&pointers, &cols, &values, &out[0], &out[1], &out[2], &out[3]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        t_free(all[i]);
    csr_free(&a);
    csr_free(&want);
    csr_free(&places);
    coo_free(&m);
    coo_free(&turned);
    coo_free(&n);
}
END_TEST

START_TEST(test_permutation_of_sums_is_refused)
{
    const uint32_t some[4] = {0};
    t_array in = t_new_from(some, sizeof some, 0), out[5];
    for (int i = 0; i < 5; i++)
        out[i] = t_new(64, 0);
    for (int policy = GP_DUPLICATES_SUM; policy <= GP_DUPLICATES_MAX; policy++) {
        gp_coo_desc d = desc_of(pairs[0], GP_F32, (gp_duplicates)policy);
        d.permutation = out[4].data;
        T_STATUS(GP_ERROR_ARGUMENT,
                 gp_csr_from_coo(t_ctx(), &d, 3, 3, in.data, in.data, in.data, 4, out[0].data,
                                 out[1].data, out[2].data, out[3].data));
        ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "desc->permutation is "));
    }
    gp_coo_desc d = desc_of(pairs[0], GP_F32, GP_DUPLICATES_FIRST);
    d.permutation = out[1].data;
    T_STATUS(GP_ERROR_OVERLAP, gp_csr_from_coo(t_ctx(), &d, 3, 3, in.data, in.data, in.data, 4,
                                               out[0].data, out[1].data, out[2].data, out[3].data));
    d.permutation = (char *)out[4].data + 1;
    T_STATUS(GP_ERROR_POINTER, gp_csr_from_coo(t_ctx(), &d, 3, 3, in.data, in.data, in.data, 4,
                                               out[0].data, out[1].data, out[2].data, out[3].data));
    for (int i = 0; i < 5; i++) {
        t_check_untouched(&out[i]);
        t_free(&out[i]);
    }
    t_free(&in);
}
END_TEST

/* ---- transposes of many entries, and of wrong ones ------------------------------------------- */

enum spread { EVEN, SKEWED, NARROW };

/* The transpose of a matrix of 8 entries a row, which become *m. Skewed: most are of one column;
 * narrow: of a part of the columns. */
static struct csr many_entries(uint64_t n, uint64_t num_cols, gp_dtype dtype, enum spread spread,
                               struct coo *m)
{
    const uint64_t num_rows = n / 8;
    struct csr t = {num_cols, num_rows, n, NULL, NULL, NULL, dtype};
    const size_t bytes = gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    *m = coo_new(num_rows, num_cols, n, dtype);
    t.pointers = t_host((num_cols + 2) * sizeof *t.pointers);
    t.cols = t_host(n * sizeof *t.cols);
    t.values = t_host(n * bytes);
    memset(t.pointers, 0, (num_cols + 2) * sizeof *t.pointers);
    for (uint64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t col = (state >> 33) % (spread == NARROW ? num_cols / 4 : num_cols);
        coo_add(m, i / 8,
                spread == SKEWED && i % 8 ? 77
                : spread == NARROW        ? col + num_cols / 2
                                          : col);
        memcpy((char *)m->values + i * bytes, &i, bytes);
        t.pointers[m->cols[i] + 2]++;
    }
    for (uint64_t c = 0; c < num_cols; c++)
        t.pointers[c + 2] += t.pointers[c + 1];
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t to = t.pointers[m->cols[i] + 1]++;
        t.cols[to] = m->rows[i];
        memcpy((char *)t.values + to * bytes, &i, bytes);
    }
    return t;
}

enum { FEW_ENTRIES = (1 << 18) + 8 * 77, MANY_ENTRIES = (1 << 21) + 8 * 771, MANY_CASES = 11 };

START_TEST(test_transpose_of_many)
{
    static const struct {
        uint64_t n, num_cols;
        gp_dtype dtype;
        int pair;
        enum spread spread;
    } cases[MANY_CASES] = {
        {FEW_ENTRIES, 1500, GP_U32, 0, EVEN},
        {FEW_ENTRIES, 1 << 18, GP_U8, 1, EVEN},
        {FEW_ENTRIES, (1 << 17) + 3, (gp_dtype)0, 2, EVEN},
        {FEW_ENTRIES, 1 << 17, GP_F32, 0, SKEWED},
        {FEW_ENTRIES, 999, GP_U64, 2, EVEN},
        /* of which there are buckets */
        {MANY_ENTRIES, 1 << 17, GP_F32, 0, EVEN},
        {MANY_ENTRIES, (1 << 20) + 5, GP_U16, 1, EVEN},
        {MANY_ENTRIES, 3 << 20, (gp_dtype)0, 2, EVEN},
        {MANY_ENTRIES, 1 << 20, GP_U8, 0, NARROW},
        {MANY_ENTRIES, 5000, GP_U32, 1, NARROW},
        {MANY_ENTRIES, 1 << 20, GP_F32, 0, SKEWED},
    };
    const gp_dtype *pair = pairs[cases[_i].pair];
    struct coo m;
    struct csr want =
        many_entries(cases[_i].n, cases[_i].num_cols, cases[_i].dtype, cases[_i].spread, &m);
    gp_coo_desc d = desc_of(pair, m.dtype, GP_DUPLICATES_KEEP);
    uint64_t *row_pointers = t_host((m.num_rows + 1) * sizeof *row_pointers);
    for (uint64_t r = 0; r <= m.num_rows; r++)
        row_pointers[r] = 8 * r;
    t_array pointers = index_array(row_pointers, m.num_rows + 1, pair[1], 0);
    t_array cols = index_array(m.cols, m.nnz, pair[0], 0);
    t_array values = t_new_from(m.values, m.nnz * gp_dtype_bytes(m.dtype), 0);
    t_array out_pointers = t_new(bytes_of(pair[1], m.num_cols + 1), 0);
    t_array out_cols = t_new(bytes_of(pair[0], m.nnz), 0);
    t_array out_values = t_new(m.nnz * gp_dtype_bytes(m.dtype), 0);
    T_OK(gp_csr_transpose(t_ctx(), &d, m.num_rows, m.num_cols, m.nnz, pointers.data, cols.data,
                          m.dtype ? values.data : NULL, out_pointers.data, out_cols.data,
                          m.dtype ? out_values.data : NULL));
    check_indices("row pointers", &out_pointers, want.pointers, m.num_cols + 1, pair[1]);
    check_indices("columns", &out_cols, want.cols, m.nnz, pair[0]);
    check_values(&out_values, &want);
    t_array *all[] = {&pointers, &cols, &values, &out_pointers, &out_cols, &out_values};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        t_free(all[i]);
    free(row_pointers);
    csr_free(&want);
    coo_free(&m);
}
END_TEST

START_TEST(test_transpose_names_a_column_out_of_range)
{
    enum { N = 5000, COLS = 300, BAD = 4000 };
    const gp_dtype *pair = pairs[_i];
    gp_coo_desc d = desc_of(pair, (gp_dtype)0, GP_DUPLICATES_KEEP);
    uint64_t at[] = {0, N}, cols[N];
    for (uint64_t i = 0; i < N; i++)
        cols[i] = i >= BAD ? COLS + 1000 : i * 7 % COLS;
    t_array pointers = index_array(at, 2, pair[1], 0), in = index_array(cols, N, pair[0], 0);
    t_array to = t_new(bytes_of(pair[1], COLS + 1), 0), rows = t_new(bytes_of(pair[0], N), 0);
    gp_status s = gp_csr_transpose(t_ctx(), &d, 1, COLS, N, pointers.data, in.data, NULL, to.data,
                                   rows.data, NULL);
    T_STATUS(GP_ERROR_DATA, s ? s : gp_context_synchronize(t_ctx()));
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "cols[4000] is 1300"));
    t_free(&pointers);
    t_free(&in);
    t_free(&to);
    t_free(&rows);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_places");
    TCase *c = t_case(s, "permutation");
    tcase_add_loop_test(c, test_permutation_matrices, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_permutation_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_permutation_with_order, 0, 6);
    tcase_add_test(c, test_permutation_past_64_bits);
    tcase_add_loop_test(c, test_permutation_of_a_transpose, 0, MATRIX_RUNS);
    tcase_add_test(c, test_permutation_of_sums_is_refused);
    c = t_case(s, "transpose");
    tcase_add_loop_test(c, test_transpose_of_many, 0, MANY_CASES);
    tcase_add_loop_test(c, test_transpose_names_a_column_out_of_range, 0, PAIRS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
