/* SPDX-License-Identifier: MIT */
/*
 * The bits of float results do not change from version to version, unless somebody means them to:
 * hashes of what rounds, per call, dtype, operator and size, are in tests/float_bits_<where>.h.
 * With GP_PRINT_BITS=1 in the environment this program prints that file instead of comparing.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/csr.h>
#include <gp/group.h>
#include <gp/reduce.h>
#include <gp/scan.h>
#include <gp/segments.h>
#include <gp/segreduce.h>

#include "gp_test.h"

struct row {
    const char *call;
    gp_dtype in, out;
    gp_op op;
    uint64_t hash[3]; /* of each of the sizes */
};

static const struct row on_cpu[] = {
#include "float_bits_cpu.h"
    {NULL, 0, 0, 0, {0}}};
static const struct row on_sm_90[] = {
#include "float_bits_sm_90.h"
    {NULL, 0, 0, 0, {0}}};

enum { SIZES = 3 };
static const size_t sizes[SIZES] = {1000, 100003, 2000003};

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Finite, and so that results neither vanish nor overflow. */
static void fill(gp_dtype dtype, gp_op op, char *host, size_t n, uint64_t *state)
{
    const double tenth = 0.1;
    size_t scalars = gp_op_scalars(op);
    t_fill_random(dtype, host, n * scalars, state);
    for (size_t i = 0; op == GP_PRODUCT && i < n; i++)
        t_set(dtype, host, i, 1 + t_value(dtype, host, i) * tenth * tenth);
    for (size_t i = 0; op == GP_AFFINE && i < n; i++)
        t_set(dtype, host, 2 * i, 1 - fabs(t_value(dtype, host, 2 * i)) * tenth);
    for (size_t i = 0; op == GP_MAT2 && i < n; i++) { /* rotations, nearly */
        double s = t_value(dtype, host, 4 * i), c = sqrt(1 - s * s);
        t_set(dtype, host, 4 * i, c);
        t_set(dtype, host, 4 * i + 1, s);
        t_set(dtype, host, 4 * i + 2, -s);
        t_set(dtype, host, 4 * i + 3, c);
    }
}

/* Row pointers of n entries in rows of 0 to 9. */
static uint32_t *rows_of(size_t n, size_t *num_rows, uint64_t *state)
{
    uint32_t *offsets = t_host((n + 2) * sizeof *offsets);
    size_t rows = 0, at = 0;
    offsets[0] = 0;
    while (at < n && rows < n) {
        at += t_random_below(state, 10);
        offsets[++rows] = (uint32_t)(at < n ? at : n);
    }
    offsets[rows] = (uint32_t)n;
    *num_rows = rows;
    return offsets;
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct job {
    const struct row *row;
    size_t n;
    const void *in;
    const uint32_t *offsets; /* device */
    size_t num_rows;
    const void *cols, *x;
    const uint32_t *keys; /* the row of each item */
    void *out;            /* n + 1 items */
    uint64_t *count;
};

static gp_scan_desc desc_of(const struct job *j, gp_scan_kind kind)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.kind = kind;
    d.in_dtype = j->row->in;
    d.out_dtype = j->row->out;
    d.op = j->row->op;
    return d;
}

static void call_inclusive(const struct job *j)
{
    gp_scan_desc d = desc_of(j, GP_SCAN_INCLUSIVE);
    T_OK(gp_scan(t_ctx(), &d, j->in, j->n, j->out));
}

static void call_exclusive(const struct job *j)
{
    gp_scan_desc d = desc_of(j, GP_SCAN_EXCLUSIVE);
    T_OK(gp_scan(t_ctx(), &d, j->in, j->n, j->out));
}

static void call_backward(const struct job *j)
{
    gp_scan_desc d = desc_of(j, GP_SCAN_INCLUSIVE);
    d.backward = 1;
    T_OK(gp_scan(t_ctx(), &d, j->in, j->n, j->out));
}

