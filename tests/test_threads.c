/* SPDX-License-Identifier: MIT */
/*
 * The threads of the CPU backend: results that do not depend on how many there are or can be made,
 * and processes that fork.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "every_call.h"
#include "failing.h"
#include "gp_test.h"

enum { SMALL = 3000, LARGE = 200000 };

/* For children and beside threads that fork: Check has a lock, which may be held at that moment. */
static gp_context *cpu_with_threads(int threads)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = GP_BACKEND_CPU;
    o.threads = threads;
    return gp_context_create(&ctx, &o) == GP_OK ? ctx : NULL;
}

static gp_context *with_threads(int threads)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = gp_context_backend(t_ctx());
    o.threads = threads;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

/* What calls give with one thread: every call, or every GP_TEST_STEP-th. */
static uint64_t *expected_hashes(const every *e)
{
    uint64_t *hashes = t_host(EVERY_CALLS * sizeof *hashes);
    gp_context *one = with_threads(1);
    for (int call = 0; call < EVERY_CALLS; call += (int)t_step(1))
        ck_assert_msg(every_hash(one, e, call, &hashes[call]) == GP_OK, "%s: %s", every_name(call),
                      gp_last_error(one));
    gp_context_destroy(one);
    return hashes;
}

/* The first call that does not give the expected result; -1: none. */
static int first_wrong(gp_context *ctx, const every *e, const uint64_t *expected)
{
    uint64_t hash;
    for (int call = 0; call < EVERY_CALLS; call += (int)t_step(1))
        if (every_hash(ctx, e, call, &hash) != GP_OK || hash != expected[call])
            return call;
    return -1;
}

static const char *name_of(int call)
{
    return call < 0 ? "none" : every_name(call);
}

/* ---- numbers of threads ---------------------------------------------------------------------- */

START_TEST(test_results_do_not_depend_on_threads)
{
    static const int threads[] = {2, 3, 5, 64};
    every e = every_new(t_ctx(), LARGE);
    uint64_t *expected = expected_hashes(&e);
    gp_context *ctx = with_threads(threads[_i]);
    int wrong = first_wrong(ctx, &e, expected);
    ck_assert_msg(wrong < 0, "%s with %d threads", name_of(wrong), threads[_i]);
    gp_context_destroy(ctx);
    every_free(t_ctx(), &e);
    free(expected);
}
END_TEST

/* Threads of several contexts borrow from one pool. */
struct user {
    const uint64_t *expected;
    pthread_t thread;
    int wrong;
};

static void *user_main(void *arg)
{
    struct user *u = arg;
    gp_context *ctx = with_threads(3);
    every e = every_new(ctx, LARGE);
    u->wrong = first_wrong(ctx, &e, u->expected);
    every_free(ctx, &e);
    gp_context_destroy(ctx);
    return NULL;
}

START_TEST(test_contexts_in_many_threads_share_the_pool)
{
    struct user users[5];
    every e = every_new(t_ctx(), LARGE);
    uint64_t *expected = expected_hashes(&e);
    for (int i = 0; i < 5; i++) {
        users[i].expected = expected;
        ck_assert_int_eq(pthread_create(&users[i].thread, NULL, user_main, &users[i]), 0);
    }
    for (int i = 0; i < 5; i++)
        pthread_join(users[i].thread, NULL);
    for (int i = 0; i < 5; i++)
        ck_assert_msg(users[i].wrong < 0, "thread %d: %s", i, name_of(users[i].wrong));
    every_free(t_ctx(), &e);
    free(expected);
}
END_TEST

