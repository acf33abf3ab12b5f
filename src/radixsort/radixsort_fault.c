/* SPDX-License-Identifier: MIT */
/* How many faults were made and repaired: only in test builds, see radixsort_fault.cuh. */
#include "radixsort/radixsort_engine.h"
#include "radixsort/radixsort_internal.h"

void gp_radix_sort_faults(gp_context *ctx, uint64_t counts[2])
{
    counts[0] = counts[1] = 0;
    for (int width = 0; width < 4; width++)
        for (size_t bytes = 0; bytes <= 8; bytes += 4)
            gpi_radix_cuda_get(ctx)->engine[width][bytes / 4]->add_faults(counts);
}
