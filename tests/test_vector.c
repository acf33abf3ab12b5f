/* SPDX-License-Identifier: MIT */
/* Sums of products, norms, combinations of vectors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gp/vector.h>

#include "gp_test.h"

static const gp_dtype dtypes[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
enum { DTYPES = 4 };

static gp_dtype scalar_dtype(gp_dtype dtype)
{
    return dtype == GP_F64 ? GP_F64 : GP_F32;
}

static gp_vector_desc desc_of(gp_dtype dtype)
{
    gp_vector_desc d = GP_VECTOR_DESC_INIT;
    d.dtype = dtype;
    return d;
}

/* Two vectors on the host and in memory, at any offset. */
struct vectors {
    gp_dtype dtype;
    size_t n;
    void *hx, *hy;
    t_array x, y;
};

static struct vectors vectors_new(gp_dtype dtype, size_t n, size_t x_shift, size_t y_shift,
                                  uint64_t *seed)
{
    const size_t item = gp_dtype_bytes(dtype);
    struct vectors v = {dtype, n, t_host(n * item), t_host(n * item), {0}, {0}};
    t_fill_random(dtype, v.hx, n, seed);
    t_fill_random(dtype, v.hy, n, seed);
    v.x = t_new_from(v.hx, n * item, x_shift * item);
    v.y = t_new_from(v.hy, n * item, y_shift * item);
    return v;
}

static void vectors_free(struct vectors *v)
{
    t_free(&v->x);
    t_free(&v->y);
    free(v->hx);
    free(v->hy);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void check_sum(gp_dtype dtype, const char *name, double want, double magnitude, size_t n,
                      const t_array *out)
{
    char got[8];
    const gp_dtype scalar = scalar_dtype(dtype);
    t_get(out, got, gp_dtype_bytes(scalar));
    t_close_to(name, scalar, &want, &magnitude, got, 1, t_epsilon(scalar) * ((double)n + 8));
    t_check_guards(out);
}

static void check_sums(gp_dtype dtype, size_t n, size_t x_shift, size_t y_shift, uint64_t *seed)
{
    struct vectors v = vectors_new(dtype, n, x_shift, y_shift, seed);
    const gp_vector_desc d = desc_of(dtype);
    t_array out = t_new(gp_dtype_bytes(scalar_dtype(dtype)), 8);
    double dot = 0, squares = 0, magnitude = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = t_value(dtype, v.hx, i), y = t_value(dtype, v.hy, i);
        dot += x * y;
        magnitude += fabs(x * y);
        squares += x * x;
    }
    T_OK(gp_vector_dot(t_ctx(), &d, v.x.data, v.y.data, n, out.data));
    check_sum(dtype, "dot", dot, magnitude, n, &out);
    T_OK(gp_vector_dot(t_ctx(), &d, v.x.data, v.x.data, n, out.data));
    check_sum(dtype, "squares", squares, squares, n, &out);
    T_OK(gp_vector_norm(t_ctx(), &d, v.x.data, n, out.data));
    check_sum(dtype, "norm", sqrt(squares), sqrt(squares), n, &out);
    t_free(&out);
    vectors_free(&v);
}

START_TEST(test_vector_sums_of_every_size)
{
    uint64_t seed = t_seed();
    for (size_t s = 0; s < T_SIZE_SMALL_COUNT; s++)
        check_sums(dtypes[_i], t_at_most(t_sizes[s]), s % 5, s % 3, &seed);
}
END_TEST

/* Many blocks, and more than the grid has at once. */
START_TEST(test_vector_sums_of_large_vectors)
{
    uint64_t seed = t_seed();
    check_sums(dtypes[_i], t_at_most(3000001), 0, 0, &seed);
    check_sums(dtypes[_i], t_at_most(9000011), 1, 2, &seed);
}
END_TEST

