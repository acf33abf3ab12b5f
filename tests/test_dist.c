/* SPDX-License-Identifier: MIT */
/* Reduce, scan, moves and compaction over ranks: every number of ranks and spread, as one rank
 * does it. */
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "ranks.h"

static const int rank_counts[] = {1, 2, 3, 5, 8, 16, 64};
enum { RANK_COUNTS = sizeof rank_counts / sizeof rank_counts[0] };

static const size_t ones[RANKS_MAX] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* ---- reduce and scan ------------------------------------------------------------------------- */

struct fold {
    gp_reduce_desc reduce;
    gp_scan_desc scan;
    struct shares s;
    struct parts in, out, one, known;
    bool with_known;
};

static gp_status reduce_rank(void *arg, int r, gp_comm *comm)
{
    struct fold *f = arg;
    return gp_dist_reduce(comm, &f->reduce, f->in.of[r].data, f->s.n[r], f->one.of[r].data);
}

static gp_status scan_rank(void *arg, int r, gp_comm *comm)
{
    struct fold *f = arg;
    const bool known = f->with_known && r % 3 != 1;
    return gp_dist_scan(comm, &f->scan, known ? f->known.of[r].data : NULL, f->in.of[r].data,
                        f->s.n[r], f->out.of[r].data);
}

/* The total of each rank's items, for those that know it. */
static struct parts totals_of(const struct fold *f, const char *host, size_t in, size_t out, int p)
{
    struct parts totals = parts_new(ones, out, p);
    gp_scan_desc d = f->scan;
    d.kind = GP_SCAN_INCLUSIVE;
    d.init = NULL;
    for (int r = 0; r < p; r++) {
        if (f->s.n[r] == 0)
            continue;
        char *all = oracle_scan(&d, host + f->s.first[r] * in, f->s.n[r]);
        t_put(&totals.of[r], all + (f->s.n[r] - 1) * out, out);
        free(all);
    }
    return totals;
}

/* out and one are what one rank gets of host. */
static void expect_fold(const struct fold *f, const char *host, size_t n, int p)
{
    const gp_op op = f->scan.op;
    const gp_dtype out = f->reduce.out_dtype ? f->reduce.out_dtype : f->reduce.in_dtype;
    const size_t bytes = gp_op_scalars(op) * gp_dtype_bytes(out);
    gp_scan_desc total = f->scan;
    void *expected = oracle_scan(&f->scan, host, n), *all = parts_join(&f->out, f->s.n, bytes, p);
    t_same("scan", out, expected, all, n * gp_op_scalars(op));
    free(expected), free(all);
    total.kind = GP_SCAN_EXCLUSIVE; /* of one item more the last is the total */
    char *sums = oracle_scan(&total, host, n + 1);
    all = parts_join(&f->one, ones, bytes, p);
    for (int r = 0; r < p; r++)
        t_same("total", out, sums + n * bytes, (char *)all + (size_t)r * bytes, gp_op_scalars(op));
    free(sums), free(all);
}

static void check_fold(struct ranks *group, gp_dtype in, gp_dtype out, gp_op op, int round,
                       uint64_t *state)
{
    const int p = group->count;
    const size_t n = t_random_below(state, round % 8 ? 3000 : 40000),
                 ib = gp_op_scalars(op) * gp_dtype_bytes(in),
                 ob = gp_op_scalars(op) * gp_dtype_bytes(out);
    struct fold f = {.reduce = GP_REDUCE_DESC_INIT,
                     .scan = t_scan_desc(GP_SCAN_INCLUSIVE, in, out, op)};
    char *host = oracle_scan_input(in, op, n + 1, state), init[32];
    f.scan.kind = round & 1 ? GP_SCAN_EXCLUSIVE : GP_SCAN_INCLUSIVE;
    f.reduce.in_dtype = in, f.reduce.out_dtype = out, f.reduce.op = op;
    if (in == out && round & 2) {
        memcpy(init, host + n * ib, ib); /* one more exact item */
        f.scan.init = f.reduce.init = init;
    }
    f.with_known = round & 4;
    f.s = shares_of((enum spread)(round % SPREADS), n, p, state);
    f.in = parts_from(host, &f.s, ib, p);
    f.out = parts_new(f.s.n, ob, p);
    f.one = parts_new(ones, ob, p);
    f.known = totals_of(&f, host, ib, ob, p);
    ranks_ok(group, round & 1, scan_rank, &f);
    ranks_ok(group, !(round & 1), reduce_rank, &f);
    expect_fold(&f, host, n, p);
    free(host);
    parts_free(&f.in, p), parts_free(&f.out, p), parts_free(&f.one, p), parts_free(&f.known, p);
}

