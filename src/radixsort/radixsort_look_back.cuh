/* SPDX-License-Identifier: MIT */
/*
 * The number of items of a bin before a tile of a stable pass (Adinets and Merrill 2022,
 * "Onesweep"): each tile publishes its count, looks back at the tiles before it until one has
 * published a prefix, and then publishes its own prefix. The look-backs of all later tiles wait for
 * a claimed tile, so tiles are claimed in ascending order, and late.
 */
#pragma once

#include "radixsort/radixsort_warp_rank.cuh"

namespace GPI_SPACE
{

/* The state of a bin in a tile, which later tiles read: a count and its meaning. */
template <class W> struct DigitState {
    static constexpr W own = (W)1 << (8 * sizeof(W) - 2); /* items of the tile */
    static constexpr W upto = own << 1;                   /* items of all tiles up to this one */
    static constexpr W count = own - 1;

    static GPI_DEVICE void write(W *word, W value)
    {
        if constexpr (sizeof(W) == 4)
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
        else
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
    }

    static GPI_DEVICE W read(const W *word)
    {
        W value;
        if constexpr (sizeof(W) == 4)
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                         : "=r"(value)
                         : "l"(word)
                         : "memory");
        else
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(value)
                         : "l"(word)
                         : "memory");
        return value;
    }
};

/* Items of a bin in tiles [first, tile), BYTES of states at a time; publishes the sum with this
 * tile's own count. */
template <int BYTES, class W>
GPI_DEVICE uint64_t look_back(W *states, int bin, uint32_t first, uint32_t tile, uint32_t own)
{
    using State = DigitState<W>;
    constexpr int batch = BYTES / sizeof(W);
    W before = 0;
    uint32_t left = tile - first;
    W *mine = states + (uint64_t)tile * radix_bins + bin;
    const W *at = mine - radix_bins;
    bool found = false;
    while (!found && left > 0) {
        W word[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            word[i] = i < left ? State::read(at - i * radix_bins) : State::upto;
        while (word[0] < State::own) /* to read the others again would only be traffic */
            word[0] = State::read(at);
        int used = 0;
#pragma unroll
        for (int i = 0; i < batch; i++) { /* without branches: bins end at different tiles */
            const bool takes = !found && used == i && word[i] >= State::own;
            before += takes ? word[i] & State::count : 0;
            found = takes ? word[i] >= State::upto : found;
            used += takes;
        }
        at -= used * radix_bins;
        left -= min(left, (uint32_t)used);
    }
    State::write(mine, State::upto | (before + own));
    return before;
}

/* What the threads of a group with a bin each do for their tile, if the pass is stable. */
template <class K, class Policy, int BYTES> struct StablePlaces {
    using TileClaim = typename Policy::TileClaim;

    const RadixKeys<K> &job;
    const PartitionPass &pass;
    const Policy &policy;
    int d; /* the thread's bin */

    template <class W> GPI_DEVICE void publish_as(const TileClaim &claim, uint32_t count) const
    {
        DigitState<W>::write((W *)pass.states + (uint64_t)claim.tile * radix_bins + d,
                             DigitState<W>::own | count);
        for (uint64_t row = claim.tile; row < pass.clear_rows; row += policy.tiles)
            ((W *)pass.clear)[row * radix_bins + d] = 0;
    }

    GPI_DEVICE void publish(const TileClaim &claim, uint32_t count) const
    {
        if (job.narrow_states())
            publish_as<uint32_t>(claim, count);
        else
            publish_as<uint64_t>(claim, count);
    }

    /* Where the count items of the bin go. */
    GPI_DEVICE uint64_t find(const TileClaim &claim, uint32_t count) const
    {
        const uint32_t first = policy.first_tile(claim);
        return policy.start(claim, d) +
               (job.narrow_states()
                    ? look_back<BYTES>((uint32_t *)pass.states, d, first, claim.tile, count)
                    : look_back<BYTES>((uint64_t *)pass.states, d, first, claim.tile, count));
    }
};

} // namespace GPI_SPACE
