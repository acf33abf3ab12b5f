// SPDX-License-Identifier: MIT
// The C++ standard library's parallel algorithms and oneTBB, as a module that gp-bench loads when
// it is there.
#include "../bench.h"

#include <cstdint>
#include <execution>
#include <functional>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_scan.h>

namespace
{
template <class T> int std_inclusive(bench *, const bench_args *a)
{
    const T *in = static_cast<const T *>(a->in);
    std::inclusive_scan(std::execution::par_unseq, in, in + a->n, static_cast<T *>(a->out),
                        [](T x, T y) { return static_cast<T>(x + y); });
    return BENCH_OK;
}

template <class T> int std_exclusive(bench *, const bench_args *a)
{
    const T *in = static_cast<const T *>(a->in);
    std::exclusive_scan(std::execution::par_unseq, in, in + a->n, static_cast<T *>(a->out), T(0));
    return BENCH_OK;
}

template <class T> int tbb_inclusive(bench *, const bench_args *a)
{
    const T *in = static_cast<const T *>(a->in);
    T *out = static_cast<T *>(a->out);
    tbb::parallel_scan(
        tbb::blocked_range<std::size_t>(0, a->n), T(0),
        [=](const tbb::blocked_range<std::size_t> &r, T sum, bool is_final) {
            for (std::size_t i = r.begin(); i < r.end(); i++) {
                sum = static_cast<T>(sum + in[i]);
                if (is_final)
                    out[i] = sum;
            }
            return sum;
        },
        [](T x, T y) { return static_cast<T>(x + y); });
    return BENCH_OK;
}

// Unsigned throughout: sums must wrap.
const bench_peer peers[] = {
    {"std", "scan", "inclusive_sum", GP_I32, nullptr, std_inclusive<std::uint32_t>, false},
    {"std", "scan", "exclusive_sum", GP_I32, nullptr, std_exclusive<std::uint32_t>, false},
    {"std", "scan", "inclusive_sum", GP_I64, nullptr, std_inclusive<std::uint64_t>, false},
    {"std", "scan", "inclusive_sum", GP_F32, nullptr, std_inclusive<float>, false},
    {"tbb", "scan", "inclusive_sum", GP_I32, nullptr, tbb_inclusive<std::uint32_t>, false},
    {"tbb", "scan", "inclusive_sum", GP_I64, nullptr, tbb_inclusive<std::uint64_t>, false},
    {"tbb", "scan", "inclusive_sum", GP_F32, nullptr, tbb_inclusive<float>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
} // namespace

extern "C" __attribute__((visibility("default"))) const bench_peer *
gp_bench_parallel_peers(int threads)
{
    // Lives as long as the process: TBB (and std::execution over it) uses as many threads as the
    // others.
    static tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                     static_cast<std::size_t>(threads));
    return peers;
}
