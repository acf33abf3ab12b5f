/* SPDX-License-Identifier: MIT */
/* Arrays out of bytes, between guards. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "radixsort_oracle.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAVE_ADDRESS_SANITIZER
#endif
#ifdef HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#endif

size_t fuzz_alignment(size_t bytes)
{
    const size_t power = bytes & -bytes;
    return power > 16 ? 16 : power;
}

size_t fuzz_product(size_t n, size_t bytes)
{
    return bytes && n > SIZE_MAX / bytes ? SIZE_MAX : n * bytes;
}

uint64_t fuzz_index(gp_dtype dtype, const void *array, size_t i)
{
    const size_t item = gp_dtype_bytes(dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)array + i * item, item);
    return t_is_signed(dtype) && bits >> (8 * item - 1) ? bits | ~(UINT64_MAX >> (64 - 8 * item))
                                                        : bits;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

enum { LARGEST = 1 << 22 }; /* longer ones are announced, in a call that has to refuse them */

static fuzz_array *slot(fuzz *f)
{
    FUZZ_CHECK(f->count < FUZZ_ARRAYS, "more than %d arrays", FUZZ_ARRAYS);
    fuzz_array *a = &f->arrays[f->count++];
    *a = (fuzz_array){0};
    return a;
}

/* What is passed for an array: one of its arguments that are wrong, or the contents. */
static void pass(fuzz *f, fuzz_array *a, size_t announced, size_t alignment)
{
    const unsigned known = f->must;
    a->data = a->contents;
    if (!fuzz_fault(f, GP_ERROR_POINTER))
        return;
    if (announced == 0) /* may be anything */
        f->must = known;
    const bool misaligned = alignment > 1 && fuzz_flip(f);
    a->data = misaligned ? a->contents + 1 + fuzz_below(f, alignment - 1) : NULL;
}

/* bytes of poison that begin at a multiple of the alignment, of no larger one than that. */
static fuzz_array *array(fuzz *f, size_t announced, size_t alignment)
{
    fuzz_array *a = slot(f);
    const size_t shift = fuzz_below(f, 8) * alignment % 64;
    a->bytes = announced > LARGEST ? 64 : announced;
    const size_t all = 2 * FUZZ_GUARD + shift + a->bytes;
    a->block = aligned_alloc(64, (all + 63) / 64 * 64);
    FUZZ_CHECK(a->block, "out of memory for %zu bytes", all);
    memset(a->block, FUZZ_POISON, (all + 63) / 64 * 64);
    a->contents = a->block + FUZZ_GUARD + shift;
    pass(f, a, announced, alignment);
    return a;
}

fuzz_array *fuzz_output(fuzz *f, size_t bytes, size_t alignment)
{
    fuzz_array *a = array(f, bytes, alignment);
    a->written = true;
    return a;
}

fuzz_array *fuzz_none(fuzz *f)
{
    return slot(f);
}

fuzz_array *fuzz_output_if(fuzz *f, size_t bytes, size_t alignment)
{
    const unsigned known = f->must;
    if (fuzz_flip(f))
        return fuzz_none(f);
    fuzz_array *a = fuzz_output(f, bytes, alignment);
    if (!a->data)
        f->must = known;
    return a;
}

fuzz_array *fuzz_output_beside(fuzz *f, size_t bytes, size_t alignment, fuzz_array *input)
{
    fuzz_array *a = fuzz_output(f, bytes, alignment);
    const unsigned known = f->must;
    if (!fuzz_fault(f, GP_ERROR_OVERLAP))
        return a;
    /* The last bytes of the input, as far as the alignment allows. */
    const uintptr_t begin = (uintptr_t)input->contents,
                    last = (begin + input->bytes - 1) & ~(uintptr_t)(alignment - 1);
    if (a->bytes == 0 || input->bytes == 0 || input->data != input->contents || last < begin)
        f->must = known;
    else
        a->data = input->contents + (last - begin);
    return a;
}

fuzz_array *fuzz_output_over(fuzz *f, size_t bytes, size_t alignment, fuzz_array *input)
{
    if (input->bytes <= alignment) /* its last item is its first */
        return fuzz_output(f, bytes, alignment);
    if (fuzz_below(f, 4) || bytes != input->bytes || input->data != input->contents)
        return fuzz_output_beside(f, bytes, alignment, input);
    input->written = true;
    return input;
}

