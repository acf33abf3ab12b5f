/* SPDX-License-Identifier: MIT */
/*
 * Sorts of one thread that keep the order of equal keys, by partitions in vectors: a key's word and
 * its position are one word, no two of which are equal, so any way to sort these is stable. Keys
 * and values are collected by the positions afterwards. Included by radixsort_cpu_tmpl.c.
 *
 * Words have 32 bits where the bits of the keys that vary and a position fit them, which is tried
 * before it is known, otherwise 64. If these do not suffice, words go without the lowest bits of
 * the keys, and those that agree in all others are put in order by these afterwards.
 */
enum {
    STACK_WORDS = 2048, /* fit the stack; more take a room */
    NEAR_ITEMS = 1 << 15,
    SEGMENT_ITEMS = 256, /* with fewer, passes have more to clear and add up than to move */
    ASKED_ITEMS = 128,   /* see lines_ahead() */
    ASKED_MOST = 1 << 15,
#if defined(__AVX512F__)
    FEW_PASSES = 1
#else
    FEW_PASSES = 3
#endif
};

/* How a key and its position make a word. The bits compared are a number, from which the least one
 * is subtracted; then `gap` bits that are 0 in all keys and the `dropped` lowest bits are taken
 * out, and what is left stands above the `at` bits of the position. */
struct packing {
    int begin, dropped, bits, at, gap;
    int cut;         /* how many of the highest bits are known by the bucket */
    KEY mask, least; /* of the bits compared */
    KEY below;       /* the bits below the gap */
    KEY left_out;    /* the dropped bits, if they vary */
};

/* The bits compared of n keys, as numbers. */
static __attribute__((noinline)) void compared_of(const struct gpi_radix_job *j,
                                                  const struct packing *p, const KEY *restrict keys,
                                                  size_t n, KEY *restrict numbers)
{
    const int begin = p->begin;
    const KEY mask = p->mask, flip = flip_of(&j->order);
    const KEY *words = words_at(&j->order, keys, n, numbers);
    for (size_t i = 0; i < n; i++)
        numbers[i] = (KEY)((words[i] ^ flip) >> begin) & mask;
}

/* A number of the bits compared, less the least one and without the gap. */
static INLINE KEY squeezed(const struct packing *p, KEY number)
{
    const KEY x = (KEY)(number - p->least);
    return GPI_KEY_BITS < 64 ? x : (KEY)(x >> p->gap & (KEY)~p->below) | (x & p->below);
}

static INLINE KEY stretched(const struct packing *p, KEY x)
{
    const KEY wide = (KEY)((x & (KEY)~p->below) << p->gap) | (x & p->below);
    return (KEY)((GPI_KEY_BITS < 64 ? x : wide) + p->least);
}

/* The longest run of bits in which no numbers differ, between some in which they do, is left out if
 * that makes fewer than `bits`: less what all have in common, numbers have only the bits that vary.
 * Returns one past the highest bit left. */
static int leave_out_gap(struct packing *p, KEY first, KEY varying, int bits)
{
    const int high = 64 - __builtin_clzll((uint64_t)varying);
    int gap = 0, begin = 0;
    for (int at = __builtin_ctzll((uint64_t)varying); at < high; at++) {
        const int zeros = __builtin_ctzll((uint64_t)(varying >> at));
        begin = zeros > gap ? at : begin;
        gap = zeros > gap ? zeros : gap;
        at += zeros;
    }
    if (high - gap >= bits)
        return bits;
    p->gap = gap;
    p->below = (KEY)(((KEY)1 << begin) - 1);
    p->least = first & (KEY)~varying;
    return high - gap;
}

static struct packing packing_of(const struct gpi_radix_job *j)
{
    struct packing p = {.begin = j->begin_bit};
    p.mask = (KEY)((KEY) ~(KEY)0 >> (GPI_KEY_BITS - (j->end_bit - j->begin_bit)));
    p.at = j->n > 1 ? 64 - __builtin_clzll(j->n - 1) : 0;
    return p;
}

