/* SPDX-License-Identifier: MIT */
#include "dist_ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef EXAMPLE_MPI
#include <gp/comm_mpi.h>
#endif

enum { RANKS_MAX = 64 };

double dist_now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void dist_need(gp_comm *comm, gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "rank %d: %s\n", gp_comm_rank(comm), gp_last_error(gp_comm_context(comm)));
    exit(1);
}

void *dist_new(gp_comm *comm, size_t bytes)
{
    void *memory;
    dist_need(comm, gp_malloc(gp_comm_context(comm), bytes, &memory));
    return memory;
}

/* A context for a rank: the GPU of its number, or the first one if there are fewer. */
static gp_context *context_of(gp_backend backend, int rank, int threads)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = backend;
    o.threads = threads;
    o.device = backend == GP_BACKEND_CUDA ? rank : -1;
    gp_status s = gp_context_create(&ctx, &o);
    if (s == GP_ERROR_DEVICE && backend == GP_BACKEND_CUDA && rank > 0) {
        o.device = 0;
        s = gp_context_create(&ctx, &o);
    }
    if (s != GP_OK) {
        fprintf(stderr, "rank %d: %s\n", rank, gp_last_error(NULL));
        exit(1);
    }
    return ctx;
}

#ifdef EXAMPLE_MPI

int dist_run(gp_backend backend, int ranks, int argc, char **argv,
             int (*fn)(gp_comm *comm, void *arg), void *arg)
{
    int provided, rank, failed;
    gp_comm *comm;
    (void)ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    gp_context *ctx = context_of(backend, rank, 1);
    if (gp_comm_create_mpi(ctx, MPI_COMM_WORLD, 0, &comm) != GP_OK) {
        fprintf(stderr, "rank %d: %s\n", rank, gp_last_error(NULL));
        exit(1);
    }
    gp_comm_set_timeout(comm, 60);
    failed = fn(comm, arg);
    gp_comm_destroy(comm);
    gp_context_destroy(ctx);
    MPI_Finalize();
    return failed;
}

#else

struct thread {
    pthread_t id;
    gp_comm *comm;
    int (*fn)(gp_comm *comm, void *arg);
    void *arg;
    int failed;
};

static void *run(void *arg)
{
    struct thread *t = arg;
    t->failed = t->fn(t->comm, t->arg);
    return NULL;
}

int dist_run(gp_backend backend, int ranks, int argc, char **argv,
             int (*fn)(gp_comm *comm, void *arg), void *arg)
{
    gp_context *ctx[RANKS_MAX];
    gp_comm *comm[RANKS_MAX];
    struct thread threads[RANKS_MAX];
    int failed = ranks < 1 || ranks > RANKS_MAX;
    (void)argc, (void)argv;
    for (int r = 0; r < ranks && !failed; r++)
        ctx[r] = context_of(backend, r, ranks == 1 ? 0 : 1);
    if (failed || gp_comm_create_local(ctx, ranks, comm) != GP_OK) {
        fprintf(stderr, "%s\n", failed ? "1 to 64 ranks" : gp_last_error(NULL));
        exit(1);
    }
    for (int r = 0; r < ranks; r++) {
        threads[r] = (struct thread){.comm = comm[r], .fn = fn, .arg = arg};
        if (pthread_create(&threads[r].id, NULL, run, &threads[r]) != 0)
            exit(1);
    }
    for (int r = 0; r < ranks; r++) {
        pthread_join(threads[r].id, NULL);
        failed |= threads[r].failed;
    }
    for (int r = 0; r < ranks; r++) {
        gp_comm_destroy(comm[r]);
        gp_context_destroy(ctx[r]);
    }
    return failed;
}

#endif