START_TEST(test_dist_reduce_and_scan_are_those_of_one_rank)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    int round = 0;
    for (int d = 0; d < T_DTYPE_COUNT; d++)
        for (int o = 0; o < T_OP_COUNT; o++, round++)
            if (t_op_allowed(t_dtypes[d], t_ops[o]) && (group.count <= 8 || round % 5 == 0))
                check_fold(&group, t_dtypes[d], t_dtypes[d], t_ops[o], round, &state);
    for (int w = 0; w < T_WIDENING_COUNT; w++, round++)
        check_fold(&group, t_widening[w][0], t_widening[w][1], GP_SUM, round, &state);
    ranks_free(&group);
}
END_TEST

/* ---- captured ------------------------------------------------------------------------------ */

struct captured {
    struct fold f;
    bool as_one;             /* all ranks into one graph, */
    void *graphs[RANKS_MAX]; /* or each into its own */
};

static gp_status both_rank(void *arg, int r, gp_comm *comm)
{
    const gp_status s = scan_rank(arg, r, comm);
    return s == GP_OK ? reduce_rank(arg, r, comm) : s;
}

static void capture_both(struct ranks *group, struct captured *c, gp_status expected)
{
    gp_status statuses[RANKS_MAX];
    ranks_capture(group, c->as_one, both_rank, &c->f, c->graphs, statuses);
    for (int r = 0; r < group->count; r++)
        ck_assert_int_eq(statuses[r], expected);
}

/* Other items at the same places. */
static char *fill_parts(struct fold *f, size_t n, int p, uint64_t *state)
{
    char *host = oracle_scan_input(GP_I32, GP_SUM, n + 1, state);
    for (int r = 0; r < p; r++)
        t_put(&f->in.of[r], host + f->s.first[r] * 4, f->s.n[r] * 4);
    return host;
}

/* Replayed, and in turn with calls that are not, once they have made the workspace. */
static void check_captured(struct ranks *group, gp_scan_kind kind, bool as_one, uint64_t *state)
{
    const int p = group->count, graphs = as_one ? 1 : p;
    const size_t n = 1 + t_random_below(state, 5000);
    struct captured c = {
        .as_one = as_one,
        .f = {.reduce = GP_REDUCE_DESC_INIT, .scan = t_scan_desc(kind, GP_I32, GP_I32, GP_SUM)}};
    c.f.reduce.in_dtype = GP_I32;
    c.f.s = shares_of(SPREAD_UNEVEN, n, p, state);
    c.f.in = parts_new(c.f.s.n, 4, p), c.f.out = parts_new(c.f.s.n, 4, p);
    c.f.one = parts_new(ones, 4, p);
    for (int round = 0; round < 5; round++) {
        char *host = fill_parts(&c.f, n, p, state);
        if (round == 1)
            capture_both(group, &c, GP_OK);
        if (round % 2 == 0)
            ranks_ok(group, false, both_rank, &c.f);
        for (int r = 0; r < graphs && round % 2; r++)
            ranks_replay(group->ctx[r], c.graphs[r]);
        for (int r = 0; r < p; r++)
            T_OK(gp_context_synchronize(group->ctx[r]));
        expect_fold(&c.f, host, n, p);
        free(host);
    }
    for (int r = 0; r < graphs; r++)
        ranks_graph_free(c.graphs[r]);
    parts_free(&c.f.in, p), parts_free(&c.f.out, p), parts_free(&c.f.one, p);
}

