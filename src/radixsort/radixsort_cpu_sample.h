/* SPDX-License-Identifier: MIT */
/*
 * How a sort that does not fit the caches is cut into buckets: by the highest bits that vary, or by
 * what a sample of the keys teaches, cells of equal ranges or splitters.
 * Included by radixsort_cpu_tmpl.c.
 */
enum {
    SAMPLE = 1024, /* words */
    /* Buckets are learned where a digit leaves more than a 16th of all keys, or of the sample, in
     * one of them; where cells may be learned, a 48th of the sample is enough. */
    FEW = 16,
    CELLS_FEW = 48
};

/* The bits in which a sample of the keys differs, a guess at those in which all keys do. The sample
 * has one key out of each of SAMPLE equal pieces, at uneven distances, as keys may be periodic. */
static uint64_t sample_varying(const struct gpi_radix_job *j, KEY words[SAMPLE], KEY keys[SAMPLE])
{
    KEY varying = 0;
    const uint64_t piece = j->n / SAMPLE;
    for (size_t i = 0; i < SAMPLE; i++) {
        const uint64_t within = (uint32_t)i * 2654435769u; /* of 2^32; the golden ratio */
        keys[i] = ((const KEY *)j->keys_in)[piece * i + (piece * within >> 32)];
    }
    sort_words_of(&j->order, keys, SAMPLE, words);
    for (size_t i = 0; i < SAMPLE; i++)
        varying |= words[i] ^ words[0];
    return varying;
}

/* Count the one digit, and collect the bits in which words differ from the first one
 * of the array. */
static void count_top_part(void *arg, size_t part)
{
    struct sort *s = arg;
    const struct gpi_radix_job *j = &s->c->job;
    const struct digit g = s->digit;
    size_t end = part_begin(s->c, part + 1);
    bins_u32 tables[4];
    KEY words[BLOCK], first, varying = 0;
    uint8_t digits[BLOCK];
    memset(tables, 0, sizeof tables);
    sort_words_of(&j->order, s->keys_src, 1, &first);
    for (size_t i = part_begin(s->c, part); i < end; i += BLOCK) {
        size_t n = end - i < BLOCK ? end - i : BLOCK;
        sort_words_of(&j->order, s->keys_src + i, n, words);
        for (size_t k = 0; k < n; k++) {
            varying |= words[k] ^ first;
            digits[k] = (uint8_t)((uint8_t)(words[k] >> g.shift) & g.mask);
        }
        if (is_learned(&g))
            learned_digits(&g, words, n, digits);
        if (is_learned(&g) && s->kept)
            memcpy(s->kept + i, digits, n);
        count_digits(digits, n, tables);
    }
    fold_tables(tables, s->counts[part]);
    __atomic_fetch_or(&s->varying, (uint64_t)varying, __ATOMIC_RELAXED);
}

/* One past the highest of the compared bits that is set, or begin_bit. */
static int top_of(const struct gpi_radix_job *j, uint64_t varying)
{
    int top = j->end_bit;
    while (top > j->begin_bit && !(varying >> (top - 1) & 1))
        top--;
    return top;
}

/* The eight bits below top, or what there is. */
static struct digit digit_below(const struct gpi_radix_job *j, int top)
{
    int shift = top - GPI_RADIX_BITS > j->begin_bit ? top - GPI_RADIX_BITS : j->begin_bit;
    return (struct digit){.shift = shift, .mask = (uint8_t)((1u << (top - shift)) - 1)};
}

/* Whether all words of a bucket are the same: there is nothing to sort. A stable pass has kept the
 * order of its values. */
static bool holds_one_word(const struct digit *g, size_t bucket)
{
    return g->splitters && bucket > 0 && bucket + 1 < (size_t)g->splits &&
           g->splitters[bucket] - g->splitters[bucket - 1] == 1;
}

/* Whether a bucket of even keys is sorted by passes, not by words and positions. */
static bool few_passes(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    const size_t n = j->n / BINS;
    return cached_passes_of(n, j->begin_bit, j->end_bit).passes <= passes_that_pay(j, n);
}

/* What may be learned from a sample. */
struct lessons {
    bool cells, splitters;
};

/* Whether a bucket that has these words of the sample is more than the caches hold, with the words
 * of keys and positions, or than a thread should sort by itself. */
static bool is_long(const struct gpi_radix_cpu_job *c, size_t words)
{
    const size_t beside = c->keys_alone ? 0 : c->job.value_bytes + sizeof(uint64_t);
    return words > SAMPLE / 4 || c->job.n / SAMPLE * words * (KEY_BYTES + beside) > CACHED_BYTES;
}

/* Of a sorted sample, the most that one digit has. */
static size_t sample_longest(const KEY words[SAMPLE], struct digit g)
{
    size_t most = 0;
    for (size_t i = 0, begin = 0; i < SAMPLE; i++) {
        if ((words[i] >> g.shift) != (words[begin] >> g.shift))
            begin = i;
        most = i + 1 - begin > most ? i + 1 - begin : most;
    }
    return most;
}

/* Put the sample in order. Beside values what is learned leaves more bits to the passes in the
 * caches than digits do, but not to sorts by words and positions; splitters are worth it where many
 * words repeat, or digits leave more together than the caches hold. */
