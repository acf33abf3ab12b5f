/* SPDX-License-Identifier: MIT */
/* What calls take of the stack of the thread that makes them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "every_call.h"
#include "failing.h"
#include "gp_test.h"

enum { SMALL = 3000, LARGE = 1000000, PAINT = 0x5a, MOST = 36 << 10 };

/* A call by a thread whose stack has been painted. */
struct painted {
    gp_context *ctx;
    const every *e;
    int call;
    gp_status status;
    const char *top; /* of what the call has */
    _Alignas(64) char stack[256 << 10];
};

static void *on_painted_stack(void *arg)
{
    struct painted *p = arg;
    const char here = 0;
    p->top = &here;
    p->status = every_run(p->ctx, p->e, p->call);
    return NULL;
}

/* The bytes of stack down to the lowest one that a call has written. Variables of threads, which
 * may lie on the stack, do not count. */
static size_t stack_of(struct painted *p)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t left = 0;
    memset(p->stack, PAINT, sizeof p->stack);
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstack(&attributes, p->stack, sizeof p->stack), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, on_painted_stack, p), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    while (p->stack[left] == PAINT)
        left++;
    return (size_t)(p->top - p->stack) - left;
}

/* On the CPU; sanitizers take more, as do drivers of GPUs. */
START_TEST(test_call_takes_at_most_36_kib_of_stack)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    if (!failing_works() || gp_context_backend(t_ctx()) != GP_BACKEND_CPU)
        return;
    struct painted *p = t_host(sizeof *p);
    o.backend = GP_BACKEND_CPU;
    o.threads = 1 + _i % 2;
    T_OK(gp_context_create(&p->ctx, &o));
    every e = every_new(p->ctx, _i < 2 ? SMALL : LARGE);
    p->e = &e;
    for (p->call = 0; p->call < EVERY_CALLS; p->call++) {
        const size_t bytes = stack_of(p);
        ck_assert_msg(p->status == GP_OK, "%s: %s", every_name(p->call), gp_last_error(p->ctx));
        ck_assert_msg(bytes <= MOST, "%s: %zu bytes", every_name(p->call), bytes);
    }
    every_free(p->ctx, &e);
    gp_context_destroy(p->ctx);
    free(p);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("stack");
    TCase *c = t_case(s, "every call");
    tcase_add_loop_test(c, test_call_takes_at_most_36_kib_of_stack, 0, 4);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
