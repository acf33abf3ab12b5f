/* SPDX-License-Identifier: MIT */
/* gp_copy_intervals() on the CPU: a share of the path is walked an interval at a time. */
#include "balance/balance_internal.h"

#include "core/past_cache.h"
#include "core/words.h"

enum {
    SHORT_BYTES = 64,   /* up to which an interval is two pieces that overlap */
    STREAM_RUN = 1024,  /* from which on it may go past the cache */
    INTERVALS_AHEAD = 8 /* what begins there is asked for */
};

ALWAYS_INLINE void copy_short(char *to, const char *from, size_t bytes)
{
    if (bytes >= 32)
        gpi_item_move(to, from, bytes, 32);
    else if (bytes >= 16)
        gpi_item_move(to, from, bytes, 16);
    else if (bytes >= 8)
        gpi_item_move(to, from, bytes, 8);
    else if (bytes >= 4)
        gpi_item_move(to, from, bytes, 4);
    else if (bytes >= 2)
        gpi_item_move(to, from, bytes, 2);
    else if (bytes)
        *to = *from;
}

ALWAYS_INLINE void copy_run(char *to, const char *from, size_t bytes, bool stream)
{
    if (bytes <= SHORT_BYTES)
        copy_short(to, from, bytes);
    else
        bytes_store(from, bytes, stream && bytes >= STREAM_RUN, to);
}

/* How far the items of interval s lie from where they would without starts, modulo 2^64. */
ALWAYS_INLINE uint64_t moved_by(const struct gpi_balance_share *h, const void *starts, size_t width,
                                uint64_t s)
{
    return starts
               ? gpi_word_at(starts, width, s) - gpi_offset_at(h->args->offsets, width, h->base, s)
               : 0;
}

ALWAYS_INLINE void copy_share(const struct gpi_balance_share *h, size_t width)
{
    const struct gpi_balance_args *a = h->args;
    const size_t bytes = a->item_bytes;
    const bool stream = a->limit * bytes >= STREAM_BYTES;
    const void *in_starts = a->in_starts, *out_starts = a->out_starts;
    const char *in = a->in;
    char *out = a->out;
    uint64_t i = h->i0;
    for (uint64_t s = h->s0; i < h->i1 && s < a->num_segments; s++) {
        const uint64_t end = s < h->s1 ? gpi_share_end(h, width, s, i) : h->i1;
        if (in_starts && s + INTERVALS_AHEAD < h->s1) /* those of empty intervals may be anything */
            __builtin_prefetch(
                (const void *)((uintptr_t)in +
                               gpi_word_at(in_starts, width, s + INTERVALS_AHEAD) * bytes));
        if (i < end)
            copy_run(out + (i + moved_by(h, out_starts, width, s)) * bytes,
                     in + (i + moved_by(h, in_starts, width, s)) * bytes, (end - i) * bytes,
                     stream);
        i = end;
    }
    if (stream)
        stores_done();
}

void gpi_balance_copy_share(const struct gpi_balance_share *h)
{
    WITH_INDEX_BYTES(width, h->args->offset_bytes, copy_share(h, width));
}
