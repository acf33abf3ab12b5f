/* SPDX-License-Identifier: MIT */
/* The caller's allocator, failing at every allocation; reserved workspace; contexts in parallel. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

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

/* ---- the caller's allocator ------------------------------------------------------------------ */

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

/* Calls that take workspace or make calls that do, with zeros for every input. */
static gp_status call_of_many(int which, gp_context *ctx, const t_array *in, t_array *out)
{
    enum { N = 5000 };
    gp_coo_desc coo_desc = GP_COO_DESC_INIT;
    void *a = out[0].data, *b = out[1].data, *c = out[2].data;
    const void *zeros = in->data;
    switch (which) {
    case 0:
        return gp_scan_inclusive(ctx, GP_U32, GP_SUM, zeros, N, a);
    case 1:
        return gp_scan_exclusive(ctx, GP_U32, GP_MAX, zeros, N, NULL, a);
    case 2:
        return gp_reduce(ctx, GP_F32, GP_SUM, zeros, N, a);
    case 3:
        return gp_compact(ctx, 4, zeros, zeros, N, a, b);
    case 4:
        return gp_expand_counts(ctx, 4, zeros, GP_U32, zeros, N, 0, NULL, b);
    case 5:
        return gp_csr_row_pointers_unsorted(ctx, GP_U32, zeros, N, 100, GP_U32, a);
    case 6:
        return gp_csr_from_coo(ctx, &coo_desc, 9, 9, zeros, zeros, zeros, N, a, b, c, out[3].data);
    case 7:
        return gp_csr_transpose(ctx, &coo_desc, 9, 9, 0, zeros, NULL, NULL, a, NULL, NULL);
    case 8:
        return gp_top_k(ctx, GP_U32, GP_ASCENDING, zeros, N, 10, a, GP_U32, b);
    case 9:
        return gp_lexsort(ctx, GP_U64, zeros, zeros, N / 2, GP_U32, a, NULL);
    default:
        return gp_radix_sort_segmented(ctx, GP_U32, zeros, N, GP_U32, zeros, 10, a, NULL);
    }
}

/* Whichever allocation fails, and whichever call inside asked for it. */
START_TEST(test_allocation_that_fails_names_the_call)
{
    static const char *const names[] = {
        "gp_scan_inclusive: ", "gp_scan_exclusive: ",      "gp_reduce: ",
        "gp_compact: ",        "gp_expand_counts: ",       "gp_csr_row_pointers_unsorted: ",
        "gp_csr_from_coo: ",   "gp_csr_transpose: ",       "gp_top_k: ",
        "gp_lexsort: ",        "gp_radix_sort_segmented: "};
    enum { BYTES = 20000 };
    char *zeros = t_host(BYTES);
    memset(zeros, 0, BYTES);
    t_array in = t_new_from(zeros, BYTES, 0), out[4];
    for (int i = 0; i < 4; i++)
        out[i] = t_new(BYTES, 0);
    gp_status s = GP_ERROR_MEMORY;
    for (int fail = 0; s == GP_ERROR_MEMORY && fail < 10; fail++) {
        struct arena arena = {fail, 0, 0, 0};
        gp_context_options o = this_backend();
        o.allocator = (gp_allocator){&arena, arena_allocate, arena_release};
        gp_context *ctx = create(&o);
        s = call_of_many(_i, ctx, &in, out);
        const char *text = gp_last_error(ctx);
        ck_assert_msg(s == GP_OK || strstr(text, names[_i]) == text, "\"%s\" is not from %s", text,
                      names[_i]);
        gp_context_synchronize(ctx);
        gp_context_destroy(ctx);
    }
    ck_assert_int_ne(s, GP_ERROR_MEMORY);
    for (int i = 0; i < 4; i++)
        t_free(&out[i]);
    t_free(&in);
    free(zeros);
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

/* ---- threads --------------------------------------------------------------------------------- */

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
    tcase_add_loop_test(c, test_allocation_that_fails_names_the_call, 0, 11);
    tcase_add_test(c, test_reserved_workspace_is_enough);
    c = t_case(s, "threads");
    tcase_add_test(c, test_two_contexts_in_two_threads);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
