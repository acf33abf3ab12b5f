/* SPDX-License-Identifier: MIT */
/*
 * Tile state: the device words through which the tiles of a single-pass kernel exchange
 * partial results.
 *
 *   [ctrl: GPI_CTRL_BYTES][words8: slots x 8 bytes][words16: slots x 16 bytes]
 *
 * The block is zeroed once, when it is made (the counter starts at epoch 1, so tag 0 is never
 * current). Each launch claims its epoch from ctrl; a word counts only if its tag is that epoch, so
 * nothing has to be cleared between launches, and a captured graph can be replayed. Accumulators up
 * to 4 bytes use one 8-byte word {value, tag}, larger ones a 16-byte word {value, tag} per 8 bytes.
 * The two layouts never share memory, or a value could sit where another call expects a tag.
 */
#ifndef GPI_STATE_H
#define GPI_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "core/sticky.h"

enum {
    GPI_CTRL_BYTES = 256,
    GPI_SLOT_BYTES = 24,
    GPI_STATE_GROUP = 32,
    GPI_STATE_SLOTS_MIN = 16384
};

/* Must match the layout that src/device/epoch.cuh uses. */
struct gpi_ctrl {
    uint64_t counter; /* epoch << 32 | next tile of this launch */
};

/* The state block as kernels get it. */
struct gpi_state {
    struct gpi_ctrl *ctrl;
    uint64_t *words8;
    uint64_t *words16; /* two uint64_t per slot */
    uint32_t slots;    /* in each array; a multiple of GPI_STATE_GROUP */
    struct gpi_sticky *sticky;
};

/* Bytes of a block with at least that many slots. */
static inline size_t gpi_state_bytes(uint64_t slots)
{
    uint64_t whole = (slots + GPI_STATE_GROUP - 1) / GPI_STATE_GROUP * GPI_STATE_GROUP;
    return GPI_CTRL_BYTES + (size_t)whole * GPI_SLOT_BYTES;
}

#endif
