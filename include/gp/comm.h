/* SPDX-License-Identifier: MIT */
/**
 * @file comm.h
 * Ranks that compute together: several GPUs or CPUs of a process, of a host, or of many hosts.
 *
 * A gp_comm is one rank: a context, and its place among the others. gp_dist.h has the calls. Every
 * rank makes the same calls in the same order, each with its own gp_comm. A call waits for the
 * other ranks, so either each rank has a thread of its own, or one thread makes the calls of all
 * ranks between gp_comm_group_begin() and gp_comm_group_end().
 *
 * Every call begins with an exchange of 128 bytes per rank: which call it is, its types, its
 * descriptor and the number of items. So all ranks find together that they do not agree
 * (GP_ERROR_COLLECTIVE), and that the arguments of one of them are wrong: that rank takes part in
 * the exchange too, and every rank returns its status. In both cases nothing was written, and the
 * ranks can go on.
 *
 * A rank that died or is late cannot take part. gp_comm_set_timeout() says how long a call waits
 * for it; then it returns GP_ERROR_COMM. From then on the gp_comm is broken: every call returns
 * GP_ERROR_COMM, outputs of the call that failed are not specified, and all that is left is to
 * destroy it. Nothing is tried again.
 */
#ifndef GP_COMM_H
#define GP_COMM_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Statuses of ranks, numbered behind those of core.h: X(name, number, text). */
#define GP_COMM_STATUS_MAP(X)                                                                      \
    X(ERROR_COMM, 16, "a rank failed, was late, or ended; the gp_comm is broken")                  \
    X(ERROR_COLLECTIVE, 17, "the ranks did not make the same call")
/** Every status, of core.h and of ranks. */
#define GP_ALL_STATUS_MAP(X) GP_STATUS_MAP(X) GP_COMM_STATUS_MAP(X)
#define GP_ERROR_COMM ((gp_status)16)       /**< a rank failed, was late, or ended */
#define GP_ERROR_COLLECTIVE ((gp_status)17) /**< the ranks did not make the same call */

/** The most ranks. */
#define GP_COMM_RANKS_MAX 512

/**
 * One rank: a context and a place among the others. One thread at a time may use it, and its
 * context meanwhile; GP_ERROR_BUSY otherwise. The context must live longer.
 */
typedef struct gp_comm gp_comm;

/**
 * Make ranks of the contexts of this process.
 *
 * @param[in]  contexts as many contexts as ranks, each another one, all of one backend. Several may
 *                      be on one GPU; GPUs should be able to reach each other's memory
 * @param[in]  ranks    1 to GP_COMM_RANKS_MAX
 * @param[out] comms    ranks pointers: comms[r] is rank r, on contexts[r]; NULL on error. Each is
 *                      destroyed by itself
 *
 * Ranks on CPUs copy from each other's memory, GPUs through peer access where they have it.
 *
 * @return GP_OK; GP_ERROR_POINTER contexts or comms is NULL, or a context is not alive;
 *         GP_ERROR_BUSY a context is in use; GP_ERROR_ARGUMENT ranks, a context that stands there
 *         twice, or contexts of both backends; GP_ERROR_MEMORY. The text is gp_last_error(NULL).
 * @since 0.1
 */
GP_API gp_status gp_comm_create_local(gp_context *const *contexts, int ranks, gp_comm **comms);

/**
 * What moves bytes between the ranks, where the caller has that: see gp_comm_create().
 *
 * Both functions return 0, or another number if they failed, and wait for the other ranks at most
 * that many seconds, without a limit if that is negative. Every rank makes the same calls in the
 * same order.
 */
typedef struct gp_comm_ops {
    size_t size; /**< sizeof(gp_comm_ops) */
    int rank;    /**< of this process or thread, 0 to ranks - 1 */
    int ranks;   /**< how many there are */
    void *user;  /**< passed to each function */
    /** Collect bytes from every rank: all[r * bytes ..] = those of rank r. Host memory. */
    int (*all_gather)(void *user, const void *mine, size_t bytes, void *all, double seconds);
    /** Send send_bytes[r] bytes that begin at send + send_at[r] to each rank r, itself too, and
     * take recv_bytes[r] bytes from it to recv + recv_at[r]. Host memory, or that of the context
     * if device_memory is not 0. */
    int (*exchange)(void *user, const void *send, const uint64_t *send_at,
                    const uint64_t *send_bytes, void *recv, const uint64_t *recv_at,
                    const uint64_t *recv_bytes, double seconds);
    /** End a wait of the functions above, from any thread; NULL: waits end by their limit alone. */
    void (*abort)(void *user);
    /** Called by gp_comm_destroy(); NULL: nothing to do. */
    void (*destroy)(void *user);
    int device_memory; /**< not 0: exchange takes pointers into a GPU's memory */
    int reserved;      /**< 0 */
} gp_comm_ops;

/** Initializer of gp_comm_ops: its size, and defaults. */
#define GP_COMM_OPS_INIT                                                                           \
    {                                                                                              \
        sizeof(gp_comm_ops), 0, 1, NULL, NULL, NULL, NULL, NULL, 0, 0                              \
    }

