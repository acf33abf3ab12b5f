/* SPDX-License-Identifier: MIT */
/* Calls over ranks, of which there is one: the results are those of the input in order. */
#include <stdlib.h>

#include "fuzz.h"
#include "radixsort_oracle.h"

/* The rank of the context that is to be passed; it may be none. */
#define ON_RANK(f, call)                                                                           \
    do {                                                                                           \
        gp_comm *comm = NULL;                                                                      \
        gp_context *ctx = (f)->ctx;                                                                \
        gp_status s;                                                                               \
        fuzz_called(f);                                                                            \
        s = gp_comm_create_local(&ctx, 1, &comm);                                                  \
        if (s == GP_OK)                                                                            \
            s = call;                                                                              \
        gp_comm_destroy(comm);                                                                     \
        if (!fuzz_returned(f, s))                                                                  \
            return;                                                                                \
    } while (0)

static gp_dist_desc place_of(fuzz *f, size_t n)
{
    gp_dist_desc d = GP_DIST_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.result = (gp_dist_result)fuzz_enum(f, GP_DIST_SAME, GP_DIST_FREE, GP_ERROR_ARGUMENT);
    d.reserved = fuzz_unused(f);
    d.capacity = fuzz_flip(f) ? n : 0;
    return d;
}

static void rank_sort_pairs(fuzz *f)
{
    size_t n, value;
    gp_dist_desc d = place_of(f, 0);
    const gp_dtype dtype = fuzz_dtype(f, FUZZ_ALL);
    const gp_order order = (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT);
    const size_t item = gp_dtype_bytes(dtype), key = item ? item : 1;
    value = fuzz_item_bytes(f);
    n = fuzz_count(f, key + value);
    fuzz_array *keys = fuzz_input(f, dtype, n);
    fuzz_array *values = fuzz_bytes(f, fuzz_product(n, value), fuzz_alignment(value));
    fuzz_array *keys_out = fuzz_output(f, fuzz_product(n, key), key);
    fuzz_array *values_out = fuzz_output(f, fuzz_product(n, value), fuzz_alignment(value));
    fuzz_array *count = fuzz_output_if(f, 8, 8);
    ON_RANK(f, gp_dist_sort_pairs(comm, &d, dtype, order, keys->data, value, values->data, n,
                                  keys_out->data, values_out->data, (uint64_t *)count->data));
    if (!item || n > 1 << 20)
        return;
    size_t *sorted = oracle_argsort(dtype, keys->before, n, order == GP_DESCENDING, 0, 0);
    void *expected = oracle_pick(values->before, value, sorted, n);
    fuzz_same_bytes("values", expected, values_out->contents, n * value);
    free(sorted), free(expected);
}

static void rank_rebalance(fuzz *f)
{
    size_t n;
    gp_dist_desc d = place_of(f, 0);
    const size_t item = fuzz_item_bytes(f);
    n = fuzz_count(f, item);
    fuzz_array *in = fuzz_bytes(f, fuzz_product(n, item), fuzz_alignment(item));
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(n, item), fuzz_alignment(item), in);
    fuzz_array *count = fuzz_output_if(f, 8, 8);
    ON_RANK(f, gp_dist_rebalance(comm, &d, item, in->data, n, out->data, (uint64_t *)count->data));
    fuzz_same_bytes("items", in->before, out->contents, n * item);
}

fuzz_call *const fuzz_ranks[] = {rank_sort_pairs, rank_rebalance, NULL};
