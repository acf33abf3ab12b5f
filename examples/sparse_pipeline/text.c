/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if EXAMPLE_HAVE_ZLIB
#include <zlib.h>
#endif

enum { FIRST_PIECE = 1 << 16, READ_MAX = 1 << 30 };

struct source {
    int file;
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

/* A file's own size, if that is more than of a stream; those of /proc have none. */
static size_t limit_of(struct source *s, size_t stream_bytes)
{
    struct stat info;
    if (!direct(s) || fstat(s->file, &info) != 0 || !S_ISREG(info.st_mode) ||
        (uint64_t)info.st_size < stream_bytes)
        return stream_bytes;
    return (size_t)info.st_size;
}

static bool is_compressed(const struct text *t)
{
    return t->bytes > 1 && (unsigned char)t->data[0] == 0x1f && (unsigned char)t->data[1] == 0x8b;
}

static enum text_result read_text(struct source *s, size_t stream_bytes,
                                  bool (*begins)(const char *text, size_t bytes), struct text *t)
{
    if (!read_first(s, t))
        return TEXT_FAILED;
    if (!EXAMPLE_HAVE_ZLIB && is_compressed(t)) {
        fail(s, "compressed by gzip, which this build cannot read (it has no zlib)");
        return TEXT_FAILED;
    }
    if (!begins(t->data, t->bytes))
        return TEXT_OTHER;
    s->limit = limit_of(s, stream_bytes);
    if (!read_rest(s, t))
        return TEXT_FAILED;
    t->data[t->bytes] = 0;
    return TEXT_GOOD;
}

enum text_result text_read(const char *path, size_t stream_bytes,
                           bool (*begins)(const char *text, size_t bytes), struct text *t,
                           char reason[TEXT_REASON_BYTES])
{
    struct source s = {.reason = reason};
    *t = (struct text){0};
    s.file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
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
