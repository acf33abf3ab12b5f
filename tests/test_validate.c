/* SPDX-License-Identifier: MIT */
/* The option validate: contents of arrays are checked before a call's own work, which is not done
 * if they break a rule. What each call checks is tested with the calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

#include "every_call.h"
#include "gp_test.h"

enum { N = 100000, SEGMENTS = 1000, EACH = N / SEGMENTS };

/* A context that validates, on the backend of the run, and a segmented scan with it. */
struct setting {
    gp_context *ctx;
    t_array offsets, in, out;
    uint32_t *host; /* offsets that are fine */
};

static struct setting setting_new(void)
{
    struct setting s = {.ctx = t_validating(), .host = t_host((SEGMENTS + 1) * 4)};
    uint32_t *ones = t_host(N * 4);
    for (uint32_t i = 0; i <= SEGMENTS; i++)
        s.host[i] = i * EACH;
    for (size_t i = 0; i < N; i++)
        ones[i] = 1;
    s.offsets = t_new_from(s.host, (SEGMENTS + 1) * 4, 0);
    s.in = t_new_from(ones, N * 4, 0);
    s.out = t_new(N * 4, 0);
    free(ones);
    return s;
}

static void setting_free(struct setting *s)
{
    gp_context_destroy(s->ctx);
    t_free(&s->offsets);
    t_free(&s->in);
    t_free(&s->out);
    free(s->host);
}

static gp_status scan(const struct setting *s)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    return gp_scan_segmented(s->ctx, &d, s->in.data, N, GP_U32, s->offsets.data, SEGMENTS,
                             s->out.data);
}

static gp_status sort(const struct setting *s)
{
    return gp_radix_sort_segmented(s->ctx, GP_U32, s->in.data, N, GP_U32, s->offsets.data, SEGMENTS,
                                   s->out.data, NULL);
}

static void put_offset(struct setting *s, size_t at, uint32_t value)
{
    uint32_t *changed = t_host((SEGMENTS + 1) * 4);
    memcpy(changed, s->host, (SEGMENTS + 1) * 4);
    if (at <= SEGMENTS)
        changed[at] = value;
    t_put(&s->offsets, changed, (SEGMENTS + 1) * 4);
    T_OK(gp_context_synchronize(t_ctx()));
    free(changed);
}

static void expect_scanned(struct setting *s)
{
    uint32_t *out = t_host(N * 4);
    ck_assert_msg(gp_context_synchronize(s->ctx) == GP_OK, "%s", gp_last_error(s->ctx));
    t_get(&s->out, out, N * 4);
    for (size_t i = 0; i < N; i++)
        ck_assert_msg(out[i] == i % EACH + 1, "out[%zu] is %u", i, (unsigned)out[i]);
    t_poison(&s->out);
    T_OK(gp_context_synchronize(t_ctx()));
    free(out);
}

/* A sort as part of a gate, of several kernels and more workspace, is the sort it always is. */
START_TEST(test_sorts_are_the_same)
{
    struct setting s = setting_new();
    uint32_t *keys = t_host(N * 4), *expected = t_host(N * 4), *actual = t_host(N * 4);
    for (uint32_t i = 0; i < N; i++)
        keys[i] = i * 2654435761u;
    t_put(&s.in, keys, N * 4);
    T_OK(gp_radix_sort_segmented(t_ctx(), GP_U32, s.in.data, N, GP_U32, s.offsets.data, SEGMENTS,
                                 s.out.data, NULL));
    t_get(&s.out, expected, N * 4);
    for (int round = 0; round < 3; round++) {
        t_poison(&s.out);
        T_OK(gp_context_synchronize(t_ctx()));
        ck_assert_int_eq(sort(&s), GP_OK);
        ck_assert_int_eq(gp_context_synchronize(s.ctx), GP_OK);
        t_get(&s.out, actual, N * 4);
        t_same("sorted", GP_U32, expected, actual, N);
    }
    free(keys);
    free(expected);
    free(actual);
    setting_free(&s);
}
END_TEST

START_TEST(test_valid_contents)
{
    struct setting s = setting_new();
    for (int round = 0; round < 3; round++) {
        ck_assert_msg(scan(&s) == GP_OK, "%s", gp_last_error(s.ctx));
        expect_scanned(&s);
        ck_assert_int_eq(sort(&s), GP_OK);
        ck_assert_int_eq(gp_context_synchronize(s.ctx), GP_OK);
    }
    setting_free(&s);
}
END_TEST

