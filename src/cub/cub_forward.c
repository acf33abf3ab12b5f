/* SPDX-License-Identifier: MIT */
/*
 * libgp_cub calls the CUDA runtime of libgp: the functions of core/cub_runtime.h. Its code
 * registers kernels when it is loaded, before libgp can say where its runtime is; what it registers
 * is kept until then.
 */
#include <stdlib.h>

#include "core/cub.h"
#include "core/cub_runtime.h"

static const struct gpi_cub_runtime *runtime;

#define FORWARD(result, name, parameters, arguments)                                               \
    result name parameters                                                                         \
    {                                                                                              \
        return runtime->name arguments;                                                            \
    }
GPI_CUB_CALLS(FORWARD)

/* One call of a registration, in a list of all in their order. A binary's is its handle here. */
struct registration {
    struct registration *next;
    enum { BINARY, FUNCTION, VARIABLE, END } what;
    struct registration *binary;
    void *code;    /* of a binary */
    void **handle; /* of a binary: libgp's */
    char *host, *device;
    const char *name;
    int threads, external, constant, global;
    size_t bytes;
};

static struct registration *first, **last = &first;
static bool lost; /* one, for want of memory */

static struct registration *add(struct registration as)
{
    struct registration *r = malloc(sizeof *r);
    if (!r) {
        lost = true;
        return NULL;
    }
    *r = as;
    *last = r;
    last = &r->next;
    return r;
}

void **__cudaRegisterFatBinary(void *code)
{
    return (void **)add((struct registration){.what = BINARY, .code = code});
}

void __cudaRegisterFatBinaryEnd(void **binary)
{
    add((struct registration){.what = END, .binary = (struct registration *)binary});
}

/* nvcc's code has NULL for the last five. */
void __cudaRegisterFunction(void **binary, const char *host, char *device, const char *name,
                            int threads, uint3 *thread, uint3 *block, dim3 *block_size,
                            dim3 *grid_size, int *warp_size)
{
    (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    add((struct registration){.what = FUNCTION,
                              .binary = (struct registration *)binary,
                              .host = (char *)host,
                              .device = device,
                              .name = name,
                              .threads = threads});
}

void __cudaRegisterVar(void **binary, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global)
{
    add((struct registration){.what = VARIABLE,
                              .binary = (struct registration *)binary,
                              .host = host,
                              .device = device,
                              .name = name,
                              .external = external,
                              .bytes = bytes,
                              .constant = constant,
                              .global = global});
}

void __cudaUnregisterFatBinary(void **binary)
{
    if (runtime && binary)
        runtime->__cudaUnregisterFatBinary(((struct registration *)binary)->handle);
}

static void register_there(struct registration *r)
{
    if (r->what == BINARY)
        r->handle = runtime->__cudaRegisterFatBinary(r->code);
    else if (r->what == FUNCTION)
        runtime->__cudaRegisterFunction(r->binary->handle, r->host, r->device, r->name, r->threads,
                                        NULL, NULL, NULL, NULL, NULL);
    else if (r->what == VARIABLE)
        runtime->__cudaRegisterVar(r->binary->handle, r->host, r->device, r->name, r->external,
                                   r->bytes, r->constant, r->global);
    else
        runtime->__cudaRegisterFatBinaryEnd(r->binary->handle);
}

bool gpi_cub_start(const struct gpi_cub_runtime *of_libgp)
{
    if (of_libgp->version != CUDART_VERSION || lost)
        return false;
    runtime = of_libgp;
    for (struct registration *r = first; r; r = r->next)
        register_there(r);
    return true;
}
