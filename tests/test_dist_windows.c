/* SPDX-License-Identifier: MIT */
/* Ranks that are processes of one host read each other's GPU memory: two of them, on two GPUs or on
 * one, with a transport out of shared memory that moves notes and no data. */
#define _GNU_SOURCE /* memfd_create() */
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gp_test.h"
#include "steps.h"

extern char **environ;

enum { RANKS = 2, ROW = 1 << 15, LOG_PAIRS = 28, LOG_KEYS = 29 };

/* ---- the transport --------------------------------------------------------------------------- */

struct board {
    unsigned arrived; /* atomic: so often */
    char rows[RANKS][ROW];
};

struct seat {
    struct board *board;
    int rank;
    unsigned barriers;
};

static int wait_for_all(struct seat *s, double seconds)
{
    const time_t end = time(NULL) + (time_t)seconds + 2;
    const unsigned all = ++s->barriers * RANKS;
    __atomic_fetch_add(&s->board->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&s->board->arrived, __ATOMIC_ACQUIRE) < all) {
        if (time(NULL) > end)
            return 1;
        sched_yield();
    }
    return 0;
}

static int all_gather(void *user, const void *mine, size_t bytes, void *all, double seconds)
{
    struct seat *s = user;
    if (bytes > ROW)
        return 2;
    memcpy(s->board->rows[s->rank], mine, bytes);
    if (wait_for_all(s, seconds))
        return 1;
    for (int r = 0; r < RANKS; r++)
        memcpy((char *)all + (size_t)r * bytes, s->board->rows[r], bytes);
    return wait_for_all(s, seconds);
}

/* Who has windows sends nothing. */
static int exchange(void *user, const void *send, const uint64_t *send_at,
                    const uint64_t *send_bytes, void *recv, const uint64_t *recv_at,
                    const uint64_t *recv_bytes, double seconds)
{
    (void)user, (void)send, (void)send_at, (void)send_bytes, (void)recv, (void)recv_at,
        (void)recv_bytes, (void)seconds;
    return 3;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static bool sort_steps(gp_context *ctx, gp_comm *comm, int rank, bool pairs)
{
    struct steps s = {.ctx = ctx, .log_n = pairs ? LOG_PAIRS : LOG_KEYS, .pairs = pairs};
    steps_share(&s, rank, RANKS);
    const bool made = steps_make(&s) == GP_OK, sorted = made && steps_sort(&s, comm) == GP_OK;
    const bool right = sorted && steps_are_sorted(&s);
    if (!right)
        fprintf(stderr, "rank %d, %s: %s: %s\n", rank, pairs ? "pairs" : "keys",
                sorted ? "not in order" : "not sorted", gp_last_error(ctx));
    steps_free(&s);
    return right;
}

/* A process: 0, or 1 if something was wrong. The second sort wants larger windows. */
static int run_rank(int rank, int fd)
{
    struct seat seat = {.rank = rank};
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_comm_ops ops = GP_COMM_OPS_INIT;
    gp_context *ctx = NULL;
    gp_comm *comm = NULL;
    seat.board = mmap(NULL, sizeof *seat.board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (seat.board == MAP_FAILED)
        return 1;
    o.backend = GP_BACKEND_CUDA;
    o.device = t_device_count() > rank ? rank : 0;
    ops.rank = rank, ops.ranks = RANKS, ops.user = &seat;
    ops.all_gather = all_gather, ops.exchange = exchange;
    bool right = gp_context_create(&ctx, &o) == GP_OK && gp_comm_create(ctx, &ops, &comm) == GP_OK;
    if (right)
        right = gp_comm_set_timeout(comm, 20) == GP_OK && sort_steps(ctx, comm, rank, true) &&
                sort_steps(ctx, comm, rank, false);
    if (!right)
        fprintf(stderr, "rank %d: %s\n", rank, gp_last_error(ctx));
    gp_comm_destroy(comm);
    gp_context_destroy(ctx);
    return !right;
}

/* ---- the test -------------------------------------------------------------------------------- */

START_TEST(test_dist_windows_of_two_processes)
{
    if (!t_is_cuda())
        return;
    const int fd = memfd_create("gp ranks", 0);
    pid_t id[RANKS];
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, sizeof(struct board)), 0);
    for (int r = 0; r < RANKS; r++) {
        char rank[16], file[16], self[] = "/proc/self/exe", what[] = "--rank";
        char *const args[] = {self, what, rank, file, NULL};
        snprintf(rank, sizeof rank, "%d", r);
        snprintf(file, sizeof file, "%d", fd);
        ck_assert_int_eq(posix_spawn(&id[r], self, NULL, NULL, args, environ), 0);
    }
    for (int r = 0; r < RANKS; r++) {
        int status = -1;
        ck_assert_int_eq(waitpid(id[r], &status, 0), id[r]);
        ck_assert_int_eq(status, 0);
    }
    close(fd);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_windows");
    TCase *c = t_case(s, "processes");
    tcase_add_test(c, test_dist_windows_of_two_processes);
    return s;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--rank") == 0)
        return run_rank(atoi(argv[2]), atoi(argv[3]));
    return t_main(argc, argv, suite());
}
