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
    X(cusparseSpMV_preprocess)                                                                     \
    X(cusparseSpMV)                                                                                \
    X(cusparseCreateDnMat)                                                                         \
    X(cusparseDestroyDnMat)                                                                        \
    X(cusparseSpMM_bufferSize)                                                                     \
    X(cusparseSpMM_preprocess)                                                                     \
    X(cusparseSpMM)

struct spmv {
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    cusparseSpMVAlg_t algorithm;
    void *temp;
    size_t bytes;
};

struct spmm {
    cusparseSpMatDescr_t matrix;
    cusparseDnMatDescr_t x, y;
    void *temp;
};

/* The functions under their own names, and what lives as long as the program. */
static struct {
#define POINTER(name) __typeof__(name) *name;
    FUNCTIONS(POINTER)
#undef POINTER
    cusparseHandle_t handle;
    struct spmv spmv[3]; /* by algorithm: all peers of a case are prepared before the first runs */
    struct spmm spmm[2];
    char name[32], names[2][48]; /* of the library, and of its algorithms for SpMV */
    char matrix_names[2][48];    /* of those for SpMM */
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

enum spmv_step { SPMV_SIZE, SPMV_PREPROCESS, SPMV_MULTIPLY };

static cusparseStatus_t spmv_call(const struct bench_args *a, struct spmv *v, enum spmv_step step)
{
    bool f64 = a->dtype == GP_F64;
    const void *one = f64 ? (const void *)&one_f64 : (const void *)&one_f32;
    const void *zero = f64 ? (const void *)&zero_f64 : (const void *)&zero_f32;
    cudaDataType type = f64 ? CUDA_R_64F : CUDA_R_32F; /* of the sums */
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (step == SPMV_SIZE)
        return lib.cusparseSpMV_bufferSize(lib.handle, op, one, v->matrix, v->x, zero, v->y, type,
                                           v->algorithm, &v->bytes);
    if (step == SPMV_PREPROCESS)
        return lib.cusparseSpMV_preprocess(lib.handle, op, one, v->matrix, v->x, zero, v->y, type,
                                           v->algorithm, v->temp);
    return lib.cusparseSpMV(lib.handle, op, one, v->matrix, v->x, zero, v->y, type, v->algorithm,
                            v->temp);
}

/* cuSPARSE's descriptors take what they do not write without const. */
static void *mutable_pointer(const void *p)
{
    void *q;
    memcpy(&q, &p, sizeof q);
    return q;
}

static void spmv_drop(struct bench *b, struct spmv *v)
{
    if (v->matrix)
        lib.cusparseDestroySpMat(v->matrix);
    if (v->x)
        lib.cusparseDestroyDnVec(v->x);
    if (v->y)
        lib.cusparseDestroyDnVec(v->y);
    gp_free(b->ctx, v->temp);
    *v = (struct spmv){0};
}

static int prepare_algorithm(struct bench *b, const struct bench_args *a, struct spmv *v,
                             cusparseSpMVAlg_t algorithm)
{
    cudaDataType type = a->dtype == GP_F64   ? CUDA_R_64F
                        : a->dtype == GP_F32 ? CUDA_R_32F
                                             : CUDA_R_16F;
    int r = prepare(b, a);
    if (r)
        return r;
    spmv_drop(b, v);
    v->algorithm = algorithm;
    cusparseStatus_t s = lib.cusparseCreateCsr(
        &v->matrix, (int64_t)a->num_rows, (int64_t)a->num_cols, (int64_t)a->n,
        mutable_pointer(a->offsets), mutable_pointer(a->cols), mutable_pointer(a->values),
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = lib.cusparseCreateDnVec(&v->x, (int64_t)a->num_cols, mutable_pointer(a->x), type);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = lib.cusparseCreateDnVec(&v->y, (int64_t)a->num_rows, a->out, type);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = spmv_call(a, v, SPMV_SIZE);
    r = result(s, "cusparseSpMV_bufferSize");
    return r ? r : bench_status(b, gp_malloc(b->ctx, v->bytes + 1, &v->temp));
}

static int spmv_prepare(struct bench *b, const struct bench_args *a)
{
    return prepare_algorithm(b, a, &lib.spmv[0], CUSPARSE_SPMV_ALG_DEFAULT);
}

static int preprocess(struct bench *b, const struct bench_args *a, struct spmv *v,
                      cusparseSpMVAlg_t algorithm)
{
    int r = prepare_algorithm(b, a, v, algorithm);
    return r ? r : result(spmv_call(a, v, SPMV_PREPROCESS), "cusparseSpMV_preprocess");
}

static int spmv_prepare_1(struct bench *b, const struct bench_args *a)
{
    return preprocess(b, a, &lib.spmv[1], CUSPARSE_SPMV_CSR_ALG1);
}

static int spmv_prepare_2(struct bench *b, const struct bench_args *a)
{
    return preprocess(b, a, &lib.spmv[2], CUSPARSE_SPMV_CSR_ALG2);
}

static int spmv_run(const struct bench_args *a, struct spmv *v)
{
    return result(spmv_call(a, v, SPMV_MULTIPLY), "cusparseSpMV");
}

static int spmv(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return spmv_run(a, &lib.spmv[0]);
}

static int spmv_1(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return spmv_run(a, &lib.spmv[1]);
}

static int spmv_2(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return spmv_run(a, &lib.spmv[2]);
}

/* ---- SpMM: rows of X and Y lie beside each other --------------------------------------------- */

static const cusparseSpMMAlg_t spmm_algorithms[] = {CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};

static void spmm_drop(struct bench *b, struct spmm *m)
{
    if (m->matrix)
        lib.cusparseDestroySpMat(m->matrix);
    if (m->x)
        lib.cusparseDestroyDnMat(m->x);
    if (m->y)
        lib.cusparseDestroyDnMat(m->y);
    gp_free(b->ctx, m->temp);
    *m = (struct spmm){0};
}

static cusparseStatus_t spmm_call(const struct bench_args *a, int which, enum spmv_step step,
                                  size_t *bytes)
{
    struct spmm *m = &lib.spmm[which];
    const bool f64 = a->dtype == GP_F64;
    const void *one = f64 ? (const void *)&one_f64 : (const void *)&one_f32;
    const void *zero = f64 ? (const void *)&zero_f64 : (const void *)&zero_f32;
    const cudaDataType type = f64 ? CUDA_R_64F : CUDA_R_32F;
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseSpMMAlg_t algorithm = spmm_algorithms[which];
    if (step == SPMV_SIZE)
        return lib.cusparseSpMM_bufferSize(lib.handle, op, op, one, m->matrix, m->x, zero, m->y,
                                           type, algorithm, bytes);
    if (step == SPMV_PREPROCESS)
        return lib.cusparseSpMM_preprocess(lib.handle, op, op, one, m->matrix, m->x, zero, m->y,
                                           type, algorithm, m->temp);
    return lib.cusparseSpMM(lib.handle, op, op, one, m->matrix, m->x, zero, m->y, type, algorithm,
                            m->temp);
}

static int spmm_prepare(struct bench *b, const struct bench_args *a, int which)
{
    struct spmm *m = &lib.spmm[which];
    const cudaDataType type = a->dtype == GP_F64 ? CUDA_R_64F : CUDA_R_32F;
    const int64_t columns = (int64_t)a->bins;
    size_t bytes = 0;
    int r = prepare(b, a);
    if (r)
        return r;
    spmm_drop(b, m);
    cusparseStatus_t s = lib.cusparseCreateCsr(
        &m->matrix, (int64_t)a->num_rows, (int64_t)a->num_cols, (int64_t)a->n,
        mutable_pointer(a->offsets), mutable_pointer(a->cols), mutable_pointer(a->values),
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = lib.cusparseCreateDnMat(&m->x, (int64_t)a->num_cols, columns, columns,
                                    mutable_pointer(a->x), type, CUSPARSE_ORDER_ROW);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = lib.cusparseCreateDnMat(&m->y, (int64_t)a->num_rows, columns, columns, a->out, type,
                                    CUSPARSE_ORDER_ROW);
    if (s == CUSPARSE_STATUS_SUCCESS)
        s = spmm_call(a, which, SPMV_SIZE, &bytes);
    r = result(s, "cusparseSpMM_bufferSize");
    if (!r)
        r = bench_status(b, gp_malloc(b->ctx, bytes + 1, &m->temp));
    return r ? r : result(spmm_call(a, which, SPMV_PREPROCESS, NULL), "cusparseSpMM_preprocess");
}

static int spmm_prepare_2(struct bench *b, const struct bench_args *a)
{
    return spmm_prepare(b, a, 0);
}

static int spmm_prepare_3(struct bench *b, const struct bench_args *a)
{
    return spmm_prepare(b, a, 1);
}

static int spmm_2(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return result(spmm_call(a, 0, SPMV_MULTIPLY, NULL), "cusparseSpMM");
}

static int spmm_3(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return result(spmm_call(a, 1, SPMV_MULTIPLY, NULL), "cusparseSpMM");
}

/* ---- loading --------------------------------------------------------------------------------- */

static const struct bench_peer peers[] = {
    {lib.name, "csr", "row_pointers", GP_U32, prepare, row_pointers, false},
    {lib.name, "csr", "row_pointers_powerlaw", GP_U32, prepare, row_pointers, false},
    {lib.name, "csr", "coo_to_csr", GP_F32, prepare, sort_coo, true},
    {lib.name, "csr", "transpose", GP_F32, prepare, transpose, false},
    {lib.name, "csr", "spmv_even", (gp_dtype)0, spmv_prepare, spmv, false},
    {lib.name, "csr", "spmv_powerlaw", (gp_dtype)0, spmv_prepare, spmv, false},
    {lib.names[0], "spmv", NULL, (gp_dtype)0, spmv_prepare_1, spmv_1, false},
    {lib.names[1], "spmv", NULL, (gp_dtype)0, spmv_prepare_2, spmv_2, false},
    {lib.matrix_names[0], "spmm", NULL, (gp_dtype)0, spmm_prepare_2, spmm_2, false},
    {lib.matrix_names[1], "spmm", NULL, (gp_dtype)0, spmm_prepare_3, spmm_3, false},
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
    for (int k = 0; k < 2; k++)
        snprintf(lib.names[k], sizeof lib.names[k], "%s-alg%d", lib.name, k + 1);
    for (int k = 0; k < 2; k++)
        snprintf(lib.matrix_names[k], sizeof lib.matrix_names[k], "%s-alg%d", lib.name, k + 2);
    return peers;
}
