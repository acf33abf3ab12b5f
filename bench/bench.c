/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_task.h"

/* Above this many bytes the rate of a copy no longer depends on the size, and it is scaled. */
static const double rate_bytes_max = 2147483648.0;

/* One implementation of a case while it is measured. */
struct impl {
    const char *name;
    bench_run prepare, run;
    bool compared;
    double times[BENCH_RUNS];
    double median, min;
};

int bench_status(struct bench *b, gp_status s)
{
    if (s == GP_OK)
        return BENCH_OK;
    printf("  %s: %s\n", s == GP_ERROR_UNSUPPORTED ? "skipped" : "FAILED", gp_last_error(b->ctx));
    return s == GP_ERROR_UNSUPPORTED ? BENCH_SKIP : BENCH_FAIL;
}

void bench_synchronize(struct bench *b)
{
    gp_status s = gp_context_synchronize(b->ctx);
    if (s != GP_OK)
        bench_die("%s: %s", gp_status_string(s), gp_last_error(b->ctx));
}

void bench_copy(struct bench *b, const void *source, size_t bytes, void *destination)
{
    if (gp_copy(b->ctx, source, bytes, destination) != GP_OK)
        bench_die("%s", gp_last_error(b->ctx));
    bench_synchronize(b);
}

void *bench_buffer(struct bench *b, int slot, size_t bytes)
{
    struct bench_output *s = &b->slots[slot];
    if (s->bytes >= bytes)
        return s->memory;
    if (gp_free(b->ctx, s->memory) != GP_OK || gp_malloc(b->ctx, bytes, &s->memory) != GP_OK)
        bench_die("%s", gp_last_error(b->ctx));
    s->bytes = bytes;
    return s->memory;
}

void *bench_temp(struct bench *b, size_t bytes)
{
    return bench_buffer(b, BENCH_SLOT_TEMP, bytes ? bytes : 1);
}

uint64_t bench_count_bad(struct bench *b, const struct bench_task *task)
{
    struct bench_task t = *task;
    uint64_t bad = 0;
    t.bad = bench_buffer(b, BENCH_SLOT_BAD, sizeof bad);
    b->backend->fill_bytes(b, t.bad, 0, sizeof bad);
    b->backend->task(b, &t);
    bench_copy(b, t.bad, sizeof bad, &bad);
    return bad;
}

void bench_add_peers(struct bench *b, const struct bench_peer *table)
{
    if (table && b->num_peers < BENCH_PEER_TABLES)
        b->peers[b->num_peers++] = table;
}

bool bench_wanted(const struct bench *b, const char *name, gp_dtype dtype)
{
    const struct bench_options *o = &b->options;
    return (!o->case_name || fnmatch(o->case_name, name, 0) == 0) &&
           (!o->dtype || strcmp(o->dtype, gp_dtype_string(dtype)) == 0);
}

