/* SPDX-License-Identifier: MIT */
/* Compiled with the library's own header, which no test sees. */
#include "radixsort_layout.h"

#include "radixsort/radixsort_internal.h"
#include "tuning_rows.h"

#define DECLARE(sm) gpi_radix_layout_fn gpi_radix_layout_sm##sm;
TUNING_ARCHITECTURES(DECLARE)

#define LAYOUT(sm) gpi_radix_layout_sm##sm,
static gpi_radix_layout_fn *const layouts[] = {TUNING_ARCHITECTURES(LAYOUT)};

/* Of a sort whose buckets have numbers of as many bits as they may. */
static void set_least(const struct gpi_radix_layout *l, struct sort_piece *pieces)
{
    const size_t buckets = (size_t)1 << l->bits_max, word = sizeof(uint32_t);
    pieces[GPI_RADIX_PLAN].least = sizeof(struct gpi_radix_plan);
    pieces[GPI_RADIX_STARTS].least = GPI_RADIX_PASSES * GPI_RADIX_BINS * sizeof(uint64_t);
    pieces[GPI_RADIX_BUCKETS].least = (buckets + 1) * word;
    pieces[GPI_RADIX_RECOUNT].least = (buckets + 1) * word;
    pieces[GPI_RADIX_CURSORS].least = (buckets + GPI_RADIX_SEGMENTS) * word;
    pieces[GPI_RADIX_STATES].least = l->rows * GPI_RADIX_BINS * word;
    pieces[GPI_RADIX_STATES_ODD].least = pieces[GPI_RADIX_STATES].least;
    if (!l->levels_or_map)
        return;
    pieces[GPI_RADIX_SEGMENT_LIST].least = l->others_max * sizeof(struct gpi_radix_segment);
    pieces[GPI_RADIX_SEGMENT_LIST_ODD].least = pieces[GPI_RADIX_SEGMENT_LIST].least;
    pieces[GPI_RADIX_ENTRIES].least = l->entries * sizeof(struct gpi_radix_entry);
}

void sort_layout_of(int gpu, size_t key_bytes, size_t value_bytes, uint64_t n,
                    struct sort_layout *layout)
{
    struct gpi_radix_layout l;
    layouts[gpu](key_bytes, value_bytes, n, &l);
    *layout = (struct sort_layout){.num_pieces = GPI_RADIX_PIECES,
                                   .zeroed = l.zeroed,
                                   .bytes = l.bytes,
                                   .zeroed_end = l.pieces[GPI_RADIX_CURSORS].at};
    for (int i = 0; i < GPI_RADIX_PIECES; i++)
        layout->pieces[i] = (struct sort_piece){l.pieces[i].at, l.pieces[i].bytes, 0};
    set_least(&l, layout->pieces);
}
