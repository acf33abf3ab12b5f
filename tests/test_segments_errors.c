/* SPDX-License-Identifier: MIT */
/* Segmented scan: everything that is refused, and offsets that break their rule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/segments.h>

#include "oracle.h"
#include "segments.h"

enum { N = 64 };

/* Arrays of N items, and a good descriptor; the tests change one thing at a time. */
static struct fixture {
    t_array in, out, offsets, heads, keys;
    gp_scan_desc desc;
} f;

static void setup(void)
{
    uint32_t offsets[3] = {0, 10, N};
    f.in = t_new(N * 8 + 8, 0);
    f.out = t_new(N * 8 + 8, 0);
    f.offsets = t_new_from(offsets, sizeof offsets, 0);
    f.heads = t_new(N, 0);
    f.keys = t_new(N * 8, 0);
    f.desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, (gp_dtype)0, GP_SUM);
}

static void teardown(void)
{
    t_free(&f.in);
    t_free(&f.out);
    t_free(&f.offsets);
    t_free(&f.heads);
    t_free(&f.keys);
}

/* All four calls and their workspace functions refuse the descriptor. */
static void refuse_desc(gp_status expected, const gp_scan_desc *d, bool in_workspace)
{
    gp_context *ctx = t_ctx();
    size_t bytes;
    T_STATUS(expected,
             gp_scan_segmented(ctx, d, f.in.data, N, GP_U32, f.offsets.data, 2, f.out.data));
    T_STATUS(expected, gp_scan_flagged(ctx, d, f.in.data, f.heads.data, N, f.out.data));
    T_STATUS(expected, gp_scan_by_key(ctx, d, 4, f.keys.data, f.in.data, N, f.out.data));
    T_STATUS(expected, gp_scan_rows(ctx, d, f.in.data, 8, 8, f.out.data));
    if (in_workspace) {
        T_STATUS(expected, gp_scan_segmented_workspace_bytes(NULL, d, N, &bytes));
        T_STATUS(expected, gp_scan_flagged_workspace_bytes(NULL, d, N, &bytes));
        T_STATUS(expected, gp_scan_by_key_workspace_bytes(NULL, d, N, &bytes));
        T_STATUS(expected, gp_scan_rows_workspace_bytes(NULL, d, 8, 8, &bytes));
    }
    t_check_untouched(&f.out);
}

START_TEST(test_segments_refuse_descriptors)
{
    const gp_scan_desc good = f.desc;
    gp_scan_desc d = good;
    uint64_t word = 0;
    refuse_desc(GP_ERROR_POINTER, NULL, true);
    d.size--;
    refuse_desc(GP_ERROR_ARGUMENT, &d, true);
    d = good, d.kind = GP_SCAN_ROW_POINTERS;
    refuse_desc(GP_ERROR_ARGUMENT, &d, true);
    d = good, d.kind = (gp_scan_kind)0;
    refuse_desc(GP_ERROR_ARGUMENT, &d, true);
    d = good, d.in_dtype = (gp_dtype)99;
    refuse_desc(GP_ERROR_DTYPE, &d, true);
    d = good, d.out_dtype = GP_I64;
    refuse_desc(GP_ERROR_DTYPE, &d, true);
    d = good, d.op = (gp_op)0;
    refuse_desc(GP_ERROR_OP, &d, true);
    d = good, d.op = GP_AFFINE;
    refuse_desc(GP_ERROR_OP, &d, true);
    d = good, d.in_dtype = GP_F32, d.op = GP_XOR;
    refuse_desc(GP_ERROR_OP, &d, true);
    d = good, d.total = &word;
    refuse_desc(GP_ERROR_ARGUMENT, &d, true);
    d = good, d.backward = 1;
    refuse_desc(GP_ERROR_ARGUMENT, &d, true);
    d = good, d.tile = GP_SCAN_TILE_KOGGE_STONE;
    refuse_desc(GP_ERROR_UNSUPPORTED, &d, true);
    d = good, d.algorithm = (gp_algorithm)99;
    refuse_desc(GP_ERROR_ARGUMENT, &d, true);
    for (int a = GP_ALGORITHM_LOOKBACK; a <= GP_ALGORITHM_SERIAL; a++) {
        d = good, d.algorithm = (gp_algorithm)a;
        refuse_desc(GP_ERROR_UNSUPPORTED, &d, true);
    }
}
END_TEST

