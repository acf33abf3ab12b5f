/* SPDX-License-Identifier: MIT */
/* CPU: what a run of duplicates becomes. The CUDA side is in csr_merge_kernels.cuh. */
#include <string.h>

#include "core/half.h"
#include "core/order.h"
#include "csr/csr_internal.h"

/* Values lie in slots of 4 or 8 bytes, low bytes first (the library is little-endian only). */
#define LOAD(S, slots, slot_bytes, i, out)                                                         \
    memcpy(&(out), (const char *)(slots) + (i) * (slot_bytes), sizeof(S))

#define IDENTITY(x) (x)
#define LESS_INT(a, b) ((a) < (b))

/* Doubles keep the order of all floats. */
static inline bool less_float(double a, double b)
{
    return GPI_FLOAT_LESS(a, b);
}

/*
 * MERGE(suffix, storage type, type that sums are taken in, WIDEN, NARROW, LESS): sums are taken in
 * blocks, see GP_DUPLICATES_SUM; the extreme keeps the bits of the value it picks.
 */
#define MERGE(name, S, A, WIDEN, NARROW, LESS)                                                     \
    static uint64_t sum_##name(const void *slots, size_t slot_bytes, size_t len)                   \
    {                                                                                              \
        A total = 0;                                                                               \
        for (size_t begin = 0; begin < len; begin += GPI_CSR_SUM_BLOCK) {                          \
            size_t end = begin + GPI_CSR_SUM_BLOCK < len ? begin + GPI_CSR_SUM_BLOCK : len;        \
            S s;                                                                                   \
            LOAD(S, slots, slot_bytes, begin, s);                                                  \
            A block = (A)WIDEN(s);                                                                 \
            for (size_t i = begin + 1; i < end; i++) {                                             \
                LOAD(S, slots, slot_bytes, i, s);                                                  \
                block = (A)(block + (A)WIDEN(s));                                                  \
            }                                                                                      \
            total = begin ? (A)(total + block) : block;                                            \
        }                                                                                          \
        S result = (S)NARROW(total);                                                               \
        uint64_t slot = 0;                                                                         \
        memcpy(&slot, &result, sizeof result);                                                     \
        return slot;                                                                               \
    }                                                                                              \
                                                                                                   \
    static uint64_t extreme_##name(const void *slots, size_t slot_bytes, size_t len, int max)      \
    {                                                                                              \
        S best, s;                                                                                 \
        LOAD(S, slots, slot_bytes, 0, best);                                                       \
        for (size_t i = 1; i < len; i++) {                                                         \
            LOAD(S, slots, slot_bytes, i, s);                                                      \
            if (max ? LESS(WIDEN(best), WIDEN(s)) : LESS(WIDEN(s), WIDEN(best)))                   \
                best = s;                                                                          \
        }                                                                                          \
        uint64_t slot = 0;                                                                         \
        memcpy(&slot, &best, sizeof best);                                                         \
        return slot;                                                                               \
    }

/* Sums wrap, so signed and unsigned share them; extremes do not. */
#define DTYPES(X)                                                                                  \
    X(I8, int8_t, uint32_t, IDENTITY, IDENTITY, LESS_INT)                                          \
    X(U8, uint8_t, uint32_t, IDENTITY, IDENTITY, LESS_INT)                                         \
    X(I16, int16_t, uint32_t, IDENTITY, IDENTITY, LESS_INT)                                        \
    X(U16, uint16_t, uint32_t, IDENTITY, IDENTITY, LESS_INT)                                       \
    X(I32, int32_t, uint32_t, IDENTITY, IDENTITY, LESS_INT)                                        \
    X(U32, uint32_t, uint32_t, IDENTITY, IDENTITY, LESS_INT)                                       \
    X(I64, int64_t, uint64_t, IDENTITY, IDENTITY, LESS_INT)                                        \
    X(U64, uint64_t, uint64_t, IDENTITY, IDENTITY, LESS_INT)                                       \
    X(F16, uint16_t, float, gpi_f16_to_float, gpi_float_to_f16, less_float)                        \
    X(BF16, uint16_t, float, gpi_bf16_to_float, gpi_float_to_bf16, less_float)                     \
    X(F32, float, float, IDENTITY, IDENTITY, less_float)                                           \
    X(F64, double, double, IDENTITY, IDENTITY, less_float)

DTYPES(MERGE)

uint64_t gpi_csr_merge(gp_dtype dtype, gp_duplicates duplicates, const void *slots,
                       size_t slot_bytes, size_t len)
{
    uint64_t slot = 0;
    if (duplicates == GP_DUPLICATES_FIRST || duplicates == GP_DUPLICATES_LAST ||
        duplicates == GP_DUPLICATES_ERROR || !dtype) {
        size_t i = duplicates == GP_DUPLICATES_LAST ? len - 1 : 0;
        memcpy(&slot, (const char *)slots + i * slot_bytes, slot_bytes);
        return slot;
    }
    switch (dtype) {
#define CASE(name, S, A, WIDEN, NARROW, LESS)                                                      \
    case GP_##name:                                                                                \
        return duplicates == GP_DUPLICATES_SUM                                                     \
                   ? sum_##name(slots, slot_bytes, len)                                            \
                   : extreme_##name(slots, slot_bytes, len, duplicates == GP_DUPLICATES_MAX);
        DTYPES(CASE)
    }
    return slot;
}