#if defined(__linux__)
static int threads_of_process(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = -2; /* the folder and the one above it */
    ck_assert_ptr_nonnull(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

START_TEST(test_workers_end_with_the_last_context)
{
    const struct timespec moment = {0, 10000000};
    t_ctx_drop();
    const int before = threads_of_process();
    for (int round = 0; round < 3; round++) {
        gp_context *a = with_threads(4), *b = with_threads(2);
        every e = every_new(a, LARGE);
        T_OK(every_run(a, &e, 0));
        T_OK(every_run(b, &e, 0));
        every_free(a, &e);
        gp_context_destroy(a);
        gp_context_destroy(b);
        t_ctx_drop(); /* with_threads() has asked it for its backend */
        for (int i = 0; i < 100 && threads_of_process() > before; i++)
            nanosleep(&moment, NULL); /* one that was joined may still be listed */
        ck_assert_int_le(threads_of_process(), before);
    }
}
END_TEST
#endif

START_TEST(test_number_of_threads_from_the_environment)
{
    static const char *const wrong[] = {"0", "-1", "4097", "two", "2x", "99999999999999999999"};
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    char line[200];
    o.backend = GP_BACKEND_CPU;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("GP_THREADS", wrong[i], 1);
        ck_assert_int_eq(gp_context_create(&ctx, &o), GP_ERROR_ARGUMENT);
        ck_assert_msg(strstr(gp_last_error(NULL), "GP_THREADS is"), "%s", gp_last_error(NULL));
    }
    setenv("GP_THREADS", "3", 1);
    for (int asked = 0; asked <= 5; asked += 5) {
        o.threads = asked;
        T_OK(gp_context_create(&ctx, &o));
        T_OK(gp_context_describe(ctx, line, sizeof line));
        ck_assert_msg(strstr(line, asked ? "5 threads" : "3 threads"), "%s", line);
        gp_context_destroy(ctx);
    }
    unsetenv("GP_THREADS");
}
END_TEST

/* ---- what the system refuses ----------------------------------------------------------------- */

/* The workers end with the last context, so each round makes them anew. */
START_TEST(test_thread_that_cannot_be_made_means_fewer)
{
    for (long k = 0; failing_works() && k < 4; k++) {
        t_ctx_drop();
        every e = every_new(t_ctx(), LARGE);
        uint64_t *expected = expected_hashes(&e);
        gp_context *ctx = with_threads(5);
        failing_threads(2 * k); /* each is tried with two sizes of stack */
        int wrong = first_wrong(ctx, &e, expected);
        long tried = failing_threads_started();
        failing_threads(-1);
        ck_assert_msg(wrong < 0, "%s with %ld threads at most", name_of(wrong), k);
        ck_assert_msg(tried <= 2 * k + 2, "%ld tries", tried);
        gp_context_destroy(ctx);
        every_free(t_ctx(), &e);
        free(expected);
    }
}
END_TEST

/* Status of a child that runs body, 0 to 255; negative: the signal that ended it. */
static int in_child(int (*body)(void *arg), void *arg)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(body(arg));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct forked {
    gp_context *ctx;
    const every *e;
    const uint64_t *expected;
};

/* Right results or a status, whatever cannot be allocated. */
static int short_of_memory(void *arg)
{
    struct forked *f = arg;
    const struct rlimit limit = {200 << 20, 200 << 20};
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    uint64_t hash;
    setrlimit(RLIMIT_AS, &limit);
    o.backend = GP_BACKEND_CPU;
    o.threads = 64;
    if (gp_context_create(&ctx, &o) != GP_OK)
        return 1;
    for (int call = 0; call < EVERY_CALLS; call += (int)t_step(1)) {
        gp_status s = every_hash(ctx, f->e, call, &hash);
        if (s != GP_ERROR_MEMORY && (s != GP_OK || hash != f->expected[call]))
            return 2 + call;
    }
    gp_context_destroy(ctx);
    return 0;
}

START_TEST(test_address_space_limit_gives_results_or_a_status)
{
    every e = every_new(t_ctx(), LARGE);
    struct forked f = {NULL, &e, expected_hashes(&e)};
    bool cpu = gp_context_backend(t_ctx()) == GP_BACKEND_CPU;
    if (failing_works() && cpu) /* sanitizers and CUDA need more */
        ck_assert_int_eq(in_child(short_of_memory, &f), 0);
    every_free(t_ctx(), &e);
    free((void *)f.expected);
}
END_TEST

/* ---- fork ------------------------------------------------------------------------------------ */

static int old_and_new_context(void *arg)
{
    struct forked *f = arg;
    if (first_wrong(f->ctx, f->e, f->expected) >= 0)
        return 1;
    gp_context *mine = cpu_with_threads(3);
    if (first_wrong(mine, f->e, f->expected) >= 0)
        return 2;
    gp_context_destroy(mine);
    gp_context_destroy(f->ctx);
    return 0;
}

static int child_with_child(void *arg)
{
    int status = old_and_new_context(arg);
    struct forked *f = arg;
    f->ctx = cpu_with_threads(2);
    return status ? status : in_child(old_and_new_context, f);
}

/* A GPU is not inherited: the context says so and can be destroyed. */
static int lost_device(void *arg)
{
    struct forked *f = arg;
    for (int call = 0; call < EVERY_CALLS; call++)
        if (every_run(f->ctx, f->e, call) != GP_ERROR_DEVICE)
            return 1 + call;
    if (!strstr(gp_last_error(f->ctx), "fork()"))
        return 100;
    if (gp_context_reset(f->ctx) != GP_ERROR_DEVICE ||
        gp_free(f->ctx, f->e->keys) != GP_ERROR_DEVICE)
        return 101;
    gp_context_destroy(f->ctx);
    return 0;
}

START_TEST(test_child_after_fork_computes)
{
    every e = every_new(t_ctx(), LARGE);
    struct forked f = {with_threads(3), &e, expected_hashes(&e)};
    if (gp_context_backend(t_ctx()) == GP_BACKEND_CUDA) {
        ck_assert_int_eq(in_child(lost_device, &f), 0);
    } else {
        ck_assert_int_lt(first_wrong(f.ctx, &e, f.expected), 0);
        ck_assert_int_eq(in_child(old_and_new_context, &f), 0);
        ck_assert_int_eq(in_child(child_with_child, &f), 0);
    }
    ck_assert_int_lt(first_wrong(f.ctx, &e, f.expected), 0);
    gp_context_destroy(f.ctx);
    every_free(t_ctx(), &e);
    free((void *)f.expected);
}
END_TEST

/* Another thread is anywhere in the library when this one forks; its context stays in use. */
struct busy {
    gp_context *ctx;
    const every *e;
    int stop;
};

static void *keep_calling(void *arg)
{
    struct busy *b = arg;
    while (!__atomic_load_n(&b->stop, __ATOMIC_RELAXED)) {
        gp_context *c = cpu_with_threads(4);
        every_run(b->ctx, b->e, 0);
        gp_context_destroy(c);
    }
    return NULL;
}

static int after_busy_fork(void *arg)
{
    struct forked *f = arg;
    gp_context *mine = cpu_with_threads(3);
    uint64_t hash;
    if (every_hash(mine, f->e, 0, &hash) != GP_OK || hash != f->expected[0])
        return 1;
    gp_context_destroy(mine);
    return 0;
}

START_TEST(test_fork_beside_a_thread_in_a_call)
{
    if (gp_context_backend(t_ctx()) == GP_BACKEND_CUDA)
        return;
    every e = every_new(t_ctx(), LARGE), other = every_new(t_ctx(), LARGE);
    struct forked f = {NULL, &e, expected_hashes(&e)};
    struct busy b = {with_threads(3), &other, 0};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, keep_calling, &b), 0);
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(in_child(after_busy_fork, &f), 0);
    __atomic_store_n(&b.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    gp_context_destroy(b.ctx);
    every_free(t_ctx(), &e);
    every_free(t_ctx(), &other);
    free((void *)f.expected);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("threads");
    TCase *c = t_case(s, "numbers");
    tcase_add_loop_test(c, test_results_do_not_depend_on_threads, 0, 4);
    tcase_add_test(c, test_contexts_in_many_threads_share_the_pool);
#if defined(__linux__)
    tcase_add_test(c, test_workers_end_with_the_last_context);
#endif
    tcase_add_test(c, test_number_of_threads_from_the_environment);
    c = t_case(s, "limits");
    tcase_add_test(c, test_thread_that_cannot_be_made_means_fewer);
    tcase_add_test(c, test_address_space_limit_gives_results_or_a_status);
    c = t_case(s, "fork");
    tcase_add_test(c, test_child_after_fork_computes);
    tcase_add_test(c, test_fork_beside_a_thread_in_a_call);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
