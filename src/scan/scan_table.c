/* SPDX-License-Identifier: MIT */
/* The only list of scan implementations: [backend][unit][instruction set or GPU architecture]. */
#include "core/check.h"
#include "core/operators.h"
#include "core/threads.h"
#include "core/variants.h"
#include "scan/scan_internal.h"

#define DECLARE(name) gp_status gpi_scan_##name(gp_context *ctx, const struct gpi_scan_args *args);

#define CPU_DECLARE(name, isa) DECLARE(cpu_##name##_##isa)
#define CPU(name, isa) gpi_scan_cpu_##name##_##isa,
#define CUDA_DECLARE(name, sm) DECLARE(name##_sm##sm)
#define CUDA(name, sm) GPI_CUDA(gpi_scan_##name##_sm##sm),

#define BACKWARD(name, sm) GPI_CUDA(gpi_scan_backward_##name##_sm##sm),

#define DECLARE_UNIT(name, in, out, scalars, wide)                                                 \
    GPI_ISAS_OF(CPU_DECLARE, name) DECLARE_WIDE(name, in, out, scalars, wide)
#define DECLARE_WIDE(name, in, out, scalars, wide)                                                 \
    GPI_SMS_OF(CUDA_DECLARE, name) GPI_SMS_OF(CUDA_DECLARE, backward_##name)
GPI_SCAN_UNITS_SAME(DECLARE_UNIT)
GPI_SCAN_UNITS_SUM(DECLARE_UNIT)
GPI_SCAN_UNITS_WIDE(DECLARE_WIDE)

struct entry {
    gp_dtype in, out;
    size_t scalars;
    bool wide;
    gpi_scan_fn cpu[GPI_ISA_COUNT];
    gpi_scan_fn cuda[GPI_SM_COUNT], backward[GPI_SM_COUNT];
};

#define ENTRY(name, ...)                                                                           \
    {__VA_ARGS__, {GPI_ISAS_OF(CPU, name)}, {GPI_SMS_OF(CUDA, name)}, {GPI_SMS_OF(BACKWARD, name)}},
#define ENTRY_WIDE(name, ...)                                                                      \
    {__VA_ARGS__, {NULL}, {GPI_SMS_OF(CUDA, name)}, {GPI_SMS_OF(BACKWARD, name)}},

static const struct entry table[] = {GPI_SCAN_UNITS_SAME(ENTRY) GPI_SCAN_UNITS_SUM(ENTRY)
                                         GPI_SCAN_UNITS_WIDE(ENTRY_WIDE)};

bool gpi_scan_is_order(gp_op op)
{
    switch (op) {
#define CASE(NAME, ...) case GP_##NAME:
        GPI_ORDER_OPERATORS(CASE)
#undef CASE
        return true;
    default:
        return false;
    }
}

static const struct entry *find(gp_dtype in, gp_dtype out, size_t scalars, bool wide)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct entry *e = &table[i];
        if (e->in == in && e->out == out && e->scalars == scalars && e->wide == wide)
            return e;
    }
    return NULL;
}

/* On the CPU signed integers have units of their own for the operators that depend on the sign, and
 * each unit scans with totals in 64 bits too. */
gpi_scan_fn gpi_scan_find(const gp_context *ctx, const struct gpi_scan_args *args)
{
    const bool cuda = ctx->backend == GP_BACKEND_CUDA;
    gp_dtype in = args->in_dtype, out = args->out_dtype;
    if (!cuda && in == out && !gpi_scan_is_order(args->op))
        in = out = gpi_dtype_unsigned(in);
    const struct entry *e = find(in, out, gpi_op_scalars(args->op), args->wide && cuda);
    if (!e)
        return NULL;
    if (!cuda)
        return e->cpu[ctx->isa];
    return args->backward ? e->backward[ctx->sm_row] : e->cuda[ctx->sm_row];
}

bool gpi_scan_op_allowed(gp_dtype dtype, gp_op op)
{
    switch (op) {
#define CASE(NAME, ...) case GP_##NAME:
        GPI_FLOAT_OPERATORS(CASE)
        return true;
        GPI_BITS_OPERATORS(CASE)
        return !gpi_dtype_is_float(dtype);
        GPI_PAIR_OPERATORS(CASE)
        return dtype == GP_F32 || dtype == GP_F64;
#undef CASE
    }
    return false;
}

bool gpi_scan_pair_allowed(gp_dtype in, gp_dtype out, gp_op op)
{
    return in == out || (op == GP_SUM && find(in, out, 1, false));
}
