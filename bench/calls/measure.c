/* SPDX-License-Identifier: MIT */
/* How calls are timed: in rows, alone with pauses, or only queued. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUED = 16, SINGLE = 200, SINGLE_MIN = 20 };

static const double row_seconds = 20e-6;   /* the clock is read before and after so much work */
static const double call_seconds = 0.5;    /* how long a call may be measured at one size */
static const double single_pause = 100e-6; /* as between the calls of a program that does more */

/* ---- one call -------------------------------------------------------------------------------- */

static int once(const struct call_measurement *m, const struct call_subject *s)
{
    if (s->run)
        return s->run(m->b, &m->loop);
    return m->call->run(s->ctx, &m->a) == GP_OK ? BENCH_OK : BENCH_FAIL;
}

/* Seconds of a call, from entering it to its return. */
static double timed(const struct call_measurement *m, const struct call_subject *s, int calls)
{
    const double begin = bench_now();
    for (int i = 0; i < calls; i++)
        if (once(m, s) != BENCH_OK)
            bench_die("%s failed while it was timed: %s", m->call->name,
                      s->ctx ? gp_last_error(s->ctx) : s->impl);
    return (bench_now() - begin) / calls;
}

/* Call it, and wait; whether it can be measured. */
bool call_usable(const struct call_measurement *m, const struct call_subject *s)
{
    gp_status status = s->run ? GP_OK : m->call->run(s->ctx, &m->a);
    status = status == GP_OK && s->ctx ? gp_context_synchronize(s->ctx) : status;
    if (status == GP_OK)
        return true;
    printf("  %s: %s: %s\n", status == GP_ERROR_UNSUPPORTED ? "skipped" : "FAILED", m->call->name,
           gp_last_error(s->ctx));
    m->b->failures += status != GP_ERROR_UNSUPPORTED;
    return false;
}

/* Leave what the call promises to write; outputs are in the host's memory. */
static void run_over_pattern(const struct call_measurement *m, const struct call_subject *s)
{
    const struct call_arrays *a = &m->a;
    memset(a->outputs, 0xA5, a->output_bytes);
    if (once(m, s) != BENCH_OK)
        bench_die("%s failed: %s", m->call->name, s->impl);
    if (m->call->counted && *a->out_count < a->n) {
        const size_t count = (size_t)*a->out_count, rest = (a->n - count) * sizeof *a->out;
        memset(a->out + count, 0, rest);
        memset(a->out_values + count, 0, rest);
    }
}

/* On the CPU: whether two write the same. */
bool call_agree(const struct call_measurement *m, const struct call_subject *s,
                const struct call_subject *t)
{
    void *expected = malloc(m->a.output_bytes);
    if (!expected)
        bench_die("out of memory for %zu bytes", m->a.output_bytes);
    run_over_pattern(m, s);
    memcpy(expected, m->a.outputs, m->a.output_bytes);
    run_over_pattern(m, t);
    const bool same = memcmp(expected, m->a.outputs, m->a.output_bytes) == 0;
    free(expected);
    if (!same) {
        printf("  WRONG, not timed: %s n=%zu: %s and %s differ\n", m->call->name, m->a.n, s->impl,
               t->impl);
        m->b->failures++;
    }
    return same;
}

void call_write_csv(const struct call_measurement *m, const struct call_subject *s,
                    const struct call_subject *other, double ratio)
{
    const struct bench_row row = {.suite = "calls",
                                  .name = m->call->name,
                                  .impl = s->impl,
                                  .dtype = gp_dtype_string(m->call->dtype),
                                  .best_peer = other ? other->impl : "",
                                  .n = m->a.n,
                                  .runs = s->samples,
                                  .median = s->median,
                                  .min = s->min,
                                  .peer_ratio = ratio};
    bench_write_csv(m->b, &row);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void pause_for(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (seconds > 0)
        nanosleep(&t, NULL);
}

/* Calls that take row_seconds together. */
static int batch_of(const struct call_measurement *m, const struct call_subject *s)
{
    double seconds = timed(m, s, 1);
    for (int i = 0; i < 3; i++) {
        const double again = timed(m, s, 1);
        seconds = again < seconds ? again : seconds;
    }
    return seconds < row_seconds ? 1 + (int)(row_seconds / (seconds + 20e-9)) : 1;
}

void call_summarize(struct call_subject *s)
{
    bench_summarize(s->times, s->samples, &s->median, &s->min);
}

void call_time_rows(const struct call_measurement *m, struct call_subject *s, int count,
                    double pause)
{
    const int wanted = m->b->options.runs * 7 < BENCH_RUNS ? m->b->options.runs * 7 : BENCH_RUNS;
    const double begin = bench_now();
    for (int i = 0; i < count; i++)
        s[i].batch = batch_of(m, &s[i]);
    for (int r = 0; r < wanted && (r < 3 || bench_now() - begin < call_seconds); r++)
        for (int i = 0; i < count; i++) {
            pause_for(pause);
            timed(m, &s[i], 1); /* wakes its threads */
            s[i].times[r] = timed(m, &s[i], s[i].batch);
            s[i].samples = r + 1;
        }
    for (int i = 0; i < count; i++)
        call_summarize(&s[i]);
}

void call_time_single(const struct call_measurement *m, struct call_subject *s, int count)
{
    const int wanted = m->b->options.quick ? SINGLE / 4 : SINGLE;
    const double begin = bench_now(), limit = 2 * call_seconds;
    for (int r = 0; r < wanted && (r < SINGLE_MIN || bench_now() - begin < limit); r++)
        for (int i = 0; i < count; i++) {
            pause_for(single_pause);
            s[i].times[r] = timed(m, &s[i], 1);
            s[i].samples = r + 1;
        }
    for (int i = 0; i < count; i++)
        call_summarize(&s[i]);
}

void call_time_queued(const struct call_measurement *m, struct call_subject *s, int count)
{
    const int rounds = m->b->options.runs * 2 * QUEUED < CALL_SAMPLES ? m->b->options.runs * 2
                                                                      : CALL_SAMPLES / QUEUED;
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < QUEUED; k++)
                s[i].times[s[i].samples++] = timed(m, &s[i], 1);
            bench_synchronize(m->b);
        }
    for (int i = 0; i < count; i++)
        call_summarize(&s[i]);
}

struct call_sizes call_sizes(const struct bench *b, int first, int last, int step)
{
    struct call_sizes s = {0};
    const struct bench_options *o = &b->options;
    for (int i = o->num_exponents; i-- > 0;)
        s.exponents[s.count++] = o->exponents[i];
    for (int e = first; o->num_exponents == 0 && e <= last; e += step)
        s.exponents[s.count++] = e;
    return s;
}
