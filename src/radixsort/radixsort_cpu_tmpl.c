/* SPDX-License-Identifier: MIT */
/*
 * The CPU sort of one key width: compiled with GPI_KEY_BITS=8|16|32|64 and per instruction set.
 * Results do not depend on parts, threads or instruction set: every pass is stable.
 */
#include "radixsort/radixsort_cpu.h"

#include <assert.h>
#include <string.h>

#include "core/threads.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define KEY PASTE(PASTE(uint, GPI_KEY_BITS), _t)
#if GPI_KEY_BITS == 8
#define SORT PASTE(gpi_radixsort_k1_cpu_, GPI_ISA_SUFFIX)
#define SEGMENT PASTE(gpi_radixsort_segment_k1_cpu_, GPI_ISA_SUFFIX)
#elif GPI_KEY_BITS == 16
#define SORT PASTE(gpi_radixsort_k2_cpu_, GPI_ISA_SUFFIX)
#define SEGMENT PASTE(gpi_radixsort_segment_k2_cpu_, GPI_ISA_SUFFIX)
#elif GPI_KEY_BITS == 32
#define SORT PASTE(gpi_radixsort_k4_cpu_, GPI_ISA_SUFFIX)
#define SEGMENT PASTE(gpi_radixsort_segment_k4_cpu_, GPI_ISA_SUFFIX)
#else
#define SORT PASTE(gpi_radixsort_k8_cpu_, GPI_ISA_SUFFIX)
#define SEGMENT PASTE(gpi_radixsort_segment_k8_cpu_, GPI_ISA_SUFFIX)
#endif

enum {
    KEY_BYTES = GPI_KEY_BITS / 8,
    BINS = GPI_RADIX_BINS,
    BLOCK = 1024, /* items whose digits are found in one vectorised loop */
    LINE = 64,
    PASSES_MAX = GPI_KEY_BITS / GPI_RADIX_BITS
};

/* Below this the arrays stay in the second-level cache, and items go straight to their place. */
#define DIRECT_BYTES ((size_t)256 << 10)
/* Above this a sort by digits leaves the caches in every pass: cut the keys into buckets first. */
#define BUCKETS_BYTES ((size_t)4 << 20)
/* Above this the output is written past the caches. */
#define STREAM_BYTES ((size_t)16 << 20)

typedef uint32_t bins_u32[BINS];
typedef void move_fn(void *sort, size_t part);

/* One pass moves items by the digit (word >> shift) & mask. */
struct digit {
    int shift;
    uint8_t mask;
};

struct sort {
    const struct gpi_radix_cpu_job *c;
    uint64_t varying; /* bits in which some words differ, see radixsort_cpu_split.h */
    struct digit digits[PASSES_MAX];
    int passes;
    uint64_t (*places)[BINS]; /* [part]: where its next item of each bin goes */
    bins_u32 *now;            /* [part]: counts of the pass at hand */
    bins_u32 *counts;         /* [part][pass] */
    move_fn *move;
    int pass;
    bool stream; /* write past the caches */
    const KEY *keys_src;
    KEY *keys_dst;
    const void *values_src; /* NULL: the indices */
    void *values_dst;
};

static size_t part_begin(const struct gpi_radix_cpu_job *c, size_t part)
{
    return gpi_radixsort_part_begin(c->job.n, c->parts, part);
}

/* Order words of up to BLOCK keys. Branches outside the loops let the compiler vectorise them. */
static void words_of(const struct gpi_radix_order *o, const KEY *restrict keys, size_t n,
                     KEY *restrict words)
{
    const KEY flip = (KEY)o->flip, sign = (KEY)o->sign, inf = (KEY)o->inf;
    if (inf == 0)
        for (size_t i = 0; i < n; i++)
            words[i] = keys[i] ^ flip;
    else
        for (size_t i = 0; i < n; i++)
            words[i] = (KEY)(GPI_RADIX_FLOAT(KEY, keys[i], sign, inf) ^ flip);
}

