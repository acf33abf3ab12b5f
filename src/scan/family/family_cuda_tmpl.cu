/* SPDX-License-Identifier: MIT */
/* The scan algorithms that are not the default; compiled for scalars and for pairs (GPI_PAIRS).
 * Kernels that differ in their type alone are compressed together. */
#if GPI_PAIRS
#define GPI_ACC affine_f32
#include "scan/family/family_unit.cuh"
#define GPI_ACC affine_f64
#include "scan/family/family_unit.cuh"
#define GPI_ACC mat2_f32
#include "scan/family/family_unit.cuh"
#define GPI_ACC mat2_f64
#include "scan/family/family_unit.cuh"
#else
#define GPI_ACC u32
#include "scan/family/family_unit.cuh"
#define GPI_ACC u64
#include "scan/family/family_unit.cuh"
#define GPI_ACC f32
#include "scan/family/family_unit.cuh"
#define GPI_ACC f64
#include "scan/family/family_unit.cuh"
#endif
