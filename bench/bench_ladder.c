/* SPDX-License-Identifier: MIT */
/*
 * The ladder: one scan in many ways, from one thread to the library's own, over a wide range of n.
 * A step that has become slow is left out of the larger sizes. On the CPU only the ends are there.
 */
#include "bench.h"

#include <errno.h>
#include <string.h>

#include "bench_task.h"
#include "plot.h"

static const double slow_s = 0.05; /* the longest a step may be expected to take */

/* What was measured, a line per implementation: seconds over n. Colours by family. */
static struct plot_panel times = {.y_title = "time, microseconds", .log_y = true};
static struct plot_panel panels[2];

static const char *const colours[PLOT_LINES] = {
    "#9e9e9e", "#616161", "#a1887f",                       /* plain: to thread-per-item */
    "#64b5f6", "#2196f3", "#1565c0", "#0d3c86", "#00acc1", /* shared memory: to recursion */
    "#66bb6a", "#1b5e20", "#9e9d24",                       /* registers: to items */
    "#f9a825", "#ef6c00", "#6d4c41",                       /* two passes: to fenwick */
    "#f06292", "#ad1457", "#7e57c2",                       /* one pass, and a peer */
};

static struct plot_line *find_line(const char *impl)
{
    for (int i = 0; i < times.num_lines; i++)
        if (strcmp(times.lines[i].label, impl) == 0)
            return &times.lines[i];
    return NULL;
}

static struct plot_line *add_line(const char *impl)
{
    if (times.num_lines == PLOT_LINES)
        bench_die("the ladder has more than %d lines", (int)PLOT_LINES);
    struct plot_line *l = &times.lines[times.num_lines];
    const char *colour = colours[times.num_lines++];
    bool ours = strcmp(impl, "gp") == 0, copy = strcmp(impl, "memcpy") == 0;
    snprintf(l->label, sizeof l->label, "%s", impl);
    l->colour = ours ? "#d50000" : copy || !colour ? "#000000" : colour;
    l->thick = ours;
    l->dashed = copy;
    return l;
}

static void keep(const struct bench_case *c, const struct bench_row *r)
{
    struct plot_line *l = find_line(r->impl);
    (void)c;
    if (!l)
        l = add_line(r->impl);
    if (l->count == PLOT_POINTS)
        return;
    l->x[l->count] = (double)r->n;
    l->y[l->count++] = r->median * 1e6;
}

/* By the time at the size before: time grows at most in proportion to n, or nearly so. */
static bool fast_enough(const struct bench_case *c, const char *impl)
{
    const struct plot_line *l = find_line(impl);
    if (!l)
        return times.num_lines == 0; /* not at the first size either: wrong, or skipped */
    double last_n = l->x[l->count - 1], last_s = l->y[l->count - 1] * 1e-6;
    return last_s * (double)c->args.n / last_n <= slow_s;
}

static int run_gp(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_scan_inclusive(b->ctx, a->dtype, GP_SUM, a->in, a->n, a->out));
}

/* CUB on a GPU, a plain loop on the CPU: what the suite scan trusts too. */
static int run_reference(struct bench *b, const struct bench_args *a)
{
    const struct bench_peer *p = bench_find_peer(b, "scan", "inclusive_sum", GP_I32);
    if (p)
        return p->run(b, a);
    return BENCH_FAIL;
}

static void memcpy_row(struct bench *b, const struct bench_case *c)
{
    struct bench_rate r = bench_rate(b, BENCH_COPY, c->bytes);
    struct bench_row row = {.suite = c->suite,
                            .name = c->name,
                            .impl = b->backend->copy_impl,
                            .dtype = gp_dtype_string(c->args.dtype),
                            .best_peer = "",
                            .n = c->args.n,
                            .runs = b->options.runs,
                            .median = r.median,
                            .min = r.min,
                            .bytes = c->bytes,
                            .memcpy_ratio = 1};
    bench_write_row(b, &row);
    keep(c, &row);
}

