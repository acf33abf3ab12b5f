/* SPDX-License-Identifier: MIT */
/*
 * Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NIST 1996).
 *
 * Read: coordinate and array; real, integer and pattern (value 1); general, symmetric and
 * skew-symmetric. A symmetric matrix comes out whole: each entry off the diagonal gives its mirror
 * image as well. Of an array (dense) matrix the non-zeros are taken. Complex and hermitian matrices
 * are refused. Comments and blank lines may stand anywhere after the first line.
 */
#ifndef EXAMPLE_MMIO_H
#define EXAMPLE_MMIO_H

#include "coo.h"

enum { MM_MESSAGE_BYTES = 512, MM_NAME_BYTES = 300 };

struct mm_file {
    size_t bytes;     /* of the text */
    char kind[64];    /* such as "coordinate real symmetric" */
    size_t announced; /* entries by the size line; m->nnz counts mirror images too */
};

/*
 * False: message holds "file:line: reason", and m holds nothing. "-" is the standard input. What
 * gzip has compressed is decompressed on the way. Of that, of a pipe and of a device at most
 * stream_bytes of text are read; a regular file is read whole.
 */
bool mm_read(const char *path, size_t stream_bytes, struct coo *m, struct mm_file *file,
             char message[MM_MESSAGE_BYTES], coo_progress *progress, void *arg);

/* The same with at most that many threads; 0: as many as there are processors. */
bool mm_read_by(int threads, const char *path, size_t stream_bytes, struct coo *m,
                struct mm_file *file, char message[MM_MESSAGE_BYTES], coo_progress *progress,
                void *arg);

/* A file name as a terminal may show it: control characters become '?', and it may be cut. */
const char *mm_printable(const char *text, char shown[MM_NAME_BYTES]);

#endif
