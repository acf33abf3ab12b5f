/* SPDX-License-Identifier: MIT */
/* Which of a build's GPU architectures serves a device. No CUDA: tests call it without a GPU. */
#ifndef GPI_SM_ROWS_H
#define GPI_SM_ROWS_H

#include <stdbool.h>

/* The architectures of a build, oldest first; with ptx the newest one brings PTX too. */
struct gpi_sm_rows {
    const int *sm;
    int count;
    bool ptx;
};

/* The newest row that the device runs, or -1. Machine code runs on devices of its own major version
 * that are not older; PTX runs on all devices that are not older. */
static inline int gpi_sm_row(const struct gpi_sm_rows *rows, int device)
{
    for (int i = rows->count - 1; i >= 0; i--) {
        const bool compiled = rows->sm[i] / 10 == device / 10,
                   translated = rows->ptx && i == rows->count - 1;
        if (rows->sm[i] <= device && (compiled || translated))
            return i;
    }
    return -1;
}

/* Whether PTX would serve a device that no row does. */
static inline bool gpi_sm_wants_ptx(const struct gpi_sm_rows *rows, int device)
{
    return !rows->ptx && rows->sm[rows->count - 1] < device;
}

#endif
