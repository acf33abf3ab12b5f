/* SPDX-License-Identifier: MIT */
/* A rule as loops see it: one judgement, for both backends. Items are words of 64 bits, zeros above
 * their own; those before an order is looked at are shifted to the top of the word. */
#ifndef GPI_VALIDATE_RULE_H
#define GPI_VALIDATE_RULE_H

#include "validate/validate_internal.h"

#ifdef __CUDACC__
#define GPI_RULE_FUNCTION static inline __host__ __device__
#else
#define GPI_RULE_FUNCTION static inline
#endif

struct gpi_content_rule {
    const void *items, *offsets;
    const uint64_t *device_n, *device_bound;
    uint64_t n, bound, first; /* first: the item 0 */
    enum gpi_content_kind kind;
    int unused; /* bits of a word above those of an item */
    bool is_signed, descending, may_cover_less, may_be_none;
    uint64_t num_runs;
    const uint64_t *device_num_runs;
    size_t offset_bytes;
    struct gpi_radix_order order; /* of words shifted to the top */
};

/* What is wrong with an item, and the bound for the text. */
struct gpi_verdict {
    enum gpi_rule rule;
    uint64_t bound;
};

static inline struct gpi_content_rule gpi_content_rule_of(const struct gpi_content *c)
{
    struct gpi_content_rule r = {.items = c->items, .n = c->n, .bound = c->bound, .kind = c->kind};
    r.offsets = c->offsets;
    r.device_n = c->device_n;
    r.device_bound = c->device_bound;
    r.may_cover_less = c->may_cover_less;
    r.may_be_none = c->may_be_none;
    r.num_runs = c->num_runs;
    r.device_num_runs = c->device_num_runs;
    r.offset_bytes = c->offset_bytes;
    r.unused = 64 - 8 * (int)gpi_dtype_bytes(c->dtype);
    r.is_signed = gpi_dtype_is_signed(c->dtype);
    r.descending = c->order == GP_DESCENDING;
    r.order.sign = UINT64_C(1) << 63;
    r.order.inf = gpi_infinity_bits(c->dtype) << r.unused;
    r.order.flip = (r.is_signed ? r.order.sign : 0) ^ (r.descending ? UINT64_MAX : 0);
    return r;
}

/* The item as a whole number of 64 bits; negative ones are above all others. */
GPI_RULE_FUNCTION uint64_t gpi_rule_number(const struct gpi_content_rule *r, uint64_t x)
{
    return r->is_signed ? (uint64_t)((int64_t)(x << r->unused) >> r->unused) : x;
}

/* Words that compare as the items do. */
GPI_RULE_FUNCTION uint64_t gpi_rule_word(const struct gpi_content_rule *r, uint64_t x)
{
    const uint64_t top = x << r->unused;
    return (r->order.inf ? GPI_RADIX_FLOAT(uint64_t, top, r->order.sign, r->order.inf) : top) ^
           r->order.flip;
}

GPI_RULE_FUNCTION bool gpi_rule_is_nan(const struct gpi_content_rule *r, uint64_t x)
{
    return r->order.inf && (x << r->unused & ~r->order.sign) > r->order.inf;
}

/* How many items there are, where the number in device memory can be read: of segments, if the
 * items are offsets. */
GPI_RULE_FUNCTION uint64_t gpi_rule_count(const struct gpi_content_rule *r)
{
    const uint64_t ends = r->kind >= GPI_CONTENT_OFFSETS;
    return r->device_n && *r->device_n < r->n - ends ? *r->device_n + ends : r->n;
}

/* The same of the bound. */
GPI_RULE_FUNCTION uint64_t gpi_rule_bound(const struct gpi_content_rule *r)
{
    return r->device_bound && *r->device_bound < r->bound ? *r->device_bound : r->bound;
}

