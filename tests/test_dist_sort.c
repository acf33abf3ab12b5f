/* SPDX-License-Identifier: MIT */
/* Sorts over ranks: every number of ranks, spread, distribution, dtype and result, bit for bit as
 * one rank sorts. */
#include "radixsort_distributions.h"
#include "ranks.h"

static const int rank_counts[] = {1, 2, 3, 5, 8, 16, 64};
enum { RANK_COUNTS = sizeof rank_counts / sizeof rank_counts[0] };

/* One sort of all ranks. */
struct sort {
    gp_dist_desc desc;
    gp_dtype dtype;
    gp_order order;
    size_t value_bytes; /* 0: keys alone */
    bool indices;       /* a gp_dist_argsort() */
    bool in_place;
    struct shares given;
    struct parts keys, values, keys_out, values_out, counts;
};

static gp_status sort_rank(void *arg, int r, gp_comm *comm)
{
    struct sort *s = arg;
    gp_dist_desc d = s->desc;
    void *keys = s->keys.of[r].data, *values = s->values.of[r].data;
    void *keys_out = s->in_place ? keys : s->keys_out.of[r].data;
    void *values_out = s->in_place ? values : s->values_out.of[r].data;
    const size_t key = gp_dtype_bytes(s->dtype), n = s->given.n[r];
    uint64_t *count = s->counts.of[r].data;
    d.capacity = s->in_place  ? 0
                 : s->indices ? s->values_out.of[r].bytes / s->value_bytes
                              : s->keys_out.of[r].bytes / key;
    if (s->indices)
        return gp_dist_argsort(comm, &d, s->dtype, s->order, keys, n,
                               s->value_bytes == 4 ? GP_U32 : GP_U64, values_out, count);
    if (s->value_bytes)
        return gp_dist_sort_pairs(comm, &d, s->dtype, s->order, keys, s->value_bytes, values, n,
                                  keys_out, values_out, count);
    return gp_dist_sort(comm, &d, s->dtype, s->order, keys, n, keys_out, count);
}

/* What each rank got: as the descriptor says; as it falls, evenly but for equal keys. */
static void get_counts(const struct sort *s, const void *keys, size_t n, int ranks, size_t *got)
{
    const struct shares want = shares_wanted(&s->desc, &s->given, n, ranks);
    size_t total = 0;
    for (int r = 0; r < ranks; r++) {
        got[r] = (size_t)t_get_u64(&s->counts.of[r]);
        total += got[r];
        if (s->desc.result != GP_DIST_FREE)
            ck_assert_uint_eq(got[r], want.n[r]);
        else if (total > 0 && total < n)
            ck_assert(oracle_word(s->dtype, keys, total - 1) != oracle_word(s->dtype, keys, total));
    }
    ck_assert_uint_eq(total, n);
}

static void make(struct sort *s, const void *keys, const void *values, size_t n, int ranks)
{
    const size_t key = gp_dtype_bytes(s->dtype);
    const bool wide = s->desc.result == GP_DIST_FREE;
    const struct shares want = shares_wanted(&s->desc, &s->given, n, ranks);
    size_t room[RANKS_MAX], one[RANKS_MAX];
    for (int r = 0; r < ranks; r++) {
        room[r] = wide ? n : want.n[r] ? want.n[r] : 1; /* a capacity of 0 is not none */
        one[r] = 1;
    }
    s->keys = parts_from(keys, &s->given, key, ranks);
    s->values = parts_from(values, &s->given, s->value_bytes, ranks);
    s->keys_out = parts_new(room, key, ranks);
    s->values_out = parts_new(room, s->value_bytes, ranks);
    s->counts = parts_new(one, 8, ranks);
}

/* Values that tell where they came from; of an argsort they are that. */
static void *made_values(const struct sort *s, size_t n)
{
    void *v = values_new(n, s->value_bytes);
    for (size_t i = 0; i < n && s->indices; i++)
        if (s->value_bytes == 4)
            ((uint32_t *)v)[i] = (uint32_t)i;
        else
            ((uint64_t *)v)[i] = i;
    return v;
}

