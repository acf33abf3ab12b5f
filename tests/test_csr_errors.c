/* SPDX-License-Identifier: MIT */
/* Every error code of every call of csr.h, and the workspace figures. */
#include <stddef.h>

#include "csr_cases.h"

/* Arguments of all calls, valid as they are: a 4 x 5 matrix of 6 entries. */
struct valid {
    gp_coo_desc d;
    gp_dtype index, offset, value;
    size_t rows, cols, nnz;
    t_array in_rows, in_cols, in_values, pointers, out_cols, out_values, out_nnz, out_pointers, x,
        y;
    void *p_rows, *p_cols, *p_values, *p_pointers, *p_out_cols, *p_out_values, *p_out_nnz;
    void *p_out_pointers, *p_x, *p_y;
};

static struct valid valid_new(void)
{
    static const uint32_t rows[] = {0, 0, 1, 2, 2, 3}, cols[] = {0, 4, 1, 2, 3, 0};
    static const uint32_t pointers[] = {0, 2, 3, 5, 6};
    static const float values[] = {1, 2, 3, 4, 5, 6};
    gp_coo_desc d = GP_COO_DESC_INIT;
    struct valid v = {.d = d, .index = GP_U32, .offset = GP_U32, .value = GP_F32};
    v.rows = 4;
    v.cols = 5;
    v.nnz = 6;
    v.in_rows = t_new_from(rows, sizeof rows, 0);
    v.in_cols = t_new_from(cols, sizeof cols, 0);
    v.in_values = t_new_from(values, sizeof values, 0);
    v.pointers = t_new_from(pointers, sizeof pointers, 0);
    v.x = t_new_from(values, 20, 0);
    t_array *outputs[] = {&v.out_cols, &v.out_values, &v.out_nnz, &v.out_pointers, &v.y};
    for (int i = 0; i < 5; i++)
        *outputs[i] = t_new(64, 0);
    v.p_rows = v.in_rows.data;
    v.p_cols = v.in_cols.data;
    v.p_values = v.in_values.data;
    v.p_pointers = v.pointers.data;
    v.p_out_cols = v.out_cols.data;
    v.p_out_values = v.out_values.data;
    v.p_out_nnz = v.out_nnz.data;
    v.p_out_pointers = v.out_pointers.data;
    v.p_x = v.x.data;
    v.p_y = v.y.data;
    return v;
}

static void valid_free(struct valid *v)
{
    t_array *all[] = {&v->in_rows,    &v->in_cols, &v->in_values,    &v->pointers, &v->out_cols,
                      &v->out_values, &v->out_nnz, &v->out_pointers, &v->x,        &v->y};
    for (int i = 0; i < 10; i++)
        t_free(all[i]);
}

enum call { POINTERS, UNSORTED, FROM_COO, TO_COO, TRANSPOSE, COLUMNS, FILTER, CHECK, SPMV, CALLS };

static const gp_csr_filter_desc *filter_of(const struct valid *v)
{
    static gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.entries = GP_ENTRIES_LOWER;
    d.index_dtype = v->d.index_dtype;
    d.offset_dtype = v->d.offset_dtype;
    d.value_dtype = v->d.value_dtype;
    return &d;
}

static gp_status run_call(enum call which, gp_context *ctx, const struct valid *v)
{
    switch (which) {
    case POINTERS:
        return gp_csr_row_pointers(ctx, v->index, v->p_rows, v->nnz, v->rows, v->offset,
                                   v->p_out_pointers);
    case UNSORTED:
        return gp_csr_row_pointers_unsorted(ctx, v->index, v->p_rows, v->nnz, v->rows, v->offset,
                                            v->p_out_pointers);
    case FROM_COO:
        return gp_csr_from_coo(ctx, &v->d, v->rows, v->cols, v->p_rows, v->p_cols, v->p_values,
                               v->nnz, v->p_out_pointers, v->p_out_cols, v->p_out_values,
                               v->p_out_nnz);
    case TO_COO:
        return gp_csr_to_coo(ctx, v->offset, v->p_pointers, v->rows, v->nnz, v->index,
                             v->p_out_cols);
    case TRANSPOSE:
        return gp_csr_transpose(ctx, &v->d, v->rows, v->cols, v->nnz, v->p_pointers, v->p_cols,
                                v->p_values, v->p_out_pointers, v->p_out_cols, v->p_out_values);
    case COLUMNS:
        return gp_csr_sort_columns(ctx, &v->d, v->rows, v->cols, v->nnz, v->p_pointers, v->p_cols,
                                   v->p_values, v->p_out_cols, v->p_out_values);
    case FILTER:
        return gp_csr_filter(ctx, filter_of(v), v->rows, v->cols, v->nnz, v->p_pointers, v->p_cols,
                             v->p_values, v->p_out_pointers, v->p_out_cols, v->p_out_values,
                             v->p_out_nnz);
    case CHECK:
        return gp_check_csr(ctx, v->index, v->offset, v->rows, v->cols, v->nnz, v->p_pointers,
                            v->p_cols);
    default:
        return gp_spmv(ctx, v->index, v->offset, v->value, v->rows, v->cols, v->nnz, v->p_pointers,
                       v->p_cols, v->p_values, NULL, v->p_x, NULL, v->p_y);
    }
}

