/* SPDX-License-Identifier: MIT */
/* Contexts and memory that a program uses wrongly: what is wrong is named,
 * and nothing is touched. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "every_call.h"
#include "gp_test.h"

enum { N = 5000 };

static gp_context *another(const gp_allocator *allocator)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = gp_context_backend(t_ctx());
    if (allocator)
        o.allocator = *allocator;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

static void expect_text(const gp_context *ctx, const char *part)
{
    const char *text = gp_last_error(ctx);
    ck_assert_msg(strstr(text, part), "\"%s\" says nothing of \"%s\"", text, part);
}

/* ---- contexts that are none ------------------------------------------------------------------ */

/* Every call says POINTER of a context, and writes nothing. */
static void check_no_context(gp_context *ctx)
{
    void *memory;
    char line[200];
    every e = every_new(t_ctx(), N);
    uint64_t before, after;
    T_OK(every_hash(t_ctx(), &e, 0, &before));
    for (int call = 0; call < EVERY_CALLS; call++)
        ck_assert_msg(every_run(ctx, &e, call) == GP_ERROR_POINTER, "%s", every_name(call));
    ck_assert_int_eq(gp_malloc(ctx, 10, &memory), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_free(ctx, e.keys), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_copy(ctx, e.keys, 8, e.out[0]), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_context_reserve(ctx, 10), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_context_synchronize(ctx), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_context_reset(ctx), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_context_set_stream(ctx, NULL), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_context_describe(ctx, line, sizeof line), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_context_backend(ctx), GP_BACKEND_AUTO);
    ck_assert_ptr_null(gp_context_stream(ctx));
    expect_text(ctx, "gp_context_describe: ctx is");
    T_OK(every_hash(t_ctx(), &e, 0, &after));
    ck_assert_uint_eq(before, after);
    every_free(t_ctx(), &e);
}

START_TEST(test_context_destroyed_is_named)
{
    gp_context *ctx = another(NULL);
    gp_context_destroy(ctx);
    check_no_context(ctx);
    gp_context_destroy(ctx);
    expect_text(NULL, "destroyed");
}
END_TEST

START_TEST(test_context_never_made_is_named)
{
    void *zeros = calloc(1, 4096);
    check_no_context(zeros);
    gp_context_destroy(zeros);
    expect_text(NULL, "not a context");
    free(zeros);
}
END_TEST

/* ---- a context of another thread ------------------------------------------------------------- */

struct visit {
    gp_context *ctx;
    const every *e;
    int wrong; /* the call that was not refused; -1: none */
    bool named;
};

static void *visit_main(void *arg)
{
    struct visit *v = arg;
    void *memory = v;
    v->wrong = -1;
    for (int call = 0; call < EVERY_CALLS && v->wrong < 0; call++)
        if (every_run(v->ctx, v->e, call) != GP_ERROR_BUSY)
            v->wrong = call;
    if (gp_malloc(v->ctx, 8, &memory) != GP_ERROR_BUSY || memory ||
        gp_free(v->ctx, v->e->keys) != GP_ERROR_BUSY ||
        gp_context_synchronize(v->ctx) != GP_ERROR_BUSY ||
        gp_context_reset(v->ctx) != GP_ERROR_BUSY)
        v->wrong = EVERY_CALLS;
    gp_context_destroy(v->ctx); /* leaves it */
    v->named = strstr(gp_last_error(NULL), "gp_context_destroy: ctx is in use by another thread");
    return NULL;
}

/* The allocator is called in the middle of a call: the context is in use as long as it likes. */
static void *allocate_and_visit(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    struct visit *v = user;
    pthread_t thread;
    void *memory = NULL;
    (void)stream, (void)alignment;
    if (v->ctx) {
        ck_assert_int_eq(pthread_create(&thread, NULL, visit_main, v), 0);
        pthread_join(thread, NULL);
        v->ctx = NULL;
    }
    gp_malloc(t_ctx(), bytes, &memory);
    gp_context_synchronize(t_ctx());
    return memory;
}

static void release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)user, (void)bytes, (void)stream;
    gp_free(t_ctx(), memory);
}

START_TEST(test_context_in_use_by_another_thread_is_busy)
{
    every e = every_new(t_ctx(), N);
    struct visit v = {NULL, &e, -1, false};
    gp_allocator allocator = {&v, allocate_and_visit, release};
    gp_context *ctx = another(&allocator);
    v.ctx = ctx;
    T_OK(gp_context_reserve(ctx, 1000));
    ck_assert_msg(v.wrong < 0, "%s", v.wrong < EVERY_CALLS ? every_name(v.wrong) : "core");
    ck_assert_msg(v.named, "the thread's text");
    T_OK(gp_context_synchronize(ctx));
    gp_context_destroy(ctx);
    every_free(t_ctx(), &e);
}
END_TEST

/* ---- memory ---------------------------------------------------------------------------------- */