/* What all ranks have got is what one rank would get. */
static void expect_sorted(const struct sort *s, const void *keys, const void *values, size_t n,
                          int ranks)
{
    const size_t key = gp_dtype_bytes(s->dtype);
    size_t got[RANKS_MAX];
    size_t *order = oracle_argsort(s->dtype, keys, n, s->order == GP_DESCENDING, 0, 0);
    void *keys_sorted = oracle_pick(keys, key, order, n);
    void *values_sorted = oracle_pick(values, s->value_bytes, order, n);
    get_counts(s, keys_sorted, n, ranks, got);
    if (!s->indices) {
        void *all = parts_join(s->in_place ? &s->keys : &s->keys_out, got, key, ranks);
        if (s->value_bytes || !t_is_float(s->dtype))
            t_same_bytes("keys", keys_sorted, all, n * key);
        else
            t_same("keys", s->dtype, keys_sorted, all, n);
        free(all);
    }
    if (s->value_bytes) {
        void *all =
            parts_join(s->in_place ? &s->values : &s->values_out, got, s->value_bytes, ranks);
        t_same_bytes("values", values_sorted, all, n * s->value_bytes);
        free(all);
    }
    free(order), free(keys_sorted), free(values_sorted);
}

static void clear(struct sort *s, int ranks)
{
    parts_free(&s->keys, ranks), parts_free(&s->values, ranks), parts_free(&s->keys_out, ranks);
    parts_free(&s->values_out, ranks), parts_free(&s->counts, ranks);
}

static void check_ranks(struct ranks *group, struct sort *s, const void *keys, size_t n,
                        bool together)
{
    void *values = made_values(s, n);
    make(s, keys, values, n, group->count);
    ranks_ok(group, together, sort_rank, s);
    expect_sorted(s, keys, values, n, group->count);
    clear(s, group->count);
    free(values);
}

/* Keys of a distribution, or any bits at all. */
static void *keys_of(enum kind kind, gp_dtype dtype, size_t n, uint64_t *state)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    if (bytes >= 4 && kind < KINDS)
        return keys_new(kind, n, 8 * (int)bytes);
    void *keys = t_host(n * bytes);
    if (kind == EQUAL)
        memset(keys, 3, n * bytes);
    else if (kind == FEW_VALUES || kind == TWO_VALUES)
        t_fill_small(dtype, keys, n, 3, state);
    else if (kind == MOST_EQUAL)
        t_fill_special(dtype, keys, n, state);
    else
        t_fill_bits(dtype, keys, n, state);
    return keys;
}

/* Few, or more than every rank sorts by itself. */
static size_t keys_in_all(int round, uint64_t *state)
{
    const size_t most = t_is_cuda() ? (size_t)1 << 17 : (size_t)1 << 12;
    if (round % (t_is_cuda() ? 6 : 2) != 1) /* the other way takes the oracle longer */
        return t_random_below(state, t_random_below(state, 4) ? 3000 : 7);
    return most + t_random_below(state, 2000);
}

static void any_sort(struct ranks *group, gp_dtype dtype, int round, uint64_t *state)
{
    static const size_t widths[] = {0, 4, 8, 0, 3, 16, 1};
    const enum kind kind = (enum kind)t_random_below(state, KINDS);
    const size_t n = keys_in_all(round, state);
    uint64_t counts[RANKS_MAX];
    struct sort s = {.desc = GP_DIST_DESC_INIT, .dtype = dtype};
    void *keys = keys_of(kind, dtype, n, state);
    s.given = shares_of((enum spread)(round % SPREADS), n, group->count, state);
    s.order = round & 1 ? GP_DESCENDING : GP_ASCENDING;
    s.desc.result = (gp_dist_result)t_random_below(state, 4);
    s.indices = t_random_below(state, 4) == 0;
    s.value_bytes = s.indices ? 4 + 4 * t_random_below(state, 2) : widths[t_random_below(state, 7)];
    s.in_place = s.desc.result == GP_DIST_SAME && !s.indices && t_random_below(state, 2);
    if (s.desc.result == GP_DIST_COUNTS) {
        const struct shares other = shares_of(SPREAD_UNEVEN, n, group->count, state);
        for (int r = 0; r < group->count; r++)
            counts[r] = other.n[r];
        s.desc.counts = counts;
    }
    check_ranks(group, &s, keys, n, t_random_below(state, 2) == 0);
    free(keys);
}

