/* SPDX-License-Identifier: MIT */
/*
 * Sparse matrices.
 *
 * Negative indices are out of range anyway, so everything behind the front door is unsigned and
 * exists for three pairs of widths: (index, offset) = (32, 32), (32, 64), (64, 64).
 *
 * Row pointers: the merge of the sorted rows with the numbers 0 .. num_rows; pointer r is written
 *   where it falls among the rows. CPU: equal shares of that merge. CUDA: the warp of entry i
 *   writes the pointers in (rows[i - 1], rows[i]], each lane its own as long as gaps are short; a
 *   warp that would have too many leaves them to blocks which have a part of the pointers each, so
 *   a gap of any length is filled by many warps.
 *   Rows in any order: those that turn out to ascend as these; others are counted, a run of equal
 *   neighbours at a time, of few rows by the histogram, and many entries by buckets of rows
 *   (csr_buckets_kernels.cuh), and the counts are scanned; or, of more rows, sorted first.
 *
 * COO to CSR: 1. pack (row, col) into one key, row in the high bits. 2. sort stably by key; values
 *   are the payload. 3. in one pass, find the first entry of every run of equal keys and where the
 *   run goes, and write columns and row pointers. 4. merge the values of each run.
 *   CUDA: the radix sort of gp, and kernels for the rest; keys above 64 bits are sorted by column,
 *   then by row. Before that entries are taken as they are given: first as if they were in order
 *   and none had to be merged, then as if they were in order, or but for the columns of each
 *   row. If they are not, their number is in memory for packing, sorting and the pass after that;
 *   otherwise it is 0, and these do nothing.
 *   CPU: scatter into buckets of neighbouring keys that fit the cache; sort, merge and write each
 *   bucket there (keys above 64 bits are 128 bits). Where what a bucket leaves of a key and the
 *   value are 64 bits, an entry is one word.
 *
 *   With a permutation the numbers of the entries are sorted in place of their values, which are
 *   gathered at the end.
 *
 * Transpose: the row of every entry, then the same with rows and columns exchanged, sorted by the
 *   row bits of the key alone, and nothing merged. CUDA: if numbers fit 32 bits and values 4 bytes,
 *   a column alone is the key, and the row and the value of its entry are moved as one word; of
 *   many entries a kernel of this room takes the buckets of the sort (csr_turn_kernels.cuh). CPU:
 *   two stable splits, by the high bits of columns and by the low ones (csr_split_cpu.h).
 *
 * Columns sorted within rows: CPU: rows are the segments of a sort. CUDA: rows are sorted in shared
 *   memory, short ones by networks, longer ones by bins (csr_columns_spread.cuh); if one is too
 *   long for that, which the GPU finds, the row of every entry, then the same sorted by the whole
 *   key, without row pointers.
 *
 * Edges of a frontier, on the CPU: the sums of the lengths of its rows are row pointers of a matrix
 *   of these rows, whose merge path is cut into shares.
 *
 * Filter: CPU: a compaction of what decides, the values or by the diagonal the columns, that also
 *   gives the places of what it keeps; the rest of the entries is gathered from there, and a row
 *   begins at the first kept place that is not below its pointer. CUDA: both arrays are compacted
 *   in one pass, which leaves a bit for each entry, and of each 32 bits how many are before: they
 *   tell where a row's first entry would be. Of a list by places on both.
 *
 * SpMV: row ends and entries are one list that is cut into equal tiles. CPU: the parts of rows that
 *   lie in several tiles are left to a second pass, which adds them in tile order. CUDA: a warp per
 *   tile (csr_spmv_kernels.cuh); a row belongs to the tile where it ends, unless it fills several,
 *   whose sums the last of them adds. Where products are summed from row end to row end, a byte for
 *   each says whether a row ends: a segmented scan of lanes, whatever the lengths of the rows are.
 *   Merrill and Garland 2016, merge-based parallel sparse matrix-vector multiplication; Sengupta,
 *   Harris, Zhang and Owens 2007 for the segmented scan. Workspace: where the tiles begin, and two
 *   sums for each; tiles that run all at once look for their beginnings themselves, in one launch.
 *
 * SpMM: the same tiles; on CUDA a lane has a column or four, and groups of lanes have shares of the
 *   tile (csr_spmm_kernels.cuh). CPU: a tile is walked once per 8 columns.
 *
 * Plans, in the caller's memory: on CUDA where the tiles begin, and columns by the shapes that 32
 *   of them have, in 16 bits or, if few columns have many entries, as places of these in shared
 *   memory (csr_hot_kernels.cuh). A product with the transpose is SpMV of a matrix in the plan,
 *   which a transpose with a permutation put there; by the permutation other values come.
 */
