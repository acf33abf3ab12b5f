/* SPDX-License-Identifier: MIT */
/*
 * Mail: how parts of reductions and scans get from GPU to GPU where these see each other's memory.
 *
 * Each rank has a mail on its GPU, into which all ranks write a part in every round. Half of a word
 * is payload, the other half the number of the round: a reader knows by the word itself that it has
 * come, so no order of writes matters. A rank has ended a round when the parts of all have come to
 * it. So who writes for round r + 2 has seen that all wrote for r + 1, behind their reading of r,
 * and two banks are enough (models/mail.pml). The number of the round lies in the mail, not in the
 * arguments of a kernel, so what was captured can run again.
 *
 * A kernel that waits for parts leaves when the ranks are broken; it has no deadline of its own, as
 * all ranks have agreed to make the call before. Ranks that share a GPU would wait for each other's
 * multiprocessors: they write in one kernel, and read in another behind events.
 */
#ifndef GPI_DIST_MAIL_INTERNAL_H
#define GPI_DIST_MAIL_INTERNAL_H

#include "dist/dist_kernels_internal.h"

enum { GPI_MAIL_RANKS = 32, GPI_MAIL_WORDS = GPI_DIST_ITEM_MAX / 4 };

/* Items of a rank that the kernel itself scans. */
enum { GPI_MAIL_FEW = 1 << 13 };

/* What becomes of init and the parts of ranks [0, folded), folded. */
enum gpi_mail_use {
    GPI_MAIL_RESULT,    /* an item at out; out is NULL: nothing */
    GPI_MAIL_BEFORE,    /* it is put before each of n items at out */
    GPI_MAIL_INCLUSIVE, /* the scan of n items at in begins behind it */
    GPI_MAIL_EXCLUSIVE
};

struct gpi_mail {
    uint64_t words[2][GPI_MAIL_RANKS][GPI_MAIL_WORDS];
    uint32_t round, done;         /* rounds that have ended; blocks that have, of the present one */
    char part[GPI_DIST_ITEM_MAX]; /* of this rank, before it is written to all */
    char fold[GPI_DIST_ITEM_MAX]; /* what the host wants to see */
};

/* A round of one rank, as its kernel gets it. */
struct gpi_mailing {
    struct gpi_mail *mails[GPI_MAIL_RANKS];
    const uint32_t *stop; /* not 0: the ranks are broken */
    uint32_t present;     /* bit r: rank r has a part */
    int rank, ranks;
    bool sends, receives;
    bool orders;    /* what ranks wrote before is there for all afterwards */
    gp_dtype dtype; /* of parts and items */
    gp_op op;
    uint64_t flip;    /* of an integer, see device/flip.cuh */
    const void *part; /* of this rank; NULL: it is that of n items at in, or there is none */
    bool has_init;
    uint64_t init[GPI_DIST_ITEM_MAX / 8]; /* an item */
    int folded;
    enum gpi_mail_use use;
    const void *in; /* at most GPI_MAIL_FEW items, or NULL */
    void *out;      /* may be in */
    uint64_t n;
};

/* dist_local.c: the mails of all ranks, and where they see that they are broken. */
void gpi_local_address(gp_comm *comm, struct gpi_mailing *mailing);

#endif
