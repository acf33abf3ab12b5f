/* SPDX-License-Identifier: MIT */
/* Compiled together with src/core/cub.c, which the library does not export. */
#include "cub_table.h"

#include "core/cub.h"
#include "core/variants.h"

/* Of enum gpi_scan_accumulator, and widths of keys. */
enum { ACCUMULATORS = 8, WIDTHS = 4 };

gp_status gpi_fail(gp_context *ctx, gp_status status, const char *format, ...)
{
    (void)ctx, (void)format;
    return status;
}

static bool is_complete(const struct gpi_cub *row, int sm)
{
    if (row->sm != sm || !row->compact || !row->histogram)
        return false;
    for (int i = 0; i < ACCUMULATORS; i++)
        if (!row->scan[i])
            return false;
    for (int i = 0; i < WIDTHS; i++)
        if (!row->sort[i])
            return false;
    return true;
}

struct cub_answer cub_answer(void)
{
    static const int compiled[] = {GPI_SMS(GPI_SM_NUMBER)};
    struct cub_answer answer = {NULL, NULL, false};
    const struct gpi_cub_table *table = gpi_cub_load(&answer.why);
    answer.table = table;
    answer.complete = table && table->count == GPI_SM_COUNT && cub_registered();
    for (int i = 0; answer.complete && i < GPI_SM_COUNT; i++)
        answer.complete = is_complete(&table->row[i], compiled[i]);
    return answer;
}
