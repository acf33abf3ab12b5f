/* SPDX-License-Identifier: MIT */
/* The arguments of a scan's kernels, and its last step: the total. */
#pragma once

#include "device/epoch.cuh"
#include "device/item_count.cuh"
#include "device/lookahead.cuh"
#include "device/report.cuh"
#include "device/scan_part.cuh"

namespace GPI_SPACE
{

enum ScanKind : int { inclusive = 1, exclusive = 2, row_pointers = 3 }; /* as gp_scan_kind */

template <class A> struct ScanParams {
    const char *in;
    char *out;
    uint64_t n;
    const uint64_t *device_n;
    uint64_t *total;
    gpi_state state;
    A init;
    bool has_init; /* or the first prefix starts from the identity */
    int kind;
    int sign_bits; /* of the total of a signed dtype; otherwise 0 */
    Flip flip;
    gpi_reporter reporter;
};

template <class Op, class A> GPI_DEVICE A scan_start(const ScanParams<A> &p)
{
    return p.has_init ? p.init : Op::identity();
}

template <class A> GPI_DEVICE uint64_t scan_n(const ScanParams<A> &p)
{
    return item_count(p);
}

/* The total as int64_t, uint64_t or double. */
template <class Types, class A> GPI_DEVICE uint64_t total_bits(A total, int sign_bits)
{
    if constexpr (!is_integer<A>::value) {
        return (uint64_t)__double_as_longlong((double)total);
    } else if constexpr (Types::wide) {
        return (uint64_t)total;
    } else {
        uint64_t bits = (uint64_t)(typename Types::Out)total;
        return sign_bits ? (uint64_t)((int64_t)(bits << (64 - sign_bits)) >> (64 - sign_bits))
                         : bits;
    }
}

/* The total in 64 bits, and the last of n + 1 row pointers. By one thread, once. */
template <class Types, class Op, class A>
GPI_DEVICE void scan_finish(const ScanParams<A> &p, uint64_t n, A sum)
{
    using Out = typename Types::Out;
    const A total = item_flipped<Op, Out>(sum, p.flip);
    if (p.kind == row_pointers) {
        item_store<Out, Types::piece_out>(p.out + n * sizeof(Out), narrow<Out>(total));
        if (lost<Types>(total))
            report(p.reporter, GPI_RULE_OVERFLOW, GPI_NO_INDEX, 0, 0);
    }
    if constexpr (Types::wide)
        if (lost<Types>(total))
            report_total(p.reporter, (uint64_t)total);
    if constexpr (Types::scalar)
        if (p.total)
            *p.total = total_bits<Types>(total, p.sign_bits);
}

} // namespace GPI_SPACE
