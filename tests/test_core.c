/* SPDX-License-Identifier: MIT */
/* Texts, contexts, memory and streams: what every call stands on. */
#include <stdlib.h>
#include <string.h>

#include <gp/comm.h>
#include <gp/scan.h>

#include "gp_test.h"
#include "sm_rows.h"

/* ---- texts ----------------------------------------------------------------------------------- */

START_TEST(test_version_matches_header)
{
    ck_assert_int_eq(gp_version(), GP_VERSION);
}
END_TEST

START_TEST(test_every_status_has_its_own_text)
{
#define STATUS(name, number, text) GP_##name,
    static const gp_status all[] = {GP_ALL_STATUS_MAP(STATUS)};
#undef STATUS
    enum { COUNT = sizeof all / sizeof all[0] };
    for (int i = 0; i < COUNT; i++) {
        const char *text = gp_status_string(all[i]);
        ck_assert_int_eq(all[i], i);
        ck_assert_uint_gt(strlen(text), 5);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(text, gp_status_string(all[j]));
    }
    ck_assert_ptr_nonnull(gp_status_string((gp_status)COUNT));
    ck_assert_ptr_nonnull(gp_status_string((gp_status)-1));
    ck_assert_str_ne(gp_status_string((gp_status)COUNT), gp_status_string(GP_OK));
}
END_TEST

