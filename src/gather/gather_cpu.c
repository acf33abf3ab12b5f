/* SPDX-License-Identifier: MIT */
/* gp_gather() on the CPU. */
#include "gather/gather_internal.h"

#include <string.h>

#include "core/threads.h"

/* Fewer items are not worth a second thread. */
enum { PART_MIN = 16384 };

struct gather {
    size_t item_bytes, index_bytes, n, parts;
    const char *in;
    const void *indices;
    char *out;
};

/* Inlined with a constant item size where there is one, so that memcpy becomes a move. */
static inline void gather_range(const struct gather *g, size_t begin, size_t end, size_t item_bytes)
{
    const uint32_t *narrow = g->indices;
    const uint64_t *wide = g->indices;
    const char *in = g->in;
    char *restrict out = g->out;
    if (g->index_bytes == 4)
        for (size_t i = begin; i < end; i++)
            memcpy(out + i * item_bytes, in + narrow[i] * item_bytes, item_bytes);
    else
        for (size_t i = begin; i < end; i++)
            memcpy(out + i * item_bytes, in + (size_t)wide[i] * item_bytes, item_bytes);
}

static void gather_part(void *arg, size_t part)
{
    const struct gather *g = arg;
    size_t begin = gpi_part_begin(g->n, g->parts, part);
    size_t end = gpi_part_begin(g->n, g->parts, part + 1);
    switch (g->item_bytes) {
    case 1:
        gather_range(g, begin, end, 1);
        break;
    case 2:
        gather_range(g, begin, end, 2);
        break;
    case 4:
        gather_range(g, begin, end, 4);
        break;
    case 8:
        gather_range(g, begin, end, 8);
        break;
    case 16:
        gather_range(g, begin, end, 16);
        break;
    default:
        gather_range(g, begin, end, g->item_bytes);
    }
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
