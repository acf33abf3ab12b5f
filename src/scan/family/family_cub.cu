/* SPDX-License-Identifier: MIT */
/*
 * The same call through CUB: the baseline that our kernels are compared with.
 *
 * One exclusive scan of n + 1 items serves all kinds: its output i is that of an exclusive scan, or
 * output i - 1 of an inclusive one, and output n is the total. What is stored where is decided by
 * the iterators, which also convert.
 */
#include <iterator>

#include <cub/device/device_scan.cuh>

#include "device/cub_call.cuh"
#include "scan/family/family_host.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Acc> struct Apply {
    RunTimeOp<Acc> op;

    __device__ Acc operator()(const Acc &l, const Acc &r) const
    {
        return op.apply(l, r);
    }
};

/* What both iterators share: a position. */
template <class Self, class Acc> struct Position {
    using iterator_category = std::random_access_iterator_tag;
    using difference_type = int64_t;
    using value_type = Acc;
    using pointer = Acc *;

    FamilyParams<Acc> p;
    int64_t at;

    __host__ __device__ Self operator+(int64_t d) const
    {
        Self moved = static_cast<const Self &>(*this);
        moved.at += d;
        return moved;
    }
    __host__ __device__ Self &operator+=(int64_t d)
    {
        at += d;
        return static_cast<Self &>(*this);
    }
    __host__ __device__ Self &operator++()
    {
        return *this += 1;
    }
    __host__ __device__ int64_t operator-(const Self &other) const
    {
        return at - other.at;
    }
};

/* Item i; items from n on are identities. */
template <class Acc> struct Source : Position<Source<Acc>, Acc> {
    using reference = Acc;
    using Position<Source, Acc>::p, Position<Source, Acc>::at;

    __device__ Acc operator[](int64_t d) const
    {
        const uint64_t i = (uint64_t)(at + d);
        Acc x = p.op.neutral;
        if (i < item_count(p))
            with_stored<Acc>(p.in_dtype, [&](auto tag) {
                x = stored_load<Acc, typename decltype(tag)::Type>(p.in, i);
            });
        return x;
    }
    __device__ Acc operator*() const
    {
        return (*this)[0];
    }
};

/* Where fold i, of the first i items, goes. */
template <class Acc> struct Sink {
    const FamilyParams<Acc> &p;
    uint64_t i;

    __device__ const Sink &operator=(const Acc &fold) const
    {
        const uint64_t n = item_count(p);
        const uint64_t shift = p.kind == GP_SCAN_INCLUSIVE,
                       outputs = n + (p.kind != GP_SCAN_EXCLUSIVE);
        if (i >= shift && i < outputs)
            with_stored<Acc>(p.out_dtype, [&](auto tag) {
                using S = typename decltype(tag)::Type;
                if (!stored_save<Acc, S>(p.out, i - shift, fold) && p.wide)
                    report(p.reporter, GPI_RULE_OVERFLOW, GPI_NO_INDEX, 0, 0);
            });
        if (i == n)
            total_store(p, fold);
        return *this;
    }
};

template <class Acc> struct Destination : Position<Destination<Acc>, Acc> {
    using reference = Sink<Acc>;
    using Position<Destination, Acc>::p, Position<Destination, Acc>::at;

    __device__ reference operator[](int64_t d) const
    {
        return {p, (uint64_t)(at + d)};
    }
    __device__ reference operator*() const
    {
        return (*this)[0];
    }
};

template <class Acc>
cudaError_t scan(gpi_cub_call *call, const gpi_scan_args *args, const gpi_reporter &reporter)
{
    const FamilyParams<Acc> p = family_params<Acc>(reporter, args);
    Source<Acc> source;
    Destination<Acc> destination;
    source.p = destination.p = p;
    source.at = destination.at = 0;
    return cub::DeviceScan::ExclusiveScan(call->temporary, call->bytes, source, destination,
                                          Apply<Acc>{p.op}, p.start, (int64_t)p.n + 1,
                                          call->stream);
}

template <class Acc>
int scan_call(gpi_cub_call *call, const gpi_scan_args *args, const gpi_reporter *reporter)
{
    return cub_call(call, [=] { return scan<Acc>(call, args, *reporter); });
}

} // namespace
} // namespace GPI_SPACE

#define ENTRY(name) GPI_SPACE::scan_call<GPI_SPACE::name>,
extern "C" gpi_cub_scan_fn *const GPI_LAUNCHER(gpi_scan_cub)[] = {GPI_SCAN_ACCUMULATORS(ENTRY)};