static void call_segmented(const struct job *j)
{
    gp_scan_desc d = desc_of(j, GP_SCAN_INCLUSIVE);
    T_OK(gp_scan_segmented(t_ctx(), &d, j->in, j->n, GP_U32, j->offsets, j->num_rows, j->out));
}

static void call_reduce(const struct job *j)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = j->row->in;
    d.out_dtype = j->row->out;
    d.op = j->row->op;
    T_OK(gp_reduce_by(t_ctx(), &d, j->in, j->n, j->out));
}

static void call_spmv(const struct job *j)
{
    const float one = 1;
    const double one_64 = 1;
    const void *alpha = j->row->in == GP_F64 ? (const void *)&one_64 : &one;
    T_OK(gp_spmv(t_ctx(), GP_U32, GP_U32, j->row->in, j->num_rows, j->n, j->n, j->offsets, j->cols,
                 j->in, alpha, j->x, NULL, j->out));
}

static void call_reduce_segmented(const struct job *j)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    d.in_dtype = j->row->in;
    d.out_dtype = j->row->out;
    d.op = j->row->op;
    d.offset_dtype = GP_U32;
    T_OK(gp_reduce_segmented(t_ctx(), &d, j->in, j->n, j->offsets, j->num_rows, j->out));
}

static void call_reduce_by_key(const struct job *j)
{
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = GP_U32;
    d.in_dtype = j->row->in;
    d.out_dtype = j->row->out;
    d.op = j->row->op;
    T_OK(gp_reduce_by_key(t_ctx(), &d, j->keys, j->in, j->n, NULL, j->out, j->count));
}

static const struct call {
    const char *name;
    void (*run)(const struct job *j);
} calls[] = {{"inclusive", call_inclusive}, {"exclusive", call_exclusive},
             {"backward", call_backward},   {"segmented", call_segmented},
             {"reduce", call_reduce},       {"reduce_segmented", call_reduce_segmented},
             {"spmv", call_spmv},           {"reduce_by_key", call_reduce_by_key}};

/* ---- hashes ---------------------------------------------------------------------------------- */

