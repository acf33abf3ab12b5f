/* SPDX-License-Identifier: MIT */
/*
 * Binning on the CPU, compiled per unit and instruction set. The build gives GPI_UNIT, GPI_STORED
 * (how a value is stored), GPI_VALUE (how it is compared), GPI_LOAD (stored to value), GPI_WIDE (an
 * unsigned integer of 32 or 64 bits that has room for a value's bits), GPI_ORDERED (what values are
 * compared with edges as: of 32 or 64 bits, and signed, as vectors are) and GPI_IS_FLOAT. The loops
 * are written for the compiler's vectoriser: no branches, no calls.
 */
#include <stdint.h>
#include <string.h>

#include "core/paste.h"
#include "histogram/histogram_half.h"
#include "histogram/histogram_internal.h"
#include "histogram/histogram_multiply.h"

#define NAME(function) PASTE4(function, GPI_UNIT, _, GPI_ISA_SUFFIX)

typedef GPI_STORED stored;
typedef GPI_VALUE value;
typedef GPI_ORDERED ordered;

enum { BLOCK = GPI_BINNING_BLOCK };

#if GPI_IS_FLOAT

/* Limits of f16, bf16 and f32 are floats, so values are compared as such. What is outside goes
 * through the conversion too, and is kept in its range: the result is not used. */
static void bin_scale(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const double from = b->from, scale = b->scale, top = (double)(b->bins - 1);
    const value first = (value)b->from, end = (value)b->to;
    const uint32_t none = b->none;
    for (size_t i = 0; i < count; i++) {
        value x = (value)GPI_LOAD(in[i]);
        value above = x > first ? x : first;
        double t = ((double)above - from) * scale;
        t = t < top ? t : top;
        uint32_t bin = (uint32_t)(int32_t)t;
        index[i] = ((x >= first) & (x < end)) ? bin : none;
    }
}

#else

/* index[i] = min(in[i] - lo, R); values below lo are far above it. */
static void distances(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const value lo = (value)b->lo;
    const GPI_WIDE range = (GPI_WIDE)b->last + 1;
    for (size_t i = 0; i < count; i++) {
        GPI_WIDE d = (value)(in[i] - lo);
        index[i] = (uint32_t)(d < range ? d : range);
    }
}

static void bin_narrow(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    struct gpi_multiply f = {.lo = (uint32_t)b->lo, .range = (uint32_t)b->last + 1};
    const void *from = in;
    const size_t item = sizeof *in < 4 ? sizeof *in : 4;
    f.q = (uint32_t)b->q;
    f.high = b->m_short ? b->m_short : (uint32_t)(b->m_hi >> 32);
    f.low = (uint32_t)b->m_hi;
    if (sizeof *in == 8 || b->m_hi == 0) {
        distances(b, in, count, index);
        from = index;
        f.lo = 0;
        f.range = UINT32_MAX;
    }
    if (b->m_short)
        gpi_multiply_short(&f, b->shift, from, item, count, index);
    else if (b->m_hi != 0)
        gpi_multiply_long(&f, from, item, count, index);
    else if (f.q != 1)
        for (size_t i = 0; i < count; i++)
            index[i] *= f.q;
}

/* The high 64 bits of a product. */
static inline uint64_t multiply_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)a * b >> 64);
#else
    uint64_t a_lo = (uint32_t)a, a_hi = a >> 32, b_lo = (uint32_t)b, b_hi = b >> 32;
    uint64_t middle = a_hi * b_lo + (a_lo * b_lo >> 32);
    uint64_t other = a_lo * b_hi + (uint32_t)middle;
    return a_hi * b_hi + (middle >> 32) + (other >> 32);
#endif
}

/* hi - lo >= 2^32, so bins < hi - lo and q is 0. */
static void bin_wide(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const uint64_t lo = b->lo, last = b->last, m_hi = b->m_hi, m_lo = b->m_lo;
    const uint32_t none = b->none;
    for (size_t i = 0; i < count; i++) {
        uint64_t d = in[i] - lo;
        uint64_t middle = d * m_hi;
        uint64_t carry = multiply_high(d, m_lo) > ~middle;
        uint32_t bin = (uint32_t)(multiply_high(d, m_hi) + carry);
        index[i] = d <= last ? bin : none;
    }
}

#endif

/* ---- edges: see struct gpi_edge_grid ---- */

#if GPI_IS_FLOAT

static inline ordered order(stored x, uint64_t flip)
{
    (void)flip;
    return (ordered)GPI_LOAD(x);
}

typedef GPI_WIDE rank;

/* The bits, so that their unsigned order is that of the values; both zeros have the same. */
static inline rank bits_of(ordered x)
{
    const int top = (int)sizeof(rank) * 8 - 1;
    rank bits;
    x += 0;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (((rank)0 - (bits >> top)) | (rank)1 << top);
}

static inline rank rank_of(ordered x, ordered first)
{
    return bits_of(x) - bits_of(first);
}

