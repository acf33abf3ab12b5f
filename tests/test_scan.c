/* SPDX-License-Identifier: MIT */
/* Scan: sizes, dtypes, operators, alignment, determinism, graphs.
 * See test_scan_desc.c for descriptors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gp/scan.h>

#include "oracle.h"

static const gp_scan_kind kinds[] = {GP_SCAN_INCLUSIVE, GP_SCAN_EXCLUSIVE, GP_SCAN_ROW_POINTERS};
static const struct scan_layout plain = {0, 0, false}, in_place = {0, 0, true};

static uint32_t *random_u32(size_t n)
{
    uint64_t state = t_seed();
    uint32_t *host = t_host(n * sizeof *host);
    t_fill_bits(GP_U32, host, n, &state);
    return host;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* All prefixes of one input, so the expected outputs are computed once. */
static void check_sizes(size_t begin, size_t end, size_t step)
{
    uint32_t *in = random_u32(end), *actual = t_host(end * sizeof *actual);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_U32, GP_U32, GP_SUM);
    uint32_t *expected = oracle_scan(&desc, in, end);
    t_array source = t_new_from(in, end * sizeof *in, 0);
    for (size_t n = begin; n < end; n += step) {
        t_array target = t_new(n * sizeof *in, 4);
        T_OK(gp_scan_inclusive(t_ctx(), GP_I32, GP_SUM, source.data, n, target.data));
        t_get(&target, actual, n * sizeof *in);
        t_same("inclusive sum", GP_U32, expected, actual, n);
        t_check_guards(&target);
        t_free(&target);
    }
    t_free(&source);
    free(in);
    free(actual);
    free(expected);
}

enum { EVERY_SIZE = 8400, SIZE_PARTS = 12 };

START_TEST(test_scan_every_size_matches_serial)
{
    size_t part = EVERY_SIZE / SIZE_PARTS;
    check_sizes((size_t)_i * part, ((size_t)_i + 1) * part, t_step(1));
}
END_TEST

START_TEST(test_scan_sizes_to_several_tiles_match_serial)
{
    check_sizes(EVERY_SIZE, 20000, t_step(97));
    check_sizes(((size_t)1 << 21) - 7, ((size_t)1 << 21) + 70000, t_step(4999));
}
END_TEST

START_TEST(test_scan_every_dtype_at_all_sizes)
{
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t most = t_sizes[T_SIZE_COUNT - 1];
    char *in = oracle_scan_input(dtype, GP_SUM, most, &state);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_SUM);
    void *inclusive = oracle_scan(&desc, in, most);
    desc.kind = GP_SCAN_ROW_POINTERS;
    void *exclusive = oracle_scan(&desc, in, most);
    for (int s = 0; s < T_SIZE_COUNT; s++) {
        desc.kind = kinds[s % 3];
        t_check_scan_against(&desc, in, t_sizes[s], plain, s % 3 ? exclusive : inclusive);
    }
    free(in);
    free(inclusive);
    free(exclusive);
}
END_TEST

/* Arrays large enough for the kernels that stream, in every dtype. */
START_TEST(test_scan_every_dtype_streams)
{
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t n = ((size_t)9 << 20) / gp_dtype_bytes(dtype) + 4321;
    if (!t_is_cuda() && dtype != GP_I32 && dtype != GP_F16)
        return; /* on the CPU one path serves all */
    char *in = oracle_scan_input(dtype, GP_SUM, n, &state);
    gp_scan_desc desc = t_scan_desc(kinds[_i % 3], dtype, dtype, GP_SUM);
    t_check_scan(&desc, in, n, (struct scan_layout){1, 3, false});
    desc.kind = GP_SCAN_INCLUSIVE;
    t_check_scan(&desc, in, n, in_place);
    free(in);
}
END_TEST

START_TEST(test_scan_every_operator_and_kind)
{
    static const size_t sizes[] = {0, 1, 2, 33, 1000, 5000, 150001};
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = oracle_scan_input(dtype, op, sizes[s], &state);
        for (int k = 0; k < 3; k++) {
            gp_scan_desc desc = t_scan_desc(kinds[k], dtype, (gp_dtype)0, op);
            t_check_scan(&desc, in, sizes[s], plain);
        }
        free(in);
    }
}
END_TEST

