/* SPDX-License-Identifier: MIT */
/* Every gp_<primitive>_workspace_bytes(): wrong targets are named, figures suffice for fewer items;
 * no device is touched. */
#include <string.h>

#include <gp/gp.h>

#include "gp_test.h"

/* A call of every gp_<primitive>_workspace_bytes(), of n items, right but for its target. */
#define FIGURE(name, ...)                                                                          \
    static gp_status name##_figure(const gp_target *target, size_t n, size_t *bytes)               \
    {                                                                                              \
        return name##_workspace_bytes(target, __VA_ARGS__, bytes);                                 \
    }

static const gp_coo_desc coo = GP_COO_DESC_INIT;

/* The initializers leave the types open. */
static const gp_scan_desc *scan_desc(void)
{
    static gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    return &d;
}

static const gp_reduce_desc *reduce_desc(void)
{
    static gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = GP_U32;
    return &d;
}

static const gp_compact_desc *compact_desc(void)
{
    static gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = 4;
    return &d;
}

static const gp_multisplit_desc *multisplit_desc(void)
{
    static gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = 4;
    d.num_buckets = 9;
    return &d;
}

static const gp_vector_desc *vector_desc(void)
{
    static gp_vector_desc d = GP_VECTOR_DESC_INIT;
    d.dtype = GP_F32;
    return &d;
}

FIGURE(gp_scan, scan_desc(), n)
FIGURE(gp_scan_segmented, scan_desc(), n)
FIGURE(gp_scan_flagged, scan_desc(), n)
FIGURE(gp_scan_by_key, scan_desc(), n)
FIGURE(gp_scan_rows, scan_desc(), 10, n)
FIGURE(gp_reduce, reduce_desc(), n)
FIGURE(gp_argmin, GP_U32, n)
FIGURE(gp_compact, compact_desc(), n)
FIGURE(gp_multisplit, multisplit_desc(), n)
static const gp_unique_desc *unique_desc(void)
{
    static gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.key_dtype = GP_U32;
    return &d;
}

static const gp_run_length_desc *run_length_desc(void)
{
    static gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    d.key_dtype = d.index_dtype = GP_U32;
    return &d;
}

static const gp_reduce_by_key_desc *by_key_desc(void)
{
    static gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = d.in_dtype = GP_U32;
    return &d;
}

static const gp_group_by_desc *group_desc(void)
{
    static gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    d.key_dtype = GP_U32;
    return &d;
}

static const gp_lexsort_desc *parts_desc(void)
{
    static gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    d.index_dtype = GP_U32;
    d.num_parts = 1;
    d.parts[0] = (gp_key_part){NULL, 8, GP_U64, GP_ASCENDING};
    return &d;
}

static const gp_record_sort_desc *records_desc(void)
{
    static gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    d.record_bytes = 4;
    d.num_fields = 1;
    d.fields[0].dtype = GP_U32;
    return &d;
}

static const gp_csr_desc *csr_desc(void)
{
    static gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    return &d;
}

static const gp_spmm_desc *spmm_desc(void)
{
    static gp_spmm_desc d = GP_SPMM_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    return &d;
}

static const gp_merge_runs_desc *runs_desc(void)
{
    static gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.dtype = d.offset_dtype = GP_U32;
    return &d;
}

static const gp_csr_filter_desc *filter_desc(void)
{
    static gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.entries = GP_ENTRIES_DIAGONAL;
    return &d;
}

