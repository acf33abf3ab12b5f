/* SPDX-License-Identifier: MIT */
/* Entries of a list by value and by diagonal, and columns sorted within rows. */
#include "csr_cases.h"

/* ---- lists ---- */

static bool is_kept(const struct coo *m, const gp_csr_filter_desc *d, uint64_t i)
{
    const int64_t distance = (int64_t)m->cols[i] - (int64_t)m->rows[i];
    const double v = m->dtype ? t_value(m->dtype, m->values, i) : 0;
    switch (d->entries) {
    case GP_ENTRIES_COMPARED:
        return v < -3 || v > 3;
    case GP_ENTRIES_LOWER:
        return distance <= d->diagonal;
    case GP_ENTRIES_UPPER:
        return distance >= d->diagonal;
    case GP_ENTRIES_DIAGONAL:
        return distance == d->diagonal;
    default:
        return distance != d->diagonal;
    }
}

static struct coo oracle_filter(const struct coo *m, const gp_csr_filter_desc *d)
{
    const size_t bytes = gp_dtype_bytes(m->dtype);
    struct coo kept = coo_new(m->num_rows, m->num_cols, m->nnz, m->dtype);
    for (uint64_t i = 0; i < m->nnz; i++)
        if (is_kept(m, d, i)) {
            memcpy((char *)kept.values + kept.nnz * bytes, (char *)m->values + i * bytes, bytes);
            coo_add(&kept, m->rows[i], m->cols[i]);
        }
    return kept;
}

/* counted: the number of entries from memory, with room for more. */
static void list_case(const struct coo *m, gp_dtype index, gp_csr_filter_desc d, size_t offset,
                      bool counted)
{
    const size_t ib = gp_dtype_bytes(index), vb = gp_dtype_bytes(d.value_dtype);
    const uint64_t bound = m->nnz + (counted ? 77 : 0);
    struct coo want = oracle_filter(m, &d);
    t_array in[] = {t_new(bound * ib, offset * ib), t_new(bound * ib, 0), t_new(bound * vb, 0)};
    t_array out[] = {t_new(bound * ib, 0), t_new(bound * ib, offset * ib),
                     t_new(bound * vb, offset * vb), t_new(8, 0)};
    t_array given[] = {index_array(m->rows, m->nnz, index, 0),
                       index_array(m->cols, m->nnz, index, 0),
                       t_new_from(m->values, m->nnz * vb, 0), t_new_from(&m->nnz, 8, 0)};
    for (int i = 0; i < 3; i++)
        T_OK(gp_copy(t_ctx(), given[i].data, m->nnz * (i < 2 ? ib : vb), in[i].data));
    d.index_dtype = index;
    d.device_nnz = counted ? given[3].data : NULL;
    T_OK(gp_coo_filter(t_ctx(), &d, m->num_rows, m->num_cols, in[0].data, in[1].data, in[2].data,
                       bound, out[0].data, out[1].data, out[2].data, out[3].data));
    ck_assert_uint_eq(t_get_u64(&out[3]), want.nnz);
    check_indices("rows", &out[0], want.rows, want.nnz, index);
    check_indices("columns", &out[1], want.cols, want.nnz, index);
    const struct csr values = {0, 0, want.nnz, NULL, NULL, want.values, d.value_dtype};
    check_values(&out[2], &values);
    for (int i = 0; i < 4; i++) {
        t_free(&out[i]);
        t_free(&given[i]);
        if (i < 3)
            t_free(&in[i]);
    }
    coo_free(&want);
}

static const gp_dtype indices[] = {GP_U32, GP_I32, GP_U64, GP_I64};

static struct coo list_of(enum matrix kind, uint64_t n, gp_dtype dtype)
{
    struct coo m = coo_make(kind, n, dtype, t_seed());
    for (uint64_t i = 0; i < m.nnz; i++)
        t_set(dtype, m.values, i, (double)(int64_t)(i * 7 % 13) - 6);
    return m;
}

