/* SPDX-License-Identifier: MIT */
/* A part of every_call.c: scans, segments and reductions. */

CALL(scan_u32)
{
    return gp_scan_inclusive(ctx, GP_U32, GP_SUM, e->keys, e->n, e->out[0]);
}

CALL(scan_f64)
{
    return gp_scan_exclusive(ctx, GP_F64, GP_MAX, e->floats, e->n / 2, NULL, e->out[0]);
}

CALL(scan_backward_mat2)
{
    gp_scan_desc d = scan_of(GP_F64, GP_MAT2);
    d.backward = 1;
    return gp_scan(ctx, &d, e->floats, e->n / 8, e->out[0]);
}

CALL(scan_row_pointers)
{
    gp_scan_desc d = scan_of(GP_U32, GP_SUM);
    d.kind = GP_SCAN_ROW_POINTERS;
    return gp_scan(ctx, &d, e->keys, e->n, e->out[0]);
}

static gp_status scan_by(gp_context *ctx, E e, gp_algorithm algorithm)
{
    gp_scan_desc d = scan_of(GP_F32, GP_SUM);
    d.algorithm = algorithm;
    return gp_scan(ctx, &d, e->floats, e->n, e->out[0]);
}

CALL(scan_then_fan)
{
    return scan_by(ctx, e, GP_ALGORITHM_SCAN_THEN_FAN);
}

CALL(reduce_then_scan)
{
    return scan_by(ctx, e, GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS);
}

CALL(scan_segmented)
{
    gp_scan_desc d = scan_of(GP_F32, GP_SUM);
    return gp_scan_segmented(ctx, &d, e->floats, e->n, GP_U32, e->offsets, e->segments, e->out[0]);
}

static gp_reduce_segmented_desc segmented_of(gp_dtype dtype, gp_op op, gp_dtype offset_dtype)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    d.in_dtype = dtype;
    d.op = op;
    d.offset_dtype = offset_dtype;
    return d;
}

CALL(reduce_segmented)
{
    gp_reduce_segmented_desc d = segmented_of(GP_F32, GP_SUM, GP_U32);
    return gp_reduce_segmented(ctx, &d, e->floats, e->n, e->offsets, e->segments, e->out[0]);
}

CALL(reduce_rows)
{
    gp_reduce_segmented_desc d = segmented_of(GP_U32, GP_MAX, (gp_dtype)0);
    return gp_reduce_rows(ctx, &d, e->keys, e->segments, EVERY_SEGMENT, e->out[0]);
}

CALL(argmin_segmented)
{
    gp_reduce_segmented_desc d = segmented_of(GP_F32, GP_SUM, GP_U32);
    return gp_argmin_segmented(ctx, &d, e->floats, e->n, e->offsets, e->segments, e->out[0],
                               (uint64_t *)(void *)e->out[1]);
}

CALL(argmax_segmented)
{
    gp_reduce_segmented_desc d = segmented_of(GP_U32, GP_SUM, GP_U32);
    return gp_argmax_segmented(ctx, &d, e->keys, e->n, e->offsets, e->segments, NULL,
                               (uint64_t *)(void *)e->out[1]);
}

CALL(adjacent_difference)
{
    return gp_adjacent_difference(ctx, GP_F32, e->floats, e->n, e->out[0]);
}

CALL(scan_flagged)
{
    gp_scan_desc d = scan_of(GP_U8, GP_SUM);
    return gp_scan_flagged(ctx, &d, e->keys, e->flags, e->n, e->out[0]);
}

CALL(scan_by_key)
{
    gp_scan_desc d = scan_of(GP_F64, GP_AFFINE);
    return gp_scan_by_key(ctx, &d, 4, e->sorted, e->floats, e->n / 4, e->out[0]);
}

CALL(scan_rows)
{
    gp_scan_desc d = scan_of(GP_U32, GP_XOR);
    return gp_scan_rows(ctx, &d, e->keys, e->segments, EVERY_SEGMENT, e->out[0]);
}

CALL(reduce)
{
    return gp_reduce(ctx, GP_F32, GP_SUM, e->floats, e->n, e->out[0]);
}

CALL(argmin)
{
    return gp_argmin(ctx, GP_U32, e->keys, e->n, e->out[0], e->count);
}

CALL(argmax)
{
    return gp_argmax(ctx, GP_F32, e->floats, e->n, e->out[0], e->count);
}
