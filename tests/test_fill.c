/* SPDX-License-Identifier: MIT */
/* Fill and iota: sizes, places, element types, rounding, numbers in device memory, errors. */
#include <gp/fill.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gp_test.h"
#include "values.h"

/* ---- fill ---------------------------------------------------------------------------------- */

/* counted: how many of the n items are set; the rest stays as it is. */
static void check_fill(size_t bytes, size_t n, size_t counted, size_t offset,
                       const uint64_t *device)
{
    uint64_t state = t_seed() + bytes + n;
    char *item = t_host(bytes), *expected = t_host(n * bytes), *actual = t_host(n * bytes);
    t_fill_bits(GP_U8, item, bytes, &state);
    t_fill_bits(GP_U8, expected, n * bytes, &state);
    t_array out = t_new_from(expected, n * bytes, offset);
    gp_fill_desc d = GP_FILL_DESC_INIT;
    d.item_bytes = bytes;
    d.item = item;
    d.device_n = device;
    for (size_t i = 0; i < counted; i++)
        memcpy(expected + i * bytes, item, bytes);
    if (device)
        T_OK(gp_fill_by(t_ctx(), &d, n, out.data));
    else
        T_OK(gp_fill(t_ctx(), bytes, item, n, out.data));
    memset(item, 0, bytes); /* it was read during the call */
    t_get(&out, actual, n * bytes);
    t_same_bytes("items", expected, actual, n * bytes);
    t_check_guards(&out);
    t_free(&out);
    free(item), free(expected), free(actual);
}

static const size_t item_sizes[] = {1,    2,    3,    4,    5,    7,    8,    12,    16,
                                    17,   24,   32,   48,   63,   64,   65,   100,   128,
                                    1000, 2048, 2049, 3840, 3841, 4096, 7681, 65535, 65536};
enum { ITEM_SIZES = sizeof item_sizes / sizeof item_sizes[0] };

START_TEST(test_fill_sizes)
{
    static const size_t counts[] = {0, 1, 2, 3, 16, 33, 1000, 4097, 100003};
    const size_t bytes = item_sizes[_i];
    for (size_t k = 0; k < 9; k++) {
        const size_t n = t_at_most(counts[k]), most = ((size_t)2 << 20) / bytes + 1;
        check_fill(bytes, n < most ? n : most, n < most ? n : most, k % 3, NULL);
    }
}
END_TEST

START_TEST(test_fill_offsets)
{
    for (size_t bytes = 1; bytes <= 24; bytes++)
        for (size_t n = 1; n < 9; n++)
            check_fill(bytes, n, n, (size_t)_i, NULL);
}
END_TEST

/* Past the cache of a CPU, and more words than a GPU has threads. */
START_TEST(test_fill_of_large_outputs)
{
    static const size_t sizes[] = {1, 3, 8, 60, 100, 4099, 65535};
    const size_t n = t_at_most(((size_t)18 << 20) / sizes[_i] + 1);
    check_fill(sizes[_i], n, n, 0, NULL);
    check_fill(sizes[_i], n, n, 1, NULL);
}
END_TEST

static const uint64_t device_counts[] = {0, 1, 2049, 2999, 3000, 1ull << 40};

START_TEST(test_fill_device_n)
{
    const uint64_t n = device_counts[_i];
    t_array n_d = t_new_from(&n, 8, 0);
    check_fill(4, 3000, n < 3000 ? (size_t)n : 3000, 0, n_d.data);
    check_fill(3, 3000, n < 3000 ? (size_t)n : 3000, 5, n_d.data);
    check_fill(100, 3000, n < 3000 ? (size_t)n : 3000, 0, n_d.data);
    t_free(&n_d);
}
END_TEST

/* ---- iota ---------------------------------------------------------------------------------- */

/* Infinity as the number that would be next. */
static double half_value(gp_dtype dtype, uint16_t bits)
{
    const double x = dtype == GP_F16 ? t_f16_to_f32(bits) : t_bf16_to_f32(bits);
    return isinf(x) ? copysign(dtype == GP_F16 ? 0x1p16 : 0x1p128, x) : x;
}

/* The half next to x: of two that are as near, the even one. */
static uint16_t nearest_half(gp_dtype dtype, double x)
{
    const uint16_t near = dtype == GP_F16 ? t_f32_to_f16((float)x) : t_f32_to_bf16((float)x);
    uint16_t best = near;
    if (!isfinite(x))
        return near;
    for (int by = -1; by <= 1; by += 2) {
        const uint16_t other = (uint16_t)(near + by);
        const double other_value = half_value(dtype, other);
        if (((near & 0x7fff) == 0 && by < 0) || isnan(other_value)) /* beyond zero, infinity */
            continue;
        const double d = fabs(other_value - x) - fabs(half_value(dtype, best) - x);
        if (d < 0 || (d == 0 && !(other & 1)))
            best = other;
    }
    return best;
}

