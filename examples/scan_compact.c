/* SPDX-License-Identifier: MIT */
/*
 * Stream compaction from a scan: where a kept item goes is how many are kept before it. The library
 * scans flags of a byte each into positions, and the host moves the items. gp_compact() does all of
 * it in one pass.
 */
#include "cli.h"
#include "host_scan.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000 };

/* Keep the items whose flag is 1, in order; returns how many. */
static size_t compact(gp_context *ctx, const float *in, const uint8_t *keep, size_t n, float *out)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    uint32_t *position = host_memory((n + 1) * sizeof *position);
    desc.kind = GP_SCAN_ROW_POINTERS; /* one more than items: the total comes along */
    desc.in_dtype = GP_U8;
    desc.out_dtype = GP_U32;
    host_scan(ctx, &desc, keep, n, position);
    for (size_t i = 0; i < n; i++)
        if (keep[i])
            out[position[i]] = in[i];
    size_t count = position[n];
    free(position);
    return count;
}

int main(int argc, char **argv)
{
    static float in[N], out[N];
    static uint8_t keep[N];
    gp_context *ctx = NULL;
    size_t expected = 0, wrong = 0;
    cli_alone("scan_compact", "Compaction of an array by a scan of its flags, checked.", argc,
              argv);
    for (size_t i = 0; i < N; i++) {
        in[i] = (float)(noise(i) * 60.0 - 30.0);
        keep[i] = in[i] > 0.0f;
    }
    need(NULL, gp_context_create(&ctx, NULL));
    size_t count = compact(ctx, in, keep, N, out);
    gp_context_destroy(ctx);
    for (size_t i = 0; i < N; i++)
        if (in[i] > 0.0f)
            wrong += out[expected++] != in[i];
    printf("%zu of %d items kept, the first is %g\n", count, N, (double)out[0]);
    return count != expected || wrong != 0;
}
