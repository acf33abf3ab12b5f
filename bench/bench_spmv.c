/* SPDX-License-Identifier: MIT */
/* y = A x and Y = A X for matrices of several kinds, with u32 indices and row pointers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gp/spmm.h>

#include "bench.h"
#include "bench_spmv.h"
#include "bench_task.h"

enum kind { RANDOM, BANDED, STENCIL, RMAT, DENSE_ROW, TENTH };

static const char *const names[] = {"random", "banded", "stencil_27", "rmat", "dense_row", "tenth"};

static void *filled(struct bench *b, int slot, struct bench_task t)
{
    t.out = bench_buffer(b, slot, t.n * t.width);
    b->backend->task(b, &t);
    return t.out;
}

/* How long row r is. */
static size_t length_of(enum kind kind, const struct bench_args *a, size_t r)
{
    switch (kind) {
    case STENCIL:
        return 27;
    case DENSE_ROW:
        return r == a->num_rows / 2 ? a->num_cols : 15;
    case TENTH:
        return r % 10 == 3 ? 16 : 0;
    default:
        return 16;
    }
}

/* Row pointers of rows whose lengths are known; n becomes their sum. */
static void make_offsets(struct bench *b, enum kind kind, struct bench_args *a)
{
    uint32_t *host = malloc((a->num_rows + 1) * sizeof *host);
    size_t sum = 0;
    if (!host)
        bench_die("out of host memory");
    for (size_t r = 0; r < a->num_rows; r++) {
        host[r] = (uint32_t)sum;
        sum += length_of(kind, a, r);
    }
    host[a->num_rows] = (uint32_t)sum;
    a->n = sum;
    a->offsets = bench_buffer(b, BENCH_SLOT_0, (a->num_rows + 1) * 4);
    bench_copy(b, host, (a->num_rows + 1) * 4, (void *)(uintptr_t)a->offsets);
    free(host);
}

void bench_matrix_of(struct bench *b, struct bench_args *a, const gp_coo_desc *desc,
                     const void *rows, const void *cols)
{
    void *offsets = bench_buffer(b, BENCH_SLOT_0, (a->num_rows + 1) * 4);
    void *out = bench_buffer(b, BENCH_SLOT_1, a->n * 4);
    if (bench_status(b, gp_csr_from_coo(b->ctx, desc, a->num_rows, a->num_cols, rows, cols, NULL,
                                        a->n, offsets, out, NULL,
                                        bench_buffer(b, BENCH_SLOT_7, sizeof(uint64_t)))))
        bench_die("no matrix");
    a->offsets = offsets;
    a->cols = out;
}

/* Edges of a recursive matrix (Chakrabarti, Zhan, Faloutsos 2004), some of them several times. */
static void make_rmat(struct bench *b, struct bench_args *a)
{
    struct bench_task t = {
        .kind = BENCH_FILL_RMAT, .n = a->n, .width = 4, .seed = 7, .limit = a->num_rows};
    const void *rows = filled(b, BENCH_SLOT_5, t);
    t.a = b; /* not NULL: the columns */
    const void *cols = filled(b, BENCH_SLOT_6, t);
    gp_coo_desc desc = GP_COO_DESC_INIT;
    desc.value_dtype = (gp_dtype)0;
    desc.duplicates = GP_DUPLICATES_KEEP;
    bench_matrix_of(b, a, &desc, rows, cols);
}

static void make_matrix(struct bench *b, const struct bench_matrix *m, struct bench_args *a)
{
    const enum kind kind = (enum kind)m->kind;
    const size_t n = m->n, side = kind == STENCIL ? (size_t)cbrt((double)n / 27) : 0;
    a->n = n;
    a->num_rows = a->num_cols = kind == STENCIL ? side * side * side : n / 16;
    if (kind == TENTH)
        a->num_rows *= 10;
    if (kind == RMAT) {
        make_rmat(b, a);
        return;
    }
    make_offsets(b, kind, a);
    struct bench_task t = {.kind = kind == BANDED || kind == STENCIL ? BENCH_FILL_NEAR
                                                                     : BENCH_FILL_COLUMNS,
                           .n = a->n,
                           .width = 4,
                           .seed = 3,
                           .limit = side,
                           .args = *a};
    a->cols = filled(b, BENCH_SLOT_1, t);
}

/* About 2^exponent entries. */
static struct bench_matrix matrix_of(enum kind kind, int exponent)
{
    return (struct bench_matrix){names[kind], make_matrix, (int)kind, (size_t)1 << exponent, NULL};
}

static int run_spmv(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_spmv(b->ctx, GP_U32, GP_U32, a->dtype, a->num_rows, a->num_cols, a->n,
                                   a->offsets, a->cols, a->values, NULL, a->x, NULL, a->out));
}

static gp_csr_desc desc_of(const struct bench_args *a)
{
    gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = a->dtype;
    return d;
}

static gp_csr_desc hot_desc_of(const struct bench_args *a)
{
    gp_csr_desc d = desc_of(a);
    d.hot_columns = 1;
    return d;
}

