/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing: bytes become calls with arguments, contents and faults, and what comes back is checked.
 *
 * A call of a table takes its numbers, dtypes and arrays from the decoder. The decoder makes some
 * of them wrong, and notes which statuses the call may return for that; all others are failures of
 * the library. Arrays lie between guards, which the address sanitizer sees too: a call must leave
 * these alone, and its inputs, and after an error its outputs.
 *
 * A failure prints why, and aborts: libFuzzer then keeps the bytes.
 */
#ifndef GP_FUZZ_H
#define GP_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gp/gp.h>

/* What libFuzzer calls, and replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { FUZZ_ARRAYS = 16, FUZZ_GUARD = 64, FUZZ_POISON = 0xa5 };

struct fuzz_array {
    void *data;     /* to be passed: the contents, or what is wrong */
    char *contents; /* bytes of them */
    size_t bytes;
    char *block;  /* guard, contents, guard */
    char *before; /* the contents at the call */
    bool written;
};
typedef struct fuzz_array fuzz_array;

struct fuzz {
    const uint8_t *at, *end; /* what is left of the input */
    uint64_t random;         /* state of the contents */
    int fault, place;        /* the place of the wrong argument, from 1, and how many there were */
    gp_context *ctx;         /* to be passed */
    gp_context *context;     /* the context that there is */
    bool validates;
    unsigned must, may; /* statuses of the call as bits; must: not GP_OK */
    unsigned sticky;    /* those that gp_context_synchronize() may return */
    bool vague;         /* a rule of the contents is broken: results are not specified */
    bool reserved;      /* the workspace is large enough */
    size_t allocations; /* of the context's allocator */
    bool refuses;       /* it has no memory */
    fuzz_array arrays[FUZZ_ARRAYS];
    int count;
};
typedef struct fuzz fuzz;

#define FUZZ_BIT(status) (1u << (status))

/* ---- numbers --------------------------------------------------------------------------------- */

/* The next bytes as a number; zeros behind the end. */
uint64_t fuzz_take(fuzz *f, int bytes);
/* Below bound, which is not 0. */
uint64_t fuzz_below(fuzz *f, uint64_t bound);
bool fuzz_flip(fuzz *f);

/* Whether the next argument is to be wrong. Then the call must fail with this status. */
bool fuzz_fault(fuzz *f, gp_status status);

/* low to high, or a wrong number. */
int fuzz_enum(fuzz *f, int low, int high, gp_status wrong);
/* Sets of dtypes, and one of a set, or a wrong number. */
enum {
    FUZZ_ALL = 0x1ffe,
    FUZZ_INTEGERS = 0x01fe,
    FUZZ_INDICES = 1 << GP_I32 | 1 << GP_U32 | 1 << GP_I64 | 1 << GP_U64,
    FUZZ_UNSIGNED = 1 << GP_U32 | 1 << GP_U64,
    FUZZ_FLOATS = 1 << GP_F16 | 1 << GP_BF16 | 1 << GP_F32 | 1 << GP_F64
};
gp_dtype fuzz_dtype(fuzz *f, unsigned set);
/* One that has a meaning for the dtype, or a wrong one. */
gp_op fuzz_op(fuzz *f, gp_dtype dtype);
/* How many items of that size, or more than 2^40. */
size_t fuzz_count(fuzz *f, size_t item_bytes);
/* 1 to 65536, mostly few; or a wrong number. */
size_t fuzz_item_bytes(fuzz *f);
/* The size member of a struct. */
size_t fuzz_struct(fuzz *f, size_t bytes);
/* A member that has to be 0. */
int fuzz_unused(fuzz *f);
/* NULL, or a CPU like that of the context. */
const gp_target *fuzz_target(fuzz *f, gp_target *target);

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Contents of the decoder's choice: any bits, special values or small numbers. */
fuzz_array *fuzz_input(fuzz *f, gp_dtype dtype, size_t n);
/* The same, mostly in order. */
fuzz_array *fuzz_sorted(fuzz *f, gp_dtype dtype, size_t n, gp_order order);
/* Numbers below bound; one of them may be any. */
fuzz_array *fuzz_indices(fuzz *f, gp_dtype dtype, size_t n, uint64_t bound);
/* segments + 1 ascending numbers, the last n more than the first; one of them may be any. */
fuzz_array *fuzz_offsets(fuzz *f, gp_dtype dtype, size_t segments, size_t n, bool from_zero);
/* Bytes of any kind. */
fuzz_array *fuzz_bytes(fuzz *f, size_t bytes, size_t alignment);
/* What the call writes. */
fuzz_array *fuzz_output(fuzz *f, size_t bytes, size_t alignment);
/* The same; it may lie in an array of the input, where it must not. */
fuzz_array *fuzz_output_beside(fuzz *f, size_t bytes, size_t alignment, fuzz_array *input);
/* The input itself, or an output. */
fuzz_array *fuzz_output_over(fuzz *f, size_t bytes, size_t alignment, fuzz_array *input);
/* An array that is not given; an output that need not be. */
fuzz_array *fuzz_none(fuzz *f);
fuzz_array *fuzz_output_if(fuzz *f, size_t bytes, size_t alignment);
/* n values in host memory, never wrong. */
const void *fuzz_host(fuzz *f, gp_dtype dtype, size_t n);
/* A number of items in the context's memory, or NULL; *n becomes what counts. */
const uint64_t *fuzz_device_n(fuzz *f, size_t *n);