#ifndef GPI_CSR_INTERNAL_H
#define GPI_CSR_INTERNAL_H

#include <gp/entries.h>

#include "core/context.h"
#include "core/dtype.h"
#include "csr/csr_plan_layout.h"
#include "csr/csr_tile_layout.h"

struct gpi_csr_rows {
    gp_dtype index_dtype;
    const void *rows;
    uint64_t nnz, num_rows;
    const uint64_t *device_nnz, *device_num_rows; /* NULL, or those are bounds, on CUDA */
    bool reported; /* CUDA: what is wrong with the rows has been reported */
    void *row_pointers;
    void *counters; /* CPU: parts x num_rows offsets of scratch */
    size_t parts;   /* 0: count in row_pointers with atomic additions */
    /* Rows in any order: NULL, or two words of scratch that say whether they fall: 0, or nnz and
     * num_rows. If not, they have their pointers at once, and what comes then does nothing. */
    uint64_t *unsorted;
};

/* CUDA: from this number of entries on, order that they have already is looked for, before a sort
 * and before rows are counted. Fewer take little more than their launches. */
enum { GPI_CSR_ORDER_ITEMS = 1 << 18, GPI_CSR_ORDER_ROWS = 1 << 21 };
/* CUDA, rows that do not ascend: from this number on they are sorted; as many counters fit the
 * shared memory of a block, and as many bytes the L2. */
enum { GPI_CSR_SORT_ROWS = 1 << 25, GPI_CSR_FEW_ROWS = 1 << 14, GPI_CSR_NEAR_BYTES = 1 << 26 };

/* Entries by how far they are from the diagonal: flags[i] = whether low <= col - row <= high, or
 * whether not, if invert. */
struct gpi_csr_marks {
    const void *rows, *cols;
    uint64_t nnz;
    const uint64_t *device_nnz; /* NULL, or nnz is its bound, on CUDA */
    int64_t low, high;
    bool invert;
    void *flags; /* a byte for each entry, or on CUDA a bit */
};

/* CPU: out[r] = the entries kept before pointers[r], of which bits tell. */
struct gpi_csr_kept_pointers {
    uint64_t nnz, num_rows;
    const void *pointers;
    void *out;
    const uint64_t *bits, *counts; /* counts: of those before each block, and of all */
    size_t block_words;            /* of bits */
};

struct gpi_csr_matrix {
    uint64_t num_rows, num_cols, nnz;
    const void *row_pointers, *cols;
};

/* What gp_check_csr() finds: the smallest of row << GPI_CSR_RULE_BITS | rule, or GPI_CSR_VALID. */
enum gpi_csr_rule {
    GPI_CSR_RULE_FIRST,    /* row_pointers[0] is not 0 */
    GPI_CSR_RULE_DESCENDS, /* row_pointers[row + 1] < row_pointers[row] */
    GPI_CSR_RULE_PAST_END, /* row_pointers[row + 1] > nnz */
    GPI_CSR_RULE_LAST,     /* row_pointers[num_rows] is not nnz; row is num_rows */
    GPI_CSR_RULE_RANGE,    /* a column is not below num_cols */
    GPI_CSR_RULE_ORDER,    /* columns are not strictly ascending */
    GPI_CSR_RULE_BITS = 3
};
#define GPI_CSR_VALID UINT64_MAX

/* A coordinate list, and what is asked of its order. */
struct gpi_csr_list {
    const void *rows, *cols;
    uint64_t nnz, num_rows, num_cols;
    gp_coo_order order;
};

/* What gp_check_coo() finds: as above, with the number of an entry in place of a row's. */
enum gpi_csr_list_rule {
    GPI_CSR_LIST_ROW,       /* not below num_rows */
    GPI_CSR_LIST_COL,       /* not below num_cols */
    GPI_CSR_LIST_ROW_FALLS, /* below that of the entry before */
    GPI_CSR_LIST_COL_FALLS, /* of one row, below that of the entry before */
    GPI_CSR_LIST_TWICE      /* the entry before, once more */
};

/* CUDA: where a tile of SpMV begins: its first entry, with a bit (csr_spmv_starts.cuh), and the row
 * ends before it. */
struct gpi_csr_start {
    uint64_t entry, row;
};

/* SpMM: item (r, c) of X or Y is item r * row + c * column. */
struct gpi_csr_dense {
    uint64_t row, column;
};

