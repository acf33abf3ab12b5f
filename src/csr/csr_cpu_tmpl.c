/* SPDX-License-Identifier: MIT */
/* CPU: row pointers, counts, the deep checks. One unit per pair of widths and instruction set:
 * GPI_UNIT names it, GPI_INDEX and GPI_OFFSET are its types. */
#include <string.h>

#include "core/threads.h"
#include "core/words.h"
#include "csr/csr_internal.h"

#define NAME(what) PASTE4(gpi_csr_##what##_, GPI_UNIT, _, GPI_ISA_SUFFIX)

typedef GPI_INDEX index_t;
typedef GPI_OFFSET offset_t;

gp_status NAME(row_pointers)(gp_context *ctx, const struct gpi_csr_rows *args);
gp_status NAME(count_rows)(gp_context *ctx, const struct gpi_csr_rows *args);
gp_status NAME(check)(gp_context *ctx, const struct gpi_csr_matrix *a, uint64_t *found);
gp_status NAME(check_list)(gp_context *ctx, const struct gpi_csr_list *l, uint64_t *found);
gp_status NAME(mark)(gp_context *ctx, const struct gpi_csr_marks *m);
void NAME(kept_pointers)(gp_context *ctx, const struct gpi_csr_kept_pointers *k);

/* ---- row pointers from sorted rows: equal shares of the merge of pointers and rows ---- */

enum { SHARE = 128 * 1024 };

struct rows_call {
    gp_context *ctx;
    const struct gpi_csr_rows *args;
    uint64_t units;
};

