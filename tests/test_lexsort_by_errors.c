/* SPDX-License-Identifier: MIT */
/* Wrong arguments of sorts by parts of a key and of records: what is refused, and what it says. */
#include <string.h>

#include <gp/lexsort.h>

#include "gp_test.h"

START_TEST(test_lexsort_by_errors)
{
    t_array a = t_new(4096, 0);
    gp_lexsort_desc good = GP_LEXSORT_DESC_INIT;
    gp_context *c = t_ctx();
    char *p = a.data;
    size_t bytes = 77;
    good.index_dtype = GP_U32;
    good.num_parts = 2;
    good.parts[0] = (gp_key_part){p, 4, GP_U32, GP_ASCENDING};
    good.parts[1] = (gp_key_part){p + 1, 3, GP_U16, GP_DESCENDING};
#define BAD(status, change, what)                                                                  \
    do {                                                                                           \
        gp_lexsort_desc d = good;                                                                  \
        change;                                                                                    \
        T_STATUS(status, gp_lexsort_by(c, &d, 8, p + 2048));                                       \
        ck_assert_msg(strstr(gp_last_error(c), what) != NULL, "%s", gp_last_error(c));             \
    } while (0)
    BAD(GP_ERROR_ARGUMENT, d.size = 3, "desc->size");
    BAD(GP_ERROR_DTYPE, d.index_dtype = GP_I32, "desc->index_dtype");
    BAD(GP_ERROR_ARGUMENT, d.num_parts = 0, "desc->num_parts is 0");
    BAD(GP_ERROR_ARGUMENT, d.num_parts = 9, "desc->num_parts is 9");
    BAD(GP_ERROR_DTYPE, d.parts[1].dtype = (gp_dtype)99, "desc->parts[1].dtype");
    BAD(GP_ERROR_ARGUMENT, d.parts[0].stride = 3, "desc->parts[0].stride is 3");
    BAD(GP_ERROR_ARGUMENT, d.parts[1].stride = SIZE_MAX, "desc->parts[1].stride");
    BAD(GP_ERROR_ARGUMENT, d.parts[1].order = (gp_order)2, "desc->parts[1].order");
    BAD(GP_ERROR_POINTER, d.parts[1].data = NULL, "desc->parts[1].data");
    BAD(GP_ERROR_OVERLAP, d.parts[1].data = p + 2040, "desc->parts[1].data");
    BAD(GP_ERROR_POINTER, d.device_n = (const uint64_t *)(void *)(p + 4), "desc->device_n");
    BAD(GP_ERROR_OVERLAP, d.device_n = (const uint64_t *)(void *)(p + 2056), "desc->device_n");
#undef BAD
    T_STATUS(GP_ERROR_POINTER, gp_lexsort_by(NULL, &good, 8, p + 2048));
    T_STATUS(GP_ERROR_POINTER, gp_lexsort_by(c, NULL, 8, p + 2048));
    T_STATUS(GP_ERROR_POINTER, gp_lexsort_by(c, &good, 8, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_lexsort_by(c, &good, 8, p + 2049));
    T_STATUS(GP_ERROR_ARGUMENT, gp_lexsort_by(c, &good, (size_t)1 << 32, p + 2048));
    T_STATUS(GP_ERROR_ARGUMENT, gp_lexsort_by(c, &good, ((size_t)1 << 40) + 1, p + 2048));
    T_STATUS(GP_ERROR_POINTER, gp_lexsort_by_workspace_bytes(NULL, &good, 8, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_lexsort_by_workspace_bytes(NULL, NULL, 8, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, gp_lexsort_by_workspace_bytes(NULL, &good, SIZE_MAX, &bytes));
    good.parts[0].data = good.parts[1].data = NULL;
    T_OK(gp_lexsort_by(c, &good, 0, NULL));
    ck_assert_uint_eq(bytes, 77);
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

START_TEST(test_record_sort_errors)
{
    t_array a = t_new(4096, 0);
    gp_record_sort_desc good = GP_RECORD_SORT_DESC_INIT;
    gp_context *c = t_ctx();
    char *p = a.data;
    size_t bytes = 77;
    good.record_bytes = 12;
    good.num_fields = 1;
    good.fields[0] = (gp_record_field){8, GP_U32, GP_ASCENDING};
#define BAD(status, change, what)                                                                  \
    do {                                                                                           \
        gp_record_sort_desc d = good;                                                              \
        change;                                                                                    \
        T_STATUS(status, gp_record_sort(c, &d, p, 8, p + 2048));                                   \
        ck_assert_msg(strstr(gp_last_error(c), what) != NULL, "%s", gp_last_error(c));             \
    } while (0)
    BAD(GP_ERROR_ARGUMENT, d.size = 3, "desc->size");
    BAD(GP_ERROR_ARGUMENT, d.record_bytes = 0, "desc->record_bytes");
    BAD(GP_ERROR_ARGUMENT, d.record_bytes = 65537, "desc->record_bytes");
    BAD(GP_ERROR_ARGUMENT, d.num_fields = 0, "desc->num_fields");
    BAD(GP_ERROR_DTYPE, d.fields[0].dtype = (gp_dtype)-1, "desc->fields[0].dtype");
    BAD(GP_ERROR_ARGUMENT, d.record_bytes = 3, "desc->fields[0].dtype takes 4 bytes");
    BAD(GP_ERROR_ARGUMENT, d.fields[0].offset = 9, "desc->fields[0].offset is 9");
    BAD(GP_ERROR_ARGUMENT, d.fields[0].order = (gp_order)2, "desc->fields[0].order");
    BAD(GP_ERROR_ARGUMENT, d.reserved = 1, "desc->reserved");
    BAD(GP_ERROR_OVERLAP, d.device_n = (const uint64_t *)(void *)(p + 2048), "desc->device_n");
#undef BAD
    T_STATUS(GP_ERROR_POINTER, gp_record_sort(NULL, &good, p, 8, p + 2048));
    T_STATUS(GP_ERROR_POINTER, gp_record_sort(c, NULL, p, 8, p + 2048));
    T_STATUS(GP_ERROR_POINTER, gp_record_sort(c, &good, NULL, 8, p + 2048));
    T_STATUS(GP_ERROR_POINTER, gp_record_sort(c, &good, p, 8, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_record_sort(c, &good, p + 2, 8, p + 2048));
    T_STATUS(GP_ERROR_OVERLAP, gp_record_sort(c, &good, p, 8, p + 12));
    T_STATUS(GP_ERROR_ARGUMENT, gp_record_sort(c, &good, p, ((size_t)1 << 40) + 1, p + 2048));
    T_STATUS(GP_ERROR_POINTER, gp_record_sort_workspace_bytes(NULL, &good, 8, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_record_sort_workspace_bytes(NULL, NULL, 8, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, gp_record_sort_workspace_bytes(NULL, &good, SIZE_MAX, &bytes));
    T_OK(gp_record_sort(c, &good, NULL, 0, NULL));
    ck_assert_uint_eq(bytes, 77);
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("lexsort_by_errors");
    TCase *c = t_case(s, "errors");
    tcase_add_test(c, test_lexsort_by_errors);
    tcase_add_test(c, test_record_sort_errors);
    return t_main(argc, argv, s);
}
