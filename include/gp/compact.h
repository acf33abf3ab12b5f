/* SPDX-License-Identifier: MIT */
#ifndef GP_COMPACT_H
#define GP_COMPACT_H

#include <gp/core.h>

#endif