/**
 * Make a rank whose bytes the caller's functions move; gp/comm_mpi.h fills them in for MPI.
 *
 * @param[in]  ctx  where this rank computes
 * @param[in]  ops  copied; all_gather and exchange are not NULL. Where ops->device_memory is 0 and
 *                  ctx computes on a GPU, data goes through host memory
 * @param[out] comm the rank; NULL on error
 *
 * Makes no call of ops.
 *
 * @return GP_OK; GP_ERROR_POINTER ctx, ops, a function of it, or comm is NULL; GP_ERROR_ARGUMENT
 *         ops->size, rank, ranks or reserved; GP_ERROR_BUSY; GP_ERROR_MEMORY. The text is
 *         gp_last_error(NULL).
 * @since 0.1
 */
GP_API gp_status gp_comm_create(gp_context *ctx, const gp_comm_ops *ops, gp_comm **comm);

/**
 * Make a rank of an NCCL communicator of the caller.
 *
 * @param[in]  ctx       where this rank computes: on the communicator's GPU
 * @param[in]  nccl_comm an ncclComm_t, which must live longer, and which no other thread uses while
 *                       a call of gp does
 * @param[out] comm      the rank; NULL on error
 *
 * gp is not linked with NCCL: it takes libnccl.so.2 of the process, or of the system. Once a call
 * has returned GP_ERROR_COMM, and after gp_comm_abort(), nccl_comm was ended by ncclCommAbort() and
 * is no longer the caller's to destroy. A communicator that does not block (blocking = 0 in its
 * configuration) keeps timeouts in every call; with another one a rank that is missing when ranks
 * connect for the first time can block NCCL itself, until another thread calls gp_comm_abort().
 *
 * Ranks that are all of one process, on GPUs that reach each other's memory and without allocators
 * of the caller, notice that in their first call, and from then on move everything as those of
 * gp_comm_create_local() do.
 *
 * @return GP_OK; GP_ERROR_POINTER ctx, nccl_comm or comm is NULL; GP_ERROR_ARGUMENT ctx computes on
 *         the CPU or on another GPU, or there are more than GP_COMM_RANKS_MAX ranks;
 *         GP_ERROR_UNSUPPORTED NCCL was not found, or this build has no CUDA; GP_ERROR_BUSY;
 *         GP_ERROR_MEMORY. The text is gp_last_error(NULL).
 * @since 0.1
 */
GP_API gp_status gp_comm_create_nccl(gp_context *ctx, void *nccl_comm, gp_comm **comm);

/** Free a rank; NULL does nothing. Its context stays. One in use by another thread is left alone.
 * Other ranks that wait for this one get GP_ERROR_COMM. Between GPUs of one process the first rank
 * to go waits for the work of its context. @since 0.1 */
GP_API void gp_comm_destroy(gp_comm *comm);

/** Which rank this is, from 0; -1 for a pointer to no gp_comm. @since 0.1 */
GP_API int gp_comm_rank(const gp_comm *comm);

/** How many ranks there are; 0 for a pointer to no gp_comm. @since 0.1 */
GP_API int gp_comm_ranks(const gp_comm *comm);

/** The context of this rank; NULL for a pointer to no gp_comm. @since 0.1 */
GP_API gp_context *gp_comm_context(const gp_comm *comm);

/**
 * How long later calls wait for other ranks, each time they have to; on a GPU also for work of this
 * rank whose results they must know.
 *
 * @param[in] seconds 0 or more; negative, as at first: without a limit
 * @return GP_OK; GP_ERROR_POINTER; GP_ERROR_ARGUMENT seconds is NaN; GP_ERROR_BUSY
 * @since 0.1
 */
GP_API gp_status gp_comm_set_timeout(gp_comm *comm, double seconds);

/**
 * Wait until the work of this rank is done: gp_context_synchronize() with a deadline.
 *
 * @param[in] seconds the most to wait; negative: without a limit
 * @return as gp_context_synchronize(); GP_ERROR_COMM the time is over, and comm is broken then;
 *         GP_ERROR_ARGUMENT seconds is NaN
 * @since 0.1
 */
GP_API gp_status gp_comm_synchronize(gp_comm *comm, double seconds);

/**
 * Break a rank: the call that it is in, if any, and all later ones return GP_ERROR_COMM.
 *
 * Any thread may call this at any time before gp_comm_destroy(). All ranks of
 * gp_comm_create_local() break with it; others notice by their timeouts.
 * @return GP_OK; GP_ERROR_POINTER comm is NULL or not alive
 * @since 0.1
 */
GP_API gp_status gp_comm_abort(gp_comm *comm);

/**
 * Collect the calls that this thread makes from here on, of any number of ranks.
 *
 * Until gp_comm_group_end() every call of gp/dist.h checks that its gp_comm and descriptor can be
 * read, and returns. Descriptors are copied; other arrays, in host memory too, must stay as they
 * are. Groups do not nest.
 * @return GP_OK; GP_ERROR_ARGUMENT a group is open
 * @since 0.1
 */
GP_API gp_status gp_comm_group_begin(void);

/**
 * Make the calls that were collected, in their order for each rank, all ranks side by side.
 *
 * Each rank gets a thread for as long as this takes.
 * @return GP_OK; otherwise the first status that is not, in the order of the first calls of the
 *         ranks, its text is that of the rank's context; GP_ERROR_ARGUMENT no group is open;
 *         GP_ERROR_MEMORY a thread could not be made: the ranks are broken
 * @since 0.1
 */
GP_API gp_status gp_comm_group_end(void);

#ifdef __cplusplus
}
#endif
#endif
