/* SPDX-License-Identifier: MIT */
#include "core/structs.h"

static bool is_known(size_t size, const struct gpi_form *form)
{
    if (size >= form->bytes)
        return size <= GPI_STRUCT_MAX;
    for (const size_t *older = form->older; older && *older; older++)
        if (size == *older)
            return true;
    return false;
}

gp_status gpi_take_other_struct(gp_context *ctx, const char *function, const char *argument,
                                const void *given, void *full, const struct gpi_form *form)
{
    const unsigned char *byte = given;
    size_t size;
    if (!given)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is NULL", function, argument);
    memcpy(&size, given, sizeof size);
    if (!is_known(size, form))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s->size is %zu, expected %zu: start from %s",
                        function, argument, size, form->bytes, form->start);
    for (size_t i = form->bytes; i < size; i++)
        if (byte[i])
            return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                            "%s: %s->size is %zu, but its byte %zu is not 0: this library knows "
                            "the first %zu bytes",
                            function, argument, size, i, form->bytes);
    memset(full, 0, form->bytes);
    memcpy(full, given, size < form->bytes ? size : form->bytes);
    memcpy(full, &form->bytes, sizeof form->bytes);
    return GP_OK;
}