static gp_status run_bytes(enum call which, const gp_target *target, const struct valid *v,
                           size_t *bytes)
{
    switch (which) {
    case UNSORTED:
        return gp_csr_row_pointers_unsorted_workspace_bytes(target, v->index, v->nnz, v->rows,
                                                            v->offset, bytes);
    case FROM_COO:
        return gp_csr_from_coo_workspace_bytes(target, &v->d, v->rows, v->cols, v->nnz, bytes);
    case TO_COO:
        return gp_csr_to_coo_workspace_bytes(target, v->offset, v->rows, v->nnz, v->index, bytes);
    case TRANSPOSE:
        return gp_csr_transpose_workspace_bytes(target, &v->d, v->rows, v->cols, v->nnz, bytes);
    case COLUMNS:
        return gp_csr_sort_columns_workspace_bytes(target, &v->d, v->rows, v->cols, v->nnz, bytes);
    case FILTER:
        return gp_csr_filter_workspace_bytes(target, filter_of(v), v->rows, v->cols, v->nnz, bytes);
    case SPMV:
        return gp_spmv_workspace_bytes(target, v->index, v->offset, v->value, v->rows, v->cols,
                                       v->nnz, bytes);
    default:
        *bytes = 0; /* takes none */
        return GP_OK;
    }
}

static bool has_bytes(enum call which)
{
    return which != POINTERS && which != CHECK;
}

static void outputs_untouched(const struct valid *v)
{
    t_check_untouched(&v->out_cols);
    t_check_untouched(&v->out_values);
    t_check_untouched(&v->out_nnz);
    t_check_untouched(&v->out_pointers);
    t_check_untouched(&v->y);
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

/* ---- workspace ---- */

/* Hands out memory between guards, as long as it lasts. */
enum { BLOCKS_MAX = 8 };
struct budget {
    size_t bytes;
    t_array blocks[BLOCKS_MAX];
};

static void *budget_allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    struct budget *b = user;
    (void)alignment;
    (void)stream;
    for (int i = 0; i < BLOCKS_MAX && bytes <= b->bytes; i++) {
        if (!b->blocks[i].data) {
            b->blocks[i] = t_new(bytes, 0);
            return b->blocks[i].data;
        }
    }
    return NULL;
}

static void budget_release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    struct budget *b = user;
    (void)bytes;
    (void)stream;
    for (int i = 0; i < BLOCKS_MAX; i++) {
        if (b->blocks[i].data == memory) {
            t_check_guards(&b->blocks[i]);
            t_free(&b->blocks[i]);
            memset(&b->blocks[i], 0, sizeof b->blocks[i]);
        }
    }
}

static gp_context *budget_context(struct budget *b)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx = NULL;
    o.backend = gp_context_backend(t_ctx());
    o.threads = 2;
    o.allocator = (gp_allocator){b, budget_allocate, budget_release};
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

/* With exactly the workspace that was asked for beforehand, calls do not allocate. */
START_TEST(test_workspace_figures_suffice)
{
    enum call which = (enum call)_i;
    struct valid v = valid_new();
    struct budget b = {.bytes = SIZE_MAX};
    gp_context *ctx = budget_context(&b);
    gp_target target = GP_TARGET_INIT;
    size_t bytes, most;
    target.backend = gp_context_backend(t_ctx());
    target.threads = 2;
    T_OK(run_bytes(which, &target, &v, &bytes));
    T_OK(run_bytes(which, NULL, &v, &most));
    ck_assert_uint_le(bytes, most);
    T_OK(gp_context_reserve(ctx, bytes + (which == CHECK ? 256 : 0)));
    b.bytes = 0;
    ck_assert_msg(run_call(which, ctx, &v) == GP_OK, "%s", gp_last_error(ctx));
    ck_assert_int_eq(gp_context_synchronize(ctx), GP_OK);
    gp_context_destroy(ctx);
    valid_free(&v);
}
END_TEST

/* As many counters as the call may take. */
START_TEST(test_workspace_of_counters_suffices)
{
    struct budget b = {.bytes = SIZE_MAX};
    gp_context *ctx = budget_context(&b);
    gp_target target = GP_TARGET_INIT;
    size_t bytes, nnz = 100000, rows = 50000;
    t_array in = t_new(nnz * 4, 0), out = t_new((rows + 1) * 4, 0);
    uint32_t *zeros = t_host(nnz * 4);
    memset(zeros, 0, nnz * 4);
    t_put(&in, zeros, nnz * 4);
    target.backend = gp_context_backend(t_ctx());
    target.threads = 2;
    T_OK(gp_csr_row_pointers_unsorted_workspace_bytes(&target, GP_U32, nnz, rows, GP_U32, &bytes));
    T_OK(gp_context_reserve(ctx, bytes));
    b.bytes = 0;
    T_OK(gp_csr_row_pointers_unsorted(ctx, GP_U32, in.data, nnz, rows, GP_U32, out.data));
    T_OK(gp_context_synchronize(ctx));
    gp_context_destroy(ctx);
    t_free(&in);
    t_free(&out);
    free(zeros);
}
END_TEST

START_TEST(test_workspace_allocation_fails)
{
    enum call which = (enum call)_i;
    struct valid v = valid_new();
    struct budget b = {.bytes = 0};
    gp_context *ctx = budget_context(&b);
    gp_status s = run_call(which, ctx, &v);
    bool none = which == POINTERS || which == TO_COO;
    ck_assert_int_eq(s, none ? GP_OK : GP_ERROR_MEMORY);
    ck_assert_int_eq(gp_context_synchronize(ctx), GP_OK);
    if (!none)
        outputs_untouched(&v);
    gp_context_destroy(ctx);
    valid_free(&v);
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
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_workspace_figures_suffice, 0, CALLS);
    tcase_add_test(c, test_workspace_of_counters_suffices);
    tcase_add_loop_test(c, test_workspace_allocation_fails, 0, CALLS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
