/* SPDX-License-Identifier: MIT */
/* A build without CUDA has no context that could come here. */
#include "validate/validate_gate.h"

gp_status gpi_gate_begin(gp_context *ctx, const char *function)
{
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: this build has no CUDA", function);
}

gp_status gpi_gate_enter(gp_context *ctx, const char *function, gp_status status)
{
    (void)ctx;
    (void)function;
    return status;
}

gp_status gpi_gate_end(gp_context *ctx, const char *function, gp_status status)
{
    (void)ctx;
    (void)function;
    return status;
}
