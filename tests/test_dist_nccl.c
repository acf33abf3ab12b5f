/* SPDX-License-Identifier: MIT */
/* Ranks of NCCL, one for each GPU; where NCCL is not, there is nothing to test. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "radixsort_oracle.h"
#include "ranks.h"

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
    ck_assert_int_eq(init_all(nccl, p, devices), 0);
    for (int r = 0; r < p; r++)
        T_OK(gp_comm_create_nccl(group.ctx[r], nccl[r], &group.comm[r]));
    for (int together = 0; together < 2; together++) {
        check_sort_of(&group, &s, together);
        if (!together)
            free_sort(&s, p);
    }
    if (p > 1) {
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
    tcase_add_test(c, test_dist_over_nccl);
    tcase_add_test(c, test_comm_create_nccl_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
