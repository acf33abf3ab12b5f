/* SPDX-License-Identifier: MIT */
/* Indices and row pointers are u32; matrices have n / 16 rows and as many columns. */
#include "bench.h"
#include "bench_task.h"

static void *filled(struct bench *b, int slot, struct bench_task t)
{
    t.out = bench_buffer(b, slot, t.n * t.width);
    b->backend->task(b, &t);
    return t.out;
}

static struct bench_args matrix_args(gp_dtype dtype, size_t n)
{
    return (struct bench_args){.dtype = dtype, .n = n, .num_rows = n / 16, .num_cols = n / 16};
}

/* ---- row pointers ---------------------------------------------------------------------------- */

static int run_row_pointers(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_csr_row_pointers(b->ctx, GP_U32, a->rows, a->n, a->num_rows, GP_U32, a->out_offsets));
}

/* The rows were made from row pointers. */
static int known_offsets(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_copy(b->ctx, a->offsets, (a->num_rows + 1) * 4, a->out_offsets));
}

static void row_pointers_case(struct bench *b, const char *name, bool powerlaw, int exponent)
{
    size_t n = (size_t)1 << exponent;
    if (!bench_wanted(b, name, GP_U32))
        return;
    struct bench_case c = {.suite = "csr",
                           .name = name,
                           .run = run_row_pointers,
                           .reference = known_offsets,
                           .ideal = BENCH_READ};
    c.args = matrix_args(GP_U32, n);
    bench_segment_lengths(b, &c.args, powerlaw, BENCH_SLOT_0);
    struct bench_task expand = {.kind = BENCH_EXPAND, .n = n, .width = 4, .args = c.args};
    c.args.rows = filled(b, BENCH_SLOT_1, expand);
    size_t bytes = (c.args.num_rows + 1) * 4;
    c.args.out_offsets = bench_buffer(b, BENCH_SLOT_2, bytes);
    c.outputs[0] = (struct bench_output){c.args.out_offsets, bytes};
    c.bytes = 4.0 * (double)n + (double)bytes;
    bench_measure(b, &c);
}

/* ---- coordinates to CSR ---------------------------------------------------------------------- */

static gp_coo_desc coo_desc(const struct bench_args *a)
{
    gp_coo_desc desc = GP_COO_DESC_INIT;
    desc.value_dtype = a->dtype;
    return desc;
}

static int run_from_coo(struct bench *b, const struct bench_args *a)
{
    gp_coo_desc desc = coo_desc(a);
    return bench_status(b, gp_csr_from_coo(b->ctx, &desc, a->num_rows, a->num_cols, a->rows,
                                           a->cols, a->values, a->n, a->out_offsets, a->out,
                                           a->out_values, a->count));
}

/* Canonical, every input entry has its place, and every place holds the sum of its entries. */
static bool check_from_coo(struct bench *b, const struct bench_case *c)
{
    struct bench_task t = {.kind = BENCH_CSR_CANONICAL, .n = c->args.num_rows, .args = c->args};
    uint64_t count = 0, bad[3];
    bench_copy(b, c->args.count, sizeof count, &count);
    if (count > c->args.n) {
        printf("  out_nnz is %llu\n", (unsigned long long)count);
        return false;
    }
    t.a = bench_buffer(b, BENCH_SLOT_7, c->args.n * 4);
    b->backend->fill_bytes(b, t.a, 0, c->args.n * 4);
    bad[0] = bench_count_bad(b, &t);
    t.kind = BENCH_COO_TAKE;
    t.n = c->args.n;
    bad[1] = bench_count_bad(b, &t);
    t.kind = BENCH_COO_COMPARE;
    t.n = count;
    bad[2] = bench_count_bad(b, &t);
    if (bad[0] + bad[1] + bad[2] == 0)
        return true;
    printf("  entries out of order %llu, missing %llu, with a wrong value %llu\n",
           (unsigned long long)bad[0], (unsigned long long)bad[1], (unsigned long long)bad[2]);
    return false;
}

static void coo_case(struct bench *b, int exponent)
{
    static const char name[] = "coo_to_csr";
    size_t n = (size_t)1 << exponent;
    if (!bench_wanted(b, name, GP_F32))
        return;
    struct bench_case c = {
        .suite = "csr", .name = name, .run = run_from_coo, .check = check_from_coo};
    struct bench_args *a = &c.args;
    *a = matrix_args(GP_F32, n);
    struct bench_task t = {
        .kind = BENCH_FILL_COORDINATES, .n = n, .width = 4, .seed = 1, .limit = a->num_rows};
    a->rows = filled(b, BENCH_SLOT_0, t);
    t.seed = 2;
    a->cols = filled(b, BENCH_SLOT_1, t);
    t.kind = BENCH_FILL_SMALL;
    a->values = filled(b, BENCH_SLOT_2, t);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_3, (a->num_rows + 1) * 4);
    a->out = bench_buffer(b, BENCH_SLOT_4, n * 4);
    a->out_values = bench_buffer(b, BENCH_SLOT_5, n * 4);
    a->count = bench_buffer(b, BENCH_SLOT_6, sizeof(uint64_t));
    c.outputs[0] = (struct bench_output){a->out_offsets, (a->num_rows + 1) * 4};
    c.outputs[1] = (struct bench_output){a->out, n * 4};
    c.outputs[2] = (struct bench_output){a->out_values, n * 4};
    /* About one entry in 16 repeats another and is not written. */
    c.bytes = 12.0 * (double)n + 8.0 * (double)n * 15 / 16 + 4.0 * (double)(a->num_rows + 1);
    bench_measure(b, &c);
}

