/* SPDX-License-Identifier: MIT */
/*
 * One call of every primitive, over arrays of some hundred tiles: short enough for a run under
 * compute-sanitizer, long enough that blocks wait for each other and take tile after tile.
 */
#include <stdlib.h>

#include <gp/gp.h>

#include "gp_test.h"

/* 24 KB tiles of the streaming scan hold 6144 items: more than 400 of them, and a partial one. */
enum { N = 430 * 6144 + 17, SEGMENT = 16, BINS = 256 };

static uint32_t *random_words(size_t n, uint32_t below)
{
    uint64_t state = t_seed();
    uint32_t *words = t_host(n * sizeof *words);
    for (size_t i = 0; i < n; i++)
        words[i] = (uint32_t)t_random_below(&state, below);
    return words;
}

static void check_words(const char *name, t_array *got, const uint32_t *expected, size_t n)
{
    uint32_t *host = t_host(n * sizeof *host);
    t_get(got, host, n * sizeof *host);
    t_same(name, GP_U32, expected, host, n);
    t_check_guards(got);
    free(host);
}

/* Both kernels of the scan: in place and misaligned, then in the row-pointer form with a total. */
START_TEST(test_tour_scan)
{
    uint32_t *in = random_words(N, 1000), *expected = t_host((N + 1) * sizeof *expected);
    size_t sizes[] = {N, 50000};
    for (int k = 0; k < 2; k++) {
        size_t n = sizes[k];
        expected[0] = 0;
        for (size_t i = 0; i < n; i++)
            expected[i + 1] = expected[i] + in[i];
        t_array a = t_new_from(in, n * 4, 4), b = t_new_from(in, n * 4, 0);
        t_array out = t_new((n + 1) * 4, 0), total = t_new(8, 0);
        gp_scan_desc d = GP_SCAN_DESC_INIT;
        d.kind = GP_SCAN_ROW_POINTERS;
        d.in_dtype = GP_U32;
        d.total = total.data;
        T_OK(gp_scan(t_ctx(), &d, b.data, n, out.data));
        T_OK(gp_scan_inclusive(t_ctx(), GP_U32, GP_SUM, a.data, n, a.data));
        check_words("inclusive", &a, expected + 1, n);
        check_words("row pointers", &out, expected, n + 1);
        ck_assert_uint_eq(t_get_u64(&total), expected[n]);
        t_free(&a), t_free(&b), t_free(&out), t_free(&total);
    }
    free(in), free(expected);
}
END_TEST

/* Both kernels of the segmented scan, and each way to tell segments. */
START_TEST(test_tour_segmented_scan)
{
    uint32_t *in = random_words(N, 1000), *keys = random_words(N, 30);
    uint32_t *expected = t_host(N * 4), *offsets = t_host((N + 1) * 4), *rows = t_host(N * 4);
    uint8_t *heads = t_host(N);
    size_t sizes[] = {N, 50000}, count = 0;
    for (size_t i = 0; i < N; i++) {
        keys[i] = i > 0 && keys[i] > 1 ? keys[i - 1] : (uint32_t)i; /* segments of about 15 */
        heads[i] = i > 0 && keys[i] != keys[i - 1];
        expected[i] = i > 0 && !heads[i] ? expected[i - 1] + in[i] : in[i];
        rows[i] = i % 100 ? rows[i - 1] + in[i] : in[i];
        if (i == 0 || heads[i])
            offsets[count++] = (uint32_t)i;
    }
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    for (int k = 0; k < 2; k++) {
        size_t n = sizes[k] / 100 * 100, segments = 0;
        while (segments < count && offsets[segments] < n)
            segments++;
        uint32_t last = offsets[segments];
        offsets[segments] = (uint32_t)n;
        t_array a = t_new_from(in, n * 4, 0), b = t_new_from(keys, n * 4, 4);
        t_array c = t_new_from(heads, n, 0), o = t_new_from(offsets, (segments + 1) * 4, 0);
        t_array out = t_new(n * 4, 4);
        T_OK(gp_scan_segmented(t_ctx(), &d, a.data, n, GP_U32, o.data, segments, out.data));
        check_words("by offsets", &out, expected, n);
        T_OK(gp_scan_flagged(t_ctx(), &d, a.data, c.data, n, out.data));
        check_words("by flags", &out, expected, n);
        T_OK(gp_scan_by_key(t_ctx(), &d, 4, b.data, a.data, n, out.data));
        check_words("by key", &out, expected, n);
        T_OK(gp_scan_rows(t_ctx(), &d, a.data, n / 100, 100, a.data));
        check_words("rows", &a, rows, n);
        t_free(&a), t_free(&b), t_free(&c), t_free(&o), t_free(&out);
        offsets[segments] = last;
    }
    free(in), free(keys), free(expected), free(offsets), free(rows), free(heads);
}
END_TEST

