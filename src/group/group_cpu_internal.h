/* SPDX-License-Identifier: MIT */
/* What the rounds of a call on the CPU (group_cpu.c) and its folds (group_cpu_folds.c) share. */
#ifndef GPI_GROUP_CPU_INTERNAL_H
#define GPI_GROUP_CPU_INTERNAL_H

#include "compact/compact_internal.h"
#include "core/past_cache.h"
#include "core/words.h"
#include "group/group_internal.h"
#include "segments/segments_internal.h"
#include "segreduce/segreduce_cpu_internal.h"

struct plan {
    size_t block_items; /* a multiple of 64, so that blocks share no word of bits */
    size_t round_blocks;
    size_t words; /* of bits of a block, one of them spare */
};

/* What a block leaves of runs that are not its own alone. */
struct partial {
    _Alignas(16) char front[GPI_GROUP_ACC_MAX]; /* of the run that goes on into it */
    _Alignas(16) char back[GPI_GROUP_ACC_MAX];  /* of the run that goes on out of it */
};

/* One fold of a call. */
struct fold {
    const struct gpi_group_fold *args;
    const struct gpi_group_fold_cpu *unit;
    const struct gpi_reduce_cpu *reduce;
    gpi_segment_chunk_fn *scan; /* or NULL */
    size_t scan_mean;           /* runs of fewer items, on average, are scanned */
    /* How runs are folded where vectors take them side by side; of these arguments. */
    struct gpi_segreduce_args segments_args;
    struct gpi_segreduce_job segments;
    struct partial carry; /* back, of the run that goes on out of the rounds before */
    struct partial *part; /* per block */
};

struct job {
    const struct gpi_group_args *a;
    const struct gpi_group_loops *loops;
    const struct gpi_compact_loops *compact;
    gp_context *ctx;
    struct plan plan;
    uint64_t n;     /* items of the call */
    uint64_t first; /* item of the round */
    /* Per block of the round, and one behind: of it, then of all before it. */
    struct gpi_group_block *block;
    uint64_t *bits;     /* starts of each block, then ends */
    struct fold *folds; /* of the call */
};

static inline uint64_t block_first(const struct job *j, size_t block)
{
    return j->first + (uint64_t)block * j->plan.block_items;
}

static inline size_t block_items(const struct job *j, size_t block)
{
    return (size_t)gpi_min(j->n - block_first(j, block), j->plan.block_items);
}

static inline struct gpi_group_marks marks_of(const struct job *j, size_t block)
{
    uint64_t *starts = j->bits + block * 2 * j->plan.words;
    return (struct gpi_group_marks){starts, starts + j->plan.words};
}

/* A run goes on into the block, or out of it. */
static inline bool is_open(const struct gpi_group_block *b)
{
    return b->starts > b->ends;
}

/* Of `outputs` from a place on, those that the capacity has room for. */
static inline uint64_t room(const struct job *j, uint64_t place, uint64_t outputs)
{
    const uint64_t left = place < j->a->capacity ? j->a->capacity - place : 0;
    return gpi_min(outputs, left);
}

/* The folds of a call; those that begin and end in a block, and what is left of others; the runs
 * that lie in several blocks. */
void gpi_group_folds_open(struct job *j);
void gpi_group_fold_block(const struct job *j, const struct fold *f, size_t block);
void gpi_group_folds_join(const struct job *j, size_t blocks);

#endif