FIGURE(gp_unique, unique_desc(), n)
FIGURE(gp_run_length_encode, run_length_desc(), n)
FIGURE(gp_reduce_by_key, by_key_desc(), n)
FIGURE(gp_group_by, group_desc(), n)
FIGURE(gp_histogram, GP_U32, n, 10, GP_U32, NULL)
FIGURE(gp_expand_counts, GP_U32, n)
FIGURE(gp_radix_sort, GP_U32, 4, n, NULL)
FIGURE(gp_argsort, GP_U32, n, GP_U32, NULL)
FIGURE(gp_radix_sort_segmented, GP_U32, 4, n, 10, NULL)
FIGURE(gp_lexsort, GP_U32, 4, n, NULL)
FIGURE(gp_lexsort_by, parts_desc(), n)
FIGURE(gp_record_sort, records_desc(), n)
FIGURE(gp_merge, GP_U32, n)
FIGURE(gp_merge_runs, runs_desc(), n, 10)
FIGURE(gp_top_k, GP_U32, n, 10)
FIGURE(gp_csr_row_pointers_unsorted, GP_U32, n, 100, GP_U32)
FIGURE(gp_csr_from_coo, &coo, 100, 100, n)
FIGURE(gp_csr_to_coo, GP_U32, 100, n, GP_U32)
FIGURE(gp_csr_transpose, &coo, 100, 100, n)
FIGURE(gp_vector_dot, vector_desc(), n)
FIGURE(gp_csr_filter, filter_desc(), 100, 100, n)
FIGURE(gp_coo_filter, filter_desc(), 100, 100, n)
FIGURE(gp_csr_sort_columns, &coo, 100, 100, n)
FIGURE(gp_csr_visit_edges, n)
FIGURE(gp_spmm, spmm_desc(), 100, 100, n)
FIGURE(gp_spmv_transposed_plan, csr_desc(), 100, 100, n)
FIGURE(gp_spmv, GP_U32, GP_U32, GP_F32, 100, 100, n)

static const gp_top_k_desc *top_k_desc(void)
{
    static gp_top_k_desc d = GP_TOP_K_DESC_INIT;
    d.dtype = GP_U32;
    d.order = GP_ASCENDING;
    return &d;
}

static const gp_dist_histogram_desc *bins_desc(void)
{
    static gp_dist_histogram_desc d = GP_DIST_HISTOGRAM_DESC_INIT;
    d.dtype = GP_U32;
    d.bins = 10;
    return &d;
}

FIGURE(gp_dist_reduce, 3, reduce_desc(), n)
FIGURE(gp_dist_scan, 3, scan_desc(), n)
FIGURE(gp_dist_top_k, 3, top_k_desc(), n, 10)
FIGURE(gp_dist_group_by, 3, by_key_desc(), n, 3 * n)
FIGURE(gp_dist_histogram, 3, bins_desc(), n)
FIGURE(gp_dist_sort, 3, GP_U32, 4, n, n, 3 * n)
FIGURE(gp_dist_argsort, 3, GP_U32, GP_U32, n, n, 3 * n)
FIGURE(gp_dist_compact, 3, compact_desc(), n)
FIGURE(gp_dist_csr_from_coo, 3, &coo, 100, 100, n, n)
FIGURE(gp_dist_halo, 3, csr_desc(), 100, n)

static const struct {
    const char *name;
    gp_status (*figure)(const gp_target *target, size_t n, size_t *bytes);
} figures[] = {
#define ROW(name)                                                                                  \
    {                                                                                              \
#name "_workspace_bytes", name##_figure                                                    \
    }
    ROW(gp_scan),
    ROW(gp_scan_segmented),
    ROW(gp_scan_flagged),
    ROW(gp_scan_by_key),
    ROW(gp_scan_rows),
    ROW(gp_reduce),
    ROW(gp_argmin),
    ROW(gp_compact),
    ROW(gp_multisplit),
    ROW(gp_unique),
    ROW(gp_run_length_encode),
    ROW(gp_reduce_by_key),
    ROW(gp_group_by),
    ROW(gp_histogram),
    ROW(gp_expand_counts),
    ROW(gp_radix_sort),
    ROW(gp_argsort),
    ROW(gp_radix_sort_segmented),
    ROW(gp_lexsort),
    ROW(gp_lexsort_by),
    ROW(gp_record_sort),
    ROW(gp_merge),
    ROW(gp_merge_runs),
    ROW(gp_top_k),
    ROW(gp_csr_row_pointers_unsorted),
    ROW(gp_csr_from_coo),
    ROW(gp_csr_to_coo),
    ROW(gp_csr_transpose),
    ROW(gp_csr_filter),
    ROW(gp_coo_filter),
    ROW(gp_csr_sort_columns),
    ROW(gp_csr_visit_edges),
    ROW(gp_spmv),
    ROW(gp_spmm),
    ROW(gp_spmv_transposed_plan),
    ROW(gp_vector_dot),
    ROW(gp_dist_reduce),
    ROW(gp_dist_scan),
    ROW(gp_dist_top_k),
    ROW(gp_dist_group_by),
    ROW(gp_dist_histogram),
    ROW(gp_dist_sort),
    ROW(gp_dist_argsort),
    ROW(gp_dist_compact),
    ROW(gp_dist_csr_from_coo),
    ROW(gp_dist_halo),
};
enum { FIGURES = sizeof figures / sizeof figures[0], N = 1000 };

