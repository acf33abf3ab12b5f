/* SPDX-License-Identifier: MIT */
/* Compaction with more than one output, by flags that are bits, by two-sided ranges, to flags. */
#include "compact_sides.h"

#include <stdlib.h>
#include <string.h>

/* ---- flags ----------------------------------------------------------------------------------- */

START_TEST(test_sides_by_flags)
{
    const size_t width = compact_widths[_i / 2], n = width > 1000 ? 67 : width > 16 ? 4003 : 20003;
    uint64_t seed = t_seed() + (uint64_t)_i;
    char *in = compact_items(width, n);
    for (int p = 0; p < COMPACT_PATTERNS; p += t_is_cuda() && p > 1 ? 2 : 1) {
        uint8_t *keep = compact_flags(p, n, &seed);
        struct sides w = sides_of(GP_COMPACT_ITEMS, width);
        w.d.flags = (gp_flags)(_i & 1);
        w.d.index_dtype = p & 1 ? GP_U64 : GP_U32;
        w.at = (size_t)p;
        sides_check_all(w, in, keep, n);
        free(keep);
    }
    free(in);
}
END_TEST

START_TEST(test_sides_sizes)
{
    static const size_t widths[] = {1, 4, 12, 16};
    const size_t n = t_sizes[_i];
    uint64_t seed = t_seed() + n;
    if (n > 300000 && !t_is_cuda())
        return;
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, n, &seed);
    for (size_t k = 0; k < 4; k++) {
        char *in = compact_items(widths[k], n);
        struct sides w = sides_of(GP_COMPACT_ITEMS, widths[k]);
        w.d.flags = GP_FLAGS_BITS;
        sides_check_all(w, in, keep, n);
        w.d.flags = GP_FLAGS_BYTES;
        w.d.kind = GP_COMPACT_PARTITION;
        w.outputs = 2;
        sides_check(w, in, keep, n, n);
        free(in);
    }
    free(keep);
}
END_TEST

/* ---- comparisons ----------------------------------------------------------------------------- */

START_TEST(test_sides_by_special_ranges)
{
    enum { N = 130 };
    const gp_dtype dtype = t_dtypes[_i];
    const size_t bytes = gp_dtype_bytes(dtype);
    uint64_t seed = t_seed(), specials[COMPACT_SPECIALS];
    char in[N * sizeof(uint64_t)];
    compact_specials(dtype, specials);
    t_fill_bits(dtype, in, N, &seed);
    for (size_t i = 0; i < N; i += 2)
        memcpy(in + i * bytes, (char *)specials + i / 2 % COMPACT_SPECIALS * bytes, bytes);
    const size_t step = t_is_cuda() ? 5 : 1; /* an allocation takes long there */
    for (size_t v = 0; v < COMPACT_SPECIALS * COMPACT_SPECIALS; v += step) {
        struct sides w = sides_of(GP_COMPACT_ITEMS, 0);
        w.d.dtype = dtype;
        w.d.value = (char *)specials + v % COMPACT_SPECIALS * bytes;
        w.d.upper = (char *)specials + v / COMPACT_SPECIALS * bytes;
        w.d.compare = GP_OUTSIDE;
        sides_check(w, in, NULL, N, N);
        w.d.compare = GP_BETWEEN;
        w.d.kind = GP_COMPACT_PARTITION;
        w.outputs = 3;
        sides_check(w, in, NULL, N, N);
    }
}
END_TEST

