/* SPDX-License-Identifier: MIT */
/* The CPU loops of one key width: compiled with GPI_KEY_BITS=8|16|32|64 and per instruction set. */
#include "topk/topk_internal.h"
#include "core/order_cpu.h"
#include "core/words.h"

#define LOOPS PASTE(PASTE(PASTE(gpi_topk_b, GPI_KEY_BITS), _cpu_), GPI_ISA_SUFFIX)

enum { BLOCK = 512 };

static void count(const struct gpi_topk_job *j, int pass, uint64_t chunk, uint32_t *bins)
{
    const KEY *keys = j->keys, mask = (KEY)j->state->mask, prefix = (KEY)j->state->prefix;
    const int shift = gpi_topk_shift(j->key_bytes, pass);
    const KEY digit = (KEY)(((uint64_t)1 << gpi_topk_width(j->key_bytes, pass)) - 1);
    uint64_t end = gpi_topk_chunk_begin(j, chunk + 1);
    KEY words[BLOCK];
    for (uint64_t i = gpi_topk_chunk_begin(j, chunk); i < end; i += BLOCK) {
        uint64_t n = gpi_min(end - i, BLOCK);
        words_of(&j->order, keys + i, n, words);
        if (mask == 0)
            for (uint64_t k = 0; k < n; k++)
                bins[(KEY)(words[k] >> shift) & digit]++;
        else
            for (uint64_t k = 0; k < n; k++)
                if ((words[k] & mask) == prefix)
                    bins[(KEY)(words[k] >> shift) & digit]++;
    }
}

static void publish(const struct gpi_topk_job *j, uint64_t chunk)
{
    const KEY *keys = j->keys, mask = (KEY)j->state->mask, prefix = (KEY)j->state->prefix;
    uint64_t end = gpi_topk_chunk_begin(j, chunk + 1), below = 0, at = 0;
    KEY words[BLOCK];
    for (uint64_t i = gpi_topk_chunk_begin(j, chunk); i < end; i += BLOCK) {
        uint64_t n = gpi_min(end - i, BLOCK);
        unsigned block_below = 0, block_at = 0;
        words_of(&j->order, keys + i, n, words);
        for (uint64_t k = 0; k < n; k++) {
            block_below += (words[k] & mask) < prefix;
            block_at += (words[k] & mask) == prefix;
        }
        below += block_below;
        at += block_at;
    }
    j->counts[chunk] = (struct gpi_topk_counts){below, at};
}

/* Places follow from counts: of keys that another thread has changed since, there may be more. */
static inline void put(const struct gpi_topk_job *j, uint64_t place, KEY key, uint64_t index)
{
    if (place >= j->k)
        return;
    ((KEY *)j->top_keys)[place] = key;
    WITH_INDEX_BYTES(bytes, j->index_bytes, gpi_word_put(j->top_indices, bytes, place, index));
}

static void collect(const struct gpi_topk_job *j, uint64_t chunk)
{
    const KEY *keys = j->keys, mask = (KEY)j->state->mask, prefix = (KEY)j->state->prefix;
    const uint64_t first_at = j->k - j->state->wanted;
    uint64_t end = gpi_topk_chunk_begin(j, chunk + 1);
    uint64_t below = j->counts[chunk].below, at = j->counts[chunk].at;
    KEY words[BLOCK];
    for (uint64_t i = gpi_topk_chunk_begin(j, chunk); i < end; i += BLOCK) {
        uint64_t n = gpi_min(end - i, BLOCK);
        words_of(&j->order, keys + i, n, words);
        for (uint64_t k = 0; k < n; k++) {
            KEY known = words[k] & mask;
            if (known > prefix)
                continue;
            if (known < prefix)
                put(j, below++, keys[i + k], i + k);
            else if (at < j->state->wanted)
                put(j, first_at + at++, keys[i + k], i + k);
        }
    }
}

extern const struct gpi_topk_loops LOOPS;
const struct gpi_topk_loops LOOPS = {count, publish, collect};