void fuzz_guard(fuzz_array *a, bool forbidden)
{
    if (!a->block)
        return;
    char *const behind = a->contents + a->bytes;
    if (forbidden) {
        ASAN_POISON_MEMORY_REGION(a->block, (size_t)(a->contents - a->block));
        ASAN_POISON_MEMORY_REGION(behind, FUZZ_GUARD);
        a->before = malloc(a->bytes + 1);
        FUZZ_CHECK(a->before, "out of memory for %zu bytes", a->bytes);
        memcpy(a->before, a->contents, a->bytes);
    } else {
        ASAN_UNPOISON_MEMORY_REGION(a->block, (size_t)(a->contents - a->block));
        ASAN_UNPOISON_MEMORY_REGION(behind, FUZZ_GUARD);
    }
}

/* ---- contents -------------------------------------------------------------------------------- */

fuzz_array *fuzz_bytes(fuzz *f, size_t bytes, size_t alignment)
{
    fuzz_array *a = array(f, bytes, alignment);
    const uint64_t kind = fuzz_below(f, 4);
    for (size_t i = 0; i < a->bytes; i++)
        a->contents[i] = (char)(kind == 0   ? 0
                                : kind == 1 ? fuzz_take(f, 1)
                                : kind == 2 ? t_random(&f->random) % 4 / 3
                                            : t_random(&f->random) >> 32);
    return a;
}

fuzz_array *fuzz_input(fuzz *f, gp_dtype dtype, size_t n)
{
    const size_t item = gp_dtype_bytes(dtype);
    if (item == 0)
        return array(f, 64, 8);
    fuzz_array *a = array(f, fuzz_product(n, item), item);
    const size_t there = a->bytes / item;
    switch (fuzz_below(f, 5)) {
    case 0:
        t_fill_bits(dtype, a->contents, there, &f->random);
        break;
    case 1:
        t_fill_special(dtype, a->contents, there, &f->random);
        break;
    case 2:
        t_fill_small(dtype, a->contents, there, 1 + fuzz_below(f, 256), &f->random);
        break;
    case 3: /* one value */
        for (size_t i = 0; i < there; i++)
            memcpy(a->contents + i * item, i ? a->contents : (char *)&f->random, item);
        break;
    default:
        for (size_t i = 0; i < a->bytes; i++)
            a->contents[i] = (char)fuzz_take(f, 1);
    }
    return a;
}

fuzz_array *fuzz_sorted(fuzz *f, gp_dtype dtype, size_t n, gp_order order)
{
    fuzz_array *a = fuzz_input(f, dtype, n);
    const size_t item = gp_dtype_bytes(dtype);
    if (item == 0 || a->bytes != n * item || fuzz_below(f, 8) == 0)
        return a;
    size_t *by = oracle_argsort(dtype, a->contents, n, order == GP_DESCENDING, 0, 0);
    char *sorted = oracle_pick(a->contents, item, by, n);
    memcpy(a->contents, sorted, n * item);
    free(sorted);
    free(by);
    return a;
}

const void *fuzz_host(fuzz *f, gp_dtype dtype, size_t n)
{
    const int place = f->place;
    f->place = INT_MAX / 2; /* no fault */
    fuzz_array *a = fuzz_input(f, dtype, n);
    f->place = place;
    return a->contents;
}

const uint64_t *fuzz_device_n(fuzz *f, size_t *n)
{
    if (fuzz_below(f, 4))
        return NULL;
    const unsigned known = f->must;
    fuzz_array *a = array(f, 8, 8);
    const uint64_t value = fuzz_below(f, 256) == 1 ? UINT64_MAX : fuzz_below(f, 4096);
    memcpy(a->contents, &value, 8);
    if (!a->data) { /* as good as none */
        f->must = known;
        return NULL;
    }
    *n = value < *n ? value : *n;
    return a->data;
}

static void put_index(gp_dtype dtype, fuzz_array *a, size_t i, uint64_t value)
{
    const size_t item = gp_dtype_bytes(dtype);
    if ((i + 1) * item <= a->bytes)
        memcpy(a->contents + i * item, &value, item);
}

/* One of n, of any value. */
static void spoil(fuzz *f, gp_dtype dtype, fuzz_array *a, size_t n)
{
    const uint64_t values[] = {n, UINT64_MAX, INT64_MAX, (uint64_t)1 << 31, 0, 1, f->random};
    if (n && fuzz_below(f, 16) == 7)
        put_index(dtype, a, fuzz_below(f, n), values[fuzz_below(f, 7)]);
}

