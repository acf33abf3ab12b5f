/* SPDX-License-Identifier: MIT */
/*
 * Short segments of pairs of integers on the CPU, compiled per instruction set: as many whole
 * segments as a chunk of 16 items has in one network.
 *
 * A word is, from the highest bits to the lowest: the item its segment begins with, where there are
 * several; bits of the key; the number of the item. No two are equal, so any sort of words is a
 * stable one of segments. Keys have what the other two leave of 32 bits; those of a chunk that vary
 * in more bits are not sorted here.
 */
#include "core/paste.h"
#include "radixsort/radixsort_cpu_internal.h"

#if defined(__AVX2__)

#define GPI_KEY_BITS 32
#include "core/order_cpu.h"

enum { KEY_BYTES = 4 };

#include "radixsort/radixsort_cpu_vector.h"

#include "radixsort/radixsort_cpu_network.h"

enum { CHUNK_BITS = 4, CHUNK = 1 << CHUNK_BITS, ROWS = CHUNK / LANES };

typedef uint64_t wide_words __attribute__((vector_size(sizeof(lanes))));

/* A chunk of n items. Words have the bits `low` of keys. */
struct chunk {
    size_t n;
    uint64_t low;
};

static INLINE lanes wide_lanes(uint64_t word)
{
    return (lanes)((wide_words){0} + word);
}

/*
 * Each of the two files below has
 *   wide_load, wide_store   part number `part` of a chunk of n words of 64 bits; other lanes are
 *                           zero, or stay
 *   differing               the bits in which the first n words are not one
 *   wide_differing          the same of such a part
 *   low_halves, widened     words of 32 bits out of two such vectors, and each half back
 *   first_or_largest        the first n words, then the largest one
 *   ends_within             how many of CHUNK ascending ends are not above a limit
 *   begins_of               bits of begin and of ends near it, from begin on
 *   is_zero_in              whether none of some bits is set
 *   highest_bit             its number, above 28 bits
 *   values_move             n values by numbers, the lowest bits of words; in place or not
 */
#if defined(__AVX512F__)
#include "radixsort/radixsort_short_avx512.h"
#else
#include "radixsort/radixsort_short_avx2.h"
#endif

/* The bits of the first key that words do not have, and those of flip that they have: what makes
 * keys of theirs. */
static INLINE lanes common_of(const struct chunk *c, const char *first, size_t key_bytes,
                              uint64_t flip)
{
    if (key_bytes == 4) {
        const KEY low = (KEY)c->low;
        return all_lanes((*(const KEY *)(const void *)first & ~low) | ((KEY)flip & low));
    }
    return wide_lanes((*(const uint64_t *)(const void *)first & ~c->low) | (flip & c->low));
}

/* Keys as numbers. False: they differ from the first one in other bits than the lowest. */
static INLINE bool keys_load(const struct chunk *c, const char *keys, size_t key_bytes,
                             uint64_t flip, lanes *v)
{
    const lanes turn = all_lanes((KEY)flip);
    lanes differ = all_lanes(0), k[2 * ROWS];
    if (key_bytes == 4) {
        const KEY one = *(const KEY *)(const void *)keys;
        for (int i = 0; i < ROWS; i++) {
            v[i] = load_some((const KEY *)(const void *)keys + i * LANES, row_words(c->n, i), 0);
            differ |= differing(v[i], all_lanes(one), row_words(c->n, i));
            v[i] ^= turn;
        }
        return is_zero_in(differ, all_lanes(~(KEY)c->low));
    }
    const uint64_t one = *(const uint64_t *)(const void *)keys;
    for (int i = 0; i < 2 * ROWS; i++) {
        k[i] = wide_load(keys, c->n, i);
        differ |= wide_differing(k[i], wide_lanes(one), c->n, i);
    }
    for (int i = 0; i < ROWS; i++)
        v[i] = low_halves(k[2 * i], k[2 * i + 1]) ^ turn;
    return is_zero_in(differ, wide_lanes(~c->low));
}

/* Words of items. Lanes behind the last one get the largest word. */
static INLINE void words_make(const struct chunk *c, lanes *v)
{
    for (int i = 0; i < ROWS; i++) {
        const lane_words key = (lane_words)v[i] & (KEY)c->low;
        const lane_words place = lane_numbers() + (KEY)(i * LANES);
        v[i] = first_or_largest((lanes)(key << CHUNK_BITS | place), row_words(c->n, i));
    }
}

