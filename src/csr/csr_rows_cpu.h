/* SPDX-License-Identifier: MIT */
/* CPU: row pointers, of rows in order and in any; included by csr_cpu_tmpl.c. */
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* ---- where rows begin ---- */

enum { STEP_ROWS = 64 };
#if defined(__AVX512F__)
enum { FEW_STEPS = 1 }; /* of rows that are pointed to one by one */
#else
enum { FEW_STEPS = 8 };
#endif

/* Bit k: whether entry k of STEP_ROWS is of another row than the one before it, which there is. */
ALWAYS_INLINE uint64_t heads_of_rows(const index_t *rows)
{
    uint64_t heads = 0;
#if defined(__AVX512F__)
    enum { LANES = 64 / sizeof(index_t) };
    for (int k = 0; k < STEP_ROWS; k += LANES) {
        const __m512i x = _mm512_loadu_si512(rows + k), y = _mm512_loadu_si512(rows + k - 1);
        heads |= (uint64_t)(sizeof(index_t) == 4 ? _mm512_cmpneq_epi32_mask(x, y)
                                                 : _mm512_cmpneq_epi64_mask(x, y))
                 << k;
    }
#else
    uint8_t differ[STEP_ROWS];
    for (int k = 0; k < STEP_ROWS; k++)
        differ[k] = rows[k] != rows[k - 1];
    for (int k = 0; k < STEP_ROWS; k += 8) {
        uint64_t eight;
        memcpy(&eight, differ + k, sizeof eight);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        eight = __builtin_bswap64(eight);
#endif
        heads |= (eight * 0x0102040810204080u >> 56) << k;
    }
#endif
    return heads;
}

/* Whether each of STEP_ROWS rows is that of the entry before or the next one. */
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

/* The pointers of such rows, of entries from i on: where they begin. Writes others behind them. */
ALWAYS_INLINE void step_pointers(const index_t *rows, uint64_t i, offset_t *out)
{
#if defined(__AVX512F__)
    uint64_t heads = heads_of_rows(rows);
    enum { LANES = 64 / sizeof(offset_t) };
    offset_t places[LANES];
    out += (size_t)rows[-1] + 1;
    for (int k = 0; k < LANES; k++)
        places[k] = (offset_t)(i + (unsigned)k);
    __m512i at = _mm512_loadu_si512(places);
    for (int k = 0; k < STEP_ROWS; k += LANES, heads >>= LANES) {
        const unsigned some = (unsigned)heads & ((1u << LANES) - 1);
        if (sizeof(offset_t) == 4) {
            _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)some, at));
            at = _mm512_add_epi32(at, _mm512_set1_epi32(LANES));
        } else {
            _mm512_storeu_si512(out, _mm512_maskz_compress_epi64((__mmask8)some, at));
            at = _mm512_add_epi64(at, _mm512_set1_epi64(LANES));
        }
        out += __builtin_popcount(some);
    }
#else
#pragma GCC unroll 8
    for (int k = 0; k < STEP_ROWS; k++)
        out[(size_t)rows[k - 1] + 1] = (offset_t)(i + (unsigned)k);
#endif
}

/* ---- row pointers from sorted rows: equal shares of the merge of pointers and rows ---- */

enum { SHARE_MIN = 32 * 1024, SHARES_MAX = 512, NEAR_EVEN = 256 };

struct rows_call {
    gp_context *ctx;
    const struct gpi_csr_rows *args;
    uint64_t units, share, shares;
    uint64_t *begins; /* entries before each share, and all of them */
    /* Rows in any order: the first share that is not in order, or behind which they fall; NULL for
     * rows that are reported. */
    uint64_t *falls;
    uint64_t kept, kept_pointers; /* of the entries and pointers before that share */
};

/* How many of the first d units of the merge are rows; pointer p comes before row r if p <= r. It
 * is looked for first where it would be if all rows were alike. */
