/* SPDX-License-Identifier: MIT */
/* A part of test_structs.c: structs of calls over ranks. */

static int no_gather(void *user, const void *mine, size_t bytes, void *all, double seconds)
{
    return user || !mine || !bytes || !all || seconds > 0;
}

static int no_exchange(void *user, const void *send, const uint64_t *send_at,
                       const uint64_t *send_bytes, void *recv, const uint64_t *recv_at,
                       const uint64_t *recv_bytes, double seconds)
{
    return user || send || send_at || send_bytes || recv || recv_at || recv_bytes || seconds > 0;
}

KIND(place, gp_dist_desc, 0, GP_DIST_DESC_INIT, "desc", d.result = GP_DIST_EVEN)
KIND(bins, gp_dist_histogram_desc, 0, GP_DIST_HISTOGRAM_DESC_INIT, "desc",
     d.kind = GP_DIST_BINS_WHOLE;
     d.dtype = GP_U32; d.bins = 9)
KIND(ops, gp_comm_ops, 0, GP_COMM_OPS_INIT, "ops", d.all_gather = no_gather;
     d.exchange = no_exchange)

/* Calls over ranks, of which there is one. */
static gp_status rebalance(gp_context *ctx, E e, const gp_dist_desc *given)
{
    gp_comm *comm;
    gp_status s = gp_comm_create_local(&ctx, 1, &comm);
    s = s ? s : gp_dist_rebalance(comm, given, 4, e->keys, e->n, e->out[0], NULL);
    gp_comm_destroy(comm);
    return s;
}

static gp_status bins_of_ranks(gp_context *ctx, E e, const gp_dist_histogram_desc *given)
{
    gp_comm *comm;
    gp_status s = gp_comm_create_local(&ctx, 1, &comm);
    s = s ? s : gp_dist_histogram(comm, given, e->keys, e->n, e->out[0]);
    gp_comm_destroy(comm);
    return s;
}

static gp_status create_rank(gp_context *ctx, const gp_comm_ops *given)
{
    gp_comm *comm;
    const gp_status s = gp_comm_create(ctx, given, &comm);
    gp_comm_destroy(comm);
    return s;
}
