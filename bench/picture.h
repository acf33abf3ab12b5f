/* SPDX-License-Identifier: MIT */
/* Line charts as SVG files: panels one below the other, over a common logarithmic x axis. */
#ifndef GP_BENCH_PICTURE_H
#define GP_BENCH_PICTURE_H

#include <stdbool.h>

enum { PICTURE_POINTS = 32, PICTURE_LINES = 24 };

struct picture_line {
    char label[32];
    const char *colour; /* as SVG takes it */
    bool thick, dashed;
    int count;
    double x[PICTURE_POINTS], y[PICTURE_POINTS]; /* positive, x ascending */
};

struct picture_panel {
    const char *y_title;
    bool log_y; /* otherwise from 0 */
    int num_lines;
    struct picture_line lines[PICTURE_LINES];
};

struct picture {
    const char *title, *note, *x_title;
    int num_panels;
    const struct picture_panel *panels;
};

/* False if the file cannot be written, or there is nothing to draw. */
bool picture_write(const struct picture *p, const char *file);

#endif
