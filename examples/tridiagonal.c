/* SPDX-License-Identifier: MIT */
/*
 * A tridiagonal system l[i] x[i-1] + d[i] x[i] + u[i] x[i+1] = r[i], solved by three scans: the
 * recurrences of Gauss's elimination, each as maps that can be composed. Stone 1973.
 *
 *   c[i] = u[i] / (d[i] - l[i] c[i-1])               fractions: 2x2 matrices
 *   y[i] = (r[i] - l[i] y[i-1]) / (d[i] - l[i] c[i-1])       affine maps
 *   x[i] = y[i] - c[i] x[i+1]                                affine maps, from the end
 *
 * There is no pivoting: the diagonal must dominate. Products of n matrices shrink by a constant
 * factor each, which bounds n to some thousands in double precision.
 */
#include "cli.h"
#include "host_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096 };

static double l[N], d[N], u[N], r[N], c[N], x[N];

struct map { /* y -> a y + b */
    double a, b;
};

static void scan(gp_context *ctx, gp_op op, void *items)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = GP_F64;
    desc.op = op;
    host_scan(ctx, &desc, items, N, items);
}

/* The fraction p / q after a row is [0 u; -l d] times (p, q); any factor, here 1 / d, leaves it.
 * Scans multiply from the left to the right, so the matrices are transposed. */
static void fractions(gp_context *ctx)
{
    static double m[N][4];
    for (size_t i = 0; i < N; i++) {
        m[i][1] = -l[i] / d[i];
        m[i][2] = u[i] / d[i];
        m[i][3] = 1.0;
    }
    scan(ctx, GP_MAT2, m);
    for (size_t i = 0; i < N; i++)
        c[i] = m[i][2] / m[i][3]; /* c[-1] is 0 / 1 */
}

static void solve(gp_context *ctx)
{
    static struct map maps[N];
    fractions(ctx);
    for (size_t i = 0; i < N; i++) {
        double pivot = d[i] - (i ? l[i] * c[i - 1] : 0.0);
        maps[i] = (struct map){-l[i] / pivot, r[i] / pivot};
    }
    scan(ctx, GP_AFFINE, maps);
    for (size_t i = 0; i < N; i++)
        x[i] = maps[i].b;
    for (size_t i = 0; i < N; i++)
        maps[i] = (struct map){-c[N - 1 - i], x[N - 1 - i]};
    scan(ctx, GP_AFFINE, maps);
    for (size_t i = 0; i < N; i++)
        x[i] = maps[N - 1 - i].b;
}

int main(int argc, char **argv)
{
    gp_context *ctx = NULL;
    double worst = 0.0;
    cli_alone("tridiagonal", "A tridiagonal system by three scans, checked.", argc, argv);
    for (size_t i = 0; i < N; i++) {
        l[i] = i ? noise(4 * i) - 0.5 : 0.0;
        u[i] = i + 1 < N ? noise(4 * i + 1) - 0.5 : 0.0;
        d[i] = fabs(l[i]) + fabs(u[i]) + 0.5 + noise(4 * i + 2);
        r[i] = 10.0 * noise(4 * i + 3) - 5.0;
    }
    need(NULL, gp_context_create(&ctx, NULL));
    solve(ctx);
    gp_context_destroy(ctx);
    for (size_t i = 0; i < N; i++) {
        double left = d[i] * x[i] + (i ? l[i] * x[i - 1] : 0.0);
        left += i + 1 < N ? u[i] * x[i + 1] : 0.0;
        worst = fmax(worst, isfinite(left) ? fabs(left - r[i]) : HUGE_VAL);
    }
    printf("%d equations: x[0] = %.12g, largest residual %.1e\n", N, x[0], worst);
    return !(worst < 1e-12);
}
