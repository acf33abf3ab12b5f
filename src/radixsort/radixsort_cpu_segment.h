/* SPDX-License-Identifier: MIT */
/*
 * Segments of up to SEGMENT_ITEMS pairs: as radixsort_cpu_positions.h, with words that lie on the
 * stack and leave out nothing. Included by radixsort_cpu_tmpl.c.
 */
enum { SEGMENT_ITEMS = 256, SEGMENT_STEP = 16 };

/* The least of all lanes of low and the largest one of high. */
static INLINE void fold_lanes(lanes *low, lanes *high)
{
    UNROLL
    for (int turn = LANES / 2; turn > 0; turn /= 2) {
        lanes a = turned(*low, turn), b = turned(*high, turn);
        exchange(low, &a);
        exchange(&b, high);
    }
}

struct range {
    KEY least, span; /* the largest number is their sum */
    bool ascending;  /* the numbers are in order already */
};

/* Write the numbers, filled up with the first one to whole steps. */
static struct range segment_numbers(const KEY *source, size_t n, size_t steps, KEY flip,
                                    KEY *numbers)
{
    const KEY first = source[0];
    lanes low = ordered(all_lanes(first ^ flip)), high = low, falls = all_lanes(0);
    KEY row[LANES], any = 0;
    for (size_t i = 0; i < steps * SEGMENT_STEP; i += LANES) {
        const size_t left = i < n ? n - i : 0, next = i + 1 < n ? n - 1 - i : 0;
        const lanes v = load_some(source + i, left < LANES ? left : LANES, first);
        const lanes w = load_some(source + i + 1, next < LANES ? next : LANES, (KEY)~flip);
        lanes a = ordered(v ^ all_lanes(flip)), b = a, lower = a;
        lanes c = ordered(w ^ all_lanes(flip));
        store_lanes(numbers + i, v ^ all_lanes(flip));
        exchange(&lower, &c);
        falls |= lower ^ a;
        exchange(&low, &a);
        exchange(&b, &high);
    }
    store_lanes(row, falls);
    for (int k = 0; k < LANES; k++)
        any |= row[k];
    fold_lanes(&low, &high);
    store_lanes(row, ordered(low));
    const KEY least = row[0];
    store_lanes(row, ordered(high));
    return (struct range){least, row[0] - least, any == 0};
}

/* Copy a segment that is in order. */
static void copy_segment(const struct gpi_radix_job *j, size_t start, size_t n)
{
    const size_t key = start * KEY_BYTES, value = start * j->value_bytes;
    if (j->keys_in != j->keys_out)
        memcpy((char *)j->keys_out + key, (const char *)j->keys_in + key, n * KEY_BYTES);
    if (j->values_in != j->values_out)
        memcpy((char *)j->values_out + value, (const char *)j->values_in + value,
               n * j->value_bytes);
}

/* Numbers become words, which are put in order, and those become positions and, again in `numbers`,
 * keys of integers. False: they are in no order. Whole steps: no loop has a remainder. */
#define SEGMENT_ORDER(BITS)                                                                        \
    static bool segment_order_##BITS(const struct packing *p, size_t n, size_t steps, KEY flip,    \
                                     KEY *restrict numbers, uint32_t *restrict positions)          \
    {                                                                                              \
        const size_t end = steps * SEGMENT_STEP;                                                   \
        const KEY least = p->least;                                                                \
        const int at = p->at;                                                                      \
        const uint32_t mask = ((uint32_t)1 << at) - 1;                                             \
        uint##BITS##_t words[SEGMENT_ITEMS];                                                       \
        for (size_t i = 0; i < end; i++)                                                           \
            words[i] = (uint##BITS##_t)(KEY)(numbers[i] - least) << at | (uint##BITS##_t)i;        \
        if (!QUICK_OF(BITS)(words, n))                                                             \
            return false;                                                                          \
        for (size_t i = 0; i < end; i++)                                                           \
            positions[i] = (uint32_t)words[i] & mask;                                              \
        for (size_t i = 0; i < end; i++)                                                           \
            numbers[i] = ((KEY)(words[i] >> at) + least) ^ flip;                                   \
        return true;                                                                               \
    }

SEGMENT_ORDER(32)
SEGMENT_ORDER(64)

/* Sort items [start, start + n) of a job with values_in. False: nothing is done. */
static bool sort_segment(const struct gpi_radix_cpu_job *c, size_t start, size_t n)
{
    const struct gpi_radix_job *j = &c->job;
    const bool hold = c->whole && j->order.inf == 0; /* words have all of a key */
    const KEY flip = hold ? (KEY)j->order.flip : 0, *source = (const KEY *)j->keys_in + start;
    const size_t steps = (n + SEGMENT_STEP - 1) / SEGMENT_STEP;
    KEY numbers[SEGMENT_ITEMS], *keys_out = (KEY *)j->keys_out + start;
    uint32_t positions[SEGMENT_ITEMS];
    struct packing p = {.begin = j->begin_bit, .at = n <= 16 ? 4 : n <= 64 ? 6 : 8};
    p.mask = (KEY)((KEY) ~(KEY)0 >> (GPI_KEY_BITS - (j->end_bit - j->begin_bit)));
    if (n > SEGMENT_ITEMS || j->value_bytes == 0)
        return false;
    if (!hold) {
        compared_of(j, &p, source, n, numbers);
        source = numbers;
    }
    const struct range r = segment_numbers(source, n, steps, flip, numbers);
    const uint64_t span = r.span;
    p.least = r.least;
    if (r.ascending) {
        copy_segment(j, start, n);
        return true;
    }
    if (span >> (64 - p.at) ||
        !(span >> (32 - p.at) ? segment_order_64(&p, n, steps, flip, numbers, positions)
                              : segment_order_32(&p, n, steps, flip, numbers, positions)))
        return false;
    for (size_t i = 0; hold && i < n; i += LANES)
        store_first(keys_out + i, n - i < LANES ? n - i : LANES, load_lanes(numbers + i));
    if (!hold)
        collect_keys(c, start, n, positions);
    collect_values(c, start, n, positions);
    return true;
}
