/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include <gp/comm.h>

#include "core/context.h"
#include "core/registry.h"

static _Thread_local char thread_error[GPI_ERROR_TEXT];

int gp_version(void)
{
    return GP_VERSION;
}

const char *gp_status_string(gp_status status)
{
    switch ((int)status) {
#define STATUS_CASE(name, number, text)                                                            \
    case number:                                                                                   \
        return text;
        GP_ALL_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    default:
        return "not a gp status";
    }
}

gp_status gpi_fail(gp_context *ctx, gp_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx ? ctx->error : thread_error, GPI_ERROR_TEXT, format, args);
    va_end(args);
    return status;
}

const char *gp_last_error(const gp_context *ctx)
{
    return gpi_registry_alive(ctx) ? ctx->error : thread_error;
}
