/* SPDX-License-Identifier: MIT */
/* The CPU: blocks of items are asked whether all is well; only one where it is not is judged item
 * by item. */
#include "validate/validate_cpu.h"

#include "core/threads.h"
#include "core/words.h"

enum { BLOCK = 1 << 16 };

struct job {
    const struct gpi_content_rule *rule;
    uint64_t first_bad; /* the least index found so far */
};

static inline uint64_t item(const struct gpi_content_rule *r, uint64_t i)
{
    return gpi_word_at(r->items, (size_t)(64 - r->unused) / 8, i);
}

/* Whole numbers of 4 and 8 bytes, in loops for vectors: whether something is wrong in [begin, end),
 * begin > 0. The ends of offsets are looked at elsewhere. */
#define DEFINE_ANY_BAD(T)                                                                          \
    static bool any_bad_##T(const struct gpi_content_rule *r, uint64_t begin, uint64_t end)        \
    {                                                                                              \
        const T *x = r->items, flip = (T)(r->order.flip >> r->unused);                             \
        const T largest = (T)(r->is_signed ? (T)-1 >> 1 : (T)-1);                                  \
        const T most = r->bound > largest ? largest : (T)(r->bound - 1);                           \
        T bad = r->kind == GPI_CONTENT_BELOW && r->bound == 0;                                     \
        if (r->kind == GPI_CONTENT_BELOW)                                                          \
            for (uint64_t i = begin; i < end; i++)                                                 \
                bad |= x[i] > most;                                                                \
        else                                                                                       \
            for (uint64_t i = begin; i < end; i++)                                                 \
                bad |= (x[i - 1] ^ flip) > (x[i] ^ flip);                                          \
        return bad;                                                                                \
    }

DEFINE_ANY_BAD(uint32_t)
DEFINE_ANY_BAD(uint64_t)

static bool is_clean(const struct gpi_content_rule *r, uint64_t begin, uint64_t end)
{
    if (r->order.inf)
        return false;
    return r->unused == 0    ? !any_bad_uint64_t(r, begin, end)
           : r->unused == 32 ? !any_bad_uint32_t(r, begin, end)
                             : false;
}

static struct gpi_verdict judge(const struct gpi_content_rule *r, uint64_t i)
{
    return gpi_rule_judge(r, i, item(r, i), i > 0 ? item(r, i - 1) : 0);
}

static void check_block(void *arg, size_t block)
{
    struct job *job = arg;
    const struct gpi_content_rule *r = job->rule;
    uint64_t i = (uint64_t)block * BLOCK;
    const uint64_t end = i + BLOCK < r->n ? i + BLOCK : r->n;
    /* The ends by themselves, and what lies between in vectors. */
    const uint64_t inner = i + (i == 0), inner_end = end - (end == r->n);
    if (inner < inner_end && judge(r, i).rule == GPI_RULE_NONE && is_clean(r, inner, inner_end))
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
    struct job job = {r, UINT64_MAX};
    struct gpi_offence o = {{GPI_RULE_NONE, 0}, 0, 0};
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
