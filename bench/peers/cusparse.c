/* SPDX-License-Identifier: MIT */
/*
 * cuSPARSE, loaded at run time: gp-bench starts on machines without it. Its header gives the types
 * and, through the function list, every pointer its own type.
 */
#include "../bench.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

#define FUNCTIONS(X)                                                                               \
    X(cusparseCreate)                                                                              \
    X(cusparseSetStream)                                                                           \
    X(cusparseGetVersion)                                                                          \
    X(cusparseGetErrorString)                                                                      \
    X(cusparseXcoo2csr)                                                                            \
    X(cusparseCreateIdentityPermutation)                                                           \
    X(cusparseXcoosort_bufferSizeExt)                                                              \
    X(cusparseXcoosortByRow)                                                                       \
    X(cusparseCsr2cscEx2_bufferSize)                                                               \
    X(cusparseCsr2cscEx2)                                                                          \
    X(cusparseCreateCsr)                                                                           \
    X(cusparseDestroySpMat)                                                                        \
    X(cusparseCreateDnVec)                                                                         \
    X(cusparseDestroyDnVec)                                                                        \
    X(cusparseSpMV_bufferSize)                                                                     \
    X(cusparseSpMV)

/* The functions under their own names, and what lives as long as the program. */
static struct {
#define POINTER(name) __typeof__(name) *name;
    FUNCTIONS(POINTER)
#undef POINTER
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    size_t spmv_bytes;
    char name[32];
} lib;

enum { ALIGN = 256 };

static int result(cusparseStatus_t s, const char *what)
{
    if (s == CUSPARSE_STATUS_SUCCESS)
        return BENCH_OK;
    printf("  FAILED: %s: %s\n", what, lib.cusparseGetErrorString(s));
    return BENCH_FAIL;
}

/* The conversions of cuSPARSE count in int. */
static int prepare(struct bench *b, const struct bench_args *a)
{
    if (a->n > INT_MAX) {
        printf("  skipped: cuSPARSE converts fewer than 2^31 entries\n");
        return BENCH_SKIP;
    }
    return result(lib.cusparseSetStream(lib.handle, gp_context_stream(b->ctx)),
                  "cusparseSetStream");
}

static int row_pointers(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return result(lib.cusparseXcoo2csr(lib.handle, a->rows, (int)a->n, (int)a->num_rows,
                                       a->out_offsets, CUSPARSE_INDEX_BASE_ZERO),
                  "cusparseXcoo2csr");
}

/*
 * Sorts copies of the rows and columns, with the permutation of the values, and makes row pointers.
 * Less than ours: values are not moved, and duplicates not added up.
 */
static int sort_coo(struct bench *b, const struct bench_args *a)
{
    size_t bytes = 0, array = (a->n * sizeof(int) + ALIGN - 1) / ALIGN * ALIGN;
    int rows_n = (int)a->num_rows, cols_n = (int)a->num_cols, n = (int)a->n;
    int r = result(
        lib.cusparseXcoosort_bufferSizeExt(lib.handle, rows_n, cols_n, n, a->rows, a->cols, &bytes),
        "cusparseXcoosort_bufferSizeExt");
    char *temp = bench_temp(b, 3 * array + bytes);
    int *rows = (int *)(void *)temp, *cols = (int *)(void *)(temp + array);
    int *order = (int *)(void *)(temp + 2 * array);
    if (!r)
        r = bench_status(b, gp_copy(b->ctx, a->rows, a->n * sizeof(int), rows));
    if (!r)
        r = bench_status(b, gp_copy(b->ctx, a->cols, a->n * sizeof(int), cols));
    if (!r)
        r = result(lib.cusparseCreateIdentityPermutation(lib.handle, n, order),
                   "cusparseCreateIdentityPermutation");
    if (!r)
        r = result(lib.cusparseXcoosortByRow(lib.handle, rows_n, cols_n, n, rows, cols, order,
                                             temp + 3 * array),
                   "cusparseXcoosortByRow");
    if (!r)
        r = result(lib.cusparseXcoo2csr(lib.handle, rows, n, rows_n, a->out_offsets,
                                        CUSPARSE_INDEX_BASE_ZERO),
                   "cusparseXcoo2csr");
    return r;
}

