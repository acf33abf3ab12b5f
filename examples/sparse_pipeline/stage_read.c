/* SPDX-License-Identifier: MIT */
/* A Matrix Market file, and its way to where the context computes. */
#include "input.h"
#include "mmio.h"
#include "stages.h"
#include "text.h"
#include "upload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Limits without --max-memory. Files of short lines stay several times below that of their bytes,
 * so it is only met by row or column counts far beyond the entries. */
static const uint64_t stream_limit = UINT64_C(2) << 30; /* of text from a pipe or device */
static const uint64_t matrix_limit = UINT64_C(1) << 30; /* or, if it is more: */
static const uint64_t matrix_limit_per_byte = 512;      /* of the file */

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

static void upload(struct job *j, void *state)
{
    const struct coo *from = &j->input, *to = &j->entries;
    (void)state;
    upload_array(j, from->rows, from->nnz * 4, to->rows);
    upload_array(j, from->cols, from->nnz * 4, to->cols);
    upload_array(j, from->values, from->nnz * 8, to->values);
}

void stage_read(struct job *j)
{
    const struct options *o = &j->options;
    struct mm_file file = {0};
    struct report_stage line = {.name = "read"};
    char message[MM_MESSAGE_BYTES], name[MM_NAME_BYTES], what[512];
    struct coo *m = &j->input;
    report_begin(&j->report, line.name);
    const double begin = report_now();
    const bool good =
        mm_read_by((int)o->threads, o->file, (size_t)(o->max_memory ? o->max_memory : stream_limit),
                   m, &file, message, report_progress, &j->report);
    line.seconds = report_now() - begin;
    report_clear(&j->report);
    if (!good) {
        fprintf(stderr, "sparse_pipeline: %s\n", message);
        exit(EXIT_ERROR);
    }
    input_allow_file(o, text_name(o->file), m->num_rows, m->num_cols, (double)m->nnz, file.bytes);
    snprintf(what, sizeof what, "%s, %s", mm_printable(text_name(o->file), name), file.kind);
    input_title(j, what, m->num_rows, m->num_cols, m->nnz);
    job_line(j, &line, true, "%.0f MB/s", (double)file.bytes / line.seconds * 1e-6);

    j->entries = (struct coo){m->num_rows, m->num_cols, m->nnz, NULL, NULL, NULL};
    j->entries.rows = job_array(j, m->nnz, 4);
    j->entries.cols = job_array(j, m->nnz, 4);
    j->entries.values = job_array(j, m->nnz, 8);
    line = (struct report_stage){.name = "upload"};
    line.seconds = job_time(j, line.name, upload, NULL);
    job_line(j, &line, true, "%.1f GB/s", 16.0 * (double)m->nnz / line.seconds * 1e-9);
}