/* The item that a lane's segment begins with: the highest bit of begins up to the lane's. */
static INLINE void begins_put(uint32_t begins, lanes *v)
{
    for (int i = 0; i < ROWS; i++) {
        const lane_words upto = ((lane_words){0} + 2) << (lane_numbers() + (KEY)(i * LANES));
        v[i] |= highest_bit((lanes)((upto - 1) & begins));
    }
}

static INLINE void keys_store(const struct chunk *c, const lanes *v, const lanes *common,
                              size_t key_bytes, char *to)
{
    for (int i = 0; i < ROWS; i++) {
        const lanes key = (lanes)((lane_words)v[i] >> CHUNK_BITS & (KEY)c->low);
        if (key_bytes == 4) {
            store_first((KEY *)(void *)to + i * LANES, row_words(c->n, i), key ^ *common);
            continue;
        }
        wide_store(to, c->n, 2 * i, widened(key, 0) ^ *common);
        wide_store(to, c->n, 2 * i + 1, widened(key, 1) ^ *common);
    }
}

/* The arrays of a job from an item on. */
struct arrays {
    const char *keys, *values;
    char *keys_out, *values_out;
    uint64_t flip;
};

static INLINE struct arrays arrays_from(const struct gpi_radix_job *j, size_t start,
                                        size_t key_bytes, size_t value_bytes)
{
    const size_t key = start * key_bytes, value = start * value_bytes;
    return (struct arrays){(const char *)j->keys_in + key, (const char *)j->values_in + value,
                           (char *)j->keys_out + key, (char *)j->values_out + value, j->order.flip};
}

/* n > 0 items, where a bit of begins is set for the first one of each segment. False: nothing is
 * written, as keys vary in too many bits. */
static INLINE bool sort_chunk(const struct arrays *a, size_t n, uint32_t begins, size_t key_bytes,
                              size_t value_bytes)
{
    const int bits = 32 - CHUNK_BITS - (begins > 1 ? CHUNK_BITS : 0);
    const struct chunk c = {n, ((uint64_t)1 << bits) - 1};
    const lanes common = common_of(&c, a->keys, key_bytes, a->flip);
    lanes v[ROWS];
    if (!keys_load(&c, a->keys, key_bytes, a->flip, v))
        return false;
    words_make(&c, v);
    begins_put(begins, v);
    order_lanes(v, ROWS);
    UNROLL
    for (int r = 1; r < ROWS; r *= 2)
        interleave(v, ROWS);
    values_move(n, v, a->values, value_bytes, a->values_out);
    keys_store(&c, v, &common, key_bytes, a->keys_out);
    return true;
}

static INLINE size_t sort_short(const struct gpi_radix_job *j, size_t start, const uint32_t *ends,
                                size_t count, size_t key_bytes, size_t value_bytes)
{
    size_t s = 0;
    while (s < count) {
        const uint32_t begin = ends[(ptrdiff_t)s - 1];
        const size_t fit = ends_within(ends + s, begin + CHUNK);
        if (fit == 0)
            break;
        const struct arrays a = arrays_from(j, start + begin, key_bytes, value_bytes);
        const size_t n = ends[s + fit - 1] - begin;
        const uint32_t begins = fit > 1 ? begins_of(ends + s, begin) : 1;
        if (n && !sort_chunk(&a, n, begins, key_bytes, value_bytes))
            break;
        s += fit;
    }
    return s;
}

#endif

#define SHORT PASTE(gpi_radixsort_short_cpu_, GPI_ISA_SUFFIX)

gpi_radixsort_short_fn SHORT;

size_t SHORT(const struct gpi_radix_job *j, size_t start, const uint32_t *ends, size_t count)
{
#if defined(__AVX2__)
    if (j->key_bytes == 4)
        return j->value_bytes == 4 ? sort_short(j, start, ends, count, 4, 4)
                                   : sort_short(j, start, ends, count, 4, 8);
    return j->value_bytes == 4 ? sort_short(j, start, ends, count, 8, 4)
                               : sort_short(j, start, ends, count, 8, 8);
#else
    (void)j, (void)start, (void)ends, (void)count;
    return 0;
#endif
}