START_TEST(test_broken_rules_stop_the_work)
{
    static const size_t places[] = {1, 500, SEGMENTS - 1};
    struct setting s = setting_new();
    char text[120];
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        const size_t at = places[p];
        put_offset(&s, at, N + 5);
        snprintf(text, sizeof text,
                 "gp_scan_segmented: offsets[%zu] is %zu, below the %d before it", at + 1,
                 (at + 1) * EACH, N + 5);
        if (at + 1 <= SEGMENTS)
            t_refused(s.ctx, scan(&s), text);
        t_check_untouched(&s.out);
        snprintf(text, sizeof text,
                 "gp_radix_sort_segmented: offsets[%zu] is %zu, below the %d before it", at + 1,
                 (at + 1) * EACH, N + 5);
        t_refused(s.ctx, sort(&s), text);
        t_check_untouched(&s.out);
        put_offset(&s, SEGMENTS + 1, 0);
        ck_assert_int_eq(scan(&s), GP_OK);
        expect_scanned(&s);
    }
    setting_free(&s);
}
END_TEST

/* One call is wrong: those before and behind it do their work. */
START_TEST(test_other_calls_go_on)
{
    struct setting s = setting_new(), wrong = s;
    t_array sums = t_new(N * 4, 0);
    wrong.offsets = t_new_from(s.host, (SEGMENTS + 1) * 4, 0);
    wrong.out = t_new(N * 4, 0);
    put_offset(&wrong, 7, 0);
    ck_assert_int_eq(gp_scan_inclusive(s.ctx, GP_U32, GP_SUM, s.in.data, N, sums.data), GP_OK);
    gp_status of_call = scan(&wrong);
    ck_assert_int_eq(scan(&s), GP_OK);
    if (t_is_cuda())
        ck_assert_int_eq(gp_context_synchronize(s.ctx), GP_ERROR_DATA);
    else
        ck_assert_int_eq(of_call, GP_ERROR_DATA);
    expect_scanned(&s);
    t_check_untouched(&wrong.out);
    uint32_t last;
    t_array end = {(char *)sums.data + (N - 1) * 4, 4, sums.block, 0};
    t_get(&end, &last, 4);
    ck_assert_uint_eq(last, N);
    t_free(&sums);
    t_free(&wrong.offsets);
    t_free(&wrong.out);
    setting_free(&s);
}
END_TEST

/* More calls in a row than a context keeps graphs for. */
START_TEST(test_many_calls_are_queued)
{
    struct setting s = setting_new();
    for (int call = 0; call < 100; call++)
        ck_assert_int_eq(call % 7 == 3 ? sort(&s) : scan(&s), GP_OK);
    ck_assert_int_eq(scan(&s), GP_OK);
    expect_scanned(&s);
    setting_free(&s);
}
END_TEST

/* Work that needs more workspace than there is, inside and outside of a gate. */
START_TEST(test_workspace_grows)
{
    struct setting s = setting_new();
    ck_assert_int_eq(sort(&s), GP_OK);
    ck_assert_int_eq(gp_context_synchronize(s.ctx), GP_OK);
    ck_assert_int_eq(gp_context_reset(s.ctx), GP_OK);
    ck_assert_int_eq(scan(&s), GP_OK);
    expect_scanned(&s);
    ck_assert_int_eq(sort(&s), GP_OK);
    ck_assert_int_eq(gp_context_synchronize(s.ctx), GP_OK);
    setting_free(&s);
}
END_TEST

START_TEST(test_arguments_are_refused_as_without)
{
    struct setting s = setting_new();
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    ck_assert_int_eq(
        gp_scan_segmented(s.ctx, &d, s.in.data, N, GP_F32, s.offsets.data, SEGMENTS, s.out.data),
        GP_ERROR_DTYPE);
    ck_assert_int_eq(gp_scan_segmented(s.ctx, &d, s.in.data, N, GP_U32, NULL, SEGMENTS, s.out.data),
                     GP_ERROR_POINTER);
    ck_assert_int_eq(scan(&s), GP_OK);
    expect_scanned(&s);
    setting_free(&s);
}
END_TEST

