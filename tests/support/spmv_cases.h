/* SPDX-License-Identifier: MIT */
/* Products of the csr tests: matrices on the device, their oracle, and y = alpha A x + beta y in
 * every form that gives the same: by scalars on the host and in memory, and by a plan. */
#ifndef SPMV_CASES_H
#define SPMV_CASES_H

#include <math.h>

#include "csr_cases.h"

/* A matrix on the device. */
struct device_csr {
    gp_dtype index, offset, value;
    uint64_t num_rows, num_cols, nnz;
    t_array pointers, cols, values;
    int hot_columns; /* of its plans */
};

static inline struct device_csr upload(const struct csr *a, const gp_dtype pair[2])
{
    struct device_csr d = {pair[0],
                           pair[1],
                           a->dtype,
                           a->num_rows,
                           a->num_cols,
                           a->nnz,
                           index_array(a->pointers, a->num_rows + 1, pair[1], 0),
                           index_array(a->cols, a->nnz, pair[0], 0),
                           t_new_from(a->values, a->nnz * gp_dtype_bytes(a->dtype), 0),
                           0};
    return d;
}

static inline void device_free(struct device_csr *d)
{
    t_free(&d->pointers);
    t_free(&d->cols);
    t_free(&d->values);
}

/* Of alpha and beta, and of the sums. */
static inline gp_dtype sum_dtype(gp_dtype value)
{
    return value == GP_F64 ? GP_F64 : GP_F32;
}

/* Serial double loop; magnitude is the sum of the terms' absolute values. */
static inline void spmv_oracle(const struct csr *a, double alpha, const void *x, double beta,
                               const void *y, double *result, double *magnitude)
{
    for (uint64_t r = 0; r < a->num_rows; r++) {
        double old = beta != 0 ? beta * t_value(a->dtype, y, r) : 0;
        result[r] = old;
        magnitude[r] = fabs(old) + (a->dtype == GP_F16 ? 0x1p-14 : 0); /* subnormal numbers */
        for (uint64_t i = a->pointers[r]; i < a->pointers[r + 1]; i++) {
            double term =
                alpha * t_value(a->dtype, a->values, i) * t_value(a->dtype, x, a->cols[i]);
            result[r] += term;
            magnitude[r] += fabs(term);
        }
    }
}

static inline gp_csr_desc desc_of(const struct device_csr *d)
{
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    desc.index_dtype = d->index;
    desc.offset_dtype = d->offset;
    desc.value_dtype = d->value;
    desc.hot_columns = d->hot_columns;
    return desc;
}

static inline gp_status multiply(gp_context *ctx, const struct device_csr *d, const void *alpha,
                                 const t_array *x, const void *beta, const t_array *y)
{
    return gp_spmv(ctx, d->index, d->offset, d->value, d->num_rows, d->num_cols, d->nnz,
                   d->pointers.data, d->cols.data, d->values.data, alpha, x->data, beta, y->data);
}

/* The same with the scalars in memory. */
static inline gp_status multiply_there(const struct device_csr *d, const t_array *scalars,
                                       bool alpha, bool beta, const t_array *x, const t_array *y)
{
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    const char *at = scalars->data;
    desc.index_dtype = d->index;
    desc.offset_dtype = d->offset;
    desc.value_dtype = d->value;
    desc.device_alpha = desc.device_beta = 1;
    return gp_spmv_by(t_ctx(), &desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data,
                      d->cols.data, d->values.data, alpha ? at : NULL, x->data,
                      beta ? at + gp_dtype_bytes(sum_dtype(d->value)) : NULL, y->data);
}

/* Its bytes are those that the figure says, on any alignment that is allowed. */
static inline t_array plan_new(gp_context *ctx, const struct device_csr *d)
{
    const gp_csr_desc desc = desc_of(d);
    size_t bytes;
    T_OK(gp_spmv_plan_bytes(NULL, &desc, d->num_rows, d->num_cols, d->nnz, &bytes));
    t_array plan = t_new(bytes, 16);
    T_OK(gp_spmv_plan(ctx, &desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data, d->cols.data,
                      plan.data));
    return plan;
}

