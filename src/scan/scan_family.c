/* SPDX-License-Identifier: MIT */
/* The scan algorithms beside the default one: which exist where, what they take, dispatch. */
#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "scan/scan_internal.h"

bool gpi_scan_is_default(gp_backend backend, gp_algorithm algorithm)
{
    switch (algorithm) {
    case GP_ALGORITHM_AUTO:
    case GP_ALGORITHM_LOOKAHEAD:
        return true;
    case GP_ALGORITHM_LOOKBACK:
    case GP_ALGORITHM_CHAINED:
    case GP_ALGORITHM_FENWICK:
        return backend == GP_BACKEND_CPU;
    default:
        return false;
    }
}

static bool has_tiles(gp_algorithm algorithm)
{
    return algorithm != GP_ALGORITHM_CUB && algorithm != GP_ALGORITHM_SERIAL &&
           !gpi_scan_is_default(GP_BACKEND_CUDA, algorithm);
}

gp_status gpi_scan_check_family(gp_context *ctx, const char *f, const gp_scan_desc *d,
                                gp_backend backend)
{
    GPI_TRY(gpi_check_algorithm(ctx, f, "desc->algorithm", backend, d->algorithm, ~0u));
    if ((int)d->tile < GP_SCAN_TILE_AUTO || d->tile > GP_SCAN_TILE_THREE_PHASE)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->tile is %d, expected a gp_scan_tile", f,
                        (int)d->tile);
    if (d->tile != GP_SCAN_TILE_AUTO && !has_tiles(d->algorithm))
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: desc->tile is %d, but algorithm %d has no choice: expected "
                        "GP_SCAN_TILE_AUTO",
                        f, (int)d->tile, (int)d->algorithm);
    return GP_OK;
}

enum gpi_scan_accumulator gpi_scan_accumulator_of(gp_dtype out, gp_op op, bool wide)
{
    if (op == GP_AFFINE)
        return out == GP_F64 ? GPI_SCAN_affine_f64 : GPI_SCAN_affine_f32;
    if (op == GP_MAT2)
        return out == GP_F64 ? GPI_SCAN_mat2_f64 : GPI_SCAN_mat2_f32;
    if (gpi_dtype_is_float(out))
        return out == GP_F64 ? GPI_SCAN_f64 : GPI_SCAN_f32;
    return wide || gpi_dtype_bytes(out) == 8 ? GPI_SCAN_u64 : GPI_SCAN_u32;
}

size_t gpi_scan_accumulator_bytes(enum gpi_scan_accumulator a)
{
#define ACCUMULATOR_BYTES(name, bytes) bytes,
    static const size_t table[] = {GPI_SCAN_ACCUMULATORS(ACCUMULATOR_BYTES)};
    return table[a];
}

bool gpi_scan_keeps_accumulators(gp_algorithm algorithm, gp_dtype out, bool wide)
{
    return algorithm == GP_ALGORITHM_SCAN_THEN_FAN && (wide || out == GP_F16 || out == GP_BF16);
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

size_t gpi_scan_family_bytes(gp_algorithm algorithm, uint64_t n, size_t acc_bytes, bool keep)
{
    switch (algorithm) {
    case GP_ALGORITHM_REDUCE_THEN_SCAN:
    case GP_ALGORITHM_SCAN_THEN_FAN:
        return levels_bytes(n, acc_bytes) + (keep ? gpi_piece(n * acc_bytes) : 0);
    case GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS:
        return gpi_piece(GPI_SCAN_FAMILY_THREADS * acc_bytes);
    case GP_ALGORITHM_FENWICK:
        return gpi_piece(tiles_of(n, acc_bytes) * acc_bytes);
    case GP_ALGORITHM_CUB:
        return cub_bytes(n, acc_bytes);
    default:
        return 0;
    }
}

uint64_t gpi_scan_family_slots(gp_algorithm algorithm, uint64_t n, size_t acc_bytes)
{
    uint64_t pieces = acc_bytes > 8 ? acc_bytes / 8 : 1, slots = tiles_of(n, acc_bytes) * pieces;
    return algorithm == GP_ALGORITHM_CHAINED || algorithm == GP_ALGORITHM_LOOKAHEAD ? slots
           : algorithm == GP_ALGORITHM_LOOKBACK                                     ? 2 * slots
                                                                                    : 0;
}

size_t gpi_scan_cpu_bytes(gp_algorithm algorithm, uint64_t n, size_t in_item_bytes,
                          size_t acc_bytes, bool keep)
{
    uint64_t parts = n / (GPI_SCAN_BLOCK_BYTES / in_item_bytes) + 1;
    if (algorithm == GP_ALGORITHM_SERIAL || gpi_scan_is_default(GP_BACKEND_CPU, algorithm))
        return 0;
    if (algorithm == GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS && parts > GPI_SCAN_CPU_PARTS)
        parts = GPI_SCAN_CPU_PARTS;
    return gpi_piece(parts * acc_bytes) + (keep ? gpi_piece(n * acc_bytes) : 0);
}

static gp_status run_cub(gp_context *ctx, const char *f, gpi_scan_cub_fn cub,
                         const struct gpi_scan_args *args)
{
    struct gpi_frame frame;
    size_t bytes = 0;
    if (cub(ctx, args, NULL, &bytes) != 0) {
        GPI_TRY(gpi_cuda_launched(ctx, f));
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: CUB refuses this call", f);
    }
    GPI_TRY(gpi_frame_open(ctx, f, gpi_piece(bytes + 1), &frame));
    void *temporary = gpi_frame_take(&frame, bytes + 1); /* NULL would ask for the size again */
    int error = cub(ctx, args, temporary, &bytes);
    gpi_frame_close(&frame);
    GPI_TRY(gpi_cuda_launched(ctx, f));
    return error == 0 ? GP_OK : gpi_fail(ctx, GP_ERROR_CUDA, "%s: CUB reports error %d", f, error);
}

gp_status gpi_scan_backward_any(gp_context *ctx, const struct gpi_scan_args *args)
{
    struct gpi_scan_args any = *args;
    any.algorithm = GP_ALGORITHM_LOOKAHEAD;
    return gpi_scan_family(ctx, "gp_scan", &any);
}

gp_status gpi_scan_family(gp_context *ctx, const char *f, const struct gpi_scan_args *args)
{
    enum gpi_scan_accumulator a = gpi_scan_accumulator_of(args->out_dtype, args->op, args->wide);
    gpi_scan_fn scan = gpi_scan_family_find(ctx, a);
    gpi_scan_cub_fn cub = gpi_scan_cub_find(ctx, a);
    if (args->algorithm == GP_ALGORITHM_CUB && cub)
        return run_cub(ctx, f, cub, args);
    if (args->algorithm != GP_ALGORITHM_CUB && scan)
        return scan(ctx, args);
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: desc->algorithm %d is not in this build", f,
                    (int)args->algorithm);
}