/* Wherever the vectors lie, and with any number of threads. */
START_TEST(test_vector_dot_same_bits)
{
    const gp_dtype dtype = dtypes[_i];
    const size_t n = t_at_most(200003), item = gp_dtype_bytes(dtype);
    const size_t bytes = gp_dtype_bytes(scalar_dtype(dtype));
    uint64_t seed = t_seed();
    struct vectors v = vectors_new(dtype, n, 0, 0, &seed);
    const gp_vector_desc d = desc_of(dtype);
    char want[8], got[8];
    for (int k = 0; k < 12; k++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        gp_context *ctx = NULL;
        o.backend = gp_context_backend(t_ctx());
        o.threads = k % 4 + 1;
        T_OK(gp_context_create(&ctx, &o));
        t_array x = t_new_from(v.hx, n * item, (size_t)k % 5 * item);
        t_array out = t_new(bytes, 0);
        T_OK(gp_context_synchronize(t_ctx()));
        T_OK(gp_vector_dot(ctx, &d, x.data, v.y.data, n, out.data));
        T_OK(gp_context_synchronize(ctx));
        t_get(&out, k ? got : want, bytes);
        if (k)
            t_same_bytes("same bits", want, got, bytes);
        t_free(&x);
        t_free(&out);
        gp_context_destroy(ctx);
    }
    vectors_free(&v);
}
END_TEST

/* ---- maps ------------------------------------------------------------------------------------ */

enum map { AXPBY, SCALE, MULTIPLY, DIVIDE, MAPS };

static double mapped(enum map map, double alpha, double x, double beta, double y)
{
    switch (map) {
    case AXPBY:
        return alpha * x + (beta != 0 ? beta * y : 0);
    case SCALE:
        return alpha * x;
    case MULTIPLY:
        return x * y;
    default:
        return x / y;
    }
}

static gp_status run_map(enum map map, const gp_vector_desc *d, const void *alpha, const void *x,
                         const void *beta, const void *y, size_t n, void *out)
{
    switch (map) {
    case AXPBY:
        return gp_vector_axpby(t_ctx(), d, alpha, x, beta, out, n);
    case SCALE:
        return gp_vector_scale(t_ctx(), d, alpha, x, n, out);
    case MULTIPLY:
        return gp_vector_multiply(t_ctx(), d, x, y, n, out);
    default:
        return gp_vector_divide(t_ctx(), d, x, y, n, out);
    }
}

/* Where the result goes: its own array, or that of an input. */
enum place { APART, OVER_X, OVER_Y, PLACES };

struct map_case {
    enum map map;
    enum place place;
    bool there; /* scalars in memory */
    double alpha, beta;
};

static void check_map(gp_dtype dtype, size_t n, const struct map_case *c, size_t shift,
                      uint64_t *seed)
{
    const size_t item = gp_dtype_bytes(dtype), sb = gp_dtype_bytes(scalar_dtype(dtype));
    struct vectors v = vectors_new(dtype, n, shift, shift / 2, seed);
    gp_vector_desc d = desc_of(dtype);
    char scalars[16];
    double *want = t_host(n * 8), *magnitude = t_host(n * 8);
    t_set(scalar_dtype(dtype), scalars, 0, c->alpha);
    t_set(scalar_dtype(dtype), scalars, 1, c->beta);
    t_array s = t_new_from(scalars, 2 * sb, 0), apart = t_new(n * item, shift % 3 * item);
    char *at = c->there ? s.data : scalars;
    t_array *out = c->map == AXPBY || c->place == OVER_Y ? &v.y : c->place ? &v.x : &apart;
    d.device_alpha = c->there && c->map <= SCALE;
    d.device_beta = c->there && c->map == AXPBY;
    for (size_t i = 0; i < n; i++) {
        const double x = t_value(dtype, v.hx, i), y = t_value(dtype, v.hy, i);
        want[i] = mapped(c->map, c->alpha, x, c->beta, y);
        if (dtype == GP_F16 && fabs(want[i]) >= 65520)
            want[i] = copysign(INFINITY, want[i]);
        magnitude[i] = c->map == AXPBY ? fabs(c->alpha * x) + fabs(c->beta * y) : fabs(want[i]);
        magnitude[i] += dtype == GP_F16 ? 0x1p-14 : 0;
    }
    T_OK(run_map(c->map, &d, at, v.x.data, at + sb, v.y.data, n, out->data));
    t_get(out, v.hx, n * item);
    t_close_to("map", dtype, want, magnitude, v.hx, n, 4 * t_epsilon(dtype));
    t_check_guards(out);
    t_free(&s);
    t_free(&apart);
    free(want);
    free(magnitude);
    vectors_free(&v);
}

