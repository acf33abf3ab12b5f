/* SPDX-License-Identifier: MIT */
/*
 * The lines of entries, by several threads: the text is cut at ends of lines into chunks, whose
 * entries are counted, so that each chunk knows the first of its own and where it belongs. A mirror
 * image of each entry has its room, too; what is left of that room is closed at the end.
 */
#include "mm_reader.h"

#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifndef MM_CHUNK
#define MM_CHUNK (1 << 20) /* bytes of a chunk; the fuzzer's are short */
#endif

static void append(struct coo *m, uint64_t row, uint64_t col, double value)
{
    m->rows[m->nnz] = (uint32_t)row;
    m->cols[m->nnz] = (uint32_t)col;
    m->values[m->nnz++] = value;
}

/* An entry and, by the symmetry, its mirror image. */
static void append_both(const struct mm_reader *r, struct coo *m, uint64_t row, uint64_t col,
                        double v)
{
    append(m, row, col, v);
    if (r->symmetry != MM_GENERAL && row != col)
        append(m, col, row, r->symmetry == MM_SKEW ? -v : v);
}

/* A number from 1 to high. What is not one at first sight is for mm_read_count(). */
static bool read_index(struct mm_reader *r, const char *what, uint32_t high, uint64_t *value)
{
    const char *p = r->at; /* behind the text is a NUL */
    uint64_t v = 0;
    while (mm_is_blank(*p))
        p++;
    const char *start = p;
    for (; mm_is_digit(*p); p++)
        v = v * 10 + (unsigned)(*p - '0');
    if (p == start || p - start > 18 || !(mm_is_blank(*p) || *p == '\n') || v == 0 || v > high)
        return mm_read_count(r, what, 1, high, value);
    r->at = p;
    *value = v;
    return true;
}

static bool read_entry(struct mm_reader *r, struct coo *m)
{
    uint64_t row, col;
    double value = 1.0;
    if (m->num_rows == 0 || m->num_cols == 0)
        return mm_fail(r, "an entry in a matrix without rows or columns");
    if (!read_index(r, "row", m->num_rows, &row) || !read_index(r, "column", m->num_cols, &col))
        return false;
    if (r->field != MM_PATTERN && !mm_read_value(r, &value))
        return false;
    if (r->symmetry != MM_GENERAL && row < col)
        return mm_fail(r, "entry (%llu, %llu) is above the diagonal of a symmetric matrix",
                       (unsigned long long)row, (unsigned long long)col);
    if (r->symmetry == MM_SKEW && row == col)
        return mm_fail(r, "entry (%llu, %llu) is on the diagonal of a skew-symmetric matrix",
                       (unsigned long long)row, (unsigned long long)col);
    append_both(r, m, row - 1, col - 1, value);
    return mm_expect_line_end(r, "the entry");
}

/* Array elements come column by column, of symmetric matrices the part below the diagonal. */
struct place {
    uint64_t row, col;
};

static void next_place(const struct mm_reader *r, const struct coo *m, struct place *p)
{
    if (++p->row < m->num_rows)
        return;
    p->col++;
    p->row = r->symmetry == MM_GENERAL ? 0 : p->col + (r->symmetry == MM_SKEW);
}

/* The place of element k. */
static struct place place_of(const struct mm_reader *r, const struct coo *m, uint64_t k)
{
    const uint32_t above = r->symmetry == MM_SKEW;
    struct place p = {above, 0};
    if (r->symmetry == MM_GENERAL && m->num_rows)
        return (struct place){k % m->num_rows, k / m->num_rows};
    for (; p.col < m->num_cols && k >= m->num_rows - p.col - above; p.col++)
        k -= m->num_rows - p.col - above;
    p.row = p.col + above + k;
    return p;
}

static bool read_element(struct mm_reader *r, struct coo *m, struct place *p)
{
    double value;
    if (!mm_read_value(r, &value))
        return false;
    if (value != 0.0)
        append_both(r, m, p->row, p->col, value);
    next_place(r, m, p);
    return mm_expect_line_end(r, "the value");
}

/* ---- chunks ---------------------------------------------------------------------------------- */

struct chunk {
    const char *begin, *end;
    size_t lines, entries;          /* that end here; that begin here */
    size_t first_line, first_entry; /* its number; how many entries are before */
    size_t stored;                  /* entries and mirror images */
    bool good;
    char message[MM_MESSAGE_BYTES];
};

struct chunks {
    const struct mm_reader *r;
    struct coo *m;
    struct chunk *chunk;
    size_t count, announced, per_entry;
    pthread_t caller;
    atomic_size_t done;
};

