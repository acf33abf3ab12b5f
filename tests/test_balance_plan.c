/* SPDX-License-Identifier: MIT */
/* Plans of searches: results are those without one, whatever the plan is of. */
#include <stdlib.h>
#include <string.h>

#include <gp/balance.h>

#include "segments.h"

static gp_balance_desc desc_of(gp_dtype offset, gp_dtype index, const void *plan)
{
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    d.offset_dtype = offset;
    d.index_dtype = index;
    d.plan = plan;
    return d;
}

/* A plan of segments, in memory that fits; base: their first offset. */
static t_array plan_of(const struct t_segments *g, gp_dtype offset, uint64_t base)
{
    const gp_balance_desc d = desc_of(offset, (gp_dtype)0, NULL);
    size_t bytes;
    T_OK(gp_balance_plan_bytes(NULL, &d, g->count, g->items, &bytes));
    t_array plan = t_new(bytes, 0), offsets = t_offsets_put(g, offset, base, 0);
    T_OK(gp_balance_plan(t_ctx(), &d, offsets.data, g->count, g->items, plan.data));
    t_check_guards(&plan);
    t_free(&offsets);
    return plan;
}

static void search_check(const struct t_segments *g, gp_dtype offset, gp_dtype index, uint64_t base,
                         const t_array *plan)
{
    const size_t bytes = gp_dtype_bytes(index);
    const gp_balance_desc d = desc_of(offset, index, plan->data);
    uint64_t *segments = t_host(g->items * 8), *ranks = t_host(g->items * 8);
    for (size_t s = 0; s < g->count; s++)
        for (uint64_t i = g->offsets[s]; i < g->offsets[s + 1]; i++) {
            segments[i] = s;
            ranks[i] = i - g->offsets[s];
        }
    t_array offsets = t_offsets_put(g, offset, base, 1);
    t_array out = t_new(g->items * bytes, bytes), out_ranks = t_new(g->items * bytes, 0);
    T_OK(gp_balance_search_by(t_ctx(), &d, offsets.data, g->count, g->items, out.data,
                              out_ranks.data));
    t_numbers_check("segments", segments, index, &out, g->items);
    t_numbers_check("ranks", ranks, index, &out_ranks, g->items);
    t_free(&offsets), t_free(&out), t_free(&out_ranks);
    free(segments), free(ranks);
}

START_TEST(test_plan_layouts_every_dtype)
{
    static const size_t counts[] = {0, 1, 17, 1000, T_BALANCE_TILE, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct t_segments g = t_segments_new((enum t_layout)_i, counts[c]);
        for (int d = 0; d < 16; d += 3) {
            const gp_dtype offset = t_index_dtypes[d / 4], index = t_index_dtypes[d % 4];
            const uint64_t base = d % 2 ? 1000 : t_largest_base(offset, g.items);
            t_array plan = plan_of(&g, offset, base);
            search_check(&g, offset, index, base, &plan);
            search_check(&g, offset, index, 0, &plan); /* a plan does not depend on the first */
            t_free(&plan);
        }
        free(g.offsets);
    }
}
END_TEST

/* As many segments and items elsewhere, other numbers of them, and no plan at all. */
START_TEST(test_plan_of_something_else_changes_nothing)
{
    struct t_segments g = t_segments_new((enum t_layout)_i, 20000), other = g;
    other.offsets = t_host((g.count + 1) * 8);
    for (size_t s = 0; s <= g.count; s++)
        other.offsets[s] = s < g.count / 2 ? 0 : g.items;
    other.offsets[0] = 0, other.offsets[g.count] = g.items;
    t_array plan = plan_of(&other, GP_U32, 0);
    search_check(&g, GP_U32, GP_U32, 0, &plan);
    uint64_t *words = t_host(plan.bytes), state = t_seed();
    t_get(&plan, words, plan.bytes);
    for (size_t k = 2; k < plan.bytes / 8; k++) /* behind the numbers */
        words[k] = k % 3 ? t_random(&state) : t_random_below(&state, g.count + 2);
    T_OK(gp_copy(t_ctx(), words, plan.bytes, plan.data));
    search_check(&g, GP_U32, GP_U64, 5, &plan);
    words[0]++;
    T_OK(gp_copy(t_ctx(), words, plan.bytes, plan.data));
    search_check(&g, GP_U64, GP_U32, 0, &plan);
    memset(words, 0xff, plan.bytes);
    T_OK(gp_copy(t_ctx(), words, plan.bytes, plan.data));
    search_check(&g, GP_U32, GP_U32, 0, &plan);
    T_OK(gp_context_synchronize(t_ctx()));
    t_free(&plan);
    free(words), free(other.offsets), free(g.offsets);
}
END_TEST