START_TEST(test_dtypes_have_names_and_sizes)
{
#define DTYPE(name, number, bytes, text)                                                           \
    ck_assert_uint_eq(gp_dtype_bytes(GP_##name), bytes);                                           \
    ck_assert_str_eq(gp_dtype_string(GP_##name), text);
    GP_DTYPE_MAP(DTYPE)
#undef DTYPE
    ck_assert_uint_eq(gp_dtype_bytes(GP_F64), sizeof(double));
    ck_assert_uint_eq(gp_dtype_bytes((gp_dtype)0), 0);
    ck_assert_uint_eq(gp_dtype_bytes((gp_dtype)(T_DTYPE_COUNT + 1)), 0);
    ck_assert_str_eq(gp_dtype_string((gp_dtype)0), "?");
}
END_TEST

START_TEST(test_operators_have_names_and_scalars)
{
#define OP(name, number, scalars, text)                                                            \
    ck_assert_uint_eq(gp_op_scalars(GP_##name), scalars);                                          \
    ck_assert_str_eq(gp_op_string(GP_##name), text);
    GP_OP_MAP(OP)
#undef OP
    ck_assert_uint_eq(gp_op_scalars((gp_op)0), 0);
    ck_assert_uint_eq(gp_op_scalars((gp_op)(T_OP_COUNT + 1)), 0);
    ck_assert_str_eq(gp_op_string((gp_op)0), "?");
}
END_TEST

START_TEST(test_describe_names_the_backend)
{
    char text[512], cut[8];
    T_OK(gp_context_describe(t_ctx(), text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, t_is_cuda() ? "cuda" : "cpu"));
    ck_assert_ptr_nonnull(strstr(text, "0.1"));
    ck_assert_ptr_null(strchr(text, '\n'));
    memset(cut, 'x', sizeof cut);
    T_OK(gp_context_describe(t_ctx(), cut, 5));
    ck_assert_uint_eq(strlen(cut), 4);
    ck_assert_int_eq(cut[5], 'x');
}
END_TEST

/* ---- creation -------------------------------------------------------------------------------- */

static gp_context *create(const gp_context_options *options)
{
    gp_context *ctx = NULL;
    T_OK(gp_context_create(&ctx, options));
    ck_assert_ptr_nonnull(ctx);
    return ctx;
}

static gp_context_options this_backend(void)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    o.backend = gp_context_backend(t_ctx());
    return o;
}

START_TEST(test_create_with_explicit_threads)
{
    char text[256];
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    o.backend = GP_BACKEND_CPU;
    o.threads = 3;
    gp_context *ctx = create(&o);
    ck_assert_int_eq(gp_context_backend(ctx), GP_BACKEND_CPU);
    ck_assert_ptr_null(gp_context_stream(ctx));
    T_OK(gp_context_describe(ctx, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "3 threads"));
    gp_context_destroy(ctx);
}
END_TEST

START_TEST(test_create_automatically)
{
    unsetenv("GP_BACKEND");
    unsetenv("GP_DEVICE");
    gp_context *ctx = create(NULL);
    ck_assert_int_eq(gp_context_backend(ctx),
                     t_device_count() > 0 ? GP_BACKEND_CUDA : GP_BACKEND_CPU);
    gp_context_destroy(ctx);
    gp_context_destroy(NULL);
}
END_TEST

START_TEST(test_environment_chooses_the_backend)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    setenv("GP_BACKEND", "cpu", 1);
    ctx = create(NULL);
    ck_assert_int_eq(gp_context_backend(ctx), GP_BACKEND_CPU);
    gp_context_destroy(ctx);
    setenv("GP_BACKEND", "", 1); /* as if not set */
    gp_context_destroy(create(NULL));
    setenv("GP_BACKEND", "nonsense", 1);
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_create(&ctx, NULL));
    ck_assert_ptr_null(ctx);
    ck_assert_ptr_nonnull(strstr(gp_last_error(NULL), "nonsense"));
    o.backend = GP_BACKEND_CPU; /* what the program says wins */
    gp_context_destroy(create(&o));
    if (t_is_cuda()) {
        setenv("GP_BACKEND", "cuda", 1);
        ctx = create(NULL);
        ck_assert_int_eq(gp_context_backend(ctx), GP_BACKEND_CUDA);
        gp_context_destroy(ctx);
    }
    unsetenv("GP_BACKEND");
}
END_TEST

START_TEST(test_environment_chooses_the_device)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    setenv("GP_DEVICE", "1x", 1);
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_create(&ctx, NULL));
    setenv("GP_DEVICE", "-2", 1);
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_create(&ctx, NULL));
    setenv("GP_DEVICE", "4000", 1); /* named, so no falling back to the CPU */
    gp_status s = gp_context_create(&ctx, NULL);
    ck_assert(s == GP_ERROR_DEVICE || s == GP_ERROR_UNSUPPORTED);
    o.backend = GP_BACKEND_CPU;
    gp_context_destroy(create(&o));
    if (t_is_cuda()) {
        setenv("GP_DEVICE", "0", 1);
        gp_context_destroy(create(NULL));
    }
    unsetenv("GP_DEVICE");
}
END_TEST

START_TEST(test_create_leaves_the_current_device)
{
    int last = t_device_count() - 1;
    gp_context_options o = this_backend();
    if (!t_is_cuda())
        return;
    t_device_select(last);
    o.device = 0;
    gp_context *ctx = create(&o);
    ck_assert_int_eq(t_device_current(), last);
    void *memory;
    T_OK(gp_malloc(ctx, 4000, &memory));
    T_OK(gp_scan_inclusive(ctx, GP_U8, GP_SUM, memory, 4000, memory));
    T_OK(gp_free(ctx, memory));
    T_OK(gp_context_synchronize(ctx));
    gp_context_destroy(ctx);
    ck_assert_int_eq(t_device_current(), last);
    t_device_select(0);
}
END_TEST

START_TEST(test_environment_and_options_limit_the_multiprocessors)
{
    char text[512];
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    setenv("GP_MULTIPROCESSORS", "0", 1);
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_create(&ctx, NULL));
    setenv("GP_MULTIPROCESSORS", "many", 1);
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_create(&ctx, NULL));
    ck_assert_ptr_nonnull(strstr(gp_last_error(NULL), "many"));
    setenv("GP_MULTIPROCESSORS", "3", 1);
    o.backend = t_is_cuda() ? GP_BACKEND_CUDA : GP_BACKEND_CPU;
    for (int i = 0; i < 2; i++, o.multiprocessors = 2) {
        ctx = create(&o);
        T_OK(gp_context_describe(ctx, text, sizeof text));
        if (t_is_cuda())
            ck_assert_ptr_nonnull(strstr(text, i ? " 2 multiprocessors" : " 3 multiprocessors"));
        gp_context_destroy(ctx);
    }
    unsetenv("GP_MULTIPROCESSORS");
    o.multiprocessors = -1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_context_create(&ctx, &o));
}
END_TEST

/* ---- GPU architectures ----------------------------------------------------------------------- */

static const int sm_80_90[] = {80, 90, 0}, sm_70_90[] = {70, 90, 0}, sm_120[] = {120, 0};

static const struct {
    const int *sm;
    int device, without_ptx, with_ptx;
} sm_rows[] = {
    {sm_80_90, 75, -1, -1}, /* older than all of them */
    {sm_80_90, 80, 0, 0},   /* the same */
    {sm_80_90, 89, 0, 0},   /* a newer one of the same major version */
    {sm_80_90, 90, 1, 1},   /* the newest of several */
    {sm_80_90, 100, -1, 1}, /* another major version */
    {sm_80_90, 121, -1, 1}, /* one later still */
    {sm_70_90, 75, 0, 0},   /* of the first */
    {sm_70_90, 86, -1, -1}, /* between two: the PTX is that of the newest */
    {sm_120, 121, 0, 0},    /* three digits */
    {sm_120, 90, -1, -1},   /* older */
    {sm_120, 130, -1, 0},   /* another major version */
};

