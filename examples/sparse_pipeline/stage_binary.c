/* SPDX-License-Identifier: MIT */
/*
 * The binary form of a matrix: a header, row pointers, columns and values, each from a multiple of
 * 8 bytes on, in this machine's order of bytes. It is written under another name and then renamed,
 * so that a file is whole or not there.
 */
#include "input.h"
#include "mmio.h"
#include "stages.h"
#include "upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORM = 1, ORDER = 0x01020304, PARTS = 3 };

struct header {
    char magic[8]; /* "gp csr\r\n": a transfer as text changes it */
    uint32_t form, order;
    uint64_t rows, cols, entries;
    uint64_t check; /* of all above */
};

struct part {
    size_t bytes;
    off_t begin; /* in the file */
    void *memory;
};

static const char magic[8] = {'g', 'p', ' ', 'c', 's', 'r', '\r', '\n'};

static uint64_t check_of(const struct header *h)
{
    uint64_t check = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < offsetof(struct header, check); i++)
        check = (check ^ ((const unsigned char *)h)[i]) * UINT64_C(1099511628211);
    return check;
}

/* Fill in the places of the parts; returns the bytes of the file. */
static uint64_t layout(const struct header *h, const struct csr *a, struct part parts[PARTS])
{
    const uint64_t bytes[PARTS] = {(h->rows + 1) * 4, h->entries * 4, h->entries * 8};
    void *const memory[PARTS] = {a->row_pointers, a->cols, a->values};
    uint64_t end = sizeof *h;
    for (int i = 0; i < PARTS; i++) {
        end = (end + 7) / 8 * 8;
        parts[i] = (struct part){bytes[i], (off_t)end, memory[i]};
        end += bytes[i];
    }
    return end;
}