static struct lessons sort_sample(const struct gpi_radix_cpu_job *c, struct digit g,
                                  KEY words[SAMPLE])
{
    struct lessons may = {false, false};
#if QUICK
    size_t repeats = 0;
    if (!c->whole || !quick_sort(words, SAMPLE, depth_of(SAMPLE)))
        return may;
    const bool quick = c->keys_alone || !few_passes(c),
               is_even = !is_long(c, sample_longest(words, g));
    const size_t apart = quick ? 1 : SAMPLE / BINS;
    may.cells = quick || !is_even;
    for (size_t i = apart; i < SAMPLE; i++)
        repeats += words[i] == words[i - apart];
    may.splitters = c->keys_alone || repeats >= SAMPLE / 4 || !is_even;
#else
    (void)c, (void)g, (void)words;
#endif
    return may;
}

/* From a sorted sample. A word that is there more than once gets a bucket of its own: the next
 * splitter is the word after it. */
static struct digit choose_splitters(KEY splitters[BINS], int splits, const KEY words[SAMPLE])
{
    KEY before = 0;
    for (int k = 0; k + 1 < splits; k++) {
        const KEY word = words[(k + 1) * SAMPLE / splits];
        const bool again = k > 0 && word == before && word != (KEY)-1;
        splitters[k] = again ? word + 1 : word;
        if (k > 0 && splitters[k] < splitters[k - 1])
            splitters[k] = splitters[k - 1];
        before = word;
    }
    for (int k = splits - 1; k < BINS; k++)
        splitters[k] = (KEY)-1;
    return (struct digit){.splitters = splitters, .splits = splits};
}

/* The words of a sorted sample in long buckets that there is something to sort in. */
static size_t sample_in_long(const struct gpi_radix_cpu_job *c, const struct digit *g,
                             const KEY words[SAMPLE])
{
    size_t all = 0, i = 0;
    for (size_t k = 0; i < SAMPLE; k++) {
        const size_t begin = i;
        const bool last = k + 1 == (size_t)g->splits;
        while (i < SAMPLE && (last || words[i] < g->splitters[k]))
            i++;
        all += is_long(c, i - begin) && !holds_one_word(g, k) ? i - begin : 0;
    }
    return all;
}

static void count_by(struct sort *s, struct digit g)
{
    s->varying = 0;
    s->digit = g;
    gpi_parallel_for(s->c->threads, s->c->parts, count_top_part, s);
}

/* Items of the longest bucket that there is something to sort in. */
static size_t longest_bucket(const struct sort *s)
{
    size_t most = 0;
    for (size_t b = 0; b < BINS; b++) {
        size_t items = 0;
        for (size_t part = 0; part < s->c->parts; part++)
            items += s->counts[part][b];
        if (items > most && !holds_one_word(&s->digit, b))
            most = items;
    }
    return most;
}

/* Learn a bucket for each cell of the sample's range: by the number of its words that come before,
 * so buckets are in order and have a few of these words, or those of one cell. False: some cell has
 * too many of them. */
static bool learn_cells(struct sort *s, const KEY words[SAMPLE], struct digit *g)
{
    const KEY range = (KEY)(words[SAMPLE - 1] - words[0]);
    size_t cell = 0;
    *g = (struct digit){.cells = s->cells, .least = words[0]};
    while ((uint64_t)range >> g->shift >= CELLS)
        g->shift++;
    for (size_t i = 0, begin = 0; i < SAMPLE; i++) {
        const size_t its = (size_t)((KEY)(words[i] - words[0]) >> g->shift);
        if (its >= cell)
            begin = i;
        else if (i - begin >= SAMPLE / FEW)
            return false;
        while (cell <= its)
            s->cells[cell++] = (uint8_t)(i * BINS / SAMPLE);
    }
    memset(s->cells + cell, BINS - 1, CELLS - cell);
    return true;
}

/* Count by cells or by splitters. False: these leave nearly all keys together. */
static bool count_learned(struct sort *s, struct lessons may, const KEY words[SAMPLE])
{
    struct digit g;
    if (may.cells && learn_cells(s, words, &g)) {
        count_by(s, g);
        if (longest_bucket(s) <= s->c->job.n / (FEW / 2))
            return true;
    }
    if (!may.splitters)
        return false;
    g = choose_splitters(s->splitters, SPLIT_FEW, words);
    if (sample_in_long(s->c, &g, words) > SAMPLE / 4)
        g = choose_splitters(s->splitters, BINS, words);
    count_by(s, g);
    return longest_bucket(s) <= s->c->job.n - s->c->job.n / 8;
}

/* Choose the digit to cut by, and count it; or splitters, where a digit would leave many keys
 * together. The sample lies in the room where items are collected later. Returns one past the
 * highest bit that varies; begin_bit: nothing does. */
static int count_top(struct sort *s)
{
    const struct gpi_radix_job *j = &s->c->job;
    KEY *const words = (KEY *)(void *)s->c->rooms.memory;
    int guess = top_of(j, sample_varying(j, words, words + SAMPLE)), top = guess;
    _Static_assert(2 * SAMPLE * KEY_BYTES <= GPI_RADIX_LINES_BYTES, "a room is large enough");
    const struct lessons may = sort_sample(s->c, digit_below(j, guess), words);
    const size_t most = sample_longest(words, digit_below(j, guess));
    bool may_learn = may.cells || may.splitters;
    if (may_learn && most > SAMPLE / (may.cells ? CELLS_FEW : FEW)) {
        if (count_learned(s, may, words))
            return top_of(j, s->varying);
        may_learn = false;
    }
    do {
        guess = top;
        count_by(s, digit_below(j, guess));
        top = top_of(j, s->varying);
    } while (top > guess); /* the sample missed a bit; now it is known */
    if (!may_learn || longest_bucket(s) <= j->n / FEW)
        return top;
    const struct digit g = s->digit;
    if (!count_learned(s, may, words))
        count_by(s, g);
    return top_of(j, s->varying);
}
