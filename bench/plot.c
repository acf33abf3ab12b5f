/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Pixels. */
enum { WIDTH = 980, PANEL = 440, TOP = 64, LEFT = 84, RIGHT = 170, BELOW = 62, LABEL_GAP = 15 };

/* A panel's plot on the page, and the data that its edges stand for (logarithms where log). */
struct frame {
    double left, right, top, bottom;
    double x_low, x_high, y_low, y_high;
    bool log_y;
};

static double x_of(const struct frame *f, double x)
{
    return f->left + (log10(x) - f->x_low) / (f->x_high - f->x_low) * (f->right - f->left);
}

static double y_of(const struct frame *f, double y)
{
    double v = f->log_y ? log10(y) : y;
    return f->bottom - (v - f->y_low) / (f->y_high - f->y_low) * (f->bottom - f->top);
}

static void escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
}

static void text_at(FILE *out, double x, double y, const char *anchor, const char *colour,
                    const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor,
            colour);
    escaped(out, text);
    fputs("</text>\n", out);
}

static void rule(FILE *out, double x1, double y1, double x2, double y2, const char *colour)
{
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"1\"/>\n",
            x1, y1, x2, y2, colour);
}

/* 1, 2 or 5 times a power of ten, so that there are about six ticks. */
static double tick_step(double range)
{
    double power = pow(10, floor(log10(range / 6))), ratio = range / 6 / power;
    return power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

/* What all points lie between; false if there are none. */
static bool find_range(const struct plot_panel *p, struct frame *f)
{
    double x_low = HUGE_VAL, x_high = 0, y_low = HUGE_VAL, y_high = 0;
    for (int i = 0; i < p->num_lines; i++)
        for (int k = 0; k < p->lines[i].count; k++) {
            x_low = fmin(x_low, p->lines[i].x[k]);
            x_high = fmax(x_high, p->lines[i].x[k]);
            y_low = fmin(y_low, p->lines[i].y[k]);
            y_high = fmax(y_high, p->lines[i].y[k]);
        }
    if (!(x_low > 0 && y_low > 0 && x_low <= x_high && isfinite(y_high)))
        return false;
    f->log_y = p->log_y;
    f->x_low = floor(log10(x_low) + 1e-9);
    f->x_high = fmax(ceil(log10(x_high) - 1e-9), f->x_low + 1);
    f->y_low = p->log_y ? floor(log10(y_low)) : 0;
    f->y_high = p->log_y ? fmax(ceil(log10(y_high)), f->y_low + 1) : y_high * 1.05;
    return true;
}

static void draw_axes(FILE *out, const struct frame *f, const char *x_title, const char *y_title)
{
    char text[48];
    double step = f->log_y ? 1 : tick_step(f->y_high - f->y_low);
    fprintf(out, "<g font-size=\"12\">\n");
    for (int e = (int)f->x_low; e <= (int)f->x_high; e++) {
        double x = x_of(f, pow(10, e));
        rule(out, x, f->top, x, f->bottom, "#e4e4e4");
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#333333\">10"
                "<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
                x, f->bottom + 18, e);
    }
    for (double v = f->y_low; v <= f->y_high + step * 1e-6; v += step) {
        double y = y_of(f, f->log_y ? pow(10, v) : v);
        rule(out, f->left, y, f->right, y, "#e4e4e4");
        snprintf(text, sizeof text, "%g", f->log_y ? pow(10, v) : v);
        text_at(out, f->left - 8, y + 4, "end", "#333333", text);
    }
    rule(out, f->left, f->bottom, f->right, f->bottom, "#333333");
    rule(out, f->left, f->top, f->left, f->bottom, "#333333");
    text_at(out, (f->left + f->right) / 2, f->bottom + 38, "middle", "#333333", x_title);
    text_at(out, f->left, f->top - 10, "start", "#333333", y_title);
    fputs("</g>\n", out);
}

static void draw_line(FILE *out, const struct frame *f, const struct plot_line *l)
{
    fprintf(out,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linejoin=\"round\"%s "
            "points=\"",
            l->colour, l->thick ? "3.5" : "1.8", l->dashed ? " stroke-dasharray=\"7 4\"" : "");
    for (int k = 0; k < l->count; k++)
        fprintf(out, "%s%.1f,%.1f", k ? " " : "", x_of(f, l->x[k]), y_of(f, l->y[k]));
    fputs("\"/>\n", out);
}

struct label {
    const struct plot_line *line;
    double end_x, end_y, y;
};

static int by_height(const void *a, const void *b)
{
    double x = ((const struct label *)a)->end_y, y = ((const struct label *)b)->end_y;
    return (x > y) - (x < y);
}

/* Beside the ends of the lines, moved apart: down from the top, then up from the bottom. */
static void draw_labels(FILE *out, const struct frame *f, const struct plot_panel *p)
{
    struct label labels[PLOT_LINES];
    int count = 0;
    for (int i = 0; i < p->num_lines; i++) {
        const struct plot_line *l = &p->lines[i];
        if (!l->count)
            continue;
        double y = y_of(f, l->y[l->count - 1]);
        labels[count++] = (struct label){l, x_of(f, l->x[l->count - 1]), y, y};
    }
    qsort(labels, (size_t)count, sizeof *labels, by_height);
    for (int i = 1; i < count; i++)
        labels[i].y = fmax(labels[i].y, labels[i - 1].y + LABEL_GAP);
    double limit = f->bottom + LABEL_GAP;
    for (int i = count - 1; i >= 0; i--, limit -= LABEL_GAP)
        labels[i].y = fmin(labels[i].y, limit);
    fputs("<g font-size=\"12\">\n", out);
    for (int i = 0; i < count; i++) {
        rule(out, labels[i].end_x, labels[i].end_y, f->right + 14, labels[i].y, "#cccccc");
        text_at(out, f->right + 18, labels[i].y + 4, "start", labels[i].line->colour,
                labels[i].line->label);
    }
    fputs("</g>\n", out);
}

static bool draw_panel(FILE *out, const struct plot *p, int index)
{
    const struct plot_panel *panel = &p->panels[index];
    struct frame f = {.left = LEFT, .right = WIDTH - RIGHT, .top = TOP + 26 + index * PANEL};
    f.bottom = TOP + (index + 1) * PANEL - BELOW;
    if (!find_range(panel, &f))
        return false;
    draw_axes(out, &f, p->x_title, panel->y_title);
    draw_labels(out, &f, panel);
    for (int i = 0; i < panel->num_lines; i++)
        draw_line(out, &f, &panel->lines[i]);
    return true;
}

bool plot_write(const struct plot *p, const char *file)
{
    FILE *out = fopen(file, "w");
    bool good = out != NULL;
    int height = TOP + p->num_panels * PANEL;
    if (!out)
        return false;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" font-family=\"sans-serif\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<g font-size=\"17\">\n",
            (int)WIDTH, height, (int)WIDTH, height);
    text_at(out, LEFT, 28, "start", "#111111", p->title);
    fputs("</g>\n<g font-size=\"12\">\n", out);
    text_at(out, LEFT, 48, "start", "#555555", p->note);
    fputs("</g>\n", out);
    for (int i = 0; i < p->num_panels; i++)
        good = draw_panel(out, p, i) && good;
    fputs("</svg>\n", out);
    good = !ferror(out) && good;
    return fclose(out) == 0 && good;
}
