/* SPDX-License-Identifier: MIT */
/*
 * Radix sort from scans alone: one stable split for each bit, the zeros before the ones. A zero
 * goes to the number of zeros before it; a one to all zeros plus the ones before it. The library
 * scans, the host moves the keys. gp_radix_sort() takes eight bits at a time. Blelloch 1990,
 * section 1.3.
 */
#include "cli.h"
#include "host_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 50000, BITS = 16 };

/* out gets the keys of in, those whose bit is 0 first. */
static void split(gp_context *ctx, const uint32_t *in, int bit, uint32_t *out)
{
    static uint8_t is_zero[N];
    static uint32_t zeros[N + 1]; /* before each key, and in all */
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.kind = GP_SCAN_ROW_POINTERS;
    desc.in_dtype = GP_U8;
    desc.out_dtype = GP_U32;
    for (uint32_t i = 0; i < N; i++)
        is_zero[i] = !(in[i] >> bit & 1);
    host_scan(ctx, &desc, is_zero, N, zeros);
    for (uint32_t i = 0; i < N; i++)
        out[is_zero[i] ? zeros[i] : zeros[N] + (i - zeros[i])] = in[i];
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static uint32_t keys[N], other[N], expected[N];
    gp_context *ctx = NULL;
    cli_alone("scan_split_sort", "A sort of split passes, which are made of scans, checked.", argc,
              argv);
    for (size_t i = 0; i < N; i++)
        keys[i] = expected[i] = (uint32_t)(noise(i) * (1 << BITS));
    need(NULL, gp_context_create(&ctx, NULL));
    for (int bit = 0; bit < BITS; bit += 2) { /* there and back */
        split(ctx, keys, bit, other);
        split(ctx, other, bit + 1, keys);
    }
    gp_context_destroy(ctx);
    qsort(expected, N, sizeof *expected, ascending);
    printf("%d keys of %d bits in %d scans: from %u to %u\n", N, BITS, BITS, keys[0], keys[N - 1]);
    return memcmp(keys, expected, sizeof keys) != 0;
}