/* The plan is in out_values. */
static int run_by_plan(struct bench *b, const struct bench_args *a, gp_csr_desc d)
{
    return bench_status(b, gp_spmv_planned(b->ctx, &d, a->num_rows, a->num_cols, a->n, a->offsets,
                                           a->cols, a->out_values, a->values, NULL, a->x, NULL,
                                           a->out));
}

static int run_planned(struct bench *b, const struct bench_args *a)
{
    return run_by_plan(b, a, desc_of(a));
}

static int run_hot(struct bench *b, const struct bench_args *a)
{
    return run_by_plan(b, a, hot_desc_of(a));
}

static void make_plan(struct bench *b, struct bench_args *a, gp_csr_desc d)
{
    size_t bytes = 0;
    if (bench_status(b, gp_spmv_plan_bytes(NULL, &d, a->num_rows, a->num_cols, a->n, &bytes)))
        bench_die("no plan");
    a->out_values = bench_buffer(b, BENCH_SLOT_7, bytes);
    if (bench_status(b, gp_spmv_plan(b->ctx, &d, a->num_rows, a->num_cols, a->n, a->offsets,
                                     a->cols, a->out_values)))
        bench_die("no plan");
}

/* ---- by a plan that holds the transpose: the matrix of the arguments, and of the peers ---- */

static int run_transposed(struct bench *b, const struct bench_args *a)
{
    const gp_csr_desc d = desc_of(a);
    return bench_status(b, gp_spmv_transposed(b->ctx, &d, a->num_cols, a->num_rows, a->n,
                                              a->out_values, NULL, a->x, NULL, a->out));
}

/* The plan of the matrix so far, and then that is exchanged for its transpose. */
static void make_transposed(struct bench *b, struct bench_args *a)
{
    const gp_csr_desc d = desc_of(a);
    gp_coo_desc coo = GP_COO_DESC_INIT;
    coo.value_dtype = a->dtype;
    size_t bytes = 0;
    void *offsets = bench_buffer(b, BENCH_SLOT_5, (a->num_cols + 1) * 4);
    void *cols = bench_buffer(b, BENCH_SLOT_6, a->n * 4);
    void *values = bench_buffer(b, BENCH_SLOT_8, a->n * gp_dtype_bytes(a->dtype));
    if (bench_status(
            b, gp_spmv_transposed_plan_bytes(NULL, &d, a->num_rows, a->num_cols, a->n, &bytes)))
        bench_die("no plan");
    a->out_values = bench_buffer(b, BENCH_SLOT_7, bytes);
    if (bench_status(b, gp_spmv_transposed_plan(b->ctx, &d, a->num_rows, a->num_cols, a->n,
                                                a->offsets, a->cols, a->values, a->out_values)) ||
        bench_status(b, gp_csr_transpose(b->ctx, &coo, a->num_rows, a->num_cols, a->n, a->offsets,
                                         a->cols, a->values, offsets, cols, values)))
        bench_die("no plan");
    const size_t rows = a->num_rows;
    a->num_rows = a->num_cols;
    a->num_cols = rows;
    a->offsets = offsets;
    a->cols = cols;
    a->values = values;
}

int bench_row_by_row(struct bench *b, const struct bench_args *a)
{
    struct bench_task t = {.kind = BENCH_MULTIPLY,
                           .n = a->num_rows,
                           .width = (unsigned)gp_dtype_bytes(a->dtype),
                           .out = a->out,
                           .args = *a};
    b->backend->task(b, &t);
    return BENCH_OK;
}

/* ---- 64 bits --------------------------------------------------------------------------------- */

/* Columns are in rows, row pointers in out_offsets. */
static int run_wide(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_spmv(b->ctx, GP_U64, GP_U64, a->dtype, a->num_rows, a->num_cols, a->n,
                                   a->out_offsets, a->rows, a->values, NULL, a->x, NULL, a->out));
}

static void *widened(struct bench *b, int slot, const void *numbers, size_t n)
{
    void *from;
    memcpy(&from, &numbers, sizeof from);
    struct bench_task t = {.kind = BENCH_FILL_WIDE, .n = n, .width = 8, .a = from};
    return filled(b, slot, t);
}

/* cuSPARSE's descriptors here are of 32 bits. */
static bool only_ours(const struct bench_case *c, const char *impl)
{
    (void)c;
    return strcmp(impl, "gp") == 0;
}

enum form { PLAIN, PLANNED, WIDE, TRANSPOSED, HOT, FORMS };
static const char *const suffixes[] = {"", "_plan", "_u64", "_transposed", "_hot_plan"};
static const bench_run runs[] = {run_spmv, run_planned, run_wide, run_transposed, run_hot};

/* ---- cases ----------------------------------------------------------------------------------- */

