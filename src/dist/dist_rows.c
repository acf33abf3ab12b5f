/* SPDX-License-Identifier: MIT */
/* Keys in any order as those that are to be divided among ranks: how many lie in parts of
 * intervals, and to which rank each belongs. */
#include <string.h>

#include "core/threads.h"
#include "dist/dist_kernels_internal.h"

/* Keys that a thread takes at once. */
enum { PART = 1 << 16 };

static uint64_t key_at(const void *keys, size_t bytes, uint64_t i)
{
    return bytes == 8 ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

/* Words of a list that are at most that key. */
static int up_to(const uint64_t *list, int count, uint64_t key)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct counting {
    const struct gpi_dist_keys *keys;
    const uint64_t *starts;
    int intervals, bits, step;
    uint64_t *counts; /* atomic */
};

static void count_part(void *arg, size_t part)
{
    const struct counting *x = arg;
    const uint64_t begin = (uint64_t)part * PART, rest = x->keys->n - begin;
    const uint64_t end = begin + (rest < PART ? rest : PART);
    const int bins = x->intervals << x->step;
    uint32_t found[GPI_DIST_PROBES + GP_COMM_RANKS_MAX];
    memset(found, 0, (size_t)bins * sizeof *found);
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t key = key_at(x->keys->keys, x->keys->bytes, i);
        const int j = up_to(x->starts, x->intervals, key) - 1;
        if (j >= 0 && (key - x->starts[j]) >> x->bits == 0)
            found[(j << x->step) + (int)((key - x->starts[j]) >> (x->bits - x->step))]++;
    }
    for (int b = 0; b < bins; b++)
        if (found[b]) /* relaxed: they are read when all threads are done */
            __atomic_fetch_add(&x->counts[b], found[b], __ATOMIC_RELAXED);
}

static gp_status count_on_gpu(gp_comm *comm, const char *f, const struct counting *x)
{
    const size_t bins = (size_t)x->intervals << x->step;
    uint64_t *starts = x->keys->scratch, *found = starts + GP_COMM_RANKS_MAX;
    const struct gpi_dist_kernel k = {.task = GPI_DIST_COUNT,
                                      .in_bytes = x->keys->bytes,
                                      .in = x->keys->keys,
                                      .out = found,
                                      .n = x->keys->n,
                                      .rows = x->intervals,
                                      .bits = x->bits,
                                      .step = x->step,
                                      .words = starts};
    GPI_TRY(gpi_dist_put(comm, f, x->starts, (size_t)x->intervals * sizeof *starts, starts));
    GPI_TRY(gpi_dist_add_rows(comm, f, 8, NULL, 0, bins, found)); /* zeros */
    GPI_TRY(gpi_dist_launch(comm, f, &k));
    return gpi_dist_fetch(comm, f, found, bins * sizeof *found, x->counts);
}

gp_status gpi_dist_count(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                         const uint64_t *starts, int intervals, int bits, int step,
                         uint64_t *counts)
{
    struct counting x = {keys, starts, intervals, bits, step, counts};
    memset(counts, 0, ((size_t)intervals << step) * sizeof *counts);
    if (keys->n == 0 || intervals == 0)
        return GP_OK;
    if (comm->ctx->backend == GP_BACKEND_CUDA)
        return count_on_gpu(comm, f, &x);
    gpi_parallel_for(gpi_threads_for(comm->ctx->threads, 2 * keys->n), (keys->n + PART - 1) / PART,
                     count_part, &x);
    return GP_OK;
}

/* ---- numbers of ranks ------------------------------------------------------------------------ */

struct numbering {
    size_t bytes, number_bytes;
    const void *keys;
    uint64_t n;
    const uint64_t *limits;
    int count;
    void *numbers;
};

static void number_part(void *arg, size_t part)
{
    const struct numbering *x = arg;
    const uint64_t begin = (uint64_t)part * PART, rest = x->n - begin;
    const uint64_t end = begin + (rest < PART ? rest : PART);
    for (uint64_t i = begin; i < end; i++) {
        const int number = up_to(x->limits, x->count, key_at(x->keys, x->bytes, i));
        if (x->number_bytes == 1)
            ((uint8_t *)x->numbers)[i] = (uint8_t)number;
        else
            ((uint32_t *)x->numbers)[i] = (uint32_t)number;
    }
}

gp_status gpi_dist_number_rows(gp_comm *comm, const char *f, size_t bytes, const void *keys,
                               uint64_t n, const uint64_t *limits, int count, size_t number_bytes,
                               void *numbers)
{
    struct numbering x = {bytes, number_bytes, keys, n, limits, count, numbers};
    const struct gpi_dist_kernel k = {.task = GPI_DIST_NUMBER_ROWS,
                                      .in_bytes = bytes,
                                      .out_bytes = number_bytes,
                                      .in = keys,
                                      .out = numbers,
                                      .n = n,
                                      .rows = count,
                                      .words = limits};
    if (n && comm->ctx->backend == GP_BACKEND_CUDA)
        return gpi_dist_launch(comm, f, &k);
    gpi_parallel_for(gpi_threads_for(comm->ctx->threads, 4 * n), (n + PART - 1) / PART, number_part,
                     &x);
    return GP_OK;
}