/* ---- matrices in CSR ------------------------------------------------------------------------- */

/* Row pointers and columns, in slots 0 and 1. */
static void make_matrix(struct bench *b, struct bench_args *a, bool powerlaw)
{
    bench_segment_lengths(b, a, powerlaw, BENCH_SLOT_0);
    struct bench_task t = {
        .kind = BENCH_FILL_COLUMNS, .n = a->n, .width = 4, .seed = 3, .args = *a};
    a->cols = filled(b, BENCH_SLOT_1, t);
}

static int run_transpose(struct bench *b, const struct bench_args *a)
{
    gp_coo_desc desc = coo_desc(a);
    return bench_status(b, gp_csr_transpose(b->ctx, &desc, a->num_rows, a->num_cols, a->n,
                                            a->offsets, a->cols, a->values, a->out_offsets, a->out,
                                            a->out_values));
}

static bool check_transpose(struct bench *b, const struct bench_case *c)
{
    struct bench_task t = {.kind = BENCH_TRANSPOSED, .n = c->args.num_cols, .args = c->args};
    uint64_t bad = bench_count_bad(b, &t);
    if (bad)
        printf("  %llu entries are wrong\n", (unsigned long long)bad);
    return bad == 0;
}

static void transpose_case(struct bench *b, int exponent)
{
    static const char name[] = "transpose";
    size_t n = (size_t)1 << exponent;
    if (!bench_wanted(b, name, GP_F32))
        return;
    struct bench_case c = {
        .suite = "csr", .name = name, .run = run_transpose, .check = check_transpose};
    struct bench_args *a = &c.args;
    *a = matrix_args(GP_F32, n);
    make_matrix(b, a, false);
    struct bench_task t = {.kind = BENCH_FILL_IOTA, .n = n, .width = 4, .limit = 1};
    a->values = filled(b, BENCH_SLOT_2, t);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_3, (a->num_cols + 1) * 4);
    a->out = bench_buffer(b, BENCH_SLOT_4, n * 4);
    a->out_values = bench_buffer(b, BENCH_SLOT_5, n * 4);
    c.outputs[0] = (struct bench_output){a->out_offsets, (a->num_cols + 1) * 4};
    c.outputs[1] = (struct bench_output){a->out, n * 4};
    c.outputs[2] = (struct bench_output){a->out_values, n * 4};
    c.bytes = 16.0 * (double)n + 4.0 * (double)(a->num_rows + a->num_cols + 2);
    bench_measure(b, &c);
}

static int run_spmv(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_spmv(b->ctx, GP_U32, GP_U32, a->dtype, a->num_rows, a->num_cols, a->n,
                                   a->offsets, a->cols, a->values, NULL, a->x, NULL, a->out));
}

static void spmv_case(struct bench *b, const char *name, bool powerlaw, gp_dtype dtype,
                      int exponent)
{
    size_t n = (size_t)1 << exponent, width = gp_dtype_bytes(dtype);
    if (!bench_wanted(b, name, dtype))
        return;
    struct bench_case c = {
        .suite = "csr", .name = name, .run = run_spmv, .reference = bench_row_by_row};
    struct bench_args *a = &c.args;
    *a = matrix_args(dtype, n);
    make_matrix(b, a, powerlaw);
    struct bench_task t = {.kind = BENCH_FILL_SMALL, .n = n, .width = (unsigned)width, .seed = 4};
    a->values = filled(b, BENCH_SLOT_2, t);
    t.n = a->num_cols;
    t.seed = 5;
    a->x = filled(b, BENCH_SLOT_3, t);
    a->out = bench_buffer(b, BENCH_SLOT_4, a->num_rows * width);
    c.outputs[0] = (struct bench_output){a->out, a->num_rows * width};
    c.bytes =
        (double)(n * (4 + width) + (a->num_rows + 1) * 4 + (a->num_rows + a->num_cols) * width);
    bench_measure(b, &c);
}

void bench_csr(struct bench *b)
{
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++) {
        row_pointers_case(b, "row_pointers", false, exponents[i]);
        row_pointers_case(b, "row_pointers_powerlaw", true, exponents[i]);
    }
    count = bench_sizes(b, 24, false, exponents);
    for (int i = 0; i < count; i++) {
        coo_case(b, exponents[i]);
        transpose_case(b, exponents[i]);
        spmv_case(b, "spmv_even", false, GP_F32, exponents[i]);
        spmv_case(b, "spmv_powerlaw", true, GP_F32, exponents[i]);
        if (b->options.quick)
            continue;
        spmv_case(b, "spmv_even", false, GP_F64, exponents[i]);
        spmv_case(b, "spmv_powerlaw", true, GP_F64, exponents[i]);
    }
}
