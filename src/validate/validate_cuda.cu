/* SPDX-License-Identifier: MIT */
/* The checks of contents on CUDA: a thread judges items in rising order, up to a broken rule. */
#include "device/host.cuh"
#include "device/report.cuh"

#include "tuning/validate_tuning.cuh"
#include "validate/validate_rule.h"

namespace GPI_SPACE
{
namespace
{

constexpr int check_threads = validate_tuning.threads;

/* What an item is judged by: the one before it, or the length of its range. */
template <class T> GPI_DEVICE uint64_t before(const gpi_content_rule &rule, uint64_t i)
{
    const T *items = (const T *)rule.items, *offsets = (const T *)rule.offsets;
    if (rule.kind == GPI_CONTENT_RANGES)
        return (T)(offsets[i + 1] - offsets[i]);
    return i > 0 ? items[i - 1] : 0;
}

/* Passes items from i on, `step` apart and before the last, that are whole numbers and not below
 * the one before, as in most arrays all are: by their bits, four at a time. */
template <class T>
GPI_DEVICE uint64_t pass_ordered(const gpi_content_rule &rule, uint64_t i, uint64_t step)
{
    const T *items = (const T *)rule.items, flip = (T)(rule.order.flip >> rule.unused);
    const bool by_order = rule.kind != GPI_CONTENT_BELOW && rule.kind != GPI_CONTENT_RANGES;
    const auto ordered = [&](uint64_t k) {
        return (T)(items[k - 1] ^ flip) <= (T)(items[k] ^ flip);
    };
    if (!by_order || rule.order.inf || i == 0)
        return i;
    while (i + 3 * step + 1 < rule.n &&
           (ordered(i) & ordered(i + step) & ordered(i + 2 * step) & ordered(i + 3 * step)))
        i += 4 * step;
    while (i + 1 < rule.n && ordered(i))
        i += step;
    return i;
}

/* Grid: any; check_threads threads. */
template <class T>
__global__ void __launch_bounds__(check_threads)
    content_check_k(gpi_content_rule rule, const gpi_reporter reporter, const bool blocks)
{
    const T *items = (const T *)rule.items;
    const uint64_t step = (uint64_t)gridDim.x * check_threads;
    uint64_t i = (uint64_t)blockIdx.x * check_threads + threadIdx.x;
    gpi_verdict verdict = {GPI_RULE_NONE, 0};
    rule.n = gpi_rule_count(&rule);
    rule.bound = gpi_rule_bound(&rule);
    rule.first = items[0];
    i = pass_ordered<T>(rule, i, step);
    while (i < rule.n) {
        verdict = gpi_rule_judge(&rule, i, items[i], before<T>(rule, i));
        if (verdict.rule != GPI_RULE_NONE)
            break;
        i += step;
    }
    if (verdict.rule == GPI_RULE_NONE)
        return;
    report(reporter, verdict.rule, i, items[i], verdict.bound);
    if (blocks)
        atomicExch(&reporter.sticky->blocked, 1u);
}

/* One thread. */
__global__ void gate_decide_k(cudaGraphConditionalHandle handle, gpi_sticky *sticky)
{
    cudaGraphSetConditional(handle, sticky->blocked == 0);
    sticky->blocked = 0;
}

template <class T>
gp_status launch(gp_context *ctx, const char *function, const gpi_content_rule &rule,
                 const gpi_reporter &reporter, bool blocks)
{
    const uint64_t enough = (rule.n + check_threads - 1) / check_threads;
    const uint64_t most = validate_tuning.blocks_per_sm * (uint64_t)ctx->sm_count;
    content_check_k<T>
        <<<(unsigned)(enough < most ? enough : most), check_threads, 0, ctx->stream>>>(
            rule, reporter, blocks);
    return gpi_cuda_launched(ctx, function);
}

gp_status check(gp_context *ctx, const char *function, const gpi_content_rule *rule,
                const gpi_reporter *reporter, bool blocks)
{
    switch (64 - rule->unused) {
    case 8:
        return launch<uint8_t>(ctx, function, *rule, *reporter, blocks);
    case 16:
        return launch<uint16_t>(ctx, function, *rule, *reporter, blocks);
    case 32:
        return launch<uint32_t>(ctx, function, *rule, *reporter, blocks);
    default:
        return launch<uint64_t>(ctx, function, *rule, *reporter, blocks);
    }
}

gp_status decide(gp_context *ctx, const char *function, unsigned long long handle)
{
    gate_decide_k<<<1, 1, 0, ctx->stream>>>(handle, ctx->sticky);
    return gpi_cuda_launched(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const gpi_validate_kernels GPI_LAUNCHER(gpi_validate_kernels);
const gpi_validate_kernels GPI_LAUNCHER(gpi_validate_kernels) = {GPI_SPACE::check,
                                                                 GPI_SPACE::decide};
}
