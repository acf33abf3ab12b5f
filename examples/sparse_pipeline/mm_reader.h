/* SPDX-License-Identifier: MIT */
/* The parts of the Matrix Market reader: words and numbers, and the lines of entries. */
#ifndef EXAMPLE_MM_READER_H
#define EXAMPLE_MM_READER_H

#include "mmio.h"

#include <locale.h>

enum { MM_WORD_SHOWN = 24, MM_WORD_BYTES = MM_WORD_SHOWN + 4 };

enum mm_layout { MM_COORDINATE, MM_ARRAY };
enum mm_field { MM_REAL, MM_INTEGER, MM_PATTERN };
enum mm_symmetry { MM_GENERAL, MM_SYMMETRIC, MM_SKEW };

struct mm_reader {
    const char *path;
    char *text;      /* the file and a NUL */
    const char *at;  /* next character */
    const char *end; /* of what is to be read */
    size_t line;     /* of at, from 1; 0: no line to name */
    enum mm_layout layout;
    enum mm_field field;
    enum mm_symmetry symmetry;
    locale_t c_locale;
    char *message;
    int threads;
    coo_progress *progress;
    void *arg;
};

/* False, with what is wrong in r->message. */
bool mm_fail(struct mm_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool mm_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool mm_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void mm_skip_blanks(struct mm_reader *r);
bool mm_at_line_end(const struct mm_reader *r);
/* The word there for a message; unprintable characters become '?'. */
const char *mm_shown_word(const struct mm_reader *r, const char *from, char word[MM_WORD_BYTES]);
/* Move to the first character of the next line that is neither blank nor a comment. */
bool mm_next_line(struct mm_reader *r);
bool mm_expect_line_end(struct mm_reader *r, const char *after);

/* A whole number from low to high. */
bool mm_read_count(struct mm_reader *r, const char *what, uint64_t low, uint64_t high,
                   uint64_t *value);
bool mm_read_value(struct mm_reader *r, double *value);

/* The entries of m, whose rows and columns are known, up to the end of the text. */
bool mm_read_entries(struct mm_reader *r, struct coo *m, size_t announced);

#endif
