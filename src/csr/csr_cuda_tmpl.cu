/* SPDX-License-Identifier: MIT */
/* CUDA: launchers for one pair of widths and one architecture: GPI_UNIT names the pair, GPI_INDEX
 * and GPI_OFFSET are its types. */
#include <cuda_runtime.h>

#include "core/words.h"
#include "csr/csr_behind.cuh"
#include "csr/csr_count_kernels.cuh"
#include "csr/csr_ordered_kernels.cuh"
#include "device/host.cuh"

extern "C" {
#include "fill/fill_internal.h"
gp_status GPI_LAUNCHER(gpi_csr_merge_integers)(gp_context *, const gpi_csr_sorted *);
gp_status GPI_LAUNCHER(gpi_csr_merge_reals)(gp_context *, const gpi_csr_sorted *);
}

namespace GPI_SPACE
{
namespace
{

using I = GPI_INDEX;
using O = GPI_OFFSET;

/* Of struct gpi_csr_rows or gpi_csr_coo. */
template <class Args> ItemCount entries_of(const Args *a)
{
    return {a->nnz, a->device_nnz};
}

template <class Args> ItemCount rows_of(const Args *a)
{
    return {a->num_rows, a->device_num_rows};
}

uint32_t entry_blocks_of(const gp_context *ctx, const gpi_csr_coo *c)
{
    return csr_blocks(ctx, c->device_nnz, blocks_for<csr_tile>(c->nnz));
}

/* Blocks for as many warps as there are chunks, or fewer. */
uint32_t rows_blocks(uint64_t warps)
{
    return blocks_for<rows_warps, GPI_MAX_N / rows_chunk<uint64_t> + 2>(warps);
}

template <class Rows>
gp_status launch_pointers(gp_context *ctx, const char *f, const Rows &in, const ItemCount &entries,
                          const ItemCount &rows, void *out, uint64_t *unsorted,
                          const gpi_reporter &reporter)
{
    constexpr uint64_t block = csr_tuning.pointer_block;
    const uint32_t entry_blocks =
        csr_blocks(ctx, entries.device_n, rows_blocks(rows_chunks(in.words, entries.n) + 1));
    const uint32_t fill_blocks =
        rows.n < block ? 0 : csr_blocks(ctx, rows.device_n, blocks_for<block>(rows.n + 1));
    const bool seldom = !reporter.sticky; /* behind a pass that mostly leaves nothing */
    if (entries.device_n || rows.device_n)
        launch_behind(ctx, csr_pointers_k<true, O, Rows>,
                      (seldom ? behind_blocks(ctx, entry_blocks) : entry_blocks) + fill_blocks,
                      csr_tuning.threads, 0, in, entries, rows, (O *)out, fill_blocks, unsorted,
                      reporter);
    else
        csr_pointers_k<false, O, Rows>
            <<<entry_blocks + fill_blocks, csr_tuning.threads, 0, ctx->stream>>>(
                in, entries, rows, (O *)out, fill_blocks, unsorted, reporter);
    return gpi_cuda_launched(ctx, f);
}

gp_status row_pointers(gp_context *ctx, const gpi_csr_rows *args)
{
    PlainRows<I> in = {(const I *)args->rows};
    gpi_reporter reporter = gpi_reporter_of(ctx, "rows", args->index_dtype);
    if (args->reported)
        reporter.sticky = nullptr;
    return launch_pointers(ctx, "gp_csr_row_pointers", in, entries_of(args), rows_of(args),
                           args->row_pointers, args->unsorted, reporter);
}

/* Warps count several chunks one behind the other where there are more than fill the GPU. */
void launch_count(gp_context *ctx, const gpi_csr_rows *args)
{
    const PlainRows<I> in = {(const I *)args->rows};
    const ItemCount entries = {args->nnz, args->unsorted ? args->unsorted : args->device_nnz};
    const uint64_t chunks = rows_chunks(in.words, args->nnz);
    const uint64_t warps = (uint64_t)ctx->sm_count * csr_tuning.blocks_counted * rows_warps;
    const uint32_t each =
        (uint32_t)(chunks < warps ? 1 : gpi_min(chunks / warps, csr_tuning.count_chunks));
    const uint32_t blocks =
        csr_blocks(ctx, entries.device_n, rows_blocks(gpi_ceil_div(chunks, each)));
    const auto kernel =
        args->num_rows <= count_near ? csr_count_k<true, I, O> : csr_count_k<false, I, O>;
    kernel<<<blocks, csr_tuning.threads, 0, ctx->stream>>>(
        in, entries, rows_of(args), each, (O *)args->row_pointers,
        gpi_reporter_of(ctx, "rows", args->index_dtype));
}

gp_status count_rows(gp_context *ctx, const gpi_csr_rows *args)
{
    static const char f[] = "gp_csr_row_pointers_unsorted";
    const O zero = 0;
    const uint64_t *counted = args->unsorted ? args->unsorted + 1 : args->device_num_rows;
    const gpi_fill_args zeros = {sizeof zero, &zero, args->num_rows, counted, args->row_pointers};
    if (args->unsorted) {
        GPI_TRY(gpi_cuda_fill(ctx, args->unsorted, 0, 2 * sizeof *args->unsorted));
        GPI_TRY(row_pointers(ctx, args));
    }
    if (!counted)
        GPI_TRY(gpi_cuda_fill(ctx, args->row_pointers, 0, args->num_rows * sizeof(O)));
    else if (args->num_rows)
        GPI_TRY(gpi_fill_launchers_get(ctx->sm_row)->fill(ctx, f, &zeros));
    if (args->nnz)
        launch_count(ctx, args);
    return gpi_cuda_launched(ctx, f);
}

/* Of rows that did not ascend, behind the scan of their counts. */
gp_status check_range(gp_context *ctx, const gpi_csr_rows *args)
{
    const uint32_t blocks = blocks_for<csr_tile>(args->nnz);
    launch_behind(ctx, csr_range_k<I, O>, behind_blocks(ctx, blocks), csr_tuning.threads, 0,
                  (const I *)args->rows, ItemCount{args->nnz, args->unsorted},
                  ItemCount{args->num_rows, args->unsorted + 1}, (const O *)args->row_pointers,
                  gpi_reporter_of(ctx, "rows", args->index_dtype));
    return gpi_cuda_launched(ctx, "gp_csr_row_pointers_unsorted");
}

gp_status check(gp_context *ctx, const gpi_csr_matrix *a, uint64_t *found)
{
    constexpr uint64_t most = (uint64_t)csr_tuning.threads
                              << 20; /* rows: 2^40 take too many blocks */
    const uint32_t blocks =
        blocks_for<csr_tuning.threads, most>(a->num_rows < most ? a->num_rows + 1 : most);
    GPI_TRY(gpi_cuda_fill(ctx, found, 0xff, sizeof *found));
    csr_check_k<<<blocks, csr_tuning.threads, 0, ctx->stream>>>(
        (const O *)a->row_pointers, (const I *)a->cols, a->num_rows, a->num_cols, a->nnz, found);
    return gpi_cuda_launched(ctx, "gp_check_csr");
}

gp_status check_list(gp_context *ctx, const gpi_csr_list *l, uint64_t *found)
{
    const uint32_t blocks = csr_blocks(ctx, &l->nnz, blocks_for<csr_tile>(l->nnz));
    GPI_TRY(gpi_cuda_fill(ctx, found, 0xff, sizeof *found));
    csr_check_list_k<I><<<blocks, csr_tuning.threads, 0, ctx->stream>>>(*l, found);
    return gpi_cuda_launched(ctx, "gp_check_coo");
}

gp_status mark(gp_context *ctx, const gpi_csr_marks *m)
{
    const uint32_t tiles = blocks_for<csr_tile>(m->nnz), most = csr_blocks(ctx, &m->nnz, tiles);
    csr_mark_k<I><<<most, csr_tuning.threads, 0, ctx->stream>>>(*m);
    return gpi_cuda_launched(ctx, "gp_csr_filter");
}

/* ---- COO to CSR ---- */

Shape shape_of(const gpi_csr_coo *c)
{
    return Shape{c->nnz, c->num_rows, c->num_cols, c->col_bits, c->device_nnz, c->device_num_rows};
}

gp_status pack(gp_context *ctx, const gpi_csr_coo *c, uint64_t *keys, const uint64_t *unsorted)
{
    Shape shape = shape_of(c);
    if (unsorted)
        shape.device_n = unsorted;
    const uint32_t tiles = blocks_for<csr_tile>(c->nnz);
    launch_behind(ctx, csr_pack_k<I>,
                  unsorted ? behind_blocks(ctx, tiles) : csr_blocks(ctx, shape.device_n, tiles),
                  csr_tuning.threads, 0, (const I *)c->rows, (const I *)c->cols, shape,
                  (uint64_t)c->cells_part << c->cells_shift, keys,
                  gpi_reporter_of(ctx, c->names[0], c->index_dtype),
                  gpi_reporter_of(ctx, c->names[1], c->index_dtype));
    return gpi_cuda_launched(ctx, c->function);
}

gp_status join(gp_context *ctx, const gpi_csr_coo *c, uint32_t *keys, void *pairs)
{
    csr_join_k<I><<<entry_blocks_of(ctx, c), csr_tuning.threads, 0, ctx->stream>>>(
        (const I *)c->rows, (const I *)c->cols, c->values, shape_of(c), (uint32_t)c->value_bytes,
        keys, pairs, gpi_reporter_of(ctx, c->names[0], c->index_dtype),
        gpi_reporter_of(ctx, c->names[1], c->index_dtype));
    return gpi_cuda_launched(ctx, c->function);
}

gp_status part(gp_context *ctx, const gpi_csr_coo *c, const void *pairs)
{
    const uint32_t tiles = blocks_for<csr_tile>(c->nnz);
    launch_behind(ctx, csr_part_k<I>, c->device_nnz ? behind_blocks(ctx, tiles) : tiles,
                  csr_tuning.threads, 0, pairs, shape_of(c), (uint32_t)c->value_bytes,
                  (I *)c->out_cols, c->out_values);
    return gpi_cuda_launched(ctx, c->function);
}

template <class Source, class WriteIndex>
gp_status write_from(gp_context *ctx, const Source &in, const WriteArgs<WriteIndex, O> &args,
                     const char *f)
{
    constexpr uint64_t block = csr_tuning.pointer_block;
    const uint64_t tiles = args.shape.n / write_tile<I> + 1;
    const uint32_t blocks = (uint32_t)gpi_min(tiles, (uint64_t)ctx->sm_count * write_blocks<I>);
    const uint32_t fill_blocks =
        csr_blocks(ctx, args.shape.device_num_rows, blocks_for<block>(args.shape.num_rows + 1));
    if (!Source::given || args.merged || args.sorted_cols)
        launch_behind(ctx, csr_write_k<Source, WriteIndex, O>, blocks, csr_tuning.threads, 0, in,
                      args);
    if (args.out_pointers && args.shape.num_rows >= block)
        launch_behind(ctx, csr_fill_k<Source, WriteIndex, O>, fill_blocks, csr_tuning.threads, 0,
                      in, args);
    return gpi_cuda_launched(ctx, f);
}

/* Keys of more than 64 bits are of indices of 8 bytes. */
template <class Index>
gp_status write_wide(gp_context *ctx, const gpi_csr_sorted *s, const WriteArgs<Index, O> &args)
{
    if constexpr (sizeof(Index) == 8)
        return write_from(ctx, WideEntries<Index>{{s->rows, s->cols}}, args, s->c->function);
    return GP_ERROR_INTERNAL;
}

/* Entries of which csr_ordered_k has found that their rows alone are in order: row pointers, and
 * with these the columns of each row sorted. */
gp_status sort_given(gp_context *ctx, const gpi_csr_sorted *s)
{
    gpi_csr_coo c = *s->c;
    const gpi_csr_by_row by = {NULL,           c.row_pointers, s->by_row_cols, s->by_row_values,
                               s->by_row_left, NULL,           NULL,           s->unsorted};
    c.device_nnz = s->unsorted + 2;
    c.device_num_rows = s->unsorted + 3;
    gpi_csr_rows rows = {};
    rows.rows = c.rows;
    rows.nnz = c.nnz;
    rows.num_rows = c.num_rows;
    rows.device_nnz = c.device_nnz;
    rows.device_num_rows = c.device_num_rows;
    rows.reported = true;
    rows.row_pointers = c.row_pointers;
    rows.unsorted = s->unsorted;
    GPI_TRY(row_pointers(ctx, &rows));
    return gpi_csr_by_row_find(ctx, sizeof(I))->sort(ctx, &c, &by);
}

uint64_t may_stay;

/* In the hope that entries are in order and need not be merged. */
gp_status stay(gp_context *ctx, const gpi_csr_coo *c, const GivenEntries<I> &in,
               const WriteArgs<I, O> &args)
{
    const auto kernel = csr_ordered_k<I, O>;
    constexpr int most = ordered_stages * (int)ordered_stage<I>(8);
    static_assert(most <= gpu.block_shared_bytes, "values of 8 bytes fit, too");
    const int bytes = ordered_stages * (int)ordered_stage<I>(args.value_bytes);
    const uint64_t tiles = c->nnz / ordered_tile<I> + 1;
    const int fit = gpu.block_shared_bytes / (bytes + 2048); /* on a multiprocessor, with its own */
    const uint64_t at_once = (uint64_t)ctx->sm_count * (uint64_t)(fit > 1 ? fit : 1);
    GPI_TRY(shared_memory_allow(ctx, c->function, kernel, most, &may_stay));
    kernel<<<(uint32_t)gpi_min(tiles, at_once), ordered_threads, bytes, ctx->stream>>>(in, args);
    return gpi_cuda_launched(ctx, c->function);
}

gp_status write(gp_context *ctx, const gpi_csr_sorted *s, bool given)
{
    const gpi_csr_coo *c = s->c;
    WriteArgs<I, O> args = {shape_of(c),
                            s->heads,
                            (I *)c->out_cols,
                            (O *)c->row_pointers,
                            c->out_nnz,
                            s->unsorted,
                            (const I *)s->by_row_cols,
                            gpi_csr_by_row_find(ctx, sizeof(I))->longest,
                            (const char *)c->values,
                            (char *)c->out_values,
                            (uint32_t)c->value_bytes,
                            s->heads.bits != nullptr,
                            c->duplicates == GP_DUPLICATES_ERROR,
                            {},
                            gpi_reporter_of(ctx, nullptr, (gp_dtype)0)};
    GPI_TRY(gpi_state_get(ctx, c->function, c->nnz / write_tile<I> + 1, &args.state));
    if (given) {
        const GivenEntries<I> in = {(const I *)c->rows, (const I *)c->cols};
        GPI_TRY(stay(ctx, c, in, args));
        if (s->by_row_cols)
            GPI_TRY(sort_given(ctx, s));
        return write_from(ctx, in, args, c->function);
    }
    if (s->unsorted)
        args.shape.device_n = s->unsorted;
    if (s->keys) {
        const uint32_t part = c->cells_part, inverse = part > 1 ? UINT32_MAX / part : 0;
        return write_from(ctx, PackedEntries<I>{s->keys, c->cells_shift, part, inverse}, args,
                          c->function);
    }
    return write_wide<I>(ctx, s, args);
}

gp_status read_word(gp_context *ctx, const char *f, const uint64_t *word, uint64_t *value)
{
    GPI_TRY(gpi_cuda_copy(ctx, word, sizeof *word, value));
    cudaError_t e = cudaStreamSynchronize(ctx->stream);
    if (e == cudaSuccess)
        return GP_OK;
    cudaGetLastError();
    ctx->broken = true;
    return gpi_fail(ctx, GP_ERROR_CUDA, "%s: CUDA says %s", f, cudaGetErrorString(e));
}

gp_status merge(gp_context *ctx, const gpi_csr_sorted *s)
{
    const bool folds = s->c->duplicates <= GP_DUPLICATES_MAX;
    return folds && gpi_dtype_is_float(s->c->value_dtype)
               ? GPI_LAUNCHER(gpi_csr_merge_reals)(ctx, s)
               : GPI_LAUNCHER(gpi_csr_merge_integers)(ctx, s);
}

} // namespace
} // namespace GPI_SPACE

#define OPS GPI_LAUNCHER(GPI_PASTE(gpi_csr_ops_, GPI_UNIT))

extern "C" {
extern const gpi_csr_ops OPS;

static const gpi_csr_kernels kernels = {
    GPI_SPACE::join,  GPI_SPACE::part,      GPI_SPACE::pack,       GPI_SPACE::write,
    GPI_SPACE::merge, GPI_SPACE::read_word, GPI_SPACE::check_range};
const gpi_csr_ops OPS = {GPI_SPACE::row_pointers,
                         GPI_SPACE::count_rows,
                         GPI_SPACE::check,
                         GPI_SPACE::check_list,
                         GPI_SPACE::mark,
                         &kernels,
                         nullptr};
}
