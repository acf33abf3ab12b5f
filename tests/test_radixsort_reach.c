/* SPDX-License-Identifier: MIT */
/*
 * Keys of 4 bytes that lie close together, wherever that is, so that few digits tell them apart:
 * one captured sort, replayed with keys of other reaches.
 */
#include "radixsort_distributions.h"

struct reach {
    uint32_t least; /* from this order word on, 2^32 being 0 again, as many words */
    uint32_t words;
    bool away; /* and one far from them, which hardly a sample has */
};

static const struct reach reaches[] = {
    {0x7ffffc18, 2000, false}, /* around zero */
    {0xfffffc18, 2000, false}, /* both ends of the range */
    {0x7fffff80, 256, false},
    {0x7fffff80, 257, false}, /* a digit, and a word more */
    {0x00ffff00, 65536, false},
    {0x00ffff01, 65536, false},
    {0x01fffe00, 65537, false},
    {0x7ff80000, 1 << 24, false},
    {0x7ff80000, (1 << 24) + 1, false}, /* three digits */
    {0x3ffff000, 70000, false},
    {0x1ffffff0, 3, false},
    {0, 3000, false},
    {0xfffff448, 3000, false}, /* the first words, and the last */
    {0x7ffffc18, 2000, true},
    {0xfff00000, 50000, true},
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
        const uint32_t near = r->least + (uint32_t)t_random_below(&state, r->words);
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

static Suite *suite(void)
{
    Suite *s = suite_create("radixsort_reach");
    TCase *c = t_case(s, "replay cuda");
    tcase_add_loop_test(c, test_radix_sort_reach_replay_cuda, 0, 5 * WAYS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
