// SPDX-License-Identifier: MIT
// The C++ standard library's parallel algorithms and oneTBB, as a module that gp-bench loads when
// it is there.
#include "../bench.h"

#include <algorithm>
#include <cstdint>
#include <execution>
#include <functional>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

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

int std_copy_if(bench *, const bench_args *a)
{
    const auto *in = static_cast<const std::uint32_t *>(a->in);
    auto *out = static_cast<std::uint32_t *>(a->out);
    auto bound = static_cast<std::uint32_t>(a->bound);
    auto *end = std::copy_if(std::execution::par_unseq, in, in + a->n, out,
                             [=](std::uint32_t x) { return x < bound; });
    *a->count = static_cast<std::uint64_t>(end - out);
    return BENCH_OK;
}

// Both sort in place: the copy is part of the work, as it is of ours.
template <class T> int std_sort(bench *, const bench_args *a)
{
    const T *in = static_cast<const T *>(a->in);
    T *out = static_cast<T *>(a->out);
    std::copy(std::execution::par_unseq, in, in + a->n, out);
    std::sort(std::execution::par_unseq, out, out + a->n);
    return BENCH_OK;
}

template <class T> int tbb_sort(bench *, const bench_args *a)
{
    const T *in = static_cast<const T *>(a->in);
    T *out = static_cast<T *>(a->out);
    std::copy(std::execution::par_unseq, in, in + a->n, out);
    tbb::parallel_sort(out, out + a->n);
    return BENCH_OK;
}

int std_argsort(bench *, const bench_args *a)
{
    const auto *keys = static_cast<const std::uint32_t *>(a->in);
    const auto *iota = static_cast<const std::uint32_t *>(a->values);
    auto *out = static_cast<std::uint32_t *>(a->out_values);
    std::copy(std::execution::par_unseq, iota, iota + a->n, out);
    std::stable_sort(std::execution::par_unseq, out, out + a->n,
                     [=](std::uint32_t x, std::uint32_t y) { return keys[x] < keys[y]; });
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
    {"std", "compact", "if_50", GP_U32, nullptr, std_copy_if, false},
    {"std", "sort", "keys", GP_U32, nullptr, std_sort<std::uint32_t>, false},
    {"std", "sort", "keys", GP_U64, nullptr, std_sort<std::uint64_t>, false},
    {"std", "sort", "keys", GP_F32, nullptr, std_sort<float>, false},
    {"std", "sort", "argsort", GP_U32, nullptr, std_argsort, false},
    {"tbb", "sort", "keys", GP_U32, nullptr, tbb_sort<std::uint32_t>, false},
    {"tbb", "sort", "keys", GP_U64, nullptr, tbb_sort<std::uint64_t>, false},
    {"tbb", "sort", "keys", GP_F32, nullptr, tbb_sort<float>, false},
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
