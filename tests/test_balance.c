/* SPDX-License-Identifier: MIT */
/* Load-balancing search, expand, merge-path partition, binary search and the check of offsets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/balance.h>

#include "gp_test.h"

/* A tile of the CUDA backend takes this many items and segments together. */
enum { TILE = 8176 };

static const gp_dtype index_dtypes[] = {GP_U32, GP_I32, GP_U64, GP_I64};

/* ---- segments ------------------------------------------------------------------------------ */

struct segments {
    uint64_t *offsets; /* count + 1, from 0 */
    size_t count, items;
};

enum layout {
    EVEN,
    RANDOM,
    SINGLE,
    ALL_EMPTY,
    ONE_HUGE,
    LEADING_EMPTY,
    TRAILING_EMPTY,
    HUGE_AMONG_EMPTY,
    MOSTLY_EMPTY,
    POWER_LAW,
    LAYOUTS
};

static uint64_t length_of(enum layout layout, size_t s, size_t count, uint64_t *state)
{
    switch (layout) {
    case EVEN:
        return 16;
    case RANDOM:
        return t_random_below(state, 40);
    case SINGLE:
        return 1;
    case ONE_HUGE:
        return s == 0 ? 3 * TILE + 5 : t_random_below(state, 3);
    case LEADING_EMPTY:
        return s < count / 2 ? 0 : 5;
    case TRAILING_EMPTY:
        return s < count / 2 ? 5 : 0;
    case HUGE_AMONG_EMPTY:
        return s == count / 2 ? 2 * TILE + 1 : 0;
    case MOSTLY_EMPTY:
        return t_random_below(state, 50) == 0 ? t_random_below(state, 9) : 0;
    case POWER_LAW:
        return (uint64_t)1 << (t_random(state) % 64 < 60 ? t_random_below(state, 5)
                                                         : t_random_below(state, 13));
    default:
        return 0;
    }
}

static struct segments segments_new(enum layout layout, size_t count)
{
    struct segments g = {t_host((count + 1) * sizeof(uint64_t)), count, 0};
    uint64_t state = t_seed() + count;
    g.offsets[0] = 0;
    for (size_t s = 0; s < count; s++)
        g.offsets[s + 1] = g.offsets[s] + length_of(layout, s, count, &state);
    g.items = (size_t)g.offsets[count];
    return g;
}

static void store(gp_dtype dtype, void *array, size_t i, uint64_t value)
{
    if (gp_dtype_bytes(dtype) == 8)
        ((uint64_t *)array)[i] = value;
    else
        ((uint32_t *)array)[i] = (uint32_t)value;
}

/* The numbers plus base, in the context's memory. */
static t_array numbers_put(const uint64_t *numbers, size_t n, gp_dtype dtype, uint64_t base,
                           size_t shift)
{
    size_t bytes = gp_dtype_bytes(dtype);
    void *host = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        store(dtype, host, i, numbers[i] + base);
    t_array a = t_new_from(host, n * bytes, shift * bytes);
    free(host);
    return a;
}

static t_array offsets_put(const struct segments *g, gp_dtype dtype, uint64_t base, size_t shift)
{
    return numbers_put(g->offsets, g->count + 1, dtype, base, shift);
}

/* The largest first offset with which the last one is still a number of dtype. */
static uint64_t largest_base(gp_dtype dtype, size_t items)
{
    return (dtype == GP_I32   ? INT32_MAX
            : dtype == GP_U32 ? UINT32_MAX
            : dtype == GP_I64 ? INT64_MAX
                              : UINT64_MAX) -
           items;
}

/* Compare an array of the context with the numbers expected; the guards too. */
static void numbers_check(const char *name, const uint64_t *expected, gp_dtype dtype,
                          const t_array *array, size_t n)
{
    size_t bytes = gp_dtype_bytes(dtype);
    void *want = t_host(n * bytes), *got = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        store(dtype, want, i, expected[i]);
    t_get(array, got, n * bytes);
    t_same(name, dtype, want, got, n);
    t_check_guards(array);
    free(want);
    free(got);
}

/* ---- search -------------------------------------------------------------------------------- */

static void search_oracle(const struct segments *g, uint64_t *segments, uint64_t *ranks)
{
    for (size_t s = 0; s < g->count; s++)
        for (uint64_t i = g->offsets[s]; i < g->offsets[s + 1]; i++) {
            segments[i] = s;
            ranks[i] = i - g->offsets[s];
        }
}

