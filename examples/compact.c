/* SPDX-License-Identifier: MIT */
/* Keep the temperatures above freezing, on the GPU if there is one. */
#include <gp/gp.h>

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

/* Every call returns a status; the context has the text. */
static void need(gp_context *ctx, gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "compact: %s\n", gp_last_error(ctx));
    exit(1);
}

int main(int argc, char **argv)
{
    static float celsius[N], warm[N];
    const float freezing = 0.0f;
    uint64_t count, expected = 0;
    gp_context *ctx = NULL;
    void *in, *out, *out_count;
    cli_alone("compact", "Keeps the temperatures above freezing, checked.", argc, argv);

    for (int i = 0; i < N; i++) {
        celsius[i] = (float)(i * 37 % 61) - 30.0f;
        expected += celsius[i] > freezing;
    }
    need(NULL, gp_context_create(&ctx, NULL));
    need(ctx, gp_malloc(ctx, sizeof celsius, &in));
    need(ctx, gp_malloc(ctx, sizeof warm, &out));
    need(ctx, gp_malloc(ctx, sizeof count, &out_count));

    need(ctx, gp_copy(ctx, celsius, sizeof celsius, in));
    need(ctx, gp_compact_if(ctx, GP_F32, GP_GT, &freezing, in, N, out, out_count));
    need(ctx, gp_copy(ctx, out, sizeof warm, warm));
    need(ctx, gp_copy(ctx, out_count, sizeof count, &count));
    need(ctx, gp_context_synchronize(ctx)); /* until here everything was only queued */

    printf("%llu of %d are above freezing, the first is %g\n", (unsigned long long)count, N,
           (double)warm[0]);
    gp_free(ctx, in);
    gp_free(ctx, out);
    gp_free(ctx, out_count);
    gp_context_destroy(ctx);
    return count == expected && warm[0] == 7.0f ? 0 : 1;
}