static void list_choices(const struct coo *m, gp_dtype index, int k)
{
    static const int64_t diagonals[] = {0, -1, 3, -200, INT64_MAX};
    uint64_t low = 0, high = 0;
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.value_dtype = m->dtype;
    d.entries = (gp_entries)(GP_ENTRIES_COMPARED + k % 5);
    if (d.entries == GP_ENTRIES_COMPARED) {
        t_set(m->dtype, &low, 0, -3);
        t_set(m->dtype, &high, 0, 3);
        d.compare = GP_OUTSIDE, d.value = &low, d.upper = &high;
    } else {
        d.diagonal = diagonals[k % 7 % 5];
        d.value_dtype = k % 3 ? m->dtype : (gp_dtype)0;
    }
    list_case(m, index, d, (size_t)k % 3, k % 2);
}

START_TEST(test_coo_filter_matrices)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64, GP_I16, GP_I8, GP_F16};
    for (int k = 0; k < 15; k++) {
        struct coo m = list_of((enum matrix)_i, 1500, dtypes[k % 5]);
        list_choices(&m, indices[k % 4], k);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_coo_filter_sizes)
{
    struct coo m = list_of(RANDOM, t_sizes[_i], GP_F32);
    for (int k = 0; k < 5; k++)
        list_choices(&m, indices[_i % 4], k);
    coo_free(&m);
}
END_TEST

START_TEST(test_coo_filter_errors)
{
    const uint32_t some[4] = {0, 1, 2, 3};
    t_array a = t_new_from(some, 16, 0), o[4];
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    for (int i = 0; i < 4; i++)
        o[i] = t_new(64, 0);
    d.entries = GP_ENTRIES_UPPER;
#define REFUSED(status, text, rows, cols, r, n, out)                                               \
    T_STATUS(status, gp_coo_filter(t_ctx(), &d, rows, cols, r, a.data, a.data, n, out, o[1].data,  \
                                   o[2].data, o[3].data));                                         \
    ck_assert_msg(strstr(gp_last_error(t_ctx()), text) != NULL, "%s", gp_last_error(t_ctx()))
    REFUSED(GP_ERROR_POINTER, "gp_coo_filter: rows is NULL", 4, 4, NULL, 4, o[0].data);
    REFUSED(GP_ERROR_POINTER, "gp_coo_filter: out_rows is NULL", 4, 4, a.data, 4, NULL);
    REFUSED(GP_ERROR_OVERLAP, "gp_coo_filter: ", 4, 4, a.data, 4, a.data);
    REFUSED(GP_ERROR_ARGUMENT, "num_rows", (size_t)1 << 33, 4, a.data, 4, o[0].data);
    REFUSED(GP_ERROR_ARGUMENT, "num_cols", 4, (size_t)1 << 33, a.data, 4, o[0].data);
    REFUSED(GP_ERROR_ARGUMENT, "nnz", 4, 4, a.data, ((size_t)1 << 40) + 1, o[0].data);
    d.entries = (gp_entries)9;
    REFUSED(GP_ERROR_ARGUMENT, "desc->entries is 9", 4, 4, a.data, 4, o[0].data);
    d.entries = GP_ENTRIES_UPPER, d.index_dtype = GP_F32;
    REFUSED(GP_ERROR_DTYPE, "desc->index_dtype", 4, 4, a.data, 4, o[0].data);
#undef REFUSED
    for (int i = 0; i < 4; i++) {
        t_check_untouched(&o[i]);
        t_free(&o[i]);
    }
    t_free(&a);
}
END_TEST

/* ---- columns sorted within rows ---- */

static struct csr shuffled(const struct coo *m)
{
    struct csr a = oracle_from_coo(m, GP_DUPLICATES_KEEP);
    const size_t vb = gp_dtype_bytes(a.dtype);
    char spare[8];
    for (uint64_t r = 0; r < a.num_rows; r++)
        for (uint64_t i = a.pointers[r], j = a.pointers[r + 1]; i + 1 < j; i += 2, j -= 1) {
            const uint64_t col = a.cols[i];
            a.cols[i] = a.cols[j - 1], a.cols[j - 1] = col;
            memcpy(spare, (char *)a.values + i * vb, vb);
            memcpy((char *)a.values + i * vb, (char *)a.values + (j - 1) * vb, vb);
            memcpy((char *)a.values + (j - 1) * vb, spare, vb);
        }
    return a;
}

