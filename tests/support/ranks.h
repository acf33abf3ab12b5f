/* SPDX-License-Identifier: MIT */
/* Several ranks in one test: contexts like t_ctx(), one thread for each rank or one for all, and
 * arrays that are divided among them in every way. */
#ifndef GP_TEST_RANKS_H
#define GP_TEST_RANKS_H

#include <gp/dist.h>

#include "gp_test.h"

/* Seconds after which a rank that waits says so: more than a wait takes where many processes take
 * turns on a GPU, and less than a suite has. */
enum { RANKS_MAX = 64, RANKS_DEADLINE = 60 };

struct wires;

struct ranks {
    int count;
    struct wires *wires; /* NULL: of gp_comm_create_local() */
    gp_context *ctx[RANKS_MAX];
    gp_comm *comm[RANKS_MAX];
};

/* Ranks of gp_comm_create_local(). */
struct ranks ranks_new(int count);
void ranks_free(struct ranks *r);
/* The same over functions of the test, see gp_comm_ops. */
struct ranks ranks_wired(int count);

/* One rank's part: its calls. It must not assert: it runs on a thread of its own, or in a group,
 * where its calls have no results yet. */
typedef gp_status rank_fn(void *arg, int rank, gp_comm *comm);

/* Run all ranks side by side: each on its thread, or all in a group of this thread. Statuses are
 * those of the ranks; in a group that of the group. Waits for all work. */
void ranks_run(struct ranks *r, bool group, rank_fn *fn, void *arg, gp_status *statuses);
/* The same, and all are GP_OK. */
void ranks_ok(struct ranks *r, bool group, rank_fn *fn, void *arg);
/* The same with comms of any kind. */
void ranks_threads(gp_comm *const *comms, int count, rank_fn *fn, void *arg, gp_status *statuses);

/* Capture what the calling thread queues on a context with CUDA into a graph, which the caller
 * frees; and queue it once more. */
void ranks_capture_begin(gp_context *ctx);
void *ranks_capture_end(gp_context *ctx);
/* The same of all ranks into one graph, of the stream of the first one. */
void ranks_capture_all_begin(struct ranks *r);
void *ranks_capture_all_end(struct ranks *r);
/* Run all ranks side by side, each on its thread, captured into graphs[0], or into its own. */
void ranks_capture(struct ranks *r, bool as_one, rank_fn *fn, void *arg, void **graphs,
                   gp_status *statuses);
void ranks_replay(gp_context *ctx, void *graph);
void ranks_graph_free(void *graph);

/* How n items are divided. */
enum spread { SPREAD_EVEN, SPREAD_UNEVEN, SPREAD_HOLES, SPREAD_ONE, SPREAD_FIRST_EMPTY, SPREADS };

struct shares {
    size_t n[RANKS_MAX], first[RANKS_MAX];
};

struct shares shares_of(enum spread spread, size_t n, int ranks, uint64_t *state);

/* What the descriptor gives to each rank of total items, where that is not up to the data. */
struct shares shares_wanted(const gp_dist_desc *desc, const struct shares *given, size_t total,
                            int ranks);

/* An array of each rank. */
struct parts {
    t_array of[RANKS_MAX];
};

/* Poisoned room for n[r] items, or the parts of a host array. */
struct parts parts_new(const size_t *n, size_t item_bytes, int ranks);
struct parts parts_from(const void *host, const struct shares *s, size_t item_bytes, int ranks);
void parts_free(struct parts *p, int ranks);
/* The first n[r] items of each, one after the other; guards are checked. */
void *parts_join(const struct parts *p, const size_t *n, size_t item_bytes, int ranks);

/* n random items of u32 divided evenly, room for as many, and a count of each rank. */
struct rank_data {
    int ranks;
    struct shares s;
    struct parts in, out, count;
};

struct rank_data rank_data_new(int ranks, size_t n);
void rank_data_free(struct rank_data *d);

#endif
