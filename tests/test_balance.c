/* SPDX-License-Identifier: MIT */
/* Load-balancing search and merge-path partition. */
#include <stdlib.h>

#include <gp/balance.h>

#include "segments.h"

/* ---- search -------------------------------------------------------------------------------- */

static void search_oracle(const struct t_segments *g, uint64_t *segments, uint64_t *ranks)
{
    for (size_t s = 0; s < g->count; s++)
        for (uint64_t i = g->offsets[s]; i < g->offsets[s + 1]; i++) {
            segments[i] = s;
            ranks[i] = i - g->offsets[s];
        }
}

static void search_check(const struct t_segments *g, gp_dtype offset_dtype, gp_dtype index_dtype,
                         uint64_t base, size_t shift, size_t rank_shift, bool with_ranks)
{
    size_t bytes = gp_dtype_bytes(index_dtype);
    uint64_t *segments = t_host(g->items * 8), *ranks = t_host(g->items * 8);
    t_array offsets = t_offsets_put(g, offset_dtype, base, shift);
    t_array out = t_new(g->items * bytes, shift * bytes);
    t_array out_ranks = t_new(g->items * bytes, rank_shift * bytes);
    search_oracle(g, segments, ranks);
    T_OK(gp_balance_search(t_ctx(), offset_dtype, offsets.data, g->count, g->items, index_dtype,
                           out.data, with_ranks ? out_ranks.data : NULL));
    t_numbers_check("segments", segments, index_dtype, &out, g->items);
    if (with_ranks)
        t_numbers_check("ranks", ranks, index_dtype, &out_ranks, g->items);
    else
        t_check_untouched(&out_ranks);
    t_free(&offsets);
    t_free(&out);
    t_free(&out_ranks);
    free(segments);
    free(ranks);
}

START_TEST(test_search_layouts_every_dtype)
{
    static const size_t counts[] = {0, 1, 2, 17, 1000, T_BALANCE_TILE, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct t_segments g = t_segments_new((enum t_layout)_i, counts[c]);
        for (int d = 0; d < 16; d++) {
            gp_dtype offset_dtype = t_index_dtypes[d / 4], index_dtype = t_index_dtypes[d % 4];
            uint64_t base = d % 3 == 0   ? 0
                            : d % 3 == 1 ? 1000
                                         : t_largest_base(offset_dtype, g.items);
            search_check(&g, offset_dtype, index_dtype, base, 0, 0, d % 2 == 0);
        }
        free(g.offsets);
    }
}
END_TEST

/* Every number of items up to two tiles and one, with one ending in the midst of a segment. */
START_TEST(test_search_every_size)
{
    enum { PARTS = 16 };
    uint64_t offsets[2 * T_BALANCE_TILE / 3 + 8], state = t_seed();
    for (size_t n = (size_t)_i; n <= 2 * T_BALANCE_TILE + 1; n += PARTS) {
        struct t_segments g = {offsets, 0, n};
        uint64_t at = 0;
        offsets[0] = 0;
        while (at < n) {
            at += g.count % 4 ? 0 : 40 + t_random_below(&state, 9);
            offsets[++g.count] = at < n ? at : n;
        }
        search_check(&g, GP_U32, GP_U32, 0, 0, 0, n % 2);
    }
}
END_TEST

START_TEST(test_search_alignments)
{
    struct t_segments g = t_segments_new(T_RANDOM, 1500);
    for (size_t shift = 0; shift < 8; shift++)
        for (size_t rank_shift = 0; rank_shift < 4; rank_shift++) {
            search_check(&g, GP_U32, GP_U32, 3, shift, rank_shift, true);
            search_check(&g, GP_I64, GP_I64, 3, shift, rank_shift, true);
        }
    free(g.offsets);
}
END_TEST

