/* SPDX-License-Identifier: MIT */
/* Rows of src/tuning on the host; compiled once per architecture (GPI_SM), without a kernel. */
#include "support/tuning_rows.h"

extern "C" {
#include "reduce/reduce_internal.h"
#include "scan/scan_internal.h"
}

#include "tuning/balance_tuning.cuh"
#include "tuning/compact_tuning.cuh"
#include "tuning/csr_tuning.cuh"
#include "tuning/elementwise_tuning.cuh"
#include "tuning/group_tuning.cuh"
#include "tuning/histogram_tuning.cuh"
#include "tuning/merge_tuning.cuh"
#include "tuning/multisplit_tuning.cuh"
#include "tuning/radixsort_tuning.cuh"
#include "tuning/reduce_tuning.cuh"
#include "tuning/scan_tuning.cuh"
#include "tuning/topk_tuning.cuh"
#include "tuning/validate_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Row>
constexpr tuning_row row_of(const char *name, const Row &row, int threads, int blocks, int items)
{
    return {name, row.least_sm, row.shared_bytes, threads, blocks, items};
}

constexpr tuning_row stream(const char *name, const ScanTuning &t, const StreamShape &s)
{
    return row_of(name, t, 32 * (s.store_warps + s.sum_warps + s.load_warps + 1), 1, s.vectors);
}

constexpr tuning_row bucket(const char *name, int key_bytes, int value_bytes)
{
    const RadixBucketShape b = radix_bucket_shape(key_bytes, value_bytes);
    return {name,
            radix_tuning.least_sm,
            radix_bucket_bytes(b.items, key_bytes, value_bytes) * b.blocks,
            b.threads,
            b.blocks,
            b.items};
}

constexpr tuning_row tile(const char *name, int key_bytes, int value_bytes)
{
    return row_of(name, radix_tuning, radix_tuning.tile_threads, 1,
                  radix_tile_items(key_bytes, value_bytes, false));
}

const tuning_row rows[] = {
    stream("scan", scan_tuning, scan_tuning.scan),
    stream("scan in runs", scan_tuning, scan_tuning.runs),
    stream("segments", scan_tuning, scan_tuning.segments),
    stream("scan of large items", scan_tuning, scan_tuning.large),
    {"scan tile", scan_tuning.least_sm, 0, 32 * GPI_SCAN_TILE_WARPS,
     scan_tuning.tile_warps_per_sm / GPI_SCAN_TILE_WARPS, 1},
    {"heads of segments", scan_tuning.least_sm, 0, scan_tuning.heads_threads, 1,
     scan_tuning.heads_loads},
    row_of("compact", compact_tuning,
           32 * (compact_tuning.store_warps + compact_tuning.sum_warps + compact_tuning.load_warps +
                 1),
           1, 1),
    row_of("group", group_tuning,
           32 * (group_tuning.store_warps + group_tuning.sum_warps + group_tuning.load_warps + 1),
           1, 1),
    row_of("reduce", reduce_tuning, 32 * GPI_REDUCE_WARPS, reduce_tuning.blocks_per_sm, 1),
    row_of("histogram", histogram_tuning, histogram_tuning.threads, 1, histogram_tuning.vectors),
    row_of("balance", balance::balance_tuning, balance::balance_tuning.workers + 32, 1, 1),
    row_of("merge", merge_tuning, merge_tuning.threads, 1, merge_tuning.items_8),
    row_of("multisplit", multisplit_tuning, 256, 4, 1),
    row_of("topk", topk_tuning, topk_tuning.threads, topk_tuning.blocks_per_sm, topk_tuning.items),
    row_of("elementwise", elementwise_tuning, 256, 1, 1),
    row_of("csr", csr_tuning, csr_tuning.threads, 1, csr_tuning.items),
    row_of("validate", validate_tuning, validate_tuning.threads, 1, 1),
    tile("sort tile u8", 1, 0),
    tile("sort tile u32", 4, 0),
    tile("sort tile u64", 8, 0),
    tile("sort tile u32 and u32", 4, 4),
    tile("sort tile u64 and u64", 8, 8),
    bucket("sort bucket u32", 4, 0),
    bucket("sort bucket u64", 8, 0),
    bucket("sort bucket u32 and u32", 4, 4),
    bucket("sort bucket u64 and u64", 8, 8),
};

} // namespace
} // namespace GPI_SPACE

extern "C" tuning_gpu GPI_PASTE(tuning_gpu_sm, GPI_SM)(void)
{
    using namespace GPI_SPACE;
    return {gpu.sm, gpu.block_shared_bytes, gpu.threads, rows, (int)(sizeof rows / sizeof *rows)};
}