int bench_sizes(const struct bench *b, int main_exponent, bool sweep, int *exponents)
{
    static const int smaller[] = {24, 20, 16, 12};
    const struct bench_options *o = &b->options;
    int count = 0;
    if (o->num_exponents > 0) {
        memcpy(exponents, o->exponents, (size_t)o->num_exponents * sizeof *exponents);
        return o->num_exponents;
    }
    exponents[count++] = main_exponent;
    for (size_t i = 0; sweep && !o->quick && i < sizeof smaller / sizeof *smaller; i++)
        if (smaller[i] < main_exponent)
            exponents[count++] = smaller[i];
    return count;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_summarize(double *times, int count, double *median, double *min)
{
    qsort(times, (size_t)count, sizeof *times, by_value);
    *min = times[0];
    *median = count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
}

static void summarize(struct impl *impl, int runs)
{
    bench_summarize(impl->times, runs, &impl->median, &impl->min);
}

/* Arrays of whole lines: a GPU copies others of 1 MB and more up to 4 us slower, and a call beside
   such a copy would seem to be better than it is. */
struct bench_rate bench_rate(struct bench *b, enum bench_ideal ideal, double bytes)
{
    enum { LINE = 512, WORD = 16 };
    double side = fmin(bytes, rate_bytes_max) / (ideal == BENCH_COPY ? 2 : 1);
    size_t unit = side < LINE ? WORD : LINE;
    size_t n = ((size_t)side + unit - 1) / unit * unit;
    struct impl impl = {0};
    struct bench_args a = {0};
    for (int i = 0; i < b->num_rates && !b->cold; i++)
        if (b->rates[i].ideal == ideal && b->rates[i].bytes == bytes)
            return b->rates[i];
    a.n = n ? n : WORD;
    a.in = bench_buffer(b, BENCH_SLOT_RATE_IN, a.n);
    a.out = bench_buffer(b, BENCH_SLOT_RATE_OUT, a.n);
    b->backend->fill_bytes(b, b->slots[BENCH_SLOT_RATE_IN].memory, 1, a.n);
    b->backend->fill_bytes(b, a.out, 2, a.n);
    /* Untimed first: a kernel's first launch loads it. */
    if (b->backend->rates[ideal](b, &a))
        bench_die("the memory rate could not be measured");
    bench_synchronize(b);
    for (int i = -1; i < b->options.runs; i++)
        if (b->backend->time(b, b->backend->rates[ideal], &a, &impl.times[i < 0 ? 0 : i]))
            bench_die("the memory rate could not be measured");
    summarize(&impl, b->options.runs);
    double scale = bytes / ((double)a.n * (ideal == BENCH_COPY ? 2 : 1));
    struct bench_rate r = {ideal, bytes, impl.median * scale, impl.min * scale};
    if (!b->cold && b->num_rates < BENCH_RATES)
        b->rates[b->num_rates++] = r;
    return r;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Outputs get a pattern first, so that what a call does not write is found. */
static int run_once(struct bench *b, const struct bench_case *c, bench_run run)
{
    for (int i = 0; i < BENCH_OUTPUTS; i++)
        if (c->outputs[i].bytes)
            b->backend->fill_bytes(b, c->outputs[i].memory, 0xA5, c->outputs[i].bytes);
    int result = run(b, &c->args);
    if (result == BENCH_OK)
        result = bench_status(b, gp_context_synchronize(b->ctx));
    return result;
}

static void keep_reference(struct bench *b, const struct bench_case *c)
{
    for (int i = 0; i < BENCH_OUTPUTS; i++)
        if (c->outputs[i].bytes)
            bench_copy(b, c->outputs[i].memory, c->outputs[i].bytes,
                       bench_buffer(b, BENCH_SLOT_REFERENCE + i, c->outputs[i].bytes));
}

/* Word by word, of the widest kind that the output is aligned to, then the bytes that are left. */
static uint64_t count_different(struct bench *b, const struct bench_output *o, void *reference)
{
    uintptr_t address = (uintptr_t)o->memory;
    unsigned width = address % 8 == 0 ? 8 : address % 4 == 0 ? 4 : 1;
    size_t words = o->bytes / width, rest = o->bytes % width;
    struct bench_task t = {.kind = BENCH_EQUAL, .n = words, .width = width, .out = o->memory};
    t.a = reference;
    uint64_t bad = words ? bench_count_bad(b, &t) : 0;
    t.n = rest;
    t.width = 1;
    t.out = (char *)o->memory + words * width;
    t.a = (char *)reference + words * width;
    return bad + (rest ? bench_count_bad(b, &t) : 0);
}

static bool equals_reference(struct bench *b, const struct bench_case *c)
{
    for (int i = 0; i < BENCH_OUTPUTS; i++) {
        if (!c->outputs[i].bytes)
            continue;
        uint64_t bad =
            count_different(b, &c->outputs[i], b->slots[BENCH_SLOT_REFERENCE + i].memory);
        if (bad) {
            printf("  output %d differs from the reference in %llu places\n", i,
                   (unsigned long long)bad);
            return false;
        }
    }
    return true;
}

/* Run once, untimed, and see whether the result is right; a wrong one is not timed. */
static bool usable(struct bench *b, const struct bench_case *c, const struct impl *impl,
                   bool *have_reference)
{
    int result = impl->prepare ? impl->prepare(b, &c->args) : BENCH_OK;
    if (result == BENCH_OK)
        result = run_once(b, c, impl->run);
    if (result == BENCH_SKIP)
        return false;
    bool right = result == BENCH_OK;
    if (right && impl->compared) {
        if (c->check)
            right = c->check(b, c);
        else if (*have_reference)
            right = equals_reference(b, c);
        else
            keep_reference(b, c);
        *have_reference = true;
    }
    if (!right) {
        printf("  %s: WRONG, not timed: %s %s %s n=%zu\n", impl->name, c->suite, c->name,
               gp_dtype_string(c->args.dtype), c->args.n);
        b->failures++;
    }
    return right;
}

/* ---- one case -------------------------------------------------------------------------------- */

static bool peer_matches(const struct bench_peer *p, const char *suite, const char *case_name,
                         gp_dtype dtype)
{
    return strcmp(p->suite, suite) == 0 &&
           (!p->case_name || strcmp(p->case_name, case_name) == 0) &&
           (!p->dtype || p->dtype == dtype);
}

const struct bench_peer *bench_find_peer(const struct bench *b, const char *suite,
                                         const char *case_name, gp_dtype dtype)
{
    for (int t = 0; t < b->num_peers; t++)
        for (const struct bench_peer *p = b->peers[t]; p->run; p++)
            if (peer_matches(p, suite, case_name, dtype))
                return p;
    return NULL;
}

/* The peers of a case, then ours. */
static int collect(struct bench *b, const struct bench_case *c, struct impl *impls)
{
    int count = 0;
    for (int t = 0; t < b->num_peers; t++)
        for (const struct bench_peer *p = b->peers[t]; p->run; p++)
            if (peer_matches(p, c->suite, c->name, c->args.dtype) &&
                (!c->wanted || c->wanted(c, p->impl)) && count < BENCH_IMPLS - 1)
                impls[count++] = (struct impl){.name = p->impl,
                                               .prepare = p->prepare,
                                               .run = p->run,
                                               .compared = !p->other_output};
    impls[count++] = (struct impl){.name = "gp", .run = c->run, .compared = true};
    return count;
}

/* Drop what is skipped or wrong; ours is never timed unchecked. */
static int keep_usable(struct bench *b, const struct bench_case *c, struct impl *impls, int count)
{
    bool have_reference = c->check != NULL;
    int kept = 0;
    if (c->reference && !c->check) {
        if (run_once(b, c, c->reference) != BENCH_OK)
            bench_die("the reference of %s %s failed", c->suite, c->name);
        keep_reference(b, c);
        have_reference = true;
    }
    for (int i = 0; i < count; i++) {
        if (i == count - 1 && !have_reference) {
            printf("  skipped: nothing to check %s %s %s n=%zu against\n", c->suite, c->name,
                   gp_dtype_string(c->args.dtype), c->args.n);
            break;
        }
        if (usable(b, c, &impls[i], &have_reference))
            impls[kept++] = impls[i];
    }
    return kept;
}

static double figure(const struct bench *b, double median, double min)
{
    return b->backend->use_min ? min : median;
}

static void write_rows(struct bench *b, const struct bench_case *c, const struct impl *impls,
                       int count)
{
    struct bench_rate rate = bench_rate(b, c->ideal, c->bytes);
    const struct impl *best = NULL;
    for (int i = 0; i < count; i++) {
        const struct impl *m = &impls[i];
        double own = figure(b, m->median, m->min);
        bool ours = m->run == c->run;
        struct bench_row row = {.suite = c->suite,
                                .name = c->name,
                                .impl = m->name,
                                .dtype = gp_dtype_string(c->args.dtype),
                                .best_peer = ours && best ? best->name : "",
                                .n = c->args.n,
                                .runs = b->options.runs,
                                .median = m->median,
                                .min = m->min,
                                .bytes = c->bytes,
                                .memcpy_ratio = figure(b, rate.median, rate.min) / own};
        if (ours && best)
            row.peer_ratio = figure(b, best->median, best->min) / own;
        bench_write_row(b, &row);
        if (c->seen)
            c->seen(c, &row);
        if (!best || own < figure(b, best->median, best->min))
            best = m;
    }
}

void bench_measure(struct bench *b, const struct bench_case *c)
{
    static struct impl impls[BENCH_IMPLS];
    int count = keep_usable(b, c, impls, collect(b, c, impls));
    /* In turn, so that a drift of the machine meets all of them alike. */
    for (int r = 0; r < b->options.runs; r++)
        for (int i = 0; i < count; i++)
            if (b->backend->time(b, impls[i].run, &c->args, &impls[i].times[r]))
                bench_die("%s failed while it was timed: %s %s", impls[i].name, c->suite, c->name);
    for (int i = 0; i < count; i++)
        summarize(&impls[i], b->options.runs);
    write_rows(b, c, impls, count);
}
