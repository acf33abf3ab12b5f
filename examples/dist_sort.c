/* SPDX-License-Identifier: MIT */
/*
 * A sort of keys over several ranks: GPUs or threads of this process or, compiled by mpicc with
 * -DEXAMPLE_MPI, processes of MPI. The result is checked by calls over the ranks as well.
 */
#include "cli.h"
#include "dist_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct job {
    gp_backend backend;
    int ranks, runs;
    size_t n; /* of all ranks */
} job = {GP_BACKEND_CPU, 3, 3, 1000000};

/* Keys in no order. */
static uint32_t key_of(uint64_t i)
{
    i = (i ^ i >> 31) * 0x9e3779b97f4a7c15;
    return (uint32_t)(i >> 32 ^ i >> 13);
}

/* One number of all ranks, from one number of each. */
static uint64_t over_ranks(gp_comm *comm, gp_op op, uint64_t mine)
{
    gp_context *ctx = gp_comm_context(comm);
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    uint64_t *memory = dist_new(comm, 2 * sizeof *memory), all;
    d.in_dtype = GP_U64;
    d.op = op;
    dist_need(comm, gp_copy(ctx, &mine, sizeof mine, memory));
    dist_need(comm, gp_dist_reduce(comm, &d, memory, 1, memory + 1));
    dist_need(comm, gp_copy(ctx, memory + 1, sizeof all, &all));
    dist_need(comm, gp_context_synchronize(ctx));
    gp_free(ctx, memory);
    return all;
}

/* The last key of the ranks before this one: an exclusive scan by maximum. */
static uint32_t last_before(gp_comm *comm, uint32_t last)
{
    gp_context *ctx = gp_comm_context(comm);
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    uint32_t *memory = dist_new(comm, 2 * sizeof *memory), before;
    d.kind = GP_SCAN_EXCLUSIVE;
    d.in_dtype = GP_U32;
    d.op = GP_MAX;
    dist_need(comm, gp_copy(ctx, &last, sizeof last, memory));
    dist_need(comm, gp_dist_scan(comm, &d, NULL, memory, 1, memory + 1));
    dist_need(comm, gp_copy(ctx, memory + 1, sizeof before, &before));
    dist_need(comm, gp_context_synchronize(ctx));
    gp_free(ctx, memory);
    return before;
}

/* In order here, behind the ranks before, and all in all the same keys. */
static int is_right(gp_comm *comm, const uint32_t *before, const uint32_t *after, size_t n)
{
    uint64_t sum = 0, wrong = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (uint64_t)before[i] * before[i] - (uint64_t)after[i] * after[i];
        wrong += i > 0 && after[i] < after[i - 1];
    }
    wrong += n > 0 && last_before(comm, after[n - 1]) > after[0];
    if (n == 0)
        last_before(comm, 0);
    return over_ranks(comm, GP_SUM, sum) == 0 && over_ranks(comm, GP_SUM, wrong) == 0;
}

static double best_time(gp_comm *comm, const uint32_t *in, size_t n, uint32_t *out)
{
    double best = 1e30;
    for (int run = 0; run <= job.runs; run++) { /* the first one makes the workspace */
        over_ranks(comm, GP_SUM, 0);
        const double begin = dist_now();
        dist_need(comm, gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, in, n, out, NULL));
        dist_need(comm, gp_comm_synchronize(comm, 60));
        const double time = dist_now() - begin;
        best = run > 0 && time < best ? time : best;
    }
    return best;
}

static int sort(gp_comm *comm, void *arg)
{
    gp_context *ctx = gp_comm_context(comm);
    const uint64_t rank = (uint64_t)gp_comm_rank(comm), ranks = (uint64_t)gp_comm_ranks(comm);
    const size_t first = job.n * rank / ranks, n = job.n * (rank + 1) / ranks - first;
    uint32_t *host = malloc((n + 1) * 4), *after = malloc((n + 1) * 4);
    uint32_t *in = dist_new(comm, n * 4), *out = dist_new(comm, n * 4);
    (void)arg;
    if (!host || !after)
        return 1;
    for (size_t i = 0; i < n; i++)
        host[i] = key_of(first + i);
    dist_need(comm, gp_copy(ctx, host, n * 4, in));
    const double time = best_time(comm, in, n, out);
    dist_need(comm, gp_copy(ctx, out, n * 4, after));
    dist_need(comm, gp_context_synchronize(ctx));
    const int right = is_right(comm, host, after, n);
    if (rank == 0)
        printf("%zu keys, %d ranks: %.3f ms, %.3f G/s, %s\n", job.n, (int)ranks, 1e3 * time,
               (double)job.n / time * 1e-9, right ? "in order" : "WRONG");
    gp_free(ctx, in);
    gp_free(ctx, out);
    free(host), free(after);
    return !right;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"backend", required_argument, NULL, 'b'},
                                            {"ranks", required_argument, NULL, 'r'},
                                            {"keys", required_argument, NULL, 'n'},
                                            {"runs", required_argument, NULL, 't'},
                                            CLI_OPTIONS,
                                            {NULL, 0, NULL, 0}};
    static const struct cli cli = {
        "dist_sort",
        "usage: dist_sort [OPTION..]\nSorts keys over several ranks, and checks them.\n\n"
        "  --backend cpu|cuda   where ranks compute; with cuda each has a GPU, if there are enough\n"
        "  --ranks N            1 to 64 threads (3); with MPI there are as many as processes\n"
        "  --keys N             of all ranks (1000000)\n"
        "  --runs N             of which the best time is told (3)\n"
        "  --help, --version\n",
        options};
    int o;
    cli_begin(&cli);
    while ((o = cli_next(&cli, argc, argv)) != -1) {
        const long long number = o == 'b' ? 1 : atoll(optarg);
        if (o == 'b' && strcmp(optarg, "cpu") && strcmp(optarg, "cuda"))
            cli_wrong(&cli, "--backend is %s, expected cpu or cuda", optarg);
        if (number < 1 || (o != 'n' && number > 64))
            cli_wrong(&cli, "%s is not a number from 1 on", optarg);
        job.backend = o != 'b'                      ? job.backend
                      : strcmp(optarg, "cuda") == 0 ? GP_BACKEND_CUDA
                                                    : GP_BACKEND_CPU;
        job.ranks = o == 'r' ? (int)number : job.ranks;
        job.runs = o == 't' ? (int)number : job.runs;
        job.n = o == 'n' ? (size_t)number : job.n;
    }
    if (optind < argc)
        cli_wrong(&cli, "%s: no operand is expected", argv[optind]);
    return dist_run(job.backend, job.ranks, argc, argv, sort, NULL);
}
