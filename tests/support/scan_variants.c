/* SPDX-License-Identifier: MIT */
#include "scan_variants.h"

static const gp_algorithm tiled[SCAN_TILED] = {
    GP_ALGORITHM_LOOKBACK,      GP_ALGORITHM_CHAINED, GP_ALGORITHM_REDUCE_THEN_SCAN,
    GP_ALGORITHM_SCAN_THEN_FAN, GP_ALGORITHM_FENWICK, GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS};
static const gp_algorithm simple[SCAN_SIMPLE] = {GP_ALGORITHM_LOOKAHEAD, GP_ALGORITHM_AUTO,
                                                 GP_ALGORITHM_CUB, GP_ALGORITHM_SERIAL};

struct scan_variant scan_variant(int i)
{
    if (i < SCAN_TILED * SCAN_TILES)
        return (struct scan_variant){tiled[i / SCAN_TILES], (gp_scan_tile)(i % SCAN_TILES)};
    return (struct scan_variant){simple[i - SCAN_TILED * SCAN_TILES], GP_SCAN_TILE_AUTO};
}

/* The CPU has one way through a tile: whatever is asked for, once is enough. */
bool scan_variant_available(struct scan_variant v)
{
    if (!t_is_cuda() && v.tile != GP_SCAN_TILE_AUTO && v.tile != GP_SCAN_TILE_BRENT_KUNG)
        return false;
    if (v.algorithm == GP_ALGORITHM_CUB)
        return t_has_cub();
    return !t_is_cuda() || v.algorithm != GP_ALGORITHM_SERIAL;
}

gp_scan_desc scan_variant_desc(struct scan_variant v, gp_scan_kind kind, gp_dtype in, gp_dtype out,
                               gp_op op)
{
    gp_scan_desc desc = t_scan_desc(kind, in, out, op);
    desc.algorithm = v.algorithm;
    desc.tile = v.tile;
    return desc;
}
