/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* Pixels. */
enum { WIDTH = 800, HEIGHT = 470, BOX = 360, LEFT = 30, TOP = 56, PLOT_LEFT = 470, PLOT = 300 };
enum { SHADES = 8 };

static const char *const shades[SHADES] = {"#c6dbef", "#a6c8e4", "#84b3d9", "#639ccb",
                                           "#4585bb", "#2b6ca7", "#17538d", "#08306b"};

static uint64_t largest(const uint64_t *values, size_t n)
{
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static void text(FILE *f, double x, double y, const char *anchor, const char *what)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *what; what++)
        if (*what == '<' || *what == '>' || *what == '&')
            fprintf(f, "&#%d;", *what);
        else
            fputc(*what, f);
    fprintf(f, "</text>\n");
}

/* ---- the pattern ----------------------------------------------------------------------------- */

struct range {
    double least, most; /* entries of a cell that has some */
};

static struct range range_of(const uint64_t *cells, size_t n)
{
    struct range range = {INFINITY, 1.0};
    for (size_t i = 0; i < n; i++)
        if (cells[i]) {
            range.least = fmin(range.least, (double)cells[i]);
            range.most = fmax(range.most, (double)cells[i]);
        }
    return range;
}

/* By the logarithm: a cell with few entries among those with many should be seen. */
static int shade_of(uint64_t entries, const struct range *range)
{
    const double share =
        log((double)entries / range->least) / log((range->most + 1.0) / range->least);
    return entries ? (int)(share * SHADES) : -1;
}

/* Cells of one shade are one path, runs of them one rectangle. */
static void draw_shade(FILE *f, const struct picture *p, int shade, const struct range *range)
{
    fprintf(f, "<path fill=\"%s\" d=\"", shades[shade]);
    for (size_t r = 0; r < p->cell_rows; r++)
        for (size_t c = 0, run; c < p->cell_cols; c += run + !run) {
            const uint64_t *cells = p->cells + r * p->cell_cols;
            for (run = 0; c + run < p->cell_cols && shade_of(cells[c + run], range) == shade;)
                run++;
            if (run)
                fprintf(f, "M%zu %zuh%zuv1h-%zuz", c, r, run, run);
        }
    fprintf(f, "\"/>\n");
}

static void draw_pattern(FILE *f, const struct picture *p)
{
    const double longer = (double)(p->rows > p->cols ? p->rows : p->cols);
    const double width = fmax(12.0, BOX * (double)p->cols / longer);
    const double height = fmax(12.0, BOX * (double)p->rows / longer);
    const struct range range = range_of(p->cells, p->cell_rows * p->cell_cols);
    char line[64];
    snprintf(line, sizeof line, "%zu rows, %zu columns", p->rows, p->cols);
    text(f, LEFT, TOP - 8, "start", line);
    fprintf(f,
            "<g transform=\"translate(%d %d) scale(%.6f %.6f)\" shape-rendering=\"crispEdges\">\n",
            LEFT, TOP, width / (double)p->cell_cols, height / (double)p->cell_rows);
    for (int shade = 0; shade < SHADES; shade++)
        draw_shade(f, p, shade, &range);
    fprintf(f, "</g>\n<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" class=\"axis\"/>\n",
            LEFT, TOP, width, height);
}

/* ---- degrees --------------------------------------------------------------------------------- */

struct axes {
    int bins;
    double decades;
};

static double x_of(const struct axes *a, int bin)
{
    return PLOT_LEFT + PLOT * ((double)bin + 0.5) / a->bins;
}

static double y_of(const struct axes *a, double count)
{
    return TOP + BOX - BOX * log10(count) / a->decades;
}

static void draw_axes(FILE *f, const struct axes *a)
{
    char label[32];
    fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"axis\"/>\n", PLOT_LEFT,
            TOP, PLOT, BOX);
    for (int bin = 0; bin < a->bins; bin += bin < 2 || a->bins < 8 ? 1 : 3) {
        snprintf(label, sizeof label, "%llu", bin ? 1ULL << (bin - 1) : 0ULL);
        text(f, x_of(a, bin), TOP + BOX + 16, "middle", label);
    }
    for (int decade = 0; decade <= (int)a->decades; decade++) {
        const double y = y_of(a, pow(10.0, decade));
        snprintf(label, sizeof label, "%.0f", pow(10.0, decade));
        text(f, PLOT_LEFT - 6, y + 4, "end", label);
        fprintf(f, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>\n", PLOT_LEFT, y, PLOT);
    }
    text(f, PLOT_LEFT + PLOT / 2, TOP + BOX + 34, "middle", "entries (from there on)");
}

static void draw_series(FILE *f, const struct axes *a, const uint64_t *counts, const char *colour,
                        const char *name, int place)
{
    const double legend = TOP + 16 + 18 * place;
    fprintf(f, "<g fill=\"%s\" stroke=\"%s\"><polyline fill=\"none\" points=\"", colour, colour);
    for (int bin = 0; bin < a->bins; bin++)
        if (counts[bin])
            fprintf(f, "%.1f,%.1f ", x_of(a, bin), y_of(a, (double)counts[bin]));
    fprintf(f, "\"/>\n");
    for (int bin = 0; bin < a->bins; bin++)
        if (counts[bin])
            fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", x_of(a, bin),
                    y_of(a, (double)counts[bin]), place ? 2.5 : 4.5);
    fprintf(f, "<circle cx=\"%d\" cy=\"%.1f\" r=\"4\"/></g>\n", PLOT_LEFT + PLOT - 82, legend - 4);
    text(f, PLOT_LEFT + PLOT - 72, legend, "start", name);
}

static void draw_degrees(FILE *f, const struct picture *p)
{
    const uint64_t in = largest(p->in, (size_t)p->bins), out = largest(p->out, (size_t)p->bins);
    struct axes a = {1, fmax(1.0, ceil(log10((double)(in > out ? in : out) + 1.0)))};
    for (int bin = 0; bin < p->bins; bin++)
        if (p->in[bin] || p->out[bin])
            a.bins = bin + 1;
    text(f, PLOT_LEFT, TOP - 8, "start", "how many rows and columns have that many entries");
    draw_axes(f, &a);
    draw_series(f, &a, p->in, "#d95f02", "rows", 0);
    draw_series(f, &a, p->out, "#1b7f79", "columns", 1);
}

bool picture_write(const char *path, const struct picture *p)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<style>text{font:12px sans-serif;fill:#222}"
            ".axis{fill:none;stroke:#888}.grid{stroke:#ddd}.title{font-size:15px}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<g class=\"title\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    text(f, LEFT, 24, "start", p->title);
    fprintf(f, "</g>\n");
    if (p->cell_rows && p->cell_cols)
        draw_pattern(f, p);
    draw_degrees(f, p);
    fprintf(f, "</svg>\n");
    const bool good = !ferror(f);
    const int why = errno;
    if (fclose(f) == 0 && good)
        return true;
    errno = good ? errno : why;
    return false;
}
