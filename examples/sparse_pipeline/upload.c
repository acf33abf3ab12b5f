/* SPDX-License-Identifier: MIT */
#include "upload.h"

#include "parallel.h"

#include <stdatomic.h>
#include <string.h>

enum { SHARE = 1 << 20 }; /* bytes that a thread fills at a time */

struct piece {
    upload_fill *fill;
    void *arg;
    size_t offset, bytes;
    char *to;
    atomic_bool failed;
};

static void fill_share(void *arg, size_t i)
{
    struct piece *p = arg;
    const size_t begin = i * SHARE, left = p->bytes - begin;
    if (!p->fill(p->arg, p->offset + begin, left < SHARE ? left : SHARE, p->to + begin))
        atomic_store(&p->failed, true);
}

static bool fill_piece(struct job *j, upload_fill *fill, void *arg, size_t offset, size_t bytes,
                       char *to)
{
    struct piece p = {.fill = fill, .arg = arg, .offset = offset, .bytes = bytes, .to = to};
    parallel((int)j->options.threads, (bytes + SHARE - 1) / SHARE, fill_share, &p);
    return !atomic_load(&p.failed);
}

#if EXAMPLE_HAVE_CUDA

#include <cuda_runtime_api.h>

enum { BUFFERS = 3, BUFFER = 16 << 20 };

static struct {
    char *memory; /* BUFFERS times BUFFER bytes; NULL: not yet, or there is none */
    cudaEvent_t sent[BUFFERS];
} ring;

/* Events belong to the device of the stream that they are recorded in. */
static bool ring_begin(const void *device_memory)
{
    struct cudaPointerAttributes place;
    if (ring.memory)
        return true;
    if (cudaPointerGetAttributes(&place, device_memory) != cudaSuccess ||
        cudaSetDevice(place.device) != cudaSuccess)
        return false;
    for (int i = 0; i < BUFFERS; i++)
        if (cudaEventCreateWithFlags(&ring.sent[i], cudaEventDisableTiming) != cudaSuccess)
            return false;
    return cudaMallocHost((void **)&ring.memory, (size_t)BUFFERS * BUFFER) == cudaSuccess;
}

static bool upload_through_ring(struct job *j, upload_fill *fill, void *arg, size_t bytes, char *to)
{
    bool good = true;
    for (size_t offset = 0, k = 0; good && offset < bytes; offset += BUFFER, k++) {
        const size_t n = bytes - offset < BUFFER ? bytes - offset : BUFFER;
        char *const buffer = ring.memory + k % BUFFERS * BUFFER;
        good = cudaEventSynchronize(ring.sent[k % BUFFERS]) == cudaSuccess &&
               fill_piece(j, fill, arg, offset, n, buffer);
        if (good)
            job_need(j, gp_copy(j->ctx, buffer, n, to + offset));
        good = good &&
               cudaEventRecord(ring.sent[k % BUFFERS], gp_context_stream(j->ctx)) == cudaSuccess;
    }
    return good;
}

#else

static bool ring_begin(const void *device_memory)
{
    (void)device_memory;
    return false;
}

static bool upload_through_ring(struct job *j, upload_fill *fill, void *arg, size_t bytes, char *to)
{
    return fill_piece(j, fill, arg, 0, bytes, to);
}

#endif

bool upload_by(struct job *j, upload_fill *fill, void *arg, size_t bytes, void *to)
{
    if (gp_context_backend(j->ctx) != GP_BACKEND_CUDA)
        return fill_piece(j, fill, arg, 0, bytes, to);
    job_need_host(j, ring_begin(to));
    return upload_through_ring(j, fill, arg, bytes, to);
}

static bool copy_from(void *arg, size_t offset, size_t bytes, char *to)
{
    memcpy(to, (const char *)arg + offset, bytes);
    return true;
}

void upload_array(struct job *j, const void *from, size_t bytes, void *to)
{
    job_need_host(j, upload_by(j, copy_from, (void *)(uintptr_t)from, bytes, to));
}
