/* SPDX-License-Identifier: MIT */
/*
 * The Matrix Market reader of sparse_pipeline: the input is a file. What is read keeps the promises
 * of mmio.h, and is the same when it comes compressed.
 */
#define _GNU_SOURCE /* memfd_create */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "mmio.h"

#if FUZZ_HAVE_ZLIB
#include <zlib.h>
#endif

enum { STREAM_BYTES = 1 << 20, PACKED_MAX = 1 << 16 };

struct reading {
    bool good;
    struct coo m;
    struct mm_file file;
    char message[MM_MESSAGE_BYTES];
};

static struct reading read_bytes(const void *data, size_t bytes)
{
    struct reading r = {.message = ""};
    char path[32];
    const int file = memfd_create("matrix", 0);
    FUZZ_CHECK(file >= 0 && write(file, data, bytes) == (ssize_t)bytes, "no file in memory");
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    r.good = mm_read(path, STREAM_BYTES, &r.m, &r.file, r.message, NULL, NULL);
    close(file);
    return r;
}

static void check_matrix(const struct reading *r)
{
    const struct coo *m = &r->m;
    if (!r->good) {
        FUZZ_CHECK(r->message[0] && memchr(r->message, 0, MM_MESSAGE_BYTES), "no message");
        FUZZ_CHECK(!m->rows && !m->cols && !m->values, "entries of a matrix that was refused");
        return;
    }
    FUZZ_CHECK(r->message[0] == 0, "a message: %s", r->message);
    FUZZ_CHECK(m->nnz <= 2 * r->file.bytes, "%zu entries of %zu bytes", m->nnz, r->file.bytes);
    for (size_t i = 0; i < m->nnz; i++)
        FUZZ_CHECK(m->rows[i] < m->num_rows && m->cols[i] < m->num_cols && isfinite(m->values[i]),
                   "entry %zu is (%u, %u) %g", i, m->rows[i], m->cols[i], m->values[i]);
}

#if FUZZ_HAVE_ZLIB

static void check_same(const struct reading *a, const struct reading *b)
{
    FUZZ_CHECK(a->good == b->good, "\"%s\", compressed \"%s\"", a->message, b->message);
    if (!a->good)
        return;
    FUZZ_CHECK(a->m.nnz == b->m.nnz && strcmp(a->file.kind, b->file.kind) == 0, "another matrix");
    fuzz_same_bytes("rows", a->m.rows, b->m.rows, a->m.nnz * sizeof *a->m.rows);
    fuzz_same_bytes("columns", a->m.cols, b->m.cols, a->m.nnz * sizeof *a->m.cols);
    fuzz_same_bytes("values", a->m.values, b->m.values, a->m.nnz * sizeof *a->m.values);
}

static void compare_compressed(const uint8_t *data, size_t bytes, const struct reading *plain)
{
    static uint8_t packed[PACKED_MAX + 1024];
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)bytes,
                  .next_out = packed,
                  .avail_out = sizeof packed};
    FUZZ_CHECK(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
    const int end = deflate(&z, Z_FINISH);
    deflateEnd(&z);
    FUZZ_CHECK(end == Z_STREAM_END, "zlib: %d", end);
    struct reading r = read_bytes(packed, z.total_out);
    check_matrix(&r);
    check_same(plain, &r);
    coo_free(&r.m);
}

#else

static void compare_compressed(const uint8_t *data, size_t bytes, const struct reading *plain)
{
    (void)data, (void)bytes, (void)plain;
}

#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct reading r = read_bytes(data, bytes);
    check_matrix(&r);
    if (bytes < PACKED_MAX && !(bytes > 1 && data[0] == 0x1f && data[1] == 0x8b))
        compare_compressed(data, bytes, &r);
    coo_free(&r.m);
    return 0;
}