/* False: all keys are equal. */
static bool find_packing(const struct gpi_radix_job *j, struct packing *p)
{
    const KEY *keys = j->keys_in;
    KEY numbers[BLOCK], first, varying = 0, most = 0, least = (KEY)-1;
    *p = packing_of(j);
    compared_of(j, p, keys, 1, &first);
    for (size_t i = 0; i < j->n; i += BLOCK) {
        const size_t n = j->n - i < BLOCK ? j->n - i : BLOCK;
        compared_of(j, p, keys + i, n, numbers);
        for (size_t k = 0; k < n; k++) {
            varying |= (KEY)(numbers[k] ^ first);
            most = numbers[k] > most ? numbers[k] : most;
            least = numbers[k] < least ? numbers[k] : least;
        }
    }
    if (varying == 0)
        return false;
    const int low = __builtin_ctzll((uint64_t)varying);
    int high = 64 - __builtin_clzll((uint64_t)(KEY)(most - least));
    p->least = least;
    if (high - low + p->at > 64)
        high = leave_out_gap(p, first, varying, high);
    p->dropped = high - low + p->at > 64 ? high + p->at - 64 : low;
    p->bits = high - p->dropped;
    p->left_out = p->dropped > low ? (KEY)(((uint64_t)1 << p->dropped) - 1) : 0;
    return true;
}

/* Prefetches what is needed after the words are sorted, the values of items i to i + n and the
 * lines that keys and values go to, and keys behind the array, where the next segment may begin.
 * For fewer items the processor does so by itself; of more, lines would leave the cache before they
 * are written. */
static INLINE void lines_ahead(const struct gpi_radix_job *j, size_t i, size_t n)
{
    const size_t bytes = j->value_bytes;
    if (j->n < ASKED_ITEMS || j->n > ASKED_MOST)
        return;
    gpi_ahead((const KEY *)j->keys_in + i, n * sizeof(KEY), (int64_t)(j->n * sizeof(KEY)));
    gpi_ahead_of_writes((const KEY *)j->keys_out + i, n * sizeof(KEY), 0);
    if (j->values_in)
        gpi_ahead((const char *)j->values_in + i * bytes, n * bytes, 0);
    if (bytes)
        gpi_ahead_of_writes((const char *)j->values_out + i * bytes, n * bytes, 0);
}

/* Words of 32 bits without a read for the range of the keys: these agree in all bits but the lowest
 * that words have then, as the columns of a row may. False: some do not. */
static bool guess_packing(const struct gpi_radix_job *j, struct packing *p)
{
    const KEY *keys = j->keys_in;
    const KEY first = keys[0], differ = (first ^ keys[j->n / 2]) | (first ^ keys[j->n - 1]);
    const int compared = j->end_bit - j->begin_bit;
    *p = packing_of(j);
    p->bits = compared < 32 - p->at ? compared : 32 - p->at;
    const KEY above = p->mask >> (p->bits - 1) >> 1 << (p->bits - 1) << 1;
    compared_of(j, p, keys, 1, &p->least);
    p->least &= above;
    return !((KEY)(differ >> p->begin) & above);
}

#define PACK_KEYS(BITS)                                                                            \
    /* False: a guess was wrong. */                                                                \
    static bool pack_##BITS(const struct gpi_radix_job *j, const struct packing *p,                \
                            uint##BITS##_t *restrict out)                                          \
    {                                                                                              \
        const struct packing packing = *p;                                                         \
        const int dropped = p->dropped, at = p->at, begin = p->begin;                              \
        const KEY flip = flip_of(&j->order), mask = p->mask;                                       \
        KEY room[BLOCK], all = 0;                                                                  \
        for (size_t i = 0; i < j->n; i += BLOCK) {                                                 \
            const size_t n = j->n - i < BLOCK ? j->n - i : BLOCK;                                  \
            const KEY *restrict words = words_at(&j->order, (const KEY *)j->keys_in + i, n, room); \
            if (BITS == 32)                                                                        \
                lines_ahead(j, i, n);                                                              \
            for (size_t k = 0; k < n; k++) {                                                       \
                const KEY number = (KEY)((words[k] ^ flip) >> begin) & mask;                       \
                const KEY x = (KEY)(squeezed(&packing, number) >> dropped);                        \
                out[i + k] = (uint##BITS##_t)x << at | (uint##BITS##_t)(i + k);                    \
                all |= x;                                                                          \
            }                                                                                      \
        }                                                                                          \
        return !(all >> (p->bits - 1) >> 1);                                                       \
    }                                                                                              \
                                                                                                   \
    /* Keys in the order of words that have all of their bits but those of `high`. */              \
    static void unpack_##BITS(const struct packing *p, KEY high, size_t n,                         \
                              const uint##BITS##_t *words, KEY *keys)                              \
    {                                                                                              \
        const struct packing packing = *p;                                                         \
        const int dropped = p->dropped, at = p->at;                                                \
        for (size_t i = 0; i < n; i++)                                                             \
            keys[i] = stretched(&packing, (KEY)((KEY)(words[i] >> at) << dropped)) ^ high;         \
    }                                                                                              \
                                                                                                   \
    /* Words become their positions, in place. */                                                  \
    static void positions_##BITS(const struct packing *p, size_t n, void *words)                   \
    {                                                                                              \
        const uint##BITS##_t mask = (uint##BITS##_t)(((uint64_t)1 << p->at) - 1);                  \
        for (size_t i = 0; i < n; i++) {                                                           \
            uint##BITS##_t word;                                                                   \
            memcpy(&word, (char *)words + i * sizeof word, sizeof word);                           \
            const uint32_t position = (uint32_t)(word & mask);                                     \
            memcpy((char *)words + i * sizeof position, &position, sizeof position);               \
        }                                                                                          \
    }

PACK_KEYS(32)
PACK_KEYS(64)

#if GPI_KEY_BITS == 64 /* narrower keys fit a word with any position */
/* Sort words of 32 bits that are held in 64. */
static bool sort_as_32(uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = (uint32_t)words[i];
        memcpy((char *)words + i * sizeof word, &word, sizeof word);
    }
    const bool sorted = QUICK_OF(32)(words, n);
    for (size_t i = n; i-- > 0;) {
        uint32_t word;
        memcpy(&word, (char *)words + i * sizeof word, sizeof word);
        words[i] = word;
    }
    return sorted;
}

