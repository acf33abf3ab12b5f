/* SPDX-License-Identifier: MIT */
/* CPU: the phases of csr_sort_cpu.h. One unit per width of key and slot and instruction set:
 * GPI_UNIT names it, GPI_KEY and GPI_SLOT are its types. */
#include "core/paste.h"
#include "csr/csr_sort_cpu.h"

#define NAME(what) PASTE4(gpi_csr_##what##_, GPI_UNIT, _, GPI_ISA_SUFFIX)

__extension__ typedef unsigned __int128 uint128_t;
typedef GPI_KEY wkey_t;
typedef GPI_SLOT slot_t;

#include "csr/csr_sort_cpu_shared.h"

void NAME(sort)(struct gpi_csr_sort *s);

/* ---- 1 and 2: scatter into buckets ---- */

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
    end_of_matrix(s);
}
