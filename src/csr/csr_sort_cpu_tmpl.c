/* SPDX-License-Identifier: MIT */
/* CPU: the phases of csr_sort_cpu.h. One unit per width of key and slot and instruction set:
 * GPI_UNIT names it, GPI_KEY and GPI_SLOT are its types. */
#include <string.h>

#include "core/threads.h"
#include "core/words.h"
#include "csr/csr_sort_cpu.h"

#define NAME(what) PASTE4(gpi_csr_##what##_, GPI_UNIT, _, GPI_ISA_SUFFIX)

__extension__ typedef unsigned __int128 uint128_t;
typedef GPI_KEY wkey_t;
typedef GPI_SLOT slot_t;

#define NO_ROW UINT64_MAX

void NAME(sort)(struct gpi_csr_sort *s);

/* ---- 1 and 2: scatter into buckets ---- */

/* An entry out of range is taken for (0, 0); the caller reports it. */
ALWAYS_INLINE wkey_t key_at(const struct gpi_csr_coo *c, uint64_t i, size_t index_bytes,
                            unsigned *bad)
{
    uint64_t row = gpi_word_at(c->rows, index_bytes, i), col = gpi_word_at(c->cols, index_bytes, i);
    unsigned out = (unsigned)(row >= c->num_rows) | (unsigned)(col >= c->num_cols);
    *bad |= out;
    return out ? 0 : (wkey_t)row << c->col_bits | col;
}

/* Report the first of the entries [i, end) that is out of range. */
static void report_entry(const struct gpi_csr_sort *s, uint64_t i, uint64_t end)
{
    const struct gpi_csr_coo *c = s->c;
    const void *arrays[2] = {c->rows, c->cols};
    const uint64_t bounds[2] = {c->num_rows, c->num_cols};
    for (; i < end; i++)
        for (int k = 0; k < 2; k++) {
            const uint64_t index = gpi_word_at(arrays[k], c->index_bytes, i);
            if (c->names[k] && index >= bounds[k]) {
                const struct gpi_reporter reporter =
                    gpi_reporter_of(s->ctx, c->names[k], c->index_dtype);
                gpi_report(&reporter, GPI_RULE_BELOW, i, index, bounds[k]);
                return;
            }
        }
}

ALWAYS_INLINE void count_with(const struct gpi_csr_sort *s, size_t chunk, size_t index_bytes)
{
    uint64_t *counts = s->starts + chunk * s->buckets;
    const uint64_t begin = chunk * s->chunk_items;
    const uint64_t end = gpi_min(begin + s->chunk_items, s->c->nnz);
    unsigned bad = 0;
    memset(counts, 0, s->buckets * sizeof *counts);
    for (uint64_t i = begin; i < end; i++)
        counts[key_at(s->c, i, index_bytes, &bad) >> s->bucket_shift]++;
    if (bad)
        report_entry(s, begin, end);
}

static void count_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_sort *s = arg;
    WITH_INDEX_BYTES(bytes, s->c->index_bytes, count_with(s, chunk, bytes));
}

/* Bucket after bucket, and within a bucket chunk after chunk: input order. */
static void scan_counts(struct gpi_csr_sort *s)
{
    uint64_t sum = 0;
    for (size_t b = 0; b < s->buckets; b++) {
        s->begins[b] = sum;
        for (size_t c = 0; c < s->chunks; c++) {
            uint64_t count = s->starts[c * s->buckets + b];
            s->starts[c * s->buckets + b] = sum;
            sum += count;
        }
    }
    s->begins[s->buckets] = sum;
}

ALWAYS_INLINE void scatter_with(const struct gpi_csr_sort *s, size_t chunk, size_t index_bytes,
                                size_t value_bytes)
{
    uint64_t *starts = s->starts + chunk * s->buckets;
    uint64_t i = chunk * s->chunk_items, end = gpi_min(i + s->chunk_items, s->c->nnz);
    wkey_t *keys = s->keys[0];
    slot_t *slots = s->slots[0];
    unsigned bad = 0;
    for (; i < end; i++) {
        wkey_t key = key_at(s->c, i, index_bytes, &bad);
        uint64_t to = starts[key >> s->bucket_shift]++;
        keys[to] = key;
        slots[to] = (slot_t)gpi_word_at(s->c->values, value_bytes, i);
    }
}

static void scatter_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_sort *s = arg;
    const struct gpi_csr_coo *c = s->c;
    if (c->value_bytes)
        WITH_BYTES(value, c->value_bytes,
                   WITH_INDEX_BYTES(index, c->index_bytes, scatter_with(s, chunk, index, value)));
    else
        WITH_INDEX_BYTES(index, c->index_bytes, scatter_with(s, chunk, index, 0));
}