static struct coo list_of_csr(const struct csr *a)
{
    struct coo m = oracle_exchange(a);
    uint64_t *rows = m.rows;
    m.rows = m.cols, m.cols = rows;
    m.num_rows = a->num_rows, m.num_cols = a->num_cols;
    return m;
}

static void sort_case(const struct csr *a, const gp_dtype pair[2], int k)
{
    const size_t ib = gp_dtype_bytes(pair[0]), ob = gp_dtype_bytes(pair[1]);
    const size_t vb = k % 3 == 1 ? 0 : gp_dtype_bytes(a->dtype), more = k % 2 ? 50 : 0;
    struct coo m = list_of_csr(a);
    struct csr want = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    uint64_t *order = coo_order(&m);
    const uint64_t rows = a->num_rows + more, nnz = a->nnz + more;
    t_array given[] = {index_array(a->pointers, a->num_rows + 1, pair[1], 0),
                       index_array(a->cols, a->nnz, pair[0], 0),
                       t_new_from(a->values, a->nnz * vb, 0), t_new_from(&a->num_rows, 8, 0),
                       t_new_from(&a->nnz, 8, 0)};
    t_array in[] = {t_new((rows + 1) * ob, 0), t_new(nnz * ib, ib), t_new(nnz * vb, vb)};
    t_array out[] = {t_new(nnz * ib, 0), t_new(nnz * vb, 0), t_new(nnz * ob, ob)};
    const size_t bytes[] = {(a->num_rows + 1) * ob, a->nnz * ib, a->nnz * vb};
    for (int i = 0; i < 3; i++)
        T_OK(gp_copy(t_ctx(), given[i].data, bytes[i], in[i].data));
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = pair[0], d.offset_dtype = pair[1];
    d.value_dtype = vb ? a->dtype : (gp_dtype)0;
    d.device_num_rows = more ? given[3].data : NULL, d.device_nnz = more ? given[4].data : NULL;
    d.permutation = k % 4 < 2 ? out[2].data : NULL;
    T_OK(gp_csr_sort_columns(t_ctx(), &d, rows, a->num_cols, nnz, in[0].data, in[1].data,
                             in[2].data, out[0].data, out[1].data));
    check_indices("columns", &out[0], want.cols, a->nnz, pair[0]);
    want.dtype = d.value_dtype;
    check_values(&out[1], &want);
    if (d.permutation)
        check_indices("permutation", &out[2], order, a->nnz, pair[1]);
    for (int i = 0; i < 5; i++) {
        t_free(&given[i]);
        if (i < 3)
            t_free(&in[i]), t_free(&out[i]);
    }
    free(order);
    csr_free(&want);
    coo_free(&m);
}

START_TEST(test_sort_columns_matrices)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64, GP_U8, GP_I16};
    for (int k = 0; k < 12; k++) {
        struct coo m = coo_make((enum matrix)(_i / PAIRS), 1200, dtypes[k % 4], t_seed());
        struct csr a = shuffled(&m);
        sort_case(&a, pairs[_i % PAIRS], k);
        csr_free(&a);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_sort_columns_sizes)
{
    struct coo m = coo_make(RANDOM, t_sizes[_i], GP_F32, t_seed());
    struct csr a = shuffled(&m), sorted = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    sort_case(&a, pairs[_i % PAIRS], _i);
    sort_case(&sorted, pairs[_i % PAIRS], _i + 1);
    csr_free(&a);
    csr_free(&sorted);
    coo_free(&m);
}
END_TEST

/* The entries of m, which is freed, in any order within rows. */
static void sort_with_all_pairs(struct coo *m)
{
    struct csr a = shuffled(m);
    for (int k = 0; k < PAIRS; k++)
        sort_case(&a, pairs[k], k);
    csr_free(&a);
    coo_free(m);
}

/* Rows of these lengths, one behind the other, with columns that repeat: of one piece and longer
 * than it, of a tile and longer, of a block and in parts. Skewed: nearly all are a small part of
 * their range. */