START_TEST(test_vector_maps)
{
    uint64_t seed = t_seed();
    for (size_t s = 0; s < T_SIZE_SMALL_COUNT; s++) {
        const struct map_case c = {(enum map)(_i / DTYPES), (enum place)(s % PLACES), s % 2 != 0,
                                   s % 7 ? -1.5 : 0, s % 3 ? 0.75 : 0};
        if (c.map == SCALE && c.place == OVER_Y)
            continue;
        check_map(dtypes[_i % DTYPES], t_at_most(t_sizes[s]), &c, s % 4, &seed);
    }
}
END_TEST

/* Where beta is 0, y is not read; of a count in memory the items behind it are untouched. */
START_TEST(test_vector_counts_and_dirty_outputs)
{
    const gp_dtype dtype = dtypes[_i];
    const size_t n = 1000, item = gp_dtype_bytes(dtype), sb = gp_dtype_bytes(scalar_dtype(dtype));
    uint64_t seed = t_seed(), counts[] = {0, 1, 777, 1000, 5000};
    char scalars[16];
    t_set(scalar_dtype(dtype), scalars, 0, 2);
    t_set(scalar_dtype(dtype), scalars, 1, 0);
    for (int k = 0; k < 5; k++) {
        struct vectors v = vectors_new(dtype, n, 0, 0, &seed);
        gp_vector_desc d = desc_of(dtype);
        t_array count = t_new_from(counts + k, 8, 0), s = t_new_from(scalars, 2 * sb, 0);
        t_array sum = t_new(sb, 0);
        const size_t m = counts[k] < n ? (size_t)counts[k] : n;
        double dot = 0, magnitude = 0;
        for (size_t i = 0; i < m; i++) {
            dot += t_value(dtype, v.hx, i) * t_value(dtype, v.hy, i);
            magnitude += fabs(t_value(dtype, v.hx, i) * t_value(dtype, v.hy, i));
        }
        d.device_n = count.data;
        T_OK(gp_vector_dot(t_ctx(), &d, v.x.data, v.y.data, n, sum.data));
        check_sum(dtype, "dot", dot, magnitude, n, &sum);
        for (size_t i = 0; i < n; i++)
            t_set(dtype, v.hy, i, NAN);
        t_array dirty = t_new_from(v.hy, n * item, 0);
        d.device_alpha = d.device_beta = 1;
        T_OK(gp_vector_axpby(t_ctx(), &d, s.data, v.x.data, (char *)s.data + sb, dirty.data, n));
        t_get(&dirty, v.hy, n * item);
        for (size_t i = 0; i < n; i++)
            ck_assert_msg(i < m ? fabs(t_value(dtype, v.hy, i) - 2 * t_value(dtype, v.hx, i)) <=
                                      0x1p-20
                                : isnan(t_value(dtype, v.hy, i)),
                          "item %zu of %zu", i, m);
        t_free(&count);
        t_free(&s);
        t_free(&sum);
        t_free(&dirty);
        vectors_free(&v);
    }
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_vector_errors)
{
    uint64_t seed = t_seed();
    struct vectors v = vectors_new(GP_F32, 64, 0, 0, &seed);
    t_array out = t_new(64 * 4, 0);
    gp_vector_desc d = desc_of(GP_F32);
    const float one = 1;
    size_t bytes;
#define REFUSED(status, change, call)                                                              \
    do {                                                                                           \
        d = desc_of(GP_F32);                                                                       \
        change;                                                                                    \
        T_STATUS(status, call);                                                                    \
        t_check_untouched(&out);                                                                   \
    } while (0)
#define DOT(x, y, n, out) gp_vector_dot(t_ctx(), &d, x, y, n, out)
    float *x = v.x.data, *y = v.y.data, *to = out.data;
    REFUSED(GP_ERROR_DTYPE, d.dtype = GP_I32, DOT(x, y, 64, to));
    REFUSED(GP_ERROR_DTYPE, d.dtype = (gp_dtype)0, gp_vector_scale(t_ctx(), &d, &one, x, 64, to));
    REFUSED(GP_ERROR_ARGUMENT, d.size = 3, DOT(x, y, 64, to));
    REFUSED(GP_ERROR_ARGUMENT, d.reserved = 1, DOT(x, y, 64, to));
    REFUSED(GP_ERROR_ARGUMENT, d.device_alpha = 1, DOT(x, y, 64, to));
    REFUSED(GP_ERROR_ARGUMENT, d.device_beta = 1, gp_vector_scale(t_ctx(), &d, &one, x, 64, to));
    REFUSED(GP_ERROR_ARGUMENT, d.device_alpha = 2, gp_vector_scale(t_ctx(), &d, &one, x, 64, to));
    REFUSED(GP_ERROR_ARGUMENT, d.device_beta = -1,
            gp_vector_axpby(t_ctx(), &d, &one, x, &one, to, 64));
    REFUSED(GP_ERROR_ARGUMENT, (void)0, DOT(x, y, ((size_t)1 << 40) + 1, to));
    REFUSED(GP_ERROR_POINTER, (void)0, gp_vector_dot(t_ctx(), NULL, x, y, 64, to));
    REFUSED(GP_ERROR_POINTER, (void)0, DOT(NULL, y, 64, to));
    REFUSED(GP_ERROR_POINTER, (void)0, DOT(x, NULL, 64, to));
    REFUSED(GP_ERROR_POINTER, (void)0, DOT(x, y, 64, NULL));
    REFUSED(GP_ERROR_POINTER, (void)0, DOT((char *)x + 2, y, 63, to));
    REFUSED(GP_ERROR_POINTER, (void)0, gp_vector_multiply(t_ctx(), &d, x, NULL, 64, to));
    REFUSED(GP_ERROR_POINTER, (void)0, gp_vector_divide(t_ctx(), &d, NULL, x, 64, to));
    REFUSED(GP_ERROR_POINTER, (void)0, gp_vector_scale(t_ctx(), &d, &one, x, 64, NULL));
    REFUSED(GP_ERROR_POINTER, (void)0, gp_vector_axpby(t_ctx(), &d, &one, NULL, &one, to, 64));
    REFUSED(GP_ERROR_OVERLAP, (void)0, DOT(to, y, 64, to));
    REFUSED(GP_ERROR_OVERLAP, (void)0, gp_vector_scale(t_ctx(), &d, &one, to, 60, to + 1));
    REFUSED(GP_ERROR_OVERLAP, (void)0, gp_vector_multiply(t_ctx(), &d, x, to + 1, 60, to));
    REFUSED(GP_ERROR_OVERLAP, (void)0, gp_vector_axpby(t_ctx(), &d, &one, to + 1, &one, to, 60));
    REFUSED(GP_ERROR_OVERLAP, d.device_alpha = 1, gp_vector_scale(t_ctx(), &d, to + 5, x, 64, to));
    if (t_is_cuda())
        REFUSED(GP_ERROR_POINTER, d.device_alpha = 1,
                gp_vector_scale(t_ctx(), &d, &one, x, 64, to));
    d = desc_of(GP_F32);
    T_STATUS(GP_ERROR_POINTER, gp_vector_dot_workspace_bytes(NULL, NULL, 5, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_vector_dot_workspace_bytes(NULL, &d, 5, NULL));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_vector_dot_workspace_bytes(NULL, &d, ((size_t)1 << 40) + 1, &bytes));
    d.dtype = GP_U8;
    T_STATUS(GP_ERROR_DTYPE, gp_vector_dot_workspace_bytes(NULL, &d, 5, &bytes));
    d = desc_of(GP_F32);
    T_OK(gp_vector_scale(t_ctx(), &d, &one, NULL, 0, NULL));
    T_OK(DOT(NULL, NULL, 0, to));
    t_free(&out);
    vectors_free(&v);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("vector");
    TCase *c = t_case(s, "vector");
    tcase_add_loop_test(c, test_vector_sums_of_every_size, 0, DTYPES);
    tcase_add_loop_test(c, test_vector_sums_of_large_vectors, 0, DTYPES);
    tcase_add_loop_test(c, test_vector_dot_same_bits, 0, DTYPES);
    tcase_add_loop_test(c, test_vector_maps, 0, MAPS * DTYPES);
    tcase_add_loop_test(c, test_vector_counts_and_dirty_outputs, 0, DTYPES);
    tcase_add_test(c, test_vector_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
