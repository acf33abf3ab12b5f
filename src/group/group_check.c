/* SPDX-License-Identifier: MIT */
/* The arrays of all calls of the room: a file of its own, or each call would have the loops. */
#include "core/check.h"
#include "group/group_internal.h"

gp_status gpi_group_check_arrays(gp_context *ctx, const char *function,
                                 const struct gpi_array *arrays, int count)
{
    return gpi_check_arrays(ctx, function, arrays, count);
}
