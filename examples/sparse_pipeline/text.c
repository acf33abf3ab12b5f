/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if EXAMPLE_HAVE_ZLIB
#include <zlib.h>
#endif

enum { FIRST_PIECE = 1 << 16, READ_MAX = 1 << 30, SHARE = 4 << 20 };

struct source {
    int file, threads;
    off_t begin; /* where in the file the text begins; -1: it cannot be read at any place */
#if EXAMPLE_HAVE_ZLIB
    gzFile zip; /* passes what is not compressed through */
#endif
    size_t limit; /* bytes of text */
    char *reason;
};

static bool fail(struct source *s, const char *what)
{
    snprintf(s->reason, TEXT_REASON_BYTES, "%s", what);
    return false;
}

const char *text_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

#if EXAMPLE_HAVE_ZLIB

static bool start(struct source *s)
{
    s->zip = gzdopen(s->file, "rb");
    return s->zip || fail(s, "out of memory for the file");
}

/* Whether it came as it is. */
static bool direct(struct source *s)
{
    return gzdirect(s->zip) == 1;
}

/* Up to bytes of text; *got is 0 at the end. */
static bool piece(struct source *s, char *to, size_t bytes, size_t *got)
{
    int error;
    const int n = gzread(s->zip, to, (unsigned)(bytes < READ_MAX ? bytes : READ_MAX));
    *got = n > 0 ? (size_t)n : 0;
    const char *why = gzerror(s->zip, &error);
    if (error == Z_BUF_ERROR)
        return fail(s, "the compressed data ends too early");
    if (error == Z_ERRNO)
        return fail(s, strerror(errno));
    if (n < 0 || error < 0) /* zlib's text begins with the file, as it knows it */
        return fail(s, strstr(why, ": ") ? strstr(why, ": ") + 2 : "the compressed data is broken");
    return true;
}

static void stop(struct source *s)
{
    gzclose(s->zip);
}

#else

static bool start(struct source *s)
{
    (void)s;
    return true;
}

static bool direct(struct source *s)
{
    (void)s;
    return true;
}

/* Up to bytes of text; *got is 0 at the end. */
static bool piece(struct source *s, char *to, size_t bytes, size_t *got)
{
    ssize_t n;
    do
        n = read(s->file, to, bytes < READ_MAX ? bytes : READ_MAX);
    while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    return n >= 0 || fail(s, strerror(errno));
}

static void stop(struct source *s)
{
    close(s->file);
}

#endif

/* ---- the whole ------------------------------------------------------------------------------- */

/* Room for twice as much, but for no more than the limit and a byte that is too many. */
static bool grow(struct source *s, struct text *t, size_t *room)
{
    const size_t more = *room < s->limit / 2 ? 2 * *room : s->limit + 1;
    char *larger = realloc(t->data, more + 1);
    if (!larger)
        return fail(s, "out of memory for the file");
    t->data = larger;
    *room = more;
    return true;
}

/* Fill the first piece, as far as the text goes; pipes give less at a time. */
static bool read_first(struct source *s, struct text *t)
{
    t->data = malloc(FIRST_PIECE + 1);
    if (!t->data)
        return fail(s, "out of memory for the file");
    for (size_t got = 1; got && t->bytes < FIRST_PIECE; t->bytes += got)
        if (!piece(s, t->data + t->bytes, FIRST_PIECE - t->bytes, &got))
            return false;
    return true;
}

static bool read_rest(struct source *s, struct text *t)
{
    size_t room = FIRST_PIECE, got = t->bytes;
    for (; got; t->bytes += got) {
        if (t->bytes == room && !grow(s, t, &room))
            return false;
        if (!piece(s, t->data + t->bytes, room - t->bytes, &got))
            return false;
        if (t->bytes + got > s->limit) {
            snprintf(s->reason, TEXT_REASON_BYTES,
                     "more than the %zu bytes that are taken from a stream", s->limit);
            return false;
        }
    }
    return true;
}

/* ---- a regular file, by several threads ------------------------------------------------------ */

struct shares {
    int file;
    off_t begin;
    char *data;
    size_t bytes;
    atomic_bool failed;
};

static void read_share(void *arg, size_t i)
{
    struct shares *s = arg;
    size_t at = i * SHARE;
    const size_t end = s->bytes - at < SHARE ? s->bytes : at + SHARE;
    while (at < end) {
        const ssize_t n = pread(s->file, s->data + at, end - at, s->begin + (off_t)at);
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    if (at < end)
        atomic_store(&s->failed, true);
}

/* The text behind the first piece, of a size that is known. */
static bool read_at_once(struct source *s, struct text *t, size_t bytes)
{
    char *larger = realloc(t->data, bytes + 1);
    if (!larger)
        return fail(s, "out of memory for the file");
    t->data = larger;
    struct shares rest = {.file = s->file,
                          .begin = s->begin + FIRST_PIECE,
                          .data = t->data + FIRST_PIECE,
                          .bytes = bytes - FIRST_PIECE};
    parallel(s->threads, (rest.bytes + SHARE - 1) / SHARE, read_share, &rest);
    t->bytes = bytes;
    return !atomic_load(&rest.failed) || fail(s, "the file became shorter, or cannot be read");
}

/* A file's own size, if it has one: those of /proc, pipes, devices and compressed ones do not. */
static bool known_size(struct source *s, size_t *bytes)
{
    struct stat info;
    if (!direct(s) || s->begin < 0 || fstat(s->file, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size - s->begin <= FIRST_PIECE)
        return false;
    *bytes = (size_t)(info.st_size - s->begin);
    return true;
}

static bool is_compressed(const struct text *t)
{
    return t->bytes > 1 && (unsigned char)t->data[0] == 0x1f && (unsigned char)t->data[1] == 0x8b;
}

static enum text_result read_text(struct source *s, size_t stream_bytes,
                                  bool (*begins)(const char *text, size_t bytes), struct text *t)
{
    size_t bytes;
    if (!read_first(s, t))
        return TEXT_FAILED;
    if (!EXAMPLE_HAVE_ZLIB && is_compressed(t)) {
        fail(s, "compressed by gzip, which this build cannot read (it has no zlib)");
        return TEXT_FAILED;
    }
    if (!begins(t->data, t->bytes))
        return TEXT_OTHER;
    s->limit = stream_bytes;
    const bool known = t->bytes == FIRST_PIECE && known_size(s, &bytes);
    if (!(known ? read_at_once(s, t, bytes) : read_rest(s, t)))
        return TEXT_FAILED;
    t->data[t->bytes] = 0;
    return TEXT_GOOD;
}

enum text_result text_read(int threads, const char *path, size_t stream_bytes,
                           bool (*begins)(const char *text, size_t bytes), struct text *t,
                           char reason[TEXT_REASON_BYTES])
{
    struct source s = {.threads = threads, .reason = reason};
    *t = (struct text){0};
    s.file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    s.begin = s.file < 0 ? -1 : lseek(s.file, 0, SEEK_CUR);
    if (s.file < 0 || !start(&s)) {
        if (s.file < 0)
            fail(&s, strerror(errno));
        else
            close(s.file);
        return TEXT_FAILED;
    }
    const enum text_result result = read_text(&s, stream_bytes, begins, t);
    stop(&s);
    if (result != TEXT_GOOD) {
        free(t->data);
        t->data = NULL;
    }
    return result;
}
