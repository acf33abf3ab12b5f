/* SPDX-License-Identifier: MIT */
/* Ranks that do not agree, or have wrong arguments: every rank gets the same status, and then all
 * can go on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

enum { P = 3, N = 600 };

static gp_status sort_call(struct rank_data *d, int r, gp_comm *comm, gp_dtype dtype,
                           const void *in)
{
    return gp_dist_sort(comm, NULL, dtype, GP_ASCENDING, in, d->s.n[r], d->out.of[r].data, NULL);
}

static gp_status sort_rank(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    return sort_call(d, r, comm, GP_U32, d->in.of[r].data);
}

/* ---- ranks that do not agree ----------------------------------------------------------------- */

static gp_status other_function(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    gp_reduce_desc desc = GP_REDUCE_DESC_INIT;
    desc.in_dtype = GP_U32;
    return r == 2 ? gp_dist_reduce(comm, &desc, d->in.of[r].data, d->s.n[r], d->out.of[r].data)
                  : sort_rank(arg, r, comm);
}

static gp_status other_dtype(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    return sort_call(d, r, comm, r == 1 ? GP_F32 : GP_U32, d->in.of[r].data);
}

static gp_status other_order(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    return gp_dist_sort(comm, NULL, GP_U32, r == 0 ? GP_DESCENDING : GP_ASCENDING, d->in.of[r].data,
                        d->s.n[r], d->out.of[r].data, NULL);
}

static gp_status other_result(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    gp_dist_desc desc = GP_DIST_DESC_INIT;
    desc.result = r == 1 ? GP_DIST_EVEN : GP_DIST_SAME;
    return gp_dist_sort(comm, &desc, GP_U32, GP_ASCENDING, d->in.of[r].data, d->s.n[r],
                        d->out.of[r].data, NULL);
}

static gp_status wrong_pointer(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    return sort_call(d, r, comm, GP_U32, r == 1 ? NULL : d->in.of[r].data);
}

static gp_status wrong_dtype(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    return sort_call(d, r, comm, r == 2 ? (gp_dtype)99 : GP_U32, d->in.of[r].data);
}

static gp_status no_room(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    gp_dist_desc desc = GP_DIST_DESC_INIT;
    desc.capacity = r == 2 ? d->s.n[r] - 1 : 0;
    return gp_dist_sort(comm, &desc, GP_U32, GP_ASCENDING, d->in.of[r].data, d->s.n[r],
                        d->out.of[r].data, NULL);
}

static gp_status counts_too_small(void *arg, int r, gp_comm *comm)
{
    static const uint64_t counts[P] = {1, 2, 3};
    struct rank_data *d = arg;
    gp_dist_desc desc = GP_DIST_DESC_INIT;
    desc.result = GP_DIST_COUNTS;
    desc.counts = counts;
    return gp_dist_rebalance(comm, &desc, 4, d->in.of[r].data, d->s.n[r], d->out.of[r].data, NULL);
}

/* The counts in d->in are any numbers. */
static gp_status counts_not_n(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    return gp_dist_exchange(comm, 4, NULL, 0, d->in.of[r].data, d->out.of[r].data, d->s.n[r], NULL);
}

static gp_status k_too_large(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    gp_top_k_desc desc = GP_TOP_K_DESC_INIT;
    desc.dtype = GP_U8;
    return gp_dist_top_k(comm, &desc, d->in.of[r].data, d->s.n[r], N + 1, NULL, NULL);
}

static const struct disagreement {
    rank_fn *fn;
    gp_status status;
    int rank; /* of which the text tells; -1: any */
} disagreements[] = {
    {other_function, GP_ERROR_COLLECTIVE, 2}, {other_dtype, GP_ERROR_COLLECTIVE, 1},
    {other_order, GP_ERROR_COLLECTIVE, 1},    {other_result, GP_ERROR_COLLECTIVE, 1},
    {wrong_pointer, GP_ERROR_POINTER, 1},     {wrong_dtype, GP_ERROR_DTYPE, 2},
    {no_room, GP_ERROR_CAPACITY, 2},          {counts_too_small, GP_ERROR_CAPACITY, -1},
    {counts_not_n, GP_ERROR_DATA, -1},        {k_too_large, GP_ERROR_ARGUMENT, -1},
};
enum { DISAGREEMENTS = sizeof disagreements / sizeof disagreements[0] };

START_TEST(test_dist_ranks_that_disagree_all_get_the_status)
{
    const struct disagreement *x = &disagreements[_i];
    struct ranks group = ranks_new(P);
    struct rank_data d = rank_data_new(P, N);
    gp_status statuses[P];
    char text[20];
    snprintf(text, sizeof text, "rank %d", x->rank);
    ranks_run(&group, false, x->fn, &d, statuses);
    for (int r = 0; r < P; r++) {
        ck_assert_msg(statuses[r] == x->status, "rank %d: %s: %s", r, gp_status_string(statuses[r]),
                      gp_last_error(group.ctx[r]));
        ck_assert_int_eq(strncmp(gp_last_error(group.ctx[r]), "gp_dist_", 8), 0);
        if (x->rank >= 0 && x->rank != r)
            ck_assert_msg(strstr(gp_last_error(group.ctx[r]), text), "%s",
                          gp_last_error(group.ctx[r]));
        t_check_untouched(&d.out.of[r]);
    }
    ranks_ok(&group, true, sort_rank, &d); /* and they can go on */
    rank_data_free(&d);
    ranks_free(&group);
}
END_TEST