/* With a GPU for each rank; those that share one have to be captured together. */
START_TEST(test_dist_reduce_and_scan_are_captured)
{
    if (!t_is_cuda())
        return;
    const int devices = t_device_count();
    uint64_t state = t_seed();
    struct ranks group = ranks_new(devices), twice = ranks_new(2 * devices);
    struct captured c = {.f = {.reduce = GP_REDUCE_DESC_INIT,
                               .scan = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM)}};
    for (int i = 0; i < 2; i++) {
        check_captured(&group, GP_SCAN_INCLUSIVE, i == 1, &state);
        check_captured(&group, GP_SCAN_EXCLUSIVE, i == 1, &state);
        check_captured(&twice, i ? GP_SCAN_INCLUSIVE : GP_SCAN_EXCLUSIVE, true, &state);
    }
    c.f.in = parts_new(ones, 4, 2 * devices), c.f.out = parts_new(ones, 4, 2 * devices);
    memcpy(c.f.s.n, ones, sizeof ones);
    capture_both(&twice, &c, GP_ERROR_UNSUPPORTED);
    for (int r = 0; r < 2 * devices; r++)
        ranks_graph_free(c.graphs[r]);
    parts_free(&c.f.in, 2 * devices), parts_free(&c.f.out, 2 * devices);
    ranks_free(&group), ranks_free(&twice);
}
END_TEST

/* ---- rebalance and exchange ------------------------------------------------------------------ */

struct move {
    gp_dist_desc desc;
    size_t item;
    struct shares s, want;
    size_t sent[RANKS_MAX], came[RANKS_MAX];
    struct parts in, out, counts, got;
};

static gp_status rebalance_rank(void *arg, int r, gp_comm *comm)
{
    struct move *m = arg;
    gp_dist_desc d = m->desc;
    d.capacity = m->out.of[r].bytes / m->item;
    return gp_dist_rebalance(comm, &d, m->item, m->in.of[r].data, m->s.n[r], m->out.of[r].data,
                             (uint64_t *)m->got.of[r].data);
}

static gp_status exchange_rank(void *arg, int r, gp_comm *comm)
{
    struct move *m = arg;
    return gp_dist_exchange(comm, m->item, m->in.of[r].data, m->s.n[r],
                            (const uint64_t *)m->counts.of[r].data, m->out.of[r].data, m->came[r],
                            r % 4 == 3 ? NULL : (uint64_t *)m->got.of[r].data);
}

static size_t one_more(size_t n)
{
    return n ? n : 1;
}

static void check_rebalance(struct ranks *group, int round, uint64_t *state)
{
    static const size_t items[] = {1, 2, 3, 4, 8, 12, 16, 100};
    const int p = group->count;
    const size_t n = t_random_below(state, 3000);
    struct move m = {.desc = GP_DIST_DESC_INIT, .item = items[t_random_below(state, 8)]};
    uint64_t counts[RANKS_MAX];
    size_t room[RANKS_MAX];
    char *host = t_host(n * m.item);
    t_fill_random(GP_U8, host, n * m.item, state);
    m.s = shares_of((enum spread)(round % SPREADS), n, p, state);
    m.desc.result = (gp_dist_result)t_random_below(state, 4);
    if (m.desc.result == GP_DIST_COUNTS) {
        const struct shares other =
            shares_of((enum spread)t_random_below(state, SPREADS), n, p, state);
        for (int r = 0; r < p; r++)
            counts[r] = other.n[r] + t_random_below(state, 3);
        m.desc.counts = counts;
    }
    m.want = m.desc.result == GP_DIST_FREE ? m.s : shares_wanted(&m.desc, &m.s, n, p);
    for (int r = 0; r < p; r++)
        room[r] = one_more(m.want.n[r]);
    m.in = parts_from(host, &m.s, m.item, p);
    m.out = parts_new(room, m.item, p);
    m.got = parts_new(ones, 8, p);
    ranks_ok(group, round & 1, rebalance_rank, &m);
    void *all = parts_join(&m.out, m.want.n, m.item, p);
    t_same_bytes("items", host, all, n * m.item);
    for (int r = 0; r < p; r++)
        ck_assert_uint_eq(t_get_u64(&m.got.of[r]), m.want.n[r]);
    parts_free(&m.in, p), parts_free(&m.out, p), parts_free(&m.got, p);
    free(all), free(host);
}