/* Values of the matrix, X and Y of that many columns. */
static void fill_numbers(struct bench *b, struct bench_args *a, size_t columns)
{
    const size_t width = gp_dtype_bytes(a->dtype);
    const size_t most = a->num_rows > a->num_cols ? a->num_rows : a->num_cols;
    struct bench_task t = {
        .kind = BENCH_FILL_STEPS, .n = a->n, .width = (unsigned)width, .seed = 4};
    a->values = filled(b, BENCH_SLOT_2, t);
    t.kind = BENCH_FILL_SMALL;
    t.n = most * columns; /* of the transpose, too */
    t.seed = 5;
    a->x = filled(b, BENCH_SLOT_3, t);
    a->out = bench_buffer(b, BENCH_SLOT_4, most * columns * width);
}

static void spmv_case(struct bench *b, const struct bench_matrix *m, enum form form, gp_dtype dtype)
{
    const size_t width = gp_dtype_bytes(dtype), index = form == WIDE ? 8 : 4;
    char name[80];
    snprintf(name, sizeof name, "%s%s", m->name, suffixes[form]);
    if (!bench_wanted(b, name, dtype))
        return;
    /* f16: of the first peer */
    struct bench_case c = {.suite = "spmv",
                           .name = name,
                           .run = runs[form],
                           .reference = dtype == GP_F16 ? NULL : bench_row_by_row,
                           .ideal = BENCH_READ};
    struct bench_args *a = &c.args;
    a->dtype = dtype;
    m->make(b, m, a);
    fill_numbers(b, a, 1);
    if (form == PLANNED)
        make_plan(b, a, desc_of(a));
    if (form == HOT)
        make_plan(b, a, hot_desc_of(a));
    if (form == TRANSPOSED)
        make_transposed(b, a);
    if (form == WIDE) {
        a->rows = widened(b, BENCH_SLOT_5, a->cols, a->n);
        a->out_offsets = widened(b, BENCH_SLOT_6, a->offsets, a->num_rows + 1);
        c.wanted = only_ours;
    }
    c.outputs[0] = (struct bench_output){a->out, a->num_rows * width};
    c.bytes = (double)(a->n * (index + width) + (a->num_rows + 1) * index +
                       (a->num_rows + a->num_cols) * width);
    bench_measure(b, &c);
}

void bench_spmv_forms(struct bench *b, const struct bench_matrix *m, gp_dtype dtype, bool wide)
{
    const bool cuda = b->backend != &bench_cpu;
    if (!cuda && dtype == GP_F16)
        return;
    spmv_case(b, m, PLAIN, dtype);
    if (cuda)
        spmv_case(b, m, PLANNED, dtype);
    if (cuda && m->kind == RMAT)
        spmv_case(b, m, HOT, dtype);
    if (cuda && wide)
        spmv_case(b, m, WIDE, dtype);
    if (cuda && dtype != GP_F16 && m->kind != TENTH)
        spmv_case(b, m, TRANSPOSED, dtype);
}

void bench_spmv(struct bench *b)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64, GP_F16};
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 26, false, exponents);
    for (int i = 0; i < count; i++)
        for (int kind = 0; kind <= TENTH; kind++)
            for (int d = 0; d < (b->options.quick ? 1 : 3); d++) {
                const struct bench_matrix m = matrix_of((enum kind)kind, exponents[i]);
                bench_spmv_forms(b, &m, dtypes[d], dtypes[d] != GP_F16 && kind <= BANDED);
            }
}

/* ---- several columns ------------------------------------------------------------------------- */

/* Rows of X and Y lie beside each other; bins is how many columns these have. */
static int run_spmm(struct bench *b, const struct bench_args *a)
{
    gp_spmm_desc d = GP_SPMM_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = a->dtype;
    d.columns = a->bins;
    return bench_status(b, gp_spmm(b->ctx, &d, a->num_rows, a->num_cols, a->n, a->offsets, a->cols,
                                   a->values, NULL, a->x, NULL, a->out));
}

static void spmm_case(struct bench *b, enum kind kind, size_t columns, gp_dtype dtype, int exponent)
{
    const size_t width = gp_dtype_bytes(dtype);
    char name[32];
    snprintf(name, sizeof name, "%s_%zu", names[kind], columns);
    if (!bench_wanted(b, name, dtype))
        return;
    struct bench_case c = {.suite = "spmm", .name = name, .run = run_spmm, .ideal = BENCH_READ};
    struct bench_args *a = &c.args;
    a->dtype = dtype;
    a->bins = columns;
    const struct bench_matrix m = matrix_of(kind, exponent);
    m.make(b, &m, a);
    fill_numbers(b, a, columns);
    c.outputs[0] = (struct bench_output){a->out, a->num_rows * columns * width};
    c.bytes = (double)(a->n * (4 + width) + (a->num_rows + 1) * 4 +
                       (a->num_rows + a->num_cols) * columns * width);
    bench_measure(b, &c);
}

void bench_spmm(struct bench *b)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64};
    static const size_t columns[] = {8, 32};
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 22 : 24, false, exponents);
    for (int i = 0; i < count; i++)
        for (int kind = 0; kind <= RMAT; kind++)
            for (int d = 0; d < 2; d++)
                for (int k = 0; k < 2; k++)
                    spmm_case(b, (enum kind)kind, columns[k], dtypes[d], exponents[i]);
}
