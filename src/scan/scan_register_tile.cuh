/* SPDX-License-Identifier: MIT */
/* A tile in the registers of a block: what the kernels of small and middle-sized arrays share. */
#pragma once

#include "device/block.cuh"
#include "scan/scan_params.cuh"

namespace GPI_SPACE
{

/* One block's tile, in the registers of W warps. */
template <class Types, class Op, int W, int K> struct RegisterTile {
    using A = typename Types::A;
    using Part = StripedPart<Types, Op, K>;
    static constexpr int items = W * Part::items;
    static constexpr int bytes = items * (int)sizeof(typename Types::In);

    const ScanParams<A> &p;
    const uint64_t n;
    uint64_t first; /* item of this warp */
    int count;      /* items of this warp that exist */
    Part part;
    GPI_DEVICE RegisterTile(const ScanParams<A> &p_, uint64_t n_) : p(p_), n(n_)
    {
    }

    /* Returns the fold of the warp's items. */
    GPI_DEVICE A load(uint32_t tile)
    {
        first = (uint64_t)tile * items + (uint64_t)warp_id() * Part::items;
        const bool whole = (uint64_t)(tile + 1) * items <= n;
        count = first < n ? (n - first < Part::items ? (int)(n - first) : Part::items) : 0;
        const char *in = p.in + first * sizeof(typename Types::In);
        /* A shifted load reads up to 15 bytes past its ends: not at those of the array. */
        const bool inside = tile > 0 && (uint64_t)(tile + 1) * items + 16 <= n;
        if (whole && (inside || misalignment(p.in) == 0))
            part.load(in, p.flip);
        else
            part.load_partial(in, count, p.flip);
        return part.scan();
    }

    GPI_DEVICE void store(A prefix)
    {
        char *out = p.out + first * sizeof(typename Types::Out);
        uint32_t lost = 0; /* sums are as long as outputs */
        part.store(out, prefix, p.kind != inclusive, count, p.flip, lost);
    }
};

} // namespace GPI_SPACE