struct gpi_csr_spmv {
    struct gpi_csr_matrix a;
    uint32_t columns; /* of X and Y; 0: vectors x and y */
    struct gpi_csr_dense x_at, y_at;
    const uint64_t *device_nnz, *device_num_rows; /* NULL, or those of a are bounds, on CUDA */
    const void *values, *x;
    void *y;
    double alpha, beta;                     /* exact for f32 too; beta 0: y is not read */
    const void *device_alpha, *device_beta; /* CUDA: NULL, or where they are */
    gp_dtype dtype;
    size_t index_bytes, pointer_bytes;
    uint64_t tiles;
    /* CUDA: a tile has tile_units units, and these arrays one item each, pieces two */
    uint32_t tile_units;
    struct gpi_csr_start *starts; /* NULL: not wanted, and left is of the context's tile states */
    uint64_t *left;
    void *pieces; /* sums */
    /* CUDA, of a plan; NULL: none */
    struct gpi_csr_plan *plan;
    void *least;
    uint16_t *above, *shape, *shape_table;
    uint64_t *shape_hashes; /* of the table */
    uint32_t shapes;
    uint32_t *sectors; /* bits, of gpi_csr_sectors() */
    struct gpi_csr_hot hot;
    /* CPU */
    uint64_t *came_in; /* per tile: the row that ends in it and began before, or UINT64_MAX */
    void *parts;       /* two sums per tile: of that row, and of the one that goes on */
};

/* Sums that go on, or pieces, have this many numbers. */
static inline size_t gpi_csr_sums(const struct gpi_csr_spmv *s)
{
    return s->columns ? s->columns : 1;
}

/* CUDA: of a group, which has as many columns of SpMM, or, of packed rows, 4 times as many. */
enum { GPI_CSR_SPMM_LANES = 8 };

/* The dtypes of values, in the order of gp_dtype, and of the sums of their products. */
enum { GPI_CSR_VALUES = 4 };

static inline gp_dtype gpi_csr_sum_dtype(gp_dtype value)
{
    return value == GP_F64 ? GP_F64 : GP_F32;
}

/* CUDA: what a plan needs. */
struct gpi_csr_plan_ops {
    /* starts and left of the tiles */
    gp_status (*starts)(gp_context *ctx, const struct gpi_csr_spmv *args);
    /* the header but for the pattern, and the columns */
    gp_status (*make)(gp_context *ctx, const struct gpi_csr_spmv *args,
                      const struct gpi_csr_plan *given);
    /* *sum = the pattern's hash */
    gp_status (*pattern)(gp_context *ctx, const struct gpi_csr_spmv *args, uint64_t *sum);
    gp_status (*differs)(gp_context *ctx, const struct gpi_csr_plan *plan, const uint64_t *sum,
                         const struct gpi_csr_plan *want, uint32_t *differs);
};

typedef gp_status (*gpi_csr_spmv_fn)(gp_context *ctx, const struct gpi_csr_spmv *args);

/* CUDA: kernels for any width of columns. */
struct gpi_csr_part_ops {
    const void *starts[2]; /* of tiles: of row pointers of 4 and of 8 bytes */
    /* the rest is of hot columns: of counts in place, what is to be there, and which columns */
    gp_status (*choose_hot)(gp_context *ctx, const struct gpi_csr_spmv *args);
    /* of the dtypes of values: what brings x of the columns together, and the product */
    const void *pack[GPI_CSR_VALUES], *multiply[GPI_CSR_VALUES];
    int threads[GPI_CSR_VALUES], bytes[GPI_CSR_VALUES]; /* 0: there is no such kernel */
};

/* One conversion. Keys are row << col_bits | col, on CUDA row * cells + col; an entry is sorted by
 * the bits from sort_bit on. */
struct gpi_csr_coo {
    const char *function;
    const char *names[2]; /* of the arguments rows and cols; NULL: not the caller's */
    gp_dtype index_dtype, offset_dtype;
    const void *rows, *cols, *values;
    uint64_t nnz, num_rows, num_cols;
    const uint64_t *device_nnz, *device_num_rows; /* NULL, or those are bounds, on CUDA */
    unsigned row_bits, col_bits, sort_bit, key_bits;
    uint32_t cells_part, cells_shift; /* CUDA: cells are part << shift, at least num_cols */
    size_t index_bytes, offset_bytes, value_bytes; /* value_bytes 0: no values */
    gp_dtype value_dtype;
    gp_duplicates duplicates;
    gp_algorithm algorithm;
    void *row_pointers; /* NULL: not wanted; duplicates is KEEP */
    void *out_cols, *out_values;
    uint64_t *out_nnz; /* NULL: duplicates is KEEP */
    void *permutation; /* NULL, or as wide as offsets */
    bool by_row;       /* only the columns of each row are sorted */
    /* NULL, or rows have not been filled, as they may not be needed: what finds them */
    const struct gpi_balance_args *rows_of;
};

