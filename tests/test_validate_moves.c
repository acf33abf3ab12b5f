/* SPDX-License-Identifier: MIT */
/* What a context that validates says of the contents of arrays, by calls that move items: the exact
 * text, nothing is written, and data that is right gives what it gives without. */
#include <inttypes.h>
#include <math.h>
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
    checked = t_validating();
}

static void teardown(void)
{
    gp_context_destroy(checked);
}

static void expect_broken(gp_status of_call, const char *text)
{
    t_refused(checked, of_call, text);
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

/* ---- merge ----------------------------------------------------------------------------------- */

/* a and b have n keys each, and values beside them. */
struct merge {
    gp_merge_desc desc; /* of pairs */
    size_t n, key;
    char *host[2];
    t_array keys[2], values[2], out, values_out;
};

enum { MERGE, MERGE_BY, PAIRS, PAIRS_BY, FORMS };
static const char *const functions[] = {"gp_merge", "gp_merge_by", "gp_merge_pairs",
                                        "gp_merge_pairs_by"};
static const char *const names[][2] = {{"a", "b"}, {"keys_a", "keys_b"}};

static gp_status merge_run(gp_context *ctx, int form, const struct merge *m)
{
    const void *a = m->keys[0].data, *b = m->keys[1].data, *va = m->values[0].data,
               *vb = m->values[1].data;
    gp_merge_desc d = m->desc;
    if (form == MERGE_BY)
        d.value_bytes = 0;
    switch (form) {
    case MERGE:
        return gp_merge(ctx, d.dtype, d.order, a, m->n, b, m->n, m->out.data);
    case MERGE_BY:
        return gp_merge_by(ctx, &d, a, m->n, b, m->n, m->out.data);
    case PAIRS:
        return gp_merge_pairs(ctx, d.dtype, d.order, 4, a, va, m->n, b, vb, m->n, m->out.data,
                              m->values_out.data);
    default:
        return gp_merge_pairs_by(ctx, &d, a, va, m->n, b, vb, m->n, m->out.data,
                                 m->values_out.data);
    }
}

/* The keys of either array: 20 to 100 in the order, which all dtypes have. */
static int key_of(const struct merge *m, size_t i)
{
    const int step = (int)(i * 80 / m->n);
    return m->desc.order == GP_DESCENDING ? 100 - step : 20 + step;
}

static struct merge merge_new(gp_dtype dtype, gp_order order, size_t n)
{
    uint64_t state = t_seed();
    struct merge m = {.desc = GP_MERGE_DESC_INIT, .n = n, .key = gp_dtype_bytes(dtype)};
    uint32_t *values = t_host(n * 4);
    m.desc.dtype = dtype;
    m.desc.order = order;
    m.desc.value_bytes = 4;
    for (int k = 0; k < 2; k++) {
        m.host[k] = t_host(n * m.key);
        for (size_t i = 0; i < n; i++)
            t_set(dtype, m.host[k], i, key_of(&m, i));
        t_fill_bits(GP_U32, values, n, &state);
        m.keys[k] = t_new_from(m.host[k], n * m.key, 0);
        m.values[k] = t_new_from(values, n * 4, 0);
    }
    m.out = t_new(2 * n * m.key, 0);
    m.values_out = t_new(2 * n * 4, 0);
    free(values);
    return m;
}

static void merge_free(struct merge *m)
{
    for (int k = 0; k < 2; k++) {
        t_free(&m->keys[k]), t_free(&m->values[k]);
        free(m->host[k]);
    }
    t_free(&m->out), t_free(&m->values_out);
}

static void merge_check_fine(struct merge *m)
{
    for (int form = 0; form < FORMS; form++) {
        T_OK(merge_run(t_ctx(), form, m));
        char *expected = taken(&m->out), *values = taken(&m->values_out);
        expect_fine(merge_run(checked, form, m));
        expect_same(&m->out, expected);
        expect_same(&m->values_out, values);
        free(expected), free(values);
    }
}

/* Every form says that key `at` of array k has this value, and what stands before it. */
static void merge_expect_broken(struct merge *m, int k, size_t at, const char *value,
                                const char *before)
{
    char text[200];
    for (int form = 0; form < FORMS; form++) {
        snprintf(text, sizeof text, "%s: %s[%zu] is %s, %s the %s before it", functions[form],
                 names[form >= PAIRS][k], at, value,
                 m->desc.order == GP_DESCENDING ? "above" : "below", before);
        expect_broken(merge_run(checked, form, m), text);
        t_check_untouched(&m->out);
        t_check_untouched(&m->values_out);
    }
}

/* Key `at` stands behind a lower one, or a higher one where keys fall; there is one before it. */
static void merge_check_broken(struct merge *m, int k, size_t at)
{
    const int wrong = m->desc.order == GP_DESCENDING ? 110 : 10;
    char value[16], before[16];
    snprintf(value, sizeof value, "%d", wrong);
    snprintf(before, sizeof before, "%d", key_of(m, at - 1));
    t_set(m->desc.dtype, m->host[k], at, wrong);
    t_put(&m->keys[k], m->host[k], m->n * m->key);
    merge_expect_broken(m, k, at, value, before);
    t_set(m->desc.dtype, m->host[k], at, key_of(m, at));
    t_put(&m->keys[k], m->host[k], m->n * m->key);
}

START_TEST(test_merge_checks_order)
{
    const gp_dtype dtype = t_dtypes[_i / 2];
    const gp_order order = _i % 2 ? GP_DESCENDING : GP_ASCENDING;
    for (int s = 0; s < SIZES; s++) {
        struct merge m = merge_new(dtype, order, sizes[s]);
        for (int place = 0; place < PLACES && m.n > 1; place++) {
            const size_t at = place_of(place, m.n);
            merge_check_broken(&m, 0, at ? at : 1);
            merge_check_broken(&m, 1, at ? at : 1);
        }
        merge_check_fine(&m);
        merge_free(&m);
    }
}
END_TEST

/* Keys at which the order of floats shows: zeros and NaNs are equal whatever their bits. */
START_TEST(test_merge_takes_what_sorts_leave)
{
    const gp_dtype dtype = t_dtypes[_i / 2];
    uint64_t state = t_seed();
    struct merge m = merge_new(dtype, _i % 2 ? GP_DESCENDING : GP_ASCENDING, 5000);
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = m.desc.order;
    for (int k = 0; k < 2; k++) {
        t_fill_special(dtype, m.host[k], m.n, &state);
        t_put(&m.keys[k], m.host[k], m.n * m.key);
        T_OK(gp_radix_sort(t_ctx(), dtype, m.keys[k].data, m.n, m.keys[k].data, &o));
    }
    T_OK(gp_context_synchronize(t_ctx()));
    merge_check_fine(&m);
    merge_free(&m);
}
END_TEST

START_TEST(test_merge_places_nan_last)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    struct merge m = merge_new(floats[_i], GP_ASCENDING, 1000);
    t_set(floats[_i], m.host[1], 700, NAN);
    t_put(&m.keys[1], m.host[1], m.n * m.key);
    merge_expect_broken(&m, 1, 701, "76", "nan");
    for (size_t i = 700; i < m.n; i++)
        t_set(floats[_i], m.host[1], i, NAN);
    t_put(&m.keys[1], m.host[1], m.n * m.key);
    merge_check_fine(&m);
    merge_free(&m);
}
END_TEST

