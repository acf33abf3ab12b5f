/* SPDX-License-Identifier: MIT */
/* Vectors of words with AVX2, see radixsort_cpu_vector.h. Words of 64 bits are compared as signed
 * ones, with their highest bit inverted. */
/* All bits of the first n lanes. */
static INLINE lanes first_lanes(size_t n)
{
    return EPI(_mm256_cmpgt)(all_lanes((KEY)n), (lanes)lane_numbers());
}

static INLINE lanes load_some(const KEY *words, size_t n, KEY rest)
{
    const lanes here = first_lanes(n), others = _mm256_andnot_si256(here, all_lanes(rest));
    return _mm256_or_si256(EPI(_mm256_maskload)((const void *)words, here), others);
}

static INLINE void store_first(KEY *words, size_t n, lanes v)
{
    EPI(_mm256_maskstore)((void *)words, first_lanes(n), v);
}

static INLINE lanes ordered(lanes v)
{
#if GPI_KEY_BITS == 32
    return v;
#else
    return _mm256_xor_si256(v, all_lanes((KEY)1 << 63));
#endif
}

static INLINE void exchange(lanes *a, lanes *b)
{
#if GPI_KEY_BITS == 32
    const lanes low = _mm256_min_epu32(*a, *b);
    *b = _mm256_max_epu32(*a, *b);
#else
    const lanes swap = _mm256_cmpgt_epi64(*a, *b);
    const lanes differ = _mm256_and_si256(_mm256_xor_si256(*a, *b), swap);
    const lanes low = _mm256_xor_si256(*a, differ);
    *b = _mm256_xor_si256(*b, differ);
#endif
    *a = low;
}

static INLINE lanes turned(lanes v, int turn)
{
    const lanes numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const lanes from = _mm256_xor_si256(numbers, _mm256_set1_epi32(turn * (KEY_BYTES / 4)));
    return _mm256_permutevar8x32_epi32(v, from);
}

static INLINE lanes larger_with(int bit, lanes a, lanes b)
{
#if GPI_KEY_BITS == 32
    const lanes low = _mm256_min_epu32(a, b), high = _mm256_max_epu32(a, b);
    return bit == 1   ? _mm256_blend_epi32(low, high, 0xaa)
           : bit == 2 ? _mm256_blend_epi32(low, high, 0xcc)
                      : _mm256_blend_epi32(low, high, 0xf0);
#else
    const lanes with =
        bit == 1 ? _mm256_setr_epi64x(0, -1, 0, -1) : _mm256_setr_epi64x(0, 0, -1, -1);
    return _mm256_blendv_epi8(a, b, _mm256_xor_si256(_mm256_cmpgt_epi64(a, b), with));
#endif
}

static INLINE void interleave_two(lanes a, lanes b, lanes *low, lanes *high)
{
    const lanes even = EPI(_mm256_unpacklo)(a, b), odd = EPI(_mm256_unpackhi)(a, b);
    *low = _mm256_permute2x128_si256(even, odd, 0x20);
    *high = _mm256_permute2x128_si256(even, odd, 0x31);
}

/* ---- partitions ------------------------------------------------------------------------------ */

/* Lanes of 32 bits, two of which a word of 64 bits has: for each set of them those that are not in
 * it, then those that are, a byte each. */
enum { NARROW_LANES = 8, NARROW_EACH = KEY_BYTES / 4 };
#define IN(set, lane) ((uint64_t)(set) >> (lane)&1)
#define BEFORE(set, lane)                                                                          \
    ((lane > 0) * IN(set, 0) + (lane > 1) * IN(set, 1) + (lane > 2) * IN(set, 2) +                 \
     (lane > 3) * IN(set, 3) + (lane > 4) * IN(set, 4) + (lane > 5) * IN(set, 5) +                 \
     (lane > 6) * IN(set, 6) + (lane > 7) * IN(set, 7))
#define PLACE(set, lane)                                                                           \
    (IN(set, lane) ? NARROW_LANES - BEFORE(set, NARROW_LANES) + BEFORE(set, lane)                  \
                   : lane - BEFORE(set, lane))
