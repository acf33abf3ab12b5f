/* SPDX-License-Identifier: MIT */
/* Every error of every function in core.h, and short forms of calls in their texts; each room's own
 * errors are with its tests. */
#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

#include "gp_test.h"

static void *no_allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    (void)user, (void)bytes, (void)alignment, (void)stream;
    return NULL;
}

/* gp_context_create() with these options: the status, no context,
 * and a text that has `word` in it. */
static void refuse(gp_status expected, const gp_context_options *o, const char *word)
{
    gp_context *ctx = (gp_context *)(void *)&expected;
    T_STATUS(expected, gp_context_create(&ctx, o));
    ck_assert_ptr_null(ctx);
    ck_assert_msg(strstr(gp_last_error(NULL), word), "\"%s\" does not name %s", gp_last_error(NULL),
                  word);
}

START_TEST(test_create_refuses_wrong_options)
{
    const gp_context_options good = GP_CONTEXT_OPTIONS_INIT;
    gp_context_options o = good;
    T_STATUS(GP_ERROR_POINTER, gp_context_create(NULL, NULL));
    o.size = 8;
    refuse(GP_ERROR_ARGUMENT, &o, "size");
    o = good, o.backend = (gp_backend)3;
    refuse(GP_ERROR_ARGUMENT, &o, "backend");
    o = good, o.backend = (gp_backend)-1;
    refuse(GP_ERROR_ARGUMENT, &o, "backend");
    o = good, o.device = -2;
    refuse(GP_ERROR_ARGUMENT, &o, "device");
    o = good, o.threads = -1;
    refuse(GP_ERROR_ARGUMENT, &o, "threads");
    o = good, o.threads = 1 << 20;
    refuse(GP_ERROR_ARGUMENT, &o, "threads");
    o = good, o.allocator.allocate = no_allocate;
    refuse(GP_ERROR_ARGUMENT, &o, "allocator");
    o = good, o.backend = GP_BACKEND_CPU, o.stream = (gp_stream)(void *)&good;
    refuse(GP_ERROR_ARGUMENT, &o, "stream");
}
END_TEST

START_TEST(test_create_without_such_a_device)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = GP_BACKEND_CUDA;
    o.device = 4000;
    gp_status s = gp_context_create(&ctx, &o);
    ck_assert(s == GP_ERROR_DEVICE || s == GP_ERROR_UNSUPPORTED);
    ck_assert_ptr_null(ctx);
    ck_assert_uint_gt(strlen(gp_last_error(NULL)), 5);
    if (t_is_cuda())
        ck_assert_ptr_nonnull(strstr(gp_last_error(NULL), "4000"));
}
END_TEST

START_TEST(test_context_functions_refuse_null)
{
    char text[8];
    T_STATUS(GP_ERROR_POINTER, gp_context_synchronize(NULL));
    T_STATUS(GP_ERROR_POINTER, gp_context_set_stream(NULL, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_context_reserve(NULL, 1));
    T_STATUS(GP_ERROR_POINTER, gp_context_reset(NULL));
    T_STATUS(GP_ERROR_POINTER, gp_context_describe(NULL, text, sizeof text));
    T_STATUS(GP_ERROR_POINTER, gp_context_describe(t_ctx(), NULL, 8));
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_describe(t_ctx(), text, 0));
    ck_assert_ptr_null(gp_context_stream(NULL));
    ck_assert_int_eq(gp_context_backend(NULL), GP_BACKEND_AUTO);
}
END_TEST

START_TEST(test_set_stream_refuses_streams_on_the_cpu)
{
    if (!t_is_cuda())
        T_STATUS(GP_ERROR_ARGUMENT, gp_context_set_stream(t_ctx(), (gp_stream)(void *)t_ctx()));
}
END_TEST

START_TEST(test_reserve_of_too_much_keeps_the_old)
{
    T_OK(gp_context_reserve(t_ctx(), 1000));
    T_STATUS(GP_ERROR_MEMORY, gp_context_reserve(t_ctx(), (size_t)1 << 60));
    T_OK(gp_context_reserve(t_ctx(), 1000));
}
END_TEST

START_TEST(test_memory_functions_refuse)
{
    void *memory = t_ctx();
    char *a, host[16] = {0};
    T_STATUS(GP_ERROR_POINTER, gp_malloc(NULL, 1, &memory));
    ck_assert_ptr_null(memory);
    T_STATUS(GP_ERROR_POINTER, gp_malloc(t_ctx(), 1, NULL));
    memory = t_ctx();
    T_STATUS(GP_ERROR_MEMORY, gp_malloc(t_ctx(), SIZE_MAX, &memory));
    ck_assert_ptr_null(memory);
    T_STATUS(GP_ERROR_MEMORY, gp_malloc(t_ctx(), (size_t)1 << 60, &memory));
    ck_assert_ptr_null(memory);
    T_STATUS(GP_ERROR_POINTER, gp_free(NULL, host));
    T_OK(gp_malloc(t_ctx(), 100, &memory));
    a = memory;
    T_STATUS(GP_ERROR_POINTER, gp_copy(NULL, a, 1, host));
    T_STATUS(GP_ERROR_POINTER, gp_copy(t_ctx(), NULL, 1, a));
    T_STATUS(GP_ERROR_POINTER, gp_copy(t_ctx(), a, 1, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_copy(t_ctx(), a, 50, a + 49));
    T_STATUS(GP_ERROR_OVERLAP, gp_copy(t_ctx(), a + 49, 50, a));
    T_OK(gp_copy(t_ctx(), a, 50, a + 50));
    T_OK(gp_free(t_ctx(), memory));
}
END_TEST

START_TEST(test_last_error_names_function_argument_and_value)
{
    char host[64];
    T_STATUS(GP_ERROR_OVERLAP, gp_copy(t_ctx(), host, 40, host + 24));
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "gp_copy"));
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "source"));
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "40"));
    T_OK(gp_context_synchronize(t_ctx())); /* a call that succeeds leaves the text */
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "source"));
    ck_assert_ptr_nonnull(gp_last_error(NULL));
}
END_TEST

