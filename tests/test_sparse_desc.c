/* SPDX-License-Identifier: MIT */
/* The forms with a descriptor of the calls in balance.h and csr.h: they do what the short forms do,
 * and name the members of the descriptor in their own errors. */
#include <stdio.h>
#include <string.h>

#include "every_call.h"
#include "gp_test.h"

enum { N = 3000 };

typedef const every *E;

/* ---- results --------------------------------------------------------------------------------- */

static int find_call(const char *name, size_t length)
{
    for (int call = 0; call < EVERY_CALLS; call++)
        if (strlen(every_name(call)) == length && strncmp(every_name(call), name, length) == 0)
            return call;
    return -1;
}

START_TEST(test_forms_with_a_descriptor_give_the_same)
{
    static const size_t sizes[] = {100, N, 100003};
    int compared = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        every e = every_new(t_ctx(), sizes[s]);
        for (int call = 0; call < EVERY_CALLS; call++) {
            const char *name = every_name(call);
            const size_t length = strlen(name);
            uint64_t hash, of_short;
            if (length < 3 || strcmp(name + length - 3, "_by") != 0)
                continue;
            if (strcmp(name, "lexsort_by") == 0) /* of keys in parts: no form of lexsort */
                continue;
            const int other = find_call(name, length - 3);
            if (other < 0)
                continue;
            T_OK(every_hash(t_ctx(), &e, call, &hash));
            T_OK(every_hash(t_ctx(), &e, other, &of_short));
            ck_assert_msg(hash == of_short, "%s, %zu items", name, sizes[s]);
            compared++;
        }
        every_free(t_ctx(), &e);
    }
    ck_assert_int_ge(compared, 3 * 17);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

/* The calls, each with a descriptor of its kind. */
#define BALANCE_CALLS(X)                                                                           \
    X(gp_balance_search_by, GP_U32, 0, GP_U32, 0, e->offsets, e->segments, e->n, e->out[0],        \
      e->out[1])                                                                                   \
    X(gp_expand_by, GP_U32, 0, 0, 4, e->keys, e->offsets, e->segments, e->n, e->out[0])            \
    X(gp_expand_counts_by, 0, GP_U32, 0, 4, e->keys, e->counts, e->n, e->n, e->out[0], e->count)   \
    X(gp_merge_path_partition_by, GP_U32, 0, 0, 0, e->offsets, e->segments, e->n, 7, e->out[0],    \
      e->out[1])                                                                                   \
    X(gp_check_offsets_by, GP_U32, 0, 0, 0, e->offsets, e->segments, e->n)

#define CSR_CALLS(X)                                                                               \
    X(gp_csr_row_pointers_by, 0, e->sorted, e->n, 1000, e->out[0])                                 \
    X(gp_csr_row_pointers_unsorted_by, 0, e->keys, e->n, 1000, e->out[0])                          \
    X(gp_csr_to_coo_by, 0, e->offsets, e->segments, e->n, e->out[0])                               \
    X(gp_check_csr_by, 0, 0, e->n, 0, e->offsets, NULL)                                            \
    X(gp_spmv_by, GP_F32, e->segments, e->n, e->n, e->offsets, e->cols, e->floats, NULL,           \
      e->floats, NULL, e->out[0])

#define BOUND_CALLS(X) X(gp_lower_bound_by) X(gp_upper_bound_by)

#define RUN_BALANCE(name, offset, count, index, item, ...)                                         \
    static gp_status run_##name(E e, const gp_balance_desc *d)                                     \
    {                                                                                              \
        return name(t_ctx(), d, __VA_ARGS__);                                                      \
    }
#define RUN_CSR(name, value, ...)                                                                  \
    static gp_status run_##name(E e, const gp_csr_desc *d)                                         \
    {                                                                                              \
        return name(t_ctx(), d, __VA_ARGS__);                                                      \
    }
#define RUN_BOUND(name)                                                                            \
    static gp_status run_##name(E e, const gp_bound_desc *d)                                       \
    {                                                                                              \
        return name(t_ctx(), d, e->sorted, e->n, e->keys, e->n, e->out[0]);                        \
    }
BALANCE_CALLS(RUN_BALANCE)
CSR_CALLS(RUN_CSR)
BOUND_CALLS(RUN_BOUND)

#define BALANCE_ROW(name, offset, count, index, item, ...)                                         \
    {#name,                                                                                        \
     run_##name,                                                                                   \
     {sizeof(gp_balance_desc), item, (gp_dtype)offset, (gp_dtype)count, (gp_dtype)index, 0, NULL,  \
      NULL, NULL}},
static struct {
    const char *name;
    gp_status (*run)(E e, const gp_balance_desc *d);
    gp_balance_desc good;
} balance_rows[] = {BALANCE_CALLS(BALANCE_ROW)};

