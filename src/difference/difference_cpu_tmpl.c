/* SPDX-License-Identifier: MIT */
/* Differences on the CPU, compiled per instruction set. */
#include <string.h>

#include "core/ahead.h"
#include "core/dtype.h"
#include "core/half_cpu.h"
#include "core/past_cache.h"
#include "core/paste.h"
#include "core/threads.h"
#include "difference/difference_internal.h"

enum { BLOCK_BYTES = 64 * 1024, CHUNK_BYTES = 4096 };

struct job {
    gp_dtype dtype;
    const char *in;
    char *out;
    uint64_t bytes; /* of all items */
    size_t item;
    bool stream; /* outputs go past the cache */
};

/* Of n items, which have one before them. */
#define DIFFERENCES(name, type)                                                                    \
    static void differences_##name(const void *in, size_t n, void *restrict out)                   \
    {                                                                                              \
        const type *x = in;                                                                        \
        type *to = out;                                                                            \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (type)(x[i] - x[(ptrdiff_t)i - 1]);                                            \
    }
DIFFERENCES(8, uint8_t)
DIFFERENCES(16, uint16_t)
DIFFERENCES(32, uint32_t)
DIFFERENCES(64, uint64_t)
DIFFERENCES(f32, float)
DIFFERENCES(f64, double)

/* The other conversions keep the code for halves out of the way. */
#define DIFFERENCES_OF_HALVES(name, widen, narrow)                                                 \
    static void differences_##name(const void *in, size_t n, void *restrict out)                   \
    {                                                                                              \
        float x[1 + CHUNK_BYTES / 2], y[CHUNK_BYTES / 2];                                          \
        widen((const uint16_t *)in - 1, n + 1, x);                                                 \
        differences_f32(x + 1, n, y);                                                              \
        narrow(y, n, out);                                                                         \
    }
DIFFERENCES_OF_HALVES(f16, gpi_f16s_to_floats, gpi_floats_to_f16s)
DIFFERENCES_OF_HALVES(bf16, gpi_bf16s_to_floats, gpi_floats_to_bf16s)

static void differences(gp_dtype dtype, const void *in, size_t n, void *out)
{
    if (dtype == GP_F16)
        differences_f16(in, n, out);
    else if (dtype == GP_BF16)
        differences_bf16(in, n, out);
    else if (dtype == GP_F32)
        differences_f32(in, n, out);
    else if (dtype == GP_F64)
        differences_f64(in, n, out);
    else if (gpi_dtype_bytes(dtype) == 1)
        differences_8(in, n, out);
    else if (gpi_dtype_bytes(dtype) == 2)
        differences_16(in, n, out);
    else if (gpi_dtype_bytes(dtype) == 4)
        differences_32(in, n, out);
    else
        differences_64(in, n, out);
}

static void block(void *arg, size_t b)
{
    const struct job *job = arg;
    uint64_t at = (uint64_t)b * BLOCK_BYTES;
    const uint64_t end = job->bytes - at < BLOCK_BYTES ? job->bytes : at + BLOCK_BYTES;
    uint64_t room[CHUNK_BYTES / 8];
    if (at == 0) {
        memcpy(job->out, job->in, job->item);
        at = job->item;
    }
    for (size_t bytes; at < end; at += bytes) {
        bytes = end - at < CHUNK_BYTES ? (size_t)(end - at) : CHUNK_BYTES;
        gpi_ahead(job->in + at, bytes, GPI_AHEAD_BYTES);
        differences(job->dtype, job->in + at, bytes / job->item, room);
        bytes_store((const char *)room, bytes, job->stream, job->out + at);
    }
    if (job->stream)
        stores_done();
}

#define FUNCTION PASTE(gpi_difference_cpu_, GPI_ISA_SUFFIX)
gp_status FUNCTION(gp_context *ctx, const struct gpi_difference_args *a);

gp_status FUNCTION(gp_context *ctx, const struct gpi_difference_args *a)
{
    const size_t item = gpi_dtype_bytes(a->dtype);
    const uint64_t n = a->device_n && *a->device_n < a->n ? *a->device_n : a->n;
    struct job job = {a->dtype, a->in, a->out, n * item, item, n * item >= STREAM_BYTES};
    if (n == 0)
        return GP_OK;
    gpi_parallel_for(gpi_threads_for(ctx->threads, job.bytes / 8),
                     (size_t)((job.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES), block, &job);
    return GP_OK;
}