static void search_check(const struct segments *g, gp_dtype offset_dtype, gp_dtype index_dtype,
                         uint64_t base, size_t shift, size_t rank_shift, bool with_ranks)
{
    size_t bytes = gp_dtype_bytes(index_dtype);
    uint64_t *segments = t_host(g->items * 8), *ranks = t_host(g->items * 8);
    t_array offsets = offsets_put(g, offset_dtype, base, shift);
    t_array out = t_new(g->items * bytes, shift * bytes);
    t_array out_ranks = t_new(g->items * bytes, rank_shift * bytes);
    search_oracle(g, segments, ranks);
    T_OK(gp_balance_search(t_ctx(), offset_dtype, offsets.data, g->count, g->items, index_dtype,
                           out.data, with_ranks ? out_ranks.data : NULL));
    numbers_check("segments", segments, index_dtype, &out, g->items);
    if (with_ranks)
        numbers_check("ranks", ranks, index_dtype, &out_ranks, g->items);
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
    static const size_t counts[] = {0, 1, 2, 17, 1000, TILE, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct segments g = segments_new((enum layout)_i, counts[c]);
        for (int d = 0; d < 16; d++) {
            gp_dtype offset_dtype = index_dtypes[d / 4], index_dtype = index_dtypes[d % 4];
            uint64_t base = d % 3 == 0   ? 0
                            : d % 3 == 1 ? 1000
                                         : largest_base(offset_dtype, g.items);
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
    uint64_t offsets[2 * TILE / 3 + 8], state = t_seed();
    for (size_t n = (size_t)_i; n <= 2 * TILE + 1; n += PARTS) {
        struct segments g = {offsets, 0, n};
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
    struct segments g = segments_new(RANDOM, 1500);
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
    struct segments g = segments_new(ALL_EMPTY, 3000000);
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
    struct segments g = segments_new(_i ? POWER_LAW : EVEN, 200000);
    search_check(&g, GP_U32, GP_U32, 0, 0, 0, true);
    search_check(&g, GP_I64, GP_I32, 1, 0, 0, false);
    free(g.offsets);
}
END_TEST

/* num_items 40 above or below what the offsets cover. */
START_TEST(test_search_wrong_num_items_is_a_data_error)
{
    struct segments g = segments_new(RANDOM, 1000);
    size_t n = _i ? g.items + 40 : g.items - 40;
    uint64_t *segments = t_host((g.items + 40) * 8), *ranks = t_host((g.items + 40) * 8);
    t_array offsets = offsets_put(&g, GP_U32, 10, 0);
    t_array out = t_new(n * 4, 0), out_ranks = t_new(n * 4, 0);
    search_oracle(&g, segments, ranks);
    for (size_t i = g.items; i < g.items + 40; i++) {
        segments[i] = g.count;
        ranks[i] = i - g.items;
    }
    T_OK(gp_balance_search(t_ctx(), GP_U32, offsets.data, g.count, n, GP_U32, out.data,
                           out_ranks.data));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    numbers_check("segments", segments, GP_U32, &out, n);
    numbers_check("ranks", ranks, GP_U32, &out_ranks, n);
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

/* Offsets that do not ascend: outputs are unspecified, but nothing else may be touched. */
START_TEST(test_wild_offsets_stay_in_bounds)
{
    enum { SEGMENTS = 9000, ITEMS = 50000, PARTS = 100 };
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

/* ---- expand -------------------------------------------------------------------------------- */

static void *expand_oracle(const struct segments *g, size_t bytes, const char *in)
{
    char *out = t_host(g->items * bytes);
    for (size_t s = 0; s < g->count; s++)
        for (uint64_t i = g->offsets[s]; i < g->offsets[s + 1]; i++)
            memcpy(out + i * bytes, in + s * bytes, bytes);
    return out;
}

static void expand_check(const struct segments *g, size_t bytes, gp_dtype offset_dtype,
                         size_t in_shift, size_t out_shift)
{
    uint64_t state = t_seed();
    char *in = t_host(g->count * bytes), *got = t_host(g->items * bytes);
    t_fill_random(GP_U8, in, g->count * bytes, &state);
    void *expected = expand_oracle(g, bytes, in);
    t_array offsets = offsets_put(g, offset_dtype, largest_base(offset_dtype, g->items), 0);
    t_array d_in = t_new_from(in, g->count * bytes, in_shift);
    t_array out = t_new(g->items * bytes, out_shift);
    T_OK(gp_expand(t_ctx(), bytes, d_in.data, offset_dtype, offsets.data, g->count, g->items,
                   out.data));
    t_get(&out, got, g->items * bytes);
    t_same_bytes("expanded", expected, got, g->items * bytes);
    t_check_guards(&out);
    t_free(&offsets);
    t_free(&d_in);
    t_free(&out);
    free(in);
    free(got);
    free(expected);
}

static const size_t item_sizes[] = {1, 2, 4, 8, 16, 3, 6, 12, 17, 20, 24, 100, 1000};
enum { ITEM_SIZES = sizeof item_sizes / sizeof item_sizes[0] };

START_TEST(test_expand_layouts_every_item_size)
{
    size_t bytes = item_sizes[_i];
    for (int layout = 0; layout < LAYOUTS; layout++) {
        size_t counts[] = {0, 1, 33, bytes > 16 ? 500 : 9000};
        for (int c = 0; c < 4; c++) {
            struct segments g = segments_new((enum layout)layout, counts[c]);
            expand_check(&g, bytes, index_dtypes[(layout + c) % 4], 0, 0);
            free(g.offsets);
        }
    }
}
END_TEST

START_TEST(test_expand_alignments)
{
    struct segments g = segments_new(RANDOM, 1200);
    size_t bytes = item_sizes[_i];
    if (bytes <= 24)
        for (size_t shift = 0; shift < 17; shift++) {
            expand_check(&g, bytes, GP_U32, 0, shift);
            expand_check(&g, bytes, GP_U64, 16 - shift, shift);
        }
    free(g.offsets);
}
END_TEST

START_TEST(test_expand_largest_item)
{
    struct segments g = segments_new(RANDOM, 40);
    expand_check(&g, 65536, GP_U32, 0, 0);
    expand_check(&g, 65535, GP_I64, 1, 3);
    free(g.offsets);
}
END_TEST

START_TEST(test_expand_wrong_num_items_is_a_data_error)
{
    enum { MORE = 100, LESS = 10 };
    uint64_t numbers[] = {0, 20, 20, 50};
    uint32_t in[] = {7, 8, 9}, got[MORE], expected[MORE];
    struct segments g = {numbers, 3, 50};
    t_array offsets = offsets_put(&g, GP_U32, 0, 0), d_in = t_new_from(in, sizeof in, 0);
    t_array out = t_new(sizeof got, 0);
    memset(expected, T_POISON, sizeof expected);
    size_t n = _i ? MORE : LESS;
    for (size_t i = 0; i < 50 && i < n; i++)
        expected[i] = i < 20 ? 7 : 9;
    T_OK(gp_expand(t_ctx(), 4, d_in.data, GP_U32, offsets.data, 3, n, out.data));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    t_get(&out, got, sizeof got);
    t_same("expanded", GP_U32, expected, got, MORE);
    t_free(&offsets);
    t_free(&d_in);
    t_free(&out);
}
END_TEST

/* ---- merge path ---------------------------------------------------------------------------- */

/* Walk the path step by step. */
static void partition_oracle(const struct segments *g, size_t parts, uint64_t *rows, uint64_t *nnz)
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
        gp_dtype dtype = index_dtypes[c % 4];
        struct segments g = segments_new((enum layout)_i, c % 3 ? 700 : (size_t)c / 12);
        uint64_t *rows = t_host((n + 1) * 8), *nnz = t_host((n + 1) * 8);
        t_array offsets = offsets_put(&g, dtype, largest_base(dtype, g.items), 0);
        t_array row_starts = t_new((n + 1) * gp_dtype_bytes(dtype), 0);
        t_array nnz_starts = t_new((n + 1) * gp_dtype_bytes(dtype), gp_dtype_bytes(dtype));
        partition_oracle(&g, n, rows, nnz);
        T_OK(gp_merge_path_partition(t_ctx(), dtype, offsets.data, g.count, g.items, n,
                                     row_starts.data, nnz_starts.data));
        numbers_check("row_starts", rows, dtype, &row_starts, n + 1);
        numbers_check("nnz_starts", nnz, dtype, &nnz_starts, n + 1);
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
    struct segments g = {numbers, 1, 4};
    t_array offsets = offsets_put(&g, GP_U32, 0, 0), rows = t_new(12, 0), nnz = t_new(12, 0);
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
    tcase_add_loop_test(c, test_search_layouts_every_dtype, 0, LAYOUTS);
    tcase_add_loop_test(c, test_search_every_size, 0, 16);
    tcase_add_test(c, test_search_alignments);
    tcase_add_test(c, test_search_millions_of_empty_segments);
    tcase_add_loop_test(c, test_search_large, 0, 2);
    tcase_add_loop_test(c, test_search_wrong_num_items_is_a_data_error, 0, 2);
    tcase_add_loop_test(c, test_wild_offsets_stay_in_bounds, 0, 3);
    c = t_case(s, "expand");
    tcase_add_loop_test(c, test_expand_layouts_every_item_size, 0, ITEM_SIZES);
    tcase_add_loop_test(c, test_expand_alignments, 0, ITEM_SIZES);
    tcase_add_test(c, test_expand_largest_item);
    tcase_add_loop_test(c, test_expand_wrong_num_items_is_a_data_error, 0, 2);
    c = t_case(s, "partition");
    tcase_add_loop_test(c, test_partition_layouts, 0, LAYOUTS);
    tcase_add_test(c, test_partition_wrong_nnz_is_a_data_error);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