/* More tiles than blocks, misaligned, and one tile. */
START_TEST(test_tour_reduce)
{
    uint32_t *in = random_words(N, 1 << 30);
    size_t sizes[] = {N, 1000};
    for (int k = 0; k < 2; k++) {
        size_t n = sizes[k], least = 0;
        uint32_t sum = 0, max = 0;
        for (size_t i = 0; i < n; i++) {
            sum += in[i];
            max = in[i] > max ? in[i] : max;
            least = in[i] < in[least] ? i : least;
        }
        t_array a = t_new_from(in, n * 4, 4), out = t_new(8, 0), index = t_new(8, 0);
        uint32_t expected[2] = {sum, max};
        T_OK(gp_reduce(t_ctx(), GP_U32, GP_SUM, a.data, n, out.data));
        T_OK(gp_reduce(t_ctx(), GP_U32, GP_MAX, a.data, n, (char *)out.data + 4));
        T_OK(gp_argmin(t_ctx(), GP_U32, a.data, n, NULL, index.data));
        check_words("sum and max", &out, expected, 2);
        ck_assert_uint_eq(t_get_u64(&index), least);
        t_free(&a), t_free(&out), t_free(&index);
    }
    free(in);
}
END_TEST

START_TEST(test_tour_compact)
{
    uint32_t *in = random_words(N, 1000), *expected = t_host(N * sizeof *expected);
    uint8_t *keep = t_host(N);
    const uint32_t limit = 500;
    size_t kept = 0, other = N;
    for (size_t i = 0; i < N; i++) {
        keep[i] = in[i] < limit;
        if (keep[i])
            expected[kept++] = in[i];
    }
    for (size_t i = N; i-- > 0;)
        if (!keep[i])
            expected[--other] = in[i];
    t_array a = t_new_from(in, N * 4, 0), flags = t_new_from(keep, N, 1);
    t_array out = t_new(N * 4, 4), count = t_new(8, 0);
    T_OK(gp_partition(t_ctx(), 4, a.data, flags.data, N, out.data, count.data));
    check_words("partition", &out, expected, N);
    t_poison(&out);
    T_OK(gp_compact_if(t_ctx(), GP_U32, GP_LT, &limit, a.data, N, out.data, count.data));
    check_words("compact_if", &out, expected, kept);
    T_OK(gp_compact(t_ctx(), 4, a.data, flags.data, N, a.data, count.data));
    check_words("compact in place", &a, expected, kept);
    ck_assert_uint_eq(t_get_u64(&count), kept);
    t_free(&a), t_free(&flags), t_free(&out), t_free(&count);
    free(in), free(expected), free(keep);
}
END_TEST

/* Counting gives the histogram, and from it the sorted keys. */
START_TEST(test_tour_sort_and_histogram)
{
    uint32_t *in = random_words(N, BINS), *sorted = t_host(N * sizeof *sorted), counts[BINS] = {0};
    size_t at = 0;
    for (size_t i = 0; i < N; i++)
        counts[in[i]]++;
    for (uint32_t b = 0; b < BINS; b++)
        for (uint32_t i = 0; i < counts[b]; i++)
            sorted[at++] = b;
    t_array a = t_new_from(in, N * 4, 4), bins = t_new(sizeof counts, 0), out = t_new(N * 4, 0);
    t_array values = t_new(N * 4, 0);
    T_OK(gp_bincount(t_ctx(), GP_U32, a.data, N, BINS, GP_U32, bins.data, NULL));
    T_OK(gp_radix_sort(t_ctx(), GP_U32, a.data, N, out.data, NULL));
    check_words("bincount", &bins, counts, BINS);
    check_words("keys", &out, sorted, N);
    t_poison(&out);
    T_OK(gp_radix_sort_pairs(t_ctx(), GP_U32, a.data, 4, a.data, N, out.data, values.data, NULL));
    check_words("pairs: keys", &out, sorted, N);
    check_words("pairs: values", &values, sorted, N);
    t_free(&a), t_free(&bins), t_free(&out), t_free(&values);
    free(in), free(sorted);
}
END_TEST