START_TEST(test_environment_asks_for_it)
{
    struct setting s = setting_new();
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *mine = s.ctx;
    o.backend = gp_context_backend(t_ctx());
    setenv("GP_VALIDATE", "2", 1);
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_create(&s.ctx, &o));
    ck_assert_ptr_nonnull(strstr(gp_last_error(NULL), "GP_VALIDATE is \"2\""));
    setenv("GP_VALIDATE", "1", 1);
    gp_status created = gp_context_create(&s.ctx, &o);
    unsetenv("GP_VALIDATE");
    ck_assert_int_eq(created, GP_OK);
    put_offset(&s, 7, 0);
    t_refused(s.ctx, scan(&s), "gp_scan_segmented: offsets[7] is 0, below the 600 before it");
    t_check_untouched(&s.out);
    gp_context_destroy(s.ctx);
    s.ctx = mine;
    setting_free(&s);
}
END_TEST

/* A captured call is checked each time the graph runs. The stream is that of t_ctx(). */
START_TEST(test_replays_are_checked_cuda)
{
    struct setting s = setting_new();
    t_array sums = t_new(N * 4, 0);
    ck_assert_int_eq(gp_context_set_stream(s.ctx, gp_context_stream(t_ctx())), GP_OK);
    ck_assert_int_eq(scan(&s), GP_OK);
    ck_assert_int_eq(sort(&s), GP_OK);
    ck_assert_int_eq(gp_scan_inclusive(s.ctx, GP_U32, GP_SUM, s.in.data, N, sums.data), GP_OK);
    ck_assert_int_eq(gp_context_synchronize(s.ctx), GP_OK);
    ck_assert(t_capture_begin());
    ck_assert_msg(sort(&s) == GP_OK, "%s", gp_last_error(s.ctx));
    ck_assert_int_eq(gp_scan_inclusive(s.ctx, GP_U32, GP_SUM, s.in.data, N, sums.data), GP_OK);
    ck_assert_msg(scan(&s) == GP_OK, "%s", gp_last_error(s.ctx));
    t_capture_end();
    t_poison(&s.out);
    t_replay();
    expect_scanned(&s);
    put_offset(&s, 9, 0);
    t_replay();
    t_refused(s.ctx, GP_OK, "gp_radix_sort_segmented: offsets[9] is 0, below the 800 before it");
    t_check_untouched(&s.out);
    put_offset(&s, SEGMENTS + 1, 0);
    t_replay();
    expect_scanned(&s);
    t_capture_free();
    ck_assert_int_eq(scan(&s), GP_OK);
    expect_scanned(&s);
    t_free(&sums);
    setting_free(&s);
}
END_TEST

/* Every call, whatever its room. */
START_TEST(test_valid_data_gives_the_same)
{
    static const size_t counts[] = {100, 3000, 100003};
    gp_context *v = t_validating();
    for (int s = 0; s < 3; s++) {
        every e = every_new(t_ctx(), counts[s]);
        uint64_t plain, validated;
        T_OK(every_hash(t_ctx(), &e, _i, &plain));
        T_OK(gp_context_synchronize(t_ctx()));
        ck_assert_msg(every_hash(v, &e, _i, &validated) == GP_OK, "%s: %s", every_name(_i),
                      gp_last_error(v));
        ck_assert_msg(plain == validated, "%s, %zu items", every_name(_i), counts[s]);
        every_free(t_ctx(), &e);
    }
    gp_context_destroy(v);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("validate");
    TCase *c = t_case(s, "calls");
    tcase_add_test(c, test_valid_contents);
    tcase_add_test(c, test_sorts_are_the_same);
    tcase_add_test(c, test_broken_rules_stop_the_work);
    tcase_add_test(c, test_other_calls_go_on);
    tcase_add_test(c, test_many_calls_are_queued);
    tcase_add_test(c, test_workspace_grows);
    tcase_add_test(c, test_arguments_are_refused_as_without);
    tcase_add_test(c, test_environment_asks_for_it);
    c = t_case(s, "valid");
    tcase_add_loop_test(c, test_valid_data_gives_the_same, 0, EVERY_CALLS);
    c = t_case(s, "cuda replays");
    tcase_add_test(c, test_replays_are_checked_cuda);
    return t_main(argc, argv, s);
}
