/* SPDX-License-Identifier: MIT */
#include "rmat.h"

#include <math.h>
#include <stdlib.h>

/* One output of the SplitMix64 generator (Steele, Lea and Flood 2014) for a counter. */
static uint64_t mix(uint64_t counter)
{
    uint64_t z = counter * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t rmat_start(uint64_t seed, uint64_t chunk, int group)
{
    return mix(mix(mix(seed + 1) + chunk) + (uint64_t)group + 1) | 1;
}

int rmat_groups(unsigned scale)
{
    return (int)(scale + RMAT_LEVELS - 1) / RMAT_LEVELS;
}

void rmat_group(unsigned scale, int group, struct rmat_group *g)
{
    static const double quadrants[] = {0.57, 0.19, 0.19, 0.05};
    const unsigned first = (unsigned)group * RMAT_LEVELS;
    const unsigned levels = scale - first < RMAT_LEVELS ? scale - first : RMAT_LEVELS;
    double sum = 0.0;
    g->paths = (size_t)1 << 2 * levels;
    for (size_t path = 0; path < g->paths; path++) {
        uint64_t row = 0, col = 0;
        double probability = 1.0;
        for (unsigned level = levels; level-- > 0;) {
            const size_t quadrant = path >> 2 * level & 3;
            probability *= quadrants[quadrant];
            row = row << 1 | quadrant >> 1;
            col = col << 1 | (quadrant & 1);
        }
        sum += probability;
        g->bounds[path] = sum < 1.0 ? (uint64_t)ldexp(sum, 64) : UINT64_MAX;
        g->places[path] = (row | col << 32) << (scale - first - levels);
    }
}

/* ---- the serial generator -------------------------------------------------------------------- */

/* The number of bounds that are not above the draw; that of the last path does not count. */
static size_t path_of(const struct rmat_group *g, uint64_t draw)
{
    size_t path = 0;
    for (size_t half = g->paths / 2; half > 0; half /= 2)
        path += g->bounds[path + half - 1] <= draw ? half : 0;
    return path;
}

struct numbered {
    uint64_t draw;
    uint32_t number;
};

static int compare_draws(const void *a, const void *b)
{
    const uint64_t x = ((const struct numbered *)a)->draw, y = ((const struct numbered *)b)->draw;
    return (x > y) - (x < y);
}

/* The order of as many draws, of which no two are equal. */
static bool permutation(uint64_t seed, uint32_t *label, uint32_t vertices)
{
    struct numbered *order = malloc(vertices * sizeof *order);
    uint64_t x = rmat_start(seed, UINT64_MAX, 0);
    if (!order)
        return false;
    for (uint32_t v = 0; v < vertices; v++)
        order[v] = (struct numbered){x *= rmat_multiplier, v};
    qsort(order, vertices, sizeof *order, compare_draws);
    for (uint32_t v = 0; v < vertices; v++)
        label[v] = order[v].number;
    free(order);
    return true;
}

static void chunk_of_edges(const struct rmat_group *groups, int num_groups, uint64_t seed,
                           size_t first, const uint32_t *label, struct coo *m)
{
    uint64_t x[RMAT_GROUPS_MAX];
    for (int g = 0; g < num_groups; g++)
        x[g] = rmat_start(seed, first / RMAT_CHUNK, g);
    for (size_t k = first; k < m->nnz && k < first + RMAT_CHUNK; k++) {
        uint64_t place = 0;
        for (int g = 0; g < num_groups; g++)
            place += groups[g].places[path_of(&groups[g], x[g] *= rmat_multiplier)];
        m->rows[k] = label[(uint32_t)place];
        m->cols[k] = label[place >> 32];
        m->values[k] = 1.0;
    }
}

bool rmat_generate(unsigned scale, uint64_t edge_factor, uint64_t seed, struct coo *m,
                   coo_progress *progress, void *arg)
{
    const uint32_t vertices = UINT32_C(1) << scale;
    const int num_groups = rmat_groups(scale);
    *m = (struct coo){0};
    if (edge_factor > SIZE_MAX >> scale)
        return false;
    struct rmat_group *groups = malloc((size_t)num_groups * sizeof *groups);
    uint32_t *label = malloc(vertices * sizeof *label);
    const bool good = groups && label && permutation(seed, label, vertices) &&
                      coo_allocate(m, vertices, vertices, (size_t)edge_factor << scale);
    for (int g = 0; good && g < num_groups; g++)
        rmat_group(scale, g, &groups[g]);
    for (size_t k = 0; good && k < m->nnz; k += RMAT_CHUNK) {
        chunk_of_edges(groups, num_groups, seed, k, label, m);
        if (progress)
            progress(arg, (double)k, (double)m->nnz);
    }
    free(groups);
    free(label);
    return good;
}
