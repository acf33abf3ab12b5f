/* SPDX-License-Identifier: MIT */
/* gp_gather() on the CPU. */
#include "gather/gather_internal.h"

#include <string.h>

#include "core/threads.h"
#include "core/words.h"

/* Fewer items are not worth a second thread. */
enum { PART_MIN = 16384 };

struct gather {
    size_t item_bytes, index_bytes, n, parts;
    const char *in;
    const void *indices;
    char *out;
};

ALWAYS_INLINE void gather_items(const struct gather *g, size_t begin, size_t end,
                                size_t index_bytes, size_t bytes, size_t piece)
{
    const void *indices = g->indices; /* here, as out might be g */
    const char *in = g->in;
    char *restrict out = g->out;
    for (size_t i = begin; i < end; i++)
        gpi_item_move(out + i * bytes, in + gpi_word_at(indices, index_bytes, i) * bytes, bytes,
                      piece);
}

/* Places of items of a constant size take no multiplication. */
ALWAYS_INLINE void gather_range(const struct gather *g, size_t begin, size_t end,
                                size_t index_bytes, size_t piece)
{
    if (g->item_bytes == piece)
        gather_items(g, begin, end, index_bytes, piece, piece);
    else
        gather_items(g, begin, end, index_bytes, g->item_bytes, piece);
}

static void gather_part(void *arg, size_t part)
{
    const struct gather *g = arg;
    size_t begin = gpi_part_begin(g->n, g->parts, part);
    size_t end = gpi_part_begin(g->n, g->parts, part + 1);
    WITH_INDEX_BYTES(width, g->index_bytes,
                     WITH_PIECE(piece, gpi_item_piece(g->item_bytes),
                                gather_range(g, begin, end, width, piece)));
}

void gpi_gather_cpu(int threads, size_t item_bytes, const void *in, size_t index_bytes,
                    const void *indices, size_t n, void *out)
{
    struct gather g = {item_bytes, index_bytes, n, 1, in, indices, out};
    size_t parts = n / PART_MIN;
    threads = gpi_threads_for(threads, n + n * item_bytes / 16);
    g.parts = parts > (size_t)threads * 4 ? (size_t)threads * 4 : parts ? parts : 1;
    gpi_parallel_for(threads, g.parts, gather_part, &g);
}
