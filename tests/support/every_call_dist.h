/* SPDX-License-Identifier: MIT */
/* A part of every_call.c: calls over ranks, of which there is one. */

/* comm is that rank while the call is made. */
#define ONE_RANK(call)                                                                             \
    gp_comm *comm;                                                                                 \
    gp_status s = gp_comm_create_local(&ctx, 1, &comm);                                            \
    if (s == GP_OK)                                                                                \
        s = call;                                                                                  \
    gp_comm_destroy(comm);                                                                         \
    return s;

CALL(dist_reduce)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = GP_F32;
    ONE_RANK(gp_dist_reduce(comm, &d, e->floats, e->n, e->out[0]))
}

CALL(dist_scan)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    ONE_RANK(gp_dist_scan(comm, &d, NULL, e->keys, e->n, e->out[0]))
}

CALL(dist_sort_pairs){ONE_RANK(gp_dist_sort_pairs(comm, NULL, GP_U32, GP_DESCENDING, e->keys, 4,
                                                  e->floats, e->n, e->out[0], e->out[1], e->count))}

CALL(dist_argsort){ONE_RANK(gp_dist_argsort(comm, NULL, GP_F32, GP_ASCENDING, e->floats, e->n,
                                            GP_U32, e->out[0], NULL))}

CALL(dist_top_k)
{
    gp_top_k_desc d = GP_TOP_K_DESC_INIT;
    d.dtype = GP_F32, d.index_dtype = GP_U64;
    ONE_RANK(gp_dist_top_k(comm, &d, e->floats, e->n, e->n / 5, e->out[0], e->out[1]))
}

CALL(dist_histogram)
{
    gp_dist_histogram_desc d = GP_DIST_HISTOGRAM_DESC_INIT;
    d.kind = GP_DIST_BINS_WHOLE, d.dtype = GP_U32, d.bins = 99;
    ONE_RANK(gp_dist_histogram(comm, &d, e->keys, e->n, e->out[0]))
}

CALL(dist_compact)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_INDICES, d.index_dtype = GP_U32;
    ONE_RANK(gp_dist_compact(comm, NULL, &d, NULL, e->flags, e->n, e->out[0], e->count))
}

CALL(dist_group_by)
{
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = GP_U32, d.in_dtype = GP_F32, d.op = GP_MAX;
    ONE_RANK(gp_dist_group_by(comm, &d, e->keys, e->floats, e->n, e->out[0], e->out[1], e->count))
}

CALL(dist_rebalance)
{
    ONE_RANK(gp_dist_rebalance(comm, NULL, 4, e->keys, e->n, e->out[0], e->count))
}

#undef ONE_RANK

/* Their rows. */
#define EVERY_CALLS_OF_RANKS(ROW)                                                                  \
    ROW(dist_reduce), ROW(dist_scan), ROW(dist_sort_pairs), ROW(dist_argsort), ROW(dist_top_k),    \
        ROW(dist_histogram), ROW(dist_compact), ROW(dist_rebalance), ROW(dist_group_by),