START_TEST(test_dist_sort_is_the_sort_of_one_rank)
{
    const int count = rank_counts[_i % RANK_COUNTS], rounds = count > 8 ? 4 : 14;
    struct ranks group = ranks_new(count);
    for (int d = 0; d < T_DTYPE_COUNT; d++) {
        uint64_t state = t_seed() + 1000 * (uint64_t)_i + (uint64_t)d;
        for (int round = 0; round < rounds; round++)
            any_sort(&group, t_dtypes[d], round + d, &state);
    }
    ranks_free(&group);
}
END_TEST

/* Where no rank sees the memory of another, and every piece is sent. */
START_TEST(test_dist_sort_of_keys_that_are_sent)
{
    static const int counts[] = {2, 3, 5, 8};
    struct ranks group = ranks_wired(counts[_i]);
    for (int d = 0; d < T_DTYPE_COUNT; d++) {
        uint64_t state = t_seed() + 77 * (uint64_t)_i + (uint64_t)d;
        for (int round = 0; round < 5; round++)
            any_sort(&group, t_dtypes[d], round + d, &state);
    }
    ranks_free(&group);
}
END_TEST

/* Longer than what one thread, one tile, or one part of a copy takes. */
START_TEST(test_dist_sort_of_many_keys)
{
    const size_t n = t_at_most(1500000);
    uint64_t state = t_seed();
    struct ranks group = ranks_new(3);
    for (int i = 0; i < 6; i++) {
        const gp_dtype dtype = i % 3 == 0 ? GP_U32 : i % 3 == 1 ? GP_F64 : GP_U16;
        struct sort s = {.desc = GP_DIST_DESC_INIT, .dtype = dtype, .value_bytes = i < 3 ? 4 : 0};
        void *keys = keys_of(i % 2 ? BELL : EVEN, dtype, n, &state);
        s.given = shares_of((enum spread)(i % SPREADS), n, 3, &state);
        s.desc.result = (gp_dist_result)(i % 3);
        check_ranks(&group, &s, keys, n, i & 1);
        free(keys);
    }
    ranks_free(&group);
}
END_TEST

/* ---- captured -------------------------------------------------------------------------------- */

/* All ranks into one graph, or each into its own. */
struct captured {
    struct sort s;
    bool as_one;
    void *graphs[RANKS_MAX];
};

static void capture(struct ranks *group, struct captured *c, gp_status expected)
{
    gp_status statuses[RANKS_MAX];
    ranks_capture(group, c->as_one, sort_rank, &c->s, c->graphs, statuses);
    for (int r = 0; r < group->count; r++)
        ck_assert_msg(statuses[r] == expected, "rank %d: %s: %s", r, gp_status_string(statuses[r]),
                      gp_last_error(group->ctx[r]));
}

static void graphs_free(const struct captured *c, int ranks)
{
    for (int r = 0; r < (c->as_one ? 1 : ranks); r++)
        ranks_graph_free(c->graphs[r]);
}

static void replay(struct ranks *group, struct captured *c)
{
    T_OK(gp_context_synchronize(t_ctx()));
    for (int r = 0; r < (c->as_one ? 1 : group->count); r++)
        ranks_replay(group->ctx[r], c->graphs[r]);
    for (int r = 0; r < group->count; r++)
        T_OK(gp_context_synchronize(group->ctx[r]));
}

