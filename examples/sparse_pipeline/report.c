/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>
#include <time.h>

static const double first_after = 0.5, then_every = 0.1; /* seconds */

double report_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void report_begin(struct report *r, const char *stage)
{
    r->stage = stage;
    r->begin = report_now();
    r->shown = r->begin + first_after - then_every;
}

void report_progress(void *report, double done, double total)
{
    struct report *r = report;
    double now;
    if (!r->terminal || (now = report_now()) < r->shown + then_every)
        return;
    double percent = total > 0 ? 100.0 * done / total : 0.0;
    printf("\r%-18s %3.0f%%  %.1f s", r->stage, percent < 100.0 ? percent : 100.0, now - r->begin);
    fflush(stdout);
    r->shown = now;
    r->progress_up = true;
}

void report_clear(struct report *r)
{
    if (r->progress_up)
        printf("\r%40s\r", "");
    fflush(stdout);
    r->progress_up = false;
}

void report_title(void)
{
    printf("\n%-18s %12s  %-22s %-5s %s\n", "stage", "time", "rate", "on", "by");
}

/* Write value with the largest of the prefixes that leaves at least 1 before the point. */
static void scaled(char text[32], double value, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    int i = 0;
    for (; value >= 1000.0 && i < 4; i++)
        value /= 1000.0;
    snprintf(text, 32, "%.*f %s%s/s", value < 10 ? 2 : value < 100 ? 1 : 0, value, prefix[i], unit);
}

void report_line(struct report *r, const struct stage_line *line)
{
    char time[32], rate[32] = "";
    report_clear(r);
    if (line->seconds < 1.0)
        snprintf(time, sizeof time, "%.3f ms", 1e3 * line->seconds);
    else
        snprintf(time, sizeof time, "%.2f s ", line->seconds);
    if (line->unit && line->seconds > 0)
        scaled(rate, line->amount / line->seconds, line->unit);
    printf("%-18s %12s  %-22s %-5s %s\n", line->name, time, rate, line->where, line->note);
    fflush(stdout);
}