/* The first array and place are reported. */
START_TEST(test_merge_tells_the_first_key)
{
    struct merge m = merge_new(GP_I16, GP_ASCENDING, 100003);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 5000; i < m.n; i += 1000)
            t_set(GP_I16, m.host[k], i, -7);
        t_put(&m.keys[k], m.host[k], m.n * m.key);
    }
    merge_expect_broken(&m, 0, 5000, "-7", "23");
    merge_free(&m);
}
END_TEST

/* One of the arrays may be empty; the other is checked. */
START_TEST(test_merge_with_nothing_checks_the_other)
{
    t_array out = t_new(12, 0), keys = t_new_from((const uint32_t[]){1, 3, 2}, 12, 0);
    expect_broken(gp_merge(checked, GP_U32, GP_ASCENDING, keys.data, 3, NULL, 0, out.data),
                  "gp_merge: a[2] is 2, below the 3 before it");
    expect_broken(gp_merge(checked, GP_U32, GP_ASCENDING, NULL, 0, keys.data, 3, out.data),
                  "gp_merge: b[2] is 2, below the 3 before it");
    expect_fine(gp_merge(checked, GP_U32, GP_ASCENDING, NULL, 0, NULL, 0, NULL));
    t_check_untouched(&out);
    expect_fine(gp_merge(checked, GP_U32, GP_ASCENDING, keys.data, 2, NULL, 0, out.data));
    t_free(&out), t_free(&keys);
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
    c = t_case(s, "merge");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, test_merge_checks_order, 0, 2 * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_merge_takes_what_sorts_leave, 0, 2 * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_merge_places_nan_last, 0, 4);
    tcase_add_test(c, test_merge_tells_the_first_key);
    tcase_add_test(c, test_merge_with_nothing_checks_the_other);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
