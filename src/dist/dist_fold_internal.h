/* SPDX-License-Identifier: MIT */
/* What reductions and scans over ranks share: the part of each rank, and how parts are folded. */
#ifndef GPI_DIST_FOLD_INTERNAL_H
#define GPI_DIST_FOLD_INTERNAL_H

#include "dist/dist_mail_internal.h"

/* What parts are, and how they are put together. */
struct gpi_fold {
    gp_dtype in, out, part; /* part: of a rank; float where sums of halves would be rounded twice */
    gp_op op;
    size_t in_bytes, out_bytes, part_bytes; /* of an item */
    bool has_init;
    char init[GPI_DIST_ITEM_MAX]; /* of the output's dtype */
};

struct gpi_fold gpi_fold_of(gp_dtype in, gp_dtype out, gp_op op, const void *init);

/* Meet with the part of this rank: n items reduced, or what the caller knows of them. kind: what
 * else has to be alike; need: what this rank is going to take of its workspace. By mail, parts come
 * later, with gpi_fold_deliver(). */
gp_status gpi_fold_meet(gp_comm *comm, struct gpi_dist_args *a, const struct gpi_fold *f,
                        uint32_t kind, size_t need, const void *known, const void *in, size_t n);

/* Behind that: init and the parts of ranks [0, ranks), in their order, as an item of the output's
 * dtype in host memory. Ranks without items have none. */
gp_status gpi_fold_parts(gp_comm *comm, const char *name, const struct gpi_fold *f, int ranks,
                         void *item);

/* Whether parts go from GPU to GPU; the same on every rank. */
bool gpi_fold_by_mail(const gp_comm *comm, const struct gpi_fold *f);
/* n items reduced to a part in the context's memory. */
gp_status gpi_fold_reduce_here(gp_comm *comm, const char *name, const struct gpi_fold *f,
                               const void *in, size_t n, void *part);
/* By all ranks: a round of mail, of which the caller has set part or items, what is folded, whether
 * behind init, and what becomes of it. */
gp_status gpi_fold_deliver(gp_comm *comm, const char *name, const struct gpi_fold *f,
                           struct gpi_mailing *mailing);
/* How many init and the parts of those ranks are. */
int gpi_fold_count(const gp_comm *comm, const struct gpi_fold *f, int ranks);

/* An upper bound of what all of these take. */
gp_status gpi_fold_bytes(const gp_target *target, const struct gpi_fold *f, uint64_t n,
                         size_t *bytes);

gp_reduce_desc gpi_fold_reduction(const struct gpi_fold *f, gp_dtype from);

#endif
