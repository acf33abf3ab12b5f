/* SPDX-License-Identifier: MIT */
/*
 * CPU: the phases of csr_sort_cpu.h where an entry is one word: what its bucket leaves of the key
 * has 32 bits, above a value of up to 4 bytes. A unit per instruction set.
 *
 * A chunk collects a line of entries for each bucket, which leaves past the cache. A bucket is
 * sorted by row, and a row by column: few columns in registers, with their numbers below them, so
 * that equal ones keep their order.
 */
#include "core/paste.h"
#include "core/past_cache.h"
#include "csr/csr_sort_cpu.h"

typedef uint64_t wkey_t;

#include "csr/csr_sort_cpu_shared.h"

enum { LINE_WORDS = 8, ROW_BITS_MAX = 11, COLUMN_DIGIT = 8, INSERTION_MAX = 48 };

/* ---- 1 and 2: scatter into buckets ---- */

/* Where a chunk began to write each bucket, and a line of each. */
struct room {
    uint64_t *first, *lines;
};

static struct room room_of(const struct gpi_csr_sort *s, size_t chunk)
{
    struct room r;
    r.lines = (uint64_t *)(void *)(s->rooms + chunk * s->room_bytes);
    r.first = r.lines + s->buckets * LINE_WORDS;
    memcpy(r.first, s->starts + chunk * s->buckets, s->buckets * sizeof *r.first);
    return r;
}

/* The line of bucket b that ends before place `to`. */
ALWAYS_INLINE void send_line(const struct gpi_csr_sort *s, const struct room *r, size_t b,
                             uint64_t to)
{
    const uint64_t line = (to - 1) / LINE_WORDS * LINE_WORDS;
    const uint64_t from = line < r->first[b] ? r->first[b] : line;
    const uint64_t *source = r->lines + b * LINE_WORDS + from % LINE_WORDS;
    uint64_t *out = (uint64_t *)s->keys[0] + from;
    bytes_store(source, (size_t)(to - from) * sizeof *out, s->past_cache && to - from == LINE_WORDS,
                (char *)out);
}

/* Of 1 or 2 bytes, or of none. */
static uint64_t short_value(const struct gpi_csr_coo *c, uint64_t i)
{
    return c->value_bytes == 2   ? ((const uint16_t *)c->values)[i]
           : c->value_bytes == 1 ? ((const uint8_t *)c->values)[i]
                                 : 0;
}

/* value_bytes 0: a short value. */
ALWAYS_INLINE void scatter_with(const struct gpi_csr_sort *s, size_t chunk, size_t index_bytes,
                                size_t value_bytes)
{
    const struct gpi_csr_coo c = *s->c; /* which lines cannot be */
    const struct room r = room_of(s, chunk);
    const unsigned shift = s->bucket_shift;
    const uint64_t mask = ((uint64_t)1 << shift) - 1;
    uint64_t *next = s->starts + chunk * s->buckets;
    uint64_t i = chunk * s->chunk_items, end = gpi_min(i + s->chunk_items, c.nnz);
    unsigned bad = 0;
    for (; i < end; i++) {
        const uint64_t key = key_at(&c, i, index_bytes, &bad);
        const size_t b = (size_t)(key >> shift);
        const uint64_t to = next[b]++;
        r.lines[b * LINE_WORDS + to % LINE_WORDS] =
            (key & mask) << 32 |
            (value_bytes ? gpi_word_at(c.values, value_bytes, i) : short_value(&c, i));
        if (to % LINE_WORDS == LINE_WORDS - 1)
            send_line(s, &r, b, to + 1);
    }
    for (size_t b = 0; b < s->buckets; b++)
        if (next[b] > r.first[b] && next[b] % LINE_WORDS)
            send_line(s, &r, b, next[b]);
    stores_done();
}

static void scatter_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_sort *s = arg;
    const struct gpi_csr_coo *c = s->c;
    if (c->value_bytes == 4)
        WITH_INDEX_BYTES(index, c->index_bytes, scatter_with(s, chunk, index, 4));
    else
        WITH_INDEX_BYTES(index, c->index_bytes, scatter_with(s, chunk, index, 0));
}

/* ---- 3: sort a row ---- */

/* Whether it is in order; others end at the first key that falls. */
static bool ascends(const uint64_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (words[i - 1] >> 32 > words[i] >> 32)
            return false;
    return true;
}

static void insertion_sort(uint64_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t word = words[i];
        size_t j = i;
        for (; j > 0 && words[j - 1] >> 32 > word >> 32; j--)
            words[j] = words[j - 1];
        words[j] = word;
    }
}