/* gp_scan_segmented with one argument in another way. */
#define SEGMENTED(in, n, dtype, offsets, count, out)                                               \
    gp_scan_segmented(t_ctx(), &f.desc, in, n, dtype, offsets, count, out)

START_TEST(test_segmented_refuses_arguments)
{
    char *in = f.in.data, *out = f.out.data, *offsets = f.offsets.data;
    const size_t huge = ((size_t)1 << 40) + 1;
    T_STATUS(GP_ERROR_POINTER, gp_scan_segmented(NULL, &f.desc, in, N, GP_U32, offsets, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(NULL, N, GP_U32, offsets, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in + 1, N, GP_U32, offsets, 2, out));
    T_STATUS(GP_ERROR_ARGUMENT, SEGMENTED(in, huge, GP_U64, offsets, 2, out));
    T_STATUS(GP_ERROR_DTYPE, SEGMENTED(in, N, GP_U16, offsets, 2, out));
    T_STATUS(GP_ERROR_DTYPE, SEGMENTED(in, N, GP_F32, offsets, 2, out));
    T_STATUS(GP_ERROR_ARGUMENT, SEGMENTED(in, (size_t)1 << 31, GP_I32, offsets, 2, out));
    T_STATUS(GP_ERROR_ARGUMENT, SEGMENTED(in, (size_t)1 << 32, GP_U32, offsets, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, GP_U32, NULL, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, GP_U32, offsets + 2, 2, out));
    T_STATUS(GP_ERROR_ARGUMENT, SEGMENTED(in, N, GP_U32, offsets, huge, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, GP_U32, offsets, 2, NULL));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, GP_U32, offsets, 2, out + 2));
    T_STATUS(GP_ERROR_OVERLAP, SEGMENTED(in, N, GP_U32, offsets, 2, in + 4));
    T_STATUS(GP_ERROR_OVERLAP, SEGMENTED(in, N, GP_U32, out, 2, out));
    T_OK(SEGMENTED(NULL, 0, GP_U32, offsets, 2, NULL));
    t_check_untouched(&f.out);
}
END_TEST

/* Rows have no number of items, flags and keys none of segments; what lies in out is refused. */
START_TEST(test_segments_refuse_numbers_in_memory)
{
    gp_context *ctx = t_ctx();
    t_array number = t_new(8, 0);
    gp_scan_desc items = f.desc, segments = f.desc;
    items.device_n = segments.device_num_segments = number.data;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_rows(ctx, &items, f.in.data, 8, 8, f.out.data));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_scan_flagged(ctx, &segments, f.in.data, f.heads.data, N, f.out.data));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_scan_by_key(ctx, &segments, 4, f.keys.data, f.in.data, N, f.out.data));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &segments, f.in.data, N, f.out.data));
    items.device_n = f.out.data;
    T_STATUS(GP_ERROR_OVERLAP,
             gp_scan_flagged(ctx, &items, f.in.data, f.heads.data, N, f.out.data));
    items.device_n = (const uint64_t *)(const void *)((const char *)number.data + 4);
    T_STATUS(GP_ERROR_POINTER,
             gp_scan_flagged(ctx, &items, f.in.data, f.heads.data, N, f.out.data));
    t_check_untouched(&f.out);
    t_free(&number);
}
END_TEST