/* Even segments: the search gives i / SEGMENT, row pointers of that give the offsets back. */
START_TEST(test_tour_segments)
{
    const size_t segments = N / SEGMENT, items = segments * SEGMENT;
    uint32_t *offsets = t_host((segments + 1) * 4), *ids = t_host(items * 4);
    for (size_t s = 0; s <= segments; s++)
        offsets[s] = (uint32_t)(s * SEGMENT);
    for (size_t i = 0; i < items; i++)
        ids[i] = (uint32_t)(i / SEGMENT);
    t_array o = t_new_from(offsets, (segments + 1) * 4, 4), found = t_new(items * 4, 0);
    t_array rows = t_new((segments + 1) * 4, 0);
    T_OK(gp_balance_search(t_ctx(), GP_U32, o.data, segments, items, GP_U32, found.data, NULL));
    T_OK(gp_csr_row_pointers(t_ctx(), GP_U32, found.data, items, segments, GP_U32, rows.data));
    check_words("segments", &found, ids, items);
    check_words("row pointers", &rows, offsets, segments + 1);
    t_free(&o), t_free(&found), t_free(&rows);
    free(offsets), free(ids);
}
END_TEST

/* A permutation matrix with every entry given twice: merged, transposed, multiplied. */
START_TEST(test_tour_csr)
{
    const uint32_t rows = 150001, nnz = 2 * rows, step = 70001;
    uint32_t *r = t_host(nnz * 4), *c = t_host(nnz * 4);
    float *v = t_host(nnz * 4), *x = t_host(rows * 4), *y = t_host(rows * 4);
    for (uint32_t i = 0; i < nnz; i++) {
        r[i] = i % rows;
        c[i] = (uint32_t)((uint64_t)r[i] * step % rows);
        v[i] = 0.5f;
    }
    for (uint32_t i = 0; i < rows; i++)
        x[i] = (float)i, y[r[i]] = (float)c[i];
    t_array ar = t_new_from(r, nnz * 4, 0), ac = t_new_from(c, nnz * 4, 0);
    t_array av = t_new_from(v, nnz * 4, 0), ax = t_new_from(x, rows * 4, 0);
    t_array p = t_new((rows + 1) * 4, 0), oc = t_new(nnz * 4, 0), ov = t_new(nnz * 4, 0);
    t_array count = t_new(8, 0), ay = t_new(rows * 4, 0);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    T_OK(gp_csr_from_coo(t_ctx(), &d, rows, rows, ar.data, ac.data, av.data, nnz, p.data, oc.data,
                         ov.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), rows);
    T_OK(gp_spmv(t_ctx(), GP_U32, GP_U32, GP_F32, rows, rows, rows, p.data, oc.data, ov.data, NULL,
                 ax.data, NULL, ay.data));
    float *got = t_host(rows * 4);
    t_get(&ay, got, rows * 4);
    t_same("y", GP_F32, y, got, rows);
    T_OK(gp_csr_transpose(t_ctx(), &d, rows, rows, rows, p.data, oc.data, ov.data, ar.data, ac.data,
                          av.data));
    T_OK(gp_check_csr(t_ctx(), GP_U32, GP_U32, rows, rows, rows, ar.data, ac.data));
    t_free(&ar), t_free(&ac), t_free(&av), t_free(&ax), t_free(&p), t_free(&oc), t_free(&ov);
    t_free(&count), t_free(&ay);
    free(r), free(c), free(v), free(x), free(y), free(got);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("tour");
    TCase *c = t_case(s, "tour");
    tcase_add_test(c, test_tour_scan);
    tcase_add_test(c, test_tour_compact);
    tcase_add_test(c, test_tour_sort_and_histogram);
    tcase_add_test(c, test_tour_segments);
    tcase_add_test(c, test_tour_csr);
    c = t_case(s, "segmented scan");
    tcase_add_test(c, test_tour_segmented_scan);
    c = t_case(s, "tour of reduce");
    tcase_add_test(c, test_tour_reduce);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