START_TEST(test_sides_by_every_comparison)
{
    enum { N = 20003 };
    const gp_dtype dtype = t_dtypes[_i];
    uint64_t seed = t_seed();
    char *in = t_host(N * sizeof(uint64_t));
    uint64_t bounds[2] = {0};
    t_fill_random(dtype, in, N, &seed);
    const size_t bytes = gp_dtype_bytes(dtype);
    gp_compact_desc above = compact_desc(GP_COMPACT_ITEMS, 0);
    memcpy(&bounds[0], in + 77 * bytes, bytes);
    memcpy(&bounds[1], in + 5 * bytes, bytes);
    above.dtype = dtype;
    above.compare = GP_GT;
    above.value = &bounds[1];
    const bool swap = compact_selected(&above, bounds, NULL, 0);
    for (int c = GP_EQ; c <= GP_OUTSIDE; c++) {
        struct sides w = sides_of(GP_COMPACT_ITEMS, 0);
        w.d.dtype = dtype;
        w.d.compare = (gp_compare)c;
        w.d.value = &bounds[swap];
        w.d.upper = c >= GP_BETWEEN ? &bounds[!swap] : NULL;
        w.d.flags = (gp_flags)(c & 1);
        w.d.index_dtype = c & 1 ? GP_U32 : GP_U64;
        w.at = (size_t)c % 5;
        sides_check_all(w, in, NULL, N);
        w.d.flags = (gp_flags)(~c & 1);
        w.d.kind = GP_COMPACT_FLAGS;
        sides_check(w, in, NULL, N, N);
    }
    free(in);
}
END_TEST

START_TEST(test_sides_sizes_of_ranges)
{
    const size_t n = t_sizes[_i];
    const uint32_t bounds[2] = {1u << 30, 3u << 30};
    uint64_t seed = t_seed() + n;
    if (n > 300000 && !t_is_cuda())
        return;
    char *in = t_host(n * 4);
    t_fill_bits(GP_U32, in, n, &seed);
    struct sides w = sides_of(GP_COMPACT_ITEMS, 0);
    w.d.dtype = GP_U32;
    w.d.compare = GP_BETWEEN;
    w.d.value = &bounds[0];
    w.d.upper = &bounds[1];
    w.d.flags = (gp_flags)(_i & 1);
    sides_check_all(w, in, NULL, n);
    free(in);
}
END_TEST

/* ---- room, and n on the device --------------------------------------------------------------- */

START_TEST(test_sides_past_capacity_write_what_fits)
{
    enum { N = 30000 };
    static const uint64_t rooms[] = {1, 31, 32, 5000, 29999};
    const uint64_t bounds[2] = {0x3000000030303030, 0x6000000060606060};
    static const gp_dtype dtypes[] = {GP_U8, GP_U16, GP_U32, GP_U64};
    uint64_t seed = t_seed();
    const size_t width = compact_widths[_i];
    char *in = compact_items(width, N);
    uint8_t *keep = compact_flags(KEEP_RUNS, N, &seed);
    for (int k = 0; k < 5 * 5; k++) {
        struct sides w = sides_of(GP_COMPACT_PARTITION, width);
        w.room[0] = rooms[k % 5];
        w.room[1] = rooms[k / 5];
        w.room[2] = rooms[(k + 1) % 5];
        w.outputs = 2;
        sides_check(w, in, keep, N, N);
        w.outputs = 3;
        if (_i < 4) {
            w.d.compare = GP_BETWEEN;
            w.d.dtype = dtypes[_i];
            w.d.value = &bounds[0];
            w.d.upper = &bounds[1];
            sides_check(w, in, NULL, N, N);
        }
        w = sides_of(GP_COMPACT_ITEMS, width);
        w.room[0] = rooms[k % 5];
        w.indices = true;
        sides_check(w, in, keep, N, N);
    }
    free(in);
    free(keep);
}
END_TEST

START_TEST(test_sides_device_n)
{
    enum { N = 20000 };
    static const size_t values[] = {0, 1, 63, 8191, 19999};
    const float bounds[2] = {-0.25f, 0.5f};
    const size_t n = values[_i];
    uint64_t seed = t_seed();
    float *in = t_host(N * sizeof *in);
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, N, &seed);
    t_fill_random(GP_F32, in, N, &seed);
    struct sides w = sides_of(GP_COMPACT_PARTITION, 4);
    w.d.flags = GP_FLAGS_BITS;
    w.outputs = 2;
    sides_check(w, in, keep, n, N);
    w.d.compare = GP_BETWEEN;
    w.d.dtype = GP_F32;
    w.d.value = &bounds[0];
    w.d.upper = &bounds[1];
    w.outputs = 3;
    sides_check(w, in, NULL, n, N);
    w.outputs = 0;
    w.d.kind = GP_COMPACT_FLAGS;
    sides_check(w, in, NULL, n, N);
    free(in);
    free(keep);
}
END_TEST

