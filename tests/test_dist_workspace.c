/* SPDX-License-Identifier: MIT */
/* What calls over ranks take is what their _workspace_bytes() say: ranks on CPUs that have reserved
 * that much allocate no more. */
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

enum { RANKS = 5, ITEMS = 6000, ROOM = 3 * ITEMS, ROWS = 500, K = 70, BINS = 300 };

/* The arrays of a rank, and what its context has allocated. */
struct place {
    long allocations;
    size_t n;
    uint32_t keys[ITEMS], values[ITEMS], out[ROOM], more[ROOM], pointers[ROWS + 1];
    uint64_t wide[ROOM], counts[RANKS + 1], first[RANKS + 1];
};

static void *allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    struct place *p = user;
    (void)stream;
    p->allocations++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)user, (void)bytes, (void)stream;
    free(memory);
}

/* ---- calls: the bytes, or the call itself ---------------------------------------------------- */

struct call {
    struct place *place;
    int ranks;
    size_t total;
};

typedef gp_status call_fn(const struct call *c, const struct place *p, struct place *q,
                          gp_comm *comm, const gp_target *t, size_t *bytes);

static gp_status reduce(const struct call *c, const struct place *p, struct place *q, gp_comm *comm,
                        const gp_target *t, size_t *bytes)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = GP_F32;
    return t ? gp_dist_reduce_workspace_bytes(t, c->ranks, &d, p->n, bytes)
             : gp_dist_reduce(comm, &d, p->keys, p->n, q->out);
}

static gp_status scan(const struct call *c, const struct place *p, struct place *q, gp_comm *comm,
                      const gp_target *t, size_t *bytes)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    return t ? gp_dist_scan_workspace_bytes(t, c->ranks, &d, p->n, bytes)
             : gp_dist_scan(comm, &d, NULL, p->keys, p->n, q->out);
}

static gp_status sort(const struct call *c, const struct place *p, struct place *q, gp_comm *comm,
                      const gp_target *t, size_t *bytes)
{
    return t ? gp_dist_sort_workspace_bytes(t, c->ranks, GP_U32, 0, p->n, p->n, c->total, bytes)
             : gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, p->keys, p->n, q->out, NULL);
}

static gp_status sort_floats(const struct call *c, const struct place *p, struct place *q,
                             gp_comm *comm, const gp_target *t, size_t *bytes)
{
    return t ? gp_dist_sort_workspace_bytes(t, c->ranks, GP_F32, 4, p->n, p->n, c->total, bytes)
             : gp_dist_sort_pairs(comm, NULL, GP_F32, GP_DESCENDING, p->keys, 4, p->values, p->n,
                                  q->out, q->more, NULL);
}

static gp_status argsort(const struct call *c, const struct place *p, struct place *q,
                         gp_comm *comm, const gp_target *t, size_t *bytes)
{
    return t ? gp_dist_argsort_workspace_bytes(t, c->ranks, GP_U32, GP_U64, p->n, p->n, c->total,
                                               bytes)
             : gp_dist_argsort(comm, NULL, GP_U32, GP_ASCENDING, p->keys, p->n, GP_U64, q->wide,
                               NULL);
}

static gp_status top_k(const struct call *c, const struct place *p, struct place *q, gp_comm *comm,
                       const gp_target *t, size_t *bytes)
{
    gp_top_k_desc d = GP_TOP_K_DESC_INIT;
    d.dtype = GP_U32, d.order = GP_DESCENDING, d.index_dtype = GP_U64;
    return t ? gp_dist_top_k_workspace_bytes(t, c->ranks, &d, p->n, K, bytes)
             : gp_dist_top_k(comm, &d, p->keys, p->n, K, q->out, q->wide);
}

static gp_status group_by(const struct call *c, const struct place *p, struct place *q,
                          gp_comm *comm, const gp_target *t, size_t *bytes)
{
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = d.in_dtype = GP_U32;
    d.capacity = ROOM;
    return t ? gp_dist_group_by_workspace_bytes(t, c->ranks, &d, p->n, c->total, bytes)
             : gp_dist_group_by(comm, &d, p->keys, p->values, p->n, q->out, q->more, q->counts);
}

static gp_status histogram(const struct call *c, const struct place *p, struct place *q,
                           gp_comm *comm, const gp_target *t, size_t *bytes)
{
    gp_dist_histogram_desc d = GP_DIST_HISTOGRAM_DESC_INIT;
    d.kind = GP_DIST_BINS_WHOLE, d.dtype = GP_U32, d.bins = BINS;
    return t ? gp_dist_histogram_workspace_bytes(t, c->ranks, &d, p->n, bytes)
             : gp_dist_histogram(comm, &d, p->keys, p->n, q->wide);
}

static gp_status compact(const struct call *c, const struct place *p, struct place *q,
                         gp_comm *comm, const gp_target *t, size_t *bytes)
{
    static const uint32_t limit = ROWS / 2;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.compare = GP_LT, d.dtype = GP_U32, d.value = &limit;
    return t ? gp_dist_compact_workspace_bytes(t, c->ranks, &d, p->n, bytes)
             : gp_dist_compact(comm, NULL, &d, p->keys, NULL, p->n, q->out, q->counts);
}

static gp_status csr(const struct call *c, const struct place *p, struct place *q, gp_comm *comm,
                     const gp_target *t, size_t *bytes)
{
    const gp_coo_desc d = GP_COO_DESC_INIT;
    return t ? gp_dist_csr_from_coo_workspace_bytes(t, c->ranks, &d, ROWS, ROWS, p->n, ROOM, bytes)
             : gp_dist_csr_from_coo(comm, &d, ROWS, ROWS, p->keys, p->values, p->values, p->n,
                                    q->first, ROWS, q->pointers, ROOM, q->out, q->more, q->counts);
}