START_TEST(test_architecture_of_a_device)
{
    const int *sm = sm_rows[_i].sm, device = sm_rows[_i].device;
    const bool served_by_ptx = sm_rows[_i].without_ptx != sm_rows[_i].with_ptx;
    ck_assert_int_eq(sm_row_chosen(sm, false, device), sm_rows[_i].without_ptx);
    ck_assert_int_eq(sm_row_chosen(sm, true, device), sm_rows[_i].with_ptx);
    if (sm_rows[_i].without_ptx < 0)
        ck_assert_int_eq(sm_row_wants_ptx(sm, false, device), served_by_ptx);
    ck_assert(!sm_row_wants_ptx(sm, true, device));
}
END_TEST

/* ---- memory ---------------------------------------------------------------------------------- */

START_TEST(test_malloc_is_aligned_and_copies_go_anywhere)
{
    unsigned char host[1000], back[1000];
    uint64_t state = t_seed();
    void *a, *b;
    t_fill_bits(GP_U8, host, sizeof host, &state);
    for (size_t bytes = 1; bytes <= 1000; bytes += 333) {
        T_OK(gp_malloc(t_ctx(), bytes, &a));
        T_OK(gp_malloc(t_ctx(), bytes, &b));
        ck_assert_uint_eq((uintptr_t)a % 256, 0);
        ck_assert_uint_eq((uintptr_t)b % 256, 0);
        T_OK(gp_copy(t_ctx(), host, bytes, a));
        T_OK(gp_copy(t_ctx(), a, bytes, b));
        T_OK(gp_copy(t_ctx(), b, bytes, b));
        T_OK(gp_copy(t_ctx(), b, bytes, back));
        T_OK(gp_context_synchronize(t_ctx()));
        t_same_bytes("copied", host, back, bytes);
        T_OK(gp_free(t_ctx(), a));
        T_OK(gp_free(t_ctx(), b));
    }
    a = host;
    T_OK(gp_malloc(t_ctx(), 0, &a));
    ck_assert_ptr_null(a);
    T_OK(gp_free(t_ctx(), NULL));
    T_OK(gp_copy(t_ctx(), NULL, 0, NULL));
}
END_TEST

START_TEST(test_page_locked_memory_is_device_accessible)
{
    if (!t_is_cuda())
        return;
    int32_t *memory = t_pinned_new(4 * sizeof *memory);
    for (int i = 0; i < 4; i++)
        memory[i] = i + 1;
    T_OK(gp_scan_inclusive(t_ctx(), GP_I32, GP_SUM, memory, 4, memory));
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_int_eq(memory[3], 10);
    t_pinned_free(memory);
}
END_TEST

/* ---- streams, findings, reset ---------------------------------------------------------------- */

/* A sum past INT8_MAX with a total: found only by the time it is added up. */
static void overflow(gp_context *ctx)
{
    static const int8_t ones[2] = {127, 1};
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    t_array in = t_new_from(ones, 2, 0), total = t_new(8, 0);
    desc.in_dtype = GP_I8;
    desc.total = total.data;
    T_OK(gp_scan(ctx, &desc, in.data, 2, in.data));
    ck_assert_int_eq(gp_context_synchronize(ctx), GP_ERROR_OVERFLOW);
    ck_assert_ptr_nonnull(strstr(gp_last_error(ctx), "total"));
    T_OK(gp_context_synchronize(ctx));
    t_free(&in);
    t_free(&total);
}

START_TEST(test_sticky_word_is_reported_once_and_per_context)
{
    gp_context_options o = this_backend();
    gp_context *other = create(&o);
    overflow(t_ctx());
    T_OK(gp_context_synchronize(other));
    overflow(other);
    T_OK(gp_context_synchronize(t_ctx()));
    gp_context_destroy(other);
}
END_TEST

START_TEST(test_reset_gives_a_working_context)
{
    gp_context_options o = this_backend();
    gp_context *ctx = create(&o);
    T_OK(gp_context_reserve(ctx, 100000));
    T_OK(gp_context_reset(ctx));
    overflow(ctx);
    T_OK(gp_context_reset(ctx));
    gp_context_destroy(ctx);
}
END_TEST

