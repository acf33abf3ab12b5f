/* SPDX-License-Identifier: MIT */
/*
 * Sorts that do not fit the caches: one stable pass cuts the keys into up to 256 buckets
 * (radixsort_cpu_sample.h), which are then sorted by what they leave open, each inside the cache of
 * one thread. Included by radixsort_cpu_tmpl.c.
 */
/* A bucket longer than half of a thread's share is sorted by all threads together. Shares are
 * counted for no more threads than this, as shorter buckets are better left to one thread. */
enum { SHARERS_MAX = 32 };

/* Keys alone are sorted in place in the end. */
static bool by_quick(const struct gpi_radix_cpu_job *c)
{
    return QUICK && c->keys_alone;
}

static void sort_words(const struct gpi_radix_cpu_job *c);

/* The buckets of a partition; bucket b is items [starts[b], starts[b + 1]). */
struct buckets {
    const struct gpi_radix_cpu_job *c;
    const KEY *keys;
    const char *values;
    size_t shared_items; /* longer buckets are sorted by all threads together */
    size_t starts[BINS + 1];
    uint8_t ends[BINS]; /* one past the highest bit in which words of a bucket may differ */
};

/* Of a bucket with words from first to last. */
static void bound_bucket(struct buckets *b, size_t bucket, KEY first, KEY last)
{
    const int end = top_of(&b->c->job, (uint64_t)(KEY)(first ^ last));
    if (end < b->ends[bucket])
        b->ends[bucket] = (uint8_t)end;
}

/* Which bits the passes in each bucket have still to look at. Nothing is known of the first and the
 * last of learned buckets, whose words may lie beyond the sample. Bounds of cells are found only to
 * spare passes; sorts by words and positions do not need them. A bucket of equal words needs no
 * sort, as the pass before was stable. */
static void find_ends(const struct digit *g, int top, struct buckets *b)
{
    memset(b->ends, is_learned(g) ? top : g->shift, sizeof b->ends);
    for (size_t k = 1; g->splitters && k + 1 < (size_t)g->splits; k++)
        bound_bucket(b, k, g->splitters[k - 1], (KEY)(g->splitters[k] - 1));
    const size_t cells = g->cells && few_passes(b->c) ? CELLS : 0;
    for (size_t cell = 0, begin = 0; cell < cells; begin = cell) {
        const size_t bucket = g->cells[begin];
        while (cell < cells && g->cells[cell] == bucket)
            cell++;
        if (bucket > 0 && cell < cells)
            bound_bucket(b, bucket, (KEY)(g->least + ((KEY)begin << g->shift)),
                         (KEY)(g->least + (((KEY)cell << g->shift) - 1)));
    }
}

/* The passes that most items have still to go through. */
static int usual_passes(const struct buckets *b)
{
    size_t items[CACHED_PASSES_MAX + 1] = {0};
    int usual = 0;
    for (size_t k = 0; k < BINS; k++) {
        const size_t n = b->starts[k + 1] - b->starts[k];
        items[cached_passes_of(n, b->c->job.begin_bit, b->ends[k]).passes] += n;
    }
    for (int k = 1; k <= CACHED_PASSES_MAX; k++)
        usual = items[k] > items[usual] ? k : usual;
    return usual;
}

static struct gpi_radix_cpu_job bucket_job(const struct buckets *b, size_t bucket)
{
    const size_t start = b->starts[bucket];
    struct gpi_radix_cpu_job sub = *b->c;
    gpi_radixsort_to_part(&sub, b->c, start, b->starts[bucket + 1] - start);
    sub.job.end_bit = b->ends[bucket];
    sub.job.keys_in = b->keys + start;
    if (sub.job.value_bytes)
        sub.job.values_in = b->values + start * sub.job.value_bytes;
    return sub;
}

#if !QUICK
#define sort_quick(job) ((void)(job), false)
#define by_positions(c) ((void)(c), false)
#define sort_by_positions(c) ((void)(c), false)
#endif

/* A sort of at most GPI_RADIX_PART_MAX items by the calling thread, whose values may be indices
 * that are not there yet. All ways are stable, or sort what keeps its bits in any order, so which
 * one is taken does not show. */
