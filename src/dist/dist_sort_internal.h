/* SPDX-License-Identifier: MIT */
/* What the files of the sorts share. */
#ifndef GPI_DIST_SORT_INTERNAL_H
#define GPI_DIST_SORT_INTERNAL_H

#include "core/workspace.h"
#include "dist/dist_kernels_internal.h"

struct gpi_sort_args {
    struct gpi_dist_args a;
    gp_dist_desc desc;
    gp_dtype dtype;
    gp_order order;
    size_t key_bytes, value_bytes; /* value_bytes: 0 without values */
    bool indices;                  /* values are the places of keys, */
    gp_dtype indices_of;           /* of that dtype; of figures alone */
    const void *keys_in, *values_in;
    size_t n;
    void *keys_out, *values_out; /* keys_out: NULL, not wanted */
    uint64_t *out_count;
};

/* Keys and their values, in order. */
struct gpi_run {
    char *keys, *values;
    uint64_t n;
};

/* What a sort has while it runs. */
struct gpi_sorting {
    struct gpi_sort_args *s;
    gp_comm *comm;
    const char *f;
    struct gpi_frame *frame;
    uint64_t *scratch; /* of probes */
    struct gpi_run here, came, out;
    struct gpi_run cut; /* in a window: room for what dist_split_move.c sorts for others too */
};

static inline struct gpi_run gpi_run_at(const struct gpi_sorting *x, struct gpi_run r,
                                        uint64_t first, uint64_t n)
{
    r.keys = r.keys ? r.keys + first * x->s->key_bytes : NULL;
    r.values = r.values ? r.values + first * x->s->value_bytes : NULL;
    r.n = n;
    return r;
}

/* Memory for n keys and values out of the frame. */
struct gpi_run gpi_run_take(struct gpi_sorting *x, uint64_t n);

/* Bins of a split may hold that part of all keys, see dist_split_internal.h. */
enum { GPI_SPLIT_SHARE = 32 };

static inline uint64_t gpi_run_bytes(const struct gpi_sort_args *s, uint64_t n)
{
    return gpi_piece(n * s->key_bytes) + gpi_piece(n * s->value_bytes);
}

/* The same, of memory with that many bytes. */
static inline struct gpi_run gpi_run_in(const struct gpi_sort_args *s, char *memory, uint64_t n)
{
    return (struct gpi_run){memory, s->value_bytes ? memory + gpi_piece(n * s->key_bytes) : NULL,
                            n};
}

/* dist_sort.c: a sort whose arguments are checked, in a frame of its own or of the call that it
 * belongs to; and an upper bound of that, for n keys here and up to most that this rank gets. */
gp_status gpi_dist_run_sort(gp_comm *comm, struct gpi_sort_args *s);
gp_status gpi_dist_sort_bytes(const gp_target *target, const struct gpi_sort_args *s, uint64_t most,
                              size_t *bytes);

/* Sort what this rank has to x->here, by the bits of words from begin_bit on. */
gp_status gpi_dist_sort_here(struct gpi_sorting *x, int begin_bit);

/* dist_split.c: keys go to their rank by their highest bits, and are sorted there; *sorted is false
 * on every rank if they are too uneven for that, and nothing is written then. Whether it may be
 * tried, and the bytes beside x->here. */
bool gpi_dist_may_split(const struct gpi_sorting *x, uint64_t total);
/* Keys and values of each rank, on the average, are as many as such sorts want. */
bool gpi_dist_is_large(const struct gpi_sorting *x, uint64_t total);
/* What decides that is in the note of each rank; and whether all are on GPUs. */
void gpi_dist_note_split(const gp_comm *comm, struct gpi_note *note);
bool gpi_dist_all_on_gpus(const gp_comm *comm);
gp_status gpi_dist_split_bytes(const gp_target *target, const struct gpi_sort_args *s, uint64_t get,
                               uint64_t least, uint64_t total, size_t *bytes);
/* Keys of a group that is not the last: at least that many, unless a rank gets fewer; and the most
 * that it is with any rank. */
uint64_t gpi_split_group_least(const struct gpi_sorting *x);
uint64_t gpi_split_group_least_any(void);
/* Keys and values that may be split, if the ranks are few enough and the keys many. */
bool gpi_dist_suits_split(const struct gpi_sort_args *s);
gp_status gpi_dist_split(struct gpi_sorting *x, uint64_t total, bool *sorted);

/* dist_merge.c: exchange or lend what is sorted and cut, and merge what belongs to this rank. */
gp_status gpi_dist_gather_up(struct gpi_sorting *x);

/* dist_lent.c: sort, cut and merge out of each other's memory, all by GPUs; whether they can. */
bool gpi_dist_cuts_lent(const struct gpi_sorting *x);
gp_status gpi_dist_sort_lent(struct gpi_sorting *x);

/* dist_small.c: so few keys that every rank sorts all of them and takes its own. */
uint64_t gpi_dist_small_limit(const gp_comm *comm);
bool gpi_dist_is_small(const struct gpi_sorting *x, uint64_t total);
gp_status gpi_dist_open_small(struct gpi_sorting *x);
gp_status gpi_dist_small_bytes(const gp_target *target, const struct gpi_sort_args *s,
                               size_t *bytes);
gp_status gpi_dist_sort_small(struct gpi_sorting *x, uint64_t total);

/* The indices of n keys, of which the first has that one. */
gp_status gpi_dist_number(struct gpi_sorting *x, uint64_t first, uint64_t n, void *places);

#endif
