/* SPDX-License-Identifier: MIT */
/*
 * Ranks that fail, are late or die: every rank gets a status, and none waits for ever. What does
 * these things is a transport over gp_comm_ops.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks.h"

enum { P = 3, N = 600 };

static gp_status sort_rank(void *arg, int r, gp_comm *comm)
{
    struct rank_data *d = arg;
    return gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, d->in.of[r].data, d->s.n[r],
                        d->out.of[r].data, NULL);
}

/* ---- a transport with faults ----------------------------------------------------------------- */

enum fault { FAULT_NONE, FAULT_DELAY, FAULT_DROP, FAULT_CORRUPT, FAULT_KILL, FAULTS };

/* Where the ranks meet, as those of one process do. */
struct wire {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int arrived, generation;
    enum fault fault;
    int at, victim; /* the message and the rank that it happens to */
    bool happened;
    struct end {
        struct wire *wire;
        int rank, messages;
        bool dead, aborted;
        const void *data;
        const uint64_t *at, *bytes;
    } ends[P];
};

static bool meet(struct end *e, double seconds)
{
    struct wire *w = e->wire;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - floor(seconds)) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000, until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    const int generation = w->generation;
    int late = 0;
    if (++w->arrived == P) {
        w->arrived = 0;
        w->generation++;
        pthread_cond_broadcast(&w->wake);
    }
    while (w->generation == generation && !late && !e->aborted)
        late = seconds < 0 ? pthread_cond_wait(&w->wake, &w->lock)
                           : pthread_cond_timedwait(&w->wake, &w->lock, &until);
    const bool met = w->generation != generation;
    pthread_mutex_unlock(&w->lock);
    return met;
}

/* What happens to this message: not 0, it is an error. A lost one is waited for in vain. */
static int strike(struct end *e)
{
    struct wire *w = e->wire;
    const struct timespec pause = {0, 20000000};
    if (e->dead)
        return 6;
    if (e->rank != w->victim || e->messages++ != w->at || w->fault == FAULT_NONE)
        return 0;
    if (w->fault == FAULT_DELAY || w->fault == FAULT_DROP)
        nanosleep(&pause, NULL);
    w->happened = w->fault != FAULT_DELAY && w->fault != FAULT_CORRUPT;
    e->dead = w->fault == FAULT_KILL;
    return w->fault == FAULT_DROP ? 7 : w->fault == FAULT_KILL ? 8 : 0;
}

static int wire_gather(void *user, const void *mine, size_t bytes, void *all, double seconds)
{
    struct end *e = user;
    const int struck = strike(e), message = e->messages - 1;
    if (struck)
        return struck;
    e->data = mine;
    if (!meet(e, seconds))
        return 1;
    for (int r = 0; r < P; r++)
        memcpy((char *)all + (size_t)r * bytes, e->wire->ends[r].data, bytes);
    if (e->wire->fault == FAULT_CORRUPT && e->rank == e->wire->victim && message == e->wire->at &&
        bytes == 128) {
        ((char *)all)[128 + 40] ^= 4;
        e->wire->happened = true;
    }
    return meet(e, seconds) ? 0 : 2;
}

static int wire_exchange(void *user, const void *send, const uint64_t *send_at,
                         const uint64_t *send_bytes, void *recv, const uint64_t *recv_at,
                         const uint64_t *recv_bytes, double seconds)
{
    struct end *e = user;
    const int struck = strike(e);
    if (struck)
        return struck;
    e->data = send, e->at = send_at, e->bytes = send_bytes;
    if (!meet(e, seconds))
        return 3;
    for (int r = 0; r < P; r++) {
        const struct end *from = &e->wire->ends[r];
        if (recv_bytes[r] != from->bytes[e->rank])
            return 4;
        if (recv_bytes[r])
            memcpy((char *)recv + recv_at[r], (const char *)from->data + from->at[e->rank],
                   recv_bytes[r]);
    }
    return meet(e, seconds) ? 0 : 5;
}

static void wire_abort(void *user)
{
    struct end *e = user;
    pthread_mutex_lock(&e->wire->lock);
    e->aborted = true;
    pthread_cond_broadcast(&e->wire->wake);
    pthread_mutex_unlock(&e->wire->lock);
}

