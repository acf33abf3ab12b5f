/* SPDX-License-Identifier: MIT */
/* The ranks of an example: threads of this process, or with -DEXAMPLE_MPI processes of MPI. */
#ifndef DIST_RANKS_H
#define DIST_RANKS_H

#include <gp/gp.h>

/* Run fn on every rank; ranks: how many threads, not used with MPI. Returns 1 if one failed. */
int dist_run(gp_backend backend, int ranks, int argc, char **argv,
             int (*fn)(gp_comm *comm, void *arg), void *arg);

/* End the program if status is not GP_OK. */
void dist_need(gp_comm *comm, gp_status status);

/* Memory of this rank, for gp_free(). */
void *dist_new(gp_comm *comm, size_t bytes);

double dist_now(void);

#endif
