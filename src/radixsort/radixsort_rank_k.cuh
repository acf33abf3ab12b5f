/* SPDX-License-Identifier: MIT */
/*
 * Sorts of few items by all blocks, whatever their keys are.
 *
 * Up to some thousand: each block ranks some items among all of them (radixsort_ranks.cuh) and
 * writes these. No block waits for another, unless the output is the input: then all have to have
 * read it.
 *
 * Up to some ten thousand: each block sorts a piece of the array. 32 samples of each piece are
 * ranked among all samples, and those at equal distances are the bounds of buckets (Shi and
 * Schaeffer 1992, regular sampling). A block looks up where the bounds of its bucket lie in each
 * piece, and ranks the bucket's items. Items are compared by word and place, so equal keys are no
 * trouble; and as samples are at equal distances in their piece, no bucket has more than 1 + p / 32
 * times the mean of p pieces.
 */
#pragma once

#include <algorithm>

#include "device/lasting_barrier.cuh"
#include "radixsort/radixsort_bucket_order.cuh"
#include "radixsort/radixsort_ranks.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB> struct RankJob {
    using V = typename Payload<VB>::type;
    using Word = RadixWord<K>;
    const RadixJob<K, V> &job;

    GPI_DEVICE Word word(K key) const
    {
        const KeyCodec<K, FLOAT, VB> codec = {job.order};
        return (Word)(K)(codec.word(codec.encode(key)) & job.compared());
    }

    GPI_DEVICE V value(uint32_t from, uint64_t p) const
    {
        if constexpr (VB > 0)
            return job.values[from] ? job.values_at(from).load(p) : (V)p;
        return V();
    }

    GPI_DEVICE void write(uint32_t to, uint64_t p, K key, V value) const
    {
        if (to == gpi_radix_tmp || job.keys_wanted)
            job.keys[to][p] = key;
        if constexpr (VB > 0)
            job.values_at(to).store(p, value);
    }
};

/* Each block sorts the runs of all items, so they are short. */
template <class K, int T> using RankItems = RankedItems<RadixWord<K>, T, 32>;

/* Grid: any number of blocks with a thread for each of their items; cooperative if the output is
 * the input, job.met is set then. After: the output. */
template <class K, bool FLOAT, int VB, int T>
__global__ void __launch_bounds__(T) radix_rank_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    using Job = RankJob<K, FLOAT, VB>;
    const Job sort = {job};
    const K *keys = job.keys[gpi_radix_in];
    const int n = (int)item_count(job), blocks = (int)gridDim.x;
    const int rows = ((int)job.n + 31) / 32, own = (rows + blocks - 1) / blocks;
    const int row = (int)blockIdx.x * own, p = row * 32 + (int)threadIdx.x;
    const bool mine = (int)threadIdx.x < own * 32 && p < n;
    if (row * 32 >= n)
        return;
    K key = 0;
    typename Job::V value = typename Job::V();
    if (mine) { /* they are on their way meanwhile */
        key = keys[p];
        value = sort.value(gpi_radix_in, p);
    }
    RankItems<K, T> items(memory, (int)job.n);
    items.load(n, [&](int i) { return sort.word(keys[i]); });
    __syncthreads();
    const LastingBarrier all_have_read = {job.met};
    const bool waits = job.met && threadIdx.x == 0;
    const uint32_t before = waits ? all_have_read.arrive((n + own * 32 - 1) / (own * 32)) : 0;
    items.rank(row, min(own, (n + 31) / 32 - row));
    if (waits)
        all_have_read.await(before);
    __syncthreads();
    if (mine)
        sort.write(gpi_radix_out, items.ranks[p], key, value);
}

constexpr int piece_samples = 32, pieces_max = 256;

/* The pieces of n items for some blocks, and the samples of a piece. */
struct Pieces {
    static constexpr int least = 64; /* items of one, but the last */
    int n, each, number;

    static __host__ __device__ Pieces of(int n, int blocks)
    {
        const int some = (n + blocks - 1) / blocks, each = (some + 31) / 32 * 32;
        const int items = each < least ? least : each;
        return {n, items, (n + items - 1) / items};
    }

