/* SPDX-License-Identifier: MIT */
/*
 * The border between libgp and libgp_cub, the library that CUB is compiled into: structs of plain
 * data and functions of C, in a table that libgp asks for by the one name that libgp_cub exports.
 *
 * libgp_cub uses the CUDA runtime of libgp (core/cub_runtime.h), which it is given before all else.
 * With a toolkit whose CUB calls more than that, each has a runtime of its own. Then, too, both use
 * the same contexts and streams of the driver, so a stream may cross the border; a current device
 * and a pending error may not, so functions of the table take the one and return the other.
 */
#ifndef GPI_CUB_H
#define GPI_CUB_H

#include "core/context.h"
#include "core/sticky.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpi_scan_args;
struct gpi_compact_args;
struct gpi_histogram_args;
struct gpi_radix_engine_args;
struct gpi_cub_runtime;

/* Where a call runs, and its scratch. Without temporary a function only sets bytes. */
struct gpi_cub_call {
    int device; /* ctx's, which is current */
    gp_stream stream;
    void *temporary;
    size_t bytes;
};

/* Queue one call. All return a cudaError_t. */
typedef int gpi_cub_scan_fn(struct gpi_cub_call *call, const struct gpi_scan_args *args,
                            const struct gpi_reporter *reporter);
typedef int gpi_cub_compact_fn(struct gpi_cub_call *call, const struct gpi_compact_args *args);
typedef int gpi_cub_histogram_fn(struct gpi_cub_call *call, const struct gpi_histogram_args *args);
/* Of words, from the first place to the last; values of 0, 4 or 8 bytes. */
typedef int gpi_cub_sort_fn(struct gpi_cub_call *call, const struct gpi_radix_engine_args *args);

/* The functions for one GPU architecture. */
struct gpi_cub {
    int sm;
    gpi_cub_scan_fn *const *scan; /* by enum gpi_scan_accumulator */
    gpi_cub_compact_fn *compact;
    gpi_cub_histogram_fn *histogram;
    gpi_cub_sort_fn *const *sort; /* by log2 of the key's bytes */
};

/* Raised whenever anything that crosses the border changes. */
enum { GPI_CUB_BORDER = 3 };

struct gpi_cub_table {
    uint32_t border;  /* GPI_CUB_BORDER */
    uint32_t version; /* GP_VERSION: arguments are structs of that version */
    int count;        /* architectures, oldest first */
    const struct gpi_cub *row;
    /* Called once, before all others: false if it cannot use this runtime. NULL inside libgp. */
    bool (*start)(const struct gpi_cub_runtime *of_libgp);
};

/* The one function of libgp_cub. A static libgp has it inside. */
GP_API const struct gpi_cub_table *gp_cub_table(void);

/* The table, loaded by the first call of the process, or NULL and why not. */
const struct gpi_cub_table *gpi_cub_load(const char **why);

/* ---- in libgp_cub ---- */

bool gpi_cub_start(const struct gpi_cub_runtime *of_libgp);

/* ---- in libgp ---- */

extern const struct gpi_cub_runtime gpi_cub_runtime;

/* The functions for ctx, or GP_ERROR_UNSUPPORTED. */
gp_status gpi_cub_find(gp_context *ctx, const char *function, const struct gpi_cub **cub);

static inline struct gpi_cub_call gpi_cub_call_of(const gp_context *ctx)
{
    const struct gpi_cub_call call = {ctx->device, ctx->stream, NULL, 0};
    return call;
}

#ifdef __cplusplus
}
#endif

#endif