/* How many of the first d units of the merge are rows; pointer p comes before row r if p <= r. */
static uint64_t rows_before(const struct gpi_csr_rows *a, uint64_t d)
{
    const index_t *rows = a->rows;
    uint64_t pointers = a->num_rows + 1;
    uint64_t low = d > pointers ? d - pointers : 0, high = gpi_min(d, a->nnz);
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (rows[mid] < d - 1 - mid)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Report the first of the entries [i, end) that is out of range or, if that is a rule, below the
 * one before it. */
static void report_row(const struct rows_call *call, uint64_t i, uint64_t end, bool sorted)
{
    const struct gpi_csr_rows *a = call->args;
    const struct gpi_reporter reporter = gpi_reporter_of(call->ctx, "rows", a->index_dtype);
    const index_t *rows = a->rows;
    for (; i < end; i++) {
        if (sorted && i > 0 && rows[i] < rows[i - 1]) {
            gpi_report(&reporter, GPI_RULE_FALLS, i, rows[i], rows[i - 1]);
            return;
        }
        if (rows[i] >= a->num_rows) {
            gpi_report(&reporter, GPI_RULE_BELOW, i, rows[i], a->num_rows);
            return;
        }
    }
}

enum { STEP_ROWS = 64 };

/* Whether each of STEP_ROWS rows is that of the entry before, which there is, or the next one. */
static bool ascend_in_steps(const index_t *rows)
{
    const index_t first = rows[-1], last = rows[STEP_ROWS - 1];
    unsigned others = 0;
    if (last < first || last - first > STEP_ROWS) /* most of those in any order */
        return false;
    for (int k = 0; k < STEP_ROWS; k++)
        others |= (index_t)(rows[k] - rows[k - 1]) > 1;
    return !others;
}

/* The pointers behind the rows of such entries, which end at i + STEP_ROWS: each writes that behind
 * its row, without a branch, and the last entry of a row is right. */
static void step_pointers(const index_t *rows, uint64_t i, offset_t *out)
{
    if (rows[i - 1] == rows[i + STEP_ROWS - 1])
        return;
    out[(size_t)rows[i - 1] + 1] = (offset_t)i;
    for (const uint64_t end = i + STEP_ROWS; i < end; i++)
        out[(size_t)rows[i] + 1] = (offset_t)(i + 1);
}

static void rows_share(void *arg, size_t share)
{
    const struct rows_call *call = arg;
    const struct gpi_csr_rows *a = call->args;
    const index_t *rows = a->rows;
    offset_t *out = a->row_pointers;
    uint64_t begin = (uint64_t)share * SHARE, end = gpi_min(begin + SHARE, call->units);
    const uint64_t i_begin = rows_before(a, begin), i_end = rows_before(a, end);
    uint64_t i = i_begin;
    uint64_t p = begin - i, p_end = end - i_end;
    index_t last = i > 0 && i <= a->nnz ? rows[i - 1] : 0;
    unsigned bad = 0;
    while (i < i_end) {
        const uint64_t stop = gpi_min(i + STEP_ROWS, i_end);
        if (i > i_begin && stop - i == STEP_ROWS && p == (uint64_t)last + 1 &&
            (rows[stop - 1] == last || (uint64_t)rows[stop - 1] + 1 < p_end) &&
            ascend_in_steps(rows + i)) {
            step_pointers(rows, i, out);
            i = stop;
            last = rows[stop - 1];
            p = (uint64_t)last + 1;
        }
        for (; i < stop; i++) {
            index_t row = rows[i];
            bad |= (unsigned)(row < last) | (unsigned)(row >= a->num_rows);
            for (; p <= row && p < p_end; p++)
                out[p] = (offset_t)i;
            last = row;
        }
    }
    for (; p < p_end; p++)
        out[p] = (offset_t)i_end;
    if (bad)
        report_row(call, i_begin, i_end, true);
}

gp_status NAME(row_pointers)(gp_context *ctx, const struct gpi_csr_rows *args)
{
    struct rows_call call = {ctx, args, args->nnz + args->num_rows + 1};
    gpi_parallel_for(gpi_threads_for(ctx->threads, call.units),
                     (size_t)((call.units + SHARE - 1) / SHARE), rows_share, &call);
    return GP_OK;
}

/* ---- counts of unsorted rows ---- */

enum { COUNT_CHUNK = 64 * 1024, ADD_CHUNK = 16 * 1024 };

ALWAYS_INLINE void add_rows(offset_t *counts, index_t row, uint64_t n, bool shared)
{
    if (shared)
        __atomic_fetch_add(&counts[row], (offset_t)n, __ATOMIC_RELAXED);
    else
        counts[row] += (offset_t)n;
}

/* Add the entries [begin, end) to counts, runs of equal rows at once where rows ascend in steps;
 * shared: with other threads. */
ALWAYS_INLINE void count_entries(const struct rows_call *call, uint64_t begin, uint64_t end,
                                 offset_t *counts, bool shared)
{
    const struct gpi_csr_rows a = *call->args; /* which counts cannot be */
    const index_t *rows = a.rows;
    unsigned bad = 0;
    for (uint64_t i = begin, stop; i < end; i = stop) {
        stop = gpi_min(i + STEP_ROWS, end);
        if (i > begin && stop - i == STEP_ROWS && rows[stop - 1] < a.num_rows &&
            ascend_in_steps(rows + i)) {
            for (uint64_t k = i + 1; k < stop; k++)
                if (rows[k] != rows[i]) {
                    add_rows(counts, rows[i], k - i, shared);
                    i = k;
                }
            add_rows(counts, rows[i], stop - i, shared);
        } else
            for (; i < stop; i++)
                if (rows[i] < a.num_rows)
                    add_rows(counts, rows[i], 1, shared);
                else
                    bad = 1;
    }
    if (bad)
        report_row(call, begin, end, false);
}

static void count_part(void *arg, size_t part)
{
    const struct rows_call *call = arg;
    const struct gpi_csr_rows *a = call->args;
    offset_t *counts = (offset_t *)a->counters + part * a->num_rows;
    uint64_t share = a->nnz / a->parts + 1;
    const uint64_t begin = gpi_min(part * share, a->nnz), end = gpi_min(begin + share, a->nnz);
    memset(counts, 0, (size_t)a->num_rows * sizeof *counts);
    count_entries(call, begin, end, counts, false);
}

static void add_parts(void *arg, size_t chunk)
{
    const struct rows_call *call = arg;
    const struct gpi_csr_rows *a = call->args;
    const offset_t *counts = a->counters;
    offset_t *out = a->row_pointers;
    uint64_t begin = (uint64_t)chunk * ADD_CHUNK, end = gpi_min(begin + ADD_CHUNK, a->num_rows);
    memcpy(out + begin, counts + begin, (size_t)(end - begin) * sizeof *out);
    for (size_t part = 1; part < a->parts; part++) {
        const offset_t *more = counts + part * a->num_rows;
        for (uint64_t r = begin; r < end; r++)
            out[r] += more[r];
    }
}

static void zero_chunk(void *arg, size_t chunk)
{
    const struct rows_call *call = arg;
    offset_t *out = call->args->row_pointers;
    uint64_t begin = (uint64_t)chunk * ADD_CHUNK;
    uint64_t end = gpi_min(begin + ADD_CHUNK, call->args->num_rows);
    memset(out + begin, 0, (size_t)(end - begin) * sizeof *out);
}

static void count_chunk(void *arg, size_t chunk)
{
    const struct rows_call *call = arg;
    const struct gpi_csr_rows *a = call->args;
    const uint64_t begin = (uint64_t)chunk * COUNT_CHUNK;
    count_entries(call, begin, gpi_min(begin + COUNT_CHUNK, a->nnz), a->row_pointers, true);
}

gp_status NAME(count_rows)(gp_context *ctx, const struct gpi_csr_rows *args)
{
    struct rows_call call = {ctx, args, 0};
    size_t chunks = (size_t)((args->num_rows + ADD_CHUNK - 1) / ADD_CHUNK);
    int threads = gpi_threads_for(ctx->threads, (args->nnz + args->num_rows) / 2);
    if (args->parts) {
        gpi_parallel_for(threads, args->parts, count_part, &call);
        gpi_parallel_for(threads, chunks, add_parts, &call);
        return GP_OK;
    }
    gpi_parallel_for(threads, chunks, zero_chunk, &call);
    gpi_parallel_for(threads, (size_t)((args->nnz + COUNT_CHUNK - 1) / COUNT_CHUNK), count_chunk,
                     &call);
    return GP_OK;
}

/* ---- marks of a filter ---- */

enum { MARK_CHUNK = 64 * 1024 };

static void mark_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_marks *m = arg;
    const index_t *rows = m->rows, *cols = m->cols;
    const uint64_t begin = (uint64_t)chunk * MARK_CHUNK, end = gpi_min(begin + MARK_CHUNK, m->nnz);
    const int64_t low = m->low, high = m->high;
    const uint8_t invert = m->invert;
    uint8_t *flags = m->flags;
    for (uint64_t i = begin; i < end; i++) {
        const int64_t distance = (int64_t)((uint64_t)cols[i] - (uint64_t)rows[i]);
        flags[i] = (uint8_t)(distance >= low && distance <= high) ^ invert;
    }
}