START_TEST(test_search_millions_of_empty_segments)
{
    struct t_segments g = t_segments_new(T_ALL_EMPTY, 3000000);
    for (size_t s = 1000000; s <= g.count; s++)
        g.offsets[s] += s < 2000000 ? 7 : 12;
    g.items = 12;
    search_check(&g, GP_U32, GP_U32, 0, 0, 0, true);
    search_check(&g, GP_U64, GP_U64, 5, 0, 0, true);
    free(g.offsets);
}
END_TEST

START_TEST(test_search_large)
{
    struct t_segments g = t_segments_new(_i ? T_POWER_LAW : T_EVEN, 200000);
    search_check(&g, GP_U32, GP_U32, 0, 0, 0, true);
    search_check(&g, GP_I64, GP_I32, 1, 0, 0, false);
    free(g.offsets);
}
END_TEST

/* num_items 40 above or below what the offsets cover. */
START_TEST(test_search_wrong_num_items_is_a_data_error)
{
    struct t_segments g = t_segments_new(T_RANDOM, 1000);
    size_t n = _i ? g.items + 40 : g.items - 40;
    uint64_t *segments = t_host((g.items + 40) * 8), *ranks = t_host((g.items + 40) * 8);
    t_array offsets = t_offsets_put(&g, GP_U32, 10, 0);
    t_array out = t_new(n * 4, 0), out_ranks = t_new(n * 4, 0);
    search_oracle(&g, segments, ranks);
    for (size_t i = g.items; i < g.items + 40; i++) {
        segments[i] = g.count;
        ranks[i] = i - g.items;
    }
    T_OK(gp_balance_search(t_ctx(), GP_U32, offsets.data, g.count, n, GP_U32, out.data,
                           out_ranks.data));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    t_numbers_check("segments", segments, GP_U32, &out, n);
    t_numbers_check("ranks", ranks, GP_U32, &out_ranks, n);
    T_OK(gp_balance_search(t_ctx(), GP_U32, offsets.data, g.count, 0, GP_U32, NULL, NULL));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    t_free(&offsets);
    t_free(&out);
    t_free(&out_ranks);
    free(segments);
    free(ranks);
    free(g.offsets);
}
END_TEST

/* Offsets that do not ascend: outputs are unspecified, but nothing else may be touched.
 * (A race detector has something to report here: two segments may begin at one place.) */
START_TEST(test_wild_offsets_stay_in_bounds)
{
    enum { SEGMENTS = 200000, ITEMS = 250000, PARTS = 100 };
    uint64_t state = t_seed() + (uint64_t)_i;
    uint32_t *wild = t_host((SEGMENTS + 1) * 4);
    for (size_t s = 0; s <= SEGMENTS; s++)
        wild[s] = (uint32_t)(_i == 0 ? t_random(&state) : t_random_below(&state, 2 * ITEMS));
    wild[SEGMENTS] = _i == 2 ? wild[0] + ITEMS : wild[SEGMENTS];
    t_array offsets = t_new_from(wild, (SEGMENTS + 1) * 4, 0), in = t_new(SEGMENTS * 4, 0);
    t_array a = t_new(ITEMS * 4, 0), b = t_new(ITEMS * 4, 0);
    T_OK(gp_balance_search(t_ctx(), GP_U32, offsets.data, SEGMENTS, ITEMS, GP_U32, a.data, b.data));
    T_OK(gp_expand(t_ctx(), 4, in.data, GP_U32, offsets.data, SEGMENTS, ITEMS, a.data));
    T_OK(gp_expand(t_ctx(), 2, in.data, GP_U32, offsets.data, SEGMENTS, ITEMS, a.data));
    T_OK(gp_expand(t_ctx(), 3, in.data, GP_U32, offsets.data, SEGMENTS, ITEMS, a.data));
    T_OK(gp_expand(t_ctx(), 20, in.data, GP_U32, offsets.data, SEGMENTS / 5, ITEMS / 5, a.data));
    T_OK(gp_merge_path_partition(t_ctx(), GP_U32, offsets.data, SEGMENTS, ITEMS, PARTS, a.data,
                                 b.data));
    gp_context_synchronize(t_ctx());
    t_check_guards(&a);
    t_check_guards(&b);
    t_free(&offsets);
    t_free(&in);
    t_free(&a);
    t_free(&b);
    free(wild);
}
END_TEST

