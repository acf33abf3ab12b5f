/* SPDX-License-Identifier: MIT */
/*
 * Tile state: the device words through which the tiles of a single-pass kernel exchange partial
 * results.
 *
 *   [ctrl: GPI_CTRL_BYTES][words8: slots x 8 bytes][words16: slots x 16 bytes]
 *
 * The block is zeroed once, when it is made (arrival starts at one epoch, so tag 0 is never
 * current). Each launch draws its epoch from ctrl; a word counts only if its tag is that epoch, so
 * nothing has to be cleared between launches, and a captured graph can be replayed. Accumulators up
 * to 4 bytes use one 8-byte word {value, tag}, larger ones a 16-byte word {value, tag} per 8 bytes.
 * The two layouts never share memory, or a value could sit where another call expects a tag.
 */
#ifndef GPI_STATE_H
#define GPI_STATE_H

#include <stddef.h>
#include <stdint.h>

enum { GPI_CTRL_BYTES = 256, GPI_SLOT_BYTES = 24, GPI_STATE_SLOTS_MIN = 16384 };

/* Must match the layout that src/device/epoch.cuh uses. */
struct gpi_ctrl {
    uint64_t arrival;    /* epoch << 16 | blocks of this launch that have started */
    uint32_t tickets[2]; /* next tile; launch e uses tickets[e & 1] and clears the other */
};

/* The state block as kernels get it. */
struct gpi_state {
    struct gpi_ctrl *ctrl;
    uint64_t *words8;
    uint64_t *words16; /* two uint64_t per slot */
    uint32_t slots;    /* in each array */
    uint32_t *sticky;
};

/* Bytes of a block with that many slots. */
static inline size_t gpi_state_bytes(uint64_t slots)
{
    return GPI_CTRL_BYTES + (size_t)slots * GPI_SLOT_BYTES;
}

#endif
