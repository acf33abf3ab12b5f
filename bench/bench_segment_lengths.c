/* SPDX-License-Identifier: MIT */
/* Segments as csr and balance need them: even ones, and a power law with empty ones between. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "bench_task.h"

static uint32_t *even(size_t n, size_t num_segments)
{
    uint32_t *offsets = malloc((num_segments + 1) * sizeof *offsets);
    if (!offsets)
        bench_die("out of host memory");
    for (size_t s = 0; s <= num_segments; s++)
        offsets[s] = (uint32_t)(n / num_segments * s);
    return offsets;
}

/*
 * The s-th longest segment holds the positions from n (s/h)^(1/3) to n ((s+1)/h)^(1/3), with h half
 * the number of segments; the other half is empty. Multiplying by an odd number mixes them (their
 * number is a power of two).
 */
static uint32_t *power_law(size_t n, size_t num_segments)
{
    uint32_t *offsets = malloc((num_segments + 1) * sizeof *offsets);
    size_t half = num_segments / 2, sum = 0;
    if (!offsets)
        bench_die("out of host memory");
    for (size_t s = 0; s < num_segments; s++) {
        size_t rank = s * 2654435761u % num_segments;
        offsets[s] = (uint32_t)sum;
        if (rank < half)
            sum += (size_t)((double)n * cbrt((double)(rank + 1) / (double)half)) -
                   (size_t)((double)n * cbrt((double)rank / (double)half));
    }
    offsets[num_segments] = (uint32_t)sum;
    return offsets;
}

void bench_segment_lengths(struct bench *b, struct bench_args *a, bool powerlaw, int slot)
{
    size_t bytes = (a->num_rows + 1) * sizeof(uint32_t);
    uint32_t *host = powerlaw ? power_law(a->n, a->num_rows) : even(a->n, a->num_rows);
    uint32_t *offsets = bench_buffer(b, slot, bytes);
    if (host[a->num_rows] != a->n)
        bench_die("the segments hold %u items, expected %zu", host[a->num_rows], a->n);
    bench_copy(b, host, bytes, offsets);
    free(host);
    a->offsets = offsets;
}
