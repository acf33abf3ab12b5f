/* SPDX-License-Identifier: MIT */
/* The checks that every scan test makes, against the oracle. */
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"

static gp_dtype out_dtype(const gp_scan_desc *desc)
{
    return desc->out_dtype ? desc->out_dtype : desc->in_dtype;
}

void t_check_scan_against_at(const char *file, int line, const gp_scan_desc *desc, const void *in,
                             size_t n, struct scan_layout layout, const void *expected)
{
    char name[160];
    gp_dtype to = out_dtype(desc);
    size_t scalars = gp_op_scalars(desc->op),
           in_bytes = n * scalars * gp_dtype_bytes(desc->in_dtype);
    size_t out_n = n + (desc->kind == GP_SCAN_ROW_POINTERS);
    size_t out_bytes = out_n * scalars * gp_dtype_bytes(to);
    t_array source = t_new(in_bytes > out_bytes || !layout.in_place ? in_bytes : out_bytes,
                           layout.in_items * gp_dtype_bytes(desc->in_dtype));
    t_array target = {NULL, 0, NULL, 0};
    void *actual = t_host(out_bytes + in_bytes);
    t_put(&source, in, in_bytes);
    if (!layout.in_place)
        target = t_new(out_bytes, layout.out_items * gp_dtype_bytes(to));
    snprintf(name, sizeof name, "scan kind %d of %s %s, n %zu, offsets %zu %zu%s%s",
             (int)desc->kind, gp_op_string(desc->op), gp_dtype_string(desc->in_dtype), n,
             layout.in_items, layout.out_items, layout.in_place ? ", in place" : "",
             desc->init ? ", init" : "");
    t_status_at(
        file, line, name, GP_OK,
        gp_scan(t_ctx(), desc, source.data, n, layout.in_place ? source.data : target.data));
    t_get(layout.in_place ? &source : &target, actual, out_bytes);
    t_same_at(file, line, name, to, expected, actual, out_n * scalars);
    t_check_guards_at(file, line, name, &source);
    if (!layout.in_place) {
        t_check_guards_at(file, line, name, &target);
        t_get(&source, actual, in_bytes);
        t_same_at(file, line, "the input", GP_U8, in, actual, in_bytes);
        t_free(&target);
    }
    t_free(&source);
    free(actual);
}

void t_check_scan_at(const char *file, int line, const gp_scan_desc *desc, const void *in, size_t n,
                     struct scan_layout layout)
{
    void *expected = oracle_scan(desc, in, n);
    t_check_scan_against_at(file, line, desc, in, n, layout, expected);
    free(expected);
}
