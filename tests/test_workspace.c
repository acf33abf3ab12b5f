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

/* ---- figures without a device ---------------------------------------------------------------- */

/* A call of every gp_<primitive>_workspace_bytes(), right but for its target. */
#define FIGURE(name, ...)                                                                          \
    static gp_status name##_figure(const gp_target *target, size_t *bytes)                         \
    {                                                                                              \
        return name##_workspace_bytes(target, __VA_ARGS__, bytes);                                 \
    }

static const gp_coo_desc coo = GP_COO_DESC_INIT;

/* The initializers leave the types open. */
static const gp_scan_desc *scan_desc(void)
{
    static gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    return &d;
}

static const gp_reduce_desc *reduce_desc(void)
{
    static gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = GP_U32;
    return &d;
}

static const gp_compact_desc *compact_desc(void)
{
    static gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = 4;
    return &d;
}

static const gp_multisplit_desc *multisplit_desc(void)
{
    static gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = 4;
    d.num_buckets = 9;
    return &d;
}

FIGURE(gp_scan, scan_desc(), 1000)
FIGURE(gp_scan_segmented, scan_desc(), 1000)
FIGURE(gp_scan_flagged, scan_desc(), 1000)
FIGURE(gp_scan_by_key, scan_desc(), 1000)
FIGURE(gp_scan_rows, scan_desc(), 10, 100)
FIGURE(gp_reduce, reduce_desc(), 1000)
FIGURE(gp_argmin, GP_U32, 1000)
FIGURE(gp_compact, compact_desc(), 1000)
FIGURE(gp_multisplit, multisplit_desc(), 1000)
static const gp_unique_desc *unique_desc(void)
{
    static gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.key_dtype = GP_U32;
    return &d;
}

static const gp_run_length_desc *run_length_desc(void)
{
    static gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    d.key_dtype = d.index_dtype = GP_U32;
    return &d;
}

static const gp_reduce_by_key_desc *by_key_desc(void)
{
    static gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = d.in_dtype = GP_U32;
    return &d;
}

static const gp_group_by_desc *group_desc(void)
{
    static gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    d.key_dtype = GP_U32;
    return &d;
}

FIGURE(gp_unique, unique_desc(), 1000)
FIGURE(gp_run_length_encode, run_length_desc(), 1000)
FIGURE(gp_reduce_by_key, by_key_desc(), 1000)
FIGURE(gp_group_by, group_desc(), 1000)
FIGURE(gp_histogram, GP_U32, 1000, 10, GP_U32, NULL)
FIGURE(gp_expand_counts, GP_U32, 1000)
FIGURE(gp_radix_sort, GP_U32, 4, 1000, NULL)
FIGURE(gp_argsort, GP_U32, 1000, GP_U32, NULL)
FIGURE(gp_radix_sort_segmented, GP_U32, 4, 1000, 10, NULL)
FIGURE(gp_lexsort, GP_U32, 4, 1000, NULL)
FIGURE(gp_merge, GP_U32, 1000)
FIGURE(gp_top_k, GP_U32, 1000, 10)
FIGURE(gp_csr_row_pointers_unsorted, GP_U32, 1000, 100, GP_U32)
FIGURE(gp_csr_from_coo, &coo, 100, 100, 1000)
FIGURE(gp_csr_to_coo, GP_U32, 100, 1000, GP_U32)
FIGURE(gp_csr_transpose, &coo, 100, 100, 1000)
FIGURE(gp_spmv, GP_U32, GP_U32, GP_F32, 100, 100, 1000)

static const struct {
    const char *name;
    gp_status (*figure)(const gp_target *target, size_t *bytes);
} figures[] = {
#define ROW(name)                                                                                  \
    {                                                                                              \
#name "_workspace_bytes", name##_figure                                                    \
    }
    ROW(gp_scan),
    ROW(gp_scan_segmented),
    ROW(gp_scan_flagged),
    ROW(gp_scan_by_key),
    ROW(gp_scan_rows),
    ROW(gp_reduce),
    ROW(gp_argmin),
    ROW(gp_compact),
    ROW(gp_multisplit),
    ROW(gp_unique),
    ROW(gp_run_length_encode),
    ROW(gp_reduce_by_key),
    ROW(gp_group_by),
    ROW(gp_histogram),
    ROW(gp_expand_counts),
    ROW(gp_radix_sort),
    ROW(gp_argsort),
    ROW(gp_radix_sort_segmented),
    ROW(gp_lexsort),
    ROW(gp_merge),
    ROW(gp_top_k),
    ROW(gp_csr_row_pointers_unsorted),
    ROW(gp_csr_from_coo),
    ROW(gp_csr_to_coo),
    ROW(gp_csr_transpose),
    ROW(gp_spmv),
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

/* The call is refused with a text that names the function, the member and its value. */
static void refused(int which, gp_target target, const char *member, const char *value)
{
    size_t bytes = 12345;
    T_STATUS(GP_ERROR_ARGUMENT, figures[which].figure(&target, &bytes));
    const char *text = gp_last_error(NULL);
    ck_assert_msg(strstr(text, figures[which].name) == text, "\"%s\" does not begin with %s", text,
                  figures[which].name);
    ck_assert_msg(strstr(text, member) && strstr(text, value), "\"%s\" does not name %s %s", text,
                  member, value);
    ck_assert_uint_eq(bytes, 12345);
}

START_TEST(test_workspace_bytes_wrong_target_is_named)
{
    const gp_target good = GP_TARGET_INIT;
    size_t bytes, any;
    gp_target t = good;
    T_OK(figures[_i].figure(NULL, &any));
    T_OK(figures[_i].figure(&good, &bytes));
    ck_assert_uint_eq(bytes, any);
    for (int backend = GP_BACKEND_CPU; backend <= GP_BACKEND_CUDA; backend++) {
        t = (gp_target){sizeof t, (gp_backend)backend, 90, 132, 8};
        T_OK(figures[_i].figure(&t, &bytes));
        ck_assert_uint_le(bytes, any);
    }
    t = good, t.size = 7;
    refused(_i, t, "target->size", "7");
    t = good, t.backend = (gp_backend)99;
    refused(_i, t, "target->backend", "99");
    t = good, t.backend = (gp_backend)-1;
    refused(_i, t, "target->backend", "-1");
    t = good, t.sm = -90;
    refused(_i, t, "target->sm", "-90");
    t = good, t.sm_count = -132;
    refused(_i, t, "target->sm_count", "-132");
    t = good, t.threads = -8;
    refused(_i, t, "target->threads", "-8");
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
    c = t_case(s, "figures");
    tcase_add_loop_test(c, test_workspace_bytes_wrong_target_is_named, 0, FIGURES);
    c = t_case(s, "threads");
    tcase_add_test(c, test_two_contexts_in_two_threads);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
