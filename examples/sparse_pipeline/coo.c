/* SPDX-License-Identifier: MIT */
#include "coo.h"

#include <stdlib.h>

bool coo_allocate(struct coo *m, uint32_t num_rows, uint32_t num_cols, size_t nnz)
{
    size_t room = nnz ? nnz : 1;
    m->num_rows = num_rows;
    m->num_cols = num_cols;
    m->nnz = nnz;
    m->rows = m->cols = NULL;
    m->values = NULL;
    if (room > SIZE_MAX / sizeof *m->values)
        return false;
    m->rows = malloc(room * sizeof *m->rows);
    m->cols = malloc(room * sizeof *m->cols);
    m->values = malloc(room * sizeof *m->values);
    if (m->rows && m->cols && m->values)
        return true;
    coo_free(m);
    return false;
}

void coo_free(struct coo *m)
{
    free(m->rows);
    free(m->cols);
    free(m->values);
    m->rows = m->cols = NULL;
    m->values = NULL;
    m->nnz = 0;
}