static void iota_oracle(gp_dtype dtype, const void *first, const void *step, size_t n, char *out)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    const bool is_float = t_is_float(dtype);
    const double real_first = is_float ? t_value(dtype, first, 0) : 0;
    const double real_step = is_float ? t_value(dtype, step, 0) : 0;
    uint64_t x = 0, by = 0;
    memcpy(&x, first, bytes);
    memcpy(&by, step, bytes);
    for (size_t i = 0; i < n; i++, x += by) {
        const double product = (double)i * real_step, real = real_first + product;
        const uint16_t half = is_float && bytes == 2 ? nearest_half(dtype, real) : 0;
        if (!is_float)
            memcpy(out + i * bytes, &x, bytes); /* little-endian */
        else if (bytes == 2)
            memcpy(out + i * bytes, &half, 2);
        else if (dtype == GP_F32)
            ((float *)(void *)out)[i] = (float)real;
        else
            ((double *)(void *)out)[i] = real;
    }
}

static void check_iota(gp_dtype dtype, const void *first, const void *step, size_t n,
                       size_t counted, size_t offset, const uint64_t *device)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    uint64_t zero = 0, one = 0, state = t_seed();
    char *expected = t_host(n * bytes), *actual = t_host(n * bytes);
    gp_iota_desc d = GP_IOTA_DESC_INIT;
    t_set(dtype, &one, 0, 1);
    t_fill_bits(GP_U8, expected, n * bytes, &state);
    t_array out = t_new_from(expected, n * bytes, offset * bytes);
    d.dtype = dtype;
    d.first = first;
    d.step = step;
    d.device_n = device;
    iota_oracle(dtype, first ? first : &zero, step ? step : &one, counted, expected);
    if (device)
        T_OK(gp_iota_by(t_ctx(), &d, n, out.data));
    else
        T_OK(gp_iota(t_ctx(), dtype, first, step, n, out.data));
    t_get(&out, actual, n * bytes);
    t_same_bytes(gp_dtype_string(dtype), expected, actual, n * bytes);
    t_check_guards(&out);
    t_free(&out);
    free(expected), free(actual);
}

START_TEST(test_iota_sizes)
{
    const gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed(), first = 0, step = 0;
    for (size_t k = 0; k < T_SIZE_COUNT; k++) {
        const size_t n = t_at_most(t_sizes[k]);
        check_iota(dtype, NULL, NULL, n, n, k % 5, NULL);
        t_fill_small(dtype, &first, 1, 1000, &state);
        t_fill_random(dtype, &step, 1, &state);
        check_iota(dtype, &first, &step, n, n, (k + 1) % 17, NULL);
        check_iota(dtype, &first, NULL, n, n, 0, NULL);
        check_iota(dtype, NULL, &step, n, n, 3, NULL);
    }
}
END_TEST

/* Past the cache of a CPU. */
START_TEST(test_iota_of_large_outputs)
{
    const gp_dtype dtype = t_dtypes[_i];
    uint64_t first = 0, step = 0;
    t_set(dtype, &first, 0, 3);
    t_set(dtype, &step, 0, t_is_float(dtype) ? 0.0078125 : 7);
    const size_t n = t_at_most(((size_t)9 << 20) / gp_dtype_bytes(dtype) + 3);
    check_iota(dtype, &first, &step, n, n, 1, NULL);
}
END_TEST

/* Sums that lie next to the middle of two halves, by less than a float can tell. */
START_TEST(test_iota_rounds_once)
{
    static const struct {
        gp_dtype dtype;
        double first, step;
        size_t n;
    } rows[] = {
        {GP_F16, 1, 0x1p-24, 8200},         {GP_F16, -1, -0x1p-24, 8200},
        {GP_F16, 0, 0x1p-24, 5000},         {GP_F16, 60000, 16, 1000},
        {GP_F16, -60000, -16, 1000},        {GP_BF16, 1, 0x1p-25, 131080},
        {GP_BF16, 1, 0x1p100, 300},         {GP_BF16, 0x1p127, 0x1p120, 300},
        {GP_BF16, 0x1p-133, 0x1p-133, 700}, {GP_F32, 1, 0x1p-40, 70000},
        {GP_F64, 1, 0x1p-52, 70000},
    };
    uint64_t first = 0, step = 0;
    t_set(rows[_i].dtype, &first, 0, rows[_i].first);
    t_set(rows[_i].dtype, &step, 0, rows[_i].step);
    check_iota(rows[_i].dtype, &first, &step, rows[_i].n, rows[_i].n, 0, NULL);
}
END_TEST

START_TEST(test_iota_device_n)
{
    const uint64_t n = device_counts[_i];
    t_array n_d = t_new_from(&n, 8, 0);
    for (int d = 0; d < T_DTYPE_COUNT; d++)
        check_iota(t_dtypes[d], NULL, NULL, 3000, n < 3000 ? (size_t)n : 3000, 1, n_d.data);
    t_free(&n_d);
}
END_TEST

