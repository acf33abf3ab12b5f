/* SPDX-License-Identifier: MIT */
/* What is found ends the program. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

void fuzz_fail(const char *file, int line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    abort();
}

void fuzz_same_bytes(const char *what, const void *expected, const void *actual, size_t bytes)
{
    const uint8_t *e = expected, *a = actual;
    for (size_t i = 0; i < bytes; i++)
        FUZZ_CHECK(e[i] == a[i], "%s: byte %zu of %zu is %#x, not %#x", what, i, bytes, a[i], e[i]);
}
