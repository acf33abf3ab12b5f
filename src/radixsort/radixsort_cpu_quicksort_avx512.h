/* SPDX-License-Identifier: MIT */
/*
 * Keys alone inside the caches of one thread: partitions in vectors (Hoare 1962), then networks
 * in registers (AVX-512). Not stable: words are those that tell keys of different bits apart.
 * Included by radixsort_cpu_tmpl.c.
 */
enum {
    AHEAD = 8, /* vectors read at a time */
    AHEAD_ITEMS = AHEAD * LANES
};

/* What a partition has still to read is [left_read, right_read); what it has written is all before
 * left and from right on. */
struct partition {
    KEY *left, *left_read, *right_read, *right;
    lanes pivot;
    bool equal_left; /* words like the pivot go left */
};

static INLINE lane_mask goes_right(const struct partition *p, lanes v)
{
    return p->equal_left ? PASTE(EPU(_mm512_cmpgt), _mask)(v, p->pivot)
                         : PASTE(EPU(_mm512_cmpge), _mask)(v, p->pivot);
}

/* Write the first n words of a vector to both ends. With room for a vector on the left its store
 * needs no mask. */
static INLINE void part_lanes(struct partition *p, lanes v, size_t n, bool room)
{
    const lane_mask right = goes_right(p, v) & first_lanes(n);
    const lane_mask left = (lane_mask)(first_lanes(n) & ~right);
    const size_t to_right = (size_t)__builtin_popcount((unsigned)right), to_left = n - to_right;
    const lanes low = EPI(_mm512_maskz_compress)(left, v);
    const lanes high = EPI(_mm512_maskz_compress)(right, v);
    if (room)
        _mm512_storeu_si512(p->left, low);
    else
        EPI(_mm512_mask_storeu)(p->left, first_lanes(to_left), low);
    p->left += to_left;
    p->right -= to_right;
    EPI(_mm512_mask_storeu)(p->right, first_lanes(to_right), high);
}

/* Read from the end that has less room to write, so that both keep enough; which one cannot be
 * foreseen, so there is no branch. */
static INLINE const KEY *next_words(struct partition *p, ptrdiff_t n)
{
    const ptrdiff_t left = -(ptrdiff_t)(p->left_read - p->left <= p->right - p->right_read);
    const KEY *words = p->right_read - n;
    words += (p->left_read - words) & left;
    p->left_read += n & left;
    p->right_read -= n & ~left;
    return words;
}

static INLINE void part_ahead(struct partition *p)
{
    lanes v[AHEAD];
    const KEY *words = next_words(p, AHEAD_ITEMS);
    UNROLL
    for (int i = 0; i < AHEAD; i++)
        v[i] = _mm512_loadu_si512(words + i * LANES);
    UNROLL
    for (int i = 0; i < AHEAD; i++)
        part_lanes(p, v[i], LANES, true);
}

/* Words that are held back at the start make room at both ends: AHEAD vectors on the left; on the
 * right AHEAD vectors and those of an incomplete one. Returns the length of the left part. */
static INLINE size_t part(KEY *words, size_t n, KEY pivot, bool equal_left)
{
    lanes first[AHEAD], last[AHEAD];
    const size_t rest = n % LANES;
    struct partition p = {words, words, words + n, words + n, all_lanes(pivot), equal_left};
    p.right_read -= rest;
    const lanes incomplete = EPI(_mm512_maskz_loadu)(first_lanes(rest), p.right_read);
    for (int i = 0; i < AHEAD; i++) {
        first[i] = _mm512_loadu_si512(p.left_read + i * LANES);
        last[i] = _mm512_loadu_si512(p.right_read - (i + 1) * LANES);
    }
    p.left_read += AHEAD_ITEMS;
    p.right_read -= AHEAD_ITEMS;
    while (p.right_read - p.left_read >= AHEAD_ITEMS)
        part_ahead(&p);
    while (p.right_read > p.left_read)
        part_lanes(&p, _mm512_loadu_si512(next_words(&p, LANES)), LANES, true);
    for (int i = 0; i < AHEAD; i++) {
        part_lanes(&p, first[i], LANES, false);
        part_lanes(&p, last[i], LANES, false);
    }
    part_lanes(&p, incomplete, rest, false);
    return (size_t)(p.left - words);
}