/* Duplicates are added in blocks of this many; part of the public promise. */
enum { GPI_CSR_SUM_BLOCK = 32 };

/* Where an entry repeats another: an index behind those of all entries, of which only the order
 * counts. The argument is its place among the sorted ones. */
#define GPI_CSR_DUPLICATE_AT(sorted) ((uint64_t)1 << 63 | (sorted))

/* Merge len > 1 values in slots of slot_bytes (4 or 8, value in the low bytes) to one slot. */
uint64_t gpi_csr_merge(gp_dtype dtype, gp_duplicates duplicates, const void *slots,
                       size_t slot_bytes, size_t len);

static inline unsigned gpi_csr_bits(uint64_t count)
{
    return count > 1 ? 64 - (unsigned)__builtin_clzll(count - 1) : 0;
}

/* Keys of more than 64 bits. */
static inline bool gpi_csr_is_wide(const struct gpi_csr_coo *c)
{
    return c->row_bits + c->col_bits > 64;
}

/* CUDA: rows that fit shared memory are sorted there. */
static inline bool gpi_csr_sorts_rows(const struct gpi_csr_coo *c)
{
    return c->by_row && !gpi_csr_is_wide(c) && c->algorithm == GP_ALGORITHM_AUTO;
}

/* CUDA: a transpose sorts its rows as keys of 4 bytes, with column and value as one word beside
 * them, where they fit. */
static inline bool gpi_csr_by_pairs(const struct gpi_csr_coo *c)
{
    return c->sort_bit && c->row_bits <= 32 && c->col_bits <= 32 && c->value_bytes <= 4;
}

/* Of entries in order, which begin a run of equal ones: a bit each, and for each 32 bits how many
 * heads are before them. */
struct gpi_csr_heads {
    uint32_t *bits; /* NULL: nothing is merged */
    void *ranks;    /* uint32_t, or if wide uint64_t */
    bool wide;
};

/* Words of bits, and ranks, of n entries. */
static inline size_t gpi_csr_head_words(uint64_t n)
{
    return (size_t)(n / 32 + 1);
}

/* CUDA: entries of a tile of the pass that makes a matrix of entries in order, at least. */
enum { GPI_CSR_WRITE_TILE = 2048 };

/* Entries sorted by key. Keys that fit 64 bits are packed; otherwise rows and cols are apart. */
struct gpi_csr_sorted {
    const struct gpi_csr_coo *c;
    const uint64_t *keys;        /* or NULL: */
    const uint64_t *rows, *cols; /* 64-bit indices */
    const void *values;
    /*
     * NULL, or words that the GPU finds, for entries that may have come in order. The number of
     * entries that had to be sorted; if it is 0, a matrix has been made of what was given, but for
     * values, if the next is not 0: some entries are to be merged, or not those after it: columns
     * were to be sorted within rows, and these are the numbers of entries and rows.
     */
    uint64_t *unsorted;
    /* NULL, or where columns and values go that are sorted within rows, and scratch for that. */
    void *by_row_cols, *by_row_values;
    uint64_t *by_row_left;
    struct gpi_csr_heads heads;
};

/* CUDA: the kernels of COO to CSR for one pair of widths; each call queues one. */
struct gpi_csr_kernels {
    /* Of a transpose by pairs, see gpi_csr_by_pairs(): pairs[i] = column and value of entry i, and
     * if keys is not NULL keys[i] = its row; checks the range */
    gp_status (*join)(gp_context *ctx, const struct gpi_csr_coo *c, uint32_t *keys, void *pairs);
    /* out_cols and out_values, of pairs that are sorted */
    gp_status (*part)(gp_context *ctx, const struct gpi_csr_coo *c, const void *pairs);
    /* keys[i] = packed entry i; checks the range; unsorted, if not NULL: the number of entries */
    gp_status (*pack)(gp_context *ctx, const struct gpi_csr_coo *c, uint64_t *keys,
                      const uint64_t *unsorted);
    /* the columns and pointers of the result, *out_nnz, and heads; checks for duplicates where they
     * are errors. given: of entries as they came, with their values if none are merged; or, if they
     * are not in order, unsorted says so, whose words are 0 */
    gp_status (*write)(gp_context *ctx, const struct gpi_csr_sorted *s, bool given);
    /* out_values */
    gp_status (*merge)(gp_context *ctx, const struct gpi_csr_sorted *s);
    gp_status (*read_word)(gp_context *ctx, const char *f, const uint64_t *word, uint64_t *value);
    /* Behind row pointers out of counts that leave out rows out of range: reports these. */
    gp_status (*check_range)(gp_context *ctx, const struct gpi_csr_rows *args);
};