START_TEST(test_flags_keys_and_rows_refuse_arguments)
{
    char *in = f.in.data, *out = f.out.data, *keys = f.keys.data;
    const uint8_t *heads = f.heads.data;
    gp_context *ctx = t_ctx();
    const gp_scan_desc *d = &f.desc;
    const size_t most = (size_t)1 << 40;
    T_STATUS(GP_ERROR_POINTER, gp_scan_flagged(NULL, d, in, heads, N, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_flagged(ctx, d, NULL, heads, N, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_flagged(ctx, d, in, NULL, N, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_flagged(ctx, d, in, heads, N, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_flagged(ctx, d, in, heads, most + 1, out));
    T_STATUS(GP_ERROR_OVERLAP, gp_scan_flagged(ctx, d, in, (uint8_t *)out, N, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_by_key(NULL, d, 4, keys, in, N, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_by_key(ctx, d, 0, keys, in, N, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_by_key(ctx, d, 3, keys, in, N, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_by_key(ctx, d, 16, keys, in, N, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_by_key(ctx, d, 4, NULL, in, N, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_by_key(ctx, d, 8, keys + 4, in, N - 1, out));
    T_STATUS(GP_ERROR_OVERLAP, gp_scan_by_key(ctx, d, 4, out, in, N, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_rows(NULL, d, in, 8, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_scan_rows(ctx, d, NULL, 8, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_rows(ctx, d, in, most + 1, 1, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_rows(ctx, d, in, 1, most + 1, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_rows(ctx, d, in, (size_t)1 << 39, 3, out));
    T_STATUS(GP_ERROR_OVERLAP, gp_scan_rows(ctx, d, in, 8, 8, in + 4));
    T_OK(gp_scan_flagged(ctx, d, NULL, NULL, 0, NULL));
    T_OK(gp_scan_by_key(ctx, d, 8, NULL, NULL, 0, NULL));
    T_OK(gp_scan_rows(ctx, d, NULL, 0, 5, NULL));
    T_OK(gp_scan_rows(ctx, d, NULL, 5, 0, NULL));
    t_check_untouched(&f.out);
}
END_TEST

START_TEST(test_segments_workspace)
{
    gp_target target = GP_TARGET_INIT;
    size_t any, cuda, cpu;
    T_OK(gp_scan_segmented_workspace_bytes(NULL, &f.desc, 1000000, &any));
    target.backend = GP_BACKEND_CUDA;
    T_OK(gp_scan_segmented_workspace_bytes(&target, &f.desc, 1000000, &cuda));
    target.backend = GP_BACKEND_CPU;
    T_OK(gp_scan_segmented_workspace_bytes(&target, &f.desc, 1000000, &cpu));
    ck_assert_uint_eq(any, cuda);
    ck_assert_uint_eq(cpu, 0);
    ck_assert_uint_ge(cuda, 1000000 / 8);
    T_STATUS(GP_ERROR_POINTER, gp_scan_segmented_workspace_bytes(NULL, &f.desc, 1, NULL));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_scan_flagged_workspace_bytes(NULL, &f.desc, ((size_t)1 << 40) + 1, &any));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_scan_rows_workspace_bytes(NULL, &f.desc, (size_t)1 << 39, 3, &any));
    target.size = 0;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_by_key_workspace_bytes(&target, &f.desc, 1, &any));
}
END_TEST

/* ---- offsets that break their rule ----------------------------------------------------------- */

/* The call with these offsets reports GP_ERROR_DATA; the CPU says where and writes nothing. */
static void refuse_offsets(const uint64_t *offsets, size_t count, gp_dtype dtype, size_t n,
                           const char *word)
{
    int32_t *items = t_host(n * 4);
    memset(items, 1, n * 4);
    t_array in = t_new_from(items, n * 4, 0), out = t_new(n * 4, 0);
    t_array o = t_numbers_put(offsets, count + 1, dtype, 0, 0);
    if (t_is_cuda()) {
        T_OK(SEGMENTED(in.data, n, dtype, o.data, count, out.data));
        T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    } else {
        T_STATUS(GP_ERROR_DATA, SEGMENTED(in.data, n, dtype, o.data, count, out.data));
        ck_assert_msg(strstr(gp_last_error(t_ctx()), word), "\"%s\" does not name %s",
                      gp_last_error(t_ctx()), word);
        t_check_untouched(&out);
    }
    T_OK(gp_context_synchronize(t_ctx()));
    t_check_guards(&out);
    t_check_guards(&o);
    t_free(&in);
    t_free(&out);
    t_free(&o);
    free(items);
}

START_TEST(test_segmented_offsets_that_fall_or_do_not_end_at_n)
{
    static const uint64_t falls[] = {0, 10, 9, 64}, early[] = {0, 10, 20, 63};
    static const uint64_t late[] = {0, 10, 20, 65}, past[] = {0, 10, 100, 64};
    static const uint64_t negative[] = {5, 4, 20, 69};
    gp_dtype dtype = t_index_dtypes[_i];
    refuse_offsets(falls, 3, dtype, N, "offsets[2] is 9");
    refuse_offsets(early, 3, dtype, N, "offsets[3] is 63");
    refuse_offsets(late, 3, dtype, N, "offsets[3] is 65");
    refuse_offsets(past, 3, dtype, N, "offsets[3] is 64");
    refuse_offsets(negative, 3, dtype, N, "offsets[1] is 4");
    refuse_offsets(falls, 0, dtype, N, "offsets[0] is 0");
}
END_TEST

/* One fall: inside what a vector, a lane or a warp reads at once, and between two of these. */
START_TEST(test_segmented_offsets_fall_once)
{
    enum { SEGMENTS = 3000, ITEMS = 2 * SEGMENTS };
    static const size_t places[] = {2, 3, 4, 7, 8, 16, 255, 256, 512, 2047, 2048, 2999, SEGMENTS};
    uint64_t *offsets = t_host((SEGMENTS + 1) * sizeof *offsets);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const size_t p = places[k];
        char word[64];
        for (size_t s = 0; s <= SEGMENTS; s++)
            offsets[s] = 2 * s;
        offsets[p - 1] = 2 * p + 1;
        snprintf(word, sizeof word, "offsets[%zu] is %zu", p, 2 * p);
        refuse_offsets(offsets, SEGMENTS, t_index_dtypes[_i], ITEMS, word);
    }
    free(offsets);
}
END_TEST

/* One wrong offset among many, and offsets of any bits. */
START_TEST(test_segmented_offsets_of_garbage)
{
    enum { SEGMENTS = 300000, ITEMS = 2 * SEGMENTS };
    uint64_t *offsets = t_host((SEGMENTS + 1) * sizeof *offsets), state = t_seed();
    for (size_t s = 0; s <= SEGMENTS; s++)
        offsets[s] = 2 * s;
    offsets[200001] = 0;
    refuse_offsets(offsets, SEGMENTS, GP_U32, ITEMS, "offsets[200001] is 0");
    offsets[1000] = UINT32_MAX;
    refuse_offsets(offsets, SEGMENTS, GP_U32, ITEMS, "offsets[1001] is 2002");
    for (size_t s = 0; s <= SEGMENTS; s++)
        offsets[s] = t_random(&state);
    refuse_offsets(offsets, SEGMENTS, GP_U64, ITEMS, "offsets");
    refuse_offsets(offsets, SEGMENTS, GP_U32, ITEMS, "offsets");
    free(offsets);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_segments_errors");
    TCase *c = t_case(s, "errors");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, test_segments_refuse_descriptors);
    tcase_add_test(c, test_segmented_refuses_arguments);
    tcase_add_test(c, test_segments_refuse_numbers_in_memory);
    tcase_add_test(c, test_flags_keys_and_rows_refuse_arguments);
    tcase_add_test(c, test_segments_workspace);
    tcase_add_loop_test(c, test_segmented_offsets_that_fall_or_do_not_end_at_n, 0, 4);
    tcase_add_loop_test(c, test_segmented_offsets_fall_once, 0, 4);
    tcase_add_test(c, test_segmented_offsets_of_garbage);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