/* By the bits [shift, shift + bits), stably. */
static void digit_pass(const uint64_t *words, size_t n, unsigned shift, unsigned bits,
                       uint64_t *out)
{
    uint64_t next[1 << ROW_BITS_MAX] = {0}, sum = 0;
    const size_t digits = (size_t)1 << bits, mask = digits - 1;
    for (size_t i = 0; i < n; i++) {
        if (i % LINE_WORDS == 0)
            prefetch_to_write(out + i);
        next[words[i] >> shift & mask]++;
    }
    for (size_t d = 0; d < digits; d++) {
        const uint64_t count = next[d];
        next[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        out[next[words[i] >> shift & mask]++] = words[i];
}

/* By all bits of the key from 0 to `bits`; other has room for as many. */
static void sort_by_digits(uint64_t *words, size_t n, unsigned bits, uint64_t *other)
{
    const unsigned wide = n < (size_t)1 << ROW_BITS_MAX ? COLUMN_DIGIT : ROW_BITS_MAX;
    uint64_t *from = words, *to = other;
    for (unsigned shift = 0; shift < bits; shift += wide) {
        digit_pass(from, n, 32 + shift, bits - shift < wide ? bits - shift : wide, to);
        uint64_t *const moved = to;
        to = from;
        from = moved;
    }
    if (from != words)
        memcpy(words, from, n * sizeof *words);
}

#if defined(__AVX512F__)
enum { REGISTER_ROW = 32, NUMBER_BITS = 5 };

/* Bit l: lane l is to have the larger one, when lanes that differ by `by` are compared in runs of
 * `run`, which ascend and fall in turn; of a run of 32 all lanes ascend. */
#define LARGER_OF(l, run, by) (((((l) & (by)) != 0) != (((l) & (run)) != 0)) << (l))
#define LARGER_4(l, run, by)                                                                       \
    (LARGER_OF(l, run, by) | LARGER_OF((l) + 1, run, by) | LARGER_OF((l) + 2, run, by) |           \
     LARGER_OF((l) + 3, run, by))
#define LARGER(run, by)                                                                            \
    (__mmask16)(LARGER_4(0, run, by) | LARGER_4(4, run, by) | LARGER_4(8, run, by) |               \
                LARGER_4(12, run, by))
#define EXCHANGED_1(v) _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xb1)
#define EXCHANGED_2(v) _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e)
#define EXCHANGED_4(v) _mm512_shuffle_i32x4(v, v, 0xb1)
#define EXCHANGED_8(v) _mm512_shuffle_i32x4(v, v, 0x4e)
#define COMPARE(v, run, by)                                                                        \
    do {                                                                                           \
        const __m512i other = EXCHANGED_##by(v);                                                   \
        v = _mm512_mask_max_epu32(_mm512_min_epu32(v, other), LARGER(run, by), v, other);          \
    } while (0)

/* A bitonic sequence of 16 becomes ascending. */
ALWAYS_INLINE __m512i merged_lanes(__m512i v)
{
    COMPARE(v, 32, 8);
    COMPARE(v, 32, 4);
    COMPARE(v, 32, 2);
    COMPARE(v, 32, 1);
    return v;
}

/* Batcher 1968: runs that ascend and fall in turn are bitonic sequences of twice the length. */
ALWAYS_INLINE __m512i sorted_lanes(__m512i v)
{
    COMPARE(v, 2, 1);
    COMPARE(v, 4, 2);
    COMPARE(v, 4, 1);
    COMPARE(v, 8, 4);
    COMPARE(v, 8, 2);
    COMPARE(v, 8, 1);
    return merged_lanes(v);
}

static void sort_in_registers(uint64_t *words, size_t n)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i odd = _mm512_add_epi32(_mm512_slli_epi32(lanes, 1), _mm512_set1_epi32(1));
    const __m512i even = _mm512_slli_epi32(lanes, 1), most = _mm512_set1_epi32(-1);
    __m512i words_of[4], keys[2], values[2], order[2];
    for (int k = 0; k < 4; k++) {
        const int left = (int)n - 8 * k;
        const __mmask8 there = left >= 8 ? 0xff : left > 0 ? (__mmask8)((1 << left) - 1) : 0;
        words_of[k] = _mm512_mask_loadu_epi64(most, there, words + 8 * k);
    }
    for (int k = 0; k < 2; k++) {
        keys[k] = _mm512_permutex2var_epi32(words_of[2 * k], odd, words_of[2 * k + 1]);
        values[k] = _mm512_permutex2var_epi32(words_of[2 * k], even, words_of[2 * k + 1]);
        const __m512i number = _mm512_or_si512(lanes, _mm512_set1_epi32(16 * k));
        const int left = (int)n - 16 * k;
        const __mmask16 there = left >= 16 ? 0xffff : left > 0 ? (__mmask16)((1 << left) - 1) : 0;
        order[k] =
            _mm512_mask_or_epi32(most, there, _mm512_slli_epi32(keys[k], NUMBER_BITS), number);
        order[k] = sorted_lanes(order[k]);
    }
    if (n > 16) {
        const __m512i falling =
            _mm512_permutexvar_epi32(_mm512_sub_epi32(_mm512_set1_epi32(15), lanes), order[1]);
        const __m512i first = order[0];
        order[0] = merged_lanes(_mm512_min_epu32(first, falling));
        order[1] = merged_lanes(_mm512_max_epu32(first, falling));
    }
    for (int k = 0; k < 4; k++) {
        const int left = (int)n - 8 * k;
        if (left <= 0)
            break;
        const __m512i key = _mm512_permutex2var_epi32(keys[0], order[k / 2], keys[1]);
        const __m512i value = _mm512_permutex2var_epi32(values[0], order[k / 2], values[1]);
        const __m512i pairs =
            _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i at = _mm512_add_epi32(pairs, _mm512_set1_epi32(k % 2 * 8));
        const __mmask8 there = left >= 8 ? 0xff : (__mmask8)((1 << left) - 1);
        _mm512_mask_storeu_epi64(words + 8 * k, there, _mm512_permutex2var_epi32(value, at, key));
    }
}
#endif

/* Entries of one row by column; other has room for as many. */
static void sort_row(const struct gpi_csr_sort *s, uint64_t *words, size_t n, uint64_t *other)
{
    const unsigned bits = s->c->col_bits < s->bucket_shift ? s->c->col_bits : s->bucket_shift;
    if (n < 2 || ascends(words, n))
        return;
#if defined(__AVX512F__)
    if (n <= REGISTER_ROW && bits + NUMBER_BITS < 32) {
        sort_in_registers(words, n);
        return;
    }
#endif
    if (n <= INSERTION_MAX)
        insertion_sort(words, n);
    else
        sort_by_digits(words, n, bits, other);
}

/* ---- 3: sort and merge a bucket ---- */

/* Sorts by the key and returns which side holds the result. */
static unsigned char sort_bucket(const struct gpi_csr_sort *s, uint64_t begin, size_t n)
{
    uint64_t *words = (uint64_t *)s->keys[0] + begin, *other = (uint64_t *)s->keys[1] + begin;
    const unsigned col_bits = s->c->col_bits;
    if (ascends(words, n))
        return 0;
    if (s->bucket_shift <= col_bits) { /* all of one row */
        sort_row(s, words, n, other);
        return 0;
    }
    const unsigned row_bits = s->bucket_shift - col_bits;
    if (row_bits > ROW_BITS_MAX) {
        sort_by_digits(words, n, s->bucket_shift, other);
        return 0;
    }
    digit_pass(words, n, 32 + col_bits, row_bits, other);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && other[end] >> (32 + col_bits) == other[i] >> (32 + col_bits);)
            end++;
        sort_row(s, other + i, end - i, words + i);
    }
    return 1;
}

