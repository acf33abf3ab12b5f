/* SPDX-License-Identifier: MIT */
/* The CPU merge of one key width: compiled with GPI_KEY_BITS=8|16|32|64 and per instruction set. */
#include <stdbool.h>
#include <string.h>

#include "merge/merge_internal.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define KEY PASTE(PASTE(uint, GPI_KEY_BITS), _t)
#define MERGE PASTE(PASTE(PASTE(gpi_merge_b, GPI_KEY_BITS), _cpu_), GPI_ISA_SUFFIX)

/* Inlined with constants, so that integers cost one operation. */
static inline KEY word_of(const struct gpi_radix_order *o, bool is_float, KEY x)
{
    if (!is_float)
        return (KEY)(x ^ (KEY)o->flip);
    return (KEY)(GPI_RADIX_FLOAT(KEY, x, (KEY)o->sign, (KEY)o->inf) ^ (KEY)o->flip);
}

/* How many of the first d outputs come from a. */
static inline uint64_t items_of_a(const struct gpi_merge_job *j, bool is_float, uint64_t d)
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

/* Where a share stands: the next items, and the next output. */
struct place {
    uint64_t a, b, out;
};

/* That many outputs, while both inputs have as many items left. */
static inline void merge_steps(const struct gpi_merge_job *j, bool is_float, size_t value_bytes,
                               struct place *p, uint64_t steps)
{
    const KEY *keys_a = j->keys_a, *keys_b = j->keys_b;
    const char *values_a = j->values_a, *values_b = j->values_b;
    KEY *keys = j->keys_out;
    char *values = j->values_out;
    uint64_t a = p->a, b = p->b, out = p->out;
    for (uint64_t end = out + steps; out < end; out++) {
        KEY x = keys_a[a], y = keys_b[b];
        bool take_b = word_of(&j->order, is_float, y) < word_of(&j->order, is_float, x);
        keys[out] = take_b ? y : x;
        if (value_bytes) {
            const char *from = take_b ? values_b + b * value_bytes : values_a + a * value_bytes;
            memcpy(values + out * value_bytes, from, value_bytes);
        }
        a += !take_b;
        b += take_b;
    }
    *p = (struct place){a, b, out};
}

/* Outputs up to end of which all come from one input. */
static void copy_rest(const struct gpi_merge_job *j, const struct place *p, uint64_t end)
{
    bool from_a = p->b == j->num_b;
    uint64_t first = from_a ? p->a : p->b;
    size_t n = (size_t)(end - p->out), value_bytes = j->value_bytes;
    memcpy((KEY *)j->keys_out + p->out, (const KEY *)(from_a ? j->keys_a : j->keys_b) + first,
           n * sizeof(KEY));
    if (value_bytes)
        memcpy((char *)j->values_out + p->out * value_bytes,
               (const char *)(from_a ? j->values_a : j->values_b) + first * value_bytes,
               n * value_bytes);
}

static inline void merge(const struct gpi_merge_job *j, bool is_float, size_t value_bytes,
                         uint64_t begin, uint64_t end)
{
    uint64_t a = items_of_a(j, is_float, begin);
    struct place p = {a, begin - a, begin};
    while (p.out < end && p.a < j->num_a && p.b < j->num_b) {
        uint64_t steps = end - p.out, left_a = j->num_a - p.a, left_b = j->num_b - p.b;
        steps = steps < left_a ? steps : left_a;
        merge_steps(j, is_float, value_bytes, &p, steps < left_b ? steps : left_b);
    }
    if (p.out < end)
        copy_rest(j, &p, end);
}

static inline void merge_values(const struct gpi_merge_job *j, bool is_float, uint64_t begin,
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
    if (j->order.inf)
        merge_values(j, true, begin, end);
    else
        merge_values(j, false, begin, end);
}