static void linear_cells(const struct gpi_edge_grid *g, ordered first, const ordered *x,
                         size_t count, int32_t *cell)
{
    const ordered scale = (ordered)g->scale, top = (ordered)(g->cells - 1);
    for (size_t i = 0; i < count; i++) {
        ordered t = (x[i] - first) * scale;
        t = t < top ? t : top; /* a NaN too */
        t = t > 0 ? t : 0;
        cell[i] = (int32_t)t;
    }
}

#else

/* In the order of the dtype. flip, the sign bit of signed dtypes, is for an unsigned order; here
 * the order is signed. Differences of results are those of the values. */
static inline ordered order(stored x, uint64_t flip)
{
    const uint64_t sign = (uint64_t)1 << (sizeof x * 8 - 1);
    const value raised = (value)(x ^ (value)flip);
    return sizeof x < sizeof(ordered) ? (ordered)raised : (ordered)(raised ^ (value)sign);
}

typedef uint64_t rank;

/* The bits of the distance as a float, 0 for the first edge. Rounding does not change the order. */
static inline rank rank_of(ordered x, ordered first)
{
    const double start = 0.5;
    const uint64_t d = (GPI_WIDE)x - (GPI_WIDE)first;
    const double distance = (double)(uint32_t)(d >> 32) * 0x1p32 + (double)(uint32_t)d + start;
    uint64_t bits, low;
    memcpy(&bits, &distance, sizeof bits);
    memcpy(&low, &start, sizeof low);
    return bits - low;
}

static void linear_cells(const struct gpi_edge_grid *g, ordered first, const ordered *x,
                         size_t count, int32_t *cell)
{
    const unsigned shift = g->shift;
    const GPI_WIDE span = (GPI_WIDE)g->span;
    for (size_t i = 0; i < count; i++) {
        GPI_WIDE d = (GPI_WIDE)x[i] - (GPI_WIDE)first;
        cell[i] = (int32_t)((d < span ? d : span) >> shift);
    }
}

#endif

static void logarithmic_cells(const struct gpi_edge_grid *g, ordered first, const ordered *x,
                              size_t count, int32_t *cell)
{
    const unsigned shift = g->shift;
    const rank span = (rank)g->span;
    for (size_t i = 0; i < count; i++) {
        rank r = rank_of(x[i], first);
        cell[i] = (int32_t)((r < span ? r : span) >> shift);
    }
}

static void cells_of(const struct gpi_edge_grid *g, ordered first, const ordered *x, size_t count,
                     int32_t *cell)
{
    if (g->logarithmic)
        logarithmic_cells(g, first, x, count, cell);
    else
        linear_cells(g, first, x, count, cell);
}

static void choose_map(struct gpi_edge_grid *g, bool logarithmic, ordered first, ordered end)
{
    g->logarithmic = logarithmic;
    g->shift = 0;
    g->span = (uint64_t)rank_of(end, first);
#if GPI_IS_FLOAT
    double width = (double)end - (double)first;
    g->scale = width > 0 ? (double)g->cells / width : 0;
#else
    if (!logarithmic)
        g->span = (GPI_WIDE)end - (GPI_WIDE)first;
#endif
    while (g->span >> g->shift >= g->cells)
        g->shift++;
}

/* The edges of each cell but the first and the final edge; returns the most of a cell. */
static uint32_t count_edges(const struct gpi_edge_grid *g, const ordered *edges, uint32_t *counts)
{
    int32_t cell[BLOCK];
    uint32_t longest = 0;
    memset(counts, 0, g->cells * sizeof *counts);
    for (uint32_t begin = 1; begin < g->last; begin += BLOCK) {
        const uint32_t left = g->last - begin, count = left < BLOCK ? left : BLOCK;
        cells_of(g, edges[0], edges + begin, count, cell);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t edges_here = ++counts[cell[i]];
            longest = edges_here > longest ? edges_here : longest;
        }
    }
    return longest;
}

/* Edges without those that equal the one before; returns the place of the last one. bin[i] is the
 * bin that begins with edge i: of equal edges the last one begins it. */
static uint32_t distinct_edges(const struct gpi_binning *b, ordered *to, uint32_t *bin)
{
    const stored *from = b->edges;
    uint32_t last = 0;
    to[0] = order(from[0], b->flip);
    bin[0] = 0;
    for (uint32_t i = 1; i <= b->bins; i++) {
        const ordered edge = order(from[i], b->flip);
        last += !(edge == to[last]);
        to[last] = edge;
        bin[last] = i;
    }
    return last;
}

void NAME(gpi_edge_grid_)(struct gpi_binning *b, uint32_t cells, uint32_t *below, uint32_t *bin,
                          void *edges);

