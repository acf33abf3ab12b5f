/* SPDX-License-Identifier: MIT */
/**
 * @file comm_mpi.h
 * Ranks of an MPI communicator. Header only: gp itself is not linked with any MPI, and this is
 * compiled with the one that the program uses. Needs MPI 3.0.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *     gp_context_create(&ctx, NULL);
 *     gp_comm_create_mpi(ctx, MPI_COMM_WORLD, 0, &comm);
 *     gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, keys, n, keys, NULL);
 *     gp_comm_destroy(comm);
 *     MPI_Finalize();
 */
#ifndef GP_COMM_MPI_H
#define GP_COMM_MPI_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gp/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Why a wait ended without success; other numbers are MPI's. */
enum gp_comm_mpi_error { GP_COMM_MPI_LATE = -1, GP_COMM_MPI_ABORTED = -2, GP_COMM_MPI_MEMORY = -3 };

/** What the functions below work on. */
struct gp_comm_mpi {
    MPI_Comm comm; /**< a duplicate of the caller's */
    int ranks;     /**< of comm */
    int aborted;   /**< atomic */
    int failed;    /**< requests may be open */
};

/** The most bytes of one message: MPI counts in int. */
#define GP_COMM_MPI_MESSAGE ((uint64_t)1 << 30)

/** Wait for all requests, without blocking in MPI: so a limit and an abort end the wait. */
static inline int gp_comm_mpi_wait(struct gp_comm_mpi *m, int count, MPI_Request *requests,
                                   double seconds)
{
    const double begin = MPI_Wtime();
    const struct timespec pause = {0, 20000};
    long asked = 0;
    for (int i = 0; i < count;) {
        int done;
        const int e = MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        if (e != MPI_SUCCESS)
            return e;
        i += done != 0;
        if (done)
            continue;
        if (__atomic_load_n(&m->aborted, __ATOMIC_ACQUIRE))
            return GP_COMM_MPI_ABORTED;
        if (seconds >= 0 && MPI_Wtime() - begin > seconds)
            return GP_COMM_MPI_LATE;
        if (++asked > 200) /* processes may be more than processors */
            nanosleep(&pause, NULL);
    }
    return 0;
}

/** gp_comm_ops.all_gather */
static inline int gp_comm_mpi_all_gather(void *user, const void *mine, size_t bytes, void *all,
                                         double seconds)
{
    struct gp_comm_mpi *m = (struct gp_comm_mpi *)user;
    MPI_Request request;
    /* Memory that MPI may still use after a failure is not the library's. */
    char *buffer = (char *)malloc(bytes * ((size_t)m->ranks + 1));
    if (!buffer)
        return GP_COMM_MPI_MEMORY;
    memcpy(buffer, mine, bytes);
    int e = MPI_Iallgather(buffer, (int)bytes, MPI_BYTE, buffer + bytes, (int)bytes, MPI_BYTE,
                           m->comm, &request);
    if (e == MPI_SUCCESS)
        e = gp_comm_mpi_wait(m, 1, &request, seconds);
    if (e) {
        m->failed = 1;
        return e;
    }
    memcpy(all, buffer + bytes, bytes * (size_t)m->ranks);
    free(buffer);
    return 0;
}

/** The messages that so many bytes take. */
static inline int gp_comm_mpi_messages(uint64_t bytes)
{
    return (int)((bytes + GP_COMM_MPI_MESSAGE - 1) / GP_COMM_MPI_MESSAGE);
}

/** Begin to send or receive the bytes of one rank; returns an error or 0. */
static inline int gp_comm_mpi_begin(struct gp_comm_mpi *m, int sends, char *memory, uint64_t bytes,
                                    int rank, MPI_Request *requests, int *count)
{
    for (uint64_t at = 0; at < bytes; at += GP_COMM_MPI_MESSAGE) {
        const uint64_t rest = bytes - at;
        const int length = (int)(rest < GP_COMM_MPI_MESSAGE ? rest : GP_COMM_MPI_MESSAGE);
        const int e =
            sends ? MPI_Isend(memory + at, length, MPI_BYTE, rank, 7, m->comm, &requests[*count])
                  : MPI_Irecv(memory + at, length, MPI_BYTE, rank, 7, m->comm, &requests[*count]);
        if (e != MPI_SUCCESS)
            return e;
        ++*count;
    }
    return 0;
}

