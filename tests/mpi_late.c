/* SPDX-License-Identifier: MIT */
/* Ranks of MPI: wrong arguments of one end in a status on all, and so does a rank that never comes,
 * within the time that was set. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "dist_ranks.h"

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "mpi_late: rank %d: not so: %s\n", gp_comm_rank(comm), #condition);    \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int late(gp_comm *comm, void *arg)
{
    const int rank = gp_comm_rank(comm);
    uint32_t keys[3] = {7, 5, (uint32_t)rank}, sorted[3];
    (void)arg;
    EXPECT(gp_dist_sort(comm, NULL, GP_U32, rank == 1 ? (gp_order)9 : GP_ASCENDING, keys, 3, sorted,
                        NULL) == GP_ERROR_ARGUMENT);
    EXPECT(gp_dist_sort(comm, NULL, rank == 1 ? GP_I32 : GP_U32, GP_ASCENDING, keys, 3, sorted,
                        NULL) == GP_ERROR_COLLECTIVE);
    EXPECT(gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, keys, 3, sorted, NULL) == GP_OK);
    EXPECT(gp_comm_set_timeout(comm, 0.5) == GP_OK);
    const double begin = dist_now();
    if (rank != 1)
        EXPECT(gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, keys, 3, sorted, NULL) ==
               GP_ERROR_COMM);
    EXPECT(dist_now() - begin < 20);
    MPI_Barrier(MPI_COMM_WORLD); /* it comes when the others have given up */
    EXPECT(gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, keys, 3, sorted, NULL) == GP_ERROR_COMM);
    EXPECT(dist_now() - begin < 20);
    if (rank == 0)
        puts("statuses as expected");
    return 0;
}

int main(int argc, char **argv)
{
    return dist_run(GP_BACKEND_CPU, 0, argc, argv, late, NULL);
}
