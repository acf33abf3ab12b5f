/* SPDX-License-Identifier: MIT */
/* What a context that validates says of the contents of arrays, by calls that move items: the exact
 * text, nothing is written, and data that is right gives what it gives without. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

#include "gp_test.h"

static const size_t sizes[] = {1, 2, 1000, 100003};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* First, middle and last. */
enum { PLACES = 3 };

static size_t place_of(int place, size_t n)
{
    return place == 0 ? 0 : place == 1 ? n / 2 : n - 1;
}

/* Of the backend and device of t_ctx(), whose arrays it takes. */
static gp_context *checked;

static void setup(void)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    o.backend = gp_context_backend(t_ctx());
    o.validate = 1;
    T_OK(gp_context_create(&checked, &o));
}

static void teardown(void)
{
    gp_context_destroy(checked);
}

/* The call is queued and found wrong, or returns it at once. */
static void expect_broken(gp_status of_call, const char *text)
{
    ck_assert_msg(of_call == (t_is_cuda() ? GP_OK : GP_ERROR_DATA), "status %d of the call, \"%s\"",
                  (int)of_call, gp_last_error(checked));
    gp_status s = t_is_cuda() ? gp_context_synchronize(checked) : of_call;
    ck_assert_int_eq(s, GP_ERROR_DATA);
    ck_assert_str_eq(gp_last_error(checked), text);
    ck_assert_int_eq(gp_context_synchronize(checked), GP_OK); /* told once */
}

static void expect_fine(gp_status of_call)
{
    ck_assert_msg(of_call == GP_OK, "\"%s\"", gp_last_error(checked));
    ck_assert_msg(gp_context_synchronize(checked) == GP_OK, "\"%s\"", gp_last_error(checked));
}

/* The outputs of two calls; both are poison again. */
static void expect_same(t_array *out, const void *expected)
{
    char *actual = t_host(out->bytes);
    t_get(out, actual, out->bytes);
    t_same_bytes("with validate", expected, actual, out->bytes);
    t_check_guards(out);
    t_poison(out);
    free(actual);
}

static char *taken(t_array *out)
{
    char *host = t_host(out->bytes);
    t_get(out, host, out->bytes);
    t_poison(out);
    return host;
}

/* ---- gather ---------------------------------------------------------------------------------- */

enum { IN_ITEMS = 777 };

struct gather {
    gp_gather_desc desc;
    size_t n;
    uint64_t *host;
    t_array in, indices, out;
};

static void gather_put(struct gather *g)
{
    const size_t bytes = gp_dtype_bytes(g->desc.index_dtype);
    char *narrow = t_host(g->n * bytes);
    for (size_t i = 0; i < g->n; i++)
        memcpy(narrow + i * bytes, &g->host[i], bytes);
    t_put(&g->indices, narrow, g->n * bytes);
    free(narrow);
}

static struct gather gather_new(gp_dtype index_dtype, size_t n)
{
    uint64_t state = t_seed();
    uint32_t items[IN_ITEMS];
    struct gather g = {.desc = GP_GATHER_DESC_INIT, .n = n, .host = t_host(n * 8)};
    g.desc.item_bytes = 4;
    g.desc.in_items = IN_ITEMS;
    g.desc.index_dtype = index_dtype;
    t_fill_bits(GP_U32, items, IN_ITEMS, &state);
    for (size_t i = 0; i < n; i++)
        g.host[i] = i % 5 ? t_random_below(&state, IN_ITEMS) : IN_ITEMS - 1;
    g.in = t_new_from(items, sizeof items, 0);
    g.indices = t_new(n * gp_dtype_bytes(index_dtype), 0);
    g.out = t_new(n * 4, 0);
    gather_put(&g);
    return g;
}

static void gather_free(struct gather *g)
{
    t_free(&g->in), t_free(&g->indices), t_free(&g->out);
    free(g->host);
}

static gp_status gather_run(gp_context *ctx, const struct gather *g)
{
    return gp_gather_by(ctx, &g->desc, g->in.data, g->indices.data, g->n, g->out.data);
}

/* With the items counted, and without, by either form. */
static void gather_check_fine(struct gather *g)
{
    T_OK(gather_run(t_ctx(), g));
    char *expected = taken(&g->out);
    expect_fine(gather_run(checked, g));
    expect_same(&g->out, expected);
    g->desc.in_items = 0;
    expect_fine(gather_run(checked, g));
    expect_same(&g->out, expected);
    g->desc.in_items = IN_ITEMS;
    expect_fine(
        gp_gather(checked, 4, g->in.data, g->desc.index_dtype, g->indices.data, g->n, g->out.data));
    expect_same(&g->out, expected);
    free(expected);
}

static void gather_check_broken(struct gather *g, size_t at, uint64_t index)
{
    char text[120];
    const uint64_t before = g->host[at];
    snprintf(text, sizeof text, "gp_gather_by: indices[%zu] is %" PRIu64 ", expected below %d", at,
             index, IN_ITEMS);
    g->host[at] = index;
    gather_put(g);
    expect_broken(gather_run(checked, g), text);
    t_check_untouched(&g->out);
    g->host[at] = before;
    gather_put(g);
}

START_TEST(test_gather_checks_indices)
{
    const gp_dtype dtype = _i ? GP_U64 : GP_U32;
    const uint64_t wrong[] = {IN_ITEMS, _i ? UINT64_MAX : UINT32_MAX,
                              _i ? UINT64_C(1) << 32 : 1000};
    for (int s = 0; s < SIZES; s++) {
        struct gather g = gather_new(dtype, sizes[s]);
        for (int place = 0; place < PLACES; place++)
            gather_check_broken(&g, place_of(place, g.n), wrong[place]);
        gather_check_fine(&g);
        gather_free(&g);
    }
}
END_TEST

START_TEST(test_gather_tells_the_first_index)
{
    struct gather g = gather_new(GP_U32, 100003);
    for (size_t i = 4321; i < g.n; i += 17)
        g.host[i] = IN_ITEMS + i;
    gather_check_broken(&g, 1234, 5000000);
    gather_check_broken(&g, 4321, 5000001);
    gather_free(&g);
}
END_TEST

/* Nothing is looked at where nothing is moved. */
START_TEST(test_gather_of_nothing_checks_nothing)
{
    struct gather g = gather_new(GP_U32, 1);
    g.n = 0;
    expect_fine(gather_run(checked, &g));
    t_check_untouched(&g.out);
    gather_free(&g);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("validate_moves");
    TCase *c = t_case(s, "gather");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, test_gather_checks_indices, 0, 2);
    tcase_add_test(c, test_gather_tells_the_first_index);
    tcase_add_test(c, test_gather_of_nothing_checks_nothing);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
