/* SPDX-License-Identifier: MIT */
/* Ranks of NCCL, one for each GPU; where NCCL is not, there is nothing to test. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "radixsort_oracle.h"
#include "ranks.h"
#include "steps.h"

static int (*init_all)(void **comms, int count, const int *devices);

/* ncclCommInitAll(): false, NCCL is not here. */
static bool find_nccl(void)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW);
    void *symbol = library ? dlsym(library, "ncclCommInitAll") : NULL;
    memcpy(&init_all, &symbol, sizeof symbol);
    return symbol != NULL;
}

struct sort {
    struct shares s;
    struct parts keys, values, keys_out, values_out;
};

static gp_status sort_rank(void *arg, int r, gp_comm *comm)
{
    struct sort *s = arg;
    return gp_dist_sort_pairs(comm, NULL, GP_F32, GP_DESCENDING, s->keys.of[r].data, 4,
                              s->values.of[r].data, s->s.n[r], s->keys_out.of[r].data,
                              s->values_out.of[r].data, NULL);
}

static gp_status other_dtype(void *arg, int r, gp_comm *comm)
{
    struct sort *s = arg;
    return gp_dist_sort(comm, NULL, r ? GP_U32 : GP_F32, GP_ASCENDING, s->keys.of[r].data,
                        s->s.n[r], s->keys_out.of[r].data, NULL);
}

static gp_status one_is_late(void *arg, int r, gp_comm *comm)
{
    return r == 0 ? GP_ERROR_COMM : sort_rank(arg, r, comm);
}

static void check_sort_of(struct ranks *group, struct sort *s, bool together)
{
    enum { N = 200000 };
    const int p = group->count;
    uint64_t state = t_seed() + (uint64_t)together;
    float *keys = t_host(N * 4);
    uint32_t *values = t_host(N * 4);
    t_fill_special(GP_F32, keys, N, &state);
    for (uint32_t i = 0; i < N; i++)
        values[i] = i;
    s->s = shares_of(SPREAD_UNEVEN, N, p, &state);
    s->keys = parts_from(keys, &s->s, 4, p), s->values = parts_from(values, &s->s, 4, p);
    s->keys_out = parts_new(s->s.n, 4, p), s->values_out = parts_new(s->s.n, 4, p);
    ranks_ok(group, together, sort_rank, s);
    size_t *order = oracle_argsort(GP_F32, keys, N, true, 0, 0);
    void *sorted = oracle_pick(values, 4, order, N),
         *all = parts_join(&s->values_out, s->s.n, 4, p);
    t_same_bytes("values", sorted, all, N * 4);
    free(keys), free(values), free(order), free(sorted), free(all);
}

static void free_sort(struct sort *s, int p)
{
    parts_free(&s->keys, p), parts_free(&s->values, p);
    parts_free(&s->keys_out, p), parts_free(&s->values_out, p);
}

/* ---- large sorts, and parts ------------------------------------------------------------------ */

struct large {
    struct steps of[RANKS_MAX];
    int ranks;
    bool pairs;
};

static gp_status large_rank(void *arg, int r, gp_comm *comm)
{
    struct large *l = arg;
    struct steps *s = &l->of[r];
    *s = (struct steps){
        .ctx = gp_comm_context(comm), .log_n = l->pairs ? 28 : 29, .pairs = l->pairs};
    steps_share(s, r, l->ranks);
    const gp_status e = steps_make(s);
    return e == GP_OK ? steps_sort(s, comm) : e;
}

/* 1 GB of each rank: groups of keys arrive while others are sorted, or one after the other. */
static void check_large(struct ranks *group, bool pairs)
{
    struct large l = {.ranks = group->count, .pairs = pairs};
    ranks_ok(group, false, large_rank, &l);
    for (int r = 0; r < group->count; r++) {
        ck_assert(steps_are_sorted(&l.of[r]));
        steps_free(&l.of[r]);
    }
}

struct folds {
    struct parts in, out, sum;
};

static gp_status fold_rank(void *arg, int r, gp_comm *comm)
{
    struct folds *x = arg;
    gp_scan_desc scan = GP_SCAN_DESC_INIT;
    gp_reduce_desc reduce = GP_REDUCE_DESC_INIT;
    scan.in_dtype = reduce.in_dtype = GP_U32;
    const gp_status e = gp_dist_scan(comm, &scan, NULL, x->in.of[r].data, 3, x->out.of[r].data);
    return e == GP_OK ? gp_dist_reduce(comm, &reduce, x->in.of[r].data, 3, x->sum.of[r].data) : e;
}