/* The calls of one pair of widths on one backend. */
struct gpi_csr_ops {
    gp_status (*row_pointers)(gp_context *ctx, const struct gpi_csr_rows *args);
    /* row_pointers[r] = entries of row r, for r < num_rows */
    gp_status (*count_rows)(gp_context *ctx, const struct gpi_csr_rows *args);
    /* *found, in the context's memory, becomes the packed first offence */
    gp_status (*check)(gp_context *ctx, const struct gpi_csr_matrix *a, uint64_t *found);
    gp_status (*check_list)(gp_context *ctx, const struct gpi_csr_list *l, uint64_t *found);
    gp_status (*mark)(gp_context *ctx, const struct gpi_csr_marks *m);
    const struct gpi_csr_kernels *kernels; /* CUDA: of COO to CSR */
    void (*kept_pointers)(gp_context *ctx, const struct gpi_csr_kept_pointers *k); /* CPU */
};

/* Those of a context for indices and offsets of these widths, in bytes. */
const struct gpi_csr_ops *gpi_csr_find(const gp_context *ctx, size_t index_bytes,
                                       size_t offset_bytes);

const struct gpi_csr_plan_ops *gpi_csr_plan_find(const gp_context *ctx, size_t index_bytes);

/* SpMV, or SpMM, of these widths and values. */
gpi_csr_spmv_fn gpi_csr_spmv_find(const gp_context *ctx, size_t index_bytes, size_t offset_bytes,
                                  gp_dtype value_dtype, bool is_spmm);

/* The kernels of a CUDA context. */
static inline const struct gpi_csr_kernels *gpi_csr_kernels_of(const gp_context *ctx,
                                                               const struct gpi_csr_coo *c)
{
    return gpi_csr_find(ctx, c->index_bytes, c->offset_bytes)->kernels;
}

/* The conversion and its workspace, per backend. */
gp_status gpi_csr_coo_cpu(gp_context *ctx, const struct gpi_csr_coo *args);
size_t gpi_csr_coo_cpu_bytes(const struct gpi_csr_coo *args);
gp_status gpi_csr_coo_cuda(gp_context *ctx, const struct gpi_csr_coo *args);
gp_status gpi_csr_coo_cuda_bytes(const gp_target *target, const struct gpi_csr_coo *args,
                                 size_t *bytes);
/* Of those that go by pairs. */
gp_status gpi_csr_transpose_cuda(gp_context *ctx, const struct gpi_csr_coo *args);
gp_status gpi_csr_transpose_cuda_bytes(const gp_target *target, const struct gpi_csr_coo *args,
                                       size_t *bytes);

/* What the descriptor says of counts in memory, which are arrays of the call. */
#define GPI_CSR_COUNTS(source)                                                                     \
    GPI_COUNT("desc->device_nnz", (source)->device_nnz),                                           \
        GPI_COUNT("desc->device_num_rows", (source)->device_num_rows)

/* Checks shared by the front doors of the room; ctx NULL in workspace calls. by: the dtypes are
 * members of a descriptor. */
gp_status gpi_csr_check_pair(gp_context *ctx, const char *f, bool by, gp_dtype index,
                             gp_dtype offset);
gp_status gpi_csr_check_value_dtype(gp_context *ctx, const char *f, bool by, gp_dtype dtype);
gp_status gpi_csr_check_count(gp_context *ctx, const char *f, bool by, const char *argument,
                              uint64_t count, gp_dtype index);
gp_status gpi_csr_check_nnz(gp_context *ctx, const char *f, bool by, uint64_t nnz, gp_dtype offset);

/* *d becomes the full struct. The members of a caller's (by) are checked; without values
 * value_dtype is 0. What the short form of a call makes is checked as its parameters. */
gp_status gpi_csr_take_desc(gp_context *ctx, const char *f, bool by, bool with_values,
                            const gp_csr_desc *given, gp_csr_desc *d);

/* The unsigned dtype of indices or offsets of this width, in bytes. */
static inline gp_dtype gpi_csr_unsigned(size_t bytes)
{
    return bytes == 8 ? GP_U64 : GP_U32;
}

#endif
