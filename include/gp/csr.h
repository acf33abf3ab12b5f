/* SPDX-License-Identifier: MIT */
#ifndef GP_CSR_H
#define GP_CSR_H

#include <gp/core.h>

#endif