/* Tiles and blocks follow each other; on a GPU, the streaming kernels. */
START_TEST(test_sides_of_long_arrays)
{
    static const gp_dtype dtypes[] = {GP_I8, GP_BF16, GP_F32, GP_I64};
    const size_t n = 700001, width = compact_widths[_i];
    uint64_t seed = t_seed();
    uint64_t bounds[2] = {0x3000000030303030, 0x6000000060606060};
    char *in = compact_items(width, n);
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, n, &seed);
    for (int at = 0; at < 4; at++) {
        struct sides w = sides_of(GP_COMPACT_ITEMS, width);
        w.at = (size_t)at * 3;
        w.d.flags = (gp_flags)(at & 1);
        sides_check_all(w, in, keep, n);
        w.d.compare = at & 1 ? GP_OUTSIDE : GP_BETWEEN;
        if (_i >= 4)
            continue;
        w.d.dtype = dtypes[_i];
        w.d.value = &bounds[0];
        w.d.upper = &bounds[1];
        sides_check_all(w, in, NULL, n);
    }
    free(in);
    free(keep);
}
END_TEST

/* More items on one side than 16 bits count, from one block's tile of a GPU to its next one. */
START_TEST(test_sides_all_on_one_side)
{
    const size_t n = t_at_most(((size_t)6 << 20) + 77);
    const uint8_t least = 100, most = 199;
    uint8_t *in = t_host(n);
    struct sides w = sides_of(GP_COMPACT_PARTITION, 0);
    w.d.dtype = GP_U8;
    w.d.compare = GP_BETWEEN;
    w.d.value = &least;
    w.d.upper = &most;
    w.outputs = 3;
    memset(in, _i == 0 ? 150 : _i == 1 ? 50 : 250, n);
    for (size_t i = 0; i < n; i += 4099)
        in[i] = (uint8_t)(i / 4099);
    sides_check(w, in, NULL, n, n);
    free(in);
}
END_TEST

/* ---- short forms, errors --------------------------------------------------------------------- */

START_TEST(test_sides_simple_calls)
{
    const int32_t in[6] = {10, -11, 12, 13, -14, 15}, value = 10, upper = 13;
    const uint8_t keep[6] = {1, 0, 0, 255, 0, 2};
    const int32_t front[] = {10, 13, 15}, back[] = {-11, 12, -14};
    const int32_t inside[] = {10, 12, 13}, below[] = {-11, -14}, above[] = {15};
    t_array in_d = t_new_from(in, sizeof in, 0), keep_d = t_new_from(keep, sizeof keep, 1);
    t_array out[3] = {t_new(24, 0), t_new(24, 0), t_new(24, 0)}, counts = t_new(24, 0);
    uint64_t got[3];
    int32_t host[6];
    T_OK(gp_partition_into(t_ctx(), 4, in_d.data, keep_d.data, 6, out[0].data, out[1].data,
                           counts.data));
    t_get(&counts, got, sizeof got);
    ck_assert(got[0] == 3 && got[1] == 3);
    t_get(&out[0], host, sizeof front);
    t_same_bytes("front", front, host, sizeof front);
    t_get(&out[1], host, sizeof back);
    t_same_bytes("back", back, host, sizeof back);
    T_OK(gp_partition_range(t_ctx(), GP_I32, &value, &upper, in_d.data, 6, out[0].data, out[1].data,
                            out[2].data, counts.data));
    t_get(&counts, got, sizeof got);
    ck_assert(got[0] == 3 && got[1] == 2 && got[2] == 1);
    t_get(&out[0], host, sizeof inside);
    t_same_bytes("inside", inside, host, sizeof inside);
    t_get(&out[1], host, sizeof below);
    t_same_bytes("below", below, host, sizeof below);
    t_get(&out[2], host, sizeof above);
    t_same_bytes("above", above, host, sizeof above);
    T_OK(gp_partition_range(t_ctx(), GP_I32, &value, &upper, NULL, 0, NULL, NULL, NULL,
                            counts.data));
    t_get(&counts, got, sizeof got);
    ck_assert(got[0] == 0 && got[1] == 0 && got[2] == 0);
    t_free(&in_d), t_free(&keep_d), t_free(&counts);
    for (int k = 0; k < 3; k++)
        t_free(&out[k]);
}
END_TEST