/* ---- merge path ---------------------------------------------------------------------------- */

/* Walk the path step by step. */
static void partition_oracle(const struct t_segments *g, size_t parts, uint64_t *rows,
                             uint64_t *nnz)
{
    uint64_t steps = g->count + g->items, share = (steps + parts - 1) / parts;
    uint64_t row = 0, item = 0;
    for (size_t p = 0; p <= parts; p++) {
        while (row + item < p * share && row + item < steps) {
            if (row < g->count && g->offsets[row + 1] <= item)
                row++;
            else
                item++;
        }
        rows[p] = row;
        nnz[p] = item;
    }
}

START_TEST(test_partition_layouts)
{
    static const size_t parts[] = {1, 2, 7, 64, 1000, 30000};
    for (int c = 0; c < 6 * 4; c++) {
        size_t n = parts[c / 4];
        gp_dtype dtype = t_index_dtypes[c % 4];
        struct t_segments g = t_segments_new((enum t_layout)_i, c % 3 ? 700 : (size_t)c / 12);
        uint64_t *rows = t_host((n + 1) * 8), *nnz = t_host((n + 1) * 8);
        t_array offsets = t_offsets_put(&g, dtype, t_largest_base(dtype, g.items), 0);
        t_array row_starts = t_new((n + 1) * gp_dtype_bytes(dtype), 0);
        t_array nnz_starts = t_new((n + 1) * gp_dtype_bytes(dtype), gp_dtype_bytes(dtype));
        partition_oracle(&g, n, rows, nnz);
        T_OK(gp_merge_path_partition(t_ctx(), dtype, offsets.data, g.count, g.items, n,
                                     row_starts.data, nnz_starts.data));
        t_numbers_check("row_starts", rows, dtype, &row_starts, n + 1);
        t_numbers_check("nnz_starts", nnz, dtype, &nnz_starts, n + 1);
        t_free(&offsets);
        t_free(&row_starts);
        t_free(&nnz_starts);
        free(rows);
        free(nnz);
        free(g.offsets);
    }
}
END_TEST

START_TEST(test_partition_wrong_nnz_is_a_data_error)
{
    uint64_t numbers[] = {0, 4};
    struct t_segments g = {numbers, 1, 4};
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0), rows = t_new(12, 0), nnz = t_new(12, 0);
    T_OK(gp_merge_path_partition(t_ctx(), GP_U32, offsets.data, 1, 5, 2, rows.data, nnz.data));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    t_free(&offsets);
    t_free(&rows);
    t_free(&nnz);
}
END_TEST

/* ---- run ----------------------------------------------------------------------------------- */

static Suite *suite(void)
{
    Suite *s = suite_create("balance");
    TCase *c = t_case(s, "search");
    tcase_add_loop_test(c, test_search_layouts_every_dtype, 0, T_LAYOUT_COUNT);
    tcase_add_test(c, test_search_alignments);
    tcase_add_test(c, test_search_millions_of_empty_segments);
    tcase_add_loop_test(c, test_search_large, 0, 2);
    tcase_add_loop_test(c, test_search_wrong_num_items_is_a_data_error, 0, 2);
    c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_search_every_size, 0, 16);
    c = t_case(s, "wild");
    tcase_add_loop_test(c, test_wild_offsets_stay_in_bounds, 0, 3);
    c = t_case(s, "partition");
    tcase_add_loop_test(c, test_partition_layouts, 0, T_LAYOUT_COUNT);
    tcase_add_test(c, test_partition_wrong_nnz_is_a_data_error);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
