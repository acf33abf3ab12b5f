/* SPDX-License-Identifier: MIT */
#include "asserts.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#ifndef T_SANITIZED
#define T_SANITIZED 0 /* for programs that leave crashes alone */
#endif

_Thread_local const char *t_held_file;
_Thread_local int t_held_line;

static void tell(int number)
{
    if (t_held_file)
        dprintf(STDERR_FILENO, "%s:%d: signal %d after this assertion\n", t_held_file, t_held_line,
                number);
    signal(number, SIG_DFL);
    raise(number);
}

void t_tell_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; !T_SANITIZED && i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], tell);
}