START_TEST(test_free_of_foreign_memory_is_refused)
{
    gp_context *other = another(NULL);
    uint32_t local[64];
    void *memory, *interior;
    T_STATUS(GP_ERROR_POINTER, gp_free(t_ctx(), local));
    expect_text(t_ctx(), "gp_malloc() of this context did not give");
    T_OK(gp_malloc(t_ctx(), 1000, &memory));
    interior = (char *)memory + 256;
    T_STATUS(GP_ERROR_POINTER, gp_free(t_ctx(), interior));
    ck_assert_int_eq(gp_free(other, memory), GP_ERROR_POINTER);
    T_OK(gp_free(t_ctx(), memory));
    T_STATUS(GP_ERROR_POINTER, gp_free(t_ctx(), memory));
    T_OK(gp_free(t_ctx(), NULL));
    gp_context_destroy(other);
}
END_TEST

/* Many pieces, freed in another order: the table finds each, once. */
START_TEST(test_free_finds_every_piece_once)
{
    enum { PIECES = 1000 };
    static void *pieces[PIECES];
    for (int i = 0; i < PIECES; i++)
        T_OK(gp_malloc(t_ctx(), (size_t)i + 1, &pieces[i]));
    for (int k = 0; k < PIECES; k++) {
        int i = k * 377 % PIECES;
        ck_assert_msg(gp_free(t_ctx(), pieces[i]) == GP_OK, "%s", gp_last_error(t_ctx()));
        ck_assert_int_eq(gp_free(t_ctx(), pieces[i]), GP_ERROR_POINTER);
    }
}
END_TEST

struct ledger {
    size_t offset, live;
};

static void *ledger_allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    struct ledger *l = user;
    void *memory;
    (void)stream, (void)alignment;
    if (gp_malloc(t_ctx(), bytes + 512, &memory) != GP_OK)
        return NULL;
    gp_context_synchronize(t_ctx());
    l->live += bytes;
    return (char *)memory + l->offset;
}

static void ledger_release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    struct ledger *l = user;
    (void)stream;
    l->live -= bytes;
    T_OK(gp_free(t_ctx(), (char *)memory - l->offset));
}

START_TEST(test_malloc_goes_through_the_allocator)
{
    struct ledger l = {0, 0};
    gp_allocator allocator = {&l, ledger_allocate, ledger_release};
    gp_context *ctx = another(&allocator);
    void *memory;
    T_OK(gp_malloc(ctx, 12345, &memory));
    ck_assert_uint_eq(l.live, 12345);
    T_OK(gp_free(ctx, memory));
    ck_assert_uint_eq(l.live, 0);
    gp_context_destroy(ctx);
}
END_TEST

START_TEST(test_allocator_off_its_alignment_is_refused)
{
    struct ledger l = {16, 0};
    gp_allocator allocator = {&l, ledger_allocate, ledger_release};
    gp_context *ctx = another(&allocator);
    void *memory;
    ck_assert_int_eq(gp_context_reserve(ctx, 1000), GP_ERROR_POINTER);
    expect_text(ctx, "not aligned to 256 bytes");
    ck_assert_int_eq(gp_malloc(ctx, 1000, &memory), GP_ERROR_POINTER);
    ck_assert_ptr_null(memory);
    ck_assert_uint_eq(l.live, 0);
    gp_context_destroy(ctx);
}
END_TEST

/* Sizes that wrap when they are rounded up; the old workspace stays. */
START_TEST(test_reserve_beyond_memory_keeps_the_workspace)
{
    static const size_t sizes[] = {SIZE_MAX,       SIZE_MAX - 1,     SIZE_MAX - 254,
                                   SIZE_MAX - 255, SIZE_MAX - 256,   SIZE_MAX / 2 + 1,
                                   SIZE_MAX / 2,   PTRDIFF_MAX - 255};
    struct ledger l = {0, 0};
    gp_allocator allocator = {&l, ledger_allocate, ledger_release};
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx = another(NULL), *counted = another(&allocator), *none;
    T_OK(gp_context_reserve(counted, 100000));
    const size_t live = l.live;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *memory;
        ck_assert_int_eq(gp_context_reserve(ctx, sizes[i]), GP_ERROR_MEMORY);
        expect_text(ctx, "gp_context_reserve");
        ck_assert_int_eq(gp_malloc(ctx, sizes[i], &memory), GP_ERROR_MEMORY);
        if (sizes[i] > PTRDIFF_MAX)
            ck_assert_int_eq(gp_context_reserve(counted, sizes[i]), GP_ERROR_MEMORY);
        ck_assert_uint_eq(l.live, live);
        o.backend = gp_context_backend(t_ctx());
        o.workspace_bytes = sizes[i];
        ck_assert_int_eq(gp_context_create(&none, &o), GP_ERROR_MEMORY);
        expect_text(NULL, "gp_context_create: cannot allocate");
    }
    gp_context_destroy(ctx);
    gp_context_destroy(counted);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("misuse");
    TCase *c = t_case(s, "contexts");
    tcase_add_test(c, test_context_destroyed_is_named);
    tcase_add_test(c, test_context_never_made_is_named);
    tcase_add_test(c, test_context_in_use_by_another_thread_is_busy);
    c = t_case(s, "memory");
    tcase_add_test(c, test_free_of_foreign_memory_is_refused);
    tcase_add_test(c, test_free_finds_every_piece_once);
    tcase_add_test(c, test_malloc_goes_through_the_allocator);
    tcase_add_test(c, test_allocator_off_its_alignment_is_refused);
    tcase_add_test(c, test_reserve_beyond_memory_keeps_the_workspace);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
