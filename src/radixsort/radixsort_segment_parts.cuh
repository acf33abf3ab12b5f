/* SPDX-License-Identifier: MIT */
/*
 * What becomes of the parts of a segment: entries for radixsort_bucket_k.cuh, copies, or segments
 * of the next level.
 */
#pragma once

#include "radixsort/radixsort_key_codec.cuh"
#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{

struct SegmentParts {
    const gpi_radix_adaptive &list;
    gpi_radix_plan &plan;
    uint32_t level, to, entries, bucket_max;
    int begin; /* the lowest bit that is compared */

    GPI_DEVICE uint32_t large_max() const
    {
        return radix_adaptive_large(bucket_max);
    }

    /* Items to be sorted; those of a bucket's size by a block each, as long as there are blocks. */
    GPI_DEVICE void add_entry(uint32_t first, uint32_t count, uint64_t base, uint64_t end) const
    {
        const uint64_t range = (end >> begin) - (base >> begin);
        const uint32_t bits = 64 - __clzll((long long)range);
        const gpi_radix_entry entry = {base >> begin, first, count, bits, to};
        if (count <= bucket_max) {
            const uint32_t at = atomicAdd(&plan.entries, 1u);
            if (at < entries) {
                list.entries[at] = entry;
                return;
            }
        }
        list.large[atomicAdd(&plan.large, 1u)] = entry;
    }

    /* Items that are in order in a place go to the output, in pieces for many blocks. */
    GPI_DEVICE void add_copies(uint32_t first, uint32_t count, uint32_t place) const
    {
        if (place == gpi_radix_out)
            return;
        const uint32_t pieces = (count + GPI_RADIX_COPIED - 1) / GPI_RADIX_COPIED;
        gpi_radix_entry *entry = list.large + atomicAdd(&plan.large, pieces);
        for (uint32_t at = 0; at < count; at += GPI_RADIX_COPIED)
            *entry++ = {0, first + at, min(count - at, (uint32_t)GPI_RADIX_COPIED), 0, place};
    }

    /* For a segment that need not be one: a block could sort its items through memory. */
    GPI_DEVICE bool has_room() const
    {
        return atomicAdd(&plan.others, 1u) < list.others_max;
    }

    /* One word at most is in [base, end] and has no bits that are not compared. */
    GPI_DEVICE bool is_one(uint64_t base, uint64_t end) const
    {
        return end >> begin <= (base + ((1ull << begin) - 1)) >> begin;
    }

    /* Items whose words are in [base, end]. */
    GPI_DEVICE void add(uint32_t first, uint32_t count, uint64_t base, uint64_t end) const
    {
        if (is_one(base, end)) {
            add_copies(first, count, to);
            return;
        }
        const bool last = level + 1 == GPI_RADIX_LEVELS;
        if (count <= bucket_max || last || (count <= large_max() && !has_room())) {
            add_entry(first, count, base, end);
            return;
        }
        gpi_radix_segment child = {};
        child.base = base;
        child.end = end;
        child.first = first;
        child.count = count;
        const uint32_t next = (level + 1) % 2;
        list.segments[next][atomicAdd(&plan.segments[next], 1u)] = child;
    }
};

} // namespace GPI_SPACE
