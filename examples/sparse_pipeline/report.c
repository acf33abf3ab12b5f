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
    printf("\r%-*s %3.0f%%  %.1f s", REPORT_NAME, r->stage, percent < 100.0 ? percent : 100.0,
           now - r->begin);
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

const char *report_time(char text[16], double seconds)
{
    if (seconds < 1.0)
        snprintf(text, 16, "%.*f ms", seconds < 0.01 ? 3 : seconds < 0.1 ? 2 : 1, 1e3 * seconds);
    else
        snprintf(text, 16, "%.*f s ", seconds < 100.0 ? 2 : 0, seconds);
    return text;
}

void report_title(void)
{
    printf("%-*s %9s %7s %9s %6s  %s\n", REPORT_NAME, "stage", "time", "of copy", "serial",
           "faster", "result");
}

void report_line(struct report *r, const struct report_stage *stage, const char *result)
{
    char time[16], serial[16] = "", share[16] = "", faster[16] = "";
    const double ratio = stage->seconds > 0 ? stage->serial / stage->seconds : 0.0;
    report_clear(r);
    report_time(time, stage->seconds);
    if (stage->bytes > 0 && stage->seconds > 0)
        snprintf(share, sizeof share, "%.0f%%",
                 100.0 * stage->bytes / stage->seconds / r->copy_rate);
    if (stage->serial > 0) {
        report_time(serial, stage->serial);
        snprintf(faster, sizeof faster, "%.*fx", ratio < 10.0 ? 1 : 0, ratio);
    }
    printf("%-*s %9s %7s %9s %6s  %s\n", REPORT_NAME, stage->name, time, share, serial, faster,
           result);
    fflush(stdout);
}
