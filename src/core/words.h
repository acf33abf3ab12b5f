/* SPDX-License-Identifier: MIT */
/* Numbers in arrays, for the CPU's loops: little-endian words of 1, 2, 4 or 8 bytes. Where the
 * width is a constant, to load or store one is one instruction. */
#ifndef GPI_WORDS_H
#define GPI_WORDS_H

#include <stdint.h>
#include <string.h>

#include "core/paste.h"

static inline uint64_t gpi_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t gpi_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* Number i of an array; 0 if it has no bytes. */
ALWAYS_INLINE uint64_t gpi_word_at(const void *array, size_t bytes, uint64_t i)
{
    uint64_t word = 0;
    if (bytes)
        memcpy(&word, (const char *)array + i * bytes, bytes);
    return word;
}

/* Typed, or loops would not vectorise. */
ALWAYS_INLINE void gpi_word_put(void *array, size_t bytes, uint64_t i, uint64_t word)
{
    if (bytes == 1)
        ((uint8_t *)array)[i] = (uint8_t)word;
    else if (bytes == 2)
        ((uint16_t *)array)[i] = (uint16_t)word;
    else if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)word;
    else
        ((uint64_t *)array)[i] = word;
}

/* Do a statement in which name is the constant that bytes is, 4 or 8, or 1, 2, 4 or 8: what it
 * inlines has loops of its own for each. */
#define WITH_INDEX_BYTES(name, bytes, statement)                                                   \
    do {                                                                                           \
        switch (bytes) {                                                                           \
            WITH_BYTES_CASE(case 4, name, 4, statement);                                           \
            WITH_BYTES_CASE(default, name, 8, statement);                                          \
        }                                                                                          \
    } while (0)
#define WITH_BYTES(name, bytes, statement)                                                         \
    do {                                                                                           \
        switch (bytes) {                                                                           \
            WITH_BYTES_CASE(case 1, name, 1, statement);                                           \
            WITH_BYTES_CASE(case 2, name, 2, statement);                                           \
            WITH_BYTES_CASE(case 4, name, 4, statement);                                           \
            WITH_BYTES_CASE(default, name, 8, statement);                                          \
        }                                                                                          \
    } while (0)

/*
 * Items of any size up to 64 bytes are moved as a piece of a constant size, or two that overlap: a
 * power of two that is the item's size, or less and at least its half. Larger ones by memcpy
 * (piece 0).
 */
static inline size_t gpi_item_piece(size_t bytes)
{
    size_t piece = 1;
    while (2 * piece <= bytes && piece < 32)
        piece *= 2;
    return bytes <= 2 * piece ? piece : 0;
}

ALWAYS_INLINE void gpi_item_move(char *to, const char *from, size_t bytes, size_t piece)
{
    if (piece) {
        memcpy(to, from, piece);
        if (bytes > piece)
            memcpy(to + bytes - piece, from + bytes - piece, piece);
    } else {
        memcpy(to, from, bytes);
    }
}

/* One item as often as n says. Its pieces stay in registers. */
ALWAYS_INLINE void gpi_item_repeat(char *to, const char *from, size_t bytes, size_t piece,
                                   uint64_t n)
{
    char low[32], high[32];
    memcpy(low, from, piece);
    memcpy(high, from + bytes - piece, piece);
    for (; n > 0; n--, to += bytes) {
        memcpy(to, piece ? low : from, piece ? piece : bytes);
        if (piece && bytes > piece)
            memcpy(to + bytes - piece, high, piece);
    }
}

/* Do a statement in which name is the constant that piece is. */
#define WITH_PIECE(name, piece, statement)                                                         \
    do {                                                                                           \
        switch (piece) {                                                                           \
            WITH_BYTES_CASE(case 1, name, 1, statement);                                           \
            WITH_BYTES_CASE(case 2, name, 2, statement);                                           \
            WITH_BYTES_CASE(case 4, name, 4, statement);                                           \
            WITH_BYTES_CASE(case 8, name, 8, statement);                                           \
            WITH_BYTES_CASE(case 16, name, 16, statement);                                         \
            WITH_BYTES_CASE(case 32, name, 32, statement);                                         \
            WITH_BYTES_CASE(default, name, 0, statement);                                          \
        }                                                                                          \
    } while (0)
#define WITH_BYTES_CASE(label, name, value, statement)                                             \
    label:                                                                                         \
    do {                                                                                           \
        enum { name = value };                                                                     \
        statement;                                                                                 \
    } while (0);                                                                                   \
    break

#endif
