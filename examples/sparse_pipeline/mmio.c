/* SPDX-License-Identifier: MIT */
#include "mm_reader.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Indices are uint32_t and 0-based, and num_rows + 1 must fit too. */
static const uint64_t size_max = UINT32_MAX - 1;

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

/* ---- the parts of a file --------------------------------------------------------------------- */

/* Whether what there is of the text may be a Matrix Market file: this is asked of the first piece,
 * before the rest is read, which may be long and no text. An empty file is for read_header(). */
static bool begins_well(const char *text, size_t bytes)
{
    static const char banner[] = "%%matrixmarket";
    size_t i = 0;
    while (i < bytes && mm_is_blank(text[i]))
        i++;
    for (size_t k = 0; k < sizeof banner - 1; k++) {
        const char c = i + k < bytes ? text[i + k] : 0;
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != banner[k])
            return bytes == 0;
    }
    return true;
}

static bool not_matrix_market(struct mm_reader *r)
{
    r->line = 1;
    return mm_fail(r, "not a Matrix Market file: it does not begin with %%%%MatrixMarket");
}

static bool load(struct mm_reader *r, size_t stream_bytes, size_t *bytes)
{
    char reason[TEXT_REASON_BYTES];
    struct text t;
    switch (text_read(r->threads, r->path, stream_bytes, begins_well, &t, reason)) {
    case TEXT_OTHER:
        return not_matrix_market(r);
    case TEXT_FAILED:
        return mm_fail(r, "%s", reason);
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
static void header_word(struct mm_reader *r, char word[MM_WORD_BYTES])
{
    mm_skip_blanks(r);
    mm_shown_word(r, r->at, word);
    while (!mm_at_line_end(r) && !mm_is_blank(*r->at))
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

static bool read_kind(struct mm_reader *r, char kind[64])
{
    static const char *const layouts[] = {"coordinate", "array"};
    static const char *const fields[] = {"real", "integer", "pattern"};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric"};
    char layout[MM_WORD_BYTES], field[MM_WORD_BYTES], symmetry[MM_WORD_BYTES];
    header_word(r, layout);
    header_word(r, field);
    header_word(r, symmetry);
    int l = find_name(layout, layouts, 2), f = find_name(field, fields, 3),
        s = find_name(symmetry, symmetries, 3);
    if (l < 0)
        return mm_fail(r, "the format is \"%s\", expected coordinate or array", layout);
    if (f < 0)
        return mm_fail(r, "the field is \"%s\", expected real, integer or pattern%s", field,
                       strcmp(field, "complex") ? "" : " (complex matrices are not supported)");
    if (s < 0)
        return mm_fail(
            r, "the symmetry is \"%s\", expected general, symmetric or skew-symmetric%s", symmetry,
            strcmp(symmetry, "hermitian") ? "" : " (hermitian matrices are not supported)");
    if (f == MM_PATTERN && (l == MM_ARRAY || s == MM_SKEW))
        return mm_fail(r, "a pattern matrix cannot be %s",
                       l == MM_ARRAY ? "an array" : "skew-symmetric");
    r->layout = (enum mm_layout)l;
    r->field = (enum mm_field)f;
    r->symmetry = (enum mm_symmetry)s;
    snprintf(kind, 64, "%s %s %s", layouts[l], fields[f], symmetries[s]);
    return true;
}

static bool read_header(struct mm_reader *r, char kind[64])
{
    char word[MM_WORD_BYTES];
    r->line = 1;
    if (r->at == r->end)
        return mm_fail(r, "the file is empty");
    header_word(r, word);
    if (strcmp(word, "%%matrixmarket") != 0)
        return not_matrix_market(r);
    header_word(r, word);
    if (strcmp(word, "matrix") != 0)
        return mm_fail(r, "the object is \"%s\", expected matrix", word);
    return read_kind(r, kind) && mm_expect_line_end(r, "the symmetry");
}

static bool read_sizes(struct mm_reader *r, struct coo *m, size_t *announced)
{
    uint64_t rows, cols, entries = 0;
    if (!mm_next_line(r))
        return mm_fail(r, "the file ends where the sizes should be");
    if (!mm_read_count(r, "number of rows", 0, size_max, &rows) ||
        !mm_read_count(r, "number of columns", 0, size_max, &cols))
        return false;
    if (r->layout == MM_COORDINATE &&
        !mm_read_count(r, "number of entries", 0, SIZE_MAX / 64, &entries))
        return false;
    if (r->symmetry != MM_GENERAL && rows != cols)
        return mm_fail(r,
                       "a symmetric matrix of %llu rows and %llu columns, expected as many of both",
                       (unsigned long long)rows, (unsigned long long)cols);
    if (!mm_expect_line_end(r, "the sizes"))
        return false;
    if (r->layout == MM_ARRAY && r->symmetry == MM_GENERAL)
        entries = rows * cols;
    else if (r->layout == MM_ARRAY)
        entries =
            r->symmetry == MM_SYMMETRIC ? rows * (rows + 1) / 2 : rows * (rows ? rows - 1 : 0) / 2;
    *announced = (size_t)entries;
    *m = (struct coo){.num_rows = (uint32_t)rows, .num_cols = (uint32_t)cols};
    return true;
}

bool mm_read(const char *path, size_t stream_bytes, struct coo *m, struct mm_file *file,
             char message[MM_MESSAGE_BYTES], coo_progress *progress, void *arg)
{
    return mm_read_by(0, path, stream_bytes, m, file, message, progress, arg);
}

bool mm_read_by(int threads, const char *path, size_t stream_bytes, struct coo *m,
                struct mm_file *file, char message[MM_MESSAGE_BYTES], coo_progress *progress,
                void *arg)
{
    struct mm_reader r = {
        .path = path, .message = message, .threads = threads, .progress = progress, .arg = arg};
    *m = (struct coo){0};
    r.c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    bool good = r.c_locale || mm_fail(&r, "out of memory for a locale");
    good = good && load(&r, stream_bytes, &file->bytes) && read_header(&r, file->kind) &&
           read_sizes(&r, m, &file->announced) && mm_read_entries(&r, m, file->announced);
    free(r.text);
    if (r.c_locale)
        freelocale(r.c_locale);
    if (!good)
        coo_free(m);
    return good;
}
