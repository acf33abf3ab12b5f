/* SPDX-License-Identifier: MIT */
/* Every error code of every call of csr.h. */
#include <stddef.h>

#include "csr_valid.h"

static bool has_bytes(enum call which)
{
    return which != POINTERS && which != CHECK;
}

/* One value changed: the call and, if sizes or types are at fault, its workspace figure fail. */
static void expect(enum call which, const struct valid *v, gp_status status, bool sizes)
{
    size_t bytes;
    T_STATUS(status, run_call(which, t_ctx(), v));
    outputs_untouched(v);
    if (sizes && has_bytes(which))
        T_STATUS(status, run_bytes(which, NULL, v, &bytes));
}

static bool uses_desc(enum call which)
{
    return which == FROM_COO || which == TRANSPOSE || which == COLUMNS || which == FILTER;
}

START_TEST(test_errors_of_types)
{
    enum call which = (enum call)_i;
    struct valid base = valid_new(), v = base;
    T_OK(run_call(which, t_ctx(), &base));
    t_array *outputs[] = {&base.out_cols, &base.out_values, &base.out_nnz, &base.out_pointers,
                          &base.y};
    for (int i = 0; i < 5; i++)
        t_poison(outputs[i]);
    v.index = v.d.index_dtype = GP_F32;
    expect(which, &v, GP_ERROR_DTYPE, true);
    v.index = v.d.index_dtype = (gp_dtype)99;
    expect(which, &v, GP_ERROR_DTYPE, true);
    v = base;
    v.offset = v.d.offset_dtype = GP_U16;
    expect(which, &v, GP_ERROR_DTYPE, true);
    v = base;
    v.index = v.d.index_dtype = GP_U64; /* wider than the offsets */
    expect(which, &v, GP_ERROR_DTYPE, true);
    v = base;
    v.value = v.d.value_dtype = (gp_dtype)99;
    if (which == SPMV || uses_desc(which))
        expect(which, &v, GP_ERROR_DTYPE, true);
    v.value = GP_I32;
    if (which == SPMV)
        expect(which, &v, GP_ERROR_DTYPE, true);
    valid_free(&base);
}
END_TEST

START_TEST(test_errors_of_sizes)
{
    enum call which = (enum call)_i;
    struct valid base = valid_new(), v = base;
    v.rows = ((size_t)1 << 40) + 1;
    expect(which, &v, GP_ERROR_ARGUMENT, true);
    v.rows = ((size_t)1 << 32) + 1;
    expect(which, &v, GP_ERROR_ARGUMENT, true);
    v = base;
    v.index = v.d.index_dtype = v.offset = v.d.offset_dtype = GP_I32;
    v.rows = ((size_t)1 << 31) + 1;
    expect(which, &v, GP_ERROR_ARGUMENT, true);
    v = base;
    v.cols = ((size_t)1 << 32) + 1;
    if (uses_desc(which) || which == CHECK || which == SPMV)
        expect(which, &v, GP_ERROR_ARGUMENT, true);
    v = base;
    v.nnz = ((size_t)1 << 40) + 1;
    expect(which, &v, GP_ERROR_ARGUMENT, true);
    v.nnz = (size_t)1 << 32;
    expect(which, &v, GP_ERROR_OVERFLOW, true);
    v.offset = v.d.offset_dtype = v.index = v.d.index_dtype = GP_I32;
    v.nnz = (size_t)1 << 31;
    expect(which, &v, GP_ERROR_OVERFLOW, true);
    valid_free(&base);
}
END_TEST

