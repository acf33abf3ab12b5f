/* SPDX-License-Identifier: MIT */
#include "rmat.h"

/* Sixteen random bits choose a quadrant: the bounds are 0.57, 0.76 and 0.95 of 65536. */
enum { QUADRANT_A = 37356, QUADRANT_B = 49807, QUADRANT_C = 62259, REPORT_EVERY = 1 << 18 };

/* One output of the SplitMix64 generator (Steele, Lea and Flood 2014) for a counter. */
static uint64_t random_bits(uint64_t counter)
{
    uint64_t z = counter * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Spread the heavy vertices over the range: multiplication by an odd number permutes it. */
static uint32_t relabel(uint32_t vertex, unsigned scale)
{
    uint32_t mask = (uint32_t)((UINT64_C(1) << scale) - 1);
    return (vertex * UINT32_C(2654435761)) & mask;
}

static void edge(unsigned scale, uint64_t counter, uint32_t *row, uint32_t *col)
{
    uint32_t r = 0, c = 0;
    uint64_t bits = 0;
    for (unsigned level = 0; level < scale; level++) {
        bits = level % 4 ? bits >> 16 : random_bits(counter + level / 4);
        uint32_t draw = (uint32_t)(bits & 0xffff);
        r = r << 1 | (draw >= QUADRANT_B);
        c = c << 1 | ((draw >= QUADRANT_A && draw < QUADRANT_B) || draw >= QUADRANT_C);
    }
    *row = relabel(r, scale);
    *col = relabel(c, scale);
}

bool rmat_generate(unsigned scale, uint64_t edge_factor, uint64_t seed, struct coo *m,
                   coo_progress *progress, void *arg)
{
    uint32_t vertices = UINT32_C(1) << scale;
    uint64_t first = random_bits(seed + 1);
    if (edge_factor > SIZE_MAX >> scale)
        return false;
    if (!coo_allocate(m, vertices, vertices, (size_t)edge_factor << scale))
        return false;
    for (size_t k = 0; k < m->nnz; k++) {
        edge(scale, first + 8 * (uint64_t)k, &m->rows[k], &m->cols[k]);
        m->values[k] = 1.0;
        if (progress && k % REPORT_EVERY == 0)
            progress(arg, (double)k, (double)m->nnz);
    }
    return true;
}