/* Cut the text that is left; false: memory is short. */
static bool cut(struct chunks *c, const struct mm_reader *r)
{
    const size_t bytes = (size_t)(r->end - r->at);
    const char *begin = r->at;
    c->chunk = calloc(bytes / MM_CHUNK + 1, sizeof *c->chunk);
    if (!c->chunk)
        return false;
    while (begin < r->end || c->count == 0) {
        const char *end = r->end;
        if (end - begin > MM_CHUNK) {
            const char *newline = memchr(begin + MM_CHUNK, '\n', (size_t)(end - begin) - MM_CHUNK);
            end = newline ? newline + 1 : end;
        }
        c->chunk[c->count++] = (struct chunk){.begin = begin, .end = end};
        begin = end;
    }
    return true;
}

static void count_chunk(void *arg, size_t i)
{
    struct chunk *k = &((struct chunks *)arg)->chunk[i];
    for (const char *p = k->begin; p < k->end;) {
        while (p < k->end && mm_is_blank(*p))
            p++;
        k->entries += p < k->end && *p != '\n' && *p != '%';
        p = memchr(p, '\n', (size_t)(k->end - p));
        k->lines += p != NULL;
        p = p ? p + 1 : k->end;
    }
}

static bool read_line(struct mm_reader *r, struct coo *m, struct place *place)
{
    return r->layout == MM_COORDINATE ? read_entry(r, m) : read_element(r, m, place);
}

static void read_chunk(void *arg, size_t i)
{
    struct chunks *c = arg;
    struct chunk *k = &c->chunk[i];
    struct mm_reader r = *c->r;
    struct coo part = *c->m;
    const size_t room = k->first_entry < c->announced ? k->first_entry : c->announced;
    part.rows += room * c->per_entry;
    part.cols += room * c->per_entry;
    part.values += room * c->per_entry;
    part.nnz = 0;
    r.at = k->begin;
    r.end = k->end;
    r.line = k->first_line;
    r.message = k->message;
    struct place place = place_of(&r, &part, k->first_entry);
    k->good = true;
    for (size_t entry = k->first_entry; k->good && mm_next_line(&r); entry++)
        k->good =
            entry < c->announced
                ? read_line(&r, &part, &place)
                : mm_fail(&r, "more than the %zu entries that the sizes announce", c->announced);
    k->stored = part.nnz;
    const size_t done = atomic_fetch_add(&c->done, 1) + 1;
    if (r.progress && pthread_equal(pthread_self(), c->caller))
        r.progress(r.arg, (double)done, (double)c->count);
}

/* Number lines and entries; returns how many entries there are, and moves r->line to the end. */
static size_t number_chunks(struct chunks *c, struct mm_reader *r)
{
    size_t entries = 0;
    for (size_t i = 0; i < c->count; i++) {
        c->chunk[i].first_entry = entries;
        c->chunk[i].first_line = r->line;
        entries += c->chunk[i].entries;
        r->line += c->chunk[i].lines;
    }
    return entries;
}

/* The first chunk that is wrong is what is wrong with the file. */
static bool all_good(const struct chunks *c, struct mm_reader *r)
{
    for (size_t i = 0; i < c->count; i++)
        if (!c->chunk[i].good) {
            memcpy(r->message, c->chunk[i].message, MM_MESSAGE_BYTES);
            return false;
        }
    return true;
}

static void close_gaps(const struct chunks *c)
{
    struct coo *m = c->m;
    m->nnz = 0;
    for (size_t i = 0; i < c->count; i++) {
        const size_t from = c->chunk[i].first_entry * c->per_entry, n = c->chunk[i].stored;
        if (from != m->nnz && n) {
            memmove(m->rows + m->nnz, m->rows + from, n * sizeof *m->rows);
            memmove(m->cols + m->nnz, m->cols + from, n * sizeof *m->cols);
            memmove(m->values + m->nnz, m->values + from, n * sizeof *m->values);
        }
        m->nnz += n;
    }
}

bool mm_read_entries(struct mm_reader *r, struct coo *m, size_t announced)
{
    struct chunks c = {.r = r, .m = m, .announced = announced, .caller = pthread_self()};
    const size_t line = r->line;
    c.per_entry = r->symmetry == MM_GENERAL ? 1 : 2;
    if (!cut(&c, r))
        return mm_fail(r, "out of memory for the file");
    parallel(r->threads, c.count, count_chunk, &c);
    const size_t entries = number_chunks(&c, r), end_line = r->line;
    const size_t room = (entries < announced ? entries : announced) * c.per_entry;
    r->line = line;
    bool good = coo_allocate(m, m->num_rows, m->num_cols, room) ||
                mm_fail(r, "out of memory for %zu entries", room);
    if (good) {
        parallel(r->threads, c.count, read_chunk, &c);
        r->line = end_line;
        good = all_good(&c, r) &&
               (entries >= announced ||
                mm_fail(r, "the file ends after %zu of %zu entries", entries, announced));
    }
    if (good)
        close_gaps(&c);
    free(c.chunk);
    return good;
}