struct call {
    gp_compact_desc d;
    t_array in, keep, out, more, counts;
    uint32_t value;
};

static gp_status call_by(struct call *c)
{
    return gp_compact_by(t_ctx(), &c->d, c->in.data, c->d.compare ? NULL : c->keep.data, 16,
                         c->out.data, c->counts.data);
}

static struct call call_new(void)
{
    static const char zeros[64];
    return (struct call){compact_desc(GP_COMPACT_ITEMS, 4),
                         t_new_from(zeros, 64, 0),
                         t_new_from(zeros, 64, 0),
                         t_new(64, 0),
                         t_new(64, 0),
                         t_new(24, 0),
                         7};
}

static void call_free(struct call *c)
{
    t_check_untouched(&c->out);
    t_check_untouched(&c->more);
    t_check_untouched(&c->counts);
    t_array *all[] = {&c->in, &c->keep, &c->out, &c->more, &c->counts};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        t_free(all[k]);
}

START_TEST(test_sides_errors)
{
    struct call c = call_new();
    const gp_compact_desc good = c.d;
    char *more = c.more.data, *in = c.in.data, *out = c.out.data;
    gp_compact_desc range = good;
    range.compare = GP_BETWEEN;
    range.dtype = GP_U32;
    range.value = range.upper = &c.value;
#define REFUSED(status, from, change)                                                              \
    do {                                                                                           \
        c.d = from;                                                                                \
        change;                                                                                    \
        T_STATUS(status, call_by(&c));                                                             \
    } while (0)
    REFUSED(GP_ERROR_ARGUMENT, good, c.d.kind = GP_COMPACT_FLAGS);
    REFUSED(GP_ERROR_ARGUMENT, range, (c.d.kind = GP_COMPACT_FLAGS, c.d.capacity = 15));
    REFUSED(GP_ERROR_ARGUMENT, good, c.d.flags = (gp_flags)2);
    REFUSED(GP_ERROR_ARGUMENT, good, c.d.flags = (gp_flags)-1);
    REFUSED(GP_ERROR_ARGUMENT, good, c.d.reserved = 1);
    REFUSED(GP_ERROR_ARGUMENT, good, c.d.rest_capacity = 1);
    REFUSED(GP_ERROR_ARGUMENT, good, c.d.above_capacity = 1);
    REFUSED(GP_ERROR_POINTER, good, c.d.upper = &c.value);
    REFUSED(GP_ERROR_POINTER, range, c.d.upper = NULL);
    REFUSED(GP_ERROR_POINTER, range, c.d.value = NULL);
    REFUSED(GP_ERROR_POINTER, good, c.d.rest = more);
    REFUSED(GP_ERROR_POINTER, range, (c.d.kind = GP_COMPACT_PARTITION, c.d.above = more));
    REFUSED(GP_ERROR_POINTER, good,
            (c.d.kind = GP_COMPACT_PARTITION, c.d.rest = more, c.d.above = more + 32));
    REFUSED(GP_ERROR_POINTER, good, (c.d.kind = GP_COMPACT_PARTITION, c.d.indices = more));
    REFUSED(GP_ERROR_POINTER, good, c.d.indices = more + 2);
    REFUSED(GP_ERROR_POINTER, good, (c.d.kind = GP_COMPACT_PARTITION, c.d.rest = more + 2));
    REFUSED(GP_ERROR_DTYPE, good, (c.d.indices = more, c.d.index_dtype = GP_I32));
    REFUSED(GP_ERROR_OVERLAP, good, c.d.indices = out);
    REFUSED(GP_ERROR_OVERLAP, good, c.d.indices = in);
    REFUSED(GP_ERROR_OVERLAP, good, (c.d.kind = GP_COMPACT_PARTITION, c.d.rest = in));
    REFUSED(GP_ERROR_OVERLAP, range,
            (c.d.kind = GP_COMPACT_PARTITION, c.d.rest = more, c.d.above = more + 60));
    REFUSED(GP_ERROR_UNSUPPORTED, good, (c.d.algorithm = GP_ALGORITHM_CUB, c.d.indices = more));
    REFUSED(GP_ERROR_UNSUPPORTED, good,
            (c.d.algorithm = GP_ALGORITHM_CUB, c.d.flags = GP_FLAGS_BITS));
#undef REFUSED
    call_free(&c);
}
END_TEST

