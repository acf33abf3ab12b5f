/* SPDX-License-Identifier: MIT */
/*
 * Words whose highest bits are those of a bucket, without which they have 32 bits: keys are counted
 * by these bits and go to their buckets, which are put in order one by one. One trip in place of
 * some partitions, and of words of 64 bits.
 * Included by radixsort_cpu_positions.h.
 */
enum {
    CUT_BITS = 8,
    CUT_ITEMS = 4096 /* fewer are sorted as they are */
};

/* Bits of a bucket of some 128 words; 0: no such words, or few. */
static int cut_bits(const struct packing *p, size_t n)
{
    const int need = p->bits + p->at - 32, want = p->at - 7;
    if (n < CUT_ITEMS || need < 1 || need > CUT_BITS || p->left_out)
        return 0;
    return need > want ? need : want < CUT_BITS ? want : CUT_BITS;
}

/* Keys i to i + n as the words have them. */
static __attribute__((noinline)) void cut_keys(const struct gpi_radix_job *j,
                                               const struct packing *p, size_t i, size_t n,
                                               uint32_t *buckets, uint32_t *words)
{
    const struct packing packing = *p;
    const int below = p->bits - p->cut, at = p->at, dropped = p->dropped;
    KEY numbers[BLOCK];
    compared_of(j, p, (const KEY *)j->keys_in + i, n, numbers);
    for (size_t k = 0; k < n; k++) {
        const KEY x = (KEY)(squeezed(&packing, numbers[k]) >> dropped);
        buckets[k] = (uint32_t)(x >> below);
        words[k] = (uint32_t)x << at | (uint32_t)(i + k);
    }
}

/* bounds[b]: where bucket b ends. False: the words are in no order. */
static bool sort_cut(const struct gpi_radix_job *j, const struct packing *p, uint32_t *words,
                     uint32_t *bounds)
{
    uint32_t buckets[BLOCK], some[BLOCK], sum = 0;
    memset(bounds, 0, sizeof *bounds << p->cut);
    for (size_t i = 0; i < j->n; i += BLOCK) {
        const size_t n = j->n - i < BLOCK ? j->n - i : BLOCK;
        lines_ahead(j, i, n);
        cut_keys(j, p, i, n, buckets, some);
        for (size_t k = 0; k < n; k++)
            bounds[buckets[k]]++;
    }
    for (int b = 0; b < 1 << p->cut; b++) {
        const uint32_t count = bounds[b];
        bounds[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < j->n; i += BLOCK) {
        const size_t n = j->n - i < BLOCK ? j->n - i : BLOCK;
        cut_keys(j, p, i, n, buckets, some);
        for (size_t k = 0; k < n; k++)
            words[bounds[buckets[k]]++] = some[k];
    }
    for (int b = 0; b < 1 << p->cut; b++) {
        const uint32_t begin = b ? bounds[b - 1] : 0;
        if (!QUICK_OF(32)(words + begin, bounds[b] - begin))
            return false;
    }
    return true;
}

/* As sort_packed(). */
static bool sort_packed_cut(const struct gpi_radix_job *j, const struct packing *p, bool hold,
                            KEY high, uint32_t *words)
{
    uint32_t bounds[1 << CUT_BITS];
    const int below = p->bits - p->cut, at = p->at;
    const uint32_t mask = (uint32_t)(((uint64_t)1 << below) - 1);
    KEY *keys = j->keys_out;
    if (!sort_cut(j, p, words, bounds))
        return false;
    for (int b = 0; hold && b < 1 << p->cut; b++)
        for (uint32_t i = b ? bounds[b - 1] : 0; i < bounds[b]; i++) {
            const KEY x = (KEY)((KEY)b << below) | (words[i] >> at & mask);
            keys[i] = stretched(p, (KEY)(x << p->dropped)) ^ high;
        }
    positions_32(p, j->n, words);
    return true;
}
