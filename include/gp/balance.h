/* SPDX-License-Identifier: MIT */
#ifndef GP_BALANCE_H
#define GP_BALANCE_H

#include <gp/core.h>

#endif