/** gp_comm_ops.exchange */
static inline int gp_comm_mpi_exchange(void *user, const void *send, const uint64_t *send_at,
                                       const uint64_t *send_bytes, void *recv,
                                       const uint64_t *recv_at, const uint64_t *recv_bytes,
                                       double seconds)
{
    struct gp_comm_mpi *m = (struct gp_comm_mpi *)user;
    char *from = (char *)(uintptr_t)send, *to = (char *)recv;
    int most = 1, count = 0, e = 0;
    for (int r = 0; r < m->ranks; r++)
        most += gp_comm_mpi_messages(send_bytes[r]) + gp_comm_mpi_messages(recv_bytes[r]);
    MPI_Request *requests = (MPI_Request *)malloc((size_t)most * sizeof *requests);
    if (!requests)
        return GP_COMM_MPI_MEMORY;
    for (int r = 0; r < m->ranks && !e; r++)
        if (recv_bytes[r])
            e = gp_comm_mpi_begin(m, 0, to + recv_at[r], recv_bytes[r], r, requests, &count);
    for (int r = 0; r < m->ranks && !e; r++)
        if (send_bytes[r])
            e = gp_comm_mpi_begin(m, 1, from + send_at[r], send_bytes[r], r, requests, &count);
    if (!e)
        e = gp_comm_mpi_wait(m, count, requests, seconds);
    if (e) {
        m->failed = 1;
        for (int i = 0; i < count; i++)
            if (requests[i] != MPI_REQUEST_NULL)
                MPI_Cancel(&requests[i]);
    }
    free(requests);
    return e;
}

/** gp_comm_ops.abort */
static inline void gp_comm_mpi_abort(void *user)
{
    __atomic_store_n(&((struct gp_comm_mpi *)user)->aborted, 1, __ATOMIC_RELEASE);
}

/** gp_comm_ops.destroy: a communicator with open requests stays until MPI ends. */
static inline void gp_comm_mpi_destroy(void *user)
{
    struct gp_comm_mpi *m = (struct gp_comm_mpi *)user;
    int over = 0;
    MPI_Finalized(&over);
    if (!over && !m->failed)
        MPI_Comm_free(&m->comm);
    free(m);
}

/**
 * Make the rank of this process in a communicator.
 *
 * @param[in]  ctx           where this rank computes
 * @param[in]  comm          is duplicated: its own messages are never seen here
 * @param[in]  device_memory not 0: this MPI takes pointers into the memory of GPUs
 * @param[out] rank          for gp_comm_destroy(), before MPI_Finalize()
 *
 * Every rank of comm calls this. The thread that calls gp is the one that may call MPI.
 * After GP_ERROR_COMM MPI may still write into the outputs of the call that failed.
 *
 * @return as gp_comm_create(); GP_ERROR_COMM MPI refused to duplicate comm; GP_ERROR_MEMORY
 * @since 0.1
 */
static inline gp_status gp_comm_create_mpi(gp_context *ctx, MPI_Comm comm, int device_memory,
                                           gp_comm **rank)
{
    gp_comm_ops ops = GP_COMM_OPS_INIT;
    struct gp_comm_mpi *m = (struct gp_comm_mpi *)calloc(1, sizeof *m);
    if (!m)
        return GP_ERROR_MEMORY;
    if (MPI_Comm_dup(comm, &m->comm) != MPI_SUCCESS) {
        free(m);
        return GP_ERROR_COMM;
    }
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m->comm, &ops.rank);
    MPI_Comm_size(m->comm, &ops.ranks);
    m->ranks = ops.ranks;
    ops.user = m;
    ops.all_gather = gp_comm_mpi_all_gather;
    ops.exchange = gp_comm_mpi_exchange;
    ops.abort = gp_comm_mpi_abort;
    ops.destroy = gp_comm_mpi_destroy;
    ops.device_memory = device_memory;
    const gp_status s = gp_comm_create(ctx, &ops, rank);
    if (s != GP_OK)
        gp_comm_mpi_destroy(m);
    return s;
}

#ifdef __cplusplus
}
#endif
#endif