static void ladder_case(struct bench *b, size_t n)
{
    struct bench_case c = {.suite = "ladder",
                           .name = "inclusive_sum",
                           .run = run_gp,
                           .reference = run_reference,
                           .wanted = fast_enough,
                           .seen = keep};
    struct bench_task fill = {.kind = BENCH_FILL_BITS, .n = n, .width = 4, .seed = 1};
    fill.out = bench_buffer(b, BENCH_SLOT_0, n * 4);
    b->backend->task(b, &fill);
    c.args.dtype = GP_I32;
    c.args.n = n;
    c.args.in = fill.out;
    c.args.out = bench_buffer(b, BENCH_SLOT_1, n * 4);
    c.bytes = 8.0 * (double)n;
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    bench_measure(b, &c);
    memcpy_row(b, &c);
}

/* Input, output, reference and what a step or the rates may want. */
static bool fits(struct bench *b, size_t n)
{
    void *memory = NULL;
    bool good = gp_malloc(b->ctx, n * 4 * 5, &memory) == GP_OK;
    if (!good)
        printf("  n=%zu and above: too little memory\n", n);
    else if (gp_free(b->ctx, memory) != GP_OK)
        bench_die("%s", gp_last_error(b->ctx));
    return good;
}

/* Ascending: those of --n, otherwise 1 and 3 times the powers of ten. */
static int ladder_sizes(const struct bench *b, size_t *sizes)
{
    const struct bench_options *o = &b->options;
    size_t largest = b->backend == &bench_cpu ? 10000000 : 1000000000;
    int count = 0;
    for (int i = o->num_exponents; i-- > 0;)
        sizes[count++] = (size_t)1 << o->exponents[i];
    if (count)
        return count;
    for (size_t n = 100; n <= largest; n *= 10) {
        sizes[count++] = n;
        if (!o->quick && n < largest)
            sizes[count++] = 3 * n;
    }
    return count;
}

/* A row per step, a column per size: microseconds, in Markdown. */
static void print_table(const size_t *sizes, int count)
{
    printf("\nmicroseconds\n| step |");
    for (int i = 0; i < count; i++)
        printf(" %g |", (double)sizes[i]);
    printf("\n|---|");
    for (int i = 0; i < count; i++)
        printf("--:|");
    for (int k = 0; k < times.num_lines; k++) {
        const struct plot_line *l = &times.lines[k];
        printf("\n| %s |", l->label);
        for (int i = 0; i < count; i++)
            if (i < l->count && l->x[i] == (double)sizes[i])
                printf(" %.*f |", l->y[i] < 100 ? 1 : 0, l->y[i]);
            else
                printf(" |");
    }
    printf("\n");
}

static void draw(struct bench *b)
{
    char note[512];
    struct plot p = {.title = "Inclusive sum of 32-bit integers, step by step",
                     .note = note,
                     .x_title = "n, items",
                     .num_panels = 2,
                     .panels = panels};
    snprintf(note, sizeof note, "%s, %s, gp %s; cold cache, median of %d runs", b->machine, b->date,
             b->commit, b->options.runs);
    panels[0] = panels[1] = times;
    panels[1].y_title = "items read and written once: GB/s";
    panels[1].log_y = false;
    for (int i = 0; i < times.num_lines; i++)
        for (int k = 0; k < times.lines[i].count; k++)
            panels[1].lines[i].y[k] = 8e-3 * times.lines[i].x[k] / times.lines[i].y[k];
    errno = 0;
    if (!plot_write(&p, b->options.svg))
        bench_die("cannot write %s: %s", b->options.svg,
                  errno ? strerror(errno) : "no row to draw");
}

void bench_ladder(struct bench *b)
{
    size_t sizes[PLOT_POINTS];
    int count = ladder_sizes(b, sizes), done = 0;
    if (!bench_wanted(b, "inclusive_sum", GP_I32))
        return;
    while (done < count && fits(b, sizes[done]))
        ladder_case(b, sizes[done++]);
    print_table(sizes, done);
    if (b->options.svg && done)
        draw(b);
}