gp_status NAME(mark)(gp_context *ctx, const struct gpi_csr_marks *m)
{
    struct gpi_csr_marks marks = *m;
    gpi_parallel_for(gpi_threads_for(ctx->threads, m->nnz),
                     (size_t)((m->nnz + MARK_CHUNK - 1) / MARK_CHUNK), mark_chunk, &marks);
    return GP_OK;
}

/* ---- row pointers of what a filter keeps ---- */

enum { KEPT_ROWS = 8192 };

static void point_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_kept_pointers *k = arg;
    const offset_t *pointers = k->pointers;
    const uint64_t *bits = k->bits;
    const uint64_t begin = (uint64_t)chunk * KEPT_ROWS;
    const uint64_t end = gpi_min(begin + KEPT_ROWS, k->num_rows + 1);
    uint64_t word = UINT64_MAX, kept = 0; /* those before this word */
    for (uint64_t r = begin; r < end; r++) {
        const uint64_t p = gpi_min(pointers[r], k->nnz), at = p / 64;
        if (at < word || at - word > k->block_words) {
            word = at / k->block_words * k->block_words;
            kept = k->counts[at / k->block_words];
        }
        for (; word < at; word++)
            kept += (uint64_t)__builtin_popcountll(bits[word]);
        const uint64_t below = bits[at] & (((uint64_t)1 << p % 64) - 1);
        ((offset_t *)k->out)[r] = (offset_t)(kept + (uint64_t)__builtin_popcountll(below));
    }
}

void NAME(kept_pointers)(gp_context *ctx, const struct gpi_csr_kept_pointers *k)
{
    struct gpi_csr_kept_pointers job = *k;
    gpi_parallel_for(gpi_threads_for(ctx->threads, 2 * k->num_rows),
                     (size_t)(k->num_rows / KEPT_ROWS + 1), point_chunk, &job);
}

/* ---- deep check ---- */

enum { CHECK_ROWS = 4096 };

struct check_call {
    const struct gpi_csr_matrix *a;
    uint64_t *found;
};

static uint64_t offence(uint64_t row, enum gpi_csr_rule rule)
{
    return row << GPI_CSR_RULE_BITS | (uint64_t)rule;
}

