/* SPDX-License-Identifier: MIT */
/* First calls: the program runs itself again, and the child measures one call from its start. */
#include "calls.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Seconds of a fresh process, from its start to a call that is warm. */
struct start {
    double runtime, stream; /* the CUDA runtime before the context: cudaFree(0), a stream */
    double context, first, second;
};

/* ---- the child ------------------------------------------------------------------------------- */

static const struct call *find(const char *name)
{
    for (const struct call *c = call_table; c->run; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    bench_die("--first-call: there is no call %s", name);
}

/* Seconds from entering the call until its work is done. */
static double timed(gp_context *ctx, const struct call *call, const struct call_arrays *a)
{
    const double begin = bench_now();
    gp_status s = call->run(ctx, a);
    s = s == GP_OK ? gp_context_synchronize(ctx) : s;
    const double seconds = bench_now() - begin;
    if (s != GP_OK)
        bench_die("%s", gp_last_error(ctx));
    return seconds;
}

int call_first_child(const struct bench_options *options)
{
    const struct call *call = find(options->first_call);
    struct start r = {0};
    struct call_arrays a;
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = options->backend;
    o.threads = options->threads;
    if (options->num_exponents != 1)
        bench_die("--first-call needs one --n");
#if BENCH_HAVE_CUDA
    if (o.backend == GP_BACKEND_CUDA)
        bench_cuda_start(&r.runtime, &r.stream);
#endif
    const double begin = bench_now();
    if (gp_context_create(&ctx, &o) != GP_OK)
        bench_die("%s", gp_last_error(NULL));
    r.context = bench_now() - begin;
    if (call_arrays_make(ctx, (size_t)1 << options->exponents[0], &a) != GP_OK)
        bench_die("%s", gp_last_error(ctx));
    r.first = timed(ctx, call, &a);
    r.second = timed(ctx, call, &a);
    printf("%.9f %.9f %.9f %.9f %.9f\n", r.runtime, r.stream, r.context, r.first, r.second);
    call_arrays_free(ctx, &a);
    gp_context_destroy(ctx);
    return 0;
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* Start this program with its output in a pipe; the pipe's end to read from, or -1. */
static int spawn(const struct bench *b, const struct call *call, size_t n, pid_t *child)
{
    char exponent[16], threads[16];
    const bool with_threads = b->options.threads > 0;
    int ends[2], e = 0, exponent_of_n = 0;
    while ((size_t)2 << exponent_of_n <= n)
        exponent_of_n++;
    snprintf(exponent, sizeof exponent, "%d", exponent_of_n);
    snprintf(threads, sizeof threads, "%d", b->options.threads);
    char *argv[] = {"gp-bench",
                    "--first-call",
                    (char *)call->name,
                    "--backend",
                    (char *)b->backend->name,
                    "--n",
                    exponent,
                    with_threads ? "--threads" : NULL,
                    threads,
                    NULL};
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    e = posix_spawn(child, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (e != 0)
        close(ends[0]);
    errno = e;
    return e == 0 ? ends[0] : -1;
}

static bool run(const struct call_measurement *m, struct start *r)
{
    pid_t child;
    int status = 0;
    const int end = spawn(m->b, m->call, m->a.n, &child);
    FILE *f = end >= 0 ? fdopen(end, "r") : NULL;
    if (!f)
        bench_die("cannot start /proc/self/exe: %s", strerror(errno));
    const int read = fscanf(f, "%lf %lf %lf %lf %lf", &r->runtime, &r->stream, &r->context,
                            &r->first, &r->second);
    fclose(f);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (read == 5 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    printf("  FAILED: the process of the first call of %s\n", m->call->name);
    return false;
}

/* ---- all first calls ------------------------------------------------------------------------- */

enum { RUNS = 3, STARTS = 3 };

/* Figures of all the processes. */
static struct call_subject starts[STARTS] = {
    {.impl = "runtime"}, {.impl = "stream"}, {.impl = "context"}};

static void keep(struct call_subject *s, double seconds)
{
    if (s->samples < CALL_SAMPLES)
        s->times[s->samples++] = seconds;
}

static void measure(const struct call_measurement *m)
{
    static struct call_subject first, second;
    struct start r;
    first = (struct call_subject){.impl = "gp-first"};
    second = (struct call_subject){.impl = "gp-second"};
    for (int i = 0; i < (m->b->options.quick ? 1 : RUNS); i++) {
        if (!run(m, &r)) {
            m->b->failures++;
            return;
        }
        keep(&starts[0], r.runtime);
        keep(&starts[1], r.stream);
        keep(&starts[2], r.context);
        keep(&first, r.first);
        keep(&second, r.second);
    }
    call_summarize(&first);
    call_summarize(&second);
    printf("%-28s%-5s%9zu%12.1f%12.1f%12.1f%12.1f\n", m->call->name,
           gp_dtype_string(m->call->dtype), m->a.n, first.median * 1e6, first.min * 1e6,
           second.median * 1e6, second.min * 1e6);
    fflush(stdout);
    call_write_csv(m, &first, NULL, 0);
    call_write_csv(m, &second, NULL, 0);
}

/* What comes before any call; the runtime and its stream only on CUDA. */
static void report_starts(struct bench *b)
{
    const struct call none = {.name = "start", .dtype = GP_U32};
    const struct call_measurement m = {.b = b, .call = &none};
    for (int i = b->backend->empty ? 0 : 2; i < STARTS && starts[2].samples > 0; i++) {
        call_summarize(&starts[i]);
        printf("%-28s%-5s%9s%12.1f%12.1f\n", starts[i].impl, "", "", starts[i].median * 1e6,
               starts[i].min * 1e6);
        call_write_csv(&m, &starts[i], NULL, 0);
    }
}

void call_first(struct bench *b)
{
    const struct call_sizes sizes = call_sizes(b, 20, 20, 1);
    struct call_measurement m = {.b = b, .a.n = (size_t)1 << sizes.exponents[sizes.count - 1]};
    printf(
        "\nmicroseconds of the first call in a process, and of the second, until they are done\n");
    printf("%-28s%-5s%9s%12s%12s%12s%12s\n", "call", "dtype", "n", "first", "best", "second",
           "best");
    for (m.call = call_table; m.call->run; m.call++)
        if (bench_wanted(b, m.call->name, m.call->dtype))
            measure(&m);
    report_starts(b);
}