static void wired(struct ranks *group, struct wire *w, double seconds)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    for (int r = 0; r < P; r++) {
        gp_comm_ops ops = GP_COMM_OPS_INIT;
        gp_comm_destroy(group->comm[r]);
        w->ends[r].wire = w;
        w->ends[r].rank = r;
        ops.rank = r, ops.ranks = P, ops.user = &w->ends[r];
        ops.all_gather = wire_gather, ops.exchange = wire_exchange, ops.abort = wire_abort;
        T_OK(gp_comm_create(group->ctx[r], &ops, &group->comm[r]));
        T_OK(gp_comm_set_timeout(group->comm[r], seconds));
    }
}

static int compare_words(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The last call was a sort: what all ranks got is in order. */
static void check_sorted(const struct rank_data *d)
{
    void *expected = parts_join(&d->in, d->s.n, 4, P), *sorted = parts_join(&d->out, d->s.n, 4, P);
    qsort(expected, N, 4, compare_words);
    t_same_bytes("keys", expected, sorted, N * 4);
    free(expected), free(sorted);
}

static gp_status worse(gp_status a, gp_status b)
{
    return b == GP_OK ? a : b;
}

/* What several calls need: keys, and a list of entries. */
struct call_data {
    struct rank_data keys; /* the first: what sort_rank() takes */
    struct parts rows, first, pointers, cols;
};

enum { ROWS = 97 };

static struct call_data call_data_new(void)
{
    struct call_data c = {.keys = rank_data_new(P, N)};
    size_t firsts[P], pointers[P], room[P];
    uint32_t rows[N];
    for (uint32_t i = 0; i < N; i++)
        rows[i] = i * 31 % ROWS;
    for (int r = 0; r < P; r++)
        firsts[r] = P + 1, pointers[r] = ROWS + 1, room[r] = N;
    c.rows = parts_from(rows, &c.keys.s, 4, P), c.first = parts_new(firsts, 8, P);
    c.pointers = parts_new(pointers, 4, P), c.cols = parts_new(room, 4, P);
    return c;
}

static void call_data_free(struct call_data *c)
{
    parts_free(&c->rows, P), parts_free(&c->first, P);
    parts_free(&c->pointers, P), parts_free(&c->cols, P);
    rank_data_free(&c->keys);
}

static gp_status entries_rank(const struct call_data *c, int r, gp_comm *comm)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = (gp_dtype)0;
    return gp_dist_csr_from_coo(comm, &d, ROWS, ROWS, c->rows.of[r].data, c->rows.of[r].data, NULL,
                                c->keys.s.n[r], (uint64_t *)c->first.of[r].data, ROWS,
                                c->pointers.of[r].data, N, c->cols.of[r].data, NULL,
                                (uint64_t *)c->keys.count.of[r].data);
}

/* Several calls: the last status that is an error. */
static gp_status calls_rank(void *arg, int r, gp_comm *comm)
{
    const struct rank_data *d = &((struct call_data *)arg)->keys;
    const uint32_t limit = 1u << 31;
    gp_compact_desc compact = GP_COMPACT_DESC_INIT;
    gp_dist_desc even = GP_DIST_DESC_INIT;
    even.result = GP_DIST_EVEN;
    compact.compare = GP_LT, compact.dtype = GP_U32, compact.value = &limit;
    gp_status s = entries_rank(arg, r, comm);
    s = worse(s, gp_dist_compact(comm, &even, &compact, d->in.of[r].data, NULL, d->s.n[r],
                                 d->out.of[r].data, (uint64_t *)d->count.of[r].data));
    return worse(s, sort_rank(arg, r, comm));
}

START_TEST(test_dist_faults_end_in_a_status_on_every_rank)
{
    const enum fault fault = (enum fault)(_i % FAULTS);
    for (int at = 0; at < 12; at += fault < FAULT_DROP ? 4 : 1) {
        struct ranks group = ranks_new(P);
        struct call_data d = call_data_new();
        struct wire w;
        gp_status statuses[P];
        wired(&group, &w, fault < FAULT_DROP ? 20 : 0.02);
        w.fault = fault, w.at = at, w.victim = at % P;
        ranks_run(&group, false, calls_rank, &d, statuses);
        for (int r = 0; r < P; r++)
            if (w.happened)
                ck_assert_msg(statuses[r] == GP_ERROR_COMM, "fault %d at %d: rank %d: %s", fault,
                              at, r, gp_status_string(statuses[r]));
            else
                ck_assert_msg(fault > FAULT_DELAY || statuses[r] == GP_OK, "rank %d: %s", r,
                              gp_last_error(group.ctx[r]));
        if (fault <= FAULT_DELAY)
            check_sorted(&d.keys);
        call_data_free(&d);
        ranks_free(&group);
    }
}
END_TEST

