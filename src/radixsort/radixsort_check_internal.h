/* SPDX-License-Identifier: MIT */
/* Checks and options that the front doors of all sorts share; defined in radixsort.c. */
#ifndef GPI_RADIXSORT_CHECK_INTERNAL_H
#define GPI_RADIXSORT_CHECK_INTERNAL_H

#include "radixsort/radixsort_internal.h"

/* The outputs of a job: arrays, and overlaps with the inputs and each other. */
gp_status gpi_radix_check_outputs(gp_context *ctx, const char *function,
                                  const struct gpi_radix_job *job);

/* Check the options and put them, resolved, into the job, whose key_bytes is set. */
gp_status gpi_radix_apply_options(gp_context *ctx, const char *function, gp_backend backend,
                                  gp_dtype dtype, const gp_radix_sort_options *options,
                                  struct gpi_radix_job *job);

/* Counts in memory that the options name, and that no output lies over them. */
gp_status gpi_radix_check_counts(gp_context *ctx, const char *function,
                                 const struct gpi_radix_job *job);

#endif
