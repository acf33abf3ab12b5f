/* SPDX-License-Identifier: MIT */
/*
 * Keys alone inside the caches of one thread: partitions in vectors (Hoare 1962), then networks
 * in registers. Not stable: words are those that tell keys of different bits apart.
 * Included by radixsort_cpu_tmpl.c.
 */
enum {
    AHEAD = 8,       /* vectors of a partition that are read at a time */
    KEYS_BLOCK = 128 /* keys that become words at a time */
};

/* Sort n <= rows * LANES words, of which the first `full` rows are full; places without a word get
 * the largest one. */
static INLINE void sort_rows(KEY *words, size_t n, int rows, int full)
{
    lanes v[ROWS_MAX];
    UNROLL
    for (int i = 0; i < rows; i++)
        v[i] = ordered(i < full ? load_lanes(words + i * LANES)
                                : load_some(words + i * LANES, row_words(n, i), (KEY)-1));
    order_lanes(v, rows);
    UNROLL
    for (int r = 1; r < rows; r *= 2)
        interleave(v, rows);
    UNROLL
    for (int i = 0; i < rows; i++) {
        if (i < full)
            store_lanes(words + i * LANES, ordered(v[i]));
        else
            store_first(words + i * LANES, row_words(n, i), ordered(v[i]));
    }
}

static void sort_network(KEY *words, size_t n)
{
    if (n <= LANES)
        sort_rows(words, n, 1, 0);
    else if (n <= 2 * LANES)
        sort_rows(words, n, 2, 1);
    else if (n <= 4 * LANES)
        sort_rows(words, n, 4, 2);
    else if (ROWS_MAX <= 8 || n <= 8 * LANES)
        sort_rows(words, n, 8, 4);
    else
        sort_rows(words, n, ROWS_MAX, ROWS_MAX / 2);
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

/* What is read next depends on where the last vectors went. */
static INLINE void part_ahead(struct partition *p)
{
    lanes v[AHEAD];
    const KEY *words = next_words(p, AHEAD * LANES);
    UNROLL
    for (int i = 0; i < AHEAD; i++)
        v[i] = load_lanes(words + i * LANES);
    UNROLL
    for (int i = 0; i < AHEAD; i++)
        part_lanes(p, v[i], LANES, true);
}

/* Words that are held back at the start make room at both ends: AHEAD vectors on the left; on the
 * right as many and those of an incomplete one. Returns the length of the left part. */
static INLINE size_t part(KEY *words, size_t n, KEY pivot, bool equal_left)
{
    lanes first[AHEAD], last[AHEAD];
    const size_t rest = n % LANES;
    struct partition p = {words, words, words + n, words + n, pivot, equal_left};
    p.right_read -= rest;
    const lanes incomplete = load_some(p.right_read, rest, (KEY)-1);
    for (int i = 0; i < AHEAD; i++) {
        first[i] = load_lanes(p.left_read + i * LANES);
        last[i] = load_lanes(p.right_read - (i + 1) * LANES);
    }
    p.left_read += AHEAD * LANES;
    p.right_read -= AHEAD * LANES;
    while (p.right_read - p.left_read >= AHEAD * LANES)
        part_ahead(&p);
    while (p.right_read > p.left_read)
        part_lanes(&p, load_lanes(next_words(&p, LANES)), LANES, true);
    for (int i = 0; i < AHEAD; i++) {
        part_lanes(&p, first[i], LANES, false);
        part_lanes(&p, last[i], LANES, false);
    }
    part_lanes(&p, incomplete, rest, false);
    return (size_t)(p.left - words);
}

/* Calls: words like the pivot go left, or right. */
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
    exchange(&a, &b);
    exchange(&b, &c);
    exchange(&a, &b);
    return b;
}

/* A median of medians of nine vectors spread over the words, then of nine lanes. */
static KEY pivot_of(const KEY *words, size_t n)
{
    const size_t step = (n - LANES) / 8;
    lanes m[3];
    KEY row[LANES];
    for (size_t i = 0; i < 3; i++) {
        const KEY *at = words + i * step;
        m[i] = median_of(ordered(load_lanes(at)), ordered(load_lanes(at + 3 * step)),
                         ordered(load_lanes(at + 6 * step)));
    }
    m[0] = median_of(m[0], m[1], m[2]);
    m[0] = median_of(m[0], turned(m[0], 1), turned(m[0], 2));
    if (LANES > 4)
        m[0] = median_of(m[0], turned(m[0], 4), turned(m[0], LANES - 1));
    store_lanes(row, ordered(m[0]));
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

/* By blocks: words may lie where the keys do, which a compiler must expect of any others. */
static void keys_to_words(const struct gpi_radix_job *j, KEY *words)
{
    const KEY *keys = j->keys_in;
    KEY block[KEYS_BLOCK];
    if (!j->order.inf && !j->order.flip) {
        if (keys != words)
            memcpy(words, keys, j->n * KEY_BYTES);
        return;
    }
    for (size_t i = 0; i < j->n; i += KEYS_BLOCK) {
        const size_t n = j->n - i < KEYS_BLOCK ? j->n - i : KEYS_BLOCK;
        sort_words_of(&j->order, keys + i, n, block);
        memcpy(words + i, block, n * KEY_BYTES);
    }
}

static void words_to_keys(const struct gpi_radix_job *j, KEY *words)
{
    const struct gpi_radix_order order = j->order;
    if (order.inf || order.flip)
        for (size_t i = 0; i < j->n; i++)
            words[i] = key_of_word(&order, words[i]);
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
