/* SPDX-License-Identifier: MIT */
/*
 * Bytes of an array as a stage in shared memory holds them: as they lie in memory, from the 16-byte
 * boundary at or before the first, so that bulk copies fit at any alignment (sm_90 and newer).
 */
#pragma once

#include "device/bulk.cuh"
#include "device/tile_io.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

/* Copy bytes one by one: at the ends of the array, which a bulk copy would overrun. */
GPI_DEVICE void copy_bytes(char *to, const char *from, uint32_t bytes)
{
    for (uint32_t i = lane_id(); i < bytes; i += 32)
        to[i] = from[i];
}

/* Bytes [begin, end) of the stage come by a bulk copy from the 16-byte boundary before `from`. */
struct BulkSpan {
    uint32_t begin, end;
};

/* By a warp: copies what the bulk copy of `bytes` bytes must leave out. first: they are the first
 * of the array; rest: the bytes of the array from `from` on. */
GPI_DEVICE BulkSpan bulk_span(char *to, const char *from, uint32_t bytes, bool first, uint64_t rest)
{
    const uint32_t shift = misalignment(from);
    uint32_t begin = 0, end = (shift + bytes + 15) & ~15u;
    if (first && shift) {
        begin = 16;
        copy_bytes(to + shift, from, bytes < 16 - shift ? bytes : 16 - shift);
    }
    if (end > begin && end > shift + rest) {
        end -= 16;
        copy_bytes(to + end, from - shift + end, shift + bytes - end);
    }
    return {begin, end};
}

/* By one lane: the bulk copy of a span, which arrives at `loaded`, a barrier that expects it. */
GPI_DEVICE void bulk_span_load(char *to, const char *from, const BulkSpan &span, uint64_t *loaded)
{
    if (span.end > span.begin)
        bulk_load(to + span.begin, from - misalignment(from) + span.begin, span.end - span.begin,
                  loaded);
}

} // namespace GPI_SPACE

#endif
