/* SPDX-License-Identifier: MIT */
/* Histogram, top-k and group-by over ranks: every number of ranks and spread, as one rank. */
#include <stdlib.h>
#include <string.h>

#include "radixsort_oracle.h"
#include "ranks.h"

static const int rank_counts[] = {1, 2, 3, 5, 8, 16, 64};
enum { RANK_COUNTS = sizeof rank_counts / sizeof rank_counts[0] };

/* ---- histogram ------------------------------------------------------------------------------- */

struct counting {
    gp_dist_histogram_desc desc;
    struct shares s;
    struct parts in, edges, out;
};

static gp_status histogram_rank(void *arg, int r, gp_comm *comm)
{
    struct counting *c = arg;
    gp_dist_histogram_desc d = c->desc;
    d.edges = d.kind == GP_DIST_BINS_EDGES ? c->edges.of[r].data : NULL;
    return gp_dist_histogram(comm, &d, c->in.of[r].data, c->s.n[r], c->out.of[r].data);
}

/* Values below 1000 in bins of 3, by each of the three ways to say so. */
static void check_histogram(struct ranks *group, int round, uint64_t *state)
{
    static const uint32_t lo = 0;
    const int p = group->count;
    const size_t n = t_random_below(state, 5000), width = 3, bins = 1 + t_random_below(state, 300),
                 counter = round & 1 ? 8 : 4;
    const uint32_t hi = (uint32_t)(bins * width);
    struct counting c = {.desc = GP_DIST_HISTOGRAM_DESC_INIT};
    uint32_t *values = t_host(n * 4), *edges = t_host((bins + 1) * 4);
    size_t rows[RANKS_MAX], edge_rows[RANKS_MAX];
    uint64_t *expected = t_host((bins + 1) * 8);
    c.desc.kind = (gp_dist_bins)(1 + round % 3);
    memset(expected, 0, (bins + 1) * 8);
    t_fill_small(GP_U32, values, n, 1000, state);
    for (size_t i = 0; i < n; i++) {
        const size_t bin = c.desc.kind == GP_DIST_BINS_WHOLE ? values[i] : values[i] / width;
        expected[bin < bins ? bin : bins]++;
    }
    for (size_t i = 0; i <= bins; i++)
        edges[i] = (uint32_t)(i * width);
    c.desc.dtype = GP_U32, c.desc.bins = bins,
    c.desc.counter_dtype = counter == 8 ? GP_U64 : GP_U32;
    if (c.desc.kind == GP_DIST_BINS_EVEN)
        c.desc.lo = &lo, c.desc.hi = &hi;
    c.s = shares_of((enum spread)(round % SPREADS), n, p, state);
    c.in = parts_from(values, &c.s, 4, p);
    for (int r = 0; r < p; r++)
        rows[r] = bins, edge_rows[r] = bins + 1;
    c.out = parts_new(rows, counter, p), c.edges = parts_new(edge_rows, 4, p);
    for (int r = 0; r < p; r++)
        t_put(&c.edges.of[r], edges, (bins + 1) * 4);
    ranks_ok(group, round & 1, histogram_rank, &c);
    char *all = parts_join(&c.out, rows, counter, p);
    for (size_t i = 0; i < bins * (size_t)p; i++) {
        uint64_t count = 0;
        memcpy(&count, all + i * counter, counter);
        ck_assert_uint_eq(count, expected[i % bins]);
    }
    parts_free(&c.in, p), parts_free(&c.out, p), parts_free(&c.edges, p);
    free(values), free(edges), free(expected), free(all);
}

START_TEST(test_dist_histogram_is_the_histogram_of_one_rank)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < 24; round++)
        check_histogram(&group, round, &state);
    ranks_free(&group);
}
END_TEST

/* ---- top-k ----------------------------------------------------------------------------------- */

struct topk {
    gp_top_k_desc desc;
    size_t k;
    struct shares s;
    struct parts in, keys, indices;
};

static gp_status topk_rank(void *arg, int r, gp_comm *comm)
{
    struct topk *t = arg;
    return gp_dist_top_k(comm, &t->desc, t->in.of[r].data, t->s.n[r], t->k,
                         r % 3 == 2 ? NULL : t->keys.of[r].data,
                         r % 3 == 1 ? NULL : t->indices.of[r].data);
}

static void check_topk(struct ranks *group, gp_dtype dtype, int round, uint64_t *state)
{
    const int p = group->count;
    const size_t n = t_random_below(state, 2000), key = gp_dtype_bytes(dtype),
                 index = round & 2 ? 8 : 4;
    struct topk t = {.desc = GP_TOP_K_DESC_INIT, .k = t_random_below(state, n + 1)};
    char *keys = t_host(n * key);
    size_t rows[RANKS_MAX];
    if (round % 3)
        t_fill_bits(dtype, keys, n, state);
    else
        t_fill_small(dtype, keys, n, 5, state);
    t.desc.dtype = dtype, t.desc.order = round & 1 ? GP_DESCENDING : GP_ASCENDING;
    t.desc.index_dtype = index == 8 ? GP_U64 : GP_U32;
    t.s = shares_of((enum spread)(round % SPREADS), n, p, state);
    for (int r = 0; r < p; r++)
        rows[r] = t.k;
    t.in = parts_from(keys, &t.s, key, p);
    t.keys = parts_new(rows, key, p), t.indices = parts_new(rows, index, p);
    size_t *order = oracle_argsort(dtype, keys, n, round & 1, 0, 0);
    ranks_ok(group, round & 1, topk_rank, &t);
    char *sorted = oracle_pick(keys, key, order, t.k), *k = parts_join(&t.keys, rows, key, p),
         *i = parts_join(&t.indices, rows, index, p);
    for (int r = 0; r < p; r++) {
        if (r % 3 != 2)
            t_same_bytes("keys", sorted, k + (size_t)r * t.k * key, t.k * key);
        for (size_t j = 0; j < t.k && r % 3 != 1; j++) {
            uint64_t place = 0;
            memcpy(&place, i + ((size_t)r * t.k + j) * index, index);
            ck_assert_uint_eq(place, order[j]);
        }
    }
    parts_free(&t.in, p), parts_free(&t.keys, p), parts_free(&t.indices, p);
    free(keys), free(order), free(sorted), free(k), free(i);
}

