/* SPDX-License-Identifier: MIT */
/*
 * The k-th allocation fails, for every k of every call: the call says GP_ERROR_MEMORY and has
 * written nothing, and the next one gives the right result. On the CPU all allocations of the host
 * count; on CUDA, whose runtime has its own, those of the context's memory.
 */
#include <stdlib.h>
#include <string.h>

#include "every_call.h"
#include "failing.h"
#include "gp_test.h"

enum { N = 70000, ALLOCATIONS_MAX = 20 };

/* ---- an allocator that fails at the k-th allocation ------------------------------------------ */

struct meter {
    long left; /* allocations until one fails; negative: none does */
    long calls, live;
};

static void *meter_allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    struct meter *m = user;
    void *memory;
    (void)alignment, (void)stream;
    m->calls++;
    if (m->left == 0 || gp_malloc(t_ctx(), bytes, &memory) != GP_OK)
        return NULL;
    m->left -= m->left > 0;
    gp_context_synchronize(t_ctx());
    m->live++;
    return memory;
}

static void meter_release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    struct meter *m = user;
    (void)bytes, (void)stream;
    m->live--;
    gp_free(t_ctx(), memory);
}

static gp_context_options options_with(const gp_allocator *allocator)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    o.backend = gp_context_backend(t_ctx());
    o.threads = 1; /* threads that cannot be made mean fewer: see test_threads.c */
    if (allocator)
        o.allocator = *allocator;
    return o;
}

static gp_context *context_with(const gp_allocator *allocator)
{
    gp_context_options o = options_with(allocator);
    gp_context *ctx;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

static uint64_t expected_hash(const every *e, int call)
{
    uint64_t hash;
    ck_assert_msg(every_hash(t_ctx(), e, call, &hash) == GP_OK, "%s", every_name(call));
    return hash;
}

/* The outputs as every_hash() leaves them when the call does nothing. */
static uint64_t untouched_hash(const every *e)
{
    uint64_t hash;
    every none = *e;
    ck_assert_int_eq(every_fill(t_ctx(), &none), GP_OK);
    ck_assert_int_eq(every_read(t_ctx(), &none, &hash), GP_OK);
    return hash;
}

/* Fails allocation k of one call with a new context; whether there were k. */
static bool fail_once(const every *e, int call, long k, uint64_t expected, uint64_t untouched)
{
    struct meter m = {k, 0, 0};
    gp_allocator allocator = {&m, meter_allocate, meter_release};
    const bool of_host = !t_is_cuda() && failing_works();
    gp_context *ctx = context_with(of_host ? NULL : &allocator);
    uint64_t hash;
    ck_assert_int_eq(every_fill(ctx, e), GP_OK);
    failing_allocation(of_host ? k : -1);
    gp_status s = every_run(ctx, e, call);
    bool failed = of_host ? failing_allocations() > k : m.calls > k;
    failing_allocation(-1);
    m.left = -1;
    ck_assert_msg(s == (failed ? GP_ERROR_MEMORY : GP_OK), "%s, allocation %ld: %d, %s",
                  every_name(call), k, s, gp_last_error(ctx));
    if (failed) {
        ck_assert_msg(strlen(gp_last_error(ctx)) > 5, "%s: a text", every_name(call));
        ck_assert_int_eq(gp_context_synchronize(ctx), GP_OK);
        ck_assert_int_eq(every_read(ctx, e, &hash), GP_OK);
        ck_assert_msg(hash == untouched || every_in_place(call),
                      "%s, allocation %ld: something was written", every_name(call), k);
    }
    ck_assert_int_eq(every_hash(ctx, e, call, &hash), GP_OK);
    ck_assert_msg(hash == expected, "%s after allocation %ld", every_name(call), k);
    gp_context_destroy(ctx);
    ck_assert_msg(m.live == 0, "%s: %ld allocations are left", every_name(call), m.live);
    return failed;
}

START_TEST(test_every_allocation_of_a_call_that_fails)
{
    every e = every_new(t_ctx(), N);
    uint64_t expected = expected_hash(&e, _i), untouched = untouched_hash(&e);
    long k = 0;
    while (k < ALLOCATIONS_MAX && fail_once(&e, _i, k, expected, untouched))
        k++;
    ck_assert_msg(k < ALLOCATIONS_MAX, "%s allocates again and again", every_name(_i));
    every_free(t_ctx(), &e);
}
END_TEST

START_TEST(test_every_allocation_of_a_context_that_fails)
{
    gp_context_options o = options_with(NULL);
    gp_context *ctx;
    long k = 0;
    o.workspace_bytes = 100000;
    while (!t_is_cuda() && failing_works() && k < ALLOCATIONS_MAX) {
        failing_allocation(k);
        gp_status s = gp_context_create(&ctx, &o);
        bool failed = failing_allocations() > k;
        failing_allocation(-1);
        ck_assert_int_eq(s, failed ? GP_ERROR_MEMORY : GP_OK);
        ck_assert_int_eq(ctx == NULL, failed);
        gp_context_destroy(ctx);
        if (!failed)
            break;
        k++;
    }
    ck_assert_int_lt(k, ALLOCATIONS_MAX);
}
END_TEST

/* Of the memory itself, and of the table that remembers it, which grows. */
START_TEST(test_every_allocation_of_gp_malloc_that_fails)
{
    gp_context *ctx = context_with(NULL);
    enum { PIECES = 200 };
    void *pieces[PIECES];
    for (int i = 0; i < PIECES; i++) {
        for (long k = 0; !t_is_cuda() && failing_works(); k++) {
            failing_allocation(k);
            gp_status s = gp_malloc(ctx, 100, &pieces[i]);
            bool failed = failing_allocations() > k;
            failing_allocation(-1);
            ck_assert_int_eq(s, failed ? GP_ERROR_MEMORY : GP_OK);
            ck_assert_int_eq(pieces[i] == NULL, failed);
            if (!failed)
                break;
        }
        if (t_is_cuda() || !failing_works())
            T_OK(gp_malloc(ctx, 100, &pieces[i]));
    }
    for (int i = 0; i < PIECES; i++)
        T_OK(gp_free(ctx, pieces[i]));
    gp_context_destroy(ctx);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("failures");
    TCase *c = t_case(s, "allocations");
    tcase_add_loop_test(c, test_every_allocation_of_a_call_that_fails, 0, EVERY_CALLS);
    tcase_add_test(c, test_every_allocation_of_a_context_that_fails);
    tcase_add_test(c, test_every_allocation_of_gp_malloc_that_fails);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
