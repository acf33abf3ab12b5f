/* SPDX-License-Identifier: MIT */
/* Compiled with the library's own header, which no test sees. */
#include "sm_rows.h"

#include "core/sm_rows.h"

static struct gpi_sm_rows rows_of(const int *sm, bool ptx)
{
    struct gpi_sm_rows rows = {sm, 0, ptx};
    while (sm[rows.count])
        rows.count++;
    return rows;
}

int sm_row_chosen(const int *sm, bool ptx, int device)
{
    const struct gpi_sm_rows rows = rows_of(sm, ptx);
    return gpi_sm_row(&rows, device);
}

bool sm_row_wants_ptx(const int *sm, bool ptx, int device)
{
    const struct gpi_sm_rows rows = rows_of(sm, ptx);
    return gpi_sm_wants_ptx(&rows, device);
}
