/* SPDX-License-Identifier: MIT */
/*
 * Row pointers from sorted rows.
 *
 * A warp has a chunk of entries in registers, 16 bytes of a lane at a time. Where the row of an
 * entry differs from the one before, the pointers between the two are written; or, in
 * csr_count_kernels.cuh, the run of the row before is counted.
 */
#pragma once

#include "csr/csr_kernels.cuh"
#include "device/grid.cuh"
#include "device/search.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

/* Rows as the caller gave them: entry i is element i of the result. */
template <class I> struct PlainRows {
    using Word = I;
    const I *words;

    GPI_DEVICE void choose()
    {
    }
    GPI_DEVICE I row(I word) const
    {
        return word;
    }
    GPI_DEVICE uint64_t place(uint64_t i) const
    {
        return i;
    }
    GPI_DEVICE uint64_t end(uint64_t n) const
    {
        return n;
    }
};

/* Entries of a chunk, in steps of a warp: a vector of a lane each. */
template <class Word> constexpr int rows_vector = 16 / sizeof(Word);
template <class Word> constexpr int rows_steps = csr_tuning.row_steps / (sizeof(Word) / 4);
template <class Word> constexpr uint32_t rows_chunk = 32 * rows_steps<Word> *rows_vector<Word>;
constexpr uint32_t rows_warps = csr_tuning.threads / 32;

/* Chunks of n entries that begin at any element; chunks are counted from the 16-byte boundary. */
template <class Word> __host__ __device__ __forceinline__ uint32_t rows_pad(const Word *words)
{
    return (uint32_t)((uintptr_t)words / sizeof(Word) % rows_vector<Word>);
}

template <class Word>
__host__ __device__ __forceinline__ uint64_t rows_chunks(const Word *words, uint64_t n)
{
    return n ? (n + rows_pad(words) + rows_chunk<Word> - 1) / rows_chunk<Word> : 0;
}

/*
 * A chunk of rows. Places before entry 0 have row 0, and those behind the last entry its row, so
 * that neither begins a run; `before` is the row of the entry before the lane's vector.
 */
template <class Rows> struct RowChunk {
    using Word = typename Rows::Word;
    static constexpr int V = rows_vector<Word>, K = rows_steps<Word>;

    int64_t begin; /* entry of the lane's first place */
    bool inside;   /* all places have an entry, and there is one before them */
    Word row[K][V], before[K];

    GPI_DEVICE RowChunk(const Rows &in, uint64_t chunk, uint64_t n)
        : begin((int64_t)(chunk * rows_chunk<Word> + lane_id() * V) - rows_pad(in.words))
    {
        Word last = 0;
        if (lane_id() == 0 && begin > 0)
            last = in.row(in.words[begin - 1]);
        const uint64_t first = chunk * rows_chunk<Word>;
        inside = chunk > 0 && first - rows_pad(in.words) + rows_chunk<Word> <= n;
        if (inside) {
#pragma unroll
            for (int k = 0; k < K; k++)
                load_vector(in, k);
        } else {
#pragma unroll
            for (int k = 0; k < K; k++)
                load(in, k, n);
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
#pragma unroll
            for (int j = 0; j < V; j++)
                row[k][j] = in.row(row[k][j]);
            const Word left = shuffle_up(row[k][V - 1], 1);
            before[k] = lane_id() == 0 ? last : left;
            last = shuffle(row[k][V - 1], 31);
        }
    }

    /* Of the first place of step k. */
    GPI_DEVICE int64_t entry(int k) const
    {
        return begin + k * 32 * V;
    }

    /* Whether the rows of step k descend. */
    GPI_DEVICE bool falls(int k) const
    {
        bool falls = row[k][0] < before[k] && entry(k) > 0;
#pragma unroll
        for (int j = 1; j < V; j++)
            falls |= row[k][j] < row[k][j - 1];
        return falls;
    }

  private:
    GPI_DEVICE void load_vector(const Rows &in, int k)
    {
        union {
            uint4 vector;
            Word word[V];
        } u;
        u.vector = __ldcs((const uint4 *)(in.words + entry(k)));
#pragma unroll
        for (int j = 0; j < V; j++)
            row[k][j] = u.word[j];
    }

    GPI_DEVICE void load(const Rows &in, int k, uint64_t n)
    {
        const int64_t e = entry(k);
        if (e >= 0 && (uint64_t)e + V <= n) {
            load_vector(in, k);
            return;
        }
#pragma unroll
        for (int j = 0; j < V; j++)
            row[k][j] = e + j < 0 ? 0 : in.words[min((uint64_t)(e + j), n - 1)];
    }
};