#define CSR_ROW(name, value, ...)                                                                  \
    {#name,                                                                                        \
     run_##name,                                                                                   \
     {sizeof(gp_csr_desc), GP_U32, GP_U32, (gp_dtype)value, 0, NULL, NULL, 0, 0}},
static struct {
    const char *name;
    gp_status (*run)(E e, const gp_csr_desc *d);
    gp_csr_desc good;
} csr_rows[] = {CSR_CALLS(CSR_ROW)};

#define BOUND_ROW(name) {#name, run_##name, {sizeof(gp_bound_desc), GP_U32, GP_U32, NULL, NULL}},
static struct {
    const char *name;
    gp_status (*run)(E e, const gp_bound_desc *d);
    gp_bound_desc good;
} bound_rows[] = {BOUND_CALLS(BOUND_ROW)};

/* What a call that was refused says, and that it wrote nothing. */
static void refused(E e, const char *name, gp_status expected, gp_status status, uint64_t filled,
                    const char *part)
{
    char text[200];
    uint64_t hash;
    snprintf(text, sizeof text, "%s: %s", name, part);
    ck_assert_msg(status == expected, "%s, %s: status %d", name, part, (int)status);
    ck_assert_msg(strncmp(gp_last_error(t_ctx()), text, strlen(text)) == 0, "\"%s\" for \"%s\"",
                  gp_last_error(t_ctx()), text);
    T_OK(every_read(t_ctx(), e, &hash));
    ck_assert_msg(hash == filled, "%s, %s: has written", name, part);
}

/* A row with one member changed. */
#define REFUSED(row, member, value, status, part)                                                  \
    do {                                                                                           \
        __typeof__((row).good) d_ = (row).good;                                                    \
        d_.member = (value);                                                                       \
        refused(&e, (row).name, (status), (row).run(&e, &d_), filled, part);                       \
    } while (0)

#define ERRORS_BEGIN                                                                               \
    every e = every_new(t_ctx(), N);                                                               \
    uint64_t filled;                                                                               \
    T_OK(every_fill(t_ctx(), &e));                                                                 \
    T_OK(every_read(t_ctx(), &e, &filled))

START_TEST(test_balance_errors_name_members)
{
    ERRORS_BEGIN;
    for (size_t i = 0; i < sizeof balance_rows / sizeof balance_rows[0]; i++) {
        const gp_balance_desc *g = &balance_rows[i].good;
        refused(&e, balance_rows[i].name, GP_ERROR_POINTER, balance_rows[i].run(&e, NULL), filled,
                "desc is NULL");
        REFUSED(balance_rows[i], size, 8, GP_ERROR_ARGUMENT, "desc->size is 8, expected ");
        REFUSED(balance_rows[i], item_bytes, 65537, GP_ERROR_ARGUMENT,
                g->item_bytes ? "desc->item_bytes is 65537, expected 1 to 65536"
                              : "desc->item_bytes is 65537, expected 0");
        REFUSED(balance_rows[i], offset_dtype, GP_F32, GP_ERROR_DTYPE,
                g->offset_dtype ? "desc->offset_dtype is f32, expected u32"
                                : "desc->offset_dtype is f32, expected 0");
        REFUSED(balance_rows[i], count_dtype, GP_I32, GP_ERROR_DTYPE,
                g->count_dtype ? "desc->count_dtype is i32, expected u32 or u64"
                               : "desc->count_dtype is i32, expected 0");
        REFUSED(balance_rows[i], index_dtype, GP_F64, GP_ERROR_DTYPE,
                g->index_dtype ? "desc->index_dtype is f64, expected u32"
                               : "desc->index_dtype is f64, expected 0");
        REFUSED(balance_rows[i], reserved, -1, GP_ERROR_ARGUMENT,
                "desc->reserved is -1, expected 0");
    }
    every_free(t_ctx(), &e);
}
END_TEST

