/* SPDX-License-Identifier: MIT */
/* Matrices by rows, as the decoder makes them. */
#ifndef FUZZ_CALLS_MATRIX_H
#define FUZZ_CALLS_MATRIX_H

#include "fuzz.h"

/* Numbers of a matrix, its dtypes, and the sizes of their elements (1 for no dtype). */
struct matrix {
    gp_csr_desc d;
    size_t rows, cols, nnz, index, offset;
};

static inline size_t bytes_or_one(gp_dtype dtype)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    return bytes ? bytes : 1;
}

/* The offset dtype is not narrower than the index dtype. */
static inline struct matrix matrix_of(fuzz *f, gp_dtype value)
{
    struct matrix m = {.d = GP_CSR_DESC_INIT};
    m.d.size = fuzz_struct(f, sizeof m.d);
    m.d.index_dtype = fuzz_dtype(f, FUZZ_INDICES);
    m.d.offset_dtype = fuzz_dtype(f, FUZZ_INDICES);
    m.d.value_dtype = value;
    m.d.hot_columns = 2 * fuzz_unused(f); /* 1 is good for products */
    m.index = bytes_or_one(m.d.index_dtype);
    m.offset = bytes_or_one(m.d.offset_dtype);
    if (m.offset < m.index)
        f->must |= FUZZ_BIT(GP_ERROR_DTYPE);
    m.nnz = fuzz_count(f, 16);
    m.rows = fuzz_flip(f) ? fuzz_below(f, 16) : fuzz_below(f, 2048);
    m.cols = fuzz_flip(f) ? fuzz_below(f, 16) : fuzz_below(f, 2048);
    if (!m.rows || !m.cols) /* has no entries */
        m.nnz = m.nnz > (size_t)1 << 40 ? m.nnz : 0;
    return m;
}

static inline fuzz_array *pointers_of(fuzz *f, const struct matrix *m)
{
    return fuzz_offsets(f, m->d.offset_dtype, m->rows, m->nnz, true);
}

static inline bool pointers_good(const struct matrix *m, const fuzz_array *pointers)
{
    return fuzz_offsets_good(m->d.offset_dtype, pointers, m->rows, m->nnz, true);
}

#endif
