/* SPDX-License-Identifier: MIT */
/* cuBLAS, loaded at run time as cuSPARSE is: sums of products and norms, results on the device. */
#include "../bench.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include <cublas_v2.h>

#define FUNCTIONS(X)                                                                               \
    X(cublasCreate_v2)                                                                             \
    X(cublasGetProperty)                                                                           \
    X(cublasSetStream_v2)                                                                          \
    X(cublasSetPointerMode_v2)                                                                     \
    X(cublasDotEx)                                                                                 \
    X(cublasNrm2Ex)

static struct {
#define POINTER(name) __typeof__(name) *name;
    FUNCTIONS(POINTER)
#undef POINTER
    cublasHandle_t handle;
    char name[32];
} lib;

static int result(cublasStatus_t s, const char *what)
{
    if (s == CUBLAS_STATUS_SUCCESS)
        return BENCH_OK;
    printf("  FAILED: %s: status %d\n", what, (int)s);
    return BENCH_FAIL;
}

static int prepare(struct bench *b, const struct bench_args *a)
{
    if (a->n > INT_MAX) {
        printf("  skipped: cuBLAS takes fewer than 2^31 items\n");
        return BENCH_SKIP;
    }
    return result(lib.cublasSetStream_v2(lib.handle, gp_context_stream(b->ctx)),
                  "cublasSetStream_v2");
}

static cudaDataType type_of(const struct bench_args *a)
{
    return a->dtype == GP_F64 ? CUDA_R_64F : a->dtype == GP_F32 ? CUDA_R_32F : CUDA_R_16F;
}

/* Of the sums inside. */
static cudaDataType sum_of(const struct bench_args *a)
{
    return a->dtype == GP_F64 ? CUDA_R_64F : CUDA_R_32F;
}

static int dot(struct bench *b, const struct bench_args *a)
{
    const cudaDataType t = type_of(a);
    (void)b;
    return result(
        lib.cublasDotEx(lib.handle, (int)a->n, a->in, t, 1, a->x, t, 1, a->out, t, sum_of(a)),
        "cublasDotEx");
}

static int norm(struct bench *b, const struct bench_args *a)
{
    const cudaDataType t = type_of(a);
    (void)b;
    return result(lib.cublasNrm2Ex(lib.handle, (int)a->n, a->in, t, 1, a->out, t, sum_of(a)),
                  "cublasNrm2Ex");
}

static const struct bench_peer peers[] = {
    {lib.name, "vector", "dot", (gp_dtype)0, prepare, dot, true},
    {lib.name, "vector", "norm", (gp_dtype)0, prepare, norm, true},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};

static void *open_library(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12"};
    const char *named = getenv("GP_CUBLAS");
    void *library = NULL;
    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

const struct bench_peer *bench_cublas_peers(void)
{
    int version[2] = {0, 0};
    void *library = open_library();
    if (!library) {
        printf("no cuBLAS peers: %s\n", dlerror());
        return NULL;
    }
#define LOAD(name)                                                                                 \
    *(void **)&lib.name = dlsym(library, #name);                                                   \
    if (!lib.name) {                                                                               \
        printf("no cuBLAS peers: it has no %s\n", #name);                                          \
        return NULL;                                                                               \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    if (result(lib.cublasCreate_v2(&lib.handle), "cublasCreate_v2") ||
        result(lib.cublasSetPointerMode_v2(lib.handle, CUBLAS_POINTER_MODE_DEVICE),
               "cublasSetPointerMode_v2"))
        return NULL;
    lib.cublasGetProperty(MAJOR_VERSION, &version[0]);
    lib.cublasGetProperty(MINOR_VERSION, &version[1]);
    snprintf(lib.name, sizeof lib.name, "cublas-%d.%d", version[0], version[1]);
    return peers;
}
