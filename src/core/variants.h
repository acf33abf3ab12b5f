/* SPDX-License-Identifier: MIT */
/*
 * What the rooms' tables are made of: the instruction sets and GPU architectures of this build,
 * from gp_variants.h, which the build puts in front of every unit. A variant that was not compiled
 * is a link error; without CUDA the entries of its rows are NULL.
 */
#ifndef GPI_VARIANTS_H
#define GPI_VARIANTS_H

#include <stddef.h>

/* X(suffix), or X(a, suffix), for the instruction sets in the order of enum gpi_isa. */
#if GPI_ISA_VARIANTS
#define GPI_ISAS(X) X(base) X(avx2) X(avx512)
#define GPI_ISAS_OF(X, a) X(a, base) X(a, avx2) X(a, avx512)
#else
#define GPI_ISAS(X) X(base)
#define GPI_ISAS_OF(X, a) X(a, base)
#endif

/* GPI_SMS(X) and GPI_SMS_OF(X, a) are the same for architectures; this is their number, the rows
 * that ctx->sm_row numbers. */
#define GPI_SM_ONE_MORE(sm) +1
enum { GPI_SM_COUNT = GPI_SMS(GPI_SM_ONE_MORE) };
#define GPI_SM_NUMBER(sm) sm,

/* What GPI_CUB says: not in this build, in libgp_cub, or in this library. */
#define GPI_CUB_NONE 0
#define GPI_CUB_BESIDE 1
#define GPI_CUB_INSIDE 2

/* A function, or the address of a table, of a CUDA unit: it is declared in every build. */
#if GPI_HAVE_CUDA
#define GPI_CUDA(entry) entry
#else
#define GPI_CUDA(entry) NULL
#endif

#endif
