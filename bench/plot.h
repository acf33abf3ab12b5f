/* SPDX-License-Identifier: MIT */
/* Line charts as SVG files: panels one below the other, over a common logarithmic x axis. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <stdbool.h>

enum { PLOT_POINTS = 32, PLOT_LINES = 24 };

struct plot_line {
    char label[32];
    const char *colour; /* as SVG takes it */
    bool thick, dashed;
    int count;
    double x[PLOT_POINTS], y[PLOT_POINTS]; /* positive, x ascending */
};

struct plot_panel {
    const char *y_title;
    bool log_y; /* otherwise from 0 */
    int num_lines;
    struct plot_line lines[PLOT_LINES];
};

struct plot {
    const char *title, *note, *x_title;
    int num_panels;
    const struct plot_panel *panels;
};

/* False if the file cannot be written, or there is nothing to draw. */
bool plot_write(const struct plot *p, const char *file);

#endif