START_TEST(test_scan_every_operator_streams)
{
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t item = gp_dtype_bytes(dtype) * gp_op_scalars(op), n = ((size_t)8 << 20) / item + 77;
    if (!t_op_allowed(dtype, op))
        return;
    char *in = oracle_scan_input(dtype, op, n, &state);
    gp_scan_desc desc = t_scan_desc(kinds[_i % 2], dtype, dtype, op);
    t_check_scan(&desc, in, n, plain);
    free(in);
}
END_TEST

/* Runs with all values equal: extremes of every integer, ones of every float. */
START_TEST(test_scan_constant_input)
{
    gp_dtype dtype = t_dtypes[_i];
    size_t n = 40000, bytes = gp_dtype_bytes(dtype);
    char *in = t_host(n * bytes);
    for (int fill = 0; fill < 3; fill++) {
        memset(in, fill == 0 ? 0 : fill == 1 ? 0xff : 0x7f, n * bytes);
        for (size_t i = 0; t_is_float(dtype) && i < n; i++)
            t_set(dtype, in, i, fill);
        gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_SUM);
        t_check_scan(&desc, in, n, plain);
    }
    free(in);
}
END_TEST

/* ---- in place, alignment --------------------------------------------------------------------- */

START_TEST(test_scan_in_place)
{
    static const size_t sizes[] = {1, 2, 1000, 4097, 20001, 131072};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int k = 0; k < 3; k++) {
            gp_scan_desc desc = t_scan_desc(kinds[k], dtype, dtype, GP_SUM);
            char *in = oracle_scan_input(dtype, GP_SUM, sizes[s], &state);
            t_check_scan(&desc, in, sizes[s], (struct scan_layout){s % 3, 0, true});
            free(in);
        }
}
END_TEST

START_TEST(test_scan_any_alignment)
{
    static const size_t sizes[] = {1, 31, 1000, 4099, 20001};
    static const size_t offsets[] = {0, 1, 2, 3, 5, 8, 15, 16, 17};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    enum { OFFSETS = sizeof offsets / sizeof offsets[0] };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = oracle_scan_input(dtype, GP_SUM, sizes[s], &state);
        for (size_t o = 0; o < OFFSETS; o++) {
            struct scan_layout layout = {offsets[o], offsets[(o * 4 + s) % OFFSETS], false};
            gp_scan_desc desc = t_scan_desc(kinds[(o + s) % 3], dtype, dtype, GP_SUM);
            t_check_scan(&desc, in, sizes[s], layout);
        }
        free(in);
    }
}
END_TEST

/* ---- streams and graphs ---------------------------------------------------------------------- */

