/* SPDX-License-Identifier: MIT */
/*
 * Sorts that do not fit the caches: one stable pass over the highest bits that vary cuts the keys
 * into up to 256 buckets, which are then sorted by the bits below, each inside the cache of one
 * thread. Included by radixsort_cpu_tmpl.c.
 */
enum {
    SAMPLE = 256,
    FEW = 16,        /* longer buckets than this part of all keys are learned from a sample, */
    CELLS_FEW = 32,  /* or of the sample, where cells may be learned */
    SHARERS_MAX = 32 /* with more threads a bucket that is longer than most is still one thread's */
};

/* The bits in which a sample of the keys differs: a guess at those in which all of them do. */
static uint64_t sample_varying(const struct gpi_radix_job *j, KEY words[SAMPLE])
{
    KEY keys[SAMPLE];
    KEY varying = 0;
    for (size_t i = 0; i < SAMPLE; i++)
        keys[i] = ((const KEY *)j->keys_in)[j->n / SAMPLE * i];
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

/* Keys alone are sorted in place in the end. */
static bool by_quick(const struct gpi_radix_cpu_job *c)
{
    return QUICK && c->keys_alone;
}

/* Whether all words of a bucket are the same: there is nothing to sort. A stable pass has kept the
 * order of its values. */
static bool holds_one_word(const KEY *splitters, size_t bucket)
{
    return splitters && bucket > 0 && bucket + 1 < SPLIT_BUCKETS &&
           splitters[bucket] - splitters[bucket - 1] == 1;
}

/* What may be learned from a sample. */
struct lessons {
    bool cells, splitters;
};

/* Put the sample in order. Beside values what is learned leaves more bits to the passes in the
 * caches than digits do, but not to sorts by words and positions; splitters are worth it where many
 * words repeat. */
static struct lessons sort_sample(const struct gpi_radix_cpu_job *c, KEY words[SAMPLE])
{
    struct lessons may = {false, false};
#if QUICK
    const struct gpi_radix_job *j = &c->job;
    size_t repeats = 0;
    if (!c->whole || !quick_sort(words, SAMPLE, depth_of(SAMPLE)))
        return may;
    for (size_t i = 1; i < SAMPLE; i++)
        repeats += words[i] == words[i - 1];
    may.cells = c->keys_alone ||
                cached_passes_of(j->n / BINS, j->begin_bit, j->end_bit).passes > FEW_PASSES;
    may.splitters = c->keys_alone || repeats >= SAMPLE / 4;
#else
    (void)c, (void)words;
#endif
    return may;
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

/* From a sorted sample. A word that is there more than once gets a bucket of its own: the next
 * splitter is the word after it. */
static void choose_splitters(KEY splitters[SPLIT_BUCKETS], const KEY words[SAMPLE])
{
    KEY before = 0;
    for (size_t k = 0; k + 1 < SPLIT_BUCKETS; k++) {
        const KEY word = words[(k + 1) * SAMPLE / SPLIT_BUCKETS];
        const bool again = k > 0 && word == before && word != (KEY)-1;
        splitters[k] = again ? word + 1 : word;
        if (k > 0 && splitters[k] < splitters[k - 1])
            splitters[k] = splitters[k - 1];
        before = word;
    }
    splitters[SPLIT_BUCKETS - 1] = (KEY)-1;
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
        if (items > most && !holds_one_word(s->digit.splitters, b))
            most = items;
    }
    return most;
}

/* Learn a bucket for each cell of the sample's range: the number of its words that come before, so
 * buckets are in order and have one of these words, or those of a cell. False: a cell has many. */
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
            s->cells[cell++] = (uint8_t)i;
    }
    memset(s->cells + cell, SAMPLE - 1, CELLS - cell);
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
    choose_splitters(s->splitters, words);
    count_by(s, (struct digit){.splitters = s->splitters});
    return longest_bucket(s) <= s->c->job.n - s->c->job.n / 8;
}

/* Choose the digit to cut by, and count it; or splitters, where a digit would leave many keys
 * together. Returns one past the highest bit that varies; begin_bit: nothing does. */