/* ---- late, aborted, destroyed ---------------------------------------------------------------- */

static gp_status two_of_three(void *arg, int r, gp_comm *comm)
{
    return r == 1 ? GP_ERROR_COMM : sort_rank(arg, r, comm);
}

START_TEST(test_dist_late_rank_ends_in_a_status)
{
    struct ranks group = ranks_new(P);
    struct rank_data d = rank_data_new(P, N);
    gp_status statuses[P];
    for (int r = 0; r < P; r++)
        T_OK(gp_comm_set_timeout(group.comm[r], 0.05));
    ranks_run(&group, false, two_of_three, &d, statuses);
    ranks_run(&group, false, sort_rank, &d, statuses); /* rank 1 comes now */
    for (int r = 0; r < P; r++)
        ck_assert_int_eq(statuses[r], GP_ERROR_COMM);
    rank_data_free(&d);
    ranks_free(&group);
}
END_TEST

static gp_status abort_rank(void *arg, int r, gp_comm *comm)
{
    const struct timespec pause = {0, 10000000};
    if (r != 1)
        return sort_rank(arg, r, comm);
    nanosleep(&pause, NULL);
    return gp_comm_abort(comm) == GP_OK ? GP_ERROR_COMM : GP_OK;
}

START_TEST(test_dist_abort_ends_waits)
{
    struct ranks group = ranks_new(P);
    struct rank_data d = rank_data_new(P, N);
    gp_status statuses[P];
    ranks_run(&group, false, abort_rank, &d, statuses);
    for (int r = 0; r < P; r++) {
        ck_assert_int_eq(statuses[r], GP_ERROR_COMM);
        ck_assert_int_eq(sort_rank(&d, r, group.comm[r]), GP_ERROR_COMM);
    }
    rank_data_free(&d);
    ranks_free(&group);
}
END_TEST

static gp_status destroy_rank(void *arg, int r, gp_comm *comm)
{
    const struct timespec pause = {0, 10000000};
    if (r != 2)
        return sort_rank(arg, r, comm);
    nanosleep(&pause, NULL);
    gp_comm_destroy(comm);
    return GP_ERROR_COMM;
}

START_TEST(test_dist_destroyed_rank_ends_waits)
{
    struct ranks group = ranks_new(P);
    struct rank_data d = rank_data_new(P, N);
    gp_status statuses[P];
    ranks_run(&group, false, destroy_rank, &d, statuses);
    for (int r = 0; r < P; r++)
        ck_assert_int_eq(statuses[r], GP_ERROR_COMM);
    T_STATUS(GP_ERROR_POINTER, gp_comm_abort(group.comm[2]));
    T_STATUS(GP_ERROR_POINTER, sort_rank(&d, 2, group.comm[2]));
    ck_assert_int_eq(gp_comm_rank(group.comm[2]), -1);
    ck_assert_int_eq(gp_comm_ranks(group.comm[2]), 0);
    ck_assert_ptr_null(gp_comm_context(group.comm[2]));
    group.comm[2] = NULL;
    rank_data_free(&d);
    ranks_free(&group);
}
END_TEST

/* Also a context that is destroyed: the other ranks of the group do not wait. */
START_TEST(test_dist_rank_that_ends_in_a_group_ends_waits)
{
    struct ranks group = ranks_new(P);
    struct rank_data d = rank_data_new(P, N);
    T_OK(gp_comm_group_begin());
    for (int r = 0; r < P; r++)
        T_OK(sort_rank(&d, r, group.comm[r]));
    if (_i == 0) {
        gp_comm_destroy(group.comm[1]);
        group.comm[1] = NULL;
    } else {
        gp_context_destroy(group.ctx[1]);
        group.ctx[1] = NULL;
    }
    const gp_status s = gp_comm_group_end();
    ck_assert(s == GP_ERROR_POINTER || s == GP_ERROR_COMM);
    ranks_free(&group);
    rank_data_free(&d);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_faults");
    TCase *c = t_case(s, "faults");
    tcase_add_loop_test(c, test_dist_faults_end_in_a_status_on_every_rank, 0, FAULTS);
    tcase_add_test(c, test_dist_late_rank_ends_in_a_status);
    tcase_add_test(c, test_dist_abort_ends_waits);
    tcase_add_test(c, test_dist_destroyed_rank_ends_waits);
    tcase_add_loop_test(c, test_dist_rank_that_ends_in_a_group_ends_waits, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