/* What a graph writes is what the caller's numbers were when it was captured. */
START_TEST(test_fills_are_captured)
{
    char item[4000], got[2][8000];
    int32_t first = 7, sequence[100];
    t_array out = t_new(8000, 0), numbers = t_new(400, 0);
    for (size_t i = 0; i < sizeof item; i++)
        item[i] = (char)(i * 31);
    if (t_capture_begin()) {
        T_OK(gp_fill(t_ctx(), 4000, item, 2, out.data));
        T_OK(gp_iota(t_ctx(), GP_I32, &first, NULL, 100, numbers.data));
        t_capture_end();
        memcpy(got[1], item, 4000);
        memcpy(got[1] + 4000, item, 4000);
        memset(item, 1, sizeof item);
        first = 8;
        t_replay();
        t_get(&out, got[0], 8000);
        t_get(&numbers, sequence, 400);
        t_capture_free();
        t_same_bytes("items", got[1], got[0], 8000);
        ck_assert_int_eq(sequence[99], 106);
    }
    t_free(&out), t_free(&numbers);
}
END_TEST

/* ---- errors -------------------------------------------------------------------------------- */

static void expect_text(gp_status expected, gp_status actual, const char *text)
{
    ck_assert_int_eq(actual, expected);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
}

START_TEST(test_fill_errors)
{
    t_array a = t_new(1024, 0);
    gp_context *c = t_ctx();
    gp_fill_desc d = GP_FILL_DESC_INIT;
    const char item[8] = {0};
    char *out = a.data;
    T_STATUS(GP_ERROR_POINTER, gp_fill(NULL, 4, item, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_fill(c, 0, item, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_fill(c, 65537, item, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_fill(c, 4, item, SIZE_MAX, out));
    T_STATUS(GP_ERROR_POINTER, gp_fill(c, 4, item, 8, NULL));
    expect_text(GP_ERROR_POINTER, gp_fill(c, 4, NULL, 8, out), "gp_fill: item is NULL");
    expect_text(GP_ERROR_POINTER, gp_fill_by(c, NULL, 8, out), "gp_fill_by: desc is NULL");
    expect_text(GP_ERROR_ARGUMENT, gp_fill_by(c, &d, 8, out),
                "gp_fill_by: desc->item_bytes is 0, expected 1 to 65536");
    d.item_bytes = 4;
    expect_text(GP_ERROR_POINTER, gp_fill_by(c, &d, 8, out), "gp_fill_by: desc->item is NULL");
    d.item = item;
    d.device_n = (const uint64_t *)(void *)(out + 4);
    T_STATUS(GP_ERROR_POINTER, gp_fill_by(c, &d, 8, out + 64));
    d.device_n = (const uint64_t *)(void *)(out + 24);
    T_STATUS(GP_ERROR_OVERLAP, gp_fill_by(c, &d, 8, out));
    if (!t_is_cuda())
        T_STATUS(GP_ERROR_OVERLAP, gp_fill(c, 4, out + 31, 8, out));
    T_OK(gp_fill(c, 4, NULL, 0, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

START_TEST(test_iota_errors)
{
    t_array a = t_new(1024, 0);
    gp_context *c = t_ctx();
    gp_iota_desc d = GP_IOTA_DESC_INIT;
    char *out = a.data;
    T_STATUS(GP_ERROR_POINTER, gp_iota(NULL, GP_U32, NULL, NULL, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_iota(c, GP_U32, NULL, NULL, SIZE_MAX, out));
    T_STATUS(GP_ERROR_POINTER, gp_iota(c, GP_U32, NULL, NULL, 8, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_iota(c, GP_U32, NULL, NULL, 8, out + 2));
    expect_text(GP_ERROR_DTYPE, gp_iota(c, (gp_dtype)0, NULL, NULL, 8, out),
                "gp_iota: dtype is 0, expected a gp_dtype");
    expect_text(GP_ERROR_POINTER, gp_iota_by(c, NULL, 8, out), "gp_iota_by: desc is NULL");
    expect_text(GP_ERROR_DTYPE, gp_iota_by(c, &d, 8, out),
                "gp_iota_by: desc->dtype is 0, expected a gp_dtype");
    d.dtype = GP_F16;
    d.reserved = 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_iota_by(c, &d, 8, out));
    d.reserved = 0;
    d.device_n = (const uint64_t *)(void *)(out + 8);
    T_STATUS(GP_ERROR_OVERLAP, gp_iota_by(c, &d, 8, out));
    if (!t_is_cuda())
        T_STATUS(GP_ERROR_OVERLAP, gp_iota(c, GP_U32, out + 28, NULL, 8, out));
    T_OK(gp_iota(c, GP_U8, NULL, NULL, 0, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("fill");
    TCase *c = t_case(s, "fill");
    tcase_add_loop_test(c, test_fill_sizes, 0, ITEM_SIZES);
    tcase_add_loop_test(c, test_fill_offsets, 0, 17);
    tcase_add_loop_test(c, test_fill_of_large_outputs, 0, 7);
    tcase_add_loop_test(c, test_fill_device_n, 0, 6);
    c = t_case(s, "iota");
    tcase_add_loop_test(c, test_iota_sizes, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_iota_of_large_outputs, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_iota_rounds_once, 0, 11);
    tcase_add_loop_test(c, test_iota_device_n, 0, 6);
    c = t_case(s, "capture");
    tcase_add_test(c, test_fills_are_captured);
    c = t_case(s, "errors");
    tcase_add_test(c, test_fill_errors);
    tcase_add_test(c, test_iota_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
