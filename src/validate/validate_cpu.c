/* SPDX-License-Identifier: MIT */
/* The CPU: blocks of items are asked whether all is well; only one where it is not is judged item
 * by item. */
#include "validate/validate_cpu.h"

#include "core/threads.h"
#include "core/variants.h"
#include "core/words.h"

enum { BLOCK = 1 << 16 };

struct job {
    const struct gpi_content_rule *rule;
    gpi_rule_any_bad_fn *any_bad;
    uint64_t first_bad; /* the least index found so far */
};

static inline uint64_t item(const struct gpi_content_rule *r, uint64_t i)
{
    return gpi_word_at(r->items, (size_t)(64 - r->unused) / 8, i);
}

#define DECLARE(isa) gpi_rule_any_bad_fn gpi_rule_any_bad_##isa;
#define ENTRY(isa) gpi_rule_any_bad_##isa,
GPI_ISAS(DECLARE)

/* What an item is judged by: the one before it, or the length of its range. */
static uint64_t before(const struct gpi_content_rule *r, uint64_t i)
{
    struct gpi_content_rule o = *r;
    if (r->kind != GPI_CONTENT_RANGES)
        return i > 0 ? item(r, i - 1) : 0;
    o.items = r->offsets;
    return (item(&o, i + 1) - item(&o, i)) << r->unused >> r->unused;
}

static struct gpi_verdict judge(const struct gpi_content_rule *r, uint64_t i)
{
    return gpi_rule_judge(r, i, item(r, i), before(r, i));
}

static void check_block(void *arg, size_t block)
{
    struct job *job = arg;
    const struct gpi_content_rule *r = job->rule;
    uint64_t i = (uint64_t)block * BLOCK;
    const uint64_t end = i + BLOCK < r->n ? i + BLOCK : r->n;
    /* The ends by themselves, and what lies between in vectors. */
    const uint64_t inner = i + (i == 0), inner_end = end - (end == r->n);
    if (inner < inner_end && judge(r, i).rule == GPI_RULE_NONE &&
        !job->any_bad(r, inner, inner_end))
        i = inner_end;
    while (i < end && judge(r, i).rule == GPI_RULE_NONE)
        i++;
    uint64_t least = __atomic_load_n(&job->first_bad, __ATOMIC_RELAXED);
    while (i < end && i < least)
        if (__atomic_compare_exchange_n(&job->first_bad, &least, i, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            break;
}

struct gpi_offence gpi_rule_first_offence(const gp_context *ctx, struct gpi_content_rule *r)
{
    static gpi_rule_any_bad_fn *const any_bad[] = {GPI_ISAS(ENTRY)};
    struct job job = {r, any_bad[ctx->isa], UINT64_MAX};
    struct gpi_offence o = {{GPI_RULE_NONE, 0}, 0, 0};
    r->n = gpi_rule_count(r);
    r->bound = gpi_rule_bound(r);
    if (r->n == 0)
        return o;
    r->first = item(r, 0);
    gpi_parallel_for(gpi_threads_for(ctx->threads, r->n / 2), (size_t)((r->n + BLOCK - 1) / BLOCK),
                     check_block, &job);
    if (job.first_bad < r->n) {
        o.verdict = judge(r, job.first_bad);
        o.index = job.first_bad;
        o.value = item(r, o.index);
    }
    return o;
}