/* The words of one run agree in the bits they have: put them in order by those left out, which fit
 * a word with a position. False: they are in no order. */
static bool order_run(const struct gpi_radix_job *j, const struct packing *p, uint64_t *run,
                      size_t n)
{
    const uint64_t mask = ((uint64_t)1 << p->at) - 1;
    uint64_t varying = 0;
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t m = n - i < BLOCK ? n - i : BLOCK;
        KEY keys[BLOCK], numbers[BLOCK];
        keys[0] = ((const KEY *)j->keys_in)[run[i] & mask];
        for (size_t k = 1; k < m; k++)
            keys[k] = ((const KEY *)j->keys_in)[run[i + k] & mask];
        compared_of(j, p, keys, m, numbers);
        for (size_t k = 0; k < m; k++) {
            const uint64_t rest = squeezed(p, numbers[k]) & p->left_out;
            run[i + k] = rest << p->at | (run[i + k] & mask);
            varying |= (run[i + k] ^ run[0]) >> p->at;
        }
    }
    if (varying == 0)
        return true;
    return p->dropped + p->at <= 32 ? sort_as_32(run, n) : QUICK_OF(64)(run, n);
}

/* Words that agree with the one before. No branches: where runs end cannot be foretold. */
static size_t count_ties(const uint64_t *words, size_t n, int at)
{
    size_t ties = 0;
    for (size_t i = 1; i < n; i++)
        ties += (words[i] ^ words[i - 1]) >> at == 0;
    return ties;
}

/* Whether their keys do, too: then they are in order. */
static bool are_ties_equal(const KEY *keys, const uint64_t *words, size_t n, int at)
{
    const uint64_t mask = ((uint64_t)1 << at) - 1;
    KEY differ = 0, before = keys[words[0] & mask];
    for (size_t i = 1; i < n && !differ;) {
        const size_t end = n - i < BLOCK ? n : i + BLOCK;
        for (; i < end; i++) {
            const KEY key = keys[words[i] & mask];
            differ |= (words[i] ^ words[i - 1]) >> at ? 0 : key ^ before;
            before = key;
        }
    }
    return differ == 0;
}

static bool order_runs(const struct gpi_radix_job *j, const struct packing *p, uint64_t *words)
{
    const size_t ties = count_ties(words, j->n, p->at);
    if (ties == 0 || (ties > j->n / 8 && are_ties_equal(j->keys_in, words, j->n, p->at)))
        return true;
    for (size_t i = 1; i < j->n; i++) {
        if ((words[i] ^ words[i - 1]) >> p->at)
            continue;
        const size_t begin = i - 1;
        const uint64_t word = words[begin];
        while (i < j->n && !((words[i] ^ word) >> p->at))
            i++;
        if (!order_run(j, p, words + begin, i - begin))
            return false;
    }
    return true;
}
#else
static bool order_runs(const struct gpi_radix_job *j, const struct packing *p, uint64_t *words)
{
    (void)j, (void)p, (void)words;
    return true;
}
#endif

/* out[i] = in[positions[i]]; in NULL: the positions. */
static __attribute__((noinline)) void collect(const uint32_t *positions, const char *in, size_t n,
                                              size_t item_bytes, char *out)
{
    if (!in && item_bytes == 4)
        memcpy(out, positions, n * 4);
    else if (!in)
        for (size_t i = 0; i < n; i++)
            gpi_word_put(out, 8, i, positions[i]);
    else
        WITH_PIECE(bytes, item_bytes,
                   for (size_t i = 0; i < n; i++)
                       memcpy(out + i * bytes, in + (size_t)positions[i] * bytes, bytes));
}

