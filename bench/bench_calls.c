/* SPDX-License-Identifier: MIT */
/*
 * What calls cost apart from their work: the host's time for a call that is queued, short calls
 * beside plain loops, one thread beside two, and the first call of a process.
 */
#include "bench.h"

#include "calls/calls.h"

static const double alone_pause = 2e-3; /* threads of the call before may spin for so long */

typedef void (*measure_function)(struct call_measurement *m, gp_context *const *contexts);

/* Every call that the command line lets through, at every size. */
static void for_calls(struct bench *b, struct call_sizes sizes, gp_context *const *contexts,
                      measure_function measure)
{
    for (int i = 0; i < sizes.count; i++) {
        struct call_measurement m = {.b = b};
        if (call_arrays_make(b->ctx, (size_t)1 << sizes.exponents[i], &m.a) != GP_OK)
            bench_die("%s", gp_last_error(b->ctx));
        for (m.call = call_table; m.call->run; m.call++)
            if (bench_wanted(b, m.call->name, m.call->dtype))
                measure(&m, contexts);
        call_arrays_free(b->ctx, &m.a);
    }
}

/* ---- calls and loops on the CPU -------------------------------------------------------------- */

/* The arguments of the plain loop of a call; whether there is one. */
static bool loop_of(struct call_measurement *m, struct call_subject *s)
{
    const struct call *c = m->call;
    const struct call_arrays *a = &m->a;
    const struct bench_peer *p =
        c->loop_suite ? bench_find_peer(m->b, c->loop_suite, c->loop_case, c->dtype) : NULL;
    if (!p)
        return false;
    m->loop = (struct bench_args){.dtype = c->dtype,
                                  .n = a->n,
                                  .flags = a->flags,
                                  .out = a->out,
                                  .count = a->out_count,
                                  .bins = CALL_BINS};
    c->loop_input(a, &m->loop);
    *s = (struct call_subject){.impl = p->impl, .run = p->run};
    return true;
}

static void print_nanoseconds(const struct call_subject *s, bool with_loop)
{
    printf("%12.1f%12.1f", s[0].median * 1e9, s[0].min * 1e9);
    if (with_loop)
        printf("%12.1f%12.1f%12.1f%12.1f", s[1].median * 1e9, s[1].min * 1e9,
               (s[0].median - s[1].median) * 1e9, (s[0].min - s[1].min) * 1e9);
    printf("\n");
    fflush(stdout);
}

static void measure_short(struct call_measurement *m, gp_context *const *contexts)
{
    static struct call_subject s[2];
    s[0] = (struct call_subject){.impl = "gp", .ctx = contexts[0]};
    const bool with_loop = loop_of(m, &s[1]);
    if (!call_usable(m, &s[0]) || (with_loop && !call_agree(m, &s[1], &s[0])))
        return;
    call_time_rows(m, s, with_loop ? 2 : 1, 0);
    printf("%-28s%-5s%9zu", m->call->name, gp_dtype_string(m->call->dtype), m->a.n);
    print_nanoseconds(s, with_loop);
    if (with_loop)
        call_write_csv(m, &s[1], NULL, 0);
    call_write_csv(m, &s[0], with_loop ? &s[1] : NULL, with_loop ? s[1].min / s[0].min : 0);
}

/* ---- one thread and two ---------------------------------------------------------------------- */

/* ratio: the first's time over the second's. */
static void report_pair(const struct call_measurement *m, const struct call_subject *s,
                        double ratio)
{
    printf("%-28s%-5s%9zu%12.3f%12.3f%12.3f%12.3f%8.2fx%8.2fx\n", m->call->name,
           gp_dtype_string(m->call->dtype), m->a.n, s[0].median * 1e6, s[0].min * 1e6,
           s[1].median * 1e6, s[1].min * 1e6, s[0].median / s[1].median, s[0].min / s[1].min);
    fflush(stdout);
    call_write_csv(m, &s[0], NULL, 0);
    call_write_csv(m, &s[1], &s[0], ratio);
}