START_TEST(test_dist_rebalance_keeps_the_order)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < 40; round++)
        check_rebalance(&group, round, &state);
    ranks_free(&group);
}
END_TEST

/* Item j that r sends to q is known by its value. */
static uint32_t tag(int r, int q, size_t j)
{
    return (uint32_t)r << 24 | (uint32_t)q << 16 | (uint32_t)j;
}

static void check_exchange(struct ranks *group, int round, uint64_t *state)
{
    const int p = group->count;
    struct move m = {.item = 4};
    uint64_t counts[RANKS_MAX][RANKS_MAX];
    size_t rows[RANKS_MAX];
    for (int r = 0; r < p; r++) {
        rows[r] = (size_t)p;
        for (int q = 0; q < p; q++) {
            counts[r][q] = t_random_below(state, 3) ? t_random_below(state, 90) : 0;
            m.s.n[r] += counts[r][q];
            m.came[q] += counts[r][q];
        }
    }
    m.in = parts_new(m.s.n, 4, p), m.out = parts_new(m.came, 4, p);
    m.counts = parts_new(rows, 8, p), m.got = parts_new(rows, 8, p);
    for (int r = 0; r < p; r++) {
        uint32_t *host = t_host(m.s.n[r] * 4), *next = host;
        for (int q = 0; q < p; q++)
            for (size_t j = 0; j < counts[r][q]; j++)
                *next++ = tag(r, q, j);
        t_put(&m.in.of[r], host, m.s.n[r] * 4);
        t_put(&m.counts.of[r], counts[r], (size_t)p * 8);
        free(host);
    }
    ranks_ok(group, round & 1, exchange_rank, &m);
    for (int q = 0; q < p; q++) {
        uint64_t came[RANKS_MAX];
        uint32_t *all = t_host(m.came[q] * 4), *next = all;
        t_get(&m.out.of[q], all, m.came[q] * 4);
        t_get(&m.got.of[q], came, (size_t)p * 8);
        for (int r = 0; r < p; r++) {
            ck_assert(q % 4 == 3 || came[r] == counts[r][q]);
            for (size_t j = 0; j < counts[r][q]; j++)
                ck_assert_uint_eq(*next++, tag(r, q, j));
        }
        t_check_guards(&m.out.of[q]);
        free(all);
    }
    parts_free(&m.in, p), parts_free(&m.out, p), parts_free(&m.counts, p), parts_free(&m.got, p);
}

START_TEST(test_dist_exchange_sends_what_counts_say)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < 6; round++)
        check_exchange(&group, round, &state);
    ranks_free(&group);
}
END_TEST

/* ---- compaction ------------------------------------------------------------------------------ */

struct compaction {
    gp_dist_desc dist;
    gp_compact_desc desc;
    size_t out_bytes;
    struct shares s;
    struct parts in, keep, out, got;
};

static gp_status compact_rank(void *arg, int r, gp_comm *comm)
{
    struct compaction *c = arg;
    gp_dist_desc d = c->dist;
    d.capacity = c->out.of[r].bytes / c->out_bytes;
    return gp_dist_compact(comm, &d, &c->desc, c->in.of[r].data,
                           c->desc.compare ? NULL : c->keep.of[r].data, c->s.n[r],
                           c->out.of[r].data, (uint64_t *)c->got.of[r].data);
}

