/* SPDX-License-Identifier: MIT */
/*
 * Calls that are queued again and again answer as they did at first: on CUDA kernels of one call
 * become a graph when they are queued once more, whose arguments change from call to call, and a
 * context keeps but a few of them (core/launch.h).
 */
#include <string.h>

#include "every_call.h"
#include "gp_test.h"

enum { SIZES = 3, ROUNDS = 3, IN_A_ROW = 3 };
static const size_t sizes[SIZES] = {3000, 70001, 300007};

static every arrays[SIZES];
static uint64_t first[SIZES][EVERY_CALLS]; /* what a call answered at first, 0: not called yet */

static uint64_t hash_of(int size, int call)
{
    uint64_t hash;
    ck_assert_msg(every_hash(t_ctx(), &arrays[size], call, &hash) == GP_OK, "%s: %s",
                  every_name(call), gp_last_error(t_ctx()));
    return hash;
}

static void setup(void)
{
    for (int s = 0; s < SIZES; s++)
        arrays[s] = every_new(t_ctx(), sizes[s]);
}

static void teardown(void)
{
    for (int s = 0; s < SIZES; s++)
        every_free(t_ctx(), &arrays[s]);
}

static void expect_first(int size, int call)
{
    if (!first[size][call])
        first[size][call] = hash_of(size, call);
    ck_assert_msg(hash_of(size, call) == first[size][call], "%s, %zu items: another result",
                  every_name(call), sizes[size]);
}

START_TEST(test_calls_in_turn)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int call = 0; call < EVERY_CALLS; call += (int)t_step(1))
            expect_first((round + call) % SIZES, call);
}
END_TEST

START_TEST(test_calls_in_a_row_with_other_arrays)
{
    for (int i = 0; i < IN_A_ROW * SIZES; i++)
        expect_first(i % SIZES, _i);
}
END_TEST

/* Between calls that are not, with as much workspace as these have made. */
START_TEST(test_calls_captured)
{
    uint64_t hash;
    if (!t_is_cuda() || strncmp(every_name(_i), "check", 5) == 0 ||
        strncmp(every_name(_i), "dist", 4) == 0) /* wait: for an answer, for other ranks */
        return;
    for (int s = 0; s < SIZES; s++) {
        expect_first(s, _i);
        ck_assert_int_eq(every_fill(t_ctx(), &arrays[s]), GP_OK);
        ck_assert(t_capture_begin());
        ck_assert_msg(every_run(t_ctx(), &arrays[s], _i) == GP_OK, "%s: %s", every_name(_i),
                      gp_last_error(t_ctx()));
        t_capture_end();
        expect_first((s + 1) % SIZES, _i);
        ck_assert_int_eq(every_fill(t_ctx(), &arrays[s]), GP_OK);
        t_replay();
        ck_assert_int_eq(every_read(t_ctx(), &arrays[s], &hash), GP_OK);
        ck_assert_msg(hash == first[s][_i], "%s, %zu items: replayed", every_name(_i), sizes[s]);
        t_capture_free();
    }
}
END_TEST

START_TEST(test_calls_after_a_reset)
{
    expect_first(1, _i);
    ck_assert_int_eq(gp_context_reset(t_ctx()), GP_OK);
    expect_first(1, _i);
    expect_first(1, _i);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("launches");
    TCase *c = t_case(s, "again");
    tcase_add_unchecked_fixture(c, setup, teardown);
    tcase_add_test(c, test_calls_in_turn);
    tcase_add_loop_test(c, test_calls_in_a_row_with_other_arrays, 0, EVERY_CALLS);
    tcase_add_loop_test(c, test_calls_captured, 0, EVERY_CALLS);
    tcase_add_loop_test(c, test_calls_after_a_reset, 0, EVERY_CALLS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