/* The guards of an array may be touched, or not; then its contents are remembered, too. */
void fuzz_guard(fuzz_array *a, bool forbidden);

/* Up to 16, the largest power of two that divides bytes. */
size_t fuzz_alignment(size_t bytes);
/* n * bytes, or SIZE_MAX if that is more. */
size_t fuzz_product(size_t n, size_t bytes);
/* Item i of an array of indices. */
uint64_t fuzz_index(gp_dtype dtype, const void *array, size_t i);

/* ---- rules of contents ----------------------------------------------------------------------- */

/* The contents keep the rules; if not, a context that validates has to say so. */
void fuzz_rule(fuzz *f, bool kept);
/* The same, whatever the context. */
void fuzz_strict_rule(fuzz *f, bool kept);

/* Below, with or above in gp's order: -1, 0 or 1. */
int fuzz_order(gp_dtype dtype, const void *a, const void *b);
bool fuzz_all_below(gp_dtype dtype, const fuzz_array *a, size_t n, uint64_t bound);
bool fuzz_ascends(gp_dtype dtype, const fuzz_array *a, size_t n, gp_order order);
bool fuzz_offsets_good(gp_dtype dtype, const fuzz_array *a, size_t segments, uint64_t n,
                       bool from_zero);

/* ---- the call -------------------------------------------------------------------------------- */

/* What a workspace call said. The context reserves that, and then the call allocates nothing. */
void fuzz_reserve(fuzz *f, gp_status status, const size_t *bytes);

/* The call returned this. True: it worked and its results are specified. */
bool fuzz_returned(fuzz *f, gp_status status);
/* Before it: inputs are remembered, and guards forbidden. */
void fuzz_called(fuzz *f);
/* Return unless the call worked. */
#define FUZZ_CALL(f, call)                                                                         \
    do {                                                                                           \
        fuzz_called(f);                                                                            \
        if (!fuzz_returned(f, call))                                                               \
            return;                                                                                \
    } while (0)

#define FUZZ_CHECK(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
    } while (0)
void fuzz_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

/* Equal, where NaNs are one, and zeros. */
void fuzz_same(const char *what, gp_dtype dtype, const void *expected, const void *actual,
               size_t n);
void fuzz_same_bytes(const char *what, const void *expected, const void *actual, size_t bytes);
/* out is n items of what the call was given, in an order. */
void fuzz_same_picked(const char *what, const fuzz_array *in, size_t item, const size_t *order,
                      size_t n, const fuzz_array *out);

typedef void fuzz_call(fuzz *f);

/* Each ends with NULL. */
extern fuzz_call *const fuzz_scans[];
extern fuzz_call *const fuzz_compactions[];
extern fuzz_call *const fuzz_moves[];
extern fuzz_call *const fuzz_places[];
extern fuzz_call *const fuzz_sorts[];
extern fuzz_call *const fuzz_merges[];
extern fuzz_call *const fuzz_keys[];
extern fuzz_call *const fuzz_histograms[];
extern fuzz_call *const fuzz_sparse[];
extern fuzz_call *const fuzz_products[];
extern fuzz_call *const fuzz_core[];
extern fuzz_call *const fuzz_groups[];
extern fuzz_call *const fuzz_splits[];
extern fuzz_call *const fuzz_ranks[];

#endif
