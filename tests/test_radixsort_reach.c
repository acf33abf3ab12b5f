/* SPDX-License-Identifier: MIT */
/*
 * Keys that few digits tell apart: of 4 bytes, as they lie close together, wherever that is; of 8,
 * as they vary in few bits. One captured sort, replayed with keys of other reaches, or other bits.
 */
#include "radixsort_distributions.h"

struct reach {
    uint32_t least; /* from this order word on, 2^32 being 0 again, as many words */
    uint32_t words;
    bool away;   /* and one far from them, which hardly a sample has */
    bool skewed; /* more of them are close to the least */
};

static const struct reach reaches[] = {
    {0x7ffffc18, 2000, false, false}, /* around zero */
    {0xfffffc18, 2000, false, false}, /* both ends of the range */
    {0x7fffff80, 256, false, false},
    {0x7fffff80, 257, false, false}, /* a digit, and a word more */
    {0x00ffff00, 65536, false, false},
    {0x00ffff01, 65536, false, false},
    {0x01fffe00, 65537, false, false},
    {0x7ff80000, 1 << 24, false, false},
    {0x7ff80000, (1 << 24) + 1, false, false}, /* three digits */
    {0x3ffff000, 70000, false, false},
    {0x1ffffff0, 3, false, false},
    {0, 3000, false, false},
    {0xfffff448, 3000, false, false}, /* the first words, and the last */
    {0x7ffffc18, 2000, true, false},
    {0xfff00000, 50000, true, false},
    {0x7ff80000, 1 << 22, false, true},
    {0x7ff80000, 1 << 22, true, true}, /* more than three digits, as only counts say */
    {0x7fff8000, 1 << 14, true, true},
};
enum { COUNT = sizeof reaches / sizeof *reaches };

/* What is compared, and whether the largest come first, which of integers are complements. */
struct way {
    gp_dtype dtype;
    bool descending;
    int begin, end;
};

static const struct way ways[] = {{GP_U32, false, 0, 32}, {GP_I32, false, 0, 32},
                                  {GP_F32, false, 0, 32}, {GP_I32, true, 0, 32},
                                  {GP_U32, false, 4, 32}, {GP_U32, true, 5, 27}};
enum { WAYS = sizeof ways / sizeof *ways };

static uint32_t key_of_word(gp_dtype dtype, uint32_t word)
{
    const uint32_t sign = 0x80000000;
    if (dtype == GP_U32)
        return word;
    return dtype == GP_I32 || word & sign ? word ^ sign : ~word;
}

static void fill(const struct reach *r, const struct way *w, size_t n, uint32_t *keys)
{
    uint64_t state = t_seed() + r->words;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = t_random_below(&state, r->words);
        for (int j = 0; j < 2 && r->skewed; j++)
            at = at * t_random_below(&state, r->words) / r->words;
        const uint32_t near = r->least + (uint32_t)at;
        const uint32_t word = r->away && i == n / 2 + 7 ? r->least ^ 0x77700000 : near;
        keys[i] = key_of_word(w->dtype, word) << w->begin << (32 - w->end) >> (32 - w->end);
    }
}

static void complement(uint32_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = ~keys[i];
}

