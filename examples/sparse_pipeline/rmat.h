/* SPDX-License-Identifier: MIT */
/*
 * R-MAT random graphs (Chakrabarti, Zhan and Faloutsos 2004): few rows get most of the entries.
 *
 * An edge is a place in the matrix, found by choosing one of four quadrants, scale times over, with
 * probabilities of 0.57, 0.19, 0.19 and 0.05. RMAT_LEVELS such choices are one: a random number
 * among the sums of the probabilities of all their outcomes. Random numbers are those of a
 * multiplicative generator, x, x a, x a a, .., begun anew for each chunk of edges and each group of
 * levels. At the end vertices are renamed by a random permutation.
 */
#ifndef EXAMPLE_RMAT_H
#define EXAMPLE_RMAT_H

#include "coo.h"

enum {
    RMAT_SCALE_MAX = 30,
    RMAT_LEVELS = 6,
    RMAT_PATHS = 1 << 2 * RMAT_LEVELS,
    RMAT_GROUPS_MAX = (RMAT_SCALE_MAX + RMAT_LEVELS - 1) / RMAT_LEVELS,
    RMAT_CHUNK = 1 << 21 /* edges */
};

/* a, from Steele and Vigna 2021, computationally easy, spectrally good multipliers */
static const uint64_t rmat_multiplier = UINT64_C(0xd1342543de82ef95);

/* The outcomes of a group of levels. */
struct rmat_group {
    size_t paths;
    uint64_t bounds[RMAT_PATHS]; /* path p: draws from bounds[p - 1] to below bounds[p] */
    uint64_t places[RMAT_PATHS]; /* its bits of the row, and those of the column << 32 */
};

int rmat_groups(unsigned scale);
void rmat_group(unsigned scale, int group, struct rmat_group *g);

/* The x that comes before the first draw; chunk UINT64_MAX: those of the permutation. */
uint64_t rmat_start(uint64_t seed, uint64_t chunk, int group);

/*
 * The serial generator: edge_factor << scale edges of value 1 among 1 << scale vertices, duplicates
 * and loops included. The same scale, factor and seed give the same graph. False: no memory.
 */
bool rmat_generate(unsigned scale, uint64_t edge_factor, uint64_t seed, struct coo *m,
                   coo_progress *progress, void *arg);

#endif
