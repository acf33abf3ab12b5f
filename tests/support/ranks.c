/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- running --------------------------------------------------------------------------------- */

struct ranks ranks_new(int count)
{
    struct ranks r = {.count = count};
    for (int i = 0; i < count; i++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        o.backend = gp_context_backend(t_ctx());
        o.threads = 1 + i % 2;
        o.multiprocessors = t_is_cuda() ? 4 : 0;
        o.device = t_is_cuda() ? i % t_device_count() : -1;
        T_OK(gp_context_create(&r.ctx[i], &o));
    }
    T_OK(gp_comm_create_local(r.ctx, count, r.comm));
    for (int i = 0; i < count; i++)
        T_OK(gp_comm_set_timeout(r.comm[i], RANKS_DEADLINE));
    return r;
}

void ranks_free(struct ranks *r)
{
    for (int i = 0; i < r->count; i++) {
        gp_comm_destroy(r->comm[i]);
        gp_context_destroy(r->ctx[i]);
    }
    free(r->wires);
    r->wires = NULL;
}

/* Where ranks lay out what others copy, between two barriers. */
struct wires {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int ranks, arrived, generation;
    struct wire {
        struct wires *all;
        int rank;
        const void *data;
        const uint64_t *at, *bytes;
    } of[RANKS_MAX];
};

/* Returns 0 once all have come, otherwise 1 after that many seconds. */
static int meet(struct wires *w, double seconds)
{
    struct timespec until;
    int e = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&w->lock);
    const int generation = w->generation;
    if (++w->arrived == w->ranks) {
        w->arrived = 0;
        w->generation++;
        pthread_cond_broadcast(&w->wake);
    }
    while (w->generation == generation && e != ETIMEDOUT)
        e = pthread_cond_timedwait(&w->wake, &w->lock, &until);
    const int late = w->generation == generation;
    pthread_mutex_unlock(&w->lock);
    return late;
}

static int wire_gather(void *user, const void *mine, size_t bytes, void *all, double seconds)
{
    struct wire *w = user;
    w->data = mine;
    if (meet(w->all, seconds))
        return 1;
    for (int r = 0; r < w->all->ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, w->all->of[r].data, bytes);
    return meet(w->all, seconds);
}

static int wire_exchange(void *user, const void *send, const uint64_t *send_at,
                         const uint64_t *send_bytes, void *recv, const uint64_t *recv_at,
                         const uint64_t *recv_bytes, double seconds)
{
    struct wire *w = user;
    int wrong = 0;
    w->data = send, w->at = send_at, w->bytes = send_bytes;
    if (meet(w->all, seconds))
        return 1;
    for (int r = 0; r < w->all->ranks; r++) {
        const struct wire *from = &w->all->of[r];
        wrong |= from->bytes[w->rank] != recv_bytes[r];
        if (recv_bytes[r] && !wrong)
            memcpy((char *)recv + recv_at[r], (const char *)from->data + from->at[w->rank],
                   recv_bytes[r]);
    }
    return meet(w->all, seconds) || wrong;
}

struct ranks ranks_wired(int count)
{
    struct ranks r = ranks_new(count);
    r.wires = t_host(sizeof *r.wires);
    *r.wires = (struct wires){.ranks = count};
    pthread_mutex_init(&r.wires->lock, NULL);
    pthread_cond_init(&r.wires->wake, NULL);
    for (int i = 0; i < count; i++) {
        gp_comm_ops ops = GP_COMM_OPS_INIT;
        gp_comm_destroy(r.comm[i]);
        r.wires->of[i] = (struct wire){.all = r.wires, .rank = i};
        ops.rank = i, ops.ranks = count, ops.user = &r.wires->of[i];
        ops.all_gather = wire_gather, ops.exchange = wire_exchange;
        T_OK(gp_comm_create(r.ctx[i], &ops, &r.comm[i]));
        T_OK(gp_comm_set_timeout(r.comm[i], RANKS_DEADLINE));
    }
    return r;
}

struct thread {
    pthread_t id;
    rank_fn *fn;
    void *arg;
    int rank;
    gp_comm *comm;
    gp_status status;
};

static void *run(void *arg)
{
    struct thread *t = arg;
    t->status = t->fn(t->arg, t->rank, t->comm);
    return NULL;
}

void ranks_threads(gp_comm *const *comms, int count, rank_fn *fn, void *arg, gp_status *statuses)
{
    struct thread threads[RANKS_MAX];
    for (int i = 0; i < count; i++) {
        threads[i] = (struct thread){.fn = fn, .arg = arg, .rank = i, .comm = comms[i]};
        ck_assert_int_eq(pthread_create(&threads[i].id, NULL, run, &threads[i]), 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i].id, NULL);
        statuses[i] = threads[i].status;
    }
}

static void run_group(struct ranks *r, rank_fn *fn, void *arg, gp_status *statuses)
{
    T_OK(gp_comm_group_begin());
    for (int i = 0; i < r->count; i++)
        T_OK(fn(arg, i, r->comm[i]));
    const gp_status s = gp_comm_group_end();
    for (int i = 0; i < r->count; i++)
        statuses[i] = s;
}

/* Ranks that are broken have no deadline any more; no kernel of theirs waits, either. */
static void wait_for_gpus(struct ranks *r, const gp_status *statuses)
{
    bool ok = true;
    for (int i = 0; i < r->count; i++)
        ok = ok && statuses[i] == GP_OK;
    for (int i = 0; i < r->count; i++)
        T_OK(ok ? gp_comm_synchronize(r->comm[i], RANKS_DEADLINE)
                : gp_context_synchronize(r->ctx[i]));
}

