/* SPDX-License-Identifier: MIT */
/* What the oracle takes from Check and from the tests' support, for programs that are neither. */
#include <stdlib.h>

#include "fuzz.h"
#include "gp_test.h"

void _ck_assert_failed(const char *file, int line, const char *expression, const char *message, ...)
{
    fuzz_fail(file, line, "%s%s", expression, message ? message : "");
}

void *t_host(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    FUZZ_CHECK(memory, "out of memory for %zu bytes", bytes);
    return memory;
}

void t_same_at(const char *file, int line, const char *name, gp_dtype dtype, const void *expected,
               const void *actual, size_t n)
{
    (void)file, (void)line;
    fuzz_same(name, dtype, expected, actual, n);
}