/* The first entry of this lane that is out of range or, if sorted, below the one before it. */
template <class I>
GPI_DEVICE void report_row(const PlainRows<I> &in, uint64_t chunk, uint64_t n, uint64_t num_rows,
                           bool sorted, const gpi_reporter &reporter)
{
    constexpr int V = rows_vector<I>;
    const I *rows = in.words;
#pragma unroll 1
    for (int k = 0; k < rows_steps<I> * V; k++) {
        const int64_t place =
            (int64_t)(chunk * rows_chunk<I> + (k / V * 32 + lane_id()) * V + k % V) -
            rows_pad(rows);
        const uint64_t i = (uint64_t)place;
        if (place < 0 || i >= n)
            continue;
        if (sorted && i > 0 && rows[i] < rows[i - 1])
            return report(reporter, GPI_RULE_FALLS, i, rows[i], rows[i - 1]);
        if (rows[i] >= num_rows)
            return report(reporter, GPI_RULE_BELOW, i, rows[i], num_rows);
    }
}

/* ---- row pointers ---------------------------------------------------------------------------- */

/* What a lane has found among its rows: one below the one before, one out of range. */
struct RowFaults {
    bool fall, range;
};

/* A gap that a lane fills by itself. */
constexpr uint32_t gap_short = 8;

/*
 * Pointer p is written by the chunk of the first entry of row p or later, or, behind the last
 * entry's row, by the end, which counts as one more chunk. A chunk that has more than pointer_block
 * pointers leaves them to blocks that have pointer_block of them each: so no warp writes more,
 * wherever gaps are. Such a chunk has more pointers than a block of them, so the block need only
 * look at the chunks of its first and its last one.
 */
