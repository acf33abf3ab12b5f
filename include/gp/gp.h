/* SPDX-License-Identifier: MIT */
/** @file gp.h Everything. */
#ifndef GP_GP_H
#define GP_GP_H

#include <gp/balance.h>
#include <gp/bounds.h>
#include <gp/comm.h>
#include <gp/compact.h>
#include <gp/core.h>
#include <gp/csr.h>
#include <gp/difference.h>
#include <gp/dist.h>
#include <gp/entries.h>
#include <gp/fill.h>
#include <gp/gather.h>
#include <gp/group.h>
#include <gp/histogram.h>
#include <gp/lexsort.h>
#include <gp/merge.h>
#include <gp/multisplit.h>
#include <gp/radixsort.h>
#include <gp/reduce.h>
#include <gp/scan.h>
#include <gp/segments.h>
#include <gp/segreduce.h>
#include <gp/segsort.h>
#include <gp/spmm.h>
#include <gp/topk.h>
#include <gp/vector.h>

#endif