/* The key of a word of bucket b. */
ALWAYS_INLINE uint64_t key_of(const struct gpi_csr_sort *s, size_t b, uint64_t word)
{
    return (uint64_t)b << s->bucket_shift | word >> 32;
}

static void report_again(const struct gpi_csr_sort *s, uint64_t key, uint64_t at)
{
    const struct gpi_csr_coo *c = s->c;
    const struct gpi_reporter reporter = gpi_reporter_of(s->ctx, NULL, (gp_dtype)0);
    gpi_report(&reporter, GPI_RULE_DUPLICATE, GPI_CSR_DUPLICATE_AT(at), key >> c->col_bits,
               key & (((uint64_t)1 << c->col_bits) - 1));
}

/* Values of a run of equal keys, one after the other in the words. */
static uint32_t merged_value(const struct gpi_csr_coo *c, const uint64_t *words, size_t n)
{
    return (uint32_t)gpi_csr_merge(c->value_dtype, c->duplicates, words, sizeof *words, n);
}

/* Merge runs of equal keys in place; returns how many are left. */
static size_t merge_bucket(const struct gpi_csr_sort *s, size_t b, uint64_t *words, size_t n)
{
    const struct gpi_csr_coo *c = s->c;
    bool reported = c->duplicates != GP_DUPLICATES_ERROR; /* only the first of a bucket can count */
    size_t to = 0;
    while (to + 1 < n && words[to] >> 32 != words[to + 1] >> 32)
        to++; /* as they are */
    for (size_t i = to, end; i < n; i = end, to++) {
        for (end = i + 1; end < n && words[end] >> 32 == words[i] >> 32;)
            end++;
        const uint64_t word = words[i];
        words[to] = word;
        if (end - i == 1)
            continue;
        if (!reported)
            report_again(s, key_of(s, b, word), s->begins[b] + i + 1);
        reported = true;
        words[to] = word >> 32 << 32 | merged_value(c, words + i, end - i);
    }
    return to;
}

