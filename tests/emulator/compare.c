/* SPDX-License-Identifier: MIT */
/*
 * Scans, segmented scans and reductions of 32-bit integers by the emulated CUDA backend, against
 * the CPU's. Run by tools/emulate; the suites of the CUDA backend run on the emulator too, and take
 * longer. Prints how many results were compared; exits with 1 at the first that differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

enum { ITEMS = 2200000 }; /* more than the tile kernels take */

static gp_context *sides[2]; /* CUDA, CPU */
static char *in[2], *out[2], *mark[2];
static unsigned compared;

static void check(gp_context *ctx, gp_status status, const char *what)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, gp_last_error(ctx));
    exit(1);
}
#define OK(ctx, call) check((ctx), (call), #call)

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 7 ^ *state << 13;
}

/* The emulator's memory is the host's. */
static void same(const char *what, size_t n, size_t bytes)
{
    for (int i = 0; i < 2; i++)
        OK(sides[i], gp_context_synchronize(sides[i]));
    compared++;
    if (memcmp(out[0], out[1], bytes) == 0)
        return;
    size_t at = 0;
    while (out[0][at] == out[1][at])
        at++;
    fprintf(stderr, "%s of %zu items: another result from byte %zu on\n", what, n, at);
    exit(1);
}

static void clear(size_t bytes)
{
    memset(out[0], 0x77, bytes);
    memset(out[1], 0x77, bytes);
}

static void scans(size_t n, size_t shift)
{
    const int32_t init = -9;
    for (int choice = 0; choice < 7 * 2 * 2 * 2; choice++) {
        gp_scan_desc d = GP_SCAN_DESC_INIT;
        d.op = (gp_op)(GP_SUM + choice % 7);
        d.in_dtype = choice / 7 % 2 ? GP_I32 : GP_U32;
        d.kind = choice / 14 % 2 ? GP_SCAN_EXCLUSIVE : GP_SCAN_INCLUSIVE;
        d.init = d.kind == GP_SCAN_EXCLUSIVE && choice % 3 ? &init : NULL;
        d.backward = choice / 28;
        if (n > 100000 && choice % 5)
            continue;
        clear(n * 4 + 64);
        for (int i = 0; i < 2; i++)
            OK(sides[i], gp_scan(sides[i], &d, in[i] + 4 * shift, n, out[i] + 4 * (shift / 2)));
        same(gp_op_string(d.op), n, n * 4 + 64);
    }
}

static void segments_by(int source, const gp_scan_desc *d, size_t n, size_t shift)
{
    clear(n * 4 + 64);
    for (int i = 0; i < 2; i++) {
        gp_context *c = sides[i];
        const char *from = in[i] + 4 * shift;
        if (source == 0)
            OK(c, gp_scan_segmented(c, d, from, n, GP_U32, mark[i], 3, out[i]));
        else if (source == 1)
            OK(c, gp_scan_flagged(c, d, from, (const uint8_t *)mark[i] + 16, n, out[i]));
        else if (source == 2)
            OK(c, gp_scan_by_key(c, d, 1, mark[i] + 16, from, n, out[i]));
        else
            OK(c, gp_scan_rows(c, d, from, n / 7, 7, out[i]));
    }
    same("segments", n, n * 4 + 64);
}

static void segments(size_t n, size_t shift)
{
    uint32_t state = (uint32_t)n, offsets[4] = {0, (uint32_t)n / 3, (uint32_t)n / 3, (uint32_t)n};
    for (int i = 0; i < 2; i++) {
        memcpy(mark[i], offsets, sizeof offsets);
        for (size_t k = 0; k < n; k++)
            mark[i][16 + k] = next_random(&state) % 19 == 0;
        state = (uint32_t)n;
    }
    for (int choice = 0; choice < 4 * 7 * 2 * 2; choice++) {
        gp_scan_desc d = GP_SCAN_DESC_INIT;
        d.op = (gp_op)(GP_SUM + choice / 4 % 7);
        d.in_dtype = choice / 28 % 2 ? GP_I32 : GP_U32;
        d.kind = choice / 56 ? GP_SCAN_EXCLUSIVE : GP_SCAN_INCLUSIVE;
        segments_by(choice % 4, &d, n, shift);
    }
}

static void reductions(size_t n, size_t shift)
{
    for (int choice = 0; choice < 14; choice++) {
        clear(64);
        for (int i = 0; i < 2; i++)
            OK(sides[i], gp_reduce(sides[i], choice / 7 ? GP_I32 : GP_U32,
                                   (gp_op)(GP_SUM + choice % 7), in[i] + 4 * shift, n, out[i]));
        same("reduction", n, 64);
    }
}

int main(void)
{
    static const size_t sizes[] = {1, 33, 4099, 30011, 70001, ITEMS};
    const gp_backend backends[2] = {GP_BACKEND_CUDA, GP_BACKEND_CPU};
    uint32_t state = 1;
    for (int i = 0; i < 2; i++) {
        gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
        options.backend = backends[i];
        OK(NULL, gp_context_create(&sides[i], &options));
        OK(sides[i], gp_malloc(sides[i], ITEMS * 4 + 64, (void **)&in[i]));
        OK(sides[i], gp_malloc(sides[i], ITEMS * 4 + 64, (void **)&out[i]));
        OK(sides[i], gp_malloc(sides[i], ITEMS + 64, (void **)&mark[i]));
    }
    for (size_t k = 0; k < ITEMS + 16; k++) {
        const uint32_t item = next_random(&state) ^ 0x80000000u;
        memcpy(in[0] + 4 * k, &item, 4);
        memcpy(in[1] + 4 * k, &item, 4);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        scans(sizes[s], s % 4);
        reductions(sizes[s], s % 4);
        if (sizes[s] < ITEMS)
            segments(sizes[s], s % 4);
    }
    printf("%u results compared, none differs\n", compared);
    return 0;
}
