/* SPDX-License-Identifier: MIT */
/* The library's choice among the GPU architectures of a build, of any build. */
#ifndef SM_ROWS_H
#define SM_ROWS_H

#include <stdbool.h>

/* The row that serves the device, -1 if none does; sm ends with 0. */
int sm_row_chosen(const int *sm, bool ptx, int device);
/* Whether the error of the device names PTX as a remedy. */
bool sm_row_wants_ptx(const int *sm, bool ptx, int device);

#endif