static size_t part_equal_left(KEY *words, size_t n, KEY pivot)
{
    return part(words, n, pivot, true);
}

static size_t part_equal_right(KEY *words, size_t n, KEY pivot)
{
    return part(words, n, pivot, false);
}

static INLINE lanes median_of(lanes a, lanes b, lanes c)
{
    lanes low = EPU(_mm512_min)(a, b), high = EPU(_mm512_max)(a, b);
    return EPU(_mm512_max)(low, EPU(_mm512_min)(high, c));
}

/* A median of medians of nine vectors spread over the words, then of nine lanes. */
static KEY pivot_of(const KEY *words, size_t n)
{
    const size_t step = (n - LANES) / 8;
    lanes m[3];
    KEY row[LANES];
    for (size_t i = 0; i < 3; i++) {
        const KEY *at = words + i * step;
        m[i] = median_of(_mm512_loadu_si512(at), _mm512_loadu_si512(at + 3 * step),
                         _mm512_loadu_si512(at + 6 * step));
    }
    m[0] = median_of(m[0], m[1], m[2]);
    m[0] = median_of(m[0], turned(m[0], 1), turned(m[0], 2));
    m[0] = median_of(m[0], turned(m[0], 4), turned(m[0], LANES - 1));
    _mm512_storeu_si512(row, m[0]);
    return row[0];
}

/* False: the partitions were too uneven; the words are all there, in no order. */
static bool quick_sort(KEY *words, size_t n, int depth)
{
    while (n > NETWORK_ITEMS) {
        if (depth-- == 0)
            return false;
        KEY pivot = pivot_of(words, n);
        size_t left = part_equal_left(words, n, pivot), right = n - left;
        if (right == 0) { /* the pivot is the largest word, and may be most of them */
            n = part_equal_right(words, n, pivot);
            continue;
        }
        bool short_left = left < right;
        if (!quick_sort(short_left ? words : words + left, short_left ? left : right, depth))
            return false;
        words += short_left ? left : 0;
        n = short_left ? right : left;
    }
    sort_network(words, n);
    return true;
}

/* Twice as deep as when all partitions are even. */
static int depth_of(size_t n)
{
    int depth = 4;
    for (; n > NETWORK_ITEMS / 2; n /= 2)
        depth += 2;
    return depth;
}

static void keys_to_words(const struct gpi_radix_job *j, KEY *words)
{
    const KEY *keys = j->keys_in, flip = (KEY)j->order.flip;
    const struct gpi_radix_order order = j->order;
    if (order.inf)
        for (size_t i = 0; i < j->n; i++)
            words[i] = exact_word(&order, keys[i]);
    else if (flip)
        for (size_t i = 0; i < j->n; i++)
            words[i] = keys[i] ^ flip;
    else if (keys != words)
        memcpy(words, keys, j->n * KEY_BYTES);
}

static void words_to_keys(const struct gpi_radix_job *j, KEY *words)
{
    const KEY flip = (KEY)j->order.flip, sign = (KEY)j->order.sign;
    const KEY inf = (KEY)(j->order.inf & ~GPI_RADIX_EXACT_BIT);
    if (inf)
        for (size_t i = 0; i < j->n; i++) {
            const KEY word = words[i] ^ flip;
            words[i] = GPI_RADIX_UNEXACT(KEY, word, sign, inf);
        }
    else if (flip)
        for (size_t i = 0; i < j->n; i++)
            words[i] ^= flip;
}

/* Sort a job of one thread by all bits of its keys. False: not sorted; the job says where the keys
 * are now. */
static bool sort_quick(struct gpi_radix_job *j)
{
    KEY *words = j->keys_out;
    keys_to_words(j, words);
    bool sorted = quick_sort(words, j->n, depth_of(j->n));
    words_to_keys(j, words);
    j->keys_in = words;
    return sorted;
}