/* Many keys with some of the reaches. */
static void check_replays(const struct way *w, size_t n, bool pairs)
{
    const size_t bytes = n * 4;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = w->descending ? GP_DESCENDING : GP_ASCENDING;
    o.begin_bit = w->begin;
    o.end_bit = w->end;
    uint32_t *keys = t_host(bytes), *sorted = t_host(bytes), *index = t_host(bytes);
    t_array k = t_new(bytes, 0), ko = t_new(bytes, 0), io = t_new(bytes, 0);
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
    t_array v = t_new_from(index, bytes, 0);
    size_t need;
    T_OK(gp_radix_sort_workspace_bytes(NULL, w->dtype, pairs ? 4 : 0, n, &o, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    ck_assert(t_capture_begin());
    if (pairs)
        T_OK(gp_radix_sort_pairs(t_ctx(), w->dtype, k.data, 4, v.data, n, ko.data, io.data, &o));
    else
        T_OK(gp_radix_sort(t_ctx(), w->dtype, k.data, n, ko.data, &o));
    t_capture_end();
    const int replays = n < 2000000 ? COUNT : COUNT / 3, from = (int)(w - ways) * replays;
    for (int r = 0; r < replays; r++) {
        fill(&reaches[(from + r) % COUNT], w, n, keys);
        t_put(&k, keys, bytes);
        t_replay();
        t_get(&ko, sorted, bytes);
        t_get(&io, index, bytes);
        if (w->descending)
            complement(keys, n), complement(sorted, n);
        if (pairs)
            check_pairs(w->dtype, keys, sorted, index, n);
        else
            check_keys_alone(w->dtype, keys, sorted, n);
    }
    t_capture_free();
    t_free(&k), t_free(&v), t_free(&ko), t_free(&io);
    free(keys), free(sorted), free(index);
}

START_TEST(test_radix_sort_reach_replay_cuda)
{
    /* of one block that looks, of buckets and passes, of all blocks that look, of samples */
    static const size_t sizes[] = {100003, 1000003, 2621441, 4200007, 5255225};
    const struct way *w = &ways[_i % WAYS];
    const size_t n = t_at_most(sizes[_i / WAYS]);
    check_replays(w, n, false);
    check_replays(w, n, true);
}
END_TEST

/* Bits in which words vary, those of them that hardly a word has, and one word of other bits. */
struct telling {
    uint64_t vary, rare, other;
};

/* Of bits 3 to 60 digits have 8, 2, 8 and 5 bits, or 8, 8, 7, 8, 8 and 8, the last six as digits
 * are counted twice: a pass with less bits than the one after it. */
static const struct telling tellings[] = {
    {0x001fff00401004ff, 0x001f000000000000, 0},
    {0x000fffff000fffff, 0x000ffc00000ffc00, 0x0123456789abcdef},
    {0x000fffff000fffff, 0x000ffc00000ffc00, 0},
};
enum { TELLINGS = sizeof tellings / sizeof *tellings };

static void fill_bits(const struct telling *t, uint64_t compared, size_t n, uint64_t *keys)
{
    uint64_t state = t_seed() + t->vary;
    for (size_t i = 0; i < n; i++) {
        const uint64_t random = t_random(&state), often = random >> 60 ? ~t->rare : UINT64_MAX;
        keys[i] = (i == n / 3 && t->other ? t->other : random & t->vary & often) & compared;
    }
}

/* None is negative, so all types have the order of GP_U64. */
static void check_bits(gp_dtype dtype, size_t value_bytes, bool some, size_t n)
{
    const size_t bytes = n * 8;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    if (some)
        o.order = GP_DESCENDING, o.begin_bit = 3, o.end_bit = 61;
    uint64_t *keys = t_host(bytes), *sorted = t_host(bytes), *values = t_host(bytes);
    uint32_t *index = t_host(n * 4);
    for (size_t i = 0; i < n; i++)
        values[i] = index[i] = (uint32_t)i;
    t_array k = t_new(bytes, 0), ko = t_new(bytes, 0), vo = t_new(bytes, 0);
    t_array v = t_new_from(value_bytes == 8 ? (void *)values : index, n * value_bytes, 0);
    size_t need;
    T_OK(gp_radix_sort_workspace_bytes(NULL, dtype, value_bytes, n, &o, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    ck_assert(t_capture_begin());
    if (value_bytes)
        T_OK(gp_radix_sort_pairs(t_ctx(), dtype, k.data, value_bytes, v.data, n, ko.data, vo.data,
                                 &o));
    else
        T_OK(gp_radix_sort(t_ctx(), dtype, k.data, n, ko.data, &o));
    t_capture_end();
    for (int r = 0; r < (n < 8 << 20 ? 2 * TELLINGS : 2); r++) {
        fill_bits(&tellings[r % TELLINGS], some ? 0x1ffffffffffffff8 : UINT64_MAX, n, keys);
        t_put(&k, keys, bytes);
        t_replay();
        t_get(&ko, sorted, bytes);
        t_get(&vo, value_bytes == 8 ? (void *)values : index, n * value_bytes);
        for (size_t i = 0; i < n && value_bytes == 8; i++)
            index[i] = values[i] < n ? (uint32_t)values[i] : UINT32_MAX;
        for (size_t i = 0; i < n && some; i++)
            keys[i] = ~keys[i], sorted[i] = ~sorted[i];
        if (value_bytes)
            check_pairs(GP_U64, keys, sorted, index, n);
        else
            check_keys_alone(GP_U64, keys, sorted, n);
    }
    t_capture_free();
    t_free(&k), t_free(&v), t_free(&ko), t_free(&vo);
    free(keys), free(sorted), free(values), free(index);
}

START_TEST(test_radix_sort_bits_replay_cuda)
{
    static const gp_dtype dtypes[] = {GP_U64, GP_I64, GP_F64};
    static const size_t sizes[] = {4200007, 2621441, (64 << 20) + 4711}; /* of pairs the last one */
    const size_t n = t_at_most(sizes[_i / 3]);
    for (size_t value_bytes = 0; value_bytes <= 8; value_bytes += 4)
        if (_i < 6 || value_bytes == 4 * (size_t)(_i - 5))
            check_bits(dtypes[_i % 3], value_bytes, _i % 2 || _i > 5, n);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("radixsort_reach");
    TCase *c = t_case(s, "replay cuda");
    tcase_add_loop_test(c, test_radix_sort_reach_replay_cuda, 0, 5 * WAYS);
    c = t_case(s, "bits cuda");
    tcase_add_loop_test(c, test_radix_sort_bits_replay_cuda, 0, 8);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