START_TEST(test_set_stream_orders_the_new_behind_the_old)
{
    enum { N = 3000000 };
    static uint8_t out[N];
    gp_stream own = gp_context_stream(t_ctx());
    if (!t_is_cuda()) {
        T_OK(gp_context_set_stream(t_ctx(), NULL));
        return;
    }
    gp_stream second = t_stream_new();
    uint8_t *ones = t_host(N);
    memset(ones, 1, N);
    t_array a = t_new_from(ones, N, 0);
    for (int round = 0; round < 20; round++) { /* each scan of ones needs the one before it */
        T_OK(gp_context_set_stream(t_ctx(), round % 2 ? NULL : second));
        ck_assert_ptr_eq(gp_context_stream(t_ctx()), round % 2 ? own : second);
        T_OK(gp_scan_inclusive(t_ctx(), GP_U8, GP_SUM, a.data, N, a.data));
    }
    t_get(&a, out, N);
    for (int round = 0; round < 20; round++)
        for (size_t i = 1; i < N; i++)
            ones[i] = (uint8_t)(ones[i] + ones[i - 1]);
    t_same_bytes("twenty scans on two streams", ones, out, N);
    T_OK(gp_context_set_stream(t_ctx(), NULL));
    t_stream_free(second);
    t_free(&a);
    free(ones);
}
END_TEST

START_TEST(test_a_stream_of_the_caller)
{
    gp_context_options o = this_backend();
    if (!t_is_cuda())
        return;
    o.stream = t_stream_new();
    gp_context *ctx = create(&o);
    ck_assert_ptr_eq(gp_context_stream(ctx), o.stream);
    overflow(ctx);
    gp_context_destroy(ctx);
    t_stream_free(o.stream);
}
END_TEST

START_TEST(test_synchronize_is_refused_during_capture)
{
    if (!t_capture_begin())
        return;
    gp_status s = gp_context_synchronize(t_ctx());
    t_capture_end();
    t_capture_free();
    ck_assert_int_eq(s, GP_ERROR_ARGUMENT);
    T_OK(gp_context_synchronize(t_ctx()));
}
END_TEST

START_TEST(test_growing_is_refused_during_capture)
{
    if (!t_is_cuda())
        return;
    t_ctx_drop(); /* a context without any workspace; too many items to do without */
    t_array a = t_new(200000, 0);
    t_capture_begin();
    gp_status scan = gp_scan_inclusive(t_ctx(), GP_U8, GP_SUM, a.data, a.bytes, a.data);
    gp_status reserve = gp_context_reserve(t_ctx(), 1 << 20);
    t_capture_end();
    t_capture_free();
    ck_assert_int_eq(scan, GP_ERROR_WORKSPACE);
    ck_assert_int_eq(reserve, GP_ERROR_WORKSPACE);
    t_check_untouched(&a);
    T_OK(gp_scan_inclusive(t_ctx(), GP_U8, GP_SUM, a.data, a.bytes, a.data));
    T_OK(gp_context_synchronize(t_ctx()));
    t_free(&a);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("core");
    TCase *c = t_case(s, "texts");
    tcase_add_test(c, test_version_matches_header);
    tcase_add_test(c, test_every_status_has_its_own_text);
    tcase_add_test(c, test_dtypes_have_names_and_sizes);
    tcase_add_test(c, test_operators_have_names_and_scalars);
    tcase_add_test(c, test_describe_names_the_backend);
    c = t_case(s, "creation");
    tcase_add_test(c, test_create_with_explicit_threads);
    tcase_add_test(c, test_create_automatically);
    tcase_add_test(c, test_environment_chooses_the_backend);
    tcase_add_test(c, test_environment_chooses_the_device);
    tcase_add_test(c, test_environment_and_options_limit_the_multiprocessors);
    tcase_add_loop_test(c, test_architecture_of_a_device, 0, sizeof sm_rows / sizeof sm_rows[0]);
    c = t_case(s, "memory");
    tcase_add_test(c, test_malloc_is_aligned_and_copies_go_anywhere);
    c = t_case(s, "streams");
    tcase_add_test(c, test_sticky_word_is_reported_once_and_per_context);
    tcase_add_test(c, test_reset_gives_a_working_context);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_create_leaves_the_current_device);
    tcase_add_test(c, test_page_locked_memory_is_device_accessible);
    tcase_add_test(c, test_set_stream_orders_the_new_behind_the_old);
    tcase_add_test(c, test_a_stream_of_the_caller);
    tcase_add_test(c, test_synchronize_is_refused_during_capture);
    tcase_add_test(c, test_growing_is_refused_during_capture);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
