/* SPDX-License-Identifier: MIT */
/* All of a file, of a pipe or of the standard input in memory, decompressed if gzip wrote it. */
#ifndef EXAMPLE_TEXT_H
#define EXAMPLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_REASON_BYTES = 160 };

enum text_result { TEXT_GOOD, TEXT_OTHER, TEXT_FAILED };

struct text {
    char *data; /* bytes of them and a NUL; the caller's to free */
    size_t bytes;
};

/*
 * Read path; "-" is the standard input. begins() sees the first piece, at most 64 KiB, before the
 * rest is read; false gives TEXT_OTHER. Of a pipe, of a device and of compressed text at most
 * stream_bytes are read: more is TEXT_FAILED, as an error is, and reason holds why. A regular file
 * is read whole, by at most that many threads; 0: as many as there are processors.
 */
enum text_result text_read(int threads, const char *path, size_t stream_bytes,
                           bool (*begins)(const char *text, size_t bytes), struct text *t,
                           char reason[TEXT_REASON_BYTES]);

/* What messages call path. */
const char *text_name(const char *path);

#endif