START_TEST(test_csr_errors_name_members)
{
    ERRORS_BEGIN;
    for (size_t i = 0; i < sizeof csr_rows / sizeof csr_rows[0]; i++) {
        const bool values = csr_rows[i].good.value_dtype != 0;
        refused(&e, csr_rows[i].name, GP_ERROR_POINTER, csr_rows[i].run(&e, NULL), filled,
                "desc is NULL");
        REFUSED(csr_rows[i], size, 8, GP_ERROR_ARGUMENT, "desc->size is 8, expected ");
        REFUSED(csr_rows[i], index_dtype, GP_F32, GP_ERROR_DTYPE,
                "desc->index_dtype is f32, expected");
        REFUSED(csr_rows[i], offset_dtype, (gp_dtype)0, GP_ERROR_DTYPE, "desc->offset_dtype is 0");
        REFUSED(
            csr_rows[i], index_dtype, GP_I64, GP_ERROR_DTYPE,
            "desc->offset_dtype is u32, expected one as wide as desc->index_dtype i64 or wider");
        REFUSED(csr_rows[i], value_dtype, GP_I8, GP_ERROR_DTYPE,
                values ? "desc->value_dtype is i8, expected f16, bf16, f32 or f64"
                       : "desc->value_dtype is i8, expected 0");
        REFUSED(csr_rows[i], hot_columns, 5, GP_ERROR_ARGUMENT,
                "desc->hot_columns is 5, expected 0");
        REFUSED(csr_rows[i], device_alpha, 2, GP_ERROR_ARGUMENT,
                "desc->device_alpha is 2, expected 0");
        REFUSED(csr_rows[i], device_beta, -1, GP_ERROR_ARGUMENT,
                "desc->device_beta is -1, expected 0");
    }
    every_free(t_ctx(), &e);
}
END_TEST

START_TEST(test_bound_errors_name_members)
{
    ERRORS_BEGIN;
    for (size_t i = 0; i < sizeof bound_rows / sizeof bound_rows[0]; i++) {
        refused(&e, bound_rows[i].name, GP_ERROR_POINTER, bound_rows[i].run(&e, NULL), filled,
                "desc is NULL");
        REFUSED(bound_rows[i], size, 8, GP_ERROR_ARGUMENT, "desc->size is 8, expected ");
        REFUSED(bound_rows[i], dtype, (gp_dtype)0, GP_ERROR_DTYPE, "desc->dtype is 0, expected");
        REFUSED(bound_rows[i], index_dtype, GP_I16, GP_ERROR_DTYPE,
                "desc->index_dtype is i16, expected");
    }
    every_free(t_ctx(), &e);
}
END_TEST

/* What does not fit a dtype names the member, too; short forms name their parameter. */
START_TEST(test_numbers_that_do_not_fit_name_where_the_dtype_came_from)
{
    const size_t many = (size_t)1 << 33;
    ERRORS_BEGIN;
    refused(
        &e, "gp_expand_by", GP_ERROR_ARGUMENT,
        gp_expand_by(t_ctx(), &balance_rows[1].good, e.keys, e.offsets, e.segments, many, e.out[0]),
        filled, "num_items is 8589934592, more than desc->offset_dtype u32 can hold");
    refused(&e, "gp_expand", GP_ERROR_ARGUMENT,
            gp_expand(t_ctx(), 4, e.keys, GP_U32, e.offsets, e.segments, many, e.out[0]), filled,
            "num_items is 8589934592, more than offset_dtype u32 can hold");
    refused(&e, "gp_lower_bound_by", GP_ERROR_ARGUMENT,
            gp_lower_bound_by(t_ctx(), &bound_rows[0].good, e.sorted, many, e.keys, e.n, e.out[0]),
            filled, "n is 8589934592, more than desc->index_dtype u32 can hold");
    refused(&e, "gp_csr_to_coo_by", GP_ERROR_ARGUMENT,
            gp_csr_to_coo_by(t_ctx(), &csr_rows[2].good, e.offsets, many, e.n, e.out[0]), filled,
            "num_rows is 8589934592, more than desc->index_dtype u32 can number");
    refused(&e, "gp_csr_to_coo", GP_ERROR_OVERFLOW,
            gp_csr_to_coo(t_ctx(), GP_U32, e.offsets, e.segments, many, GP_U32, e.out[0]), filled,
            "nnz is 8589934592, which does not fit offset_dtype u32");
    every_free(t_ctx(), &e);
}
END_TEST

/* What is found in data names the form that was called. */
START_TEST(test_findings_name_the_form)
{
    every e = every_new(t_ctx(), N);
    gp_csr_desc d = csr_rows[2].good;
    char text[120];
    T_OK(gp_csr_to_coo_by(t_ctx(), &d, e.offsets, e.segments, e.n - 1, e.out[0]));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    snprintf(text, sizeof text,
             "gp_csr_to_coo_by: row_pointers[%zu] - row_pointers[0] is %zu, expected %zu",
             e.segments, e.n, e.n - 1);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
    every_free(t_ctx(), &e);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("sparse_desc");
    TCase *c = t_case(s, "forms");
    tcase_add_test(c, test_forms_with_a_descriptor_give_the_same);
    tcase_add_test(c, test_findings_name_the_form);
    c = t_case(s, "errors");
    tcase_add_test(c, test_balance_errors_name_members);
    tcase_add_test(c, test_csr_errors_name_members);
    tcase_add_test(c, test_bound_errors_name_members);
    tcase_add_test(c, test_numbers_that_do_not_fit_name_where_the_dtype_came_from);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
