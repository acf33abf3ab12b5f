/* SPDX-License-Identifier: MIT */
/* R-MAT random graphs (Chakrabarti, Zhan and Faloutsos 2004): few rows get most of the entries. */
#ifndef EXAMPLE_RMAT_H
#define EXAMPLE_RMAT_H

#include "coo.h"

enum { RMAT_SCALE_MAX = 30 };

/*
 * edge_factor << scale edges of value 1 among 1 << scale vertices, duplicates and loops included,
 * with the quadrant probabilities 0.57, 0.19, 0.19, 0.05. The same scale, factor and seed give the
 * same graph. False when memory is short.
 */
bool rmat_generate(unsigned scale, uint64_t edge_factor, uint64_t seed, struct coo *m,
                   coo_progress *progress, void *arg);

#endif