    /* Items that a bucket has at most, of n or fewer. */
    static __host__ __device__ int bucket_max(int n, int blocks)
    {
        const int most = (piece_samples + blocks) * (of(n, blocks).each / piece_samples);
        return most < n ? most : n;
    }

    GPI_DEVICE int count(int piece) const
    {
        return n - piece * each < each ? n - piece * each : each;
    }

    GPI_DEVICE int apart() const
    {
        return each / piece_samples;
    }

    /* The place of a piece's first sample; it differs by piece, or pieces that are alike would all
     * have the same samples. */
    GPI_DEVICE int first_sample(int piece) const
    {
        return (int)__umulhi((uint32_t)piece * 0x9e3779b1u, (uint32_t)apart());
    }

    GPI_DEVICE int samples(int piece) const
    {
        const int beyond = count(piece) - first_sample(piece);
        return beyond <= 0 ? 0 : min((beyond + apart() - 1) / apart(), piece_samples);
    }

    GPI_DEVICE int all_samples() const
    {
        return (number - 1) * piece_samples + samples(number - 1);
    }
};

template <class K, bool FLOAT, int VB, int T> struct PiecesKernel {
    using Job = RankJob<K, FLOAT, VB>;
    using Word = typename Job::Word;
    using Items = RankedItems<Word, T, 128>;
    static_assert(T >= 2 * pieces_max, "a thread for each end of a bucket in each piece");

    /* The first item of a bucket. */
    struct Bound {
        Word word;
        uint32_t at;
    };
    /* In the scratch. */
    struct Learned {
        Bound bounds[pieces_max];
        Word samples[pieces_max * piece_samples];
    };
    struct Shared {
        uint32_t sample_ranks[piece_samples];
        uint32_t cut[2][pieces_max]; /* where the bucket begins and ends in each piece */
        uint32_t begin[pieces_max];  /* where a piece's part of the bucket begins */
        uint32_t total[T / 32];
    };

    static constexpr int sample_batch = 4; /* rows */

    /* Of the samples of that many pieces, in whole batches. */
    static __host__ __device__ constexpr int samples_room(int number)
    {
        return (number + sample_batch - 1) / sample_batch * sample_batch * piece_samples;
    }

    static int shared_bytes(int blocks, int most)
    {
        return (int)(sizeof(Shared) + samples_room(blocks) * sizeof(Word)) + Items::bytes(most);
    }

    const Job sort;
    const Pieces pieces;
    Shared &s;
    Word *samples; /* a row for each piece */
    Items items;
    LastingBarrier barrier;
    const int own = (int)blockIdx.x;

    GPI_DEVICE PiecesKernel(const RadixJob<K, typename Job::V> &job, int n, char *memory)
        : sort{job}, pieces(Pieces::of(n, (int)gridDim.x)), s(*(Shared *)memory),
          samples((Word *)(memory + sizeof(Shared))),
          items((char *)(samples + samples_room((int)gridDim.x)),
                Pieces::bucket_max((int)job.one_bucket_max, (int)gridDim.x)),
          barrier{job.met}
    {
    }

    GPI_DEVICE Learned &learned() const
    {
        return *(Learned *)sort.job.states[0];
    }

    /* The samples of the own piece, whose items have their ranks. */
    GPI_DEVICE void take_samples()
    {
        const int apart = pieces.apart(), skip = pieces.first_sample(own);
        Word *to = learned().samples + own * piece_samples;
        for (int p = threadIdx.x; p < items.count; p += T)
            if (const int i = (int)items.ranks[p] - skip; i >= 0 && i % apart == 0)
                to[i / apart] = items.words[p];
        if (threadIdx.x < piece_samples && (int)threadIdx.x >= pieces.samples(own))
            to[threadIdx.x] = (Word) ~(Word)0;
    }

    /* The samples of the own piece that bound a bucket. */
    GPI_DEVICE void find_bounds()
    {
        const int room = samples_room(pieces.number), all = pieces.all_samples();
        for (int i = threadIdx.x; i < room; i += T)
            samples[i] = i < all ? learned().samples[i] : (Word) ~(Word)0;
        if (threadIdx.x < piece_samples)
            s.sample_ranks[threadIdx.x] = 0;
        __syncthreads();
        const Word word = samples[own * 32 + lane_id()];
#pragma unroll 1
        for (int row = (int)threadIdx.x / 32 * sample_batch; row * 32 < room;
             row += T / 32 * sample_batch)
            atomicAdd(&s.sample_ranks[lane_id()],
                      words_before<32, sample_batch>(samples, samples, row, own, word));
        __syncthreads();
        if ((int)threadIdx.x < pieces.samples(own)) {
            const int rank = (int)s.sample_ranks[threadIdx.x], number = pieces.number;
            const int bucket = (rank * number + all - 1) / all;
            if (bucket < number && bucket * all / number == rank)
                learned().bounds[bucket] = {word, (uint32_t)(own * pieces.each +
                                                             pieces.first_sample(own) +
                                                             (int)threadIdx.x * pieces.apart())};
        }
    }

    /* How many items of a piece are before a bound. */
    GPI_DEVICE int items_before(int piece, Bound bound) const
    {
        const int owner = (int)bound.at / pieces.each, first = piece * pieces.each;
        if (piece == owner)
            return (int)bound.at - first;
        const auto before = [&](Word word) {
            return word < bound.word || (word == bound.word && piece < owner);
        };
        const Word *row = samples + piece * 32;
        int number = 0;
        for (int step = 32; step; step /= 2)
            if (number + step <= pieces.samples(piece) && before(row[number + step - 1]))
                number += step;
        const int skip = pieces.first_sample(piece), apart = pieces.apart();
        int low = number ? skip + (number - 1) * apart + 1 : 0;
        int high = min(skip + number * apart, pieces.count(piece));
        const K *keys = sort.job.keys[gpi_radix_tmp] + first;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (before(sort.word(keys[middle])))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* The parts of the own bucket in all pieces. */
    GPI_DEVICE void cut_pieces()
    {
        const int piece = (int)threadIdx.x % pieces_max, end = (int)threadIdx.x / pieces_max;
        if (piece < pieces.number && end < 2) {
            const int bound = own + end;
            s.cut[end][piece] = bound == 0 ? 0
                                : bound == pieces.number
                                    ? pieces.count(piece)
                                    : items_before(piece, learned().bounds[bound]);
        }
        __syncthreads();
    }

    /* The item of the temporary array that is one of the bucket's. */
    GPI_DEVICE uint32_t item_at(int i) const
    {
        int piece = 0;
#pragma unroll
        for (int step = pieces_max / 2; step; step /= 2)
            if (piece + step < pieces.number && s.begin[piece + step] <= (uint32_t)i)
                piece += step;
        return piece * pieces.each + s.cut[0][piece] + i - s.begin[piece];
    }

    /* The own bucket: where it begins in the output, and how many items it has. */
    GPI_DEVICE uint2 find_bucket()
    {
        cut_pieces();
        const int piece = (int)threadIdx.x;
        const bool has = piece < pieces.number;
        const uint32_t from = has ? s.cut[0][piece] : 0, size = has ? s.cut[1][piece] - from : 0;
        const uint2 sizes = block_sums<T>(size, s.total);
        if (has)
            s.begin[piece] = sizes.x;
        return make_uint2(block_sums<T>(from, s.total).y, sizes.y);
    }

    /* The own piece goes to the temporary array, in order, then the own bucket to the output: in a
     * loop, as code that runs once has to come from memory first. */
    GPI_DEVICE void run()
    {
        if (own >= pieces.number)
            return;
        uint2 part = make_uint2(own * pieces.each, pieces.count(own));
        uint32_t from = gpi_radix_in, to = gpi_radix_tmp;
#pragma unroll 1
        for (;;) {
            const K *keys = sort.job.keys[from];
            items.load((int)part.y, [&](int i) {
                const uint32_t at = from == gpi_radix_in ? part.x + i : item_at(i);
                items.source[i] = at;
                return sort.word(keys[at]);
            });
            __syncthreads();
            items.rank(0, (items.count + 31) / 32);
            __syncthreads();
            for (int p = threadIdx.x; p < items.count; p += T) {
                const uint32_t at = items.source[p];
                sort.write(to, part.x + items.ranks[p], keys[at], sort.value(from, at));
            }
            if (to == gpi_radix_out)
                return;
            take_samples();
            barrier.wait(pieces.number);
            find_bounds();
            barrier.wait(pieces.number);
            part = find_bucket();
            __syncthreads();
            from = gpi_radix_tmp;
            to = gpi_radix_out;
        }
    }
};

/* Grid: cooperative; the number of items decides how many blocks have a piece. After: the output,
 * if there are at most job.one_bucket_max items; otherwise nothing is done. */
template <class K, bool FLOAT, int VB, int T>
__global__ void __launch_bounds__(T, 1)
    radix_pieces_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    const uint64_t n = item_count(job);
    if (n <= job.one_bucket_max)
        PiecesKernel<K, FLOAT, VB, T>(job, (int)n, memory).run();
}

