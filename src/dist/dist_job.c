/* SPDX-License-Identifier: MIT */
/* Calls now, or collected by one thread for all ranks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/cuda.h"
#include "dist/dist_internal.h"

struct gpi_dist_job {
    struct gpi_dist_job *next;
    gpi_dist_run_fn *run;
    size_t bytes;
    _Alignas(16) char args[]; /* begins with a struct gpi_dist_args */
};

/* The open group of this thread: the ranks that have calls in it, by their first ones. */
static _Thread_local struct {
    bool open;
    gp_comm *first, **last;
} group;

/* A context that CUDA has broken cannot work, but its rank can say so. */
static gp_status run_now(gp_comm *comm, gpi_dist_run_fn *run, struct gpi_dist_args *a)
{
    GPI_ON_DEVICE(comm->ctx);
    if (a->status == GP_OK && comm->ctx->broken)
        a->status = gpi_fail(comm->ctx, GP_ERROR_CUDA,
                             "%s: the context of comm has reported a CUDA error; call "
                             "gp_context_reset() first",
                             a->function);
    if (a->status == GP_OK && gpi_cuda_capturing(comm->ctx))
        a->status = gpi_fail(comm->ctx, GP_ERROR_UNSUPPORTED,
                             "%s: the stream is being captured, and this call waits for others",
                             a->function);
    return run(comm, a);
}

gp_status gpi_dist_submit(gp_comm *comm, gpi_dist_run_fn *run, void *args, size_t bytes)
{
    const struct gpi_dist_args *a = args;
    if (!group.open)
        return run_now(comm, run, args);
    struct gpi_dist_job *job = malloc(sizeof *job + bytes);
    if (!job)
        return gpi_fail(comm->ctx, GP_ERROR_MEMORY, "%s: out of host memory", a->function);
    *job = (struct gpi_dist_job){NULL, run, bytes};
    memcpy(job->args, args, bytes);
    if (!comm->first) {
        comm->next_in_group = NULL;
        *group.last = comm;
        group.last = &comm->next_in_group;
    }
    *comm->last = job;
    comm->last = &job->next;
    return GP_OK;
}

gp_status gp_comm_group_begin(void)
{
    if (group.open)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "gp_comm_group_begin: a group is open");
    group.open = true;
    group.first = NULL;
    group.last = &group.first;
    return GP_OK;
}

/* One rank's calls. */
struct worker {
    pthread_t thread;
    gp_comm *comm;
    struct gpi_dist_job *jobs;
    gp_status status; /* the first that is not GP_OK */
    bool started;
};

static gp_status run_claimed(gp_comm *comm, struct gpi_dist_job *job)
{
    struct gpi_dist_args *a = (struct gpi_dist_args *)(void *)job->args;
    GPI_DIST_CALL(comm, a->function);
    return run_now(comm, job->run, a);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (struct gpi_dist_job *next, *job = w->jobs; job; job = next) {
        const gp_status s = run_claimed(w->comm, job);
        if (w->status == GP_OK)
            w->status = s;
        next = job->next;
        free(job);
    }
    w->jobs = NULL;
    return NULL;
}

/* Take the calls from a rank. */
static void collect(struct worker *w, gp_comm *comm)
{
    *w = (struct worker){.comm = comm, .jobs = comm->first};
    comm->first = NULL;
    comm->last = &comm->first;
}

/* Without its thread a rank would keep the others waiting. */
static void give_up(struct worker *w, int count)
{
    for (int i = 0; i < count; i++)
        gp_comm_abort(w[i].comm);
}

static gp_status run_all(struct worker *w, int count)
{
    static const char f[] = "gp_comm_group_end";
    gp_status s = GP_OK;
    for (int i = 0; i < count - 1 && s == GP_OK; i++) {
        w[i].started = pthread_create(&w[i].thread, NULL, work, &w[i]) == 0;
        if (!w[i].started)
            s = gpi_fail(NULL, GP_ERROR_MEMORY, "%s: cannot make %d threads", f, count - 1);
    }
    if (s != GP_OK)
        give_up(w, count);
    work(&w[count - 1]);
    for (int i = 0; i < count - 1; i++)
        if (w[i].started)
            pthread_join(w[i].thread, NULL);
        else
            work(&w[i]);
    for (int i = 0; i < count && s == GP_OK; i++)
        s = w[i].status;
    return s;
}

gp_status gp_comm_group_end(void)
{
    static const char f[] = "gp_comm_group_end";
    int count = 0, i = 0;
    if (!group.open)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: no group is open", f);
    group.open = false;
    for (gp_comm *c = group.first; c; c = c->next_in_group)
        count++;
    if (count == 0)
        return GP_OK;
    struct worker *w = malloc((size_t)count * sizeof *w), one;
    for (gp_comm *c = group.first; c; c = c->next_in_group, i++)
        collect(w ? &w[i] : &one, c);
    if (!w)
        return gpi_fail(NULL, GP_ERROR_MEMORY, "%s: out of host memory", f);
    const gp_status s = run_all(w, count);
    free(w);
    return s;
}
