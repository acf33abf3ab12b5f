/* SPDX-License-Identifier: MIT */
#ifndef GP_HISTOGRAM_H
#define GP_HISTOGRAM_H

#include <gp/core.h>

#endif