/* ---- launches ---- */

constexpr int rank_threads = 1024, piece_threads = 512;

inline int ranking_blocks(const gp_context *ctx, int n)
{
    const int rows = (n + 31) / 32; /* of 32 items */
    const int each = std::min((rows + ctx->sm_count - 1) / ctx->sm_count, rank_threads / 32);
    return (rows + each - 1) / each;
}

/* Whether a sort goes by ranks. In place, all blocks have to run at once. */
template <class K> bool sorts_by_ranks(const gp_context *ctx, const RadixKeys<K> &job)
{
    return job.n * sizeof(RadixWord<K>) <= radix_tuning.ranked_bytes &&
           RankItems<K, rank_threads>::bytes((int)job.n) <= radix_tuning.shared_bytes &&
           !(job.in_place && ranking_blocks(ctx, (int)job.n) > ctx->sm_count);
}

template <class K> gp_status set_met(const CallLaunches &list, RadixKeys<K> &job)
{
    gpi_state state;
    GPI_TRY(gpi_state_get(list.ctx, list.function, 1, &state));
    job.met = LastingBarrier::of(state);
    return GP_OK;
}

template <class K, bool FLOAT, int VB>
gp_status add_ranks(CallLaunches &list, RadixJobOf<K, VB> &job)
{
    const int n = (int)job.n, shared = RankItems<K, rank_threads>::bytes(n);
    static uint64_t allowed;
    auto kernel = radix_rank_k<K, FLOAT, VB, rank_threads>;
    if (job.in_place)
        GPI_TRY(set_met(list, job));
    gpi_launch launch =
        launch_of(kernel, (unsigned)ranking_blocks(list.ctx, n), rank_threads, shared, job);
    launch.cooperative = job.in_place;
    return list.add_with(radix_tuning.shared_bytes, &allowed, launch);
}