START_TEST(test_sort_columns_lengths)
{
    static const uint64_t lengths[][6] = {
        {0, 1, 8, 9, 16, 17},          {31, 0, 33, 64, 129, 255},
        {256, 257, 511, 513, 700, 3},  {1024, 1025, 5, 2048, 2049, 0},
        {4096, 40, 4097, 7, 8192, 1},  {9, 8193, 0, 300, 12000, 2},
        {2, 16384, 16385, 1, 400, 50}, {18432, 18433, 5, 24576, 0, 2},
        {3, 65537, 0, 24577, 300, 1}};
    const uint64_t *length = lengths[_i % 9];
    const bool skewed = _i >= 9;
    uint64_t nnz = 0;
    for (int r = 0; r < 6; r++)
        nnz += length[r];
    struct coo m = coo_make(RANDOM, nnz, _i % 2 ? GP_F64 : GP_U16, t_seed());
    uint64_t i = 0;
    for (m.num_rows = 0; m.num_rows < 6; m.num_rows++)
        for (uint64_t end = i + length[m.num_rows]; i < end; i++)
            m.rows[i] = m.num_rows,
            m.cols[i] = m.cols[i] % 1000 << (skewed && i % 64 == 0 ? 18 : 0);
    if (skewed)
        m.num_cols = 1 << 28;
    sort_with_all_pairs(&m);
}
END_TEST

/* A row in parts, with columns in any order, that ascend, that repeat soon, all alike, and that
 * are alike where a sample of the row is taken (csr_columns_parts.cuh). */
START_TEST(test_sort_columns_parts)
{
    struct coo m = coo_make(RANDOM, t_at_most(70000), GP_F32, t_seed());
    memset(m.rows, 0, m.nnz * sizeof *m.rows);
    m.num_rows = 1, m.num_cols = 1 << 20;
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    for (uint32_t i = 0; i < a.nnz; i++) {
        const bool in_sample = i % 64 == (i / 64 * 2654435761u >> 24) % 64;
        const uint32_t any = i * 2654435761u >> 13;
        const uint32_t cols[] = {any, i, i % 4096, 7, in_sample ? 1 : any | 2};
        a.cols[i] = cols[_i];
    }
    for (int k = 0; k < PAIRS; k++)
        sort_case(&a, pairs[k], k);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Many rows of a few entries, with columns that repeat: alone, beside some that are longer, and
 * with one that is longer than a piece. */
START_TEST(test_sort_columns_short)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64, GP_U8};
    const uint64_t num_rows = 3000;
    struct coo m = coo_make(RANDOM, 7 * num_rows, dtypes[_i % 3], t_seed());
    uint64_t i = 0;
    for (uint64_t r = 0; r < num_rows; r++) {
        const bool is_longer = _i / 3 && r % 100 == 50;
        const uint64_t length = is_longer ? (_i / 3 == 2 && r == 1250 ? 300 : 30) : r * 5 % 9;
        for (uint64_t end = i + length; i < end; i++)
            m.rows[i] = r, m.cols[i] %= 30;
    }
    m.num_rows = num_rows, m.nnz = i;
    sort_with_all_pairs(&m);
}
END_TEST

/* The first column that is too large is found in rows of a few entries, too. */
START_TEST(test_sort_columns_short_errors)
{
    uint32_t pointers[2001], cols[8000];
    for (uint32_t i = 0; i <= 2000; i++)
        pointers[i] = 4 * i;
    for (uint32_t i = 0; i < 8000; i++)
        cols[i] = i == 5001 || i == 5003 ? 7 : 4 - i % 5;
    t_array p = t_new_from(pointers, sizeof pointers, 0), c = t_new_from(cols, sizeof cols, 0);
    t_array o = t_new(sizeof cols, 0);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = (gp_dtype)0;
    T_OK(gp_csr_sort_columns(t_ctx(), &d, 2000, 5, 8000, p.data, c.data, NULL, o.data, NULL));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    ck_assert_str_eq(gp_last_error(t_ctx()),
                     "gp_csr_sort_columns: cols[5001] is 7, expected below 5");
    t_check_guards(&o);
    t_free(&p), t_free(&c), t_free(&o);
}
END_TEST

