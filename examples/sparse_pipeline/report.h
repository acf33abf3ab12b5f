/* SPDX-License-Identifier: MIT */
/* The table that sparse_pipeline prints: one line per stage, and a progress line on a terminal. */
#ifndef EXAMPLE_REPORT_H
#define EXAMPLE_REPORT_H

#include <stdbool.h>

struct report {
    bool terminal;     /* progress lines are wanted */
    bool progress_up;  /* one is on the screen */
    const char *stage; /* named by the progress line */
    double begin;      /* of that stage */
    double shown;      /* when the progress line was last written */
};

struct stage_line {
    const char *name;
    double seconds;
    double amount; /* the rate is amount / seconds */
    const char *unit;
    const char *where; /* "cpu", "cuda", "host" */
    const char *note;
};

/* Seconds of a clock that only goes forward. */
double report_now(void);

/* A stage begins; its progress line, if any, carries this name. */
void report_begin(struct report *r, const char *stage);
/* A coo_progress whose arg is the report. */
void report_progress(void *report, double done, double total);
/* Take the progress line off the screen. */
void report_clear(struct report *r);

void report_title(void);
void report_line(struct report *r, const struct stage_line *line);

#endif