fuzz_array *fuzz_indices(fuzz *f, gp_dtype dtype, size_t n, uint64_t bound)
{
    const size_t item = gp_dtype_bytes(dtype);
    if (item == 0)
        return array(f, 64, 8);
    fuzz_array *a = array(f, fuzz_product(n, item), item);
    const size_t there = a->bytes / item;
    const bool ascending = fuzz_flip(f);
    for (size_t i = 0; i < there; i++)
        put_index(dtype, a, i,
                  bound == 0  ? 0
                  : ascending ? (uint64_t)((__extension__(unsigned __int128) bound) * i / there)
                              : t_random(&f->random) % bound);
    spoil(f, dtype, a, there);
    return a;
}

fuzz_array *fuzz_offsets(fuzz *f, gp_dtype dtype, size_t segments, size_t n, bool from_zero)
{
    const size_t item = gp_dtype_bytes(dtype);
    if (item == 0)
        return array(f, 64, 8);
    fuzz_array *a =
        array(f, segments == SIZE_MAX ? segments : fuzz_product(segments + 1, item), item);
    const size_t last = a->bytes / item - 1;
    const uint64_t begin = from_zero ? 0 : fuzz_below(f, 4) * 1000;
    const uint64_t most = segments && n < UINT32_MAX ? 2 * (n / segments) + 2 : 1,
                   all = fuzz_below(f, 4);
    uint64_t at = 0;
    for (size_t s = 0; s < last; s++) {
        put_index(dtype, a, s, begin + at);
        at += all ? t_random(&f->random) % most : 0; /* or the last has all */
        at = at < n ? at : n;
    }
    put_index(dtype, a, last, begin + n);
    spoil(f, dtype, a, last + 1);
    return a;
}

/* ---- rules ----------------------------------------------------------------------------------- */

void fuzz_strict_rule(fuzz *f, bool kept)
{
    if (!kept)
        f->must |= FUZZ_BIT(GP_ERROR_DATA);
}

void fuzz_rule(fuzz *f, bool kept)
{
    if (f->validates)
        fuzz_strict_rule(f, kept);
    else if (!kept)
        f->vague = true;
}

int fuzz_order(gp_dtype dtype, const void *a, const void *b)
{
    const size_t item = gp_dtype_bytes(dtype);
    uint64_t both[2];
    memcpy(both, a, item);
    memcpy((char *)both + item, b, item);
    return oracle_compare_values(dtype, both, 0, 1);
}

/* Arrays that were announced longer than they are belong to calls that refuse them. */
static bool short_of(gp_dtype dtype, const fuzz_array *a, size_t n)
{
    const size_t item = gp_dtype_bytes(dtype);
    return item == 0 || n > a->bytes / item;
}

bool fuzz_all_below(gp_dtype dtype, const fuzz_array *a, size_t n, uint64_t bound)
{
    for (size_t i = 0; i < n && !short_of(dtype, a, n); i++)
        if (fuzz_index(dtype, a->contents, i) >= bound)
            return false;
    return true;
}

bool fuzz_ascends(gp_dtype dtype, const fuzz_array *a, size_t n, gp_order order)
{
    const size_t item = gp_dtype_bytes(dtype);
    for (size_t i = 1; i < n && !short_of(dtype, a, n); i++) {
        const char *left = a->contents + (i - 1) * item;
        const int c = fuzz_order(dtype, left, left + item);
        if (order == GP_DESCENDING ? c < 0 : c > 0)
            return false;
    }
    return true;
}

bool fuzz_offsets_good(gp_dtype dtype, const fuzz_array *a, size_t segments, uint64_t n,
                       bool from_zero)
{
    if (segments == SIZE_MAX || short_of(dtype, a, segments + 1))
        return true;
    const uint64_t first = fuzz_index(dtype, a->contents, 0);
    uint64_t before = first;
    if ((from_zero && first) || (t_is_signed(dtype) && (int64_t)first < 0))
        return false;
    for (size_t s = 1; s <= segments; s++) {
        const uint64_t offset = fuzz_index(dtype, a->contents, s);
        if (t_is_signed(dtype) ? (int64_t)offset < (int64_t)before : offset < before)
            return false;
        before = offset;
    }
    return before - first == n;
}

void fuzz_same_picked(const char *what, const fuzz_array *in, size_t item, const size_t *order,
                      size_t n, const fuzz_array *out)
{
    char *expected = oracle_pick(in->before, item, order, n);
    fuzz_same_bytes(what, expected, out->contents, n * item);
    free(expected);
}