START_TEST(test_sort_columns_errors)
{
    const uint32_t pointers[] = {0, 2, 3}, cols[] = {1, 0, 7};
    t_array p = t_new_from(pointers, 12, 0), c = t_new_from(cols, 12, 0), o = t_new(12, 0);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = (gp_dtype)0;
    d.size = 4;
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_csr_sort_columns(t_ctx(), &d, 2, 9, 3, p.data, c.data, NULL, o.data, NULL));
    d.size = sizeof d;
    T_STATUS(GP_ERROR_OVERLAP,
             gp_csr_sort_columns(t_ctx(), &d, 2, 9, 3, p.data, c.data, NULL, c.data, NULL));
    T_STATUS(GP_ERROR_POINTER,
             gp_csr_sort_columns(t_ctx(), &d, 2, 9, 3, NULL, c.data, NULL, o.data, NULL));
    t_check_untouched(&o);
    T_OK(gp_csr_sort_columns(t_ctx(), &d, 2, 5, 3, p.data, c.data, NULL, o.data, NULL));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_csr_sort_columns: cols[2] is 7, expected below 5");
    t_check_guards(&o);
    t_free(&p), t_free(&c), t_free(&o);
}
END_TEST

/* ---- contexts that validate ---- */

START_TEST(test_entries_validated)
{
    gp_context *v = t_validating();
    const uint32_t pointers[] = {0, 2, 3}, falls[] = {0, 3, 2}, cols[] = {1, 0, 7};
    const uint32_t rows[] = {0, 9, 1};
    t_array p = t_new_from(pointers, 12, 0), q = t_new_from(falls, 12, 0), c, r, o[4];
    c = t_new_from(cols, 12, 0), r = t_new_from(rows, 12, 0);
    for (int i = 0; i < 4; i++)
        o[i] = t_new(16, 0);
    gp_coo_desc d = GP_COO_DESC_INIT;
    gp_csr_filter_desc f = GP_CSR_FILTER_DESC_INIT;
    d.value_dtype = f.value_dtype = (gp_dtype)0;
    f.entries = GP_ENTRIES_UPPER;
    T_OK(gp_context_synchronize(t_ctx()));
    t_refused(v, gp_csr_sort_columns(v, &d, 2, 5, 3, p.data, c.data, NULL, o[0].data, NULL),
              "gp_csr_sort_columns: cols[2] is 7, expected below 5");
    t_refused(v, gp_csr_sort_columns(v, &d, 2, 8, 3, q.data, c.data, NULL, o[0].data, NULL),
              "gp_csr_sort_columns: row_pointers[2] is 2, below the 3 before it");
    t_refused(
        v,
        gp_csr_filter(v, &f, 2, 5, 3, p.data, c.data, NULL, o[0].data, o[1].data, NULL, o[3].data),
        "gp_csr_filter: cols[2] is 7, expected below 5");
    t_refused(
        v,
        gp_coo_filter(v, &f, 4, 8, r.data, c.data, NULL, 3, o[0].data, o[1].data, NULL, o[3].data),
        "gp_coo_filter: rows[1] is 9, expected below 4");
    for (int i = 0; i < 4; i++) {
        t_check_untouched(&o[i]);
        t_free(&o[i]);
    }
    t_free(&p), t_free(&q), t_free(&c), t_free(&r);
    gp_context_destroy(v);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_entries");
    TCase *c = t_case(s, "filter");
    tcase_add_loop_test(c, test_coo_filter_matrices, 0, MATRICES);
    tcase_add_loop_test(c, test_coo_filter_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_test(c, test_coo_filter_errors);
    c = t_case(s, "columns");
    tcase_add_loop_test(c, test_sort_columns_matrices, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_sort_columns_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_sort_columns_lengths, 0, 18);
    tcase_add_loop_test(c, test_sort_columns_parts, 0, 5);
    tcase_add_loop_test(c, test_sort_columns_short, 0, 9);
    tcase_add_test(c, test_sort_columns_short_errors);
    tcase_add_test(c, test_sort_columns_errors);
    c = t_case(s, "validated");
    tcase_add_test(c, test_entries_validated);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
