/* SPDX-License-Identifier: MIT */
/*
 * A polynomial, and a linear recurrence, by scans of affine maps.
 *
 * Horner's rule is the recurrence y -> x y + c, one coefficient c after the other; a recurrence is
 * y -> a[i] y + b[i]. Both apply affine maps in turn, and maps can be composed before any y is
 * known, in any grouping: that is what a scan needs. Kogge and Stone 1973.
 */
#include "cli.h"
#include "host_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100000 };

struct map { /* y -> a y + b */
    double a, b;
};

/* p(x), coefficients from the highest power down: the last prefix, applied to 0, is its b. */
static double evaluate(gp_context *ctx, const double *coefficients, double x)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    struct map *maps = host_memory(N * sizeof *maps);
    desc.in_dtype = GP_F64;
    desc.op = GP_AFFINE;
    for (size_t i = 0; i < N; i++)
        maps[i] = (struct map){x, coefficients[i]};
    host_scan(ctx, &desc, maps, N, maps);
    double value = maps[N - 1].b;
    free(maps);
    return value;
}

/* maps[i].b becomes y[i] = a[i] y[i - 1] + b[i]. The map before the first forgets its argument. */
static void recurrence(gp_context *ctx, struct map *maps, double start)
{
    const struct map constant = {0.0, start};
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = GP_F64;
    desc.op = GP_AFFINE;
    desc.init = &constant;
    host_scan(ctx, &desc, maps, N, maps);
}

static int check_polynomial(gp_context *ctx)
{
    const double x = -0.9997;
    double *c = host_memory(N * sizeof *c), expected = 0.0, size = 0.0;
    for (size_t i = 0; i < N; i++) {
        c[i] = 2.0 * noise(i) - 1.0;
        expected = expected * x + c[i];
        size = size * fabs(x) + fabs(c[i]);
    }
    double value = evaluate(ctx, c, x), off = fabs(value - expected) / size;
    printf("polynomial of degree %d at %g: %.12g, off by %.1e of its terms\n", N - 1, x, value,
           off);
    free(c);
    return !(off < 1e-13);
}

static int check_recurrence(gp_context *ctx)
{
    struct map *maps = host_memory(N * sizeof *maps), *y = host_memory(N * sizeof *y);
    double expected = 3.0, worst = 0.0;
    for (size_t i = 0; i < N; i++)
        y[i] = maps[i] = (struct map){1.9 * noise(i) - 0.95, noise(i + N)};
    recurrence(ctx, y, expected);
    for (size_t i = 0; i < N; i++) {
        expected = maps[i].a * expected + maps[i].b;
        worst = fmax(worst, fabs(y[i].b - expected));
    }
    printf("recurrence of %d steps: ends at %.12g, off by %.1e at most\n", N, y[N - 1].b, worst);
    free(maps);
    free(y);
    return !(worst < 1e-12);
}

int main(int argc, char **argv)
{
    gp_context *ctx = NULL;
    cli_alone("polynomial",
              "A polynomial and a linear recurrence by scans of affine maps, checked.", argc, argv);
    need(NULL, gp_context_create(&ctx, NULL));
    int failed = check_polynomial(ctx);
    failed |= check_recurrence(ctx);
    gp_context_destroy(ctx);
    return failed;
}
