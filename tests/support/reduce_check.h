/* SPDX-License-Identifier: MIT */
/* What the tests of gp_reduce share: the dumbest serial fold, and calls compared with it. */
#ifndef GP_TEST_REDUCE_CHECK_H
#define GP_TEST_REDUCE_CHECK_H

#include <gp/reduce.h>

#include "gp_test.h"

/* From this size on arrays are cut into longer tiles. */
enum { REDUCE_LONG_BYTES = 128 << 20 };

gp_reduce_desc reduce_desc(gp_dtype in, gp_dtype out, gp_op op);

/* The fold of all items. For exact inputs. */
void reduce_oracle(const gp_reduce_desc *desc, const void *in, size_t n, void *result);

/* Reduce host data that lies offset items past a 256-byte boundary and compare; the input must stay
 * as it is. */
void reduce_check(const gp_reduce_desc *desc, const void *in, size_t n, size_t offset,
                  const void *expected);

#endif