static void digits_of(const struct gpi_radix_order *o, const KEY *restrict keys, size_t n,
                      struct digit g, uint8_t *restrict digits)
{
    KEY words[BLOCK];
    if (o->inf) {
        words_of(o, keys, n, words);
        for (size_t i = 0; i < n; i++)
            digits[i] = (uint8_t)((uint8_t)(words[i] >> g.shift) & g.mask);
        return;
    }
    const KEY flip = (KEY)o->flip;
    for (size_t i = 0; i < n; i++)
        digits[i] = (uint8_t)((uint8_t)((KEY)(keys[i] ^ flip) >> g.shift) & g.mask);
}

/* Four tables, so that runs of one digit do not wait for their own increments. */
static void count_digits(const uint8_t *digits, size_t n, bins_u32 *tables)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        tables[0][digits[i]]++;
        tables[1][digits[i + 1]]++;
        tables[2][digits[i + 2]]++;
        tables[3][digits[i + 3]]++;
    }
    for (; i < n; i++)
        tables[0][digits[i]]++;
}

static void fold_tables(bins_u32 *tables, uint32_t *counts)
{
    for (int b = 0; b < BINS; b++)
        counts[b] = tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}

/* 1. All digits of one part in one read. */
static void count_all_part(void *arg, size_t part)
{
    struct sort *s = arg;
    const struct gpi_radix_job *j = &s->c->job;
    const KEY *keys = j->keys_in;
    size_t end = part_begin(s->c, part + 1);
    bins_u32 tables[PASSES_MAX][4];
    KEY words[BLOCK];
    uint8_t digits[BLOCK];
    memset(tables, 0, sizeof tables[0] * (size_t)s->passes);
    for (size_t i = part_begin(s->c, part); i < end; i += BLOCK) {
        size_t n = end - i < BLOCK ? end - i : BLOCK;
        words_of(&j->order, keys + i, n, words);
        for (int p = 0; p < s->passes; p++) {
            struct digit g = s->digits[p];
            for (size_t k = 0; k < n; k++)
                digits[k] = (uint8_t)((uint8_t)(words[k] >> g.shift) & g.mask);
            count_digits(digits, n, tables[p]);
        }
    }
    for (int p = 0; p < s->passes; p++)
        fold_tables(tables[p], s->counts[part * (size_t)s->passes + (size_t)p]);
}

/* 4. One digit of one part. */
static void count_part(void *arg, size_t part)
{
    struct sort *s = arg;
    size_t end = part_begin(s->c, part + 1);
    bins_u32 tables[4];
    uint8_t digits[BLOCK];
    memset(tables, 0, sizeof tables);
    for (size_t i = part_begin(s->c, part); i < end; i += BLOCK) {
        size_t n = end - i < BLOCK ? end - i : BLOCK;
        digits_of(&s->c->job.order, s->keys_src + i, n, s->digits[s->pass], digits);
        count_digits(digits, n, tables);
    }
    fold_tables(tables, s->now[part]);
}

/* 2. Where each part begins in each bin. */
static void find_places(struct sort *s)
{
    uint64_t sum = 0;
    for (int b = 0; b < BINS; b++)
        for (size_t part = 0; part < s->c->parts; part++) {
            s->places[part][b] = sum;
            sum += s->now[part][b];
        }
}

/* 3. Move one part; one copy of the code per value size. */
#define VALUE_BYTES 0
#include "radixsort/radixsort_cpu_move.h"
#define VALUE_BYTES 1
#include "radixsort/radixsort_cpu_move.h"
#define VALUE_BYTES 2
#include "radixsort/radixsort_cpu_move.h"
#define VALUE_BYTES 4
#include "radixsort/radixsort_cpu_move.h"
#define VALUE_BYTES 8
#include "radixsort/radixsort_cpu_move.h"
#define VALUE_BYTES 16
#include "radixsort/radixsort_cpu_move.h"

#define MOVES(v)                                                                                   \
    {                                                                                              \
        move_direct_v##v, move_buffered_v##v                                                       \
    }

static move_fn *move_of(size_t value_bytes, bool buffered)
{
    static move_fn *const table[17][2] = {[0] = MOVES(0), [1] = MOVES(1), [2] = MOVES(2),
                                          [4] = MOVES(4), [8] = MOVES(8), [16] = MOVES(16)};
    assert(table[value_bytes][0]);
    return table[value_bytes][buffered];
}