/* A range of that length from x on. */
GPI_RULE_FUNCTION struct gpi_verdict gpi_rule_judge_range(const struct gpi_content_rule *r,
                                                          uint64_t x, uint64_t length)
{
    const uint64_t begin = gpi_rule_number(r, x), most = length > r->bound ? 0 : r->bound - length;
    struct gpi_verdict v = {GPI_RULE_NONE, 0};
    if (length != 0 && (length > r->bound || begin > most)) {
        v.rule = GPI_RULE_BELOW;
        v.bound = length > r->bound ? 0 : most + 1;
    }
    return v;
}

GPI_RULE_FUNCTION uint64_t gpi_rule_offset(const struct gpi_content_rule *r, uint64_t i)
{
    return r->offset_bytes == 4 ? ((const uint32_t *)r->offsets)[i]
                                : ((const uint64_t *)r->offsets)[i];
}

/* Whether a run begins at item i. */
GPI_RULE_FUNCTION bool gpi_rule_begins(const struct gpi_content_rule *r, uint64_t i)
{
    uint64_t low = 0, high = r->num_runs;
    if (high == 0)
        return false;
    if (r->device_num_runs && *r->device_num_runs < high)
        high = *r->device_num_runs;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (gpi_rule_offset(r, middle) - gpi_rule_offset(r, 0) < i)
            low = middle + 1;
        else
            high = middle;
    }
    return gpi_rule_offset(r, low) - gpi_rule_offset(r, 0) == i;
}

/* Item i is x; before is the one before it (item 0 has none), or the length of its range. */
GPI_RULE_FUNCTION struct gpi_verdict gpi_rule_judge(const struct gpi_content_rule *r, uint64_t i,
                                                    uint64_t x, uint64_t before)
{
    const struct gpi_verdict fine = {GPI_RULE_NONE, 0};
    if (r->kind == GPI_CONTENT_BELOW) {
        const struct gpi_verdict below = {GPI_RULE_BELOW, r->bound};
        return gpi_rule_number(r, x) < r->bound ? fine : below;
    }
    if (r->kind == GPI_CONTENT_RANGES)
        return gpi_rule_judge_range(r, x, before);
    if (i > 0 && gpi_rule_word(r, before) > gpi_rule_word(r, x) && !gpi_rule_begins(r, i)) {
        const struct gpi_verdict falls = {r->descending ? GPI_RULE_RISES : GPI_RULE_FALLS, before};
        return falls;
    }
    if (r->kind == GPI_CONTENT_EDGES && gpi_rule_is_nan(r, x)) {
        const struct gpi_verdict nan = {GPI_RULE_NAN, 0};
        return nan;
    }
    if (r->kind < GPI_CONTENT_OFFSETS)
        return fine;
    if (i == 0 && r->is_signed && gpi_rule_number(r, x) >> 63) {
        const struct gpi_verdict negative = {GPI_RULE_NEGATIVE, 0};
        return negative;
    }
    if (i == 0 && r->kind == GPI_CONTENT_ROW_POINTERS && x != 0) {
        const struct gpi_verdict first = {GPI_RULE_FIRST, 0};
        return first;
    }
    if (r->n == 1 && r->may_be_none)
        return fine;
    if (i + 1 == r->n && (r->may_cover_less ? x - r->first > r->bound : x - r->first != r->bound)) {
        const struct gpi_verdict last = {GPI_RULE_LAST, r->first + r->bound};
        return last;
    }
    return fine;
}

/* The kernels, see validate_cuda.cu. */
struct gpi_validate_kernels {
    /* Queue the check of one rule; blocks: and close the gate of the call. */
    gp_status (*check)(gp_context *ctx, const char *function, const struct gpi_content_rule *rule,
                       const struct gpi_reporter *reporter, bool blocks);
    /* Queue what opens a conditional node unless the gate was closed, and opens the gate again. */
    gp_status (*decide)(gp_context *ctx, const char *function, unsigned long long handle);
};

/* NULL in a build without CUDA. */
const struct gpi_validate_kernels *gpi_validate_kernels_find(const gp_context *ctx);

#endif
