/* SPDX-License-Identifier: MIT */
/* CPU: row pointers, counts, the deep checks. One unit per pair of widths and instruction set:
 * GPI_UNIT names it, GPI_INDEX and GPI_OFFSET are its types. */
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

static void found_min(uint64_t *found, uint64_t value)
{
    uint64_t old = __atomic_load_n(found, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(found, &old, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

#include "csr/csr_rows_cpu.h"

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

enum { CHECK_ROWS = 4096, CHECK_ENTRIES = 32 * 1024 };

struct check_call {
    const struct gpi_csr_matrix *a;
    uint64_t *found, rows; /* of a chunk: few where rows are long */
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

/* Whether the rows [begin, end) are valid but for where the first one begins: their entries are one
 * list that falls where rows begin only. */
static bool are_valid(const struct gpi_csr_matrix *a, uint64_t begin, uint64_t end)
{
    const offset_t *pointers = a->row_pointers;
    const index_t *cols = a->cols, most = (index_t)(a->num_cols - 1);
    const uint64_t first = pointers[begin], last = pointers[end];
    unsigned bad = 0;
    uint32_t falls = 0;
    for (uint64_t r = begin; r < end; r++)
        bad |= pointers[r + 1] < pointers[r];
    if (bad || last > a->nnz || last - first < 2 || last - first > UINT32_MAX || a->num_cols == 0)
        return false;
    bad = cols[first] > most;
    for (uint64_t i = first + 1; i < last; i++) {
        bad |= cols[i] > most;
        falls += cols[i] <= cols[i - 1];
    }
    for (uint64_t r = begin + 1; r < end; r++) { /* without a branch */
        const uint64_t i = pointers[r];
        const bool inside = (i > first) & (i < pointers[r + 1]);
        const index_t *row = cols + (inside ? i : last - 1);
        falls -= inside & (row[0] <= row[-1]);
    }
    return !bad && falls == 0;
}

static void check_rows(void *arg, size_t chunk)
{
    const struct check_call *call = arg;
    uint64_t r = (uint64_t)chunk * call->rows, end = gpi_min(r + call->rows, call->a->num_rows);
    uint64_t found = GPI_CSR_VALID;
    if ((r > 0 || *(const offset_t *)call->a->row_pointers == 0) && are_valid(call->a, r, end))
        return;
    for (; r < end && found == GPI_CSR_VALID; r++)
        found = check_row(call->a, r);
    found_min(call->found, found);
}

gp_status NAME(check)(gp_context *ctx, const struct gpi_csr_matrix *a, uint64_t *found)
{
    const uint64_t length = a->num_rows ? a->nnz / a->num_rows : 0;
    struct check_call call = {a, found, gpi_min(CHECK_ROWS, CHECK_ENTRIES / (length + 1) + 1)};
    const offset_t *pointers = a->row_pointers;
    *found = GPI_CSR_VALID;
    if (a->num_rows == 0 && pointers[0] != 0)
        *found = offence(0, GPI_CSR_RULE_FIRST);
    else if (pointers[a->num_rows] != a->nnz)
        *found = offence(a->num_rows, GPI_CSR_RULE_LAST);
    gpi_parallel_for(gpi_threads_for(ctx->threads, (a->num_rows + a->nnz) / 2),
                     (size_t)gpi_ceil_div(a->num_rows, call.rows), check_rows, &call);
    return GP_OK;
}

/* ---- deep check of a list ---- */

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

enum { LIST_STEP = 256 };

/* Whether LIST_STEP entries break no rule, which others are before. */
static bool are_listed(const struct gpi_csr_list *l, uint64_t i)
{
    const index_t *rows = (const index_t *)l->rows + i, *cols = (const index_t *)l->cols + i;
    const index_t most_row = (index_t)(l->num_rows - 1), most_col = (index_t)(l->num_cols - 1);
    const index_t by_rows = l->order >= GP_COO_ROWS, by_cols = l->order >= GP_COO_SORTED;
    const index_t once = l->order >= GP_COO_CANONICAL;
    index_t bad = l->num_rows == 0 || l->num_cols == 0;
    for (int k = 0; k < LIST_STEP; k++) {
        const index_t row = rows[k], col = cols[k], row_before = rows[k - 1], before = cols[k - 1];
        const index_t same = row == row_before;
        bad |= (index_t)(row > most_row) | (index_t)(col > most_col);
        bad |= (by_rows & (index_t)(row < row_before)) | (by_cols & same & (index_t)(col < before));
        bad |= once & same & (index_t)(col == before);
    }
    return !bad;
}

static void check_entries(void *arg, size_t chunk)
{
    const struct list_call *call = arg;
    const uint64_t begin = (uint64_t)chunk * CHECK_ENTRIES;
    const uint64_t end = gpi_min(begin + CHECK_ENTRIES, call->l->nnz);
    for (uint64_t i = begin; i < end; i++) {
        while (i > 0 && end - i > LIST_STEP && are_listed(call->l, i))
            i += LIST_STEP;
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
    gpi_parallel_for(gpi_threads_for(ctx->threads, l->nnz / 2),
                     (size_t)((l->nnz + CHECK_ENTRIES - 1) / CHECK_ENTRIES), check_entries, &call);
    return GP_OK;
}
