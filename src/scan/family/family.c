/* SPDX-License-Identifier: MIT */
/* The scan algorithms beside the default one: what they take, dispatch. */
#include "core/check.h"
#include "core/cub.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "scan/family/family_internal.h"

static enum gpi_scan_accumulator accumulator_of(const struct gpi_scan_args *args)
{
    const bool large = args->wide || gpi_dtype_bytes(args->out_dtype) == 8;
    if (args->op == GP_AFFINE)
        return large ? GPI_SCAN_affine_f64 : GPI_SCAN_affine_f32;
    if (args->op == GP_MAT2)
        return large ? GPI_SCAN_mat2_f64 : GPI_SCAN_mat2_f32;
    if (gpi_dtype_is_float(args->out_dtype))
        return large ? GPI_SCAN_f64 : GPI_SCAN_f32;
    return large ? GPI_SCAN_u64 : GPI_SCAN_u32;
}

static size_t accumulator_bytes(const struct gpi_scan_args *args)
{
    return gpi_scan_accumulator_bytes(args->out_dtype, args->op, args->wide);
}

bool gpi_scan_family_keeps(const struct gpi_scan_args *args)
{
    const bool half = args->out_dtype == GP_F16 || args->out_dtype == GP_BF16;
    return args->algorithm == GP_ALGORITHM_SCAN_THEN_FAN && (args->wide || half);
}

static uint64_t tiles_of(uint64_t n, size_t acc_bytes)
{
    uint64_t tile = GPI_SCAN_FAMILY_TILE(acc_bytes);
    return n <= tile ? 1 : (n + tile - 1) / tile;
}

/* Sums and their prefixes of every level of the recursion; the last has one tile. */
static size_t levels_bytes(uint64_t n, size_t acc_bytes)
{
    size_t bytes = 0;
    while ((n = tiles_of(n, acc_bytes)) > 1)
        bytes += 2 * gpi_piece(n * acc_bytes);
    return bytes;
}

/* CUB keeps two accumulators and a status per tile; its tiles have at least 16 bytes per thread. */
static size_t cub_bytes(uint64_t n, size_t acc_bytes)
{
    uint64_t tile = 128 * (acc_bytes < 16 ? 16 / acc_bytes : 1);
    return gpi_piece((n / tile + 64) * (2 * acc_bytes + 16) + 4096);
}

uint64_t gpi_scan_family_slots(const struct gpi_scan_args *args)
{
    const size_t acc = accumulator_bytes(args);
    const uint64_t slots = tiles_of(args->n, acc) * (acc > 8 ? acc / 8 : 1);
    switch (args->algorithm) {
    case GP_ALGORITHM_CHAINED:
        return slots;
    case GP_ALGORITHM_LOOKBACK:
        return 2 * slots;
    default:
        return 0;
    }
}

static size_t cuda_bytes(const struct gpi_scan_args *args)
{
    const size_t acc = accumulator_bytes(args);
    const uint64_t n = args->n, slots = gpi_scan_family_slots(args);
    switch (args->algorithm) {
    case GP_ALGORITHM_REDUCE_THEN_SCAN:
    case GP_ALGORITHM_SCAN_THEN_FAN:
        return levels_bytes(n, acc) + (gpi_scan_family_keeps(args) ? gpi_piece(n * acc) : 0);
    case GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS:
        return gpi_piece(GPI_SCAN_FAMILY_THREADS * acc);
    case GP_ALGORITHM_FENWICK:
        return gpi_piece(tiles_of(n, acc) * acc);
    case GP_ALGORITHM_CUB:
        return cub_bytes(n, acc);
    default:
        return slots ? gpi_state_bytes(slots) : 0;
    }
}

static size_t cpu_bytes(const struct gpi_scan_args *args)
{
    const size_t acc = accumulator_bytes(args);
    const size_t item = gpi_dtype_bytes(args->in_dtype) * gpi_op_scalars(args->op);
    uint64_t parts = args->n / (GPI_SCAN_BLOCK_BYTES / item) + 1;
    if (args->algorithm == GP_ALGORITHM_SERIAL ||
        gpi_scan_is_default(GP_BACKEND_CPU, args->algorithm))
        return 0;
    if (args->algorithm == GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS && parts > GPI_SCAN_CPU_PARTS)
        parts = GPI_SCAN_CPU_PARTS;
    return gpi_piece(parts * acc) + (gpi_scan_family_keeps(args) ? gpi_piece(args->n * acc) : 0);
}

size_t gpi_scan_family_bytes(gp_backend backend, const struct gpi_scan_args *args)
{
    return backend == GP_BACKEND_CUDA ? cuda_bytes(args) : cpu_bytes(args);
}

static gp_status run_cub(gp_context *ctx, const char *f, enum gpi_scan_accumulator a,
                         const struct gpi_scan_args *args)
{
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, args->out_dtype);
    struct gpi_cub_call call = gpi_cub_call_of(ctx);
    const struct gpi_cub *cub;
    GPI_TRY(gpi_cub_find(ctx, f, &cub));
    if (cub->scan[a](&call, args, &reporter) != 0)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: CUB refuses this call", f);
    GPI_FRAME(frame, ctx, f, gpi_piece(call.bytes + 1));
    call.temporary = gpi_frame_take(&frame, call.bytes + 1); /* NULL would ask for the size again */
    return gpi_cuda_check(ctx, f, cub->scan[a](&call, args, &reporter));
}

gp_status gpi_scan_family(gp_context *ctx, const struct gpi_scan_args *args)
{
    enum gpi_scan_accumulator a = accumulator_of(args);
    gpi_scan_fn scan = gpi_scan_family_find(ctx, a);
    if (args->algorithm == GP_ALGORITHM_CUB)
        return run_cub(ctx, args->function, a, args);
    if (scan)
        return scan(ctx, args);
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: desc->algorithm %d is not in this build",
                    args->function, (int)args->algorithm);
}
