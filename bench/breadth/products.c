/* SPDX-License-Identifier: MIT */
/* SpMV around the diagonal: over lengths of rows, dtypes of values, and widths of indices. */
#include "breadth.h"

static int run_product(struct bench *b, const struct bench_args *a)
{
    const gp_dtype index = a->key_bytes == 8 ? GP_U64 : GP_U32;
    const void *pointers = a->key_bytes == 8 ? a->out_offsets : a->offsets;
    return bench_status(b, gp_spmv(b->ctx, index, index, a->dtype, a->num_rows, a->num_cols, a->n,
                                   pointers, a->key_bytes == 8 ? a->rows : a->cols, a->values, NULL,
                                   a->x, NULL, a->out));
}

static void *made(struct bench *b, int slot, struct bench_task t)
{
    t.out = bench_buffer(b, slot, t.n * t.width);
    b->backend->task(b, &t);
    return t.out;
}

/* Numbers of 32 bits as 64, for which the same memory may be read and written. */
static void *widened(struct bench *b, int slot, const void *numbers, size_t n)
{
    return made(b, slot,
                (struct bench_task){
                    .kind = BENCH_FILL_WIDE, .n = n, .width = 8, .a = (void *)(uintptr_t)numbers});
}

/* Rows of `length` entries, the last one shorter. */
static void product_at(struct bench *b, const char *name, size_t length, unsigned index,
                       gp_dtype dtype, size_t n)
{
    const unsigned width = (unsigned)gp_dtype_bytes(dtype);
    struct bench_case c = {.suite = "breadth",
                           .name = name,
                           .run = run_product,
                           .reference = bench_row_by_row,
                           .seen = breadth_keep,
                           .ideal = BENCH_READ};
    struct bench_args *a = &c.args;
    *a = (struct bench_args){.dtype = dtype, .n = n, .key_bytes = index};
    a->num_rows = a->num_cols = (n + length - 1) / length;
    const uint32_t end = (uint32_t)n;
    char *pointers =
        made(b, BENCH_SLOT_0,
             (struct bench_task){
                 .kind = BENCH_FILL_IOTA, .n = a->num_rows + 1, .width = 4, .limit = length});
    bench_copy(b, &end, 4, pointers + a->num_rows * 4);
    a->offsets = pointers;
    a->cols = made(
        b, BENCH_SLOT_1,
        (struct bench_task){.kind = BENCH_FILL_NEAR, .n = n, .width = 4, .seed = 3, .args = *a});
    a->values =
        made(b, BENCH_SLOT_2,
             (struct bench_task){.kind = BENCH_FILL_STEPS, .n = n, .width = width, .seed = 4});
    a->x = made(
        b, BENCH_SLOT_3,
        (struct bench_task){.kind = BENCH_FILL_SMALL, .n = a->num_cols, .width = width, .seed = 5});
    a->out = bench_buffer(b, BENCH_SLOT_4, a->num_rows * width);
    if (index == 8) {
        a->rows = widened(b, BENCH_SLOT_5, a->cols, n);
        a->out_offsets = widened(b, BENCH_SLOT_6, a->offsets, a->num_rows + 1);
    }
    c.outputs[0] = (struct bench_output){a->out, a->num_rows * width};
    c.bytes = (double)(n * (index + width) + (a->num_rows + 1) * index +
                       (a->num_rows + a->num_cols) * width);
    bench_measure(b, &c);
}

static void product(struct bench *b, size_t length, unsigned index, gp_dtype dtype)
{
    char name[BREADTH_NAME];
    snprintf(name, sizeof name, "spmv_banded_%zu_u%u", length, index * 8);
    if (!bench_wanted(b, name, dtype))
        return;
    if (b->options.num_exponents == 0)
        product_at(b, name, length, index, dtype, breadth_bytes(b) / index);
    for (int i = 0; i < b->options.num_exponents; i++)
        product_at(b, name, length, index, dtype, (size_t)1 << b->options.exponents[i]);
}

void breadth_products(struct bench *b)
{
    static const size_t lengths[] = {4, 16, 64};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (unsigned index = 4; index <= 8; index *= 2) {
            product(b, lengths[l], index, GP_F32);
            product(b, lengths[l], index, GP_F64);
        }
}