/* Split the bit range evenly over the passes. */
static void choose_digits(struct sort *s)
{
    const struct gpi_radix_job *j = &s->c->job;
    int bits = j->end_bit - j->begin_bit, shift = j->begin_bit;
    for (int p = 0; p < s->passes; p++) {
        int width = bits / s->passes + (p < bits % s->passes);
        s->digits[p] = (struct digit){shift, (uint8_t)((1u << width) - 1)};
        shift += width;
    }
}

static bool digit_is_constant(const struct sort *s, int pass)
{
    for (int b = 0; b < BINS; b++) {
        uint64_t sum = 0;
        for (size_t part = 0; part < s->c->parts; part++)
            sum += s->counts[part * (size_t)s->passes + (size_t)pass][b];
        if (sum)
            return sum == s->c->job.n;
    }
    return true;
}

/* The first pass has its counts already, and so have all when there is one part, whose counts no
 * move changes. Otherwise count what the pass before left. */
static void run_pass(struct sort *s, int pass, bool first)
{
    const struct gpi_radix_cpu_job *c = s->c;
    s->pass = pass;
    if (first || c->parts == 1)
        for (size_t part = 0; part < c->parts; part++)
            memcpy(s->now[part], s->counts[part * (size_t)s->passes + (size_t)pass],
                   sizeof s->now[part]);
    else
        gpi_parallel_for(c->threads, c->parts, count_part, s);
    find_places(s);
    gpi_parallel_for(c->threads, c->parts, s->move, s);
}

/* Where pass k of num_passes writes: passes alternate, and the last one writes the outputs. */
static void aim_pass(struct sort *s, int k, int num_passes)
{
    const struct gpi_radix_cpu_job *c = s->c;
    bool to_out = (num_passes - 1 - k) % 2 == 0;
    s->keys_dst = to_out ? c->job.keys_out : c->keys_tmp;
    s->values_dst = to_out ? c->job.values_out : c->values_tmp;
}

/* What the first pass would write over moves to the other array. */
static void clear_the_way(struct sort *s)
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

static void run_passes(struct sort *s, const int *active, int num_active)
{
    for (int k = 0; k < num_active; k++) {
        aim_pass(s, k, num_active);
        if (k == 0)
            clear_the_way(s);
        run_pass(s, active[k], k == 0);
        s->keys_src = s->keys_dst;
        s->values_src = s->values_dst;
    }
}

static void open_sort(struct sort *s, const struct gpi_radix_cpu_job *c, int passes)
{
    size_t bytes = c->job.n * (KEY_BYTES + c->job.value_bytes);
    s->c = c;
    s->passes = passes;
    s->places = c->counts;
    s->now = (void *)(s->places + c->parts);
    s->counts = s->now + c->parts;
    s->move = move_of(c->job.value_bytes, bytes > DIRECT_BYTES);
    s->stream = bytes >= STREAM_BYTES;
    s->keys_src = c->job.keys_in;
    s->values_src = c->job.values_in;
}

static void sort_by_digits(const struct gpi_radix_cpu_job *c)
{
    struct sort s;
    int active[PASSES_MAX], num_active = 0;
    int bits = c->job.end_bit - c->job.begin_bit;
    open_sort(&s, c, (bits + GPI_RADIX_BITS - 1) / GPI_RADIX_BITS);
    choose_digits(&s);
    gpi_parallel_for(c->threads, c->parts, count_all_part, &s);
    for (int p = 0; p < s.passes && p < PASSES_MAX; p++)
        if (!digit_is_constant(&s, p))
            active[num_active++] = p;
    if (num_active == 0)
        gpi_radixsort_copy_all(c);
    run_passes(&s, active, num_active);
}

#include "radixsort/radixsort_cpu_split.h"

#include "radixsort/radixsort_cpu_segment.h"

#if GPI_KEY_BITS <= 16
#include "radixsort/radixsort_cpu_count.h"
#endif

gpi_radixsort_cpu_fn SORT;

void SORT(const struct gpi_radix_cpu_job *c)
{
#if GPI_KEY_BITS <= 16
    if (gpi_radixsort_by_count(&c->job)) {
        sort_by_count(c);
        return;
    }
#endif
    sort_words(c);
}