START_TEST(test_errors_of_descriptors)
{
    enum call which = _i ? FROM_COO : TRANSPOSE;
    struct valid base = valid_new(), v = base;
    v.d.size = 8;
    expect(which, &v, GP_ERROR_ARGUMENT, true);
    v = base;
    for (int wrong = -1; which == FROM_COO && wrong <= 8; wrong++) {
        v.d.duplicates = (gp_duplicates)wrong;
        if (wrong < GP_DUPLICATES_SUM || wrong > GP_DUPLICATES_ERROR)
            expect(which, &v, GP_ERROR_ARGUMENT, true);
    }
    v = base;
    v.d.algorithm = (gp_algorithm)-1;
    expect(which, &v, GP_ERROR_ARGUMENT, true);
    v.d.algorithm = (gp_algorithm)(GP_ALGORITHM_SERIAL + 1);
    expect(which, &v, GP_ERROR_ARGUMENT, true);
    for (int a = GP_ALGORITHM_LOOKAHEAD; a <= GP_ALGORITHM_SERIAL; a++) {
        v.d.algorithm = (gp_algorithm)a;
        if (a != GP_ALGORITHM_CUB)
            expect(which, &v, GP_ERROR_UNSUPPORTED, true);
    }
    v.d.algorithm = GP_ALGORITHM_CUB;
    if (!t_is_cuda())
        expect(which, &v, GP_ERROR_UNSUPPORTED, false);
    T_STATUS(GP_ERROR_POINTER,
             gp_csr_from_coo(t_ctx(), NULL, 1, 1, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    T_STATUS(GP_ERROR_POINTER,
             gp_csr_transpose(t_ctx(), NULL, 1, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL));
    valid_free(&base);
}
END_TEST

/* Members of struct valid that a call takes, by offset. */
#define MEMBER(name) offsetof(struct valid, name)
static const size_t arrays_of[CALLS][8] = {
    {MEMBER(p_rows), MEMBER(p_out_pointers)},
    {MEMBER(p_rows), MEMBER(p_out_pointers)},
    {MEMBER(p_rows), MEMBER(p_cols), MEMBER(p_values), MEMBER(p_out_pointers), MEMBER(p_out_cols),
     MEMBER(p_out_values), MEMBER(p_out_nnz)},
    {MEMBER(p_pointers), MEMBER(p_out_cols)},
    {MEMBER(p_pointers), MEMBER(p_cols), MEMBER(p_values), MEMBER(p_out_pointers),
     MEMBER(p_out_cols), MEMBER(p_out_values)},
    {MEMBER(p_pointers), MEMBER(p_cols), MEMBER(p_values), MEMBER(p_out_cols),
     MEMBER(p_out_values)},
    {MEMBER(p_pointers), MEMBER(p_cols), MEMBER(p_values), MEMBER(p_out_pointers),
     MEMBER(p_out_cols), MEMBER(p_out_values), MEMBER(p_out_nnz)},
    {MEMBER(p_pointers), MEMBER(p_cols)},
    {MEMBER(p_pointers), MEMBER(p_cols), MEMBER(p_values), MEMBER(p_x), MEMBER(p_y)},
};
static const int outputs_of[CALLS] = {1, 1, 4, 1, 3, 2, 4, 0, 1};

static void *get_pointer(const struct valid *v, size_t member)
{
    void *p;
    memcpy(&p, (const char *)v + member, sizeof p);
    return p;
}

static void set_pointer(struct valid *v, size_t member, void *p)
{
    memcpy((char *)v + member, &p, sizeof p);
}

START_TEST(test_errors_of_pointers)
{
    enum call which = (enum call)_i;
    struct valid base = valid_new(), v = base;
    size_t bytes = 0;
    static uint64_t on_host[8];
    T_STATUS(GP_ERROR_POINTER, run_call(which, NULL, &base));
    if (has_bytes(which))
        T_STATUS(GP_ERROR_POINTER, run_bytes(which, NULL, &base, NULL));
    for (int a = 0; a < 8 && arrays_of[which][a]; a++) {
        set_pointer(&v, arrays_of[which][a], NULL);
        expect(which, &v, GP_ERROR_POINTER, false);
        set_pointer(&v, arrays_of[which][a], (char *)get_pointer(&base, arrays_of[which][a]) + 1);
        expect(which, &v, GP_ERROR_POINTER, false);
        set_pointer(&v, arrays_of[which][a], on_host);
        if (t_is_cuda())
            expect(which, &v, GP_ERROR_POINTER, false);
        v = base;
    }
    gp_target target = GP_TARGET_INIT;
    target.size = 1;
    if (has_bytes(which))
        T_STATUS(GP_ERROR_ARGUMENT, run_bytes(which, &target, &base, &bytes));
    valid_free(&base);
}
END_TEST

/* Every output on every array before it. */
START_TEST(test_errors_of_overlap)
{
    enum call which = (enum call)_i;
    struct valid base = valid_new(), v = base;
    int count = 0;
    while (count < 8 && arrays_of[which][count])
        count++;
    for (int o = count - outputs_of[which]; o < count; o++) {
        for (int i = 0; i < o; i++) {
            set_pointer(&v, arrays_of[which][o], get_pointer(&base, arrays_of[which][i]));
            expect(which, &v, GP_ERROR_OVERLAP, false);
            v = base;
        }
    }
    valid_free(&base);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_errors");
    TCase *c = t_case(s, "errors");
    tcase_add_loop_test(c, test_errors_of_types, 0, CALLS);
    tcase_add_loop_test(c, test_errors_of_sizes, 0, CALLS);
    tcase_add_loop_test(c, test_errors_of_descriptors, 0, 2);
    tcase_add_loop_test(c, test_errors_of_pointers, 0, CALLS);
    tcase_add_loop_test(c, test_errors_of_overlap, 0, CALLS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