void NAME(gpi_edge_grid_)(struct gpi_binning *b, uint32_t cells, uint32_t *below, uint32_t *bin,
                          void *edges)
{
    ordered *to = edges;
    struct gpi_edge_grid *g = &b->grid;
    const uint32_t good = 3; /* a search of two steps */
    uint32_t sum = 0;
    g->cells = cells;
    g->last = distinct_edges(b, to, bin);
    choose_map(g, false, to[0], to[g->last]);
    g->longest = count_edges(g, to, below);
    if (g->longest > good) {
        const uint32_t linear = g->longest;
        choose_map(g, true, to[0], to[g->last]);
        g->longest = count_edges(g, to, below);
        if (linear <= g->longest) {
            choose_map(g, false, to[0], to[g->last]);
            g->longest = count_edges(g, to, below);
        }
    }
    for (uint32_t c = 0; c < cells; c++) {
        uint32_t count = below[c];
        below[c] = sum;
        sum += count;
    }
    /* The most edges that a search reads, from a cell's first one on. */
    for (uint32_t k = 1; k <= g->longest; k++)
        to[g->last + k] = to[g->last];
    g->below = below;
    g->bin = g->last < b->bins ? bin : NULL;
    g->edges = to;
}

/* How many of the edges but the first and the final one are not above x, by looking at each. */
static void compare_edges(const struct gpi_binning *b, const ordered *x, size_t count,
                          int32_t *position)
{
    const stored *edges = b->edges;
    for (uint32_t k = 1; k < b->bins; k += 4) {
        ordered e[4];
        for (uint32_t j = 0; j < 4; j++)
            e[j] = order(edges[k + j < b->bins ? k + j : b->bins], b->flip);
        for (size_t i = 0; i < count; i++) {
            int32_t p = position[i];
            p += e[0] <= x[i] ? 1 : 0;
            p += e[1] <= x[i] ? 1 : 0;
            p += e[2] <= x[i] ? 1 : 0;
            p += e[3] <= x[i] ? 1 : 0;
            position[i] = p;
        }
    }
}

/* The same by a search among all: one step for the whole block at a time, so that the searches
 * overlap. Positions are signed, as vectors index memory. */
static void search_edges(const struct gpi_binning *b, const ordered *x, size_t count,
                         int32_t *position)
{
    const stored *edges = b->edges;
    for (uint32_t rest = b->bins; rest > 1; rest -= rest / 2) {
        const stored *middle = edges + rest / 2;
        const int32_t half = (int32_t)(rest / 2);
        for (size_t i = 0; i < count; i++)
            position[i] += order(middle[position[i]], b->flip) <= x[i] ? half : 0;
    }
}

/* The same in a cell. */
static void search_cells(const struct gpi_edge_grid *g, const ordered *x, size_t count,
                         int32_t *position)
{
    const ordered *edges = g->edges;
    const uint32_t *below = g->below;
    int32_t cell[BLOCK];
    cells_of(g, edges[0], x, count, cell);
    for (size_t i = 0; i < count; i++)
        position[i] = (int32_t)below[cell[i]];
    for (uint32_t rest = g->longest + 1; rest > 1; rest -= rest / 2) {
        const ordered *middle = edges + rest / 2;
        const int32_t half = (int32_t)(rest / 2);
        for (size_t i = 0; i < count; i++)
            position[i] += middle[position[i]] <= x[i] ? half : 0;
    }
    for (size_t i = 0; g->bin && i < count; i++)
        position[i] = (int32_t)g->bin[position[i]];
}

/* Positions of values between the first edge and the final one stay below bins whatever the edges
 * are: the final one stands behind the others. */
static void bin_edges(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const stored *edges = b->edges;
    const uint32_t none = b->none;
    const uint64_t flip = b->flip;
    const ordered first = order(edges[0], flip), end = order(edges[b->bins], flip);
    ordered x[BLOCK] = {0};
    int32_t position[BLOCK] = {0};
    for (size_t i = 0; i < count; i++)
        x[i] = order(in[i], flip);
    if (b->bins <= GPI_EDGES_FEW)
        compare_edges(b, x, count, position);
    else if (b->grid.below)
        search_cells(&b->grid, x, count, position);
    else
        search_edges(b, x, count, position);
    for (size_t i = 0; i < count; i++)
        index[i] = ((x[i] >= first) & (x[i] < end)) ? (uint32_t)position[i] : none;
}

/* ---- */

void NAME(gpi_binning_)(const struct gpi_binning *binning, const void *in, size_t count,
                        uint32_t *index);

void NAME(gpi_binning_)(const struct gpi_binning *binning, const void *in, size_t count,
                        uint32_t *index)
{
    switch (binning->kind) {
#if GPI_IS_FLOAT
    case GPI_BINNING_SCALE:
        bin_scale(binning, in, count, index);
        return;
#else
    case GPI_BINNING_NARROW:
        bin_narrow(binning, in, count, index);
        return;
    case GPI_BINNING_WIDE:
        bin_wide(binning, in, count, index);
        return;
#endif
    default:
        bin_edges(binning, in, count, index);
    }
}