/* Whatever the length: one kernel, and nothing beside it. */
START_TEST(test_scan_is_one_launch)
{
    static const size_t sizes[] = {1, 5000, 300000, 4000000, 20000000};
    size_t n = sizes[_i], need;
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM);
    t_array a = t_new(n * sizeof(int32_t), 4);
    T_OK(gp_scan_workspace_bytes(NULL, &desc, n, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    t_capture_begin();
    T_OK(gp_scan(t_ctx(), &desc, a.data, n, a.data));
    t_capture_end();
    ck_assert_uint_eq(t_captured_nodes(), 1);
    t_capture_free();
    t_free(&a);
}
END_TEST

START_TEST(test_scan_captured_and_replayed_with_other_data)
{
    size_t n = _i == 0 ? 3000 : _i == 1 ? 300000 : 4000000, bytes = n * sizeof(int32_t), need;
    uint64_t state = t_seed();
    gp_scan_desc desc = t_scan_desc(GP_SCAN_EXCLUSIVE, GP_I32, GP_I32, GP_SUM);
    t_array source = t_new(bytes, 4), target = t_new(bytes, 8);
    int32_t *actual = t_host(bytes);
    T_OK(gp_scan_workspace_bytes(NULL, &desc, n, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    t_capture_begin();
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    T_OK(gp_scan(t_ctx(), &desc, target.data, n, target.data));
    t_capture_end();
    for (int round = 0; round < 5; round++) {
        int32_t *in = oracle_scan_input(GP_I32, GP_SUM, n, &state);
        int32_t *once = oracle_scan(&desc, in, n), *twice = oracle_scan(&desc, once, n);
        t_put(&source, in, bytes);
        if (round == 3) /* work in between must not matter */
            T_OK(gp_scan(t_ctx(), &desc, source.data, n / 2, target.data));
        t_replay();
        t_get(&target, actual, bytes);
        t_same("replayed scan", GP_I32, twice, actual, n);
        t_check_guards(&target);
        free(in);
        free(once);
        free(twice);
    }
    t_capture_free();
    free(actual);
    t_free(&source);
    t_free(&target);
}
END_TEST

/* ---- past 2^32 items ------------------------------------------------------------------------- */

enum { PERIOD = 1000003, COMPARE = 64 << 20 };

/* size is not a multiple of the period, which is no multiple of a tile. */
static void fill_periodic(t_array *array, const int8_t *period)
{
    size_t done = PERIOD;
    t_put(array, period, PERIOD);
    while (done < array->bytes) {
        size_t more = array->bytes - done < done ? array->bytes - done : done;
        T_OK(gp_copy(t_ctx(), array->data, more, (char *)array->data + done));
        done += more;
    }
}

START_TEST(test_scan_past_2_to_the_32)
{
    size_t n = ((size_t)1 << 32) + 1234567;
    uint64_t state = t_seed();
    int8_t *period = t_host(PERIOD), *prefix = t_host(PERIOD), *expected = t_host(COMPARE);
    int8_t *actual = t_host(COMPARE);
    t_fill_bits(GP_I8, period, PERIOD, &state);
    uint8_t sum = 0;
    for (size_t i = 0; i < PERIOD; i++)
        prefix[i] = (int8_t)(sum = (uint8_t)(sum + (uint8_t)period[i]));
    t_array source = t_new(n, 1), target = t_new(n, 3);
    fill_periodic(&source, period);
    T_OK(gp_scan_inclusive(t_ctx(), GP_I8, GP_SUM, source.data, n, target.data));
    T_OK(gp_context_synchronize(t_ctx()));
    for (size_t at = 0; at < n; at += COMPARE) {
        size_t m = n - at < COMPARE ? n - at : COMPARE, p = at % PERIOD;
        uint8_t base = (uint8_t)(at / PERIOD * sum);
        for (size_t i = 0; i < m; i++) {
            expected[i] = (int8_t)(uint8_t)(base + (uint8_t)prefix[p]);
            if (++p == PERIOD) {
                p = 0;
                base = (uint8_t)(base + sum);
            }
        }
        T_OK(gp_copy(t_ctx(), (char *)target.data + at, m, actual));
        T_OK(gp_context_synchronize(t_ctx()));
        t_same("large scan", GP_I8, expected, actual, m);
    }
    t_check_guards(&target);
    t_free(&source);
    t_free(&target);
    free(period);
    free(prefix);
    free(expected);
    free(actual);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan");
    TCase *c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_scan_every_size_matches_serial, 0, SIZE_PARTS);
    tcase_add_test(c, test_scan_sizes_to_several_tiles_match_serial);
    tcase_add_loop_test(c, test_scan_every_dtype_at_all_sizes, 0, T_DTYPE_COUNT);
    c = t_case(s, "values");
    tcase_add_loop_test(c, test_scan_every_dtype_streams, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_every_operator_and_kind, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_constant_input, 0, T_DTYPE_COUNT);
    c = t_case(s, "layout");
    tcase_add_loop_test(c, test_scan_in_place, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_any_alignment, 0, T_DTYPE_COUNT);
    c = t_case(s, "cuda");
    tcase_add_loop_test(c, test_scan_every_operator_streams, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_is_one_launch, 0, 5);
    tcase_add_loop_test(c, test_scan_captured_and_replayed_with_other_data, 0, 3);
    c = t_case(s, "large");
    tcase_add_test(c, test_scan_past_2_to_the_32);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
