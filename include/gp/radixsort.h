/* SPDX-License-Identifier: MIT */
#ifndef GP_RADIXSORT_H
#define GP_RADIXSORT_H

#include <gp/core.h>

#endif