static uint64_t rows_before(const struct gpi_csr_rows *a, uint64_t d)
{
    const index_t *rows = a->rows;
    const uint64_t pointers = a->num_rows + 1;
    const double share = (double)a->nnz / ((double)a->nnz + (double)pointers);
    const uint64_t even = (uint64_t)((double)d * share);
    uint64_t low = d > pointers ? d - pointers : 0, high = gpi_min(d, a->nnz);
    for (int probe = 0; low < high; probe++) {
        uint64_t mid = low + (high - low) / 2;
        if (probe < 2 && high - low > 2 * NEAR_EVEN) {
            const uint64_t at = probe ? even + NEAR_EVEN : even - gpi_min(even, NEAR_EVEN);
            mid = at < low ? low : gpi_min(at, high - 1);
        }
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

/* The pointers [p, p_end), where entries [i, end) are before them. */
struct rows_walk {
    uint64_t i, end, p, p_end;
};

/* Write the pointers up to that of `row`, whose first entry is `at`: as vectors, which run past it
 * as long as there are pointers. */
ALWAYS_INLINE void point_to(offset_t *out, struct rows_walk *w, index_t row, uint64_t at)
{
    enum { LANES = 32 / sizeof(offset_t) };
    typedef offset_t vector __attribute__((vector_size(32)));
    const uint64_t stop = gpi_min((uint64_t)row + 1, w->p_end);
    uint64_t p = w->p;
    if (p + LANES <= w->p_end) {
        const vector v = (vector){0} + (offset_t)at;
        memcpy(out + p, &v, sizeof v);
        p += LANES;
    }
    for (; p < stop; p++)
        out[p] = (offset_t)at;
    w->p = stop > w->p ? stop : w->p;
}

/* Write the pointers of the rows that have an entry, and of those before them. false: a row is
 * below the one before it, or out of range; then the rest may be left. */
ALWAYS_INLINE bool walk_rows(const struct gpi_csr_rows *a, struct rows_walk *walk, bool to_the_end)
{
    const index_t *rows = a->rows;
    offset_t *out = a->row_pointers;
    const uint64_t num_rows = a->num_rows;
    struct rows_walk w = *walk;
    index_t last = w.i > 0 && w.i < w.end ? rows[w.i - 1] : 0;
    unsigned bad = 0;
    for (uint64_t stop; w.i < w.end && (to_the_end || !bad); w.i = stop) {
        stop = gpi_min(w.i + STEP_ROWS, w.end);
        const bool whole = w.i > 0 && stop - w.i == STEP_ROWS;
        if (whole && (index_t)(rows[stop - 1] - last) > FEW_STEPS && w.p == (uint64_t)last + 1 &&
            w.p + 2 * STEP_ROWS <= w.p_end && ascend_in_steps(rows + w.i)) {
            step_pointers(rows + w.i, w.i, out);
            last = rows[stop - 1];
            w.p = (uint64_t)last + 1;
            bad |= last >= num_rows;
            continue;
        }
        uint64_t heads =
            whole ? heads_of_rows(rows + w.i) : ~(uint64_t)0 >> (STEP_ROWS - (stop - w.i));
        for (; heads; heads &= heads - 1) {
            const uint64_t at = w.i + (unsigned)__builtin_ctzll(heads);
            const index_t row = rows[at];
            bad |= (unsigned)(row < last) | (unsigned)(row >= num_rows);
            point_to(out, &w, row, at);
            last = row;
        }
    }
    walk->p = w.p;
    return !bad;
}

static uint64_t share_begin(const struct rows_call *call, uint64_t share)
{
    return gpi_min(share * call->share, call->units);
}

static void find_begin(void *arg, size_t share)
{
    const struct rows_call *call = arg;
    call->begins[share] = rows_before(call->args, share_begin(call, share));
}

static void rows_share(void *arg, size_t share)
{
    const struct rows_call *call = arg;
    offset_t *out = call->args->row_pointers;
    const uint64_t i = call->begins[share], end = call->begins[share + 1];
    struct rows_walk w = {i, end, share_begin(call, share) - i, share_begin(call, share + 1) - end};
    if (call->falls && __atomic_load_n(call->falls, __ATOMIC_RELAXED) < share)
        return;
    if (!walk_rows(call->args, &w, !call->falls)) {
        if (call->falls)
            found_min(call->falls, share);
        else
            report_row(call, i, end, true);
    }
    for (; w.p < w.p_end; w.p++)
        out[w.p] = (offset_t)end;
}

/* Shares may begin anywhere where rows fall, but no two have an entry or a pointer in common. */
static void walk_shares(struct rows_call *call)
{
    uint64_t begins[SHARES_MAX + 1];
    call->units = call->args->nnz + call->args->num_rows + 1;
    call->share = gpi_ceil_div(call->units, SHARES_MAX);
    call->share = call->share > SHARE_MIN ? call->share : SHARE_MIN;
    call->shares = gpi_ceil_div(call->units, call->share);
    call->begins = begins;
    const int threads = gpi_threads_for(call->ctx->threads, call->units / 2);
    gpi_parallel_for(threads, (size_t)call->shares + 1, find_begin, call);
    for (uint64_t share = 0; share < call->shares; share++) {
        const uint64_t found = begins[share + 1], low = begins[share];
        const uint64_t high = low + share_begin(call, share + 1) - share_begin(call, share);
        begins[share + 1] = found < low ? low : gpi_min(found, high);
        if (begins[share + 1] != found && call->falls)
            *call->falls = gpi_min(*call->falls, share);
    }
    gpi_parallel_for(threads, (size_t)call->shares, rows_share, call);
    if (call->falls && *call->falls < call->shares) {
        call->kept = begins[*call->falls];
        call->kept_pointers = share_begin(call, *call->falls) - call->kept;
    }
    call->begins = NULL;
}

gp_status NAME(row_pointers)(gp_context *ctx, const struct gpi_csr_rows *args)
{
    struct rows_call call = {.ctx = ctx, .args = args};
    walk_shares(&call);
    return GP_OK;
}

/* ---- rows in any order: pointers as long as they ascend, then counts ---- */

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
#pragma GCC unroll 8
            for (; i < stop; i++)
                if (rows[i] < a.num_rows)
                    add_rows(counts, rows[i], 1, shared);
                else
                    bad = 1;
    }
    if (bad)
        report_row(call, begin, end, false);
}