/* A halo keeps memory of its own, which is one allocation. */
static gp_status halo(const struct call *c, const struct place *p, struct place *q, gp_comm *comm,
                      const gp_target *t, size_t *bytes)
{
    enum { HERE = 50 }; /* rows of a rank */
    const float one = 1, zero = 0;
    gp_csr_desc d = GP_CSR_DESC_INIT;
    gp_dist_halo *h;
    d.index_dtype = d.offset_dtype = GP_U32, d.value_dtype = GP_F32;
    for (size_t i = 0; i <= HERE; i++)
        q->pointers[i] = (uint32_t)(i * p->n / HERE);
    for (int r = 0; r <= c->ranks; r++)
        q->first[r] = (uint64_t)(r * ROWS / c->ranks);
    if (t)
        return gp_dist_halo_workspace_bytes(t, c->ranks, &d, HERE, p->n, bytes);
    gp_status s = gp_dist_halo_create(comm, &d, q->first, HERE, p->n, q->pointers, p->keys, &h);
    if (s == GP_OK)
        s = gp_dist_spmv(h, p->values, &one, q->more, &zero, q->out);
    gp_dist_halo_destroy(h);
    return s;
}

static const struct {
    call_fn *fn;
    int kept; /* allocations beside the workspace */
} calls[] = {{reduce, 0},  {scan, 0},  {sort, 0},     {sort_floats, 0},
             {argsort, 0}, {top_k, 0}, {group_by, 0}, {histogram, 0},
             {compact, 0}, {csr, 0},   {halo, 1}};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- the test -------------------------------------------------------------------------------- */

struct run {
    struct call call;
    call_fn *fn;
};

static gp_status run_rank(void *arg, int r, gp_comm *comm)
{
    struct run *x = arg;
    struct place *p = &x->call.place[r];
    return x->fn(&x->call, p, p, comm, NULL, NULL);
}

static void fill(struct place *p, int r, size_t n)
{
    uint64_t state = t_seed() + (uint64_t)r;
    p->n = r == 1 ? n / 3 : n;
    t_fill_small(GP_U32, p->keys, ITEMS, ROWS, &state);
    t_fill_small(GP_U32, p->values, ITEMS, ROWS, &state);
}

/* More than a few keys are merged or split, some hundred sorted on every rank. */
static void check_call(call_fn *fn, int kept, int ranks, size_t n)
{
    const gp_target target = {sizeof target, GP_BACKEND_CPU, 0, 0, 2};
    struct run x = {{calloc((size_t)ranks, sizeof(struct place)), ranks, 0}, fn};
    struct ranks group = {.count = ranks};
    long before[RANKS];
    ck_assert_ptr_nonnull(x.call.place);
    for (int r = 0; r < ranks; r++) {
        fill(&x.call.place[r], r, n);
        x.call.total += x.call.place[r].n;
    }
    for (int r = 0; r < ranks; r++) {
        struct place *p = &x.call.place[r];
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        size_t bytes = 0;
        o.backend = GP_BACKEND_CPU, o.threads = 2;
        o.allocator = (gp_allocator){p, allocate, release};
        T_OK(gp_context_create(&group.ctx[r], &o));
        T_OK(fn(&x.call, p, p, NULL, &target, &bytes));
        T_OK(gp_context_reserve(group.ctx[r], bytes));
        before[r] = p->allocations;
    }
    T_OK(gp_comm_create_local(group.ctx, ranks, group.comm));
    ranks_ok(&group, false, run_rank, &x);
    for (int r = 0; r < ranks; r++)
        ck_assert_int_eq(before[r] + kept, x.call.place[r].allocations);
    ranks_free(&group);
    free(x.call.place);
}

START_TEST(test_dist_calls_allocate_no_more_than_reserved)
{
    for (int ranks = 1; ranks <= RANKS; ranks++) {
        check_call(calls[_i].fn, calls[_i].kept, ranks, ITEMS);
        check_call(calls[_i].fn, calls[_i].kept, ranks, 100);
    }
}
END_TEST

START_TEST(test_dist_workspace_bytes_refuse_ranks)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    size_t bytes = 7;
    d.in_dtype = GP_U32;
    for (int ranks = 0; ranks <= GP_COMM_RANKS_MAX + 1; ranks += GP_COMM_RANKS_MAX + 1) {
        T_STATUS(GP_ERROR_ARGUMENT, gp_dist_reduce_workspace_bytes(NULL, ranks, &d, 10, &bytes));
        T_STATUS(GP_ERROR_ARGUMENT,
                 gp_dist_sort_workspace_bytes(NULL, ranks, GP_U32, 0, 10, 10, 10, &bytes));
        ck_assert_uint_eq(bytes, 7);
    }
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_dist_sort_workspace_bytes(NULL, 2, GP_U32, 0, 10, SIZE_MAX, 10, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_dist_sort_workspace_bytes(NULL, 2, GP_U32, 0, 10, 10, 10, NULL));
    T_STATUS(GP_ERROR_DTYPE,
             gp_dist_argsort_workspace_bytes(NULL, 2, GP_U32, GP_F32, 10, 10, 10, &bytes));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_workspace");
    TCase *c = t_case(s, "figures");
    tcase_add_loop_test(c, test_dist_calls_allocate_no_more_than_reserved, 0, CALLS);
    tcase_add_test(c, test_dist_workspace_bytes_refuse_ranks);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
