/* SPDX-License-Identifier: MIT */
/* Check, with assertions that cost a comparison where they hold. Its own macros write each of them
 * to a pipe, so that it knows the last one before a crash: a system call for every item that a test
 * compares (tools-18 in docs/tuning). Here the thread remembers it. */
#ifndef GP_TEST_ASSERTS_H
#define GP_TEST_ASSERTS_H

#include <check.h>

/* The last assertion of this thread that held. */
extern _Thread_local const char *t_held_file;
extern _Thread_local int t_held_line;

static inline void t_held(const char *file, int line)
{
    t_held_file = file;
    t_held_line = line;
}

#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                   \
    ((expr) ? t_held(__FILE__, __LINE__)                                                           \
            : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", __VA_ARGS__))

/* From here on, a crash says which it was. Sanitizers write the stack, and are left alone. */
void t_tell_crashes(void);

#endif
