/* SPDX-License-Identifier: MIT */
/* Checks and options that the front doors of all sorts share; defined in radixsort.c. */
#ifndef GPI_RADIXSORT_CHECK_H
#define GPI_RADIXSORT_CHECK_H

#include "radixsort/radixsort_internal.h"

/* The constants of a dtype and direction. */
struct gpi_radix_order gpi_radix_order_of(gp_dtype dtype, gp_order order);

/* GP_ASCENDING or GP_DESCENDING. */
gp_status gpi_radix_check_order(gp_context *ctx, const char *function, const char *argument,
                                gp_order order);

/* GP_U32 or GP_U64. */
gp_status gpi_radix_check_index_dtype(gp_context *ctx, const char *function, gp_dtype dtype);

/* n is less than 2^32 with GP_U32. */
gp_status gpi_radix_check_index_range(gp_context *ctx, const char *function, size_t n,
                                      gp_dtype dtype);

/* dtype, keys_in and n, in parameter order. */
gp_status gpi_radix_check_keys(gp_context *ctx, const char *function, gp_dtype dtype,
                               const void *keys_in, size_t n);

/* The outputs of a job: arrays, and overlaps with the inputs and each other. */
gp_status gpi_radix_check_outputs(gp_context *ctx, const char *function,
                                  const struct gpi_radix_job *job);

/* Check the options and put them, resolved, into the job, whose key_bytes is set. */
gp_status gpi_radix_apply_options(gp_context *ctx, const char *function, gp_backend backend,
                                  gp_dtype dtype, const gp_radix_sort_options *options,
                                  struct gpi_radix_job *job);

#endif
