/* SPDX-License-Identifier: MIT */
/*
 * Keys of 8 and 16 bits without values: count every key, then write each as often as it was there.
 * Included by radixsort_cpu_tmpl.c.
 */
enum { COUNT_BINS = 1 << GPI_KEY_BITS };

struct count {
    const struct gpi_radix_cpu_job *c;
    uint32_t *counts; /* [part][key] */
    uint64_t *starts; /* [COUNT_BINS + 1]: where each rank begins in the output */
};

static void count_keys_part(void *arg, size_t part)
{
    struct count *k = arg;
    const KEY *keys = k->c->job.keys_in;
    uint32_t *counts = k->counts + part * COUNT_BINS;
    size_t i = part_begin(k->c, part), end = part_begin(k->c, part + 1);
    memset(counts, 0, COUNT_BINS * sizeof *counts);
#if GPI_KEY_BITS == 8
    bins_u32 tables[4];
    memset(tables, 0, sizeof tables);
    count_digits(keys + i, end - i, tables);
    fold_tables(tables, counts);
#else
    for (; i < end; i++)
        counts[keys[i]]++;
#endif
}

static void find_starts(struct count *k)
{
    uint64_t sum = 0;
    for (size_t rank = 0; rank < COUNT_BINS; rank++) {
        KEY key = key_of_word(&k->c->job.order, (KEY)rank);
        k->starts[rank] = sum;
        for (size_t part = 0; part < k->c->parts; part++)
            sum += k->counts[part * COUNT_BINS + key];
    }
    k->starts[COUNT_BINS] = sum;
}

/* The last rank that begins at or before position i. */
static size_t rank_at(const uint64_t *starts, size_t i)
{
    size_t low = 0, high = COUNT_BINS;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (starts[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Parts of the output are as long as those of the input. */
static void write_keys_part(void *arg, size_t part)
{
    const struct count *k = arg;
    KEY *out = k->c->job.keys_out;
    size_t i = part_begin(k->c, part), end = part_begin(k->c, part + 1);
    for (size_t rank = rank_at(k->starts, i); i < end; rank++) {
        KEY key = key_of_word(&k->c->job.order, (KEY)rank);
        size_t stop = (size_t)k->starts[rank + 1] < end ? (size_t)k->starts[rank + 1] : end;
        for (; i < stop; i++)
            out[i] = key;
    }
}

static void sort_by_count(const struct gpi_radix_cpu_job *c)
{
    struct count k = {.c = c, .starts = c->counts};
    k.counts = (void *)(k.starts + COUNT_BINS + 1);
    gpi_parallel_for(c->threads, c->parts, count_keys_part, &k);
    find_starts(&k);
    gpi_parallel_for(c->threads, c->parts, write_keys_part, &k);
}