/* What is kept, as items or as places; of each rank to kept. */
static void *kept_of(const struct compaction *c, const uint32_t *items, const uint8_t *keep, int p,
                     size_t *kept)
{
    char *all = t_host(8 * (c->s.first[p - 1] + c->s.n[p - 1])), *next = all;
    const bool places = c->desc.kind == GP_COMPACT_INDICES;
    for (int r = 0; r < p; r++) {
        kept[r] = 0;
        for (size_t i = c->s.first[r]; i < c->s.first[r] + c->s.n[r]; i++) {
            const uint64_t place = i;
            if (c->desc.compare ? items[i] >= 500 : !keep[i])
                continue;
            memcpy(next, places ? (const void *)&place : &items[i], c->out_bytes);
            next += c->out_bytes;
            kept[r]++;
        }
    }
    return all;
}

static void check_compact(struct ranks *group, int round, uint64_t *state)
{
    static const uint32_t limit = 500;
    const int p = group->count;
    const size_t n = t_random_below(state, 3000);
    struct compaction c = {.dist = GP_DIST_DESC_INIT, .desc = GP_COMPACT_DESC_INIT, .out_bytes = 4};
    uint32_t *items = t_host(n * 4);
    uint8_t *keep = t_host(n);
    size_t kept[RANKS_MAX], room[RANKS_MAX], total = 0;
    const uint64_t share = t_random_below(state, 3); /* none, half or all */
    t_fill_small(GP_U32, items, n, 1000, state);
    for (size_t i = 0; i < n; i++)
        keep[i] = (uint8_t)(share == 1 ? t_random_below(state, 2) : share);
    c.desc.item_bytes = 4;
    if (round % 3 == 0)
        c.desc.compare = GP_LT, c.desc.dtype = GP_U32, c.desc.value = &limit;
    if (round % 2)
        c.desc.kind = GP_COMPACT_INDICES, c.desc.index_dtype = round & 2 ? GP_U32 : GP_U64;
    c.out_bytes = c.desc.kind == GP_COMPACT_INDICES && !(round & 2) ? 8 : 4;
    c.s = shares_of((enum spread)(round % SPREADS), n, p, state);
    c.dist.result = (gp_dist_result)(round / 2 % 3);
    char *all = kept_of(&c, items, keep, p, kept);
    for (int r = 0; r < p; r++)
        total += kept[r];
    const struct shares want = shares_wanted(&c.dist, &c.s, total, p);
    for (int r = 0; r < p; r++) {
        kept[r] = c.dist.result == GP_DIST_FREE ? kept[r] : want.n[r];
        room[r] = round & 8 ? one_more(c.s.n[r] > kept[r] ? c.s.n[r] : kept[r]) : one_more(kept[r]);
    }
    c.in = parts_from(items, &c.s, 4, p), c.keep = parts_from(keep, &c.s, 1, p);
    c.out = parts_new(room, c.out_bytes, p), c.got = parts_new(ones, 8, p);
    ranks_ok(group, round & 4, compact_rank, &c);
    void *actual = parts_join(&c.out, kept, c.out_bytes, p);
    t_same_bytes("kept", all, actual, total * c.out_bytes);
    for (int r = 0; r < p; r++)
        ck_assert_uint_eq(t_get_u64(&c.got.of[r]), kept[r]);
    parts_free(&c.in, p), parts_free(&c.keep, p), parts_free(&c.out, p), parts_free(&c.got, p);
    free(items), free(keep), free(all), free(actual);
}

START_TEST(test_dist_compact_is_the_compaction_of_one_rank)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < (group.count > 8 ? 24 : 48); round++)
        check_compact(&group, round, &state);
    ranks_free(&group);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_dist_reduce_and_scan_are_those_of_one_rank, 0, RANK_COUNTS);
    tcase_add_test(c, test_dist_reduce_and_scan_are_captured);
    tcase_add_loop_test(c, test_dist_rebalance_keeps_the_order, 0, RANK_COUNTS);
    tcase_add_loop_test(c, test_dist_exchange_sends_what_counts_say, 0, RANK_COUNTS);
    tcase_add_loop_test(c, test_dist_compact_is_the_compaction_of_one_rank, 0, RANK_COUNTS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
