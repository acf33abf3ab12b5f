/* SPDX-License-Identifier: MIT */
/*
 * Lines that a loop of the CPU backend reads soon. A processor looks a few hundred instructions
 * ahead; a loop that takes many for each line computes and waits for memory in turn.
 */
#ifndef GPI_AHEAD_H
#define GPI_AHEAD_H

#include <stddef.h>
#include <stdint.h>

/* How far a loop over one long array looks. */
enum { GPI_AHEAD_BYTES = 4096 };

/* Asks for as many bytes as are read now, a distance behind them; they need not exist. They come
 * into the second level: the first one has few places for lines on their way. */
static inline void gpi_ahead(const void *now, size_t bytes, int64_t distance)
{
    const uintptr_t from = (uintptr_t)now + (uintptr_t)distance;
    for (uintptr_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)(from + i), 0, 2);
}

/* How far a loop looks that writes short pieces, one behind the other. */
enum { GPI_AHEAD_OF_WRITES = 1024 };

/* The same for what is written now: a line comes into the cache before it is written, unless it is
 * stored past the cache. */
static inline void gpi_ahead_of_writes(const void *now, size_t bytes, int64_t distance)
{
    const uintptr_t from = (uintptr_t)now + (uintptr_t)distance;
    for (uintptr_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)(from + i), 1, 2);
}

/* A large item whose lines, or the first ones, are asked for while the one before is moved. */
static inline void gpi_ahead_of_item(const void *from, const void *to, size_t bytes)
{
    const size_t some = bytes < GPI_AHEAD_BYTES ? bytes : GPI_AHEAD_BYTES;
    gpi_ahead(from, some, 0);
    gpi_ahead_of_writes(to, some, 0);
}

#endif