static void refuse(const char *path, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

static void refuse(const char *path, const char *format, ...)
{
    char name[MM_NAME_BYTES];
    va_list list;
    fprintf(stderr, "sparse_pipeline: %s: ", mm_printable(path, name));
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n");
    exit(EXIT_ERROR);
}

/* ---- load ------------------------------------------------------------------------------------ */

static bool read_at(int file, void *to, size_t bytes, off_t offset)
{
    ssize_t n;
    errno = 0;
    for (size_t got = 0; got < bytes; got += (size_t)n) {
        do
            n = pread(file, (char *)to + got, bytes - got, offset + (off_t)got);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
            return false;
    }
    return true;
}

struct reading {
    int file;
    off_t begin;
};

static bool read_piece(void *arg, size_t offset, size_t bytes, char *to)
{
    const struct reading *r = arg;
    return read_at(r->file, to, bytes, r->begin + (off_t)offset);
}

static void check_header(const char *path, const struct header *h, const struct stat *info)
{
    struct part parts[PARTS];
    const struct csr none = {0};
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        refuse(path, "not a matrix that --save has written");
    if (h->order != ORDER)
        refuse(path, "written by a machine with another order of bytes");
    if (h->form != FORM)
        refuse(path, "of form %u, expected %d", h->form, FORM);
    if (h->check != check_of(h))
        refuse(path, "the header is damaged");
    if (h->rows >= UINT32_MAX || h->cols >= UINT32_MAX || h->entries > UINT32_MAX)
        refuse(path, "%llu x %llu with %llu entries, expected less than 2^32 of each",
               (unsigned long long)h->rows, (unsigned long long)h->cols,
               (unsigned long long)h->entries);
    if ((uint64_t)info->st_size != layout(h, &none, parts))
        refuse(path, "%llu bytes, expected %llu by the header", (unsigned long long)info->st_size,
               (unsigned long long)layout(h, &none, parts));
}

static int open_matrix(const char *path, struct header *h)
{
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0)
        refuse(path, "%s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        refuse(path, "not a regular file");
    memset(h, 0, sizeof *h);
    if (!read_at(file, h, sizeof *h, 0))
        refuse(path, "%s", errno ? strerror(errno) : "not a matrix that --save has written");
    check_header(path, h, &info);
    return file;
}

static struct csr csr_of(const struct header *h)
{
    return (struct csr){(uint32_t)h->rows, (uint32_t)h->cols, (size_t)h->entries, NULL, NULL, NULL};
}

/* Each part goes from the file to the context's memory, and for the oracle to the host, too. */
static void load(struct job *j, int file, const struct header *h)
{
    struct part device[PARTS], host[PARTS];
    const bool oracle = j->options.oracle;
    const size_t pointers = (size_t)h->rows + 1, entries = (size_t)h->entries;
    j->a = csr_of(h);
    j->a.row_pointers = job_array(j, pointers, 4);
    j->a.cols = job_array(j, entries, 4);
    j->a.values = job_array(j, entries, 8);
    if (oracle) {
        j->host = csr_of(h);
        j->host.row_pointers = job_host_array(j, pointers, 4);
        j->host.cols = job_host_array(j, entries, 4);
        j->host.values = job_host_array(j, entries, 8);
    }
    layout(h, &j->a, device);
    layout(h, &j->host, host);
    for (int i = 0; i < PARTS; i++) {
        struct reading r = {file, device[i].begin};
        if (!upload_by(j, read_piece, &r, device[i].bytes, device[i].memory) ||
            (oracle && !read_at(file, host[i].memory, host[i].bytes, host[i].begin)))
            refuse(j->options.load, "%s", errno ? strerror(errno) : "the file became shorter");
    }
    job_need(j, gp_context_synchronize(j->ctx));
}

void stage_load(struct job *j)
{
    const struct options *o = &j->options;
    struct report_stage line = {.name = "load"};
    struct header h;
    char name[MM_NAME_BYTES], what[512];
    const double begin = report_now();
    const int file = open_matrix(o->load, &h);
    struct part parts[PARTS];
    const double bytes = (double)layout(&h, &j->a, parts);
    input_allow_file(o, o->load, (double)h.rows, (double)h.cols, (double)h.entries, (size_t)bytes);
    load(j, file, &h);
    close(file);
    const gp_status status = gp_check_csr(j->ctx, GP_U32, GP_U32, j->a.num_rows, j->a.num_cols,
                                          j->a.nnz, j->a.row_pointers, j->a.cols);
    if (status == GP_ERROR_DATA)
        refuse(o->load, "%s", gp_last_error(j->ctx));
    job_need(j, status);
    line.seconds = report_now() - begin;
    snprintf(what, sizeof what, "%s", mm_printable(o->load, name));
    input_title(j, what, j->a.num_rows, j->a.num_cols, j->a.nnz);
    job_line(j, &line, true, "%.1f GB/s", bytes / line.seconds * 1e-9);
}

/* ---- save ------------------------------------------------------------------------------------ */

static bool write_all(int file, const void *from, size_t bytes, off_t offset)
{
    ssize_t n;
    for (size_t put = 0; put < bytes; put += (size_t)n) {
        do
            n = pwrite(file, (const char *)from + put, bytes - put, offset + (off_t)put);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
            return false;
    }
    return true;
}

static bool write_parts(struct job *j, int file, const struct header *h)
{
    struct part parts[PARTS];
    bool good =
        write_all(file, h, sizeof *h, 0) && ftruncate(file, (off_t)layout(h, &j->a, parts)) == 0;
    for (int i = 0; i < PARTS && good; i++) {
        void *host = job_host_array(j, parts[i].bytes, 1);
        job_fetch(j, parts[i].memory, parts[i].bytes, host);
        good = write_all(file, host, parts[i].bytes, parts[i].begin);
        free(host);
    }
    return good;
}

void stage_save(struct job *j)
{
    const char *path = j->options.save;
    struct report_stage line = {.name = "save"};
    struct header h = {.form = FORM,
                       .order = ORDER,
                       .rows = j->a.num_rows,
                       .cols = j->a.num_cols,
                       .entries = j->a.nnz};
    struct part parts[PARTS];
    const double bytes = (double)layout(&h, &j->a, parts), begin = report_now();
    char *beside = job_host_array(j, strlen(path) + 8, 1);
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        refuse(path, "not a regular file");
    memcpy(h.magic, magic, sizeof magic);
    h.check = check_of(&h);
    sprintf(beside, "%s.XXXXXX", path);
    const int file = mkstemp(beside);
    if (file < 0)
        refuse(path, "%s", strerror(errno));
    const bool good = write_parts(j, file, &h) && fchmod(file, 0644) == 0;
    if (close(file) != 0 || !good || rename(beside, path) != 0) {
        const char *why = strerror(errno);
        unlink(beside);
        refuse(path, "%s", why);
    }
    free(beside);
    line.seconds = report_now() - begin;
    job_line(j, &line, true, "%.1f GB/s", bytes / line.seconds * 1e-9);
}
