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

/* The calls of one rank in a group. The rank is not read before they run: it may have ended. */
struct worker {
    struct worker *next;
    gp_comm *comm;
    struct gpi_dist_job *first, **last;
    pthread_t thread;
    gp_status status; /* the first that is not GP_OK */
    bool started;
};

/* The open group of this thread: the ranks that have calls in it, by their first ones. */
static _Thread_local struct {
    bool open;
    struct worker *first, **last;
} group;

gp_status gpi_dist_check_capture(gp_comm *comm, const char *f)
{
    return gpi_cuda_capturing(comm->ctx)
               ? gpi_fail(comm->ctx, GP_ERROR_UNSUPPORTED,
                          "%s: the stream is being captured, and this call waits for others", f)
               : GP_OK;
}

/* A context that CUDA has broken cannot work, but its rank can say so. */
static gp_status run_now(gp_comm *comm, gpi_dist_run_fn *run, struct gpi_dist_args *a)
{
    GPI_ON_DEVICE(comm->ctx);
    if (a->status == GP_OK && comm->ctx->broken)
        a->status = gpi_fail(comm->ctx, GP_ERROR_CUDA,
                             "%s: the context of comm has reported a CUDA error; call "
                             "gp_context_reset() first",
                             a->function);
    if (a->status == GP_OK && a->number > GPI_DIST_ARGSORT)
        a->status = gpi_dist_check_capture(comm, a->function);
    comm->capture = GPI_DIST_NO_CAPTURE; /* until ranks have met */
    if (comm->transport->seats && !comm->seated)
        GPI_TRY(gpi_local_sit(comm, a->function));
    return run(comm, a);
}

/* That of a rank; NULL: no memory for a new one. */
static struct worker *worker_of(gp_comm *comm)
{
    struct worker *w = group.first;
    while (w && w->comm != comm)
        w = w->next;
    if (w || !(w = calloc(1, sizeof *w)))
        return w;
    w->comm = comm;
    w->last = &w->first;
    *group.last = w;
    group.last = &w->next;
    return w;
}

gp_status gpi_dist_submit(gp_comm *comm, gpi_dist_run_fn *run, void *args, size_t bytes)
{
    const struct gpi_dist_args *a = args;
    if (!group.open)
        return run_now(comm, run, args);
    struct gpi_dist_job *job = malloc(sizeof *job + bytes);
    struct worker *w = job ? worker_of(comm) : NULL;
    if (!w) {
        free(job);
        return gpi_fail(comm->ctx, GP_ERROR_MEMORY, "%s: out of host memory", a->function);
    }
    *job = (struct gpi_dist_job){NULL, run, bytes};
    memcpy(job->args, args, bytes);
    *w->last = job;
    w->last = &job->next;
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

/* A rank that cannot take part ends the waits of those that do. */
static gp_status run_claimed(gp_comm *comm, struct gpi_dist_job *job)
{
    struct gpi_dist_args *a = (struct gpi_dist_args *)(void *)job->args;
    __attribute__((cleanup(gpi_dist_end))) struct gpi_dist_call call = {NULL, NULL};
    const gp_status s = gpi_dist_begin(&call, comm, a->function);
    if (s == GP_OK)
        return run_now(comm, job->run, a);
    gp_comm_abort(comm);
    return s;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (struct gpi_dist_job *next, *job = w->first; job; job = next) {
        const gp_status s = run_claimed(w->comm, job);
        if (w->status == GP_OK)
            w->status = s;
        next = job->next;
        free(job);
    }
    return NULL;
}

/* All but the last one on threads. Without its thread a rank would keep the others waiting. */
static gp_status start_all(void)
{
    gp_status s = GP_OK;
    for (struct worker *w = group.first; w->next && s == GP_OK; w = w->next) {
        w->started = pthread_create(&w->thread, NULL, work, w) == 0;
        if (!w->started)
            s = gpi_fail(NULL, GP_ERROR_MEMORY, "gp_comm_group_end: cannot make a thread");
    }
    for (struct worker *w = group.first; w && s != GP_OK; w = w->next)
        gp_comm_abort(w->comm);
    return s;
}

/* Wait for it, or do its calls, which is quick where the ranks are broken. */
static gp_status end_one(struct worker *w)
{
    if (w->started)
        pthread_join(w->thread, NULL);
    else
        work(w);
    return w->status;
}

gp_status gp_comm_group_end(void)
{
    if (!group.open)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "gp_comm_group_end: no group is open");
    group.open = false;
    if (!group.first)
        return GP_OK;
    gp_status s = start_all();
    for (struct worker *w = group.first; w; w = w->next)
        if (!w->started)
            end_one(w);
    for (struct worker *next, *w = group.first; w; w = next) {
        const gp_status ended = w->started ? end_one(w) : w->status;
        s = s == GP_OK ? ended : s;
        next = w->next;
        free(w);
    }
    group.first = NULL;
    return s;
}
