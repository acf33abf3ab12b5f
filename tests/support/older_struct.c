/* SPDX-License-Identifier: MIT */
/* Compiled together with src/core/structs.c, which the library does not export. */
#include "older_struct.h"

#include "core/structs.h"

gp_status gpi_fail(gp_context *ctx, gp_status status, const char *format, ...)
{
    (void)ctx, (void)format;
    return status;
}

gp_status older_take(const void *given, void *full, size_t bytes, const size_t *older)
{
    const struct gpi_form form = {bytes, older, "itself"};
    return gpi_take_struct(NULL, "older_take", "given", given, full, &form);
}
