/* SPDX-License-Identifier: MIT */
/* Where the outputs of a chunk go: straight to the array, or by a buffer that is stored. A part of
 * scan_cpu_tmpl.c, whose job it takes. */
#ifndef GPI_SCAN_CPU_OUTPUTS_INTERNAL_H
#define GPI_SCAN_CPU_OUTPUTS_INTERNAL_H

#include "core/past_cache.h"
#include "scan/scan_cpu_forms_internal.h"

static inline void chunk_store(const struct gpi_scan_stored *stored, const acc_t *from, size_t n,
                               bool stream, char *out)
{
    _Alignas(LINE) acc_t room[CHUNK];
    const void *items = from;
    if (stored->store) {
        stored->store(from, n, stream ? (void *)room : out);
        items = room;
    }
    if (stream || !stored->store)
        bytes_store(items, n * stored->out_bytes, stream, out);
}

/* Where a chunk of n items that takes want is scanned to: its outputs, if the loops can put them
 * there, or a buffer, from which they are stored. Exclusive outputs lie one item further on; behind
 * the last chunk of a block that is another block's, or none. */
static inline char *chunk_room(const struct job *job, enum gpi_scan_form form, uint64_t first,
                               size_t n, size_t want, bool last, char *buffer)
{
    const size_t bytes = job->stored->out_bytes;
    char *out = job->out + (job->backward ? job->n - first - n : first) * bytes;
    if ((job->stored->store && !form) || job->stream || n != want)
        return buffer;
    if (job->inclusive)
        return out;
    if (last || job->in == job->out)
        return buffer;
    return job->backward ? out - bytes : out + bytes;
}

/* The outputs of items first on, scanned to the buffer in a form. */
static inline void outputs_store(const struct job *job, enum gpi_scan_form form,
                                 const char *scanned, uint64_t first, size_t n, size_t want)
{
    const struct gpi_scan_stored *stored = job->stored;
    const size_t shift = form_bytes(form, !job->inclusive);
    const char *from =
        job->backward ? scanned + form_bytes(form, want - n) + shift : scanned - shift;
    char *out = job->out + (job->backward ? job->n - first - n : first) * stored->out_bytes;
    if (form)
        bytes_store(from, n * stored->out_bytes, job->stream, out);
    else
        chunk_store(stored, (const acc_t *)(const void *)from, n, job->stream, out);
}

/* What an exclusive chunk begins with, in front of the n outputs or behind them. */
static inline void before_store(const struct job *job, enum gpi_scan_form form, acc_t before,
                                char *to, size_t n)
{
    char *out = job->backward ? to + form_bytes(form, n) : to - form_bytes(form, 1);
    if (form)
        job->stored->store(&before, 1, out);
    else
        memcpy(out, &before, sizeof before);
}

#endif
