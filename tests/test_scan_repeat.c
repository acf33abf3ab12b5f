/* SPDX-License-Identifier: MIT */
/*
 * Float sums are the same bits in every run: at any alignment, beside other work on the same GPU,
 * and with fewer multiprocessors. Compared by two 64-bit checksums of the output bits, which a scan
 * of gp makes on the device: their sum, and the sum of their prefix sums (so that places count).
 */
#include <stdlib.h>

#include <gp/scan.h>

#include "gp_test.h"

enum { ALIGNMENTS = 3, RUNS = 1000, BUSY_ITEMS = 1 << 22 };

struct repeat {
    gp_context *ctx, *busy;
    gp_dtype dtype;
    size_t n, bytes, words;
    t_array in[ALIGNMENTS], out[ALIGNMENTS]; /* the same input at each alignment */
    t_array poison, bits, sums, checksums, other;
};

static struct repeat repeat_new(gp_dtype dtype, size_t n, int runs)
{
    struct repeat r = {.dtype = dtype, .n = n, .bytes = n * gp_dtype_bytes(dtype)};
    uint64_t state = t_seed();
    void *host = t_host(r.bytes), *zero = calloc(1, 8);
    r.words = (r.bytes + 7) / 8;
    t_fill_random(dtype, host, n, &state);
    for (int a = 0; a < ALIGNMENTS; a++) {
        r.in[a] = t_new_from(host, r.bytes, (size_t)a * gp_dtype_bytes(dtype));
        r.out[a] = t_new(r.bytes, (size_t)a * (a + 1) * gp_dtype_bytes(dtype));
    }
    r.poison = t_new(r.bytes, 0);
    r.bits = t_new(r.words * 8, 0);
    r.sums = t_new(r.words * 8, 0);
    r.checksums = t_new((size_t)runs * 16, 0);
    r.other = t_new(BUSY_ITEMS * sizeof(int), 0);
    T_OK(gp_copy(t_ctx(), zero, 8, (char *)r.bits.data + (r.words - 1) * 8));
    T_OK(gp_context_synchronize(t_ctx()));
    r.busy = t_context_with(0);
    free(host);
    free(zero);
    return r;
}

static void repeat_free(struct repeat *r)
{
    gp_context_destroy(r->ctx);
    gp_context_destroy(r->busy);
    for (int a = 0; a < ALIGNMENTS; a++) {
        t_check_guards(&r->out[a]);
        t_free(&r->in[a]);
        t_free(&r->out[a]);
    }
    t_free(&r->poison);
    t_free(&r->bits);
    t_free(&r->sums);
    t_free(&r->checksums);
    t_free(&r->other);
}

/* Queue the two checksums of an output as those of a run. */
static void queue_checksums(struct repeat *r, const void *out, int run)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U64;
    d.op = GP_SUM;
    d.total = (uint64_t *)r->checksums.data + 2 * run;
    T_OK(gp_copy(r->ctx, out, r->bytes, r->bits.data));
    T_OK(gp_scan(r->ctx, &d, r->bits.data, r->words, r->sums.data));
    d.total = (uint64_t *)r->checksums.data + 2 * run + 1;
    T_OK(gp_scan(r->ctx, &d, r->sums.data, r->words, r->sums.data));
}

/* Work of another context, of a size that changes. */
static void queue_other_work(struct repeat *r, int run)
{
    size_t n = ((size_t)BUSY_ITEMS >> run % 6) - (size_t)run;
    for (int i = 0; i < 2; i++)
        T_OK(gp_scan_inclusive(r->busy, GP_I32, GP_XOR, r->other.data, n, r->other.data));
}

static void queue_run(struct repeat *r, int run)
{
    int a = run % ALIGNMENTS;
    void *out = r->out[a].data;
    T_OK(gp_copy(r->ctx, r->poison.data, r->bytes, out));
    queue_other_work(r, run);
    T_OK(gp_scan_inclusive(r->ctx, r->dtype, GP_SUM, r->in[a].data, r->n, out));
    queue_checksums(r, out, run);
}

/* All runs of a context limited to some multiprocessors; returns the first run's checksums. */
static void check_runs(struct repeat *r, int multiprocessors, int runs, uint64_t first[2])
{
    uint64_t *sums = t_host((size_t)runs * 16);
    gp_context_destroy(r->ctx);
    r->ctx = t_context_with(multiprocessors);
    for (int run = 0; run < runs; run++)
        queue_run(r, run);
    T_OK(gp_context_synchronize(r->ctx));
    T_OK(gp_context_synchronize(r->busy));
    t_get(&r->checksums, sums, (size_t)runs * 16);
    for (int run = 0; run < runs; run++)
        if (sums[2 * run] != sums[0] || sums[2 * run + 1] != sums[1])
            ck_abort_msg("%s, %d multiprocessors: run %d has other bits than run 0",
                         gp_dtype_string(r->dtype), multiprocessors, run);
    first[0] = sums[0];
    first[1] = sums[1];
    free(sums);
}

static void check_repeats(gp_dtype dtype, size_t n, int runs)
{
    struct repeat r = repeat_new(dtype, n, runs);
    int all = t_is_cuda() ? t_multiprocessors() : 2;
    uint64_t whole[2], half[2], one[2];
    check_runs(&r, 0, runs, whole);
    check_runs(&r, all / 2, runs, half);
    check_runs(&r, 1, ALIGNMENTS, one);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(whole[i], half[i]);
        ck_assert_uint_eq(whole[i], one[i]);
    }
    repeat_free(&r);
}

static const gp_dtype repeat_dtypes[] = {GP_F32, GP_F64};

/* Sizes on both sides of where the kernels change. */
START_TEST(test_scan_repeats_bit_by_bit)
{
    static const size_t sizes[] = {5000, 100003, (1 << 19) + 5, (1 << 21) + 17};
    if (t_is_cuda() || sizes[_i / 2] < 1 << 17) /* on the CPU other suites test more of it */
        check_repeats(repeat_dtypes[_i % 2], sizes[_i / 2], t_is_cuda() ? 50 : ALIGNMENTS);
}
END_TEST

START_TEST(test_scan_repeats_bit_by_bit_1000_times)
{
    check_repeats(repeat_dtypes[_i], (1 << 24) + 17, t_is_cuda() ? RUNS : ALIGNMENTS);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_repeat");
    TCase *c = t_case(s, "repeat");
    tcase_add_loop_test(c, test_scan_repeats_bit_by_bit, 0, 8);
    c = t_case(s, "large");
    tcase_add_loop_test(c, test_scan_repeats_bit_by_bit_1000_times, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