static void finish_bucket(void *arg, size_t b)
{
    const struct gpi_csr_sort *s = arg;
    const uint64_t begin = s->begins[b];
    size_t n = (size_t)(s->begins[b + 1] - begin);
    s->places[b] = 0;
    s->last_rows[b] = NO_ROW;
    if (n == 0)
        return;
    s->side[b] = sort_bucket(s, begin, n);
    uint64_t *words = (uint64_t *)s->keys[s->side[b]] + begin;
    if (s->c->duplicates != GP_DUPLICATES_KEEP)
        n = merge_bucket(s, b, words, n);
    s->places[b] = n;
    s->last_rows[b] = key_of(s, b, words[n - 1]) >> s->c->col_bits;
}

/* ---- 4: write ---- */

ALWAYS_INLINE void write_with(const struct gpi_csr_sort *s, size_t b, const uint64_t *words,
                              size_t n, size_t index_bytes, size_t offset_bytes)
{
    const struct gpi_csr_coo c = *s->c; /* which outputs cannot be */
    const uint64_t place = s->places[b], mask = ((uint64_t)1 << c.col_bits) - 1;
    const uint64_t first = (uint64_t)b << s->bucket_shift; /* key */
    uint64_t next = s->last_rows[b] + 1;                   /* NO_ROW + 1 is 0 */
    for (size_t i = 0; i < n; i++)
        gpi_word_put(c.out_cols, index_bytes, place + i, (first | words[i] >> 32) & mask);
    for (size_t i = 0; c.row_pointers && i < n; i++) {
        const uint64_t row = (first | words[i] >> 32) >> c.col_bits;
        if (row >= next) {
            fill_pointers(c.row_pointers, next, row + 1, place + i, offset_bytes);
            next = row + 1;
        }
    }
}

ALWAYS_INLINE void values_with(const struct gpi_csr_coo *c, uint64_t place, const uint64_t *words,
                               size_t n, size_t value_bytes)
{
    for (size_t i = 0; i < n; i++)
        gpi_word_put(c->out_values, value_bytes, place + i, words[i]);
}

static void write_bucket(void *arg, size_t b)
{
    const struct gpi_csr_sort *s = arg;
    const struct gpi_csr_coo *c = s->c;
    const size_t n = (size_t)(s->places[b + 1] - s->places[b]);
    if (n == 0)
        return;
    const uint64_t *words = (const uint64_t *)s->keys[s->side[b]] + s->begins[b];
    if (c->index_bytes == 8)
        write_with(s, b, words, n, 8, 8);
    else
        WITH_INDEX_BYTES(offset, c->offset_bytes, write_with(s, b, words, n, 4, offset));
    if (c->value_bytes == 4)
        values_with(c, s->places[b], words, n, 4);
    else if (c->value_bytes == 2)
        values_with(c, s->places[b], words, n, 2);
    else if (c->value_bytes)
        values_with(c, s->places[b], words, n, 1);
}

void PASTE(gpi_csr_sort_packed_, GPI_ISA_SUFFIX)(struct gpi_csr_sort *s);
void PASTE(gpi_csr_sort_packed_, GPI_ISA_SUFFIX)(struct gpi_csr_sort *s)
{
    const struct gpi_csr_coo *c = s->c;
    const int threads = gpi_threads_for(s->ctx->threads, c->nnz * 8);
    gpi_parallel_for(threads, s->chunks, count_chunk, s);
    scan_counts(s);
    gpi_parallel_for(threads, s->chunks, scatter_chunk, s);
    gpi_parallel_for(threads, s->buckets, finish_bucket, s);
    scan_places(s);
    gpi_parallel_for(threads, s->buckets, write_bucket, s);
    end_of_matrix(s);
}
