/* SPDX-License-Identifier: MIT */
/* Numbers out of bytes. */
#include <limits.h>

#include "fuzz.h"
#include "gp_test.h"

uint64_t fuzz_take(fuzz *f, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++)
        if (f->at < f->end)
            number |= (uint64_t)*f->at++ << 8 * i;
    return number;
}

uint64_t fuzz_below(fuzz *f, uint64_t bound)
{
    return fuzz_take(f, bound <= 256 ? 1 : bound <= 65536 ? 2 : 8) % bound;
}

bool fuzz_flip(fuzz *f)
{
    return fuzz_take(f, 1) & 1;
}

bool fuzz_fault(fuzz *f, gp_status status)
{
    if (++f->place != f->fault)
        return false;
    f->must |= FUZZ_BIT(status);
    return true;
}

int fuzz_enum(fuzz *f, int low, int high, gp_status wrong)
{
    const int around[] = {low - 1, high + 1, INT_MIN, INT_MAX};
    const int value = low + (int)fuzz_below(f, (uint64_t)(high - low) + 1);
    return fuzz_fault(f, wrong) ? around[fuzz_below(f, 4)] : value;
}

gp_dtype fuzz_dtype(fuzz *f, unsigned set)
{
    static const int unknown[] = {0, -1, 13, INT_MIN, INT_MAX, 64};
    const bool wrong = fuzz_fault(f, GP_ERROR_DTYPE);
    const uint64_t pick = fuzz_below(f, 256);
    int dtype = GP_I8 + (int)(pick % T_DTYPE_COUNT);
    if (wrong && (set == FUZZ_ALL || pick & 1))
        return (gp_dtype)unknown[pick / 2 % 6];
    while (!(set >> dtype & 1) != wrong)
        dtype = dtype % T_DTYPE_COUNT + 1;
    return (gp_dtype)dtype;
}

/* As t_op_allowed(), for the numbers of dtypes and operators that there are. */
static bool has_meaning(gp_dtype dtype, int op)
{
    return op >= GP_SUM && op <= GP_MAT2 && (FUZZ_ALL >> (unsigned)dtype & 1) &&
           (op == GP_AND || op == GP_OR || op == GP_XOR ? !t_is_float(dtype)
            : op == GP_AFFINE || op == GP_MAT2          ? dtype == GP_F32 || dtype == GP_F64
                                                        : true);
}

gp_op fuzz_op(fuzz *f, gp_dtype dtype)
{
    static const int unknown[] = {0, -1, 10, INT_MIN, INT_MAX};
    const bool wrong = fuzz_fault(f, GP_ERROR_OP);
    const bool known = (unsigned)dtype < 32 && (FUZZ_ALL >> (unsigned)dtype & 1);
    int op = GP_SUM + (int)fuzz_below(f, T_OP_COUNT);
    if (wrong && !has_meaning(known ? dtype : GP_U8, op))
        return (gp_op)op;
    if (wrong)
        return (gp_op)unknown[fuzz_below(f, 5)];
    while (known && !has_meaning(dtype, op))
        op = op % T_OP_COUNT + 1;
    return (gp_op)op;
}

size_t fuzz_count(fuzz *f, size_t item_bytes)
{
    static const size_t too_many[] = {((size_t)1 << 40) + 1, (size_t)1 << 41, (size_t)1 << 63,
                                      SIZE_MAX / 2, SIZE_MAX};
    static const size_t below[] = {4, 16, 64, 64, 256, 1024, 4096, 65536};
    const size_t room = ((size_t)1 << 18) / (item_bytes ? item_bytes : 1) + 2;
    const size_t n = fuzz_below(f, below[fuzz_below(f, 8)]) % room;
    return fuzz_fault(f, GP_ERROR_ARGUMENT) ? too_many[fuzz_below(f, 5)] : n;
}

size_t fuzz_item_bytes(fuzz *f)
{
    static const size_t usual[] = {1, 2, 4, 8, 16, 12, 3, 65536};
    static const size_t wrong[] = {0, 65537, SIZE_MAX, (size_t)1 << 32};
    const size_t pick = fuzz_below(f, 256);
    if (fuzz_fault(f, GP_ERROR_ARGUMENT))
        return wrong[pick % 4];
    return pick < 160 ? usual[pick % 8] : pick < 240 ? pick - 159 : fuzz_take(f, 2) + 1;
}

size_t fuzz_struct(fuzz *f, size_t bytes)
{
    const size_t wrong[] = {0, 1, bytes - 1, 4097, SIZE_MAX};
    return fuzz_fault(f, GP_ERROR_ARGUMENT) ? wrong[fuzz_below(f, 5)] : bytes;
}

int fuzz_unused(fuzz *f)
{
    return fuzz_fault(f, GP_ERROR_ARGUMENT) ? 1 + (int)fuzz_below(f, 256) : 0;
}

const gp_target *fuzz_target(fuzz *f, gp_target *target)
{
    const gp_target any = GP_TARGET_INIT;
    *target = any;
    if (fuzz_flip(f))
        return NULL;
    target->backend = GP_BACKEND_CPU;
    target->threads = fuzz_flip(f) ? 4 : 0; /* the context has no more */
    return target;
}
