/* SPDX-License-Identifier: MIT */
/* Every algorithm of gp_scan() with every tile method that it has, for loop tests. */
#ifndef GP_TEST_SCAN_VARIANTS_H
#define GP_TEST_SCAN_VARIANTS_H

#include "oracle.h"

struct scan_variant {
    gp_algorithm algorithm;
    gp_scan_tile tile;
};

/* Algorithms with tile methods, the methods, and algorithms without. */
enum { SCAN_TILED = 6, SCAN_TILES = GP_SCAN_TILE_THREE_PHASE + 1, SCAN_SIMPLE = 4 };
enum { SCAN_VARIANTS = SCAN_TILED * SCAN_TILES + SCAN_SIMPLE };

struct scan_variant scan_variant(int i);

/* Whether the backend of this run has it. */
bool scan_variant_available(struct scan_variant v);

gp_scan_desc scan_variant_desc(struct scan_variant v, gp_scan_kind kind, gp_dtype in, gp_dtype out,
                               gp_op op);

#endif
