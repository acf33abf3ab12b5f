/* SPDX-License-Identifier: MIT */
/*
 * The namespace of one GPU architecture. Every .cu unit is compiled once per architecture with
 * GPI_SM set; kernels and device functions live in gp_sm90 (and so on), launchers get the suffix
 * _sm90, so the objects of several architectures link into one library.
 */
#pragma once

#define GPI_PASTE_(a, b) a##b
#define GPI_PASTE(a, b) GPI_PASTE_(a, b)
#define GPI_SPACE GPI_PASTE(gp_sm, GPI_SM)
/* The C name of a launcher: GPI_LAUNCHER(gpi_scan_u32) is gpi_scan_u32_sm90. */
#define GPI_LAUNCHER(name) GPI_PASTE(GPI_PASTE(name, _sm), GPI_SM)

#define GPI_DEVICE __device__ __forceinline__