/* The last error begins with the name of the call that the program made. */
#define NAMED(name, ...)                                                                           \
    do {                                                                                           \
        T_STATUS(GP_ERROR_POINTER, name(t_ctx(), __VA_ARGS__));                                    \
        ck_assert_msg(strstr(gp_last_error(t_ctx()), #name ": ") == gp_last_error(t_ctx()),        \
                      "\"%s\" is not from " #name, gp_last_error(t_ctx()));                        \
    } while (0)

START_TEST(test_short_forms_are_named_in_their_errors)
{
    uint64_t host = 0, *count = &host;
    t_array out = t_new(64, 0);
    NAMED(gp_scan_inclusive, GP_U32, GP_SUM, NULL, 8, out.data);
    NAMED(gp_scan_exclusive, GP_U32, GP_SUM, NULL, 8, NULL, out.data);
    NAMED(gp_reduce, GP_U32, GP_SUM, NULL, 8, out.data);
    NAMED(gp_argmin, GP_U32, NULL, 8, NULL, out.data);
    NAMED(gp_argmax, GP_U32, NULL, 8, NULL, out.data);
    NAMED(gp_compact, 4, NULL, NULL, 8, out.data, out.data);
    NAMED(gp_compact_if, GP_U64, GP_EQ, count, NULL, 8, out.data, out.data);
    NAMED(gp_compact_indices, GP_U32, NULL, 8, out.data, out.data);
    NAMED(gp_partition, 4, NULL, NULL, 8, out.data, out.data);
    NAMED(gp_bincount, GP_U32, NULL, 8, 4, GP_U32, out.data, NULL);
    NAMED(gp_lower_bound, GP_U32, NULL, 8, NULL, 8, GP_U32, out.data);
    NAMED(gp_upper_bound, GP_U32, NULL, 8, NULL, 8, GP_U32, out.data);
    NAMED(gp_csr_to_coo, GP_U32, NULL, 8, 8, GP_U32, out.data);
    t_free(&out);
}
END_TEST

/* ... and name their own parameters; a dtype shows as its name, or the number that is none. */
START_TEST(test_short_forms_name_their_parameters)
{
    gp_scan_desc scan = GP_SCAN_DESC_INIT;
    uint32_t word = 0;
    T_STATUS(GP_ERROR_DTYPE, gp_scan_inclusive(t_ctx(), (gp_dtype)99, GP_SUM, &word, 1, &word));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_scan_inclusive: dtype is 99, expected a gp_dtype");
    T_STATUS(GP_ERROR_DTYPE, gp_scan(t_ctx(), &scan, &word, 1, &word));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_scan: desc->in_dtype is 0, expected a gp_dtype");
    T_STATUS(GP_ERROR_OP, gp_scan_exclusive(t_ctx(), GP_F32, GP_XOR, &word, 1, NULL, &word));
    ck_assert_str_eq(gp_last_error(t_ctx()),
                     "gp_scan_exclusive: op is xor, which has no meaning for f32");
    T_STATUS(GP_ERROR_OP, gp_reduce(t_ctx(), GP_U32, (gp_op)77, &word, 1, &word));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_reduce: op is 77, not a gp_op");
    T_STATUS(GP_ERROR_DTYPE, gp_compact_indices(t_ctx(), GP_F32, NULL, 0, NULL, NULL));
    ck_assert_str_eq(gp_last_error(t_ctx()),
                     "gp_compact_indices: index_dtype is f32, expected u32 or u64");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("errors");
    TCase *c = t_case(s, "errors");
    tcase_add_test(c, test_create_refuses_wrong_options);
    tcase_add_test(c, test_create_without_such_a_device);
    tcase_add_test(c, test_context_functions_refuse_null);
    tcase_add_test(c, test_set_stream_refuses_streams_on_the_cpu);
    tcase_add_test(c, test_reserve_of_too_much_keeps_the_old);
    tcase_add_test(c, test_memory_functions_refuse);
    tcase_add_test(c, test_last_error_names_function_argument_and_value);
    tcase_add_test(c, test_short_forms_are_named_in_their_errors);
    tcase_add_test(c, test_short_forms_name_their_parameters);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
