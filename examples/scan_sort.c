/* SPDX-License-Identifier: MIT */
/* The first program of the README: a scan and a sort, with every status checked. */
#include <gp/gp.h>
#include <stdio.h>
#include <stdlib.h>

static void need(gp_context *ctx, gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "%s\n", gp_last_error(ctx)); /* the call, the argument, its value */
    exit(1);
}

int main(void)
{
    uint32_t data[5] = {5, 1, 4, 1, 3}, sums[5], sorted[5];
    gp_context *ctx;
    void *in, *out; /* memory where the context computes */

    need(NULL, gp_context_create(&ctx, NULL)); /* the first usable GPU, otherwise the CPU */
    need(ctx, gp_malloc(ctx, sizeof data, &in));
    need(ctx, gp_malloc(ctx, sizeof data, &out));
    need(ctx, gp_copy(ctx, data, sizeof data, in));
    need(ctx, gp_scan_inclusive(ctx, GP_U32, GP_SUM, in, 5, out));
    need(ctx, gp_copy(ctx, out, sizeof sums, sums));
    need(ctx, gp_radix_sort(ctx, GP_U32, in, 5, out, NULL));
    need(ctx, gp_copy(ctx, out, sizeof sorted, sorted));
    need(ctx, gp_context_synchronize(ctx)); /* until here the work was only queued */

    for (int i = 0; i < 5; i++)
        printf("%u %u\n", sums[i], sorted[i]); /* 5 1, 6 1, 10 3, 11 4, 14 5 */
    if (fflush(stdout) != 0) {
        perror("scan_sort"); /* such as a full disk */
        return 1;
    }
    gp_free(ctx, in);
    gp_free(ctx, out);
    gp_context_destroy(ctx);
    return sums[4] != 14 || sorted[0] != 1 || sorted[4] != 5;
}
