/* SPDX-License-Identifier: MIT */
/*
 * Scans on the CPU of dtypes that are not stored as they are computed: conversions to and from the
 * accumulator, around its engine. Compiled per unit (input, output) and instruction set, with
 * GPI_ACC the engine.
 */
#include "scan/scan_cpu_internal.h"
#include "scan/scan_cpu_types_internal.h"
#if !ACC_IS_FLOAT
#include "scan/scan_cpu_sum_internal.h"
#endif

static void load(const void *in, size_t n, void *accumulators)
{
    widen_all(in, n, accumulators);
}

#if ACC_IS_FLOAT
#define SUM NULL
#else
static uint64_t sum(const void *in, size_t n)
{
    return sum_in_64(in, n, IN_KIND == 2 ? (uint64_t)1 << (8 * sizeof(in_t) - 1) : 0);
}
#define SUM sum
#endif

#if OUT_IS_ACC
#define LOAD_OUT NULL
#define STORE NULL
#else
static void load_out(const void *out, size_t n, void *accumulators)
{
    const out_t *from = out;
    acc_t *to = accumulators;
    for (size_t i = 0; i < n; i++)
        to[i] = widen_out(from[i]);
}

static void store(const void *accumulators, size_t n, void *out)
{
    narrow_all(accumulators, n, out);
}
#define LOAD_OUT load_out
#define STORE store
#endif

/* Segmented scans take it too. */
#define STORED PASTE4(gpi_scan_stored_, GPI_UNIT, _, GPI_ISA_SUFFIX)
extern const struct gpi_scan_stored STORED;
const struct gpi_scan_stored STORED = {.in_bytes = sizeof(in_t),
                                       .out_bytes = sizeof(out_t),
                                       .form = SAME_DTYPE ? FORM(IN_KIND) : GPI_AS_COMPUTED,
                                       .load = load,
                                       .load_out = LOAD_OUT,
                                       .sum = SUM,
                                       .store = STORE};

#define ENGINE PASTE4(gpi_scan_engine_, GPI_ACC, _, GPI_ISA_SUFFIX)
#define FUNCTION PASTE4(gpi_scan_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gpi_scan_engine_fn ENGINE;
gp_status FUNCTION(gp_context *ctx, const struct gpi_scan_args *args);

gp_status FUNCTION(gp_context *ctx, const struct gpi_scan_args *args)
{
    return ENGINE(ctx, args, &STORED);
}