/* FNV-1a over 64-bit words; the last one is filled up. */
static uint64_t hash_of(const char *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u, word;
    for (size_t i = 0; i < count; i += sizeof word) {
        word = 0;
        memcpy(&word, bytes + i, count - i < sizeof word ? count - i : sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t result_hash(const struct row *row, const struct call *call, size_t n)
{
    uint64_t state = n * 31 + (uint64_t)row->op;
    size_t scalars = gp_op_scalars(row->op), item = gp_dtype_bytes(row->in) * scalars, num_rows;
    size_t out_bytes = (n + 1) * gp_dtype_bytes(row->out) * scalars;
    char *in = t_host(n * item), *x = t_host(n * item), *out = t_host(out_bytes);
    fill(row->in, row->op, in, n, &state);
    fill(row->in, row->op, x, n, &state);
    uint32_t *offsets = rows_of(n, &num_rows, &state), *cols = t_host(n * sizeof *cols);
    for (size_t i = 0; i < n; i++)
        cols[i] = (uint32_t)t_random_below(&state, n);
    uint32_t *keys = t_host(n * sizeof *keys);
    for (size_t r = 0; r < num_rows; r++)
        for (size_t i = offsets[r]; i < offsets[r + 1]; i++)
            keys[i] = (uint32_t)r;
    memset(out, 0, out_bytes);
    t_array a_in = t_new_from(in, n * item, 0), a_x = t_new_from(x, n * item, 0);
    t_array a_offsets = t_new_from(offsets, (num_rows + 1) * sizeof *offsets, 0);
    t_array a_cols = t_new_from(cols, n * sizeof *cols, 0), a_out = t_new_from(out, out_bytes, 0);
    t_array a_keys = t_new_from(keys, n * sizeof *keys, 0), a_count = t_new(sizeof(uint64_t), 0);
    struct job job = {row,         n,        a_in.data,   a_offsets.data, num_rows,
                      a_cols.data, a_x.data, a_keys.data, a_out.data,     a_count.data};
    call->run(&job);
    t_get(&a_out, out, out_bytes);
    uint64_t hash = hash_of(out, out_bytes);
    t_array *arrays[] = {&a_in, &a_x, &a_offsets, &a_cols, &a_out, &a_keys, &a_count};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        t_free(arrays[i]);
    free(in), free(x), free(out), free(offsets), free(cols), free(keys);
    return hash;
}

/* ---- comparing and printing ------------------------------------------------------------------ */

static const struct call *call_of(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    ck_abort_msg("no call %s", name);
    return NULL;
}

START_TEST(test_float_bits_are_those_of_the_table)
{
    ck_assert_msg(sizeof on_cpu / sizeof on_cpu[0] > 1, "tests/float_bits_cpu.h is empty");
    const struct row *rows = t_is_cuda() ? on_sm_90 : on_cpu;
    for (size_t row = 0; rows->call; row++, rows++)
        for (int s = 0; s < SIZES && row % t_step(1) == 0; s++) {
            uint64_t hash = result_hash(rows, call_of(rows->call), sizes[s]);
            ck_assert_msg(hash == rows->hash[s],
                          "%s %s %s n %zu: 0x%016" PRIx64 ", in the table %016" PRIx64, rows->call,
                          gp_dtype_string(rows->in), gp_op_string(rows->op), sizes[s], hash,
                          rows->hash[s]);
        }
}
END_TEST

static const char *name_of(gp_dtype dtype)
{
    return dtype == GP_F16    ? "GP_F16"
           : dtype == GP_BF16 ? "GP_BF16"
           : dtype == GP_F32  ? "GP_F32"
                              : "GP_F64";
}

static void print_row(const struct call *call, gp_dtype in, gp_dtype out, gp_op op,
                      const char *name)
{
    struct row row = {call->name, in, out, op, {0}};
    printf("{\"%s\", %s, %s, %s,\n {", call->name, name_of(in), name_of(out), name);
    for (int s = 0; s < SIZES; s++)
        printf("%s0x%016" PRIx64, s ? ", " : "", result_hash(&row, call, sizes[s]));
    printf("}},\n");
}

static void print_call(const struct call *call)
{
    static const struct {
        gp_op op;
        const char *name;
    } ops[] = {{GP_SUM, "GP_SUM"},
               {GP_PRODUCT, "GP_PRODUCT"},
               {GP_AFFINE, "GP_AFFINE"},
               {GP_MAT2, "GP_MAT2"}};
    const bool spmv = call->run == call_spmv;
    for (gp_dtype d = GP_F16; d <= GP_F64; d++)
        for (size_t o = 0; o < (spmv ? 1 : 4); o++)
            if ((o < 2 && !spmv) || d == GP_F32 || d == GP_F64)
                print_row(call, d, d, ops[o].op, ops[o].name);
    if (!spmv && call->run != call_segmented)
        print_row(call, GP_F32, GP_F64, GP_SUM, "GP_SUM");
}

START_TEST(test_float_bits_print)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        print_call(&calls[i]);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("float_bits");
    if (getenv("GP_PRINT_BITS"))
        tcase_add_test(t_case(s, "print"), test_float_bits_print);
    else
        tcase_add_test(t_case(s, "table"), test_float_bits_are_those_of_the_table);
    return s;
}

/* 77, skipped: a GPU without a table. */
int main(int argc, char **argv)
{
    const bool cuda = argc > 1 && strcmp(argv[1], "cuda") == 0;
    if (cuda && t_device_count() > 0 && !getenv("GP_PRINT_BITS") &&
        (t_compute_capability() != 90 || T_SM != 90 || !on_sm_90[0].call)) {
        printf("no table of float bits for this GPU\n");
        return 77;
    }
    return t_main(argc, argv, suite());
}
