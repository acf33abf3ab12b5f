/* SPDX-License-Identifier: MIT */
#include "mmio.h"

#include "decimal.h"
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT_EVERY = 1 << 16, WORD_SHOWN = 24 };
/* Indices are uint32_t and 0-based, and num_rows + 1 must fit too. */
static const uint64_t size_max = UINT32_MAX - 1;

enum layout { COORDINATE, ARRAY };
enum field { REAL, INTEGER, PATTERN };
enum symmetry { GENERAL, SYMMETRIC, SKEW };

struct reader {
    const char *path;
    char *text;      /* the file and a NUL */
    const char *at;  /* next character */
    const char *end; /* of the file */
    size_t line;     /* of at, from 1; 0: no line to name */
    enum layout layout;
    enum field field;
    enum symmetry symmetry;
    locale_t c_locale;
    char *message;
    coo_progress *progress;
    void *arg;
};

const char *mm_printable(const char *text, char shown[MM_NAME_BYTES])
{
    int n = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p && n < MM_NAME_BYTES - 1; p++) {
        /* Also those that UTF-8 writes as two bytes. */
        const bool control = *p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0);
        shown[n++] = control ? '?' : (char)*p;
        p += control && *p == 0xc2;
    }
    shown[n] = 0;
    return shown;
}

static bool fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct reader *r, const char *format, ...)
{
    va_list list;
    char name[MM_NAME_BYTES];
    mm_printable(text_name(r->path), name);
    int used = r->line ? snprintf(r->message, MM_MESSAGE_BYTES, "%s:%zu: ", name, r->line)
                       : snprintf(r->message, MM_MESSAGE_BYTES, "%s: ", name);
    va_start(list, format);
    vsnprintf(r->message + used, (size_t)(MM_MESSAGE_BYTES - used), format, list);
    va_end(list);
    return false;
}

/* ---- characters and words -------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static bool at_line_end(const struct reader *r)
{
    return r->at == r->end || *r->at == '\n';
}

/* The next word of the line for a message; unprintable characters become '?'. */
static const char *shown_word(const struct reader *r, const char *from, char word[WORD_SHOWN + 4])
{
    int n = 0;
    const char *p = from;
    for (; p < r->end && !is_blank(*p) && *p != '\n' && n < WORD_SHOWN; p++)
        word[n++] = *p >= ' ' && *p <= '~' ? *p : '?';
    if (n == WORD_SHOWN && p < r->end && !is_blank(*p) && *p != '\n') {
        memcpy(word + n, "...", 4);
        return word;
    }
    word[n] = 0;
    return word;
}

/* Move to the first character of the next line that is neither blank nor a comment. */
static bool next_line(struct reader *r)
{
    for (;;) {
        skip_blanks(r);
        if (r->at == r->end)
            return false;
        if (*r->at != '\n' && *r->at != '%')
            return true;
        while (!at_line_end(r))
            r->at++;
        if (r->at < r->end) {
            r->at++;
            r->line++;
        }
    }
}

static bool expect_line_end(struct reader *r, const char *after)
{
    char word[WORD_SHOWN + 4];
    skip_blanks(r);
    if (!at_line_end(r))
        return fail(r, "\"%s\" after %s, expected the end of the line", shown_word(r, r->at, word),
                    after);
    if (r->at < r->end) {
        r->at++;
        r->line++;
    }
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A whole number from low to high. */
static bool read_count(struct reader *r, const char *what, uint64_t low, uint64_t high,
                       uint64_t *value)
{
    char word[WORD_SHOWN + 4];
    uint64_t v = 0;
    bool too_large = false;
    skip_blanks(r);
    if (at_line_end(r))
        return fail(r, "the line ends where the %s should be", what);
    const char *start = r->at;
    for (; r->at < r->end && is_digit(*r->at); r->at++) {
        unsigned digit = (unsigned)(*r->at - '0');
        too_large |= v > (UINT64_MAX - digit) / 10;
        v = v * 10 + digit;
    }
    if (r->at == start || (!at_line_end(r) && !is_blank(*r->at)))
        return fail(r, "the %s is \"%s\", expected a whole number", what,
                    shown_word(r, start, word));
    if (too_large || v < low || v > high)
        return fail(r, "the %s is %s, expected %llu to %llu", what, shown_word(r, start, word),
                    (unsigned long long)low, (unsigned long long)high);
    *value = v;
    return true;
}

static bool read_value(struct reader *r, double *value)
{
    char word[WORD_SHOWN + 4];
    struct decimal d;
    skip_blanks(r);
    if (at_line_end(r))
        return fail(r, "the line ends where the value should be");
    const char *start = r->at, *behind = decimal_scan(start, &d);
    bool ends = behind && (behind == r->end || is_blank(*behind) || *behind == '\n');
    if (!ends || (r->field == INTEGER && !d.whole))
        return fail(r, "the value is \"%s\", expected %s", shown_word(r, start, word),
                    r->field == INTEGER ? "a whole number" : "a number");
    *value = decimal_value(&d, r->c_locale);
    if (!isfinite(*value))
        return fail(r, "the value is %s, which does not fit a double", shown_word(r, start, word));
    r->at = behind;
    return true;
}

/* ---- the parts of a file --------------------------------------------------------------------- */

/* Whether what there is of the text may be a Matrix Market file: this is asked of the first piece,
 * before the rest is read, which may be long and no text. An empty file is for read_header(). */
static bool begins_well(const char *text, size_t bytes)
{
    static const char banner[] = "%%matrixmarket";
    size_t i = 0;
    while (i < bytes && is_blank(text[i]))
        i++;
    for (size_t k = 0; k < sizeof banner - 1; k++) {
        const char c = i + k < bytes ? text[i + k] : 0;
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != banner[k])
            return bytes == 0;
    }
    return true;
}