START_TEST(test_sides_errors_without_a_descriptor)
{
    struct call c = call_new();
    char *more = c.more.data, *in = c.in.data, *out = c.out.data;
    uint8_t *keep = c.keep.data;
    void *counts = c.counts.data;
    T_STATUS(GP_ERROR_POINTER, gp_partition_into(t_ctx(), 4, in, keep, 16, out, NULL, counts));
    T_STATUS(GP_ERROR_POINTER, gp_partition_into(t_ctx(), 4, in, keep, 16, NULL, more, counts));
    T_STATUS(GP_ERROR_POINTER, gp_partition_into(t_ctx(), 4, in, NULL, 16, out, more, counts));
    T_STATUS(GP_ERROR_ARGUMENT, gp_partition_into(t_ctx(), 0, in, keep, 16, out, more, counts));
    T_STATUS(GP_ERROR_OVERLAP, gp_partition_into(t_ctx(), 4, in, keep, 16, out, out, counts));
    T_STATUS(GP_ERROR_OVERLAP,
             gp_partition_into(t_ctx(), 4, in, keep, 16, out, more, (uint64_t *)(void *)more));
    T_STATUS(GP_ERROR_DTYPE, gp_partition_range(t_ctx(), (gp_dtype)0, &c.value, &c.value, in, 8,
                                                out, more, more + 32, counts));
    T_STATUS(GP_ERROR_POINTER, gp_partition_range(t_ctx(), GP_U32, NULL, &c.value, in, 8, out, more,
                                                  more + 32, counts));
    T_STATUS(GP_ERROR_POINTER, gp_partition_range(t_ctx(), GP_U32, &c.value, &c.value, in, 8, out,
                                                  more, NULL, counts));
    call_free(&c);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("compact_sides");
    TCase *c = t_case(s, "values");
    tcase_add_test(c, test_sides_simple_calls);
    tcase_add_loop_test(c, test_sides_by_flags, 0, 2 * COMPACT_WIDTHS);
    tcase_add_loop_test(c, test_sides_by_special_ranges, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_sides_by_every_comparison, 0, T_DTYPE_COUNT);
    c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_sides_sizes, 0, T_SIZE_COUNT);
    tcase_add_loop_test(c, test_sides_sizes_of_ranges, 0, T_SIZE_COUNT);
    c = t_case(s, "places");
    tcase_add_loop_test(c, test_sides_past_capacity_write_what_fits, 0, COMPACT_WIDTHS - 2);
    tcase_add_loop_test(c, test_sides_device_n, 0, 5);
    tcase_add_loop_test(c, test_sides_of_long_arrays, 0, COMPACT_DIRECT_WIDTHS);
    tcase_add_loop_test(c, test_sides_all_on_one_side, 0, 3);
    c = t_case(s, "errors");
    tcase_add_test(c, test_sides_errors);
    tcase_add_test(c, test_sides_errors_without_a_descriptor);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
