/* SPDX-License-Identifier: MIT */
/* The CPU merge of one key width: compiled with GPI_KEY_BITS=8|16|32|64 and per instruction set. */
#include <stdbool.h>
#include <string.h>

#include "merge/merge_internal.h"
#include "core/order_cpu.h"

#define MERGE PASTE(PASTE(PASTE(gpi_merge_b, GPI_KEY_BITS), _cpu_), GPI_ISA_SUFFIX)

/* How many of the first d outputs come from a. Inlined with constants for is_float and value_bytes,
 * as all of it is, so that comparing integers takes one operation. */
ALWAYS_INLINE uint64_t items_of_a(const struct gpi_merge_job *j, bool is_float, uint64_t d)
{
    const KEY *a = j->keys_a, *b = j->keys_b;
    uint64_t low = d > j->num_b ? d - j->num_b : 0, high = d < j->num_a ? d : j->num_a;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (word_of(&j->order, is_float, a[middle]) <=
            word_of(&j->order, is_float, b[d - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * A step of a merge waits for the comparison of the step before. So a share is cut into lanes,
 * which take their steps in turn and do not wait for each other.
 */
enum { LANES = 4, LANE_MIN = 64 };

/* Where a lane stands: the next output and the next item of b; the next one of a is out - b. */
struct lane {
    uint64_t out, b;
};

/* One output; both inputs have items left. No choices, of which compilers make branches. */
ALWAYS_INLINE void merge_step(const struct gpi_merge_job *j, bool is_float, size_t value_bytes,
                              struct lane *p)
{
    const uint64_t at_a = p->out - p->b;
    const KEY x = ((const KEY *)j->keys_a)[at_a], y = ((const KEY *)j->keys_b)[p->b];
    const KEY word_x = word_of(&j->order, is_float, x), word_y = word_of(&j->order, is_float, y);
    const uint64_t of_b = word_y < word_x ? 1 : 0;
    if (is_float)
        ((KEY *)j->keys_out)[p->out] = (KEY)(x ^ ((x ^ y) & (KEY)(0 - of_b)));
    else
        ((KEY *)j->keys_out)[p->out] = (KEY)((word_y < word_x ? word_y : word_x) ^ j->order.flip);
    if (value_bytes) {
        const uintptr_t a = (uintptr_t)j->values_a + at_a * value_bytes;
        const uintptr_t b = (uintptr_t)j->values_b + p->b * value_bytes;
        memcpy((char *)j->values_out + p->out * value_bytes,
               (const char *)(a ^ ((a ^ b) & (0 - of_b))), value_bytes);
    }
    p->b += of_b;
    p->out++;
}

/* The steps to end that need not look whether an input has ended. */
static inline uint64_t sure_steps(const struct gpi_merge_job *j, const struct lane *p, uint64_t end)
{
    const uint64_t left_a = j->num_a - (p->out - p->b), left_b = j->num_b - p->b;
    const uint64_t left = left_a < left_b ? left_a : left_b;
    return left < end - p->out ? left : end - p->out;
}

/* The same for every lane; the first ends at end, and all have the same number of outputs. */
static inline uint64_t sure_steps_of_all(const struct gpi_merge_job *j, const struct lane *lane,
                                         uint64_t end, uint64_t length)
{
    uint64_t steps = length;
    for (uint64_t k = 0; k < LANES; k++) {
        const uint64_t sure = sure_steps(j, &lane[k], end + k * length);
        steps = steps < sure ? steps : sure;
    }
    return steps;
}

/* Outputs up to end of which all come from one input. */
static void copy_rest(const struct gpi_merge_job *j, const struct lane *p, uint64_t end)
{
    bool from_a = p->b == j->num_b;
    uint64_t first = from_a ? p->out - p->b : p->b;
    size_t n = (size_t)(end - p->out), value_bytes = j->value_bytes;
    memcpy((KEY *)j->keys_out + p->out, (const KEY *)(from_a ? j->keys_a : j->keys_b) + first,
           n * sizeof(KEY));
    if (value_bytes)
        memcpy((char *)j->values_out + p->out * value_bytes,
               (const char *)(from_a ? j->values_a : j->values_b) + first * value_bytes,
               n * value_bytes);
}

/* One lane, to its end. */
ALWAYS_INLINE void merge_alone(const struct gpi_merge_job *j, bool is_float, size_t value_bytes,
                               struct lane p, uint64_t end)
{
    uint64_t steps;
    while ((steps = sure_steps(j, &p, end)) > 0)
        for (; steps > 0; steps--)
            merge_step(j, is_float, value_bytes, &p);
    if (p.out < end)
        copy_rest(j, &p, end);
}

ALWAYS_INLINE struct lane lane_at(const struct gpi_merge_job *j, bool is_float, uint64_t out)
{
    return (struct lane){out, out - items_of_a(j, is_float, out)};
}

ALWAYS_INLINE void merge(const struct gpi_merge_job *j, bool is_float, size_t value_bytes,
                         uint64_t begin, uint64_t end)
{
    const uint64_t lanes = end - begin < LANES * LANE_MIN ? 1 : LANES;
    const uint64_t length = (end - begin) / lanes;
    struct lane lane[LANES];
    uint64_t steps;
    for (uint64_t k = 0; k < lanes; k++)
        lane[k] = lane_at(j, is_float, begin + k * length);
    while (lanes > 1 && (steps = sure_steps_of_all(j, lane, begin + length, length)) > 0)
        for (; steps > 0; steps--)
            for (int k = 0; k < LANES; k++)
                merge_step(j, is_float, value_bytes, &lane[k]);
    for (uint64_t k = 0; k < lanes; k++)
        merge_alone(j, is_float, value_bytes, lane[k],
                    k + 1 < lanes ? begin + (k + 1) * length : end);
}

ALWAYS_INLINE void merge_values(const struct gpi_merge_job *j, bool is_float, uint64_t begin,
                                uint64_t end)
{
    if (j->value_bytes == 0)
        merge(j, is_float, 0, begin, end);
    else if (j->value_bytes == 4)
        merge(j, is_float, 4, begin, end);
    else if (j->value_bytes == 8)
        merge(j, is_float, 8, begin, end);
    else
        merge(j, is_float, j->value_bytes, begin, end);
}

gpi_merge_share_fn MERGE;

void MERGE(const struct gpi_merge_job *j, uint64_t begin, uint64_t end)
{
    if (GPI_KEY_BITS > 8 && j->order.inf)
        merge_values(j, true, begin, end);
    else
        merge_values(j, false, begin, end);
}