static void sort_alone(const struct gpi_radix_cpu_job *c)
{
    struct gpi_radix_cpu_job whole;
    if (by_positions(c) && sort_by_positions(c))
        return;
    whole = *c;
    if (by_quick(c) && c->job.n * KEY_BYTES <= LARGE_BYTES && sort_quick(&whole.job))
        return;
    if (c->job.value_bytes && !c->job.values_in) {
        gpi_radixsort_copy_some(c->job.values_out, NULL, c->job.value_bytes, 0, c->job.n);
        whole.job.values_in = c->job.values_out;
    }
    if (c->job.n <= SHORT_ITEMS) {
        gpi_radixsort_few(&whole.job, 0, whole.job.n);
    } else if (c->job.n * (KEY_BYTES + c->job.value_bytes) <= CACHED_BYTES) {
        sort_cached(&whole);
    } else {
        whole.rooms.memory = room_open(c);
        whole.rooms.count = 0;
        whole.counts = NULL; /* see open_sort() */
        whole.parts = 1;
        whole.threads = 1;
        sort_words(&whole);
        gpi_radixsort_room_give(&c->rooms, whole.rooms.memory);
    }
}

static void sort_bucket(void *arg, size_t bucket)
{
    const struct buckets *b = arg;
    struct gpi_radix_cpu_job sub = bucket_job(b, bucket);
    if (sub.job.n == 0 || sub.job.n > b->shared_items)
        return;
    if (sub.job.end_bit > sub.job.begin_bit)
        sort_alone(&sub);
    else
        copy_alone(&sub);
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
        if (sub.job.end_bit > sub.job.begin_bit)
            sort_words(&sub);
        else
            gpi_radixsort_copy_all(&sub);
    }
    gpi_parallel_for(c->threads, BINS, sort_bucket, b);
}

/* Buckets are written to the array from which the passes that follow end in the outputs without
 * a copy. */
static void choose_destination(struct sort *s, int passes_left)
{
    const struct gpi_radix_cpu_job *c = s->c;
    const bool in_place = c->job.keys_in == c->job.keys_out;
    const int most = passes_that_pay(&c->job, c->job.n / BINS);
    bool to_out = passes_left == 0 || c->job.keys_in == c->keys_tmp;
    if (by_quick(c) && passes_left > 0)
        to_out = !in_place;
    else if (passes_left <= most) /* more collect by positions, once */
        to_out = to_out || (passes_left % 2 == 0 && !in_place);
    if (is_learned(&s->digit) && s->kept)
        to_out = s->kept == c->keys_tmp;
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

/* The array that a partition into learned buckets neither reads nor writes, or NULL. */
static void *spare_array(const struct gpi_radix_cpu_job *c)
{
    const void *in = c->job.keys_in;
    if (in == c->job.keys_out || in == c->keys_tmp)
        return NULL;
    return by_quick(c) ? c->keys_tmp : c->job.keys_out;
}

/* Move all items to their buckets; a call, so that its tables have left the stack when these are
 * sorted. False: the items are sorted already. */
static __attribute__((noinline)) bool cut(const struct gpi_radix_cpu_job *c, struct buckets *b)
{
    struct sort s;
    open_sort(&s, c);
    s.kept = spare_array(c);
    const int top = count_top(&s), begin = c->job.begin_bit;
    if (top == begin) {
        gpi_radixsort_copy_all(c);
        return false;
    }
    find_places(&s);
    for (size_t k = 0; k < BINS; k++)
        b->starts[k] = (size_t)s.places[0][k];
    b->starts[BINS] = c->job.n;
    find_ends(&s.digit, top, b);
    choose_destination(&s, usual_passes(b));
    copy_overwritten(&s);
    gpi_parallel_for(c->threads, c->parts, values_of(c->job.value_bytes)->move, &s);
    b->keys = s.keys_dst;
    b->values = s.values_dst;
    return is_learned(&s.digit) || s.digit.shift > begin;
}

static void sort_msd(const struct gpi_radix_cpu_job *c)
{
    struct buckets b;
    b.c = c;
    if (cut(c, &b))
        sort_buckets(&b);
}

static void sort_words(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    size_t bytes = j->n * (KEY_BYTES + j->value_bytes);
    if (c->parts == 1 && bytes <= (by_quick(c) ? LARGE_BYTES : CACHED_BYTES))
        sort_alone(c);
    else
        sort_msd(c);
}
