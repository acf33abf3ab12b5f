/* SPDX-License-Identifier: MIT */
/*
 * Segmented sort.
 *
 * CPU: the merge path of segment ends and items is cut into shares; the thread of a share sorts the
 * segments that end in it one after the other (radixsort_cpu_tmpl.c). Segments that would keep
 * one thread busy while the others wait are sorted before, by all threads together.
 *
 * CUDA: segments that fit a block are sorted there, a tile of whole segments at a time
 * (segsort_tiles_cuda.cu). Which do not is known on the device alone. Of keys alone of up to 4
 * bytes those go apart, in one sort of words of segment and key (segsort_apart.cuh). Otherwise, if
 * there is one, all go the other way: the number of every item's segment (gpi_balance_search), then
 * a sort by two parts, that number and the key (lexsort_parts_internal.h).
 *
 * Scratch, each piece 256-byte aligned:
 *   CPU    [keys n][values or indices n][indices n][copy of values][counts]
 *   CUDA   [plan, marks n / 128], then [lists of long segments][words n][words n][the sort's]
 *          or [numbers of segments n][the sort's]; none where all fit one block
 */
#ifndef GPI_SEGSORT_INTERNAL_H
#define GPI_SEGSORT_INTERNAL_H

#include "radixsort/radixsort_internal.h"
#include "validate/validate_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sort of segments, checked; the job has keys_out, and values_in with values. */
struct gpi_segsort_job {
    struct gpi_radix_job job;
    gp_dtype dtype, offset_dtype;
    const void *offsets;
    uint64_t num_segments;
};

/* What the offsets must be. */
static inline struct gpi_content gpi_segsort_rule(const struct gpi_segsort_job *s)
{
    struct gpi_content rule =
        GPI_OFFSETS("offsets", s->offsets, s->num_segments, s->offset_dtype, s->job.n);
    rule.device_n = s->job.device_num_segments;
    rule.device_bound = s->job.device_n;
    return rule;
}

gp_status gpi_segsort_cpu(gp_context *ctx, const char *function, const struct gpi_segsort_job *s);
gp_status gpi_segsort_cuda(gp_context *ctx, const char *function, const struct gpi_segsort_job *s);

/* Upper bounds of their frames, arrays in place included. */
size_t gpi_segsort_cpu_bytes(int threads, const struct gpi_segsort_job *s);
size_t gpi_segsort_cuda_bytes(const gp_target *target, const struct gpi_segsort_job *s);

/* ---- CUDA: segments that fit a block ---- */

/* Items of a tile; segments of up to LONGEST leave enough of it to others; items of a mark. */
enum { GPI_SEGSORT_TILE = 4096, GPI_SEGSORT_LONGEST = 3584, GPI_SEGSORT_MARK = 128 };

/* In the context's memory, zeros at first. */
struct gpi_segsort_plan {
    uint64_t longest;         /* items of a segment that fits */
    uint64_t wrong;           /* not 0: offsets are, and the segments are one */
    uint64_t apart;           /* how many do not fit, in the highest bits, and their items */
    uint64_t items, segments; /* that go the other way: those, or all */
};

/* The same sort for the kernels. */
struct gpi_segsort_tiles {
    struct gpi_radix_order order;
    uint64_t mask; /* the bits of a word that are compared */
    bool places;   /* of items are found: values are moved, or keys that words do not tell */
    bool exact;    /* words tell the keys */
    bool wide;     /* offsets */
    uint32_t key_bytes, value_bytes;
    uint64_t n, num_segments;
    const uint64_t *device_n, *device_num_segments; /* or NULL */
    const void *offsets, *keys_in, *values_in;
    void *keys_out, *values_out;
    struct gpi_segsort_plan *plan; /* NULL: all items are one tile */
    uint32_t *marks;               /* the same; where segments begin, behind the plan */
    size_t zeroed;                 /* bytes of both */
    /* NULL: all items go the other way, or those of segments that do not fit, whose lists these
     * are: the items before each, and where it begins. */
    uint64_t *bases, *begins, list_room;
    uint64_t *words, *sorted; /* of their items */
};

struct gpi_segsort_kernels {
    gp_status (*sort)(gp_context *ctx, const char *function, const struct gpi_segsort_tiles *t);
    /* Keys of sorted words. */
    gp_status (*put_keys)(gp_context *ctx, const char *function, const struct gpi_segsort_tiles *t);
};

#ifdef __cplusplus
}
#endif

#endif