void ranks_run(struct ranks *r, bool group, rank_fn *fn, void *arg, gp_status *statuses)
{
    T_OK(gp_context_synchronize(t_ctx())); /* inputs were made on its stream */
    if (group)
        run_group(r, fn, arg, statuses);
    else
        ranks_threads(r->comm, r->count, fn, arg, statuses);
    if (t_is_cuda())
        wait_for_gpus(r, statuses);
}

void ranks_ok(struct ranks *r, bool group, rank_fn *fn, void *arg)
{
    gp_status statuses[RANKS_MAX];
    ranks_run(r, group, fn, arg, statuses);
    for (int i = 0; i < r->count; i++)
        ck_assert_msg(statuses[i] == GP_OK, "rank %d of %d: %s: %s", i, r->count,
                      gp_status_string(statuses[i]), gp_last_error(r->ctx[i]));
}

/* ---- captured -------------------------------------------------------------------------------- */

struct capture {
    rank_fn *fn;
    void *arg;
    void **graphs;
};

static gp_status capture_rank(void *arg, int rank, gp_comm *comm)
{
    const struct capture *c = arg;
    ranks_capture_begin(gp_comm_context(comm));
    const gp_status s = c->fn(c->arg, rank, comm);
    c->graphs[rank] = ranks_capture_end(gp_comm_context(comm));
    return s;
}

void ranks_capture(struct ranks *r, bool as_one, rank_fn *fn, void *arg, void **graphs,
                   gp_status *statuses)
{
    struct capture c = {fn, arg, graphs};
    T_OK(gp_context_synchronize(t_ctx())); /* inputs were made on its stream */
    if (!as_one) {
        ranks_threads(r->comm, r->count, capture_rank, &c, statuses);
        return;
    }
    ranks_capture_all_begin(r);
    ranks_threads(r->comm, r->count, fn, arg, statuses);
    graphs[0] = ranks_capture_all_end(r);
}

/* ---- shares ---------------------------------------------------------------------------------- */

static void line_up(struct shares *s, int ranks)
{
    size_t first = 0;
    for (int i = 0; i < ranks; i++) {
        s->first[i] = first;
        first += s->n[i];
    }
}

struct shares shares_of(enum spread spread, size_t n, int ranks, uint64_t *state)
{
    struct shares s = {{0}, {0}};
    const int one = (int)t_random_below(state, (uint64_t)ranks);
    size_t left = n;
    for (int i = 0; i < ranks; i++) {
        const size_t even = n / (size_t)ranks;
        size_t want = spread == SPREAD_EVEN     ? even
                      : spread == SPREAD_UNEVEN ? t_random_below(state, 2 * even + 1)
                      : spread == SPREAD_HOLES  ? (i % 2 ? 2 * even : 0)
                      : spread == SPREAD_ONE    ? (i == one ? n : 0)
                                                : (i == 0 ? 0 : even);
        s.n[i] = want < left ? want : left;
        left -= s.n[i];
    }
    s.n[spread == SPREAD_ONE ? one : ranks - 1] += left;
    line_up(&s, ranks);
    return s;
}

struct shares shares_wanted(const gp_dist_desc *desc, const struct shares *given, size_t total,
                            int ranks)
{
    struct shares s = {{0}, {0}};
    size_t left = total, p = (size_t)ranks;
    for (int i = 0; i < ranks; i++) {
        const size_t even = total / p + ((size_t)i < total % p);
        const size_t want = desc->result == GP_DIST_COUNTS ? desc->counts[i]
                            : desc->result == GP_DIST_SAME ? given->n[i]
                                                           : even;
        s.n[i] = want < left ? want : left;
        left -= s.n[i];
    }
    line_up(&s, ranks);
    return s;
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct parts parts_new(const size_t *n, size_t item_bytes, int ranks)
{
    struct parts p;
    for (int i = 0; i < ranks; i++)
        p.of[i] = t_new(n[i] * item_bytes, 0);
    return p;
}

struct parts parts_from(const void *host, const struct shares *s, size_t item_bytes, int ranks)
{
    struct parts p;
    for (int i = 0; i < ranks; i++)
        p.of[i] =
            t_new_from((const char *)host + s->first[i] * item_bytes, s->n[i] * item_bytes, 0);
    return p;
}

void parts_free(struct parts *p, int ranks)
{
    for (int i = 0; i < ranks; i++)
        t_free(&p->of[i]);
}

void *parts_join(const struct parts *p, const size_t *n, size_t item_bytes, int ranks)
{
    size_t total = 0;
    for (int i = 0; i < ranks; i++)
        total += n[i] * item_bytes;
    char *all = t_host(total), *next = all;
    for (int i = 0; i < ranks; next += n[i] * item_bytes, i++) {
        t_get(&p->of[i], next, n[i] * item_bytes);
        t_check_guards(&p->of[i]);
    }
    return all;
}

struct rank_data rank_data_new(int ranks, size_t n)
{
    struct rank_data d = {.ranks = ranks};
    uint64_t state = t_seed();
    size_t one[RANKS_MAX];
    uint32_t *host = t_host(n * 4);
    t_fill_random(GP_U32, host, n, &state);
    d.s = shares_of(SPREAD_EVEN, n, ranks, &state);
    for (int r = 0; r < ranks; r++)
        one[r] = 1;
    d.in = parts_from(host, &d.s, 4, ranks);
    d.out = parts_new(d.s.n, 4, ranks);
    d.count = parts_new(one, 8, ranks);
    free(host);
    return d;
}

void rank_data_free(struct rank_data *d)
{
    parts_free(&d->in, d->ranks);
    parts_free(&d->out, d->ranks);
    parts_free(&d->count, d->ranks);
}