template <class O, class Rows> struct RowPointers {
    using Word = typename Rows::Word;
    static constexpr int V = rows_vector<Word>, K = rows_steps<Word>;
    static constexpr uint64_t block = csr_tuning.pointer_block;

    const Rows &in;
    uint64_t n, num_rows, chunks;
    O *out;

    GPI_DEVICE RowPointers(const Rows &rows, uint64_t entries, uint64_t row_count, O *pointers)
        : in(rows), n(entries), num_rows(row_count), chunks(rows_chunks(rows.words, entries)),
          out(pointers)
    {
    }

    /* The end of the pointers of a chunk of entries. */
    GPI_DEVICE uint64_t end_of(uint64_t chunk) const
    {
        const uint64_t end = (chunk + 1) * rows_chunk<Word> - rows_pad(in.words);
        return (uint64_t)in.row(__ldg(in.words + min(end, n) - 1)) + 1;
    }

    GPI_DEVICE uint64_t begin_of(uint64_t chunk) const
    {
        return chunk == 0 ? 0 : end_of(chunk - 1);
    }

    static GPI_DEVICE bool is_long(uint64_t begin, uint64_t end)
    {
        return end > begin && end - begin > block;
    }

    /* The entries below row p, of a vector that has the first one that is not. */
    static GPI_DEVICE uint64_t rank(int64_t entry, const Word (&row)[V], uint64_t p)
    {
        int below = 0;
#pragma unroll
        for (int j = 0; j < V - 1; j++)
            below += row[j] < (Word)p;
        return p == 0 ? 0 : (uint64_t)(entry + below);
    }

    /* The pointers of lanes' vectors, as far as they are in [low, high); every lane of a warp. */
    GPI_DEVICE void write(int64_t entry, const Word (&row)[V], Word before, uint64_t low,
                          uint64_t high) const
    {
        const uint64_t first = max(entry <= 0 ? 0 : (uint64_t)before + 1, low);
        const uint64_t end = min((uint64_t)row[V - 1] + 1, high);
        const uint64_t length = end > first ? end - first : 0;
        if (length <= gap_short)
#pragma unroll 1
            for (uint32_t t = 0; t < (uint32_t)length; t++)
                out[first + t] = (O)in.place(rank(entry, row, first + t));
        for (uint32_t todo = __ballot_sync(all_lanes, length > gap_short); todo; todo &= todo - 1) {
            const int leader = __ffs(todo) - 1;
            const uint64_t from = shuffle(first, leader), to = shuffle(end, leader);
            const int64_t at = shuffle(entry, leader);
            Word theirs[V];
#pragma unroll
            for (int j = 0; j < V; j++)
                theirs[j] = shuffle(row[j], leader);
#pragma unroll 1
            for (uint64_t p = from + lane_id(); p < to; p += 32)
                out[p] = (O)in.place(rank(at, theirs, p));
        }
    }

    /* The pointers of a chunk in [low, high); none if rows descend there, as the gaps between such
     * have any length. */
    GPI_DEVICE RowFaults write_chunk(const RowChunk<Rows> &c, uint64_t low, uint64_t high) const
    {
        RowFaults faults = {};
#pragma unroll
        for (int k = 0; k < K; k++)
            faults.fall |= c.falls(k);
        if (__any_sync(all_lanes, faults.fall))
            high = low;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const bool differs = c.row[k][V - 1] != c.before[k] || c.entry(k) <= 0;
            if (!__any_sync(all_lanes, differs))
                continue;
            faults.range |= c.row[k][V - 1] >= num_rows;
            write(c.entry(k), c.row[k], c.before[k], low, high);
        }
        return faults;
    }

    /* The pointers of entry e with this row and that before, if it skips few; by its lane. */
    GPI_DEVICE void write_few(int64_t e, Word row, Word before) const
    {
        const O value = (O)in.place((uint64_t)e);
        if (row != before)
            out[row] = value;
#pragma unroll 1
        for (Word p = before + 1; p < row; p++)
            out[p] = value;
    }

    /* The pointers of a chunk that ascends in short steps. false, and nothing is written: it is not
     * such a chunk. Steps that are so short and wrap would end below where they began. */
    GPI_DEVICE bool write_dense(const RowChunk<Rows> &c) const
    {
        const Word last = shuffle(c.row[K - 1][V - 1], 31);
        if (!c.inside || last >= num_rows || last < shuffle(c.before[0], 0))
            return false;
        Word most = 0;
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int j = 0; j < V; j++)
                most = max(most, (Word)(c.row[k][j] - (j ? c.row[k][j - 1] : c.before[k])));
        if (__any_sync(all_lanes, most > gap_short))
            return false;
        const bool skips = __any_sync(all_lanes, most > 1);
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int j = 0; j < V; j++) {
                const Word row = c.row[k][j], before = j ? c.row[k][j - 1] : c.before[k];
                if (skips)
                    write_few(c.entry(k) + j, row, before);
                else if (row != before)
                    out[row] = (O)in.place((uint64_t)(c.entry(k) + j));
            }
        return true;
    }

    /* All pointers behind the last entry's row, by a warp. */
    GPI_DEVICE void write_end(uint64_t low, uint64_t high) const
    {
        const O value = (O)in.end(n);
#pragma unroll 1
        for (uint64_t p = low + lane_id(); p < high; p += 32)
            out[p] = value;
    }

    /* unsorted NULL: rows have to ascend. Otherwise unsorted[0] becomes the number of entries and
     * unsorted[1] that of rows if they do not. A reporter without a record: nothing is reported. */
    GPI_DEVICE void tell(uint64_t chunk, RowFaults faults, uint64_t *unsorted,
                         const gpi_reporter &reporter) const
    {
        if (unsorted && __any_sync(all_lanes, faults.fall) && lane_id() == 0) {
            unsorted[1] = num_rows;
            unsorted[0] = n;
        }
        if (reporter.sticky && (faults.range || (faults.fall && !unsorted)))
            report_row(in, chunk, n, num_rows, !unsorted, reporter);
    }

    /* A chunk, or the end, by a warp. */
    GPI_DEVICE void take(uint64_t chunk, uint64_t *unsorted, const gpi_reporter &reporter) const
    {
        const uint64_t pointers = num_rows + 1;
        if (chunk == chunks) {
            const uint64_t first = begin_of(chunk);
            if (!is_long(first, pointers))
                write_end(first, pointers);
            return;
        }
        const RowChunk<Rows> c(in, chunk, n);
        if (write_dense(c))
            return;
        const Word before = shuffle(c.before[0], 0), last = shuffle(c.row[K - 1][V - 1], 31);
        const bool left = is_long(chunk ? (uint64_t)before + 1 : 0, (uint64_t)last + 1);
        tell(chunk, write_chunk(c, 0, left ? 0 : pointers), unsorted, reporter);
    }

    /* The part in [low, high) of a chunk's pointers, if that leaves them to others; by a warp. */
    GPI_DEVICE void take_left(uint64_t chunk, uint64_t low, uint64_t high) const
    {
        const uint64_t first = begin_of(chunk);
        if (chunk == chunks) {
            if (is_long(first, num_rows + 1))
                write_end(max(first, low), high);
        } else if (is_long(first, end_of(chunk))) {
            write_chunk(RowChunk<Rows>(in, chunk, n), low, high);
        }
    }

    /* The chunk that writes pointer p, by a warp. */
    GPI_DEVICE uint64_t chunk_of(uint64_t p) const
    {
        return partition_point_lanes(chunks, [&](uint64_t c) { return end_of(c) <= p; });
    }

    /* What chunks have left of the pointers from `first` on, by a block. */
    GPI_DEVICE void fill_block(uint64_t first, uint64_t (&found)[2]) const
    {
        const uint64_t end = min(first + block, num_rows + 1);
        const uint32_t warp = threadIdx.x / 32;
        if (warp < 2)
            found[warp] = chunk_of(warp ? end - 1 : first);
        __syncthreads();
        const uint64_t low = first + warp * (block / rows_warps);
        const uint64_t high = min(low + block / rows_warps, end);
        const int count = found[0] == found[1] ? 1 : 2;
#pragma unroll 1 /* one copy of what the loop has */
        for (int k = 0; k < count; k++)
            take_left(found[k], low, high);
        __syncthreads();
    }
};

