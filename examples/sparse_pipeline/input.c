/* SPDX-License-Identifier: MIT */
#include "input.h"

#include "mmio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits without --max-memory, the larger one counts. Files of short lines stay several times below
 * that of their bytes, so it is only met by row or column counts far beyond the entries. */
static const uint64_t matrix_limit = UINT64_C(1) << 30;
static const uint64_t matrix_limit_per_byte = 512; /* of the file */

/* What all stages need of memory, of host and device together: arrays with an item per row, column
 * or entry. Row counts cost a file nothing. */
void input_allow(const char *what, double rows, double cols, double entries, double limit)
{
    const double needed = 48 * rows + (rows == cols ? 80 : 24) * cols + 170 * entries;
    if (needed <= limit)
        return;
    fprintf(stderr,
            "sparse_pipeline: %s: %.0f x %.0f with %.0f entries takes about %.1f GiB, more than "
            "%.1f GiB; --max-memory %.0fG allows it\n",
            what, rows, cols, entries, needed * 0x1p-30, limit * 0x1p-30, ceil(needed * 0x1p-30));
    exit(EXIT_ERROR);
}

void input_allow_file(const struct options *o, const char *name, double rows, double cols,
                      double entries, size_t file_bytes)
{
    char shown[MM_NAME_BYTES];
    const double by_file =
        fmax((double)matrix_limit_per_byte * (double)file_bytes, (double)matrix_limit);
    if (entries > UINT32_MAX) {
        fprintf(stderr, "sparse_pipeline: %.0f entries, expected at most %u\n", entries,
                UINT32_MAX);
        exit(EXIT_ERROR);
    }
    input_allow(mm_printable(name, shown), rows, cols, entries,
                o->max_memory ? (double)o->max_memory : by_file);
}

void input_title(struct job *j, const char *what, size_t rows, size_t cols, size_t entries)
{
    char context[256];
    report_clear(&j->report);
    gp_context_describe(j->ctx, context, sizeof context);
    char *rest = strstr(context, " ("); /* what follows is longer than the line */
    if (rest)
        *rest = 0;
    snprintf(j->title, sizeof j->title, "%s", what);
    printf("%s, %zu x %zu, %zu entries\n", what, rows, cols, entries);
    printf("%.56s; copies %.0f GB/s\n", context, 1e-9 * j->report.copy_rate);
    report_title();
}