static int no_gather(void *user, const void *mine, size_t bytes, void *all, double seconds)
{
    return user || !mine || !bytes || !all || seconds > 0;
}

static int no_exchange(void *user, const void *send, const uint64_t *send_at,
                       const uint64_t *send_bytes, void *recv, const uint64_t *recv_at,
                       const uint64_t *recv_bytes, double seconds)
{
    return user || send || send_at || send_bytes || recv || recv_at || recv_bytes || seconds > 0;
}

/* ---- arguments ------------------------------------------------------------------------------- */

START_TEST(test_comm_create_errors)
{
    gp_context *c[2] = {t_ctx(), t_ctx()}, *none[2] = {t_ctx(), NULL};
    gp_comm *comm[2];
    gp_comm_ops ops = GP_COMM_OPS_INIT;
    T_STATUS(GP_ERROR_POINTER, gp_comm_create_local(NULL, 1, comm));
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_create_local(c, 0, comm));
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_create_local(c, GP_COMM_RANKS_MAX + 1, comm));
    T_STATUS(GP_ERROR_POINTER, gp_comm_create_local(c, 1, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_create_local(c, 2, comm));
    T_STATUS(GP_ERROR_POINTER, gp_comm_create_local(none, 2, comm));
    ck_assert_ptr_null(comm[0]);
    T_STATUS(GP_ERROR_POINTER, gp_comm_create(NULL, &ops, comm));
    T_STATUS(GP_ERROR_POINTER, gp_comm_create(t_ctx(), NULL, comm));
    T_STATUS(GP_ERROR_POINTER, gp_comm_create(t_ctx(), &ops, comm));
    ops.all_gather = no_gather;
    T_STATUS(GP_ERROR_POINTER, gp_comm_create(t_ctx(), &ops, comm));
    ops.exchange = no_exchange;
    T_STATUS(GP_ERROR_POINTER, gp_comm_create(t_ctx(), &ops, NULL));
    ops.rank = 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_create(t_ctx(), &ops, comm));
    ops.ranks = 0;
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_create(t_ctx(), &ops, comm));
    ops.ranks = 2;
    ops.reserved = 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_create(t_ctx(), &ops, comm));
    ops.size = 8;
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_create(t_ctx(), &ops, comm));
    ck_assert_ptr_null(comm[0]);
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_group_end());
    T_OK(gp_comm_group_begin());
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_group_begin());
    T_OK(gp_comm_group_end());
    T_STATUS(GP_ERROR_POINTER, gp_comm_set_timeout(NULL, 1));
    T_STATUS(GP_ERROR_POINTER, gp_comm_abort(NULL));
    gp_comm_destroy(NULL);
    T_OK(gp_comm_create_local(c, 1, comm));
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_set_timeout(comm[0], NAN));
    T_STATUS(GP_ERROR_ARGUMENT, gp_comm_synchronize(comm[0], NAN));
    T_OK(gp_comm_synchronize(comm[0], 10));
    ck_assert_ptr_eq(gp_comm_context(comm[0]), t_ctx());
    gp_comm_destroy(comm[0]);
}
END_TEST