/* The counts that pointers have which are kept. */
static void kept_counts(const struct rows_call *call, offset_t *counts)
{
    const offset_t *pointers = call->args->row_pointers;
    const uint64_t num_rows = call->args->num_rows, kept = call->kept_pointers;
    for (uint64_t r = 0; r < gpi_min(kept, num_rows); r++)
        counts[r] = (r + 1 < kept ? pointers[r + 1] : (offset_t)call->kept) - pointers[r];
}

static void count_part(void *arg, size_t part)
{
    const struct rows_call *call = arg;
    const struct gpi_csr_rows *a = call->args;
    offset_t *counts = (offset_t *)a->counters + part * a->num_rows;
    uint64_t share = (a->nnz - call->kept) / a->parts + 1;
    const uint64_t begin = gpi_min(call->kept + part * share, a->nnz);
    memset(counts, 0, (size_t)a->num_rows * sizeof *counts);
    if (part == 0)
        kept_counts(call, counts);
    count_entries(call, begin, gpi_min(begin + share, a->nnz), counts, false);
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
    uint64_t falls = UINT64_MAX;
    struct rows_call call = {.ctx = ctx, .args = args, .falls = &falls};
    size_t chunks = (size_t)((args->num_rows + ADD_CHUNK - 1) / ADD_CHUNK);
    int threads = gpi_threads_for(ctx->threads, (args->nnz + args->num_rows) / 2);
    walk_shares(&call);
    if (falls == UINT64_MAX) {
        *args->unsorted = 0;
        return GP_OK;
    }
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