/* Parts go to NCCL out of the GPU's memory. */
static void check_folds(struct ranks *group)
{
    const int p = group->count;
    uint32_t in[3 * RANKS_MAX], out[3 * RANKS_MAX], sum = 0;
    struct shares s;
    size_t ones[RANKS_MAX];
    for (int i = 0; i < 3 * p; i++) {
        in[i] = (uint32_t)(i * i + 1);
        out[i] = sum += in[i];
    }
    for (int r = 0; r < p; r++)
        s.n[r] = 3, s.first[r] = 3 * (size_t)r, ones[r] = 1;
    struct folds x = {parts_from(in, &s, 4, p), parts_new(s.n, 4, p), parts_new(ones, 4, p)};
    ranks_ok(group, false, fold_rank, &x);
    void *all = parts_join(&x.out, s.n, 4, p);
    t_same("scan", GP_U32, out, all, 3 * (size_t)p);
    free(all);
    for (int r = 0; r < p; r++) {
        uint32_t one;
        t_get(&x.sum.of[r], &one, 4);
        ck_assert_uint_eq(one, sum);
    }
    parts_free(&x.in, p), parts_free(&x.out, p), parts_free(&x.sum, p);
}

/* Ranks that do not know whether they see each other's memory: nothing but NCCL moves data. */
static void keep_apart(struct ranks *group)
{
    for (int r = 0; r < group->count; r++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        gp_context_destroy(group->ctx[r]);
        o.backend = GP_BACKEND_CUDA, o.device = r, o.allocator = t_device_allocator();
        T_OK(gp_context_create(&group->ctx[r], &o));
    }
}

/* Once apart. */
START_TEST(test_dist_over_nccl)
{
    int devices[RANKS_MAX];
    void *nccl[RANKS_MAX];
    gp_status statuses[RANKS_MAX];
    struct sort s;
    const int p = t_is_cuda() ? t_device_count() : 0;
    if (p == 0 || !find_nccl())
        return;
    struct ranks group = ranks_new(p);
    for (int r = 0; r < p; r++) {
        devices[r] = r;
        gp_comm_destroy(group.comm[r]);
    }
    if (_i)
        keep_apart(&group);
    ck_assert_int_eq(init_all(nccl, p, devices), 0);
    for (int r = 0; r < p; r++) {
        T_OK(gp_comm_create_nccl(group.ctx[r], nccl[r], &group.comm[r]));
        T_OK(gp_comm_set_timeout(group.comm[r], RANKS_DEADLINE));
    }
    for (int together = 0; together < 2; together++) {
        check_sort_of(&group, &s, together);
        if (!together)
            free_sort(&s, p);
    }
    check_folds(&group);
    if (p > 1) {
        check_large(&group, _i);
        ranks_threads(group.comm, p, other_dtype, &s, statuses);
        for (int r = 0; r < p; r++)
            ck_assert_int_eq(statuses[r], GP_ERROR_COLLECTIVE);
        for (int r = 0; r < p; r++)
            T_OK(gp_comm_set_timeout(group.comm[r], 0.3));
        ranks_threads(group.comm, p, one_is_late, &s, statuses);
        for (int r = 0; r < p; r++)
            ck_assert_int_eq(statuses[r], GP_ERROR_COMM);
    }
    free_sort(&s, p);
    ranks_free(&group);
}
END_TEST

START_TEST(test_comm_create_nccl_errors)
{
    gp_comm *comm;
    int dummy = 0;
    T_STATUS(GP_ERROR_POINTER, gp_comm_create_nccl(NULL, &dummy, &comm));
    T_STATUS(t_is_cuda() ? GP_ERROR_POINTER : GP_ERROR_ARGUMENT,
             gp_comm_create_nccl(t_ctx(), NULL, &comm));
    ck_assert_ptr_null(comm);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_nccl");
    TCase *c = t_case(s, "nccl");
    tcase_add_loop_test(c, test_dist_over_nccl, 0, 2);
    tcase_add_test(c, test_comm_create_nccl_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
