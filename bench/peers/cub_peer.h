/* SPDX-License-Identifier: MIT */
/* What the files with CUB calls share. Each includes the one cub/device header that it
 * needs after this. */
#ifndef GP_BENCH_CUB_PEER_H
#define GP_BENCH_CUB_PEER_H

#include <climits>
#include <cstdint>
#include <cstdio>

#include <cub/version.cuh>
#include <cuda_runtime.h>

#include "../bench.h"

namespace
{
// "cub-3.0.1": the version macros of CUB are expressions, so the text is made at start.
struct cub_name {
    char text[24];
    cub_name()
    {
        snprintf(text, sizeof text, "cub-%d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
                 CUB_SUBMINOR_VERSION);
    }
};
const cub_name cub_version;

// Call twice, as CUB wants: for the size of the scratch, then for the work. n fits an int, CUB's
// fast path.
template <class Call> int cub_run(struct bench *b, const struct bench_args *a, Call call)
{
    size_t bytes = 0;
    if (a->n > INT_MAX) {
        printf("  skipped: CUB is built for n below 2^31 here\n");
        return BENCH_SKIP;
    }
    cudaError_t e = call(nullptr, bytes, static_cast<int>(a->n), gp_context_stream(b->ctx));
    if (e == cudaSuccess)
        e = call(bench_temp(b, bytes), bytes, static_cast<int>(a->n), gp_context_stream(b->ctx));
    if (e == cudaSuccess)
        return BENCH_OK;
    printf("  FAILED: CUB says %s\n", cudaGetErrorString(e));
    cudaGetLastError();
    return BENCH_FAIL;
}
} // namespace

#endif
