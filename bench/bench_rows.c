/* SPDX-License-Identifier: MIT */
/* Rows: the readable table, the CSV file, and the comparison of two such files. */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char columns[] =
    "machine,date,commit,suite,case,impl,dtype,n,median_s,min_s,runs,bytes,"
    "memcpy_ratio,best_peer,peer_ratio";

enum { NUM_COLUMNS = 15, LINE_BYTES = 1024, KEY_COLUMNS_FIRST = 3, KEY_COLUMNS_LAST = 7 };
enum { ROWS_MAX = 1 << 18 }; /* of a file to compare: far more than any run writes */
enum { COLUMN_IMPL = 5, COLUMN_MEDIAN = 8, COLUMN_MEMCPY_RATIO = 12, COLUMN_PEER_RATIO = 14 };

void bench_write_header(struct bench *b)
{
    printf("%-15s%-23s%-7s%11s  %-18s%11s%11s%9s%9s%9s\n", "suite", "case", "dtype", "n", "impl",
           "median us", "min us", "GB/s", "ideal", "vs peer");
    if (b->csv)
        fprintf(b->csv, "%s\n", columns);
}

/* So that calls of some nanoseconds can be distinguished. */
static int micro_decimals(double microseconds)
{
    return microseconds < 100 ? 3 : 1;
}

void bench_write_csv(struct bench *b, const struct bench_row *r)
{
    char ratio[32] = "", ideal[32] = "";
    const int decimals = r->median < 1e-4 ? 12 : 9;
    if (!b->csv)
        return;
    if (r->peer_ratio > 0)
        snprintf(ratio, sizeof ratio, "%.4f", r->peer_ratio);
    if (r->memcpy_ratio > 0)
        snprintf(ideal, sizeof ideal, "%.4f", r->memcpy_ratio);
    fprintf(b->csv, "%s,%s,%s,%s,%s,%s,%s,%zu,%.*f,%.*f,%d,%.0f,%s,%s,%s\n", b->machine, b->date,
            b->commit, r->suite, r->name, r->impl, r->dtype, r->n, decimals, r->median, decimals,
            r->min, r->runs, r->bytes, ideal, r->best_peer, ratio);
    if (fflush(b->csv) != 0) /* now, not after some more hours */
        bench_die("cannot write %s: %s", b->options.csv, strerror(errno));
}

void bench_write_row(struct bench *b, const struct bench_row *r)
{
    char peer[32] = "";
    if (r->peer_ratio > 0)
        snprintf(peer, sizeof peer, "%.2fx", r->peer_ratio);
    printf("%-15s%-23s%-7s%11zu  %-18s%11.1f%11.1f%9.1f%9.3f%9s\n", r->suite, r->name, r->dtype,
           r->n, r->impl, r->median * 1e6, r->min * 1e6, r->bytes / r->median * 1e-9,
           r->memcpy_ratio, peer);
    fflush(stdout);
    bench_write_csv(b, r);
}

/* ---- comparing two files --------------------------------------------------------------------- */

struct line {
    char text[LINE_BYTES];
    char *column[NUM_COLUMNS];
};

struct file {
    struct line *lines;
    size_t count;
};

static bool split(struct line *l)
{
    char *p = l->text;
    p[strcspn(p, "\r\n")] = '\0';
    for (int i = 0; i < NUM_COLUMNS; i++) {
        char *comma = strchr(p, ',');
        l->column[i] = p;
        if (!comma)
            return i == NUM_COLUMNS - 1;
        *comma = '\0';
        p = comma + 1;
    }
    return false;
}

static void append(struct file *f, const char *name, size_t row, const char *text)
{
    if (f->count == ROWS_MAX)
        bench_die("%s: more than %d rows", name, (int)ROWS_MAX);
    if ((f->count & (f->count - 1)) == 0) { /* at powers of two */
        f->lines = realloc(f->lines, (f->count ? 2 * f->count : 1) * sizeof *f->lines);
        if (!f->lines)
            bench_die("%s: out of memory for row %zu", name, row);
    }
    snprintf(f->lines[f->count++].text, LINE_BYTES, "%s", text);
}

/* The row is asked for its columns when it is read, so that a file of another kind ends here. */
static struct file load(const char *name)
{
    struct file f = {0};
    struct line line;
    FILE *in = fopen(name, "r");
    if (!in)
        bench_die("cannot read %s: %s", name, strerror(errno));
    for (size_t row = 1; fgets(line.text, sizeof line.text, in); row++) {
        char text[LINE_BYTES];
        memcpy(text, line.text, sizeof text);
        if (!split(&line))
            bench_die("%s: row %zu does not have %d columns", name, row, (int)NUM_COLUMNS);
        if (strncmp(text, "machine,", 8) != 0)
            append(&f, name, row, text);
    }
    if (ferror(in))
        bench_die("cannot read %s: %s", name, strerror(errno));
    fclose(in);
    if (f.count == 0)
        bench_die("%s: no rows", name);
    for (size_t i = 0; i < f.count; i++) /* after the last realloc: columns point into lines */
        split(&f.lines[i]);
    return f;
}

/* Suite, case, dtype and n name a measurement; of ours only, peers carry versions. */
static bool same_case(const struct line *a, const struct line *b)
{
    for (int i = KEY_COLUMNS_FIRST; i <= KEY_COLUMNS_LAST; i++)
        if (strcmp(a->column[i], b->column[i]) != 0)
            return false;
    return true;
}

static const struct line *find(const struct file *f, const struct line *wanted)
{
    for (size_t i = f->count; i-- > 0;) /* the newest row of a file that was appended to */
        if (same_case(&f->lines[i], wanted))
            return &f->lines[i];
    return NULL;
}

int bench_compare(const char *old_file, const char *new_file)
{
    struct file before = load(old_file), after = load(new_file);
    size_t shared = 0;
    printf("%-15s%-23s%-7s%11s  %-18s%11s%11s%9s%17s%17s\n", "suite", "case", "dtype", "n", "impl",
           "old us", "new us", "speedup", "ideal", "vs peer");
    for (size_t i = 0; i < after.count; i++) {
        const struct line *n = &after.lines[i], *o = find(&before, n);
        if (!o)
            continue;
        double old_s = atof(o->column[COLUMN_MEDIAN]), new_s = atof(n->column[COLUMN_MEDIAN]);
        printf("%-15s%-23s%-7s%11s  %-18s%11.*f%11.*f%8.2fx%8s %8s%8s %8s\n", n->column[3],
               n->column[4], n->column[6], n->column[7], n->column[COLUMN_IMPL],
               micro_decimals(old_s * 1e6), old_s * 1e6, micro_decimals(new_s * 1e6), new_s * 1e6,
               old_s / new_s, o->column[COLUMN_MEMCPY_RATIO], n->column[COLUMN_MEMCPY_RATIO],
               o->column[COLUMN_PEER_RATIO], n->column[COLUMN_PEER_RATIO]);
        shared++;
    }
    printf("%zu rows in both; %zu only in %s\n", shared, after.count - shared, new_file);
    free(before.lines);
    free(after.lines);
    return shared ? 0 : 1;
}