#define PUT(set, lane) ((uint64_t)(lane) << 8 * PLACE(set, lane))
#define ORDER(set)                                                                                 \
    (PUT(set, 0) | PUT(set, 1) | PUT(set, 2) | PUT(set, 3) | PUT(set, 4) | PUT(set, 5) |           \
     PUT(set, 6) | PUT(set, 7))
#define ORDER_4(set) ORDER(set), ORDER(set + 1), ORDER(set + 2), ORDER(set + 3)
#define ORDER_16(set) ORDER_4(set), ORDER_4(set + 4), ORDER_4(set + 8), ORDER_4(set + 12)
#define ORDER_64(set) ORDER_16(set), ORDER_16(set + 16), ORDER_16(set + 32), ORDER_16(set + 48)
static const uint64_t orders[1 << NARROW_LANES] = {ORDER_64(0), ORDER_64(64), ORDER_64(128),
                                                   ORDER_64(192)};

/* The lanes that are not in a set, then those that are. */
static INLINE lanes set_last(lanes v, size_t set)
{
    const __m128i order = _mm_loadl_epi64((const __m128i *)(const void *)&orders[set]);
    return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(order));
}

/* The set of lanes in which a is above b. */
static INLINE unsigned above_set(lanes a, lanes b)
{
#if GPI_KEY_BITS == 32
    const lanes not_above = _mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(not_above)) ^ 0xff;
#else
    const lanes above = _mm256_cmpgt_epi64(ordered(a), ordered(b));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(above));
#endif
}

/* The first n words of a vector to both ends. With room for a vector at both of them, its stores
 * need no masks. */
static INLINE void part_lanes(struct partition *p, lanes v, size_t n, bool room)
{
    const lanes pivot = all_lanes(p->pivot);
    const unsigned above = p->equal_left ? above_set(v, pivot) : above_set(pivot, v) ^ 0xff;
    const unsigned right = room ? above : above & ((1u << n * NARROW_EACH) - 1);
    const size_t to_right = (size_t)__builtin_popcount(right) / NARROW_EACH, to_left = n - to_right;
    const lanes both = set_last(v, right);
    if (room) {
        store_lanes(p->left, both);
        store_lanes(p->right - LANES, both);
    } else {
        store_first(p->left, to_left, both);
        store_first(p->right - to_right, to_right, set_last(v, right ^ 0xff));
    }
    p->left += to_left;
    p->right -= to_right;
}

enum { SPLIT_FEW = 16 };

/* Lanes of `at` whose word is not below the splitter go on by k. */
static INLINE lanes passed(lanes at, int k, lanes splitter, lanes word)
{
    const lanes by = all_lanes((KEY)k);
#if GPI_KEY_BITS == 32
    const lanes on = _mm256_cmpeq_epi32(_mm256_max_epu32(word, splitter), word);
    return _mm256_add_epi32(at, _mm256_and_si256(by, on));
#else
    const lanes below = _mm256_cmpgt_epi64(ordered(splitter), ordered(word));
    return _mm256_add_epi64(at, _mm256_andnot_si256(below, by));
#endif
}

/* The splitters with the given numbers. */
static INLINE lanes gathered(const KEY *splitters, lanes numbers)
{
    return GATHER(_mm256)((const void *)splitters, numbers, KEY_BYTES);
}

/* Counted among every step-th splitter, then found by halves. */
static INLINE void split_by(const KEY *splitters, int step, const KEY *words, size_t n,
                            uint8_t *digits)
{
    for (size_t i = 0; i < n; i += LANES) {
        const lanes word = load_some(words + i, n - i < LANES ? n - i : LANES, (KEY)-1);
        lanes at = _mm256_setzero_si256();
        KEY numbers[LANES];
        for (int k = 1; k < SPLIT_FEW; k++)
            at = passed(at, step, all_lanes(splitters[k * step - 1]), word);
        UNROLL
        for (int k = step / 2; k > 0; k /= 2)
            at = passed(at, k, gathered(splitters + k - 1, at), word);
        store_lanes(numbers, at);
        for (int k = 0; k < LANES; k++)
            digits[i + (size_t)k] = (uint8_t)numbers[k];
    }
}