static int transpose(struct bench *b, const struct bench_args *a)
{
    size_t bytes = 0;
    int rows = (int)a->num_rows, cols = (int)a->num_cols, n = (int)a->n;
    cusparseStatus_t s = lib.cusparseCsr2cscEx2_bufferSize(
        lib.handle, rows, cols, n, a->values, a->offsets, a->cols, a->out_values, a->out_offsets,
        a->out, CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
        CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = lib.cusparseCsr2cscEx2(lib.handle, rows, cols, n, a->values, a->offsets, a->cols,
                                   a->out_values, a->out_offsets, a->out, CUDA_R_32F,
                                   CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                   CUSPARSE_CSR2CSC_ALG_DEFAULT, bench_temp(b, bytes));
    return result(s, "cusparseCsr2cscEx2");
}

/* ---- SpMV: descriptors are made before the timed call ---------------------------------------- */

static const float one_f32 = 1, zero_f32 = 0;
static const double one_f64 = 1, zero_f64 = 0;

/* spmv(NULL) asks for the size of the scratch. */
static cusparseStatus_t spmv_call(const struct bench_args *a, void *temp)
{
    bool f32 = a->dtype == GP_F32;
    const void *one = f32 ? (const void *)&one_f32 : (const void *)&one_f64;
    const void *zero = f32 ? (const void *)&zero_f32 : (const void *)&zero_f64;
    cudaDataType type = f32 ? CUDA_R_32F : CUDA_R_64F;
    if (!temp)
        return lib.cusparseSpMV_bufferSize(lib.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, one,
                                           lib.matrix, lib.x, zero, lib.y, type,
                                           CUSPARSE_SPMV_ALG_DEFAULT, &lib.spmv_bytes);
    return lib.cusparseSpMV(lib.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, one, lib.matrix, lib.x,
                            zero, lib.y, type, CUSPARSE_SPMV_ALG_DEFAULT, temp);
}

/* cuSPARSE's descriptors take what they do not write without const. */
static void *mutable_pointer(const void *p)
{
    void *q;
    memcpy(&q, &p, sizeof q);
    return q;
}

static int spmv_prepare(struct bench *b, const struct bench_args *a)
{
    cudaDataType type = a->dtype == GP_F32 ? CUDA_R_32F : CUDA_R_64F;
    int r = prepare(b, a);
    if (r)
        return r;
    if (lib.matrix) {
        lib.cusparseDestroySpMat(lib.matrix);
        lib.cusparseDestroyDnVec(lib.x);
        lib.cusparseDestroyDnVec(lib.y);
        lib.matrix = NULL;
    }
    cusparseStatus_t s = lib.cusparseCreateCsr(
        &lib.matrix, (int64_t)a->num_rows, (int64_t)a->num_cols, (int64_t)a->n,
        mutable_pointer(a->offsets), mutable_pointer(a->cols), mutable_pointer(a->values),
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = lib.cusparseCreateDnVec(&lib.x, (int64_t)a->num_cols, mutable_pointer(a->x), type);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = lib.cusparseCreateDnVec(&lib.y, (int64_t)a->num_rows, a->out, type);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = spmv_call(a, NULL);
    return result(s, "cusparseSpMV_bufferSize");
}

static int spmv(struct bench *b, const struct bench_args *a)
{
    return result(spmv_call(a, bench_temp(b, lib.spmv_bytes)), "cusparseSpMV");
}

/* ---- loading --------------------------------------------------------------------------------- */

static const struct bench_peer peers[] = {
    {lib.name, "csr", "row_pointers", GP_U32, prepare, row_pointers, false},
    {lib.name, "csr", "row_pointers_powerlaw", GP_U32, prepare, row_pointers, false},
    {lib.name, "csr", "coo_to_csr", GP_F32, prepare, sort_coo, true},
    {lib.name, "csr", "transpose", GP_F32, prepare, transpose, false},
    {lib.name, "csr", "spmv_even", (gp_dtype)0, spmv_prepare, spmv, false},
    {lib.name, "csr", "spmv_powerlaw", (gp_dtype)0, spmv_prepare, spmv, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};

static void *open_library(void)
{
    static const char *const names[] = {"libcusparse.so.12",
                                        "/usr/local/cuda/lib64/libcusparse.so.12"};
    const char *named = getenv("GP_CUSPARSE");
    void *library = NULL;
    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

const struct bench_peer *bench_cusparse_peers(void)
{
    int version = 0;
    void *library = open_library();
    if (!library) {
        printf("no cuSPARSE peers: %s\n", dlerror());
        return NULL;
    }
#define LOAD(name)                                                                                 \
    *(void **)&lib.name = dlsym(library, #name);                                                   \
    if (!lib.name) {                                                                               \
        printf("no cuSPARSE peers: it has no %s\n", #name);                                        \
        return NULL;                                                                               \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    if (result(lib.cusparseCreate(&lib.handle), "cusparseCreate") ||
        result(lib.cusparseGetVersion(lib.handle, &version), "cusparseGetVersion"))
        return NULL;
    snprintf(lib.name, sizeof lib.name, "cusparse-%d.%d.%d", version / 1000, version / 100 % 10,
             version % 100);
    return peers;
}