/* ---- 3: sort and merge a bucket ---- */

enum { DIGIT_BITS_MAX = 10, DIGITS = 1 << DIGIT_BITS_MAX, INSERTION_MAX = 48 };

static void insertion_sort(wkey_t *keys, slot_t *slots, size_t n, unsigned low_bit)
{
    for (size_t i = 1; i < n; i++) {
        wkey_t key = keys[i];
        slot_t slot = slots[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1] >> low_bit > key >> low_bit; j--) {
            keys[j] = keys[j - 1];
            slots[j] = slots[j - 1];
        }
        keys[j] = key;
        slots[j] = slot;
    }
}

/* One stable pass; false, and nothing moves, if all keys have the same digit. */
static bool digit_pass(const wkey_t *keys, const slot_t *slots, size_t n, unsigned shift,
                       unsigned bits, wkey_t *keys_out, slot_t *slots_out)
{
    uint64_t next[DIGITS] = {0}, sum = 0;
    size_t digits = (size_t)1 << bits, mask = digits - 1;
    for (size_t i = 0; i < n; i++)
        next[(size_t)(keys[i] >> shift) & mask]++;
    if (next[(size_t)(keys[0] >> shift) & mask] == n)
        return false;
    for (size_t d = 0; d < digits; d++) {
        uint64_t count = next[d];
        next[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t to = next[(size_t)(keys[i] >> shift) & mask]++;
        keys_out[to] = keys[i];
        slots_out[to] = slots[i];
    }
    return true;
}

/* Whether there is nothing to sort; others end at the first key that falls. */
static bool ascends(const wkey_t *keys, size_t n, unsigned low_bit)
{
    for (size_t i = 1; i < n; i++)
        if (keys[i - 1] >> low_bit > keys[i] >> low_bit)
            return false;
    return true;
}

/* Sorts by the bits [sort_bit, bucket_shift) and returns which side holds the result. */
static unsigned char sort_bucket(const struct gpi_csr_sort *s, uint64_t begin, size_t n)
{
    wkey_t *keys[2] = {(wkey_t *)s->keys[0] + begin, (wkey_t *)s->keys[1] + begin};
    slot_t *slots[2] = {(slot_t *)s->slots[0] + begin, (slot_t *)s->slots[1] + begin};
    unsigned low = s->c->sort_bit, bits = s->bucket_shift - low, side = 0;
    if (bits == 0 || ascends(keys[0], n, low))
        return 0;
    if (n <= INSERTION_MAX) {
        insertion_sort(keys[0], slots[0], n, low);
        return 0;
    }
    unsigned most = gpi_csr_bits(n) - 2; /* digits few against the entries */
    most = most < DIGIT_BITS_MAX ? most : DIGIT_BITS_MAX;
    unsigned passes = (bits + most - 1) / most, digit = (bits + passes - 1) / passes;
    for (unsigned shift = low; shift < s->bucket_shift; shift += digit) {
        unsigned width = s->bucket_shift - shift < digit ? s->bucket_shift - shift : digit;
        if (digit_pass(keys[side], slots[side], n, shift, width, keys[!side], slots[!side]))
            side = !side;
    }
    return (unsigned char)side;
}

/* Merge runs of equal keys in place; returns how many are left. */
static size_t merge_bucket(const struct gpi_csr_sort *s, uint64_t begin, wkey_t *keys,
                           slot_t *slots, size_t n)
{
    const struct gpi_csr_coo *c = s->c;
    const struct gpi_reporter reporter = gpi_reporter_of(s->ctx, NULL, (gp_dtype)0);
    bool reported = c->duplicates != GP_DUPLICATES_ERROR; /* only the first of a bucket can count */
    size_t to = 0;
    for (size_t i = 0, end; i < n; i = end, to++) {
        for (end = i + 1; end < n && keys[end] == keys[i];)
            end++;
        keys[to] = keys[i];
        slots[to] = slots[i];
        if (end - i > 1 && !reported) {
            reported = true;
            gpi_report(&reporter, GPI_RULE_DUPLICATE, GPI_CSR_DUPLICATE_AT(begin + i + 1),
                       (uint64_t)(keys[i] >> c->col_bits),
                       (uint64_t)(keys[i] & (((wkey_t)1 << c->col_bits) - 1)));
        }
        if (end - i > 1)
            slots[to] = (slot_t)gpi_csr_merge(c->value_dtype, c->duplicates, slots + i,
                                              sizeof *slots, end - i);
    }
    return to;
}

static void finish_bucket(void *arg, size_t b)
{
    const struct gpi_csr_sort *s = arg;
    uint64_t begin = s->begins[b];
    size_t n = (size_t)(s->begins[b + 1] - begin);
    s->places[b] = 0;
    s->last_rows[b] = NO_ROW;
    if (n == 0)
        return;
    s->side[b] = sort_bucket(s, begin, n);
    wkey_t *keys = (wkey_t *)s->keys[s->side[b]] + begin;
    slot_t *slots = (slot_t *)s->slots[s->side[b]] + begin;
    if (s->c->duplicates != GP_DUPLICATES_KEEP)
        n = merge_bucket(s, begin, keys, slots, n);
    s->places[b] = n;
    s->last_rows[b] = (uint64_t)(keys[n - 1] >> s->c->col_bits);
}

/* ---- 4: write ---- */

/* Counts become places; last_rows[b] becomes the last row before bucket b. */
static void scan_places(struct gpi_csr_sort *s)
{
    uint64_t sum = 0, last = NO_ROW;
    for (size_t b = 0; b < s->buckets; b++) {
        uint64_t count = s->places[b], row = s->last_rows[b];
        s->places[b] = sum;
        s->last_rows[b] = last;
        sum += count;
        last = row != NO_ROW ? row : last;
    }
    s->places[s->buckets] = sum;
    s->last_rows[s->buckets] = last;
}

ALWAYS_INLINE void fill_pointers(void *out, uint64_t first, uint64_t end, uint64_t value,
                                 size_t offset_bytes)
{
    for (; first < end; first++)
        gpi_word_put(out, offset_bytes, first, value);
}

/* Pointers of the rows after last, up to that of the bucket's last entry. */
ALWAYS_INLINE void pointers_with(const struct gpi_csr_sort *s, size_t b, const wkey_t *keys,
                                 size_t n, size_t offset_bytes)
{
    uint64_t next = s->last_rows[b] + 1; /* NO_ROW + 1 is 0 */
    for (size_t i = 0; i < n; i++) {
        uint64_t row = (uint64_t)(keys[i] >> s->c->col_bits);
        if (row >= next) {
            fill_pointers(s->c->row_pointers, next, row + 1, s->places[b] + i, offset_bytes);
            next = row + 1;
        }
    }
}

ALWAYS_INLINE void cols_with(const struct gpi_csr_sort *s, uint64_t place, const wkey_t *keys,
                             size_t n, size_t index_bytes)
{
    uint64_t mask = ((uint64_t)1 << s->c->col_bits) - 1;
    for (size_t i = 0; i < n; i++)
        gpi_word_put(s->c->out_cols, index_bytes, place + i, (uint64_t)keys[i] & mask);
}

ALWAYS_INLINE void values_with(const struct gpi_csr_sort *s, uint64_t place, const slot_t *slots,
                               size_t n, size_t value_bytes)
{
    for (size_t i = 0; i < n; i++)
        gpi_word_put(s->c->out_values, value_bytes, place + i, slots[i]);
}

static void write_bucket(void *arg, size_t b)
{
    const struct gpi_csr_sort *s = arg;
    uint64_t begin = s->begins[b], place = s->places[b];
    size_t n = (size_t)(s->places[b + 1] - place);
    if (n == 0)
        return;
    const wkey_t *keys = (const wkey_t *)s->keys[s->side[b]] + begin;
    const slot_t *slots = (const slot_t *)s->slots[s->side[b]] + begin;
    if (s->c->row_pointers)
        WITH_INDEX_BYTES(bytes, s->c->offset_bytes, pointers_with(s, b, keys, n, bytes));
    WITH_INDEX_BYTES(bytes, s->c->index_bytes, cols_with(s, place, keys, n, bytes));
    if (s->c->value_bytes)
        WITH_BYTES(bytes, s->c->value_bytes, values_with(s, place, slots, n, bytes));
}

void NAME(sort)(struct gpi_csr_sort *s)
{
    const struct gpi_csr_coo *c = s->c;
    int threads = gpi_threads_for(s->ctx->threads, c->nnz * 8);
    gpi_parallel_for(threads, s->chunks, count_chunk, s);
    scan_counts(s);
    gpi_parallel_for(threads, s->chunks, scatter_chunk, s);
    gpi_parallel_for(threads, s->buckets, finish_bucket, s);
    scan_places(s);
    gpi_parallel_for(threads, s->buckets, write_bucket, s);
    if (c->row_pointers)
        fill_pointers(c->row_pointers, s->last_rows[s->buckets] + 1, c->num_rows + 1,
                      s->places[s->buckets], c->offset_bytes);
    if (c->out_nnz)
        *c->out_nnz = s->places[s->buckets];
}