inline int piece_blocks(const gp_context *ctx, int n)
{
    return std::min({ctx->sm_count, pieces_max, (n + Pieces::least - 1) / Pieces::least});
}

template <class K, bool FLOAT, int VB> int pieces_shared_bytes(const gp_context *ctx, int n)
{
    using Work = PiecesKernel<K, FLOAT, VB, piece_threads>;
    const int blocks = piece_blocks(ctx, n);
    return Work::shared_bytes(blocks, Pieces::bucket_max(n, blocks));
}

/* How many of n items may be sorted by pieces, if there is a temporary array. */
template <class K, bool FLOAT, int VB> uint32_t items_by_pieces(const gp_context *ctx, uint64_t n)
{
    const int most = (int)std::min(n, radix_tuning.piece_items);
    return pieces_shared_bytes<K, FLOAT, VB>(ctx, most) <= radix_tuning.shared_bytes
               ? (uint32_t)most
               : 0;
}

/* Up to job.one_bucket_max items; if there are more, it does nothing. */
template <class K, bool FLOAT, int VB>
gp_status add_pieces(CallLaunches &list, RadixJobOf<K, VB> &job)
{
    static uint64_t allowed;
    auto kernel = radix_pieces_k<K, FLOAT, VB, piece_threads>;
    const int most = (int)job.one_bucket_max;
    GPI_TRY(set_met(list, job));
    return list.add_with(
        radix_tuning.shared_bytes, &allowed,
        launch_cooperative(kernel, (unsigned)piece_blocks(list.ctx, most), piece_threads,
                           pieces_shared_bytes<K, FLOAT, VB>(list.ctx, most), job));
}

} // namespace GPI_SPACE
