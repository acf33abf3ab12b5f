/* SPDX-License-Identifier: MIT */
/* Compaction on a GPU: graphs, CUB, past 2^32 items. */
#include "compact_check.h"

#include <stdlib.h>
#include <string.h>

/* ---- CUDA only ------------------------------------------------------------------------------- */

/* Two calls in one graph, replayed with other data and another n. */
START_TEST(test_compact_capture_and_replay)
{
    enum { N = 300000 };
    uint64_t seed = t_seed(), n = N;
    size_t bytes = 0;
    gp_compact_desc items = compact_desc(GP_COMPACT_ITEMS, 4),
                    split = compact_desc(GP_COMPACT_PARTITION, 4);
    uint32_t *in = t_host(N * 4), *expected = t_host(N * 4), *actual = t_host(N * 4);
    t_array in_d = t_new(N * 4, 0), keep_d = t_new(N, 0), n_d = t_new(8, 0);
    t_array out = t_new(N * 4, 0), out2 = t_new(N * 4, 0), count = t_new(8, 0),
            count2 = t_new(8, 0);
    T_OK(gp_compact_workspace_bytes(NULL, &items, N, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    items.device_n = split.device_n = n_d.data;
    if (t_capture_begin()) {
        T_OK(gp_compact_by(t_ctx(), &items, in_d.data, keep_d.data, N, out.data, count.data));
        T_OK(gp_compact_by(t_ctx(), &split, in_d.data, keep_d.data, N, out2.data, count2.data));
        t_capture_end();
        for (int round = 0; round < 5; round++) {
            uint8_t *keep = compact_flags(KEEP_RUNS + round, N, &seed);
            n = round == 3 ? 0 : N - t_random_below(&seed, N / 2);
            t_fill_bits(GP_U32, in, N, &seed);
            t_put(&in_d, in, N * 4);
            t_put(&keep_d, keep, N);
            t_put(&n_d, &n, 8);
            t_replay();
            size_t kept = compact_oracle(&items, in, keep, n, expected);
            ck_assert_uint_eq(t_get_u64(&count), kept);
            t_get(&out, actual, kept * 4);
            t_same_bytes("compact", expected, actual, kept * 4);
            ck_assert_uint_eq(t_get_u64(&count2), compact_oracle(&split, in, keep, n, expected));
            t_get(&out2, actual, n * 4);
            t_same_bytes("partition", expected, actual, n * 4);
            free(keep);
        }
        t_capture_free();
    }
    t_array *all[] = {&in_d, &keep_d, &n_d, &out, &out2, &count, &count2};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        t_free(all[i]);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

START_TEST(test_compact_cub_agrees)
{
    enum { N = 100003 };
    uint64_t seed = t_seed(), value = 0x4000000040004040;
    size_t width = compact_widths[_i];
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, N, &seed);
    char *in = compact_items(width, N);
    t_array in_d = t_new_from(in, N * width, 0), keep_d = t_new_from(keep, N, 0);
    t_array out = t_new(N * width, 0), count = t_new(8, 0);
    char *expected = t_host(N * width), *actual = t_host(N * width);
    for (int c = 0; c <= (width < 16 ? GP_GE : 0) && t_has_cub(); c++) {
        static const gp_dtype by_width[] = {GP_I8, GP_BF16, GP_F32, GP_U64};
        gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, width);
        d.algorithm = GP_ALGORITHM_CUB;
        d.compare = (gp_compare)c;
        d.dtype = c ? by_width[_i] : (gp_dtype)0;
        d.value = &value;
        size_t kept = compact_oracle(&d, in, keep, N, expected);
        T_OK(
            gp_compact_by(t_ctx(), &d, in_d.data, c ? NULL : keep_d.data, N, out.data, count.data));
        ck_assert_uint_eq(t_get_u64(&count), kept);
        t_get(&out, actual, kept * width);
        t_same_bytes("CUB", expected, actual, kept * width);
    }
    t_free(&in_d);
    t_free(&keep_d);
    t_free(&out);
    t_free(&count);
    free(keep);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

/* More than 2^32 bytes that repeat one chunk, compacted by themselves as flags. */
START_TEST(test_compact_large)
{
    enum { CHUNK = 1 << 20 };
    const size_t n = ((size_t)1 << 32) + 3 * CHUNK + 12345;
    uint64_t seed = t_seed();
    uint8_t *chunk = compact_flags(KEEP_50_PERCENT, CHUNK, &seed), *kept = t_host(CHUNK),
            *actual = t_host(CHUNK);
    gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, 1);
    void *in, *out, *count;
    uint64_t total;
    T_OK(gp_malloc(t_ctx(), n, &in));
    T_OK(gp_malloc(t_ctx(), n, &out));
    T_OK(gp_malloc(t_ctx(), 8, &count));
    for (size_t i = 0; i < n; i += CHUNK)
        T_OK(gp_copy(t_ctx(), chunk, n - i < CHUNK ? n - i : CHUNK, (char *)in + i));
    size_t per_chunk = compact_oracle(&d, chunk, chunk, CHUNK, kept);
    size_t rest = compact_oracle(&d, chunk, chunk, n % CHUNK, actual);
    T_OK(gp_compact(t_ctx(), 1, in, in, n, out, count));
    T_OK(gp_copy(t_ctx(), count, 8, &total));
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(total, n / CHUNK * per_chunk + rest);
    for (size_t i = 0; i < total; i += per_chunk) {
        size_t bytes = total - i < per_chunk ? total - i : per_chunk;
        T_OK(gp_copy(t_ctx(), (char *)out + i, bytes, actual));
        T_OK(gp_context_synchronize(t_ctx()));
        t_same_bytes("a chunk", kept, actual, bytes);
    }
    T_OK(gp_free(t_ctx(), in));
    T_OK(gp_free(t_ctx(), out));
    T_OK(gp_free(t_ctx(), count));
    free(chunk);
    free(kept);
    free(actual);
}
END_TEST

/* Few set flags, some past 2^32: their 64-bit positions. */
START_TEST(test_compact_large_indices)
{
    enum { CHUNK = 1 << 24, SET = 6 };
    const uint64_t set[SET] = {5, 4294967295, 4294967296, 4294967299, 4299161600, 4299161700};
    const size_t n = set[SET - 1] + 1;
    const uint8_t one = 1;
    char *zeros = t_host(CHUNK);
    void *keep;
    uint64_t actual[SET];
    t_array out = t_new(sizeof actual, 0), count = t_new(8, 0);
    gp_compact_desc d = compact_desc(GP_COMPACT_INDICES, 0);
    memset(zeros, 0, CHUNK);
    d.index_dtype = GP_U64;
    d.capacity = SET;
    T_OK(gp_malloc(t_ctx(), n, &keep));
    for (size_t i = 0; i < n; i += CHUNK)
        T_OK(gp_copy(t_ctx(), zeros, n - i < CHUNK ? n - i : CHUNK, (char *)keep + i));
    for (int i = 0; i < SET; i++)
        T_OK(gp_copy(t_ctx(), &one, 1, (char *)keep + set[i]));
    T_OK(gp_compact_by(t_ctx(), &d, NULL, keep, n, out.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), SET);
    t_get(&out, actual, sizeof actual);
    t_same_bytes("positions", set, actual, sizeof set);
    t_check_guards(&out);
    T_OK(gp_free(t_ctx(), keep));
    t_free(&out);
    t_free(&count);
    free(zeros);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("compact_cuda");
    TCase *c = t_case(s, "cuda");
    tcase_add_test(c, test_compact_capture_and_replay);
    tcase_add_loop_test(c, test_compact_cub_agrees, 0, COMPACT_DIRECT_WIDTHS);
    c = t_case(s, "large");
    tcase_add_test(c, test_compact_large);
    tcase_add_test(c, test_compact_large_indices);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
