/* SPDX-License-Identifier: MIT */
/* Sorts through CUB, as an engine: of words, out of place. */
#include "radixsort/radixsort_internal.h"

#include "core/check.h"
#include "core/cub.h"
#include "core/cuda.h"

/*
 * Keys of 4 and 8 bytes: a second array of words and values, 256 counters per tile (taken as 1024
 * items; at most 2^28 items are in flight), bins of each pass for each 2^27 items. Narrower keys:
 * 256 counters of 8 bytes for each block of a grid of at most 40 per multiprocessor.
 */
size_t gpi_radix_cub_bytes_max(int sm_count, size_t key_bytes, size_t moved_bytes, size_t n)
{
    enum { SM_MAX = 256, BLOCKS_PER_SM = 40, SLACK = 1 << 16 };
    size_t arrays = n * (key_bytes + moved_bytes) + SLACK, bins = GPI_RADIX_BINS * sizeof(uint64_t);
    size_t in_flight = n < (size_t)1 << 28 ? n : (size_t)1 << 28;
    size_t sms = sm_count > 0 ? (size_t)sm_count : SM_MAX;
    if (key_bytes >= 4)
        return arrays + in_flight + (n / ((size_t)1 << 27) + 1) * key_bytes * (bins + 64);
    return arrays + sms * BLOCKS_PER_SM * bins;
}

gp_status gpi_radix_cub_sort(gp_context *ctx, const char *function, size_t key_bytes,
                             struct gpi_radix_engine_args *a)
{
    const struct gpi_radix_cuda_kernels *kernels = gpi_radix_cuda_get(ctx)->kernels;
    const int keys = gpi_radix_is_word(&a->order) ? gpi_radix_in : gpi_radix_tmp;
    const int values = a->values[gpi_radix_in] ? gpi_radix_in : gpi_radix_tmp;
    struct gpi_radix_engine_args words = *a;
    struct gpi_cub_call call = gpi_cub_call_of(ctx);
    const struct gpi_cub *cub;
    GPI_TRY(gpi_cub_find(ctx, function, &cub));
    words.keys[gpi_radix_in] = a->keys[keys];
    words.values[gpi_radix_in] = a->values[values];
    call.temporary = a->scratch;
    call.bytes = a->scratch_bytes;
    if (a->scratch && keys == gpi_radix_tmp)
        kernels->words(ctx, &a->order, a->exact, false, key_bytes, a->keys[gpi_radix_in], a->n,
                       a->keys[keys]);
    if (a->scratch && a->value_bytes && values == gpi_radix_tmp)
        GPI_TRY(
            gpi_radix_put_indices(ctx, function, a->value_bytes, a->n, NULL, a->values[values]));
    GPI_TRY(gpi_cuda_check(ctx, function, cub->sort[gpi_key_width(key_bytes)](&call, &words)));
    a->scratch_bytes = call.bytes;
    if (a->scratch && keys == gpi_radix_tmp && a->keys_wanted)
        kernels->words(ctx, &a->order, true, true, key_bytes, a->keys[gpi_radix_out], a->n,
                       a->keys[gpi_radix_out]);
    return GP_OK;
}
