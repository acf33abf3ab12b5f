/* SPDX-License-Identifier: MIT */
/* The workspace figures of csr.h suffice, and calls without memory write nothing. */
#include <stddef.h>

#include "csr_valid.h"

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
    Suite *s = suite_create("csr_workspace");
    TCase *c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_workspace_figures_suffice, 0, CALLS);
    tcase_add_test(c, test_workspace_of_counters_suffices);
    tcase_add_loop_test(c, test_workspace_allocation_fails, 0, CALLS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
