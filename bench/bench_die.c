/* SPDX-License-Identifier: MIT */
/* The end of a run that cannot go on; a file of its own, so that no two files need each other. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

void bench_die(const char *format, ...)
{
    va_list list;
    fflush(stdout);
    fputs("gp-bench: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}
