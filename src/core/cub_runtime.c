/* SPDX-License-Identifier: MIT */
/* This library's CUDA runtime, as libgp_cub is given it. */
#include "core/cub_runtime.h"

#include "core/cub.h"

#define ADDRESS(result, name, parameters, arguments) name,

const struct gpi_cub_runtime gpi_cub_runtime = {CUDART_VERSION, GPI_CUB_CALLS(ADDRESS)
                                                                    GPI_CUB_REGISTRATIONS(ADDRESS)};
