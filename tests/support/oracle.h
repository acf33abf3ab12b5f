/* SPDX-License-Identifier: MIT */
/*
 * What the answer is, by the dumbest serial loops, and the checks that every scan test makes.
 * Nothing here shares code with the library.
 */
#ifndef GP_TEST_ORACLE_H
#define GP_TEST_ORACLE_H

#include <gp/scan.h>

#include "gp_test.h"

/* Apply op to two items of a dtype, left op right, as core.h defines it. result may be left. */
void oracle_apply(gp_op op, gp_dtype dtype, const void *left, const void *right, void *result);

/* The identity of op. */
void oracle_identity(gp_op op, gp_dtype dtype, void *item);

/* Items such that every scan of them is exact in every dtype, whatever the association: small whole
 * numbers for sums, powers of two for products, rare bits for AND and OR, signed permutations for
 * GP_MAT2, ... */
void *oracle_scan_input(gp_dtype dtype, gp_op op, size_t n, uint64_t *state);

/* The outputs of gp_scan(desc): n, or n + 1 for row pointers. For exact inputs. */
void *oracle_scan(const gp_scan_desc *desc, const void *in, size_t n);

/* How an array is laid out in a check: items past a 256-byte boundary, and whether out is in. */
struct scan_layout {
    size_t in_items, out_items;
    bool in_place;
};

/* Run gp_scan(desc) on host data and compare with the oracle; also checks that guards, and the
 * input unless in place, are as before. desc->total and device_n are left as they are. */
#define t_check_scan(...) t_check_scan_at(__FILE__, __LINE__, __VA_ARGS__)
void t_check_scan_at(const char *file, int line, const gp_scan_desc *desc, const void *in, size_t n,
                     struct scan_layout layout);
/* The same with the outputs at hand: those of a longer input serve all its beginnings. */
#define t_check_scan_against(...) t_check_scan_against_at(__FILE__, __LINE__, __VA_ARGS__)
void t_check_scan_against_at(const char *file, int line, const gp_scan_desc *desc, const void *in,
                             size_t n, struct scan_layout layout, const void *expected);

/* A descriptor with these members and nothing else. */
gp_scan_desc t_scan_desc(gp_scan_kind kind, gp_dtype in, gp_dtype out, gp_op op);

/* Whether op has a meaning for dtype. */
bool t_op_allowed(gp_dtype dtype, gp_op op);

/* Input and output dtypes that a sum may widen between. */
enum { T_WIDENING_COUNT = 13 };
extern const gp_dtype t_widening[][2];

#endif
