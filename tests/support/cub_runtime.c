/* SPDX-License-Identifier: MIT */
/* In place of libgp's CUDA runtime: counts what libgp_cub registers. */
#include "core/cub_runtime.h"

#include "core/cub.h"
#include "cub_table.h"

enum { MOST = 64 };
static char handles[MOST];
static int binaries, ended, functions, wrong;

static int is_open(void **binary)
{
    const char *handle = (const char *)binary;
    return handle == &handles[binaries - 1] && ended == binaries - 1;
}

static void **binary(void *code)
{
    wrong += !code || ended != binaries || binaries == MOST;
    return (void **)&handles[binaries++];
}

static void end(void **binary)
{
    wrong += !is_open(binary);
    ended++;
}

static void function(void **binary, const char *host, char *device, const char *name, int threads,
                     uint3 *thread, uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp_size)
{
    (void)threads, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    wrong += !is_open(binary) || !host || !device || !name || name[0] != '_';
    functions++;
}

static void variable(void **binary, char *host, char *device, const char *name, int external,
                     size_t bytes, int constant, int global)
{
    (void)external, (void)constant, (void)global;
    wrong += !is_open(binary) || !host || !device || !name || bytes == 0;
}

static void gone(void **binary)
{
    (void)binary;
}

const struct gpi_cub_runtime gpi_cub_runtime = {
    .version = CUDART_VERSION,
    .__cudaRegisterFatBinary = binary,
    .__cudaRegisterFatBinaryEnd = end,
    .__cudaUnregisterFatBinary = gone,
    .__cudaRegisterFunction = function,
    .__cudaRegisterVar = variable,
};

bool cub_registered(void)
{
    if (CUDART_VERSION != 13000 && binaries == 0) /* it may have a runtime of its own */
        return true;
    return binaries > 0 && ended == binaries && functions >= binaries && wrong == 0;
}