/* Whether words have all that differs of integers. */
static bool words_hold_keys(const struct gpi_radix_cpu_job *c, const struct packing *p)
{
    return c->whole && c->job.order.inf == 0 && !p->left_out;
}

/* What a key has beside its number: the bits that all keys have, and what the order inverts. */
static KEY common_bits(const struct gpi_radix_job *j, const struct packing *p)
{
    const KEY flip = (KEY)j->order.flip, first = ((const KEY *)j->keys_in)[0] ^ flip;
    return (first & (KEY)~p->mask) ^ flip;
}

#include "radixsort/radixsort_cpu_cut.h"

/* Items in an order; those that would be overwritten are set aside first. */
static void collect_all(const uint32_t *positions, const void *in, size_t n, size_t item_bytes,
                        void *tmp, void *out)
{
    if (in && in == out)
        in = memcpy(tmp, in, n * item_bytes);
    collect(positions, in, n, item_bytes, out);
}

static bool is_ascending(const uint32_t *words, size_t n)
{
    uint32_t falls = 0;
    for (size_t i = 1; i < n && !falls; i += BLOCK)
        for (size_t k = i, end = n - i < BLOCK ? n : i + BLOCK; k < end; k++)
            falls |= words[k - 1] > words[k];
    return !falls;
}

/* Sort by words, of which there is room for n of 64 bits; they write the keys if they have them.
 * False: there is no order of them yet. */
static bool sort_packed(const struct gpi_radix_cpu_job *c, const struct packing *p, void *words)
{
    const struct gpi_radix_job *j = &c->job;
    const KEY high = common_bits(j, p);
    const bool hold = words_hold_keys(c, p);
    struct packing cut = *p;
    cut.cut = cut_bits(p, j->n);
    if (p->bits + p->at <= 32) {
        if (!pack_32(j, p, words))
            return false;
        if (is_ascending(words, j->n)) {
            copy_alone(c);
            return true;
        }
        if (!QUICK_OF(32)(words, j->n))
            return false;
        if (hold)
            unpack_32(p, high, j->n, words, j->keys_out);
        positions_32(p, j->n, words);
    } else if (cut.cut) {
        if (!sort_packed_cut(j, &cut, hold, high, words))
            return false;
    } else {
        pack_64(j, p, words);
        if (!QUICK_OF(64)(words, j->n) || (p->left_out && !order_runs(j, p, words)))
            return false;
        if (hold)
            unpack_64(p, high, j->n, words, j->keys_out);
        positions_64(p, j->n, words);
    }
    if (!hold)
        collect_all(words, j->keys_in, j->n, KEY_BYTES, c->keys_tmp, j->keys_out);
    if (j->value_bytes)
        collect_all(words, j->values_in, j->n, j->value_bytes, c->values_tmp, j->values_out);
    return true;
}

/* The most passes that sort n items faster than words and positions do: with AVX2 three, as
 * integers of 4 bytes take. Each pass makes the words of floats twice, so for these more than one
 * pays only where positions would collect from far away (sort-cpu-10, sort-cpu-11, sort-cpu-27). */
static int passes_that_pay(const struct gpi_radix_job *j, size_t n)
{
    return j->order.inf && n <= NEAR_ITEMS ? 1 : FEW_PASSES;
}

/* Whether a sort by words and positions is tried. */
static bool by_positions(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    return !c->keys_alone && j->n * (KEY_BYTES + j->value_bytes) <= CACHED_BYTES &&
           (j->n <= SEGMENT_ITEMS ||
            cached_passes_of(j->n, j->begin_bit, j->end_bit).passes > passes_that_pay(j, j->n));
}

/* Sort a job of one thread; values_in may be NULL. False: nothing is done. */
static __attribute__((noinline)) bool sort_by_positions(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    uint64_t stack[STACK_WORDS];
    const bool small = j->n <= STACK_WORDS;
    struct packing p;
    void *words = small                                       ? stack
                  : j->n * sizeof(uint64_t) <= c->rooms.bytes ? gpi_radixsort_room_take(&c->rooms)
                                                              : NULL;
    if (!words)
        return false;
    bool sorted = guess_packing(j, &p) && sort_packed(c, &p, words);
    if (!sorted) {
        sorted = !find_packing(j, &p);
        if (sorted)
            copy_alone(c);
        else
            sorted = sort_packed(c, &p, words);
    }
    if (!small)
        gpi_radixsort_room_give(&c->rooms, words);
    return sorted;
}