static void measure_alone(struct call_measurement *m, gp_context *const *contexts)
{
    static struct call_subject s[2];
    s[0] = (struct call_subject){.impl = "gp-1-thread", .ctx = contexts[0]};
    s[1] = (struct call_subject){.impl = "gp-2-threads", .ctx = contexts[1]};
    if (!call_usable(m, &s[0]) || !call_usable(m, &s[1]) || !call_agree(m, &s[0], &s[1]))
        return;
    call_time_rows(m, s, 2, alone_pause);
    report_pair(m, s, s[0].min / s[1].min);
}

static void measure_busy(struct call_measurement *m, gp_context *const *contexts)
{
    static struct call_subject s[2];
    s[0] = (struct call_subject){.impl = "gp-1-thread-busy", .ctx = contexts[0]};
    s[1] = (struct call_subject){.impl = "gp-2-threads-busy", .ctx = contexts[1]};
    if (!call_usable(m, &s[0]) || !call_usable(m, &s[1]))
        return;
    call_time_single(m, s, 2);
    report_pair(m, s, s[0].median / s[1].median);
}

static void print_pair_title(const char *title)
{
    printf("\n%s\n%-28s%-5s%9s%12s%12s%12s%12s%9s%9s\n", title, "call", "dtype", "n", "1: median",
           "best us", "2: median", "best us", "medians", "bests");
}

static void threads_section(struct bench *b)
{
    const struct call_sizes sizes =
        b->options.quick ? call_sizes(b, 12, 20, 4) : call_sizes(b, 8, 22, 2);
    gp_context *contexts[2];
    for (int i = 0; i < 2; i++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        o.backend = GP_BACKEND_CPU;
        o.threads = i + 1;
        if (gp_context_create(&contexts[i], &o) != GP_OK)
            bench_die("%s", gp_last_error(NULL));
    }
    print_pair_title("one thread and two, alone");
    for_calls(b, sizes, contexts, measure_alone);
    print_pair_title("one thread and two, beside a busy process per processor");
    call_busy_begin();
    for_calls(b, sizes, contexts, measure_busy);
    call_busy_end();
    for (int i = 0; i < 2; i++)
        gp_context_destroy(contexts[i]);
}

/* ---- calls that are queued ------------------------------------------------------------------- */

static void measure_queued(struct call_measurement *m, gp_context *const *contexts)
{
    static struct call_subject s[2];
    s[0] = (struct call_subject){.impl = "gp", .ctx = contexts[0]};
    s[1] = (struct call_subject){.impl = "empty_kernel", .run = m->b->backend->empty};
    if (!call_usable(m, &s[0]) || !call_usable(m, &s[0])) /* the first may allocate */
        return;
    m->b->backend->empty(m->b, &m->loop); /* loads it */
    bench_synchronize(m->b);
    call_time_queued(m, s, 2);
    printf("%-28s%-5s%9zu%11.3f%11.3f%11.3f%11.3f%11.3f\n", m->call->name,
           gp_dtype_string(m->call->dtype), m->a.n, s[0].median * 1e6, s[0].min * 1e6,
           s[1].median * 1e6, s[1].min * 1e6, (s[0].median - s[1].median) * 1e6);
    fflush(stdout);
    call_write_csv(m, &s[1], NULL, 0);
    call_write_csv(m, &s[0], &s[1], s[1].median / s[0].median);
}

static void queued_section(struct bench *b)
{
    printf("\nmicroseconds until a call has been queued, beside an empty kernel\n");
    printf("%-28s%-5s%9s%11s%11s%11s%11s%11s\n", "call", "dtype", "n", "median", "best", "empty",
           "best", "above");
    for_calls(b, call_sizes(b, 12, 20, 8), &b->ctx, measure_queued);
}

static void short_section(struct bench *b)
{
    printf("\nnanoseconds of a call, beside a plain loop\n");
    printf("%-28s%-5s%9s%12s%12s%12s%12s%12s%12s\n", "call", "dtype", "n", "median", "best", "loop",
           "best", "above", "best");
    for_calls(b, call_sizes(b, 8, 16, b->options.quick ? 4 : 2), &b->ctx, measure_short);
}

void bench_calls(struct bench *b)
{
    if (b->backend->empty) {
        queued_section(b);
    } else {
        short_section(b);
        threads_section(b);
    }
    call_first(b);
}