/* The call is refused with a text that names the function, the member and its value. */
static void refused(int which, gp_target target, const char *member, const char *value)
{
    size_t bytes = 12345;
    T_STATUS(GP_ERROR_ARGUMENT, figures[which].figure(&target, N, &bytes));
    const char *text = gp_last_error(NULL);
    ck_assert_msg(strstr(text, figures[which].name) == text, "\"%s\" does not begin with %s", text,
                  figures[which].name);
    ck_assert_msg(strstr(text, member) && strstr(text, value), "\"%s\" does not name %s %s", text,
                  member, value);
    ck_assert_uint_eq(bytes, 12345);
}

START_TEST(test_workspace_bytes_wrong_target_is_named)
{
    const gp_target good = GP_TARGET_INIT;
    size_t bytes, any;
    gp_target t = good;
    T_OK(figures[_i].figure(NULL, N, &any));
    T_OK(figures[_i].figure(&good, N, &bytes));
    ck_assert_uint_eq(bytes, any);
    for (int backend = GP_BACKEND_CPU; backend <= GP_BACKEND_CUDA; backend++) {
        t = (gp_target){sizeof t, (gp_backend)backend, 90, 132, 8};
        T_OK(figures[_i].figure(&t, N, &bytes));
        ck_assert_uint_le(bytes, any);
    }
    t = good, t.size = 7;
    refused(_i, t, "target->size", "7");
    t = good, t.backend = (gp_backend)99;
    refused(_i, t, "target->backend", "99");
    t = good, t.backend = (gp_backend)-1;
    refused(_i, t, "target->backend", "-1");
    t = good, t.sm = -90;
    refused(_i, t, "target->sm", "-90");
    t = good, t.sm_count = -132;
    refused(_i, t, "target->sm_count", "-132");
    t = good, t.threads = -8;
    refused(_i, t, "target->threads", "-8");
}
END_TEST

/* What was reserved for the most items serves all calls of fewer. */
START_TEST(test_workspace_bytes_suffice_for_fewer)
{
    for (int k = 0; k < 6; k++) {
        const gp_backend backend = k % 2 ? GP_BACKEND_CUDA : GP_BACKEND_CPU;
        const gp_target t = {sizeof t, backend, 90, k < 4 ? 132 : 7, k < 2 ? 1 : 3};
        size_t before = 0, bytes;
        for (size_t n = 10; n < (size_t)1 << 31; n += n / 30 + 1, before = bytes) {
            T_OK(figures[_i].figure(&t, n, &bytes));
            ck_assert_msg(before <= bytes, "%s of %zu: %zu, more before", figures[_i].name, n,
                          bytes);
        }
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("workspace_figures");
    TCase *c = t_case(s, "targets");
    tcase_add_loop_test(c, test_workspace_bytes_wrong_target_is_named, 0, FIGURES);
    tcase_add_loop_test(c, test_workspace_bytes_suffice_for_fewer, 0, FIGURES);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