static void says(const char *text)
{
    ck_assert_msg(strstr(gp_last_error(t_ctx()), text) != NULL, "no \"%s\" in \"%s\"", text,
                  gp_last_error(t_ctx()));
}

/* Call it, and look for the text in its error. */
#define REFUSED(expected, call, text) (T_STATUS(expected, call), says(text))

START_TEST(test_plan_errors)
{
    const uint32_t numbers[4] = {0, 2, 3, 5};
    size_t bytes = 77;
    t_array offsets = t_new_from(numbers, 16, 0), plan = t_new(64, 0), out = t_new(64, 0);
    gp_balance_desc d = desc_of(GP_U32, (gp_dtype)0, NULL);
#define PLAN(o, n, p) gp_balance_plan(t_ctx(), &d, o, n, 5, p)
    ck_assert_int_eq(gp_balance_plan(NULL, &d, offsets.data, 3, 5, plan.data), GP_ERROR_POINTER);
    REFUSED(GP_ERROR_POINTER, gp_balance_plan(t_ctx(), NULL, offsets.data, 3, 5, plan.data),
            "gp_balance_plan: desc is NULL");
    REFUSED(GP_ERROR_POINTER, PLAN(NULL, 3, plan.data), "offsets is NULL");
    REFUSED(GP_ERROR_POINTER, PLAN(offsets.data, 3, NULL), "plan is NULL");
    REFUSED(GP_ERROR_POINTER, PLAN(offsets.data, 3, (char *)plan.data + 4), "plan is ");
    REFUSED(GP_ERROR_OVERLAP, PLAN(offsets.data, 3, offsets.data), "plan");
    REFUSED(GP_ERROR_ARGUMENT, PLAN(offsets.data, ((size_t)1 << 40) + 1, plan.data),
            "num_segments is");
    d.index_dtype = GP_U32;
    REFUSED(GP_ERROR_DTYPE, PLAN(offsets.data, 3, plan.data), "desc->index_dtype");
    d = desc_of(GP_F32, (gp_dtype)0, NULL);
    REFUSED(GP_ERROR_DTYPE, PLAN(offsets.data, 3, plan.data), "desc->offset_dtype");
    ck_assert_int_eq(gp_balance_plan_bytes(NULL, &d, 3, 5, &bytes), GP_ERROR_DTYPE);
    d = desc_of(GP_U32, (gp_dtype)0, plan.data);
    REFUSED(GP_ERROR_ARGUMENT, PLAN(offsets.data, 3, plan.data), "desc->plan is ");
    d.plan = NULL, d.device_num_segments = (const uint64_t *)plan.data;
    REFUSED(GP_ERROR_ARGUMENT, PLAN(offsets.data, 3, plan.data), "desc->device_num_segments is");
    ck_assert_int_eq(gp_balance_plan_bytes(NULL, NULL, 3, 5, &bytes), GP_ERROR_POINTER);
    ck_assert_uint_eq(bytes, 77);
    t_check_untouched(&plan);
    d = desc_of(GP_U32, GP_U32, (char *)plan.data + 4);
    REFUSED(GP_ERROR_POINTER, gp_balance_search_by(t_ctx(), &d, offsets.data, 3, 5, out.data, NULL),
            "desc->plan is ");
    d.plan = out.data;
    REFUSED(GP_ERROR_OVERLAP, gp_balance_search_by(t_ctx(), &d, offsets.data, 3, 5, out.data, NULL),
            "desc->plan");
    d.plan = plan.data, d.index_dtype = (gp_dtype)0, d.item_bytes = 4;
    REFUSED(GP_ERROR_ARGUMENT, gp_expand_by(t_ctx(), &d, numbers, offsets.data, 3, 5, out.data),
            "desc->plan is ");
#undef PLAN
    t_check_untouched(&out);
    t_free(&offsets), t_free(&plan), t_free(&out);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("balance_plan");
    TCase *c = t_case(s, "plan");
    tcase_add_loop_test(c, test_plan_layouts_every_dtype, 0, T_LAYOUT_COUNT);
    tcase_add_loop_test(c, test_plan_of_something_else_changes_nothing, 0, T_LAYOUT_COUNT);
    tcase_add_test(c, test_plan_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
