/* SPDX-License-Identifier: MIT */
/* The table that sparse_pipeline prints: one line per stage, and a progress line on a terminal. */
#ifndef EXAMPLE_REPORT_H
#define EXAMPLE_REPORT_H

#include <stdbool.h>

enum { REPORT_NAME = 13, REPORT_RESULT_BYTES = 96 };

struct report {
    bool terminal;     /* progress lines are wanted */
    bool progress_up;  /* one is on the screen */
    const char *stage; /* named by the progress line */
    double begin;      /* of that stage */
    double shown;      /* when the progress line was last written */
    double copy_rate;  /* bytes per second that a copy in the context's memory reads and writes */
};

struct report_stage {
    const char *name;
    double seconds;
    double bytes;  /* what the stage has to read and write in the context's memory; 0: nothing */
    double serial; /* seconds of the oracle; 0: not compared */
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
void report_line(struct report *r, const struct report_stage *stage, const char *result);

/* Seconds in the unit that leaves three to five digits. */
const char *report_time(char text[16], double seconds);

#endif