START_TEST(test_dist_top_k_is_the_top_k_of_one_rank)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < 24; round++)
        check_topk(&group, t_dtypes[round % T_DTYPE_COUNT], round, &state);
    ranks_free(&group);
}
END_TEST

/* ---- group-by -------------------------------------------------------------------------------- */

struct grouping {
    gp_reduce_by_key_desc desc;
    struct shares s;
    size_t room;
    struct parts keys, values, keys_out, values_out, counts;
};

static gp_status group_rank(void *arg, int r, gp_comm *comm)
{
    struct grouping *g = arg;
    gp_reduce_by_key_desc d = g->desc;
    d.capacity = g->room;
    return gp_dist_group_by(comm, &d, g->keys.of[r].data, g->values.of[r].data, g->s.n[r],
                            g->keys_out.of[r].data, g->values_out.of[r].data,
                            (uint64_t *)g->counts.of[r].data);
}

/* Sums or maxima of u32 by keys below bound, in u64 or u32. */
static void check_groups(struct ranks *group, gp_dtype key_dtype, int round, uint64_t *state)
{
    const int p = group->count;
    const uint64_t bound = 1 + t_random_below(state, round % 2 ? 5 : 120);
    const size_t n = t_random_below(state, 4000), key = gp_dtype_bytes(key_dtype);
    const bool sums = round & 1;
    const size_t out = sums ? 8 : 4;
    struct grouping g = {.desc = GP_REDUCE_BY_KEY_DESC_INIT, .room = bound};
    char *keys = t_host(n * key);
    uint32_t *values = t_host(n * 4);
    uint64_t expected[128] = {0};
    size_t rows[RANKS_MAX], ones[RANKS_MAX], got[RANKS_MAX], groups = 0;
    bool there[128] = {false};
    t_fill_small(key_dtype, keys, n, bound, state);
    t_fill_random(GP_U32, values, n, state);
    for (size_t i = 0; i < n; i++) {
        const size_t k = (size_t)t_value(key_dtype, keys, i);
        expected[k] = sums                      ? expected[k] + values[i]
                      : values[i] > expected[k] ? values[i]
                                                : expected[k];
        there[k] = true;
    }
    g.desc.key_dtype = key_dtype, g.desc.in_dtype = GP_U32, g.desc.op = sums ? GP_SUM : GP_MAX;
    g.desc.out_dtype = sums ? GP_U64 : GP_U32;
    g.s = shares_of((enum spread)(round % SPREADS), n, p, state);
    for (int r = 0; r < p; r++)
        rows[r] = bound, ones[r] = 1;
    g.keys = parts_from(keys, &g.s, key, p), g.values = parts_from(values, &g.s, 4, p);
    g.keys_out = parts_new(rows, key, p), g.values_out = parts_new(rows, out, p);
    g.counts = parts_new(ones, 8, p);
    ranks_ok(group, round & 2, group_rank, &g);
    for (int r = 0; r < p; r++)
        got[r] = (size_t)t_get_u64(&g.counts.of[r]);
    char *k = parts_join(&g.keys_out, got, key, p), *v = parts_join(&g.values_out, got, out, p);
    for (size_t i = 0; i < bound; i++) {
        uint64_t value = 0;
        if (!there[i])
            continue;
        ck_assert_uint_eq((size_t)t_value(key_dtype, k, groups), i);
        memcpy(&value, v + groups++ * out, out);
        ck_assert_uint_eq(value, expected[i]);
    }
    for (int r = 0; r < p; r++)
        groups -= got[r];
    ck_assert_uint_eq(groups, 0);
    parts_free(&g.keys, p), parts_free(&g.values, p), parts_free(&g.keys_out, p);
    parts_free(&g.values_out, p), parts_free(&g.counts, p);
    free(keys), free(values), free(k), free(v);
}

START_TEST(test_dist_group_by_is_the_group_by_of_one_rank)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < 24; round++)
        check_groups(&group, t_dtypes[round % T_DTYPE_COUNT], round, &state);
    ranks_free(&group);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_counts");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_dist_histogram_is_the_histogram_of_one_rank, 0, RANK_COUNTS);
    tcase_add_loop_test(c, test_dist_top_k_is_the_top_k_of_one_rank, 0, RANK_COUNTS);
    tcase_add_loop_test(c, test_dist_group_by_is_the_group_by_of_one_rank, 0, RANK_COUNTS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
