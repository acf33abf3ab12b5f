/* SPDX-License-Identifier: MIT */
/* Compiled once per public header, as C11 and as C++17: the header stands alone, twice, and its
 * initializers are valid in both languages. */
#include GP_HEADER
#include GP_HEADER

int header_test(void);

int header_test(void)
{
    int sizes = 0;
#ifdef GP_CONTEXT_OPTIONS_INIT
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    gp_target target = GP_TARGET_INIT;
    sizes += options.size == sizeof options && target.size == sizeof target;
#endif
#ifdef GP_SCAN_DESC_INIT
    gp_scan_desc scan = GP_SCAN_DESC_INIT;
    sizes += scan.size == sizeof scan;
#endif
#ifdef GP_MULTISPLIT_DESC_INIT
    gp_multisplit_desc split = GP_MULTISPLIT_DESC_INIT;
    sizes += split.size == sizeof split;
#endif
#ifdef GP_COMPACT_DESC_INIT
    gp_compact_desc compact = GP_COMPACT_DESC_INIT;
    sizes += compact.size == sizeof compact;
#endif
#ifdef GP_RADIX_SORT_OPTIONS_INIT
    gp_radix_sort_options sort = GP_RADIX_SORT_OPTIONS_INIT;
    sizes += sort.size == sizeof sort;
#endif
#ifdef GP_HISTOGRAM_OPTIONS_INIT
    gp_histogram_options histogram = GP_HISTOGRAM_OPTIONS_INIT;
    sizes += histogram.size == sizeof histogram;
#endif
#ifdef GP_COO_DESC_INIT
    gp_coo_desc coo = GP_COO_DESC_INIT;
    sizes += coo.size == sizeof coo;
#endif
    return sizes;
}