/* Other keys at the same places in each round, and in turn with calls that are not captured. */
static void check_captured(struct ranks *group, struct captured *c, size_t n, uint64_t *state)
{
    static const enum kind kinds[] = {EVEN, BELL, EQUAL, FEW_VALUES, EVEN};
    struct sort *s = &c->s;
    const int ranks = group->count;
    const size_t key = gp_dtype_bytes(s->dtype);
    void *values = made_values(s, n);
    for (int round = 0; round < 5; round++) {
        void *keys = keys_of(kinds[round], s->dtype, n, state);
        if (round == 0)
            make(s, keys, values, n, ranks);
        if (round == 1)
            capture(group, c, GP_OK);
        for (int r = 0; r < ranks; r++)
            t_put(&s->keys.of[r], (char *)keys + s->given.first[r] * key, s->given.n[r] * key);
        if (round % 2)
            replay(group, c);
        else
            ranks_ok(group, false, sort_rank, s);
        expect_sorted(s, keys, values, n, ranks);
        free(keys);
    }
    graphs_free(c, ranks);
    clear(s, ranks);
    free(values);
}

static void check_all_captured(int ranks, bool as_one)
{
    static const size_t sizes[] = {3000, (1 << 17) + 4567};
    struct ranks group = ranks_new(ranks);
    uint64_t state = t_seed() + (uint64_t)ranks;
    for (int i = 0; i < 12; i += (int)t_step(1)) {
        struct captured c = {.as_one = as_one, .s = {.desc = GP_DIST_DESC_INIT}};
        const size_t n = sizes[i % 2];
        c.s.dtype = i % 3 == 0 ? GP_U32 : i % 3 == 1 ? GP_I64 : GP_F32;
        c.s.order = i & 4 ? GP_DESCENDING : GP_ASCENDING;
        c.s.indices = i >= 8;
        c.s.value_bytes = i < 4 ? 0 : 4;
        c.s.desc.result = i & 2 ? GP_DIST_EVEN : GP_DIST_SAME;
        c.s.given = shares_of((enum spread)(i % SPREADS), n, ranks, &state);
        check_captured(&group, &c, n, &state);
    }
    ranks_free(&group);
}

START_TEST(test_dist_sort_captured_into_one_graph)
{
    static const int counts[] = {1, 2, 3, 5};
    if (t_is_cuda())
        check_all_captured(counts[_i], true);
}
END_TEST

START_TEST(test_dist_sort_captured_by_each_rank)
{
    if (t_is_cuda())
        check_all_captured(t_device_count(), false);
}
END_TEST

/* Ranks that share a GPU, each in its graph; and a result whose counts the keys decide. */
START_TEST(test_dist_sort_that_cannot_be_captured)
{
    if (!t_is_cuda())
        return;
    const int ranks = 2 * t_device_count();
    struct ranks group = ranks_new(ranks);
    uint64_t state = t_seed();
    for (int i = 0; i < 2; i++) {
        struct captured c = {.as_one = i == 1, .s = {.desc = GP_DIST_DESC_INIT, .dtype = GP_U32}};
        void *keys = keys_of(EVEN, GP_U32, 100, &state);
        c.s.given = shares_of(SPREAD_EVEN, 100, ranks, &state);
        c.s.desc.result = i == 1 ? GP_DIST_FREE : GP_DIST_SAME;
        make(&c.s, keys, NULL, 100, ranks);
        ranks_ok(&group, false, sort_rank, &c.s);
        capture(&group, &c, GP_ERROR_UNSUPPORTED);
        graphs_free(&c, ranks);
        ranks_ok(&group, false, sort_rank, &c.s);
        expect_sorted(&c.s, keys, NULL, 100, ranks);
        clear(&c.s, ranks);
        free(keys);
    }
    ranks_free(&group);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_sort");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_dist_sort_is_the_sort_of_one_rank, 0, RANK_COUNTS);
    tcase_add_loop_test(c, test_dist_sort_of_keys_that_are_sent, 0, 4);
    tcase_add_test(c, test_dist_sort_of_many_keys);
    c = t_case(s, "captured");
    tcase_add_loop_test(c, test_dist_sort_captured_into_one_graph, 0, 4);
    tcase_add_test(c, test_dist_sort_captured_by_each_rank);
    tcase_add_test(c, test_dist_sort_that_cannot_be_captured);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
