/* SPDX-License-Identifier: MIT */
/* The caller's allocator, failing at every allocation; reserved workspace; contexts in parallel. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <gp/compact.h>
#include <gp/scan.h>

#include "gp_test.h"

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

/* ---- the caller's allocator
 * -------------------------------------------------------------------------- */

struct arena {
    long countdown; /* allocations until one fails; negative: never */
    size_t live_bytes;
    int calls, live;
};

static void *arena_allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    struct arena *arena = user;
    void *memory;
    (void)stream;
    arena->calls++;
    if (arena->countdown == 0)
        return NULL;
    arena->countdown--;
    if (alignment > 256 || gp_malloc(t_ctx(), bytes, &memory) != GP_OK)
        return NULL;
    gp_context_synchronize(t_ctx()); /* the memory is ready whatever the stream */
    arena->live++;
    arena->live_bytes += bytes;
    return memory;
}

static void arena_release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    struct arena *arena = user;
    (void)stream;
    arena->live--;
    arena->live_bytes -= bytes;
    gp_free(t_ctx(), memory);
}

/* Calls that need workspace; the first error, if any. */
static gp_status use_workspace(gp_context *ctx, t_array *data, t_array *out, t_array *count)
{
    gp_status s = gp_context_reserve(ctx, 5000);
    if (s == GP_OK)
        s = gp_scan_inclusive(ctx, GP_U8, GP_SUM, data->data, data->bytes, out->data);
    if (s == GP_OK)
        s = gp_compact(ctx, 1, data->data, data->data, data->bytes, out->data, count->data);
    if (s == GP_OK)
        s = gp_context_reserve(ctx, 4 << 20);
    if (s == GP_OK)
        s = gp_scan_inclusive(ctx, GP_U8, GP_SUM, data->data, data->bytes, out->data);
    if (s == GP_OK)
        s = gp_context_synchronize(ctx);
    return s;
}

START_TEST(test_allocator_that_fails_at_each_allocation)
{
    t_array data = t_new(1 << 20, 0), out = t_new(1 << 20, 0), count = t_new(8, 0);
    struct arena arena = {-1, 0, 0, 0};
    gp_context_options o = this_backend();
    o.allocator = (gp_allocator){&arena, arena_allocate, arena_release};
    gp_context *ctx = create(&o);
    T_OK(use_workspace(ctx, &data, &out, &count));
    gp_context_destroy(ctx);
    int calls = arena.calls;
    ck_assert_int_gt(calls, 0);
    ck_assert_int_eq(arena.live, 0);
    for (int fail = 0; fail < calls; fail++) {
        ctx = create(&o);
        arena.countdown = fail;
        ck_assert_int_eq(use_workspace(ctx, &data, &out, &count), GP_ERROR_MEMORY);
        ck_assert_uint_gt(strlen(gp_last_error(ctx)), 5);
        arena.countdown = -1; /* what failed has left the context usable */
        T_OK(use_workspace(ctx, &data, &out, &count));
        gp_context_destroy(ctx);
        ck_assert_int_eq(arena.live, 0);
        ck_assert_uint_eq(arena.live_bytes, 0);
    }
    t_free(&data);
    t_free(&out);
    t_free(&count);
}
END_TEST

START_TEST(test_allocator_that_fails_at_creation)
{
    struct arena arena = {0, 0, 0, 0};
    gp_context_options o = this_backend();
    gp_context *ctx;
    t_ctx();
    o.workspace_bytes = 10000;
    o.allocator = (gp_allocator){&arena, arena_allocate, arena_release};
    T_STATUS(GP_ERROR_MEMORY, gp_context_create(&ctx, &o));
    ck_assert_ptr_null(ctx);
    arena.countdown = -1;
    ctx = create(&o);
    ck_assert_uint_ge(arena.live_bytes, 10000);
    gp_context_destroy(ctx);
    ck_assert_int_eq(arena.live, 0);
}
END_TEST

START_TEST(test_reserved_workspace_is_enough)
{
    t_array data = t_new(1 << 20, 0), out = t_new(1 << 20, 0), count = t_new(8, 0);
    struct arena arena = {-1, 0, 0, 0};
    gp_context_options o = this_backend();
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    size_t need;
    desc.in_dtype = GP_U8;
    T_OK(gp_scan_workspace_bytes(NULL, &desc, data.bytes, &need));
    o.workspace_bytes = need;
    o.allocator = (gp_allocator){&arena, arena_allocate, arena_release};
    gp_context *ctx = create(&o);
    int calls = arena.calls;
    T_OK(gp_scan(ctx, &desc, data.data, data.bytes, out.data));
    T_OK(gp_context_reserve(ctx, need));
    T_OK(gp_context_reserve(ctx, 0));
    ck_assert_int_eq(arena.calls, calls);
    gp_context_destroy(ctx);
    t_free(&data);
    t_free(&out);
    t_free(&count);
}
END_TEST

/* ---- threads
 * ------------------------------------------------------------------------------------------ */

struct worker {
    gp_backend backend;
    int seed;
    const char *failure;
};

/* Check's assertions are for the main thread, so this one says what failed. */
static const char *worker_run(const struct worker *w, gp_context *ctx)
{
    enum { N = 60000 };
    uint32_t *host = malloc(N * sizeof *host);
    void *memory;
    const char *failure = NULL;
    if (!host || gp_malloc(ctx, N * sizeof *host, &memory) != GP_OK)
        failure = "no memory";
    for (int round = 0; !failure && round < 50; round++) {
        for (int i = 0; i < N; i++)
            host[i] = (uint32_t)(w->seed + round);
        if (gp_copy(ctx, host, N * sizeof *host, memory) != GP_OK ||
            gp_scan_inclusive(ctx, GP_U32, GP_SUM, memory, N, memory) != GP_OK ||
            gp_copy(ctx, memory, N * sizeof *host, host) != GP_OK ||
            gp_context_synchronize(ctx) != GP_OK)
            failure = "a call failed";
        for (int i = 0; !failure && i < N; i++)
            if (host[i] != (uint32_t)(i + 1) * (uint32_t)(w->seed + round))
                failure = "a wrong sum";
        if (gp_scan_inclusive(ctx, GP_U32, GP_SUM, NULL, 1, memory) != GP_ERROR_POINTER ||
            !strstr(gp_last_error(ctx), "in is"))
            failure = "a wrong error text";
    }
    if (gp_free(ctx, memory) != GP_OK || *gp_last_error(NULL))
        failure = "a text of another thread";
    free(host);
    return failure;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = w->backend;
    o.threads = 2;
    if (gp_context_create(&ctx, &o) != GP_OK)
        w->failure = "no context";
    else
        w->failure = worker_run(w, ctx);
    gp_context_destroy(ctx);
    return NULL;
}

START_TEST(test_two_contexts_in_two_threads)
{
    gp_backend backend = gp_context_backend(t_ctx());
    struct worker workers[2] = {{backend, 1, NULL}, {backend, 1000, NULL}};
    pthread_t threads[2];
    gp_context_create(NULL, NULL); /* leaves a text on this thread only */
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, worker_main, &workers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(!workers[i].failure, "thread %d: %s", i, workers[i].failure);
    ck_assert_uint_gt(strlen(gp_last_error(NULL)), 5);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("workspace");
    TCase *c = t_case(s, "workspace");
    tcase_add_test(c, test_allocator_that_fails_at_each_allocation);
    tcase_add_test(c, test_allocator_that_fails_at_creation);
    tcase_add_test(c, test_reserved_workspace_is_enough);
    c = t_case(s, "threads");
    tcase_add_test(c, test_two_contexts_in_two_threads);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
