/* SPDX-License-Identifier: MIT */
/* Reduction by a serial loop, and calls compared with it. */
#include "reduce_check.h"

#include <stdlib.h>
#include <string.h>

#include "oracle.h"

gp_reduce_desc reduce_desc(gp_dtype in, gp_dtype out, gp_op op)
{
    gp_reduce_desc desc = GP_REDUCE_DESC_INIT;
    desc.in_dtype = in;
    desc.out_dtype = out;
    desc.op = op;
    return desc;
}

/* The last row pointer of a scan. */
void reduce_oracle(const gp_reduce_desc *desc, const void *in, size_t n, void *result)
{
    gp_dtype to = desc->out_dtype ? desc->out_dtype : desc->in_dtype;
    size_t item = gp_dtype_bytes(to) * gp_op_scalars(desc->op);
    gp_scan_desc scan = t_scan_desc(GP_SCAN_ROW_POINTERS, desc->in_dtype, to, desc->op);
    scan.init = desc->init;
    char *out = oracle_scan(&scan, in, n);
    memcpy(result, out + n * item, item);
    free(out);
}

void reduce_check(const gp_reduce_desc *desc, const void *in, size_t n, size_t offset,
                  const void *expected)
{
    gp_dtype to = desc->out_dtype ? desc->out_dtype : desc->in_dtype;
    size_t scalars = gp_op_scalars(desc->op), out_bytes = scalars * gp_dtype_bytes(to);
    size_t scalar = gp_dtype_bytes(desc->in_dtype), bytes = n * scalars * scalar;
    char actual[32], *after = t_host(bytes);
    t_array source = t_new_from(in, bytes, offset * scalar);
    t_array target = t_new(out_bytes, gp_dtype_bytes(to) * (offset % 3));
    T_OK(gp_reduce_by(t_ctx(), desc, source.data, n, target.data));
    t_get(&target, actual, out_bytes);
    t_same(gp_op_string(desc->op), to, expected, actual, scalars);
    t_check_guards(&target);
    t_check_guards(&source);
    t_get(&source, after, bytes);
    t_same_bytes("the input", in, after, bytes);
    t_free(&source);
    t_free(&target);
    free(after);
}
