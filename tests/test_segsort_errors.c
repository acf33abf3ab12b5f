/* SPDX-License-Identifier: MIT */
/* Segmented sorts: what is refused. */
#include <gp/segsort.h>

#include "gp_test.h"

/* Offsets that break a rule: found at once on the CPU, by the next synchronisation on CUDA. */
static void refuse_with(const uint32_t *numbers, size_t count, gp_dtype offset_dtype, size_t n,
                        const gp_radix_sort_options *o)
{
    t_array keys = t_new(n * 4, 0), values = t_new(n * 8, 0), out = t_new(n * 4, 0);
    t_array moved = t_new(n * 8, 0), offsets = t_new_from(numbers, (count + 1) * 4, 0);
    gp_status s = gp_radix_sort_segmented(t_ctx(), GP_U32, keys.data, n, offset_dtype, offsets.data,
                                          count, out.data, o);
    ck_assert_int_eq(s, t_is_cuda() ? GP_OK : GP_ERROR_DATA);
    if (t_is_cuda())
        ck_assert_int_eq(gp_context_synchronize(t_ctx()), GP_ERROR_DATA);
    else
        ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "offsets["));
    s = gp_radix_sort_segmented_pairs(t_ctx(), GP_U32, keys.data, 8, values.data, n, offset_dtype,
                                      offsets.data, count, out.data, moved.data, o);
    ck_assert_int_eq(s, t_is_cuda() ? GP_OK : GP_ERROR_DATA);
    if (t_is_cuda()) {
        ck_assert_int_eq(gp_context_synchronize(t_ctx()), GP_ERROR_DATA);
    } else {
        t_check_untouched(&out);
        t_check_untouched(&moved);
    }
    t_check_guards(&out);
    t_check_guards(&moved);
    t_free(&keys), t_free(&values), t_free(&out), t_free(&moved), t_free(&offsets);
}

/* Whatever bits are compared, or none. */
static void refuse_offsets(const uint32_t *numbers, size_t count, gp_dtype offset_dtype, size_t n)
{
    static const int ranges[][2] = {{0, 0}, {5, 9}, {32, 32}, {7, 7}};
    for (int r = 0; r < 4; r++) {
        gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
        o.begin_bit = ranges[r][0];
        o.end_bit = ranges[r][1];
        refuse_with(numbers, count, offset_dtype, n, &o);
    }
}

START_TEST(test_segments_that_fall_are_refused)
{
    refuse_offsets((const uint32_t[]){0, 5, 4, 8}, 3, GP_U32, 8);
    refuse_offsets((const uint32_t[]){0, 9, 8}, 2, GP_U32, 8);
    refuse_offsets((const uint32_t[]){0, 4, 7}, 2, GP_U32, 8);
    refuse_offsets((const uint32_t[]){1, 4, 10}, 2, GP_U32, 8);
    refuse_offsets((const uint32_t[]){0, 4, UINT32_MAX, 8}, 3, GP_I32, 8);
    refuse_offsets((const uint32_t[]){UINT32_MAX, 4, 7}, 2, GP_I32, 8);
    refuse_offsets((const uint32_t[]){0, 4, 7}, 2, GP_U32, 0);
    refuse_offsets((const uint32_t[]){3, 2, 3}, 2, GP_U32, 0);
    refuse_offsets((const uint32_t[]){UINT32_MAX}, 0, GP_I32, 0);
}
END_TEST

/* Of more items than one tile has; the second offset is in the same place of the word of another
 * 2^32 words as the third. */
START_TEST(test_segments_beyond_many_items_are_refused)
{
    const size_t n = 20001;
    const uint64_t numbers[] = {0, ((uint64_t)1 << 37) + 100, 101, n};
    t_array keys = t_new(n * 4, 0), out = t_new(n * 4, 0);
    t_array offsets = t_new_from(numbers, sizeof numbers, 0);
    for (int i = 0; i < 2; i++) {
        const gp_status s = gp_radix_sort_segmented(
            t_ctx(), GP_U32, keys.data, n, i ? GP_I64 : GP_U64, offsets.data, 3, out.data, NULL);
        ck_assert_int_eq(s, t_is_cuda() ? GP_OK : GP_ERROR_DATA);
        if (t_is_cuda())
            ck_assert_int_eq(gp_context_synchronize(t_ctx()), GP_ERROR_DATA);
        else
            t_check_untouched(&out);
        t_check_guards(&out);
    }
    t_free(&keys), t_free(&out), t_free(&offsets);
}
END_TEST

