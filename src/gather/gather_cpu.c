/* SPDX-License-Identifier: MIT */
/* Moves by index on the CPU. */
#include "gather/gather_internal.h"

#include <string.h>

#include "core/ahead.h"
#include "core/threads.h"
#include "core/words.h"

/* Less work, in nanoseconds, is not worth a part. */
enum { PART_NS = 16384 };

struct move {
    struct gpi_gather_args a;
    size_t parts;
};

ALWAYS_INLINE void move_items(const struct gpi_gather_args *a, size_t begin, size_t end,
                              size_t index_bytes, bool scatter, size_t bytes, size_t piece,
                              size_t in_stride, size_t out_stride)
{
    const void *indices = a->indices; /* here, as out might be a */
    const char *in = a->in;
    char *restrict out = a->out;
    for (size_t i = begin; i < end; i++) {
        const size_t at = index_bytes ? gpi_word_at(indices, index_bytes, i) : i;
        if (piece == 0 && i + 1 < end) {
            const size_t next = index_bytes ? gpi_word_at(indices, index_bytes, i + 1) : i + 1;
            gpi_ahead_of_item(in + (scatter ? i + 1 : next) * in_stride,
                              out + (scatter ? next : i + 1) * out_stride, bytes);
        }
        gpi_item_move(out + (scatter ? at : i) * out_stride, in + (scatter ? i : at) * in_stride,
                      bytes, piece);
    }
}

/* Places of packed items of a constant size take no multiplication. */
ALWAYS_INLINE void move_pieces(const struct gpi_gather_args *a, size_t begin, size_t end,
                               size_t index_bytes, bool scatter, size_t piece)
{
    if (a->in_stride == piece && a->out_stride == piece)
        move_items(a, begin, end, index_bytes, scatter, piece, piece, piece, piece);
    else
        move_items(a, begin, end, index_bytes, scatter, a->item_bytes, piece, a->in_stride,
                   a->out_stride);
}

static void move_range(const struct gpi_gather_args *a, size_t begin, size_t end)
{
    const size_t piece_bytes = gpi_item_piece(a->item_bytes);
    if (a->index_bytes == 0)
        WITH_PIECE(piece, piece_bytes, move_pieces(a, begin, end, 0, false, piece));
    else if (a->scatter)
        WITH_INDEX_BYTES(
            width, a->index_bytes,
            WITH_PIECE(piece, piece_bytes, move_pieces(a, begin, end, width, true, piece)));
    else
        WITH_INDEX_BYTES(
            width, a->index_bytes,
            WITH_PIECE(piece, piece_bytes, move_pieces(a, begin, end, width, false, piece)));
}

static void move_part(void *arg, size_t part)
{
    const struct move *m = arg;
    const struct gpi_gather_args *a = &m->a;
    move_range(a, gpi_part_begin(a->n, m->parts, part), gpi_part_begin(a->n, m->parts, part + 1));
}

void gpi_gather_cpu(int threads, const struct gpi_gather_args *args)
{
    struct move m = {.a = *args};
    struct gpi_gather_args *a = &m.a;
    if (a->device_n && *a->device_n < a->n)
        a->n = *a->device_n;
    if (a->index_bytes == 0) /* both are the same then */
        a->scatter = false;
    const uint64_t work_ns = a->n + a->n * a->item_bytes / 16;
    threads = gpi_threads_for(threads, work_ns);
    m.parts = gpi_min(gpi_min(work_ns / PART_NS, a->n), (uint64_t)threads * 4);
    if (m.parts == 0)
        m.parts = 1;
    gpi_parallel_for(threads, m.parts, move_part, &m);
}