static inline gp_status multiply_planned(gp_context *ctx, const struct device_csr *d,
                                         const t_array *plan, const void *alpha, const t_array *x,
                                         const void *beta, const t_array *y)
{
    const gp_csr_desc desc = desc_of(d);
    return gp_spmv_planned(ctx, &desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data,
                           d->cols.data, plan->data, d->values.data, alpha, x->data, beta, y->data);
}

/* The same result twice by a plan. */
static inline void planned_case(const struct device_csr *d, const void *alpha, const t_array *x,
                                const void *beta, const void *y, const double *want,
                                const double *magnitude)
{
    const size_t bytes = d->num_rows * gp_dtype_bytes(d->value);
    void *got[2] = {t_host(bytes), t_host(bytes)};
    t_array plan = plan_new(t_ctx(), d);
    for (int k = 0; k < 2; k++) {
        t_array dy = t_new_from(y, bytes, 0);
        T_OK(multiply_planned(t_ctx(), d, &plan, alpha, x, beta, &dy));
        t_get(&dy, got[k], bytes);
        t_check_guards(&dy);
        t_free(&dy);
    }
    t_close_to("y by plan", d->value, want, magnitude, got[0], d->num_rows,
               t_epsilon(sum_dtype(d->value)) * ((double)d->nnz + 4) + t_epsilon(d->value));
    t_same_bytes("the second time", got[0], got[1], bytes);
    t_check_guards(&plan);
    t_free(&plan);
    free(got[0]);
    free(got[1]);
}

/* alpha and beta: 0 stands for NULL. */
static inline void spmv_case_at(const struct csr *a, const gp_dtype pair[2], double alpha,
                                double beta, bool there)
{
    size_t vb = gp_dtype_bytes(a->dtype), sb = gp_dtype_bytes(sum_dtype(a->dtype));
    uint64_t seed = t_seed();
    void *x = t_host(a->num_cols * vb), *y = t_host(a->num_rows * vb);
    double *want = t_host(a->num_rows * 8), *magnitude = t_host(a->num_rows * 8);
    char scalars[16];
    t_fill_random(a->dtype, x, a->num_cols, &seed);
    t_fill_random(a->dtype, y, a->num_rows, &seed);
    t_set(sum_dtype(a->dtype), scalars, 0, alpha);
    t_set(sum_dtype(a->dtype), scalars, 1, beta);
    spmv_oracle(a, alpha != 0 ? alpha : 1, x, beta, y, want, magnitude);
    for (uint64_t r = 0; beta == 0 && r < a->num_rows; r++)
        t_set(a->dtype, y, r, NAN); /* must not be read */
    struct device_csr d = upload(a, pair);
    t_array dx = t_new_from(x, a->num_cols * vb, vb), dy = t_new_from(y, a->num_rows * vb, vb);
    t_array ds = t_new_from(scalars, 2 * sb, sb);
    planned_case(&d, alpha != 0 ? scalars : NULL, &dx, beta != 0 ? scalars + sb : NULL, y, want,
                 magnitude);
    if (there)
        T_OK(multiply_there(&d, &ds, alpha != 0, beta != 0, &dx, &dy));
    else
        T_OK(multiply(t_ctx(), &d, alpha != 0 ? scalars : NULL, &dx,
                      beta != 0 ? scalars + sb : NULL, &dy));
    t_get(&dy, y, a->num_rows * vb);
    t_close_to("y", a->dtype, want, magnitude, y, a->num_rows,
               t_epsilon(sum_dtype(a->dtype)) * ((double)a->nnz + 4) + t_epsilon(a->dtype));
    t_check_guards(&dy);
    t_free(&ds);
    t_free(&dx);
    t_free(&dy);
    device_free(&d);
    free(x);
    free(y);
    free(want);
    free(magnitude);
}

static inline void spmv_case(const struct csr *a, const gp_dtype pair[2], double alpha, double beta)
{
    spmv_case_at(a, pair, alpha, beta, false);
}

#endif