/*
 * Blocks below fill_blocks: blocks of pointers, of which chunks have left some. The others: a chunk
 * of entries per warp, and one for the end. Every pointer has one writer as long as rows ascend and
 * are in range; otherwise pointers are unspecified, and nothing outside them is written. unsorted:
 * see tell(); blocks that begin when it is known do nothing. COUNTED: as csr_tiles(); a loop costs
 * rows of 8 bytes a fifth of the rate.
 */
template <bool COUNTED, class O, class Rows>
__global__ __launch_bounds__(csr_tuning.threads) void csr_pointers_k(Rows in, ItemCount entries,
                                                                     ItemCount rows, O *out,
                                                                     uint32_t fill_blocks,
                                                                     uint64_t *unsorted,
                                                                     gpi_reporter reporter)
{
    __shared__ uint64_t found[2];
    if constexpr (COUNTED)
        grid_wait();
    if (unsorted && *unsorted)
        return;
    in.choose();
    const uint64_t n = COUNTED ? item_count(entries) : entries.n;
    const RowPointers<O, Rows> pointers(in, n, COUNTED ? item_count(rows) : rows.n, out);
    const uint64_t chunks = pointers.chunks;
    constexpr uint64_t block = RowPointers<O, Rows>::block;
    if (blockIdx.x < fill_blocks) {
        for (uint64_t b = blockIdx.x; b * block <= pointers.num_rows; b += fill_blocks)
            pointers.fill_block(b * block, found);
        return;
    }
    uint64_t chunk = (uint64_t)(blockIdx.x - fill_blocks) * rows_warps + threadIdx.x / 32;
    if constexpr (COUNTED)
        for (; chunk <= chunks; chunk += (uint64_t)(gridDim.x - fill_blocks) * rows_warps)
            pointers.take(chunk, unsorted, reporter);
    else if (chunk <= chunks)
        pointers.take(chunk, unsorted, reporter);
}

} // namespace GPI_SPACE
