/* SPDX-License-Identifier: MIT */
/* A Matrix Market file, and its way to where the context computes. */
#include "input.h"
#include "mmio.h"
#include "stages.h"
#include "text.h"
#include "upload.h"

#include <stdio.h>
#include <stdlib.h>

/* Of text from a pipe or device, without --max-memory. */
static const uint64_t stream_limit = UINT64_C(2) << 30;

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