START_TEST(test_segmented_errors)
{
    uint32_t numbers[] = {0, 3, 8};
    t_array a = t_new(2048, 0), offs = t_new_from(numbers, sizeof numbers, 0);
    char *ki = a.data, *vi = ki + 512, *ko = ki + 1024, *vo = ki + 1536, *f = offs.data;
    gp_context *c = t_ctx();
    size_t big = ((size_t)1 << 40) + 1;
#define SORT(...) gp_radix_sort_segmented(__VA_ARGS__, NULL)
#define PAIRS(...) gp_radix_sort_segmented_pairs(__VA_ARGS__, NULL)
    T_STATUS(GP_ERROR_POINTER, SORT(NULL, GP_U32, ki, 8, GP_U32, f, 2, ko));
    T_STATUS(GP_ERROR_DTYPE, SORT(c, (gp_dtype)0, ki, 8, GP_U32, f, 2, ko));
    T_STATUS(GP_ERROR_POINTER, SORT(c, GP_U32, NULL, 8, GP_U32, f, 2, ko));
    T_STATUS(GP_ERROR_POINTER, SORT(c, GP_U32, ki + 2, 8, GP_U32, f, 2, ko));
    T_STATUS(GP_ERROR_ARGUMENT, SORT(c, GP_U8, ki, big, GP_U64, f, 2, ko));
    T_STATUS(GP_ERROR_ARGUMENT, SORT(c, GP_U8, ki, (size_t)1 << 32, GP_U32, f, 2, ko));
    T_STATUS(GP_ERROR_DTYPE, SORT(c, GP_U32, ki, 8, GP_F32, f, 2, ko));
    T_STATUS(GP_ERROR_POINTER, SORT(c, GP_U32, ki, 8, GP_U32, NULL, 2, ko));
    T_STATUS(GP_ERROR_POINTER, SORT(c, GP_U32, ki, 8, GP_U32, f + 1, 2, ko));
    T_STATUS(GP_ERROR_ARGUMENT, SORT(c, GP_U32, ki, 8, GP_U32, f, 0, ko));
    T_STATUS(GP_ERROR_ARGUMENT, SORT(c, GP_U32, ki, 8, GP_U32, f, big, ko));
    T_STATUS(GP_ERROR_POINTER, SORT(c, GP_U32, ki, 8, GP_U32, f, 2, NULL));
    T_STATUS(GP_ERROR_OVERLAP, SORT(c, GP_U32, ki, 8, GP_U32, f, 2, ki + 4));
    T_STATUS(GP_ERROR_OVERLAP, SORT(c, GP_U32, ki, 8, GP_U32, f, 2, f));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, ki, 0, vi, 8, GP_U32, f, 2, ko, vo));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, ki, 65537, vi, 8, GP_U32, f, 2, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 4, NULL, 8, GP_U32, f, 2, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 8, vi + 4, 8, GP_U32, f, 2, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 4, vi, 8, GP_U32, f, 2, ko, NULL));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, 8, GP_U32, f, 2, vi, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, 8, GP_U32, f, 2, ko, ko + 4));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, 8, GP_U32, f, 2, ko, vi + 4));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, 8, GP_U32, f, 2, ko, f));
#undef SORT
#undef PAIRS
    t_check_untouched(&a);
    t_free(&a), t_free(&offs);
}
END_TEST

START_TEST(test_segmented_option_and_size_errors)
{
    uint32_t numbers[] = {0, 3, 8};
    t_array a = t_new(1024, 0), offs = t_new_from(numbers, sizeof numbers, 0);
    gp_radix_sort_options bad[5];
    gp_target target = GP_TARGET_INIT;
    size_t bytes = 77, big = ((size_t)1 << 40) + 1;
    for (int i = 0; i < 5; i++)
        bad[i] = (gp_radix_sort_options)GP_RADIX_SORT_OPTIONS_INIT;
    bad[0].size = 3;
    bad[1].order = (gp_order)7;
    bad[2].begin_bit = 9, bad[2].end_bit = 8;
    bad[3].end_bit = 33;
    bad[4].begin_bit = -1;
#define BYTES gp_radix_sort_segmented_workspace_bytes
    for (int i = 0; i < 5; i++) {
        T_STATUS(GP_ERROR_ARGUMENT,
                 gp_radix_sort_segmented(t_ctx(), GP_U32, a.data, 8, GP_U32, offs.data, 2,
                                         (char *)a.data + 512, &bad[i]));
        T_STATUS(GP_ERROR_ARGUMENT, BYTES(NULL, GP_U32, 0, 8, 2, &bad[i], &bytes));
    }
    target.size = 1;
    T_STATUS(GP_ERROR_ARGUMENT, BYTES(&target, GP_U32, 0, 8, 2, NULL, &bytes));
    T_STATUS(GP_ERROR_DTYPE, BYTES(NULL, (gp_dtype)0, 0, 8, 2, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, BYTES(NULL, GP_U32, 65537, 8, 2, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, BYTES(NULL, GP_U32, 0, big, 2, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, BYTES(NULL, GP_U32, 0, 8, big, NULL, &bytes));
    T_STATUS(GP_ERROR_POINTER, BYTES(NULL, GP_U32, 0, 8, 2, NULL, NULL));
#undef BYTES
    ck_assert_uint_eq(bytes, 77);
    T_OK(gp_radix_sort_segmented(t_ctx(), GP_U32, NULL, 0, GP_U32, offs.data, 0, NULL, NULL));
    t_check_untouched(&a);
    t_free(&a), t_free(&offs);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("segsort_errors");
    TCase *c = t_case(s, "errors");
    tcase_add_test(c, test_segments_that_fall_are_refused);
    tcase_add_test(c, test_segments_beyond_many_items_are_refused);
    tcase_add_test(c, test_segmented_errors);
    tcase_add_test(c, test_segmented_option_and_size_errors);
    return t_main(argc, argv, s);
}
