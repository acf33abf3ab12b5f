/* SPDX-License-Identifier: MIT */
/* Descriptors and options, which grow: whatever release a caller was compiled for, what the library
 * works with is a full struct of this one. */
#ifndef GPI_STRUCTS_H
#define GPI_STRUCTS_H

#include <string.h>

#include "core/context.h"

/* A struct of the interface; its first member is its size. */
struct gpi_form {
    size_t bytes;        /* here */
    const size_t *older; /* those of earlier releases, then 0; NULL: it has never grown */
    const char *start;   /* what to begin with, for the error text */
};

#define GPI_FORM(type) (&(const struct gpi_form){sizeof(type), NULL, "its initializer macro"})

/* Sizes above are garbage: looking for what is not zero would lead out of the caller's memory. */
enum { GPI_STRUCT_MAX = 4096 };

/* gpi_take_struct() of what is NULL or has another size. */
gp_status gpi_take_other_struct(gp_context *ctx, const char *function, const char *argument,
                                const void *given, void *full, const struct gpi_form *form);

/* Copy a caller's struct into a full one. Not NULL; members that an older caller does not know are
 * 0, their default; what a newer caller knows beyond this library must be 0. */
static inline gp_status gpi_take_struct(gp_context *ctx, const char *function, const char *argument,
                                        const void *given, void *full, const struct gpi_form *form)
{
    if (!given || *(const size_t *)given != form->bytes)
        return gpi_take_other_struct(ctx, function, argument, given, full, form);
    memcpy(full, given, form->bytes);
    return GP_OK;
}

#endif
