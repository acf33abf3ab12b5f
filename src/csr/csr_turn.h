/* SPDX-License-Identifier: MIT */
/* CUDA: transposes by pairs that take the sort's buckets as they are (csr_turn_kernels.cuh). */
#ifndef GPI_CSR_TURN_H
#define GPI_CSR_TURN_H

#include "csr/csr_internal.h"
#include "radixsort/radixsort_internal.h"

/* Whether new rows are at most twice as many as entries: of more the pointers take most of the
 * time, which have kernels of their own. */
static inline bool gpi_csr_turns(const struct gpi_csr_coo *c)
{
    return c->num_rows / 2 <= c->nnz;
}

/* What is to be done with the buckets of a sort by new rows. */
struct gpi_csr_turn {
    struct gpi_radix_visitor visitor; /* of the sort */
    const struct gpi_csr_coo *c;
    /* Entries and new rows that are left to the sort and what comes behind it, if it had buckets to
     * show (visited): all, or none. */
    uint64_t *left;
    bool visited;
};

typedef gp_status gpi_csr_turn_fn(gp_context *ctx, const struct gpi_csr_turn *turn,
                                  const struct gpi_radix_buckets *buckets);

/* That of a context, or NULL: its GPU has too little shared memory. */
gpi_csr_turn_fn *gpi_csr_turn_find(const gp_context *ctx);

#endif
