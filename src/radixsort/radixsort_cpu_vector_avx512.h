/* SPDX-License-Identifier: MIT */
/* Vectors of words with AVX-512, see radixsort_cpu_vector.h. */
#define EPU(name) PASTE(PASTE(name, _epu), GPI_KEY_BITS)
#if GPI_KEY_BITS == 32
#define LANE_MASK __mmask16
#else
#define LANE_MASK __mmask8
#endif

typedef LANE_MASK lane_mask;

static INLINE lane_mask first_lanes(size_t n)
{
    return (lane_mask)((1u << n) - 1);
}

static INLINE lanes load_some(const KEY *words, size_t n, KEY rest)
{
    return EPI(_mm512_mask_loadu)(all_lanes(rest), first_lanes(n), words);
}

static INLINE void store_first(KEY *words, size_t n, lanes v)
{
    EPI(_mm512_mask_storeu)(words, first_lanes(n), v);
}

static INLINE lanes ordered(lanes v)
{
    return v;
}

static INLINE void exchange(lanes *a, lanes *b)
{
    lanes low = EPU(_mm512_min)(*a, *b);
    *b = EPU(_mm512_max)(*a, *b);
    *a = low;
}

static INLINE lanes turned(lanes v, int turn)
{
    return EPI(_mm512_permutexvar)((lanes)(lane_numbers() ^ (KEY)turn), v);
}

static INLINE lanes larger_with(int bit, lanes a, lanes b)
{
    const lane_mask mask = (lane_mask)(bit == 1   ? 0xaaaa
                                       : bit == 2 ? 0xcccc
                                       : bit == 4 ? 0xf0f0
                                                  : 0xff00);
    return EPU(_mm512_mask_max)(EPU(_mm512_min)(a, b), mask, a, b);
}

static INLINE void interleave_two(lanes a, lanes b, lanes *low, lanes *high)
{
    const lane_words from = lane_numbers() / 2 + lane_numbers() % 2 * LANES;
    *low = EPI(_mm512_permutex2var)(a, (lanes)from, b);
    *high = EPI(_mm512_permutex2var)(a, (lanes)(from + LANES / 2), b);
}

/* The first n words of a vector to both ends. With room for a vector on the left, the store there
 * needs no mask. */
static INLINE void part_lanes(struct partition *p, lanes v, size_t n, bool room)
{
    const lanes pivot = all_lanes(p->pivot);
    const lane_mask above = p->equal_left ? PASTE(EPU(_mm512_cmpgt), _mask)(v, pivot)
                                          : PASTE(EPU(_mm512_cmpge), _mask)(v, pivot);
    const lane_mask right = above & first_lanes(n);
    const lane_mask left = (lane_mask)(first_lanes(n) & ~right);
    const size_t to_right = (size_t)__builtin_popcount((unsigned)right), to_left = n - to_right;
    const lanes low = EPI(_mm512_maskz_compress)(left, v);
    const lanes high = EPI(_mm512_maskz_compress)(right, v);
    if (room)
        store_lanes(p->left, low);
    else
        store_first(p->left, to_left, low);
    p->left += to_left;
    p->right -= to_right;
    store_first(p->right, to_right, high);
}

enum { SPLIT_FEW = 2 * LANES };

/* The splitters with the given numbers. */
static INLINE lanes gathered(const KEY *splitters, lanes numbers)
{
    return GATHER(_mm512)(numbers, splitters, KEY_BYTES);
}

/* Lanes of `at` whose word is not below the splitter go on by k. */
static INLINE lanes passed(lanes at, int k, lanes splitter, lanes word)
{
    const lane_mask on = PASTE(EPU(_mm512_cmple), _mask)(splitter, word);
    return EPI(_mm512_mask_add)(at, on, at, all_lanes((KEY)k));
}

/* Found by halves: first among every step-th splitter, in two registers. */
static INLINE void split_by(const KEY *splitters, int step, const KEY *words, size_t n,
                            uint8_t *digits)
{
    const lanes steps = (lanes)(lane_numbers() * (KEY)step);
    const lanes low = gathered(splitters + step - 1, steps);
    const lanes high = gathered(splitters + (LANES + 1) * step - 1, steps);
    for (size_t i = 0; i < n; i += LANES) {
        const lanes word = load_some(words + i, n - i < LANES ? n - i : LANES, (KEY)-1);
        lanes at = _mm512_setzero_si512();
        UNROLL
        for (int k = LANES; k > 0; k /= 2) {
            const lanes next = EPI(_mm512_add)(at, all_lanes((KEY)(k - 1)));
            at = passed(at, k, EPI(_mm512_permutex2var)(low, next, high), word);
        }
        at = EPI(_mm512_mullo)(at, all_lanes((KEY)step));
        UNROLL
        for (int k = step / 2; k > 0; k /= 2)
            at = passed(at, k, gathered(splitters + k - 1, at), word);
#if GPI_KEY_BITS == 32
        _mm_storeu_si128((__m128i *)(void *)(digits + i), _mm512_cvtepi32_epi8(at));
#else
        _mm_storel_epi64((__m128i *)(void *)(digits + i), _mm512_cvtepi64_epi8(at));
#endif
    }
}
