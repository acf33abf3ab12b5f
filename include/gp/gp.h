/* SPDX-License-Identifier: MIT */
/** @file gp.h Everything. */
#ifndef GP_GP_H
#define GP_GP_H

#include <gp/balance.h>
#include <gp/compact.h>
#include <gp/core.h>
#include <gp/csr.h>
#include <gp/histogram.h>
#include <gp/radixsort.h>
#include <gp/scan.h>

#endif
