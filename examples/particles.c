/* SPDX-License-Identifier: MIT */
/*
 * Particles on a line: drop those outside, find their cells, sort them by cell, and where each cell
 * begins. Four calls; how many particles are left stays on the device until the end.
 */
#include <gp/gp.h>

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000, CELLS = 4096, CELL_BITS = 12 };

static float places[N], edges[CELLS - 1], sorted[N];
static uint32_t begins[CELLS + 1];
static gp_context *ctx;

static void need(gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "particles: %s\n", gp_last_error(ctx));
    exit(1);
}

static void *arrays[9];
static int num_arrays;

/* Memory where the context computes, with a copy of what is at host unless that is NULL. */
static void *device(size_t bytes, const void *host)
{
    void *memory;
    need(gp_malloc(ctx, bytes, &memory));
    if (host)
        need(gp_copy(ctx, host, bytes, memory));
    return arrays[num_arrays++] = memory;
}

/* Particles nearer to number i than a cell is wide: they lie in its cell and the two beside it. */
static size_t neighbours(size_t i, size_t n, int in_cells)
{
    const long cell = (long)(sorted[i] * CELLS);
    const size_t first = !in_cells ? 0 : begins[cell > 0 ? cell - 1 : 0];
    const size_t end = !in_cells ? n : begins[cell + 2 < CELLS ? cell + 2 : CELLS];
    size_t count = 0;
    for (size_t j = first; j < end; j++) {
        const float apart = sorted[j] < sorted[i] ? sorted[i] - sorted[j] : sorted[j] - sorted[i];
        count += apart < 1.0f / CELLS;
    }
    return count;
}

int main(int argc, char **argv)
{
    const float low = 0, high = 0.9f;
    gp_compact_desc keep = GP_COMPACT_DESC_INIT;
    gp_bound_desc cells_of = GP_BOUND_DESC_INIT;
    gp_radix_sort_options by_cell = GP_RADIX_SORT_OPTIONS_INIT;
    gp_csr_desc begins_of = GP_CSR_DESC_INIT;
    uint64_t state = 3, n, wrong = 0;
    cli_alone("particles", "Particles sorted by cell, their number on the device, checked.", argc,
              argv);
    for (size_t i = 0; i < N; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        places[i] = (float)(state >> 40) / 16777216.0f * 1.25f - 0.25f;
    }
    for (int c = 1; c < CELLS; c++)
        edges[c - 1] = (float)c / CELLS;
    need(gp_context_create(&ctx, NULL));
    void *all = device(sizeof places, places), *edge = device(sizeof edges, edges);
    void *inside = device(sizeof places, NULL), *cell = device(4 * N, NULL);
    void *cells = device(4 * N, NULL), *by_cells = device(sizeof places, NULL);
    void *begin = device(sizeof begins, NULL);
    uint64_t *count = device(sizeof *count, NULL);

    keep.compare = GP_BETWEEN, keep.dtype = GP_F32, keep.value = &low, keep.upper = &high;
    cells_of.dtype = GP_F32, cells_of.index_dtype = GP_U32;
    by_cell.end_bit = CELL_BITS;
    begins_of.index_dtype = begins_of.offset_dtype = GP_U32;
    cells_of.device_m = by_cell.device_n = begins_of.device_nnz = count;
    need(gp_compact_by(ctx, &keep, all, NULL, N, inside, count));
    need(gp_upper_bound_by(ctx, &cells_of, edge, CELLS - 1, inside, N, cell));
    need(gp_radix_sort_pairs(ctx, GP_U32, cell, 4, inside, N, cells, by_cells, &by_cell));
    need(gp_csr_row_pointers_by(ctx, &begins_of, cells, N, CELLS, begin));

    need(gp_copy(ctx, count, sizeof n, &n));
    need(gp_copy(ctx, by_cells, sizeof sorted, sorted));
    need(gp_copy(ctx, begin, sizeof begins, begins));
    need(gp_context_synchronize(ctx)); /* until here everything was only queued */
    for (uint32_t c = 0; c < CELLS; c++)
        for (size_t i = begins[c]; i < begins[c + 1]; i++)
            wrong += (uint32_t)(sorted[i] * CELLS) != c || sorted[i] > high;
    for (size_t i = 0; i < n; i += n / 20)
        wrong += neighbours(i, n, 1) != neighbours(i, n, 0);
    printf("%llu of %d particles are inside; number 0 has %zu neighbours\n", (unsigned long long)n,
           N, neighbours(0, n, 1) - 1);
    while (num_arrays > 0)
        gp_free(ctx, arrays[--num_arrays]);
    gp_context_destroy(ctx);
    return wrong != 0 || begins[CELLS] != n;
}
