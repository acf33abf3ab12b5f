/* SPDX-License-Identifier: MIT */
/* Reports of broken rules, see core/sticky.h. They are inlined, and cost registers where a kernel
 * has work to do behind them: report at the end of a kernel, or out of line. */
#pragma once

#include "core/sticky.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

/* Call under(s) with the record locked, if wanted(s) says so before and under the lock. Threads of
 * one warp may come here together. */
template <class Wanted, class Under>
GPI_DEVICE void sticky_update(volatile gpi_sticky *s, Wanted wanted, Under under)
{
    bool done = false;
    while (!done && wanted(s)) {
        if (atomicCAS((uint32_t *)&s->lock, 0u, 1u) != 0)
            continue;
        __threadfence(); /* see what the last holder of the lock has written */
        if (wanted(s))
            under(s);
        __threadfence(); /* and let the next one see this */
        atomicExch((uint32_t *)&s->lock, 0u);
        done = true;
    }
}

/* The rule is written last: who sees it sees the rest. */
GPI_DEVICE void report(const gpi_reporter &r, gpi_rule rule, uint64_t index, uint64_t value,
                       uint64_t bound)
{
    sticky_update(
        r.sticky,
        [&](volatile gpi_sticky *s) {
            const bool empty = s->rule == GPI_RULE_NONE;
            __threadfence(); /* who sees a rule reads the call and index that were written before */
            return empty || GPI_STICKY_TAKES(s, &r, rule, index);
        },
        [&](volatile gpi_sticky *s) {
            *(gpi_source *)&s->source = r.source;
            s->index = index;
            s->value = value;
            s->bound = bound;
            __threadfence();
            s->rule = rule;
        });
}

/* The same where one thread of a launch alone reports: what a call has found before stays. No loop,
 * so it costs the kernel no registers. */
GPI_DEVICE void report_alone(const gpi_reporter &r, gpi_rule rule, uint64_t index, uint64_t value,
                             uint64_t bound)
{
    gpi_sticky *s = r.sticky;
    if (atomicCAS(&s->rule, 0u, (uint32_t)rule) != 0)
        return;
    s->source = r.source;
    s->index = index;
    s->value = value;
    s->bound = bound;
}

GPI_DEVICE void report_total(const gpi_reporter &r, uint64_t total)
{
    sticky_update(
        r.sticky,
        [&](volatile gpi_sticky *s) {
            return (s->rule == GPI_RULE_NONE || s->source.call == r.source.call) &&
                   s->total_call != r.source.call;
        },
        [&](volatile gpi_sticky *s) {
            s->total_call = r.source.call;
            s->total = total;
        });
}

} // namespace GPI_SPACE