static int count_top(struct sort *s)
{
    const struct gpi_radix_job *j = &s->c->job;
    KEY words[SAMPLE];
    int guess = top_of(j, sample_varying(j, words)), top = guess;
    const struct lessons may = sort_sample(s->c, words);
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

static void sort_words(const struct gpi_radix_cpu_job *c);

/* The buckets of a partition; bucket b is items [starts[b], starts[b + 1]). */
struct buckets {
    const struct gpi_radix_cpu_job *c;
    const KEY *keys;
    const char *values;
    int shift;            /* the bits below are still to be sorted */
    const KEY *splitters; /* what cut them, or NULL */
    size_t shared_items;  /* longer buckets are sorted by all threads together */
    size_t starts[BINS + 1];
};

/* One past the highest bit in which words of a bucket may differ. */
static int bucket_end(const struct buckets *b, size_t bucket)
{
    if (!b->splitters || bucket == 0 || bucket + 1 >= SPLIT_BUCKETS)
        return b->shift;
    const KEY first = b->splitters[bucket - 1], last = (KEY)(b->splitters[bucket] - 1);
    const int end = top_of(&b->c->job, (uint64_t)(KEY)(first ^ last));
    return end < b->shift ? end : b->shift;
}

/* A bucket as a sort of its own. */
static struct gpi_radix_cpu_job bucket_job(const struct buckets *b, size_t bucket)
{
    const size_t start = b->starts[bucket];
    struct gpi_radix_cpu_job sub =
        gpi_radixsort_part_of(b->c, start, b->starts[bucket + 1] - start);
    sub.job.end_bit = bucket_end(b, bucket);
    sub.job.keys_in = b->keys + start;
    if (sub.job.value_bytes)
        sub.job.values_in = b->values + start * sub.job.value_bytes;
    return sub;
}

#if !QUICK
static bool sort_quick(struct gpi_radix_job *j)
{
    (void)j;
    return false;
}

static bool by_positions(const struct gpi_radix_cpu_job *c)
{
    (void)c;
    return false;
}

static bool sort_by_positions(const struct gpi_radix_cpu_job *c)
{
    (void)c;
    return false;
}
#endif

/* A sort of at most GPI_RADIX_PART_MAX items by the calling thread; with values it has
 * values_in. All ways are stable, or sort what keeps its bits in any order, so which one is
 * taken does not show. */
static void sort_alone(const struct gpi_radix_cpu_job *c)
{
    struct { /* of one part, see open_sort() */
        uint64_t places[BINS];
        bins_u32 counts;
    } counts;
    struct gpi_radix_cpu_job whole = *c;
    if (by_quick(c) && c->job.n * KEY_BYTES <= STREAM_BYTES && sort_quick(&whole.job))
        return;
    if (by_positions(c) && sort_by_positions(c))
        return;
    if (c->job.n <= SHORT_ITEMS) {
        sort_short(&whole.job);
    } else if (c->job.n * (KEY_BYTES + c->job.value_bytes) <= CACHED_BYTES) {
        sort_cached(&whole);
    } else {
        size_t room = gpi_radixsort_room_take(c);
        whole.rooms = gpi_radixsort_room(c, room);
        whole.counts = &counts;
        whole.parts = 1;
        whole.threads = 1;
        sort_words(&whole);
        gpi_radixsort_room_give(c, room);
    }
}

static void sort_bucket(void *arg, size_t bucket)
{
    const struct buckets *b = arg;
    struct gpi_radix_cpu_job sub = bucket_job(b, bucket);
    if (sub.job.n == 0 || sub.job.n > b->shared_items)
        return;
    if (!holds_one_word(b->splitters, bucket)) {
        sort_alone(&sub);
        return;
    }
    gpi_radixsort_copy_alone(&sub);
}

static void sort_buckets(struct buckets *b)
{
    const struct gpi_radix_cpu_job *c = b->c;
    const size_t sharers = c->threads < SHARERS_MAX ? (size_t)c->threads : SHARERS_MAX;
    b->shared_items = c->threads > 1 ? c->job.n / (2 * sharers) : c->job.n;
    if (b->shared_items > GPI_RADIX_PART_MAX)
        b->shared_items = GPI_RADIX_PART_MAX;
    for (size_t k = 0; k < BINS; k++) {
        struct gpi_radix_cpu_job sub = bucket_job(b, k);
        if (sub.job.n <= b->shared_items)
            continue;
        sub.parts = gpi_radixsort_parts(c->threads, sub.job.n);
        if (holds_one_word(b->splitters, k))
            gpi_radixsort_copy_all(&sub);
        else
            sort_words(&sub);
    }
    gpi_parallel_for(c->threads, BINS, sort_bucket, b);
}

/* Buckets are written to the array from which the passes that follow end in the outputs without
 * a copy. */
static void choose_destination(struct sort *s, int passes_left)
{
    const struct gpi_radix_cpu_job *c = s->c;
    bool to_out = passes_left % 2 == 0;
    if (by_quick(c) && passes_left > 0)
        to_out = c->job.keys_in != c->job.keys_out;
    else if (QUICK && passes_left > 0) /* which collect from one array into the other */
        to_out = false;
    s->keys_dst = to_out ? c->job.keys_out : c->keys_tmp;
    s->values_dst = to_out ? c->job.values_out : c->values_tmp;
}

/* Inputs that the partition would overwrite are copied to the other array. */
static void copy_overwritten(struct sort *s)
{
    const struct gpi_radix_cpu_job *c = s->c;
    const struct gpi_radix_job *j = &c->job;
    bool to_out = s->keys_dst == j->keys_out;
    if (s->keys_src == s->keys_dst) {
        KEY *aside = to_out ? c->keys_tmp : j->keys_out;
        gpi_radixsort_copy(c, aside, s->keys_src, KEY_BYTES);
        s->keys_src = aside;
    }
    if (s->values_src && s->values_src == s->values_dst) {
        void *aside = to_out ? c->values_tmp : j->values_out;
        gpi_radixsort_copy(c, aside, s->values_src, j->value_bytes);
        s->values_src = aside;
    }
}

/* The array that a partition between splitters neither reads nor writes, if there is one. */
static void *spare_array(const struct gpi_radix_cpu_job *c)
{
    const void *in = c->job.keys_in;
    if (in == c->job.keys_out || in == c->keys_tmp)
        return NULL;
    return by_quick(c) ? c->keys_tmp : c->job.keys_out;
}

static void sort_msd(const struct gpi_radix_cpu_job *c)
{
    struct sort s;
    struct buckets b = {.c = c};
    open_sort(&s, c);
    s.kept = spare_array(c);
    int top = count_top(&s);
    if (top == c->job.begin_bit) {
        gpi_radixsort_copy_all(c);
        return;
    }
    b.splitters = s.digit.splitters;
    b.shift = is_learned(&s.digit) ? top : s.digit.shift;
    choose_destination(&s, cached_passes_of(c->job.n / BINS, c->job.begin_bit, b.shift).passes);
    copy_overwritten(&s);
    find_places(&s);
    for (size_t k = 0; k < BINS; k++)
        b.starts[k] = (size_t)s.places[0][k];
    b.starts[BINS] = c->job.n;
    gpi_parallel_for(c->threads, c->parts, s.move, &s);
    b.keys = s.keys_dst;
    b.values = s.values_dst;
    if (b.shift > c->job.begin_bit)
        sort_buckets(&b);
}

/* As sort_alone(), but the indices may still have to be written. */
static void sort_one_part(const struct gpi_radix_cpu_job *c)
{
    struct gpi_radix_cpu_job whole = *c;
    if (by_positions(c) && !c->job.values_in && sort_by_positions(c))
        return;
    if (c->job.value_bytes && !c->job.values_in) {
        gpi_radixsort_copy(c, c->job.values_out, NULL, c->job.value_bytes);
        whole.job.values_in = c->job.values_out;
    }
    sort_alone(&whole);
}

static void sort_words(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    size_t bytes = j->n * (KEY_BYTES + j->value_bytes);
    if (c->parts == 1 && bytes <= (by_quick(c) ? STREAM_BYTES : CACHED_BYTES))
        sort_one_part(c);
    else
        sort_msd(c);
}
