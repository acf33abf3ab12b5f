/* SPDX-License-Identifier: MIT */
/* What ranks of one process share. */
#ifndef GPI_DIST_LOCAL_INTERNAL_H
#define GPI_DIST_LOCAL_INTERNAL_H

#include <pthread.h>

#include "dist/dist_mail_internal.h"

enum { GPI_SEAT_SMALL = sizeof(struct gpi_note) };

struct gpi_seat {
    const void *data; /* of a gather */
    const struct gpi_route *route;
    const void *lent[GPI_DIST_LENT];
    void *ready, *taken; /* events: what I send is there; what I get was copied */
    char bank[2][GPI_SEAT_SMALL];
};

struct gpi_table {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int ranks, arrived, left; /* left: ranks that were destroyed */
    unsigned generation;      /* atomic: barriers that all have passed */
    int broken;               /* atomic */
    bool spin;                /* there are processors for all */
    uint32_t *stop;           /* what broken is, for GPUs; NULL on CPUs */
    /* On each rank's GPU; the table's, as others may write to that of a rank that has left. */
    struct gpi_mail *mails[GPI_MAIL_RANKS];
    struct gpi_seat seats[];
};

static inline struct gpi_table *gpi_table_of(gp_comm *comm)
{
    return comm->seats;
}

/* dist_local.c: ranks that copy, and those that read each other's memory too. */
extern const struct gpi_transport gpi_local_alone, gpi_local_lending;
/* By a rank that has a context, or the GPUs' memory stays. */
void gpi_table_free(struct gpi_table *table, gp_context *ctx);
void gpi_local_abort(gp_comm *comm);
void gpi_local_leave(gp_comm *comm);

#endif
