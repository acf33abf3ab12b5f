/* SPDX-License-Identifier: MIT */
/* A foreign program: sees nothing of gp but what is installed. */
#include <gp/gp.h>
#include <stdio.h>

int main(void)
{
    int in[4] = {1, 2, 3, 4}, out[4];
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    options.backend = GP_BACKEND_CPU;
    if (gp_context_create(&ctx, &options) != GP_OK) {
        fprintf(stderr, "%s\n", gp_last_error(NULL));
        return 1;
    }
    gp_status s = gp_scan_inclusive(ctx, GP_I32, GP_SUM, in, 4, out);
    if (s == GP_OK)
        s = gp_context_synchronize(ctx);
    gp_context_destroy(ctx);
    return s == GP_OK && out[3] == 10 && gp_version() == GP_VERSION ? 0 : 1;
}
