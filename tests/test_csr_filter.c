/* SPDX-License-Identifier: MIT */
/* Entries of a matrix kept by value and by diagonal. */
#include "csr_cases.h"

enum { LOW = -4, HIGH = 5 };

static bool compares(gp_compare compare, double v)
{
    switch (compare) {
    case GP_EQ:
        return v == LOW;
    case GP_NE:
        return v != LOW;
    case GP_LT:
        return v < LOW;
    case GP_LE:
        return v <= LOW;
    case GP_GT:
        return v > LOW;
    case GP_GE:
        return v >= LOW;
    case GP_BETWEEN:
        return v >= LOW && v <= HIGH;
    default:
        return v < LOW || v > HIGH;
    }
}

static bool is_kept(const struct csr *a, const gp_csr_filter_desc *d, uint64_t row, uint64_t i)
{
    const int64_t distance = (int64_t)a->cols[i] - (int64_t)row;
    switch (d->entries) {
    case GP_ENTRIES_COMPARED:
        return compares(d->compare, t_value(a->dtype, a->values, i));
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

static struct csr oracle_filter(const struct csr *a, const gp_csr_filter_desc *d)
{
    const size_t bytes = gp_dtype_bytes(a->dtype);
    struct csr b = *a;
    b.nnz = 0;
    b.pointers = t_host((a->num_rows + 1) * sizeof *b.pointers);
    b.cols = t_host(a->nnz * sizeof *b.cols);
    b.values = t_host(a->nnz * bytes);
    b.pointers[0] = 0;
    for (uint64_t r = 0; r < a->num_rows; r++) {
        for (uint64_t i = a->pointers[r]; i < a->pointers[r + 1]; i++)
            if (is_kept(a, d, r, i)) {
                b.cols[b.nnz] = a->cols[i];
                memcpy((char *)b.values + b.nnz++ * bytes, (char *)a->values + i * bytes, bytes);
            }
        b.pointers[r + 1] = b.nnz;
    }
    return b;
}

/* Numbers around LOW and HIGH, or those that the dtype has. */
static void fill_values(struct csr *a)
{
    for (uint64_t i = 0; i < a->nnz; i++)
        t_set(a->dtype, a->values, i, (double)(int64_t)(i * 7 % 13) - (a->dtype == GP_U8 ? 0 : 6));
}

/* Arrays at an offset of that many elements; counts: numbers of rows and entries from memory, with
 * room for more. */
static void filter_case(const struct csr *a, const gp_dtype pair[2], gp_csr_filter_desc d,
                        size_t offset, bool counts)
{
    const size_t ib = gp_dtype_bytes(pair[0]), ob = gp_dtype_bytes(pair[1]);
    const size_t vb = gp_dtype_bytes(d.value_dtype ? a->dtype : (gp_dtype)0);
    const uint64_t more = counts ? 99 : 0, rows = a->num_rows + more, nnz = a->nnz + more;
    struct csr want = oracle_filter(a, &d);
    t_array pointers = index_array(a->pointers, a->num_rows + 1, pair[1], offset * ob);
    t_array cols = index_array(a->cols, a->nnz, pair[0], offset * ib);
    t_array values = t_new_from(a->values, a->nnz * vb, offset * vb);
    t_array room_pointers = t_new((rows + 1) * ob, 0), room_cols = t_new(nnz * ib, 0),
            room_values = t_new(nnz * vb, 0);
    T_OK(gp_copy(t_ctx(), pointers.data, (a->num_rows + 1) * ob, room_pointers.data));
    T_OK(gp_copy(t_ctx(), cols.data, a->nnz * ib, room_cols.data));
    T_OK(gp_copy(t_ctx(), values.data, a->nnz * vb, room_values.data));
    t_array numbers[] = {t_new_from(&a->num_rows, 8, 0), t_new_from(&a->nnz, 8, 0)};
    t_array out_pointers = t_new((rows + 1) * ob, offset * ob), out_nnz = t_new(8, 0);
    t_array out_cols = t_new(nnz * ib, offset * ib), out_values = t_new(nnz * vb, offset * vb);
    d.index_dtype = pair[0], d.offset_dtype = pair[1];
    d.device_num_rows = counts ? numbers[0].data : NULL;
    d.device_nnz = counts ? numbers[1].data : NULL;
    T_OK(gp_csr_filter(t_ctx(), &d, rows, a->num_cols, nnz,
                       counts ? room_pointers.data : pointers.data,
                       counts ? room_cols.data : cols.data, counts ? room_values.data : values.data,
                       out_pointers.data, out_cols.data, out_values.data, out_nnz.data));
    ck_assert_uint_eq(t_get_u64(&out_nnz), want.nnz);
    check_indices("row pointers", &out_pointers, want.pointers, a->num_rows + 1, pair[1]);
    check_indices("columns", &out_cols, want.cols, want.nnz, pair[0]);
    if (vb)
        check_values(&out_values, &want);
    t_array *all[] = {&pointers,     &cols,        &values,     &room_pointers,
                      &room_cols,    &room_values, &numbers[0], &numbers[1],
                      &out_pointers, &out_nnz,     &out_cols,   &out_values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        t_free(all[i]);
    csr_free(&want);
}

static struct csr matrix_of(enum matrix kind, uint64_t n, gp_dtype dtype)
{
    struct coo m = coo_make(kind, n, dtype, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    fill_values(&a);
    coo_free(&m);
    return a;
}

static const gp_dtype value_dtypes[] = {GP_F32, GP_F64, GP_I32, GP_I8, GP_F16, GP_U8};
enum { VALUES = sizeof value_dtypes / sizeof *value_dtypes };

static gp_csr_filter_desc compared(gp_compare compare, gp_dtype dtype, const void *low,
                                   const void *high)
{
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.entries = GP_ENTRIES_COMPARED;
    d.value_dtype = dtype;
    d.compare = compare;
    d.value = low;
    d.upper = compare >= GP_BETWEEN ? high : NULL;
    return d;
}

static void compare_case(const struct csr *a, const gp_dtype pair[2], gp_compare compare,
                         size_t offset, bool counts)
{
    uint64_t low = 0, high = 0;
    t_set(a->dtype, &low, 0, LOW);
    t_set(a->dtype, &high, 0, HIGH);
    filter_case(a, pair, compared(compare, a->dtype, &low, &high), offset, counts);
}

START_TEST(test_filter_by_value_matrices)
{
    for (int c = GP_EQ; c <= GP_OUTSIDE; c++) {
        struct csr a = matrix_of((enum matrix)(_i / PAIRS), 2000, value_dtypes[c % (VALUES - 1)]);
        compare_case(&a, pairs[_i % PAIRS], (gp_compare)c, (size_t)c % 3, c % 2);
        csr_free(&a);
    }
}
END_TEST

START_TEST(test_filter_by_diagonal_matrices)
{
    static const int64_t diagonals[] = {0, -1, 1, 17, -300, INT64_MIN, INT64_MAX};
    struct csr a = matrix_of((enum matrix)(_i / PAIRS), 2000, value_dtypes[_i % VALUES]);
    for (int k = 0; k < 28; k++) {
        gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
        d.value_dtype = k % 3 ? a.dtype : (gp_dtype)0;
        d.entries = (gp_entries)(GP_ENTRIES_LOWER + k % 4);
        d.diagonal = diagonals[k / 4];
        filter_case(&a, pairs[_i % PAIRS], d, (size_t)k % 3, k % 5 == 0);
    }
    csr_free(&a);
}
END_TEST

START_TEST(test_filter_sizes)
{
    struct csr a = matrix_of(RANDOM, t_sizes[_i], GP_F32);
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    compare_case(&a, pairs[_i % PAIRS], GP_OUTSIDE, 1, false);
    compare_case(&a, pairs[_i % PAIRS], GP_LT, 0, true);
    d.entries = GP_ENTRIES_UPPER;
    filter_case(&a, pairs[_i % PAIRS], d, 0, false);
    csr_free(&a);
}
END_TEST

/* One call where a program once needed nine: what is small in magnitude is dropped. */
START_TEST(test_filter_drops_small_values)
{
    struct csr a = matrix_of(RANDOM, 30000, GP_F64);
    const double low = -2.5, high = 2.5;
    gp_csr_filter_desc d = compared(GP_OUTSIDE, GP_F64, &low, &high);
    t_array p = index_array(a.pointers, a.num_rows + 1, GP_U32, 0),
            c = index_array(a.cols, a.nnz, GP_U32, 0);
    t_array v = t_new_from(a.values, a.nnz * 8, 0), out_p = t_new((a.num_rows + 1) * 4, 0);
    t_array out_c = t_new(a.nnz * 4, 0), out_v = t_new(a.nnz * 8, 0), out_nnz = t_new(8, 0);
    uint64_t kept = 0;
    T_OK(gp_csr_filter(t_ctx(), &d, a.num_rows, a.num_cols, a.nnz, p.data, c.data, v.data,
                       out_p.data, out_c.data, out_v.data, out_nnz.data));
    for (uint64_t i = 0; i < a.nnz; i++)
        kept += t_value(GP_F64, a.values, i) < low || t_value(GP_F64, a.values, i) > high;
    ck_assert_uint_eq(t_get_u64(&out_nnz), kept);
    t_array *all[] = {&p, &c, &v, &out_p, &out_c, &out_v, &out_nnz};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        t_free(all[i]);
    csr_free(&a);
}
END_TEST

/* ---- errors ---- */

static void refused(const gp_csr_filter_desc *d, gp_status status, const char *text)
{
    const uint32_t some[8] = {0};
    t_array in = t_new_from(some, sizeof some, 0), out[4];
    for (int i = 0; i < 4; i++)
        out[i] = t_new(64, 0);
    T_STATUS(status, gp_csr_filter(t_ctx(), d, 3, 3, 0, in.data, in.data, in.data, out[0].data,
                                   out[1].data, out[2].data, out[3].data));
    ck_assert_msg(strstr(gp_last_error(t_ctx()), text) != NULL, "no \"%s\" in \"%s\"", text,
                  gp_last_error(t_ctx()));
    for (int i = 0; i < 4; i++) {
        t_check_untouched(&out[i]);
        t_free(&out[i]);
    }
    t_free(&in);
}

START_TEST(test_filter_errors)
{
    const float low = 1, high = 2;
    const gp_csr_filter_desc good = compared(GP_LT, GP_F32, &low, NULL);
    gp_csr_filter_desc d = good;
    refused(NULL, GP_ERROR_POINTER, "gp_csr_filter: desc is NULL");
    d.size = 8;
    refused(&d, GP_ERROR_ARGUMENT, "desc->size is 8");
    d = good, d.index_dtype = GP_F32;
    refused(&d, GP_ERROR_DTYPE, "desc->index_dtype");
    d = good, d.index_dtype = GP_U64;
    refused(&d, GP_ERROR_DTYPE, "desc->offset_dtype is u32, expected one as wide");
    d = good, d.value_dtype = (gp_dtype)99;
    refused(&d, GP_ERROR_DTYPE, "desc->value_dtype");
    d = good, d.value_dtype = (gp_dtype)0;
    refused(&d, GP_ERROR_DTYPE, "desc->value_dtype is 0, but GP_ENTRIES_COMPARED needs values");
    d = good, d.entries = (gp_entries)0;
    refused(&d, GP_ERROR_ARGUMENT, "desc->entries is 0, expected a gp_entries");
    d = good, d.entries = (gp_entries)6;
    refused(&d, GP_ERROR_ARGUMENT, "desc->entries is 6");
    d = good, d.compare = (gp_compare)0;
    refused(&d, GP_ERROR_ARGUMENT, "desc->compare is 0, expected a gp_compare");
    d = good, d.compare = (gp_compare)9;
    refused(&d, GP_ERROR_ARGUMENT, "desc->compare is 9");
    d = good, d.diagonal = 1;
    refused(&d, GP_ERROR_ARGUMENT, "desc->diagonal");
    d = good, d.reserved = 1;
    refused(&d, GP_ERROR_ARGUMENT, "desc->reserved");
    d = good, d.value = NULL;
    refused(&d, GP_ERROR_POINTER, "desc->value is NULL");
    d = good, d.upper = &high;
    refused(&d, GP_ERROR_POINTER, "desc->upper is ");
    d = good, d.compare = GP_OUTSIDE;
    refused(&d, GP_ERROR_POINTER, "desc->upper is NULL");
    d = good, d.entries = GP_ENTRIES_LOWER;
    refused(&d, GP_ERROR_ARGUMENT, "desc->compare");
    d.compare = (gp_compare)0;
    refused(&d, GP_ERROR_POINTER, "expected NULL");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_filter");
    TCase *c = t_case(s, "filter");
    tcase_add_loop_test(c, test_filter_by_value_matrices, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_filter_by_diagonal_matrices, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_filter_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_test(c, test_filter_drops_small_values);
    tcase_add_test(c, test_filter_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
