/* SPDX-License-Identifier: MIT */
/*
 * Sums of integers whose total is in 64 bits and whose outputs are checked, for scan_cpu_tmpl.c,
 * which includes this file.
 *
 * They are scanned in the bits of the output, which wrap. As long as outputs fit they are right.
 * Unsigned outputs rise, so the last one of a block, the carry and the sum of the block's items,
 * decides for all. A signed one does not fit where the step to it, or an earlier one, overflows; an
 * item is the difference of two outputs, so the check needs no more than these. The total is the
 * sum of the blocks' items.
 */
#ifndef GPI_SCAN_CPU_WIDE_INTERNAL_H
#define GPI_SCAN_CPU_WIDE_INTERNAL_H

/* Of signed items, too, in the engine of unsigned ones. */
#if GPI_SCALARS == 1 && OUT_KIND == 1 && OUT_BYTES < 8

static uint64_t block_sum(const struct job *job, uint64_t first, size_t n)
{
    const void *in = items_at(job, first, n);
    return job->stored->sum ? job->stored->sum(in, n) : sum_in_64(in, n, job->sign);
}

/* A block of unsigned items behind carry, and their sum. */
static void rise_check(struct job *job, acc_t carry, uint64_t first, size_t n, uint64_t sum)
{
    if (first + n == job->n && !job->last_counts)
        sum -= block_sum(job, first + n - 1, 1);
    if (sum > (uint64_t)((acc_t)-1 - carry))
        __atomic_store_n(&job->overflow, 1, __ATOMIC_RELAXED);
}

/* The highest bit: whether the step between two outputs overflows. */
static inline uacc_t step_overflow(uacc_t from, uacc_t sum)
{
    const uacc_t item = (uacc_t)(sum - from);
    return (uacc_t)((from ^ sum) & (item ^ sum));
}

static inline bool steps_overflow(uacc_t before, const acc_t *to, size_t n)
{
    uacc_t found = n ? step_overflow(before, (uacc_t)to[0]) : 0;
    for (size_t i = 1; i < n; i++)
        found |= step_overflow((uacc_t)to[i - 1], (uacc_t)to[i]);
    return found >> (8 * sizeof found - 1);
}

/* n steps of the scan of signed items from item first on. */
__attribute__((noinline)) static void steps_check(struct job *job, acc_t before, const acc_t *to,
                                                  uint64_t first, size_t n)
{
    const size_t counted = first + n == job->n && !job->last_counts ? n - 1 : n;
    if (steps_overflow((uacc_t)before, to, counted))
        __atomic_store_n(&job->overflow, 1, __ATOMIC_RELAXED);
}

#else

/* Not called. */
static uint64_t block_sum(const struct job *job, uint64_t first, size_t n)
{
    (void)job, (void)first, (void)n;
    return 0;
}

static void rise_check(struct job *job, acc_t carry, uint64_t first, size_t n, uint64_t sum)
{
    (void)job, (void)carry, (void)first, (void)n, (void)sum;
}

static void steps_check(struct job *job, acc_t before, const acc_t *to, uint64_t first, size_t n)
{
    (void)job, (void)before, (void)to, (void)first, (void)n;
}

#endif

static uint64_t block_total(struct job *job, uint64_t first, size_t n)
{
    const uint64_t sum = block_sum(job, first, n);
    __atomic_fetch_add(&job->total, sum, __ATOMIC_RELAXED);
    return sum;
}

/* The total of a block whose carry is known, and whether its outputs fit, of unsigned ones. */
static void block_check(struct job *job, acc_t carry, uint64_t first, size_t n)
{
    const uint64_t sum = block_total(job, first, n);
    if (!job->sign)
        rise_check(job, carry, first, n, sum);
}

/* Signed sums, which lie as they were scanned to. */
static inline void sums_check(struct job *job, acc_t carry, const acc_t *to, uint64_t first,
                              size_t n, size_t want)
{
    acc_t room[CHUNK];
    if (!job->backward) {
        steps_check(job, carry, to, first, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        room[i] = to[want - 1 - i];
    steps_check(job, carry, room, first, n);
}

#endif