static bool not_matrix_market(struct reader *r)
{
    r->line = 1;
    return fail(r, "not a Matrix Market file: it does not begin with %%%%MatrixMarket");
}

static bool load(struct reader *r, size_t stream_bytes, size_t *bytes)
{
    char reason[TEXT_REASON_BYTES];
    struct text t;
    switch (text_read(r->path, stream_bytes, begins_well, &t, reason)) {
    case TEXT_OTHER:
        return not_matrix_market(r);
    case TEXT_FAILED:
        return fail(r, "%s", reason);
    case TEXT_GOOD:
        break;
    }
    r->text = t.data;
    r->at = r->text;
    r->end = r->text + t.bytes;
    *bytes = t.bytes;
    return true;
}

/* The next word of the first line, in lower case. */
static void header_word(struct reader *r, char word[WORD_SHOWN + 4])
{
    skip_blanks(r);
    shown_word(r, r->at, word);
    while (!at_line_end(r) && !is_blank(*r->at))
        r->at++;
    for (char *p = word; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
}

/* The place of word in a list of names; -1 if it is none of them. */
static int find_name(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return -1;
}

static bool read_kind(struct reader *r, char kind[64])
{
    static const char *const layouts[] = {"coordinate", "array"};
    static const char *const fields[] = {"real", "integer", "pattern"};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric"};
    char layout[WORD_SHOWN + 4], field[WORD_SHOWN + 4], symmetry[WORD_SHOWN + 4];
    header_word(r, layout);
    header_word(r, field);
    header_word(r, symmetry);
    int l = find_name(layout, layouts, 2), f = find_name(field, fields, 3),
        s = find_name(symmetry, symmetries, 3);
    if (l < 0)
        return fail(r, "the format is \"%s\", expected coordinate or array", layout);
    if (f < 0)
        return fail(r, "the field is \"%s\", expected real, integer or pattern%s", field,
                    strcmp(field, "complex") ? "" : " (complex matrices are not supported)");
    if (s < 0)
        return fail(r, "the symmetry is \"%s\", expected general, symmetric or skew-symmetric%s",
                    symmetry,
                    strcmp(symmetry, "hermitian") ? "" : " (hermitian matrices are not supported)");
    if (f == PATTERN && (l == ARRAY || s == SKEW))
        return fail(r, "a pattern matrix cannot be %s", l == ARRAY ? "an array" : "skew-symmetric");
    r->layout = (enum layout)l;
    r->field = (enum field)f;
    r->symmetry = (enum symmetry)s;
    snprintf(kind, 64, "%s %s %s", layouts[l], fields[f], symmetries[s]);
    return true;
}

static bool read_header(struct reader *r, char kind[64])
{
    char word[WORD_SHOWN + 4];
    r->line = 1;
    if (r->at == r->end)
        return fail(r, "the file is empty");
    header_word(r, word);
    if (strcmp(word, "%%matrixmarket") != 0)
        return not_matrix_market(r);
    header_word(r, word);
    if (strcmp(word, "matrix") != 0)
        return fail(r, "the object is \"%s\", expected matrix", word);
    return read_kind(r, kind) && expect_line_end(r, "the symmetry");
}

static bool read_sizes(struct reader *r, struct coo *m, size_t *announced)
{
    uint64_t rows, cols, entries = 0;
    if (!next_line(r))
        return fail(r, "the file ends where the sizes should be");
    if (!read_count(r, "number of rows", 0, size_max, &rows) ||
        !read_count(r, "number of columns", 0, size_max, &cols))
        return false;
    if (r->layout == COORDINATE && !read_count(r, "number of entries", 0, SIZE_MAX / 64, &entries))
        return false;
    if (r->symmetry != GENERAL && rows != cols)
        return fail(r, "a symmetric matrix of %llu rows and %llu columns, expected as many of both",
                    (unsigned long long)rows, (unsigned long long)cols);
    if (!expect_line_end(r, "the sizes"))
        return false;
    if (r->layout == ARRAY && r->symmetry == GENERAL)
        entries = rows * cols;
    else if (r->layout == ARRAY)
        entries =
            r->symmetry == SYMMETRIC ? rows * (rows + 1) / 2 : rows * (rows ? rows - 1 : 0) / 2;
    *announced = (size_t)entries;
    /* A line holds at least a digit and its end, so a wrong count cannot ask
     * for too much memory. */
    uint64_t fits = (uint64_t)(r->end - r->at) / 2 + 1;
    size_t room = (size_t)(entries < fits ? entries : fits) * (r->symmetry == GENERAL ? 1 : 2);
    if (!coo_allocate(m, (uint32_t)rows, (uint32_t)cols, room))
        return fail(r, "out of memory for %zu entries", room);
    m->nnz = 0;
    return true;
}

static void append(struct coo *m, uint64_t row, uint64_t col, double value)
{
    m->rows[m->nnz] = (uint32_t)row;
    m->cols[m->nnz] = (uint32_t)col;
    m->values[m->nnz++] = value;
}

/* An entry and, by the symmetry, its mirror image. */
static void append_both(const struct reader *r, struct coo *m, uint64_t row, uint64_t col, double v)
{
    append(m, row, col, v);
    if (r->symmetry != GENERAL && row != col)
        append(m, col, row, r->symmetry == SKEW ? -v : v);
}

static bool read_entry(struct reader *r, struct coo *m)
{
    uint64_t row, col;
    double value = 1.0;
    if (m->num_rows == 0 || m->num_cols == 0)
        return fail(r, "an entry in a matrix without rows or columns");
    if (!read_count(r, "row", 1, m->num_rows, &row) ||
        !read_count(r, "column", 1, m->num_cols, &col))
        return false;
    if (r->field != PATTERN && !read_value(r, &value))
        return false;
    if (r->symmetry != GENERAL && row < col)
        return fail(r, "entry (%llu, %llu) is above the diagonal of a symmetric matrix",
                    (unsigned long long)row, (unsigned long long)col);
    if (r->symmetry == SKEW && row == col)
        return fail(r, "entry (%llu, %llu) is on the diagonal of a skew-symmetric matrix",
                    (unsigned long long)row, (unsigned long long)col);
    append_both(r, m, row - 1, col - 1, value);
    return expect_line_end(r, "the entry");
}

/* Array elements come column by column, of symmetric matrices the part below the diagonal. */
struct place {
    uint64_t row, col;
};

static void next_place(const struct reader *r, const struct coo *m, struct place *p)
{
    if (++p->row < m->num_rows)
        return;
    p->col++;
    p->row = r->symmetry == GENERAL ? 0 : p->col + (r->symmetry == SKEW);
}

static bool read_element(struct reader *r, struct coo *m, struct place *p)
{
    double value;
    if (!read_value(r, &value))
        return false;
    if (value != 0.0)
        append_both(r, m, p->row, p->col, value);
    next_place(r, m, p);
    return expect_line_end(r, "the value");
}

static bool read_entries(struct reader *r, struct coo *m, size_t announced)
{
    struct place place = {r->symmetry == SKEW, 0};
    for (size_t k = 0; k < announced; k++) {
        if (!next_line(r))
            return fail(r, "the file ends after %zu of %zu entries", k, announced);
        if (!(r->layout == COORDINATE ? read_entry(r, m) : read_element(r, m, &place)))
            return false;
        if (r->progress && k % REPORT_EVERY == 0)
            r->progress(r->arg, (double)k, (double)announced);
    }
    if (next_line(r))
        return fail(r, "more than the %zu entries that the sizes announce", announced);
    return true;
}

bool mm_read(const char *path, size_t stream_bytes, struct coo *m, struct mm_file *file,
             char message[MM_MESSAGE_BYTES], coo_progress *progress, void *arg)
{
    struct reader r = {.path = path, .message = message, .progress = progress, .arg = arg};
    *m = (struct coo){0};
    r.c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    bool good = r.c_locale || fail(&r, "out of memory for a locale");
    good = good && load(&r, stream_bytes, &file->bytes) && read_header(&r, file->kind) &&
           read_sizes(&r, m, &file->announced) && read_entries(&r, m, file->announced);
    free(r.text);
    if (r.c_locale)
        freelocale(r.c_locale);
    if (!good)
        coo_free(m);
    return good;
}