START_TEST(test_dist_desc_errors)
{
    gp_context *ctx = t_ctx();
    t_array a = t_new(4096, 0);
    char *in = a.data, *out = in + 1024;
    uint64_t *count = (uint64_t *)(void *)(in + 2048);
    gp_comm *c;
    T_OK(gp_comm_create_local(&ctx, 1, &c));
    const gp_order up = GP_ASCENDING;
    uint64_t counts[1] = {8};
    gp_dist_desc d = GP_DIST_DESC_INIT;
    d.result = (gp_dist_result)4;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_sort(c, &d, GP_U32, up, in, 8, out, count));
    d.result = GP_DIST_COUNTS;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_sort(c, &d, GP_U32, up, in, 8, out, count));
    d.result = GP_DIST_EVEN, d.counts = counts;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_sort(c, &d, GP_U32, up, in, 8, out, count));
    d.counts = NULL, d.reserved = 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_sort(c, &d, GP_U32, up, in, 8, out, count));
    d.reserved = 0, d.capacity = ((uint64_t)1 << 40) + 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_sort(c, &d, GP_U32, up, in, 8, out, count));
    d.capacity = 0, d.size = 4;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_sort(c, &d, GP_U32, up, in, 8, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_dist_sort(NULL, NULL, GP_U32, up, in, 8, out, count));
    T_STATUS(GP_ERROR_DTYPE, gp_dist_sort(c, NULL, (gp_dtype)0, up, in, 8, out, count));
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_sort(c, NULL, GP_U32, (gp_order)2, in, 8, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_dist_sort(c, NULL, GP_U32, up, in + 1, 8, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_dist_sort(c, NULL, GP_U32, up, in, 8, NULL, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_dist_sort(c, NULL, GP_U32, up, in, 8, in + 4, count));
    T_STATUS(GP_ERROR_OVERLAP,
             gp_dist_sort(c, NULL, GP_U32, up, in, 8, out, (uint64_t *)(void *)out));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_dist_sort_pairs(c, NULL, GP_U32, up, in, 0, in + 512, 8, out, out + 512, count));
    T_STATUS(GP_ERROR_DTYPE, gp_dist_argsort(c, NULL, GP_U32, up, in, 8, GP_I32, out, count));
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_rebalance(c, NULL, 0, in, 8, out, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_dist_rebalance(c, NULL, 4, in, 8, in, count));
    T_STATUS(GP_ERROR_POINTER, gp_dist_exchange(c, 4, in, 8, NULL, out, 8, NULL));
    t_check_untouched(&a);
    t_free(&a);
    gp_comm_destroy(c);
}
END_TEST

START_TEST(test_dist_call_desc_errors)
{
    gp_context *ctx = t_ctx();
    t_array a = t_new(4096, 0);
    char *in = a.data, *out = in + 1024;
    uint64_t *count = (uint64_t *)(void *)(in + 2048);
    gp_comm *c;
    T_OK(gp_comm_create_local(&ctx, 1, &c));
    gp_reduce_desc r = GP_REDUCE_DESC_INIT;
    T_STATUS(GP_ERROR_POINTER, gp_dist_reduce(c, NULL, in, 8, out));
    T_STATUS(GP_ERROR_DTYPE, gp_dist_reduce(c, &r, in, 8, out));
    r.in_dtype = GP_F32, r.op = GP_XOR;
    T_STATUS(GP_ERROR_OP, gp_dist_reduce(c, &r, in, 8, out));
    r.op = GP_SUM, r.total = in;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_reduce(c, &r, in, 8, out));
    r.total = NULL;
    T_STATUS(GP_ERROR_OVERLAP, gp_dist_reduce(c, &r, in, 8, in));
    gp_scan_desc s = GP_SCAN_DESC_INIT;
    s.in_dtype = GP_U32, s.kind = GP_SCAN_ROW_POINTERS;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_scan(c, &s, NULL, in, 8, out));
    s.kind = GP_SCAN_INCLUSIVE, s.backward = 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_scan(c, &s, NULL, in, 8, out));
    s.backward = 0;
    T_STATUS(GP_ERROR_POINTER, gp_dist_scan(c, &s, in + 1, in, 8, out));
    gp_top_k_desc t = GP_TOP_K_DESC_INIT;
    t.dtype = GP_U32, t.index_dtype = GP_I32;
    T_STATUS(GP_ERROR_DTYPE, gp_dist_top_k(c, &t, in, 8, 2, out, out + 512));
    gp_dist_histogram_desc h = GP_DIST_HISTOGRAM_DESC_INIT;
    h.dtype = GP_U32, h.bins = 4;
    T_STATUS(GP_ERROR_POINTER, gp_dist_histogram(c, &h, in, 8, out));
    h.kind = (gp_dist_bins)0;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_histogram(c, &h, in, 8, out));
    h.kind = GP_DIST_BINS_WHOLE, h.dtype = GP_F32;
    T_STATUS(GP_ERROR_DTYPE, gp_dist_histogram(c, &h, in, 8, out));
    gp_compact_desc k = GP_COMPACT_DESC_INIT;
    k.item_bytes = 4, k.kind = GP_COMPACT_PARTITION;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_compact(c, NULL, &k, in, in + 512, 8, out, count));
    k.kind = GP_COMPACT_ITEMS, k.capacity = 3;
    T_STATUS(GP_ERROR_ARGUMENT, gp_dist_compact(c, NULL, &k, in, in + 512, 8, out, count));
    k.capacity = 0;
    T_STATUS(GP_ERROR_POINTER, gp_dist_compact(c, NULL, &k, in, in + 512, 8, out, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_dist_compact(c, NULL, &k, in, in + 512, 8, in, count));
    t_check_untouched(&a);
    t_free(&a);
    gp_comm_destroy(c);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_errors");
    TCase *c = t_case(s, "ranks");
    tcase_add_loop_test(c, test_dist_ranks_that_disagree_all_get_the_status, 0, DISAGREEMENTS);
    c = t_case(s, "arguments");
    tcase_add_test(c, test_comm_create_errors);
    tcase_add_test(c, test_dist_desc_errors);
    tcase_add_test(c, test_dist_call_desc_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
