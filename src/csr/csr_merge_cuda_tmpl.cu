/* SPDX-License-Identifier: MIT */
/* CUDA: launcher of the merging of duplicates, for every value dtype; compiled for integers and for
 * floats (GPI_REAL), as a unit is what a first call loads. Of values that are only chosen the bytes
 * decide: they are of the unit for integers. */
#include <type_traits>

#include <cuda_runtime.h>

#include "csr/csr_behind.cuh"
#include "csr/csr_merge_kernels.cuh"
#include "device/host.cuh"

namespace GPI_SPACE
{
namespace
{

struct Call {
    gp_context *ctx;
    const gpi_csr_coo *c;
    const void *values;
    Runs runs;
    uint32_t blocks;
};

template <class Op, class A, class S> void fold(const Call &call)
{
    launch_behind(call.ctx, csr_merge_k<Op, A, S>, call.blocks, csr_tuning.threads, 0,
                  (const S *)call.values, call.runs, (S *)call.c->out_values);
}

#if !GPI_REAL
template <class S> void pick(const Call &call)
{
    launch_behind(call.ctx, csr_pick_k<S>, call.blocks, csr_tuning.threads, 0,
                  (const S *)call.values, call.runs, call.c->duplicates == GP_DUPLICATES_LAST,
                  (S *)call.c->out_values);
}

void pick_by_bytes(const Call &call)
{
    switch (gp_dtype_bytes(call.c->value_dtype)) {
    case 1:
        return pick<uint8_t>(call);
    case 2:
        return pick<uint16_t>(call);
    case 4:
        return pick<uint32_t>(call);
    case 8:
        return pick<uint64_t>(call);
    default: /* no values */
        return;
    }
}
#endif

/* Items as what they are summed as, where the sign makes no difference. */
template <class S, bool integer> struct Plain {
    typedef S type;
};
template <class S> struct Plain<S, true> {
    typedef std::make_unsigned_t<S> type;
};

/* Summand: the type that sums are taken in; Ordered: the one that is compared. */
template <class S, class Summand, class Ordered> void merge_dtype(const Call &call)
{
    using Unsigned = typename Plain<S, std::is_integral_v<S>>::type;
    switch (call.c->duplicates) {
    case GP_DUPLICATES_SUM:
        fold<Add, Summand, Unsigned>(call);
        break;
    case GP_DUPLICATES_MIN:
        fold<Smaller, Ordered, S>(call);
        break;
    default:
        fold<Larger, Ordered, S>(call);
    }
}

} // namespace
} // namespace GPI_SPACE

#if GPI_REAL
#define NAME gpi_csr_merge_reals
#define CASES(MERGE_CASE)                                                                          \
    MERGE_CASE(GP_F16, f16_t, float, Half<f16_t>)                                                  \
    MERGE_CASE(GP_BF16, bf16_t, float, Half<bf16_t>)                                               \
    MERGE_CASE(GP_F32, float, float, float)                                                        \
    MERGE_CASE(GP_F64, double, double, double)
#else
#define NAME gpi_csr_merge_integers
#define CASES(MERGE_CASE)                                                                          \
    MERGE_CASE(GP_I8, int8_t, uint32_t, int32_t)                                                   \
    MERGE_CASE(GP_U8, uint8_t, uint32_t, uint32_t)                                                 \
    MERGE_CASE(GP_I16, int16_t, uint32_t, int32_t)                                                 \
    MERGE_CASE(GP_U16, uint16_t, uint32_t, uint32_t)                                               \
    MERGE_CASE(GP_I32, int32_t, uint32_t, int32_t)                                                 \
    MERGE_CASE(GP_U32, uint32_t, uint32_t, uint32_t)                                               \
    MERGE_CASE(GP_I64, int64_t, uint64_t, int64_t)                                                 \
    MERGE_CASE(GP_U64, uint64_t, uint64_t, uint64_t)
#endif

extern "C" gp_status GPI_LAUNCHER(NAME)(gp_context *ctx, const gpi_csr_sorted *s)
{
    using namespace GPI_SPACE;
    const uint64_t n = s->c->nnz;
    Call call = {
        ctx, s->c, s->values,
        Runs{n, s->c->device_nnz, s->heads, Unsorted{s->unsorted, s->c->values, s->by_row_values}},
        csr_blocks(ctx, s->unsorted, blocks_for<csr_tile>(n))};
#if !GPI_REAL
    if (s->c->duplicates > GP_DUPLICATES_MAX) {
        pick_by_bytes(call);
        return gpi_cuda_launched(ctx, s->c->function);
    }
#endif
    switch (s->c->value_dtype) {
#define MERGE_CASE(dtype, S, Summand, Ordered)                                                     \
    case dtype:                                                                                    \
        merge_dtype<S, Summand, Ordered>(call);                                                    \
        break;
        CASES(MERGE_CASE)
    default: /* of the other unit */
        break;
    }
    return gpi_cuda_launched(ctx, s->c->function);
}
