/* SPDX-License-Identifier: MIT */
/* The ten lines of the README, with every status looked at. */
#include <gp/gp.h>

#include <stdio.h>

int main(void)
{
    uint32_t data[] = {5, 1, 4, 1, 3}, sums[5], sorted[5];
    const size_t n = 5, bytes = sizeof data;
    gp_context *ctx = NULL;
    void *in = NULL, *out = NULL;
    int failed = gp_context_create(&ctx, NULL) || gp_malloc(ctx, bytes, &in) ||
                 gp_malloc(ctx, bytes, &out) || gp_copy(ctx, data, bytes, in) ||
                 gp_scan_inclusive(ctx, GP_U32, GP_SUM, in, n, out) ||
                 gp_copy(ctx, out, bytes, sums) || gp_radix_sort(ctx, GP_U32, in, n, out, NULL) ||
                 gp_copy(ctx, out, bytes, sorted) || gp_context_synchronize(ctx);
    if (failed)
        fprintf(stderr, "scan_sort: %s\n", gp_last_error(ctx));
    for (size_t i = 0; i < n && !failed; i++)
        printf("%u %u\n", sums[i], sorted[i]);
    if (!failed)
        failed = sums[4] != 14 || sorted[0] != 1 || sorted[1] != 1 || sorted[4] != 5;
    gp_free(ctx, in);
    gp_free(ctx, out);
    gp_context_destroy(ctx);
    return failed;
}