static uint64_t check_row(const struct gpi_csr_matrix *a, uint64_t r)
{
    const offset_t *pointers = a->row_pointers;
    const index_t *cols = a->cols;
    uint64_t begin = pointers[r], end = pointers[r + 1];
    unsigned range = 0, order = 0;
    if (r == 0 && begin != 0)
        return offence(r, GPI_CSR_RULE_FIRST);
    if (end < begin)
        return offence(r, GPI_CSR_RULE_DESCENDS);
    if (end > a->nnz)
        return offence(r, GPI_CSR_RULE_PAST_END);
    for (uint64_t i = begin; i < end; i++)
        range |= cols[i] >= a->num_cols;
    for (uint64_t i = begin + 1; i < end; i++)
        order |= cols[i] <= cols[i - 1];
    if (range)
        return offence(r, GPI_CSR_RULE_RANGE);
    return order ? offence(r, GPI_CSR_RULE_ORDER) : GPI_CSR_VALID;
}

static void found_min(uint64_t *found, uint64_t value)
{
    uint64_t old = __atomic_load_n(found, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(found, &old, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

static void check_rows(void *arg, size_t chunk)
{
    const struct check_call *call = arg;
    uint64_t r = (uint64_t)chunk * CHECK_ROWS, end = gpi_min(r + CHECK_ROWS, call->a->num_rows);
    uint64_t found = GPI_CSR_VALID;
    for (; r < end && found == GPI_CSR_VALID; r++)
        found = check_row(call->a, r);
    found_min(call->found, found);
}

gp_status NAME(check)(gp_context *ctx, const struct gpi_csr_matrix *a, uint64_t *found)
{
    struct check_call call = {a, found};
    const offset_t *pointers = a->row_pointers;
    *found = GPI_CSR_VALID;
    if (a->num_rows == 0 && pointers[0] != 0)
        *found = offence(0, GPI_CSR_RULE_FIRST);
    else if (pointers[a->num_rows] != a->nnz)
        *found = offence(a->num_rows, GPI_CSR_RULE_LAST);
    gpi_parallel_for(gpi_threads_for(ctx->threads, a->num_rows + a->nnz),
                     (size_t)((a->num_rows + CHECK_ROWS - 1) / CHECK_ROWS), check_rows, &call);
    return GP_OK;
}

/* ---- deep check of a list ---- */

enum { CHECK_ENTRIES = 64 * 1024 };

struct list_call {
    const struct gpi_csr_list *l;
    uint64_t *found;
};

/* The first rule that entry i breaks, or -1. */
static int list_rule(const struct gpi_csr_list *l, uint64_t i)
{
    const index_t *rows = l->rows, *cols = l->cols;
    if (rows[i] >= l->num_rows)
        return GPI_CSR_LIST_ROW;
    if (cols[i] >= l->num_cols)
        return GPI_CSR_LIST_COL;
    if (i == 0 || l->order < GP_COO_ROWS || rows[i] > rows[i - 1])
        return -1;
    if (rows[i] < rows[i - 1])
        return GPI_CSR_LIST_ROW_FALLS;
    if (l->order >= GP_COO_SORTED && cols[i] < cols[i - 1])
        return GPI_CSR_LIST_COL_FALLS;
    return l->order >= GP_COO_CANONICAL && cols[i] == cols[i - 1] ? GPI_CSR_LIST_TWICE : -1;
}

static void check_entries(void *arg, size_t chunk)
{
    const struct list_call *call = arg;
    const uint64_t begin = (uint64_t)chunk * CHECK_ENTRIES;
    const uint64_t end = gpi_min(begin + CHECK_ENTRIES, call->l->nnz);
    for (uint64_t i = begin; i < end; i++) {
        const int rule = list_rule(call->l, i);
        if (rule >= 0) {
            found_min(call->found, i << GPI_CSR_RULE_BITS | (uint64_t)rule);
            return;
        }
    }
}

gp_status NAME(check_list)(gp_context *ctx, const struct gpi_csr_list *l, uint64_t *found)
{
    struct list_call call = {l, found};
    *found = GPI_CSR_VALID;
    gpi_parallel_for(gpi_threads_for(ctx->threads, l->nnz),
                     (size_t)((l->nnz + CHECK_ENTRIES - 1) / CHECK_ENTRIES), check_entries, &call);
    return GP_OK;
}
