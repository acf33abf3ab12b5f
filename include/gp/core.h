/* SPDX-License-Identifier: MIT */
/**
 * @file core.h
 * Status codes, element types, operators, contexts and memory: what every gp call shares.
 *
 * A program makes one context per device and thread, hands it to the primitives, and destroys it:
 *
 *     gp_context *ctx;
 *     gp_status s = gp_context_create(&ctx, NULL);          // first usable GPU, otherwise the CPU
 *     s = gp_scan_inclusive(ctx, GP_I32, GP_SUM, in, n, out);
 *     s = gp_context_synchronize(ctx);
 *     gp_context_destroy(ctx);
 *
 * The scan is queued on arrays that live where ctx computes; out can be read once synchronized.
 */
#ifndef GP_CORE_H
#define GP_CORE_H

#include <stddef.h>
#include <stdint.h>

/** Marks what the library exports. */
#if defined(__GNUC__) && !defined(GP_STATIC)
#define GP_API __attribute__((visibility("default")))
#else
#define GP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GP_VERSION_MAJOR 0 /**< of the headers */
#define GP_VERSION_MINOR 1 /**< of the headers */
#define GP_VERSION_PATCH 0 /**< of the headers */
/** The version of the headers as one number, comparable with gp_version(). */
#define GP_VERSION (GP_VERSION_MAJOR * 10000 + GP_VERSION_MINOR * 100 + GP_VERSION_PATCH)

/** The version of the library at run time, in the form of GP_VERSION. @since 0.1 */
GP_API int gp_version(void);

/* ---- status ---------------------------------------------------------------------------------- */

/** Every status: X(name, number, text). Numbers never change; new ones are appended. */
#define GP_STATUS_MAP(X)                                                                           \
    X(OK, 0, "no error")                                                                           \
    X(ERROR_ARGUMENT, 1, "an argument has a value that is not allowed")                            \
    X(ERROR_POINTER, 2, "a pointer is NULL, misaligned, or not memory of this context")            \
    X(ERROR_OVERLAP, 3, "two arrays overlap in a way this call does not allow")                    \
    X(ERROR_DTYPE, 4, "an element type is unknown or not allowed here")                            \
    X(ERROR_OP, 5, "an operator is unknown or has no meaning for this element type")               \
    X(ERROR_UNSUPPORTED, 6, "valid, but not available on this device or in this build")            \
    X(ERROR_MEMORY, 7, "an allocation failed")                                                     \
    X(ERROR_WORKSPACE, 8, "the workspace would have to grow while a stream is being captured")     \
    X(ERROR_OVERFLOW, 9, "a total does not fit the element type it was asked in")                  \
    X(ERROR_CAPACITY, 10, "a result does not fit the room given for it")                           \
    X(ERROR_DATA, 11, "the contents of an array break a rule of the call")                         \
    X(ERROR_DEVICE, 12, "no usable device, or the driver refused")                                 \
    X(ERROR_CUDA, 13, "a CUDA call or kernel failed; the context must be reset")                   \
    X(ERROR_INTERNAL, 14, "a bug in gp: please report it")                                         \
    X(ERROR_BUSY, 15, "the context is in use by another thread")

/** What a call returns. GP_OK is zero. */
typedef enum gp_status {
/** Makes the enumerators. */
#define GP_STATUS_ENUM(name, number, text) GP_##name = number,
    GP_STATUS_MAP(GP_STATUS_ENUM)
#undef GP_STATUS_ENUM
} gp_status;

/** One sentence for a status; never NULL, also for numbers that are no status. @since 0.1 */
GP_API const char *gp_status_string(gp_status status);

/* ---- element types and operators ------------------------------------------------------------- */

/** Every element type: X(name, number, bytes, text). */
#define GP_DTYPE_MAP(X)                                                                            \
    X(I8, 1, 1, "i8")                                                                              \
    X(U8, 2, 1, "u8")                                                                              \
    X(I16, 3, 2, "i16")                                                                            \
    X(U16, 4, 2, "u16")                                                                            \
    X(I32, 5, 4, "i32")                                                                            \
    X(U32, 6, 4, "u32")                                                                            \
    X(I64, 7, 8, "i64")                                                                            \
    X(U64, 8, 8, "u64")                                                                            \
    X(F16, 9, 2, "f16")                                                                            \
    X(BF16, 10, 2, "bf16")                                                                         \
    X(F32, 11, 4, "f32")                                                                           \
    X(F64, 12, 8, "f64")

/** Element types. GP_F16 and GP_BF16 are stored as uint16_t and computed in float; a NaN that is
 * computed, or that a scan selects, is stored as 0x7fff. */
typedef enum gp_dtype {
/** Makes the enumerators. */
#define GP_DTYPE_ENUM(name, number, bytes, text) GP_##name = number,
    GP_DTYPE_MAP(GP_DTYPE_ENUM)
#undef GP_DTYPE_ENUM
} gp_dtype;

/** Every operator: X(name, number, scalars per item, text). */
#define GP_OP_MAP(X)                                                                               \
    X(SUM, 1, 1, "sum")                                                                            \
    X(PRODUCT, 2, 1, "product")                                                                    \
    X(MIN, 3, 1, "min")                                                                            \
    X(MAX, 4, 1, "max")                                                                            \
    X(AND, 5, 1, "and")                                                                            \
    X(OR, 6, 1, "or")                                                                              \
    X(XOR, 7, 1, "xor")                                                                            \
    X(AFFINE, 8, 2, "affine")                                                                      \
    X(MAT2, 9, 4, "mat2")

/**
 * Associative operators.
 *
 * Integers wrap. MIN and MAX follow gp's order of floats (-inf .. -0 = +0 .. +inf < NaN); a
 * tie keeps the left operand, so the identity of MIN on floats is NaN; while a scan by MIN
 * has met nothing but NaNs, the bits of the one it stores are not specified. AND, OR and XOR
 * are for integers.
 *
 * AFFINE and MAT2 do not commute and are for GP_F32 and GP_F64; an item is 2 or 4 consecutive
 * scalars: AFFINE (a, b) stands for x -> a x + b; left then right is (a2 a1, a2 b1 + b2), identity
 * (1, 0); MAT2 (m00, m01, m10, m11), row-major; left, right is the product left * right.
 */
typedef enum gp_op {
/** Makes the enumerators. */
#define GP_OP_ENUM(name, number, scalars, text) GP_##name = number,
    GP_OP_MAP(GP_OP_ENUM)
#undef GP_OP_ENUM
} gp_op;

/** Bytes of one element, 0 for a number that is no dtype. @since 0.1 */
GP_API size_t gp_dtype_bytes(gp_dtype dtype);

/** Lower-case name such as "u32"; "?" for a number that is no dtype. @since 0.1 */
GP_API const char *gp_dtype_string(gp_dtype dtype);

/** Lower-case name such as "sum"; "?" for a number that is no operator. @since 0.1 */
GP_API const char *gp_op_string(gp_op op);

/**
 * Scalars per item of an operator (1, 2 for GP_AFFINE, 4 for GP_MAT2); 0 for no operator.
 * An item of a scan has gp_op_scalars(op) * gp_dtype_bytes(dtype) bytes. @since 0.1
 */
GP_API size_t gp_op_scalars(gp_op op);

/** Direction of a sorted order. */
typedef enum gp_order {
    GP_ASCENDING = 0, /**< integers by value; floats -inf .. -0 = +0 .. +inf < NaN */
    GP_DESCENDING = 1 /**< the reverse order of keys; equal keys still stay in input order */
} gp_order;

/** Which implementation of a primitive to use. An algorithm that the primitive does not have on
 * this backend is GP_ERROR_UNSUPPORTED; a number that names no algorithm is GP_ERROR_ARGUMENT. */
typedef enum gp_algorithm {
    GP_ALGORITHM_AUTO = 0,             /**< the fastest deterministic one, by the tuning table */
    GP_ALGORITHM_LOOKAHEAD = 1,        /**< scan: single pass, each tile reads the sums before it */
    GP_ALGORITHM_LOOKBACK = 2,         /**< scan: single pass, decoupled look-back */
    GP_ALGORITHM_CHAINED = 3,          /**< scan: single pass, each tile waits for the one before */
    GP_ALGORITHM_REDUCE_THEN_SCAN = 4, /**< scan: tile sums, scan of the sums, scan of the tiles */
    GP_ALGORITHM_SCAN_THEN_FAN = 5,    /**< scan: scan tiles, scan their totals, add them back */
    GP_ALGORITHM_FENWICK = 6,          /**< scan: binary indexed tree, build then query */
    GP_ALGORITHM_CUB = 7,              /**< NVIDIA CUB through the same call */
    GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS = 8, /**< scan: the same with a part per block */
    GP_ALGORITHM_SERIAL = 9                     /**< scan: one CPU thread */
} gp_algorithm;

/* ---- context --------------------------------------------------------------------------------- */

/** Where a context computes. */
typedef enum gp_backend {
    /** The first usable CUDA device, otherwise the CPU; CUDA if a device is named. */
    GP_BACKEND_AUTO = 0,
    GP_BACKEND_CPU = 1,
    GP_BACKEND_CUDA = 2
} gp_backend;

/** A CUDA stream: a cudaStream_t fits without a cast and without CUDA headers.
 * Unused on the CPU. */
typedef struct CUstream_st *gp_stream;

/**
 * One device, one stream, one workspace. One thread at a time may use a context; several contexts
 * work in parallel.
 *
 * While one thread is in a call with a context, calls of other threads with it return
 * GP_ERROR_BUSY. A pointer to a destroyed context, or to none, is GP_ERROR_POINTER. Both errors
 * mean that nothing was done; their text is gp_last_error(NULL). After fork() the child can use
 * the CPU contexts that no thread of the parent was using at that moment; a CUDA context returns
 * GP_ERROR_DEVICE in the child, since CUDA does not survive fork().
 */
typedef struct gp_context gp_context;

/**
 * Where the context takes device (or, on the CPU, host) memory for its workspace and gp_malloc().
 *
 * allocate returns NULL when it has no memory. Work queued on stream after the call must be able to
 * use the memory, and it must be aligned to alignment (256); otherwise gp releases it again and
 * returns GP_ERROR_POINTER. release receives every pointer that allocate returned, once, with the
 * same number of bytes; work queued on stream before the call may still use that memory. Neither
 * function may call gp with the same context.
 */
typedef struct gp_allocator {
    void *user; /**< passed to both functions */
    /** Memory of that many bytes, or NULL. */
    void *(*allocate)(void *user, size_t bytes, size_t alignment, gp_stream stream);
    /** Takes back memory that allocate returned. */
    void (*release)(void *user, void *memory, size_t bytes, gp_stream stream);
} gp_allocator;

/**
 * How to make a context; start from GP_CONTEXT_OPTIONS_INIT.
 *
 * Every struct of options, descriptor or target begins with its size, which its initializer macro
 * sets. Later releases add members, whose default is 0. A program compiled for an older release
 * gets the defaults. A program compiled for a newer release works as long as all bytes beyond the
 * members that this library knows are 0. A size that no release had, or one above 4096, is an
 * error: GP_ERROR_ARGUMENT.
 *
 * multiprocessors is for sharing a GPU: gp's kernels get no more blocks than that many
 * multiprocessors hold at once, and leave the others to the streams of other contexts and programs.
 * A number above that of the device means all. Results do not depend on it.
 *
 * threads is an upper limit. All contexts of a process share one pool of threads; a call borrows
 * idle ones, and takes fewer for short arrays. If the system refuses to create a thread, the call
 * works with fewer. A call on the CPU takes up to 40 KiB of its thread's stack (x86-64).
 *
 * validate is for finding mistakes. Calls rely on the rules that their headers set for the contents
 * of arrays: offsets ascend, indices are in range, inputs of a merge are sorted. With validate a
 * call checks these rules first. If one is broken, the call writes no output, and reads nothing
 * outside the arrays whose length it knows. On the CPU the call then returns GP_ERROR_DATA; on CUDA
 * gp_context_synchronize() does, and nothing waits: the call queues its checks and, after them, its
 * work as the body of a conditional graph node. So such calls can be captured, and each replay of a
 * graph is checked. validate needs a driver for CUDA 12.4 or later; otherwise gp_context_create()
 * returns GP_ERROR_UNSUPPORTED. A call that checks arrays reads them once more, and on CUDA takes
 * the host 40 to 75 us more (H200); it waits if 32 such calls are queued ahead of it. Calls without
 * rules, and calls with other contexts, cost nothing more.
 */
typedef struct gp_context_options {
    size_t size;            /**< sizeof(gp_context_options) */
    gp_backend backend;     /**< AUTO also follows the environment: GP_BACKEND=cpu|cuda */
    int device;             /**< CUDA ordinal; -1: GP_DEVICE or the first usable one */
    int threads;            /**< CPU threads, at most 4096; 0: GP_THREADS or one per processor */
    gp_stream stream;       /**< NULL: the context makes a stream of its own */
    gp_allocator allocator; /**< all NULL: the context's own */
    size_t workspace_bytes; /**< reserved at creation, see gp_context_reserve() */
    int multiprocessors;    /**< CUDA: launches are sized for these; 0: GP_MULTIPROCESSORS or all */
    int reserved;           /**< ignored: formerly padding */
    int validate;           /**< not 0: check the contents of arrays; 0: as GP_VALIDATE says */
    int reserved_too;       /**< 0 */
} gp_context_options;

/** Initializer of gp_context_options: its size, and defaults. */
#define GP_CONTEXT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_context_options), GP_BACKEND_AUTO, -1, 0, NULL, {NULL, NULL, NULL}, 0, 0, 0, 0,  \
            0                                                                                      \
    }

/**
 * Make a context.
 *
 * @param[out] ctx     the new context; NULL on error
 * @param[in]  options NULL for the automatic choice; its size member must be set
 *
 * Host call; never touches CUDA's default stream, leaves the current device as it was. Without an
 * allocator a CUDA context allocates from the device's memory pool; creating that pool takes the
 * first context of a process about 10 ms (H200). A context keeps up to eight CUDA graphs, of
 * repeated calls that consist of several kernels.
 *
 * @return GP_OK; GP_ERROR_POINTER ctx is NULL; GP_ERROR_ARGUMENT a wrong size, backend, device or
 *         thread count, half an allocator, a negative number of multiprocessors, or a value that is
 *         not allowed in GP_BACKEND, GP_VALIDATE, GP_THREADS (if the CPU may be chosen), GP_DEVICE
 *         or GP_MULTIPROCESSORS (if CUDA may be chosen); GP_ERROR_DEVICE the options or GP_DEVICE
 *         request CUDA or a device, and there is no driver or no such device; GP_ERROR_UNSUPPORTED
 *         they do, and this build has no CUDA, or no code for the device; GP_ERROR_MEMORY. The text
 *         is gp_last_error(NULL).
 * @since 0.1
 */
GP_API gp_status gp_context_create(gp_context **ctx, const gp_context_options *options);

/**
 * Wait for the context's work and free it; NULL does nothing.
 *
 * Memory of gp_malloc() that was not freed stays allocated. A context in use by another thread, and
 * a pointer to no context, are left alone; gp_last_error(NULL) says so. @since 0.1
 */
GP_API void gp_context_destroy(gp_context *ctx);

/**
 * Wait until all queued work is done, and report the errors that calls have found in their data.
 *
 * Errors that a call cannot know of when it returns are sticky: GP_ERROR_OVERFLOW (a total that
 * does not fit its type), GP_ERROR_CAPACITY (a result that does not fit its room) and
 * GP_ERROR_DATA. This call reports the first call with such an error since the last report, and of
 * that call the smallest index; gp_last_error() names call, argument, index, value and expected
 * value ("gp_csr_from_coo: cols[9] is 7, expected below 3"), in the same words on both backends.
 * If a graph was replayed several times since, the smallest index of all replays is reported. Not
 * allowed during capture.
 *
 * @return GP_OK, one of the above, GP_ERROR_CUDA, GP_ERROR_ARGUMENT if work of the context ran on
 *         two streams at the same time, or GP_ERROR_POINTER if ctx is NULL.
 * @since 0.1
 */
GP_API gp_status gp_context_synchronize(gp_context *ctx);

/**
 * Queue later work on another stream, ordered by an event after the work queued so far.
 *
 * @param[in] stream NULL goes back to the context's own stream
 * @return GP_OK; GP_ERROR_POINTER; GP_ERROR_ARGUMENT a stream given to a CPU context; GP_ERROR_CUDA
 * @since 0.1
 */
GP_API gp_status gp_context_set_stream(gp_context *ctx, gp_stream stream);

/** The stream that work is queued on; NULL on the CPU. @since 0.1 */
GP_API gp_stream gp_context_stream(const gp_context *ctx);

/** GP_BACKEND_CPU or GP_BACKEND_CUDA; GP_BACKEND_AUTO if ctx is NULL. @since 0.1 */
GP_API gp_backend gp_context_backend(const gp_context *ctx);

/**
 * Grow the workspace now, so that calls that need at most this many bytes never allocate.
 *
 * bytes is the largest gp_<primitive>_workspace_bytes() of the calls to come; the workspace never
 * shrinks. Needed before stream capture, where growing is refused with GP_ERROR_WORKSPACE.
 *
 * @return GP_OK; GP_ERROR_POINTER; GP_ERROR_MEMORY (the old workspace stays);
 *         GP_ERROR_WORKSPACE; GP_ERROR_CUDA
 * @since 0.1
 */
GP_API gp_status gp_context_reserve(gp_context *ctx, size_t bytes);

/**
 * Take a context that reported GP_ERROR_CUDA back into use: drops its workspace and sticky errors
 * and creates its device objects again. Fails with GP_ERROR_CUDA if the CUDA state of the process
 * is lost.
 * @since 0.1
 */
GP_API gp_status gp_context_reset(gp_context *ctx);

/**
 * One line about a context: backend, device, SM and tuning row, threads, versions.
 *
 * Writes at most bytes characters with the final NUL into text.
 * @return GP_OK; GP_ERROR_POINTER ctx or text is NULL; GP_ERROR_ARGUMENT bytes is 0
 * @since 0.1
 */
GP_API gp_status gp_context_describe(const gp_context *ctx, char *text, size_t bytes);

/**
 * The text of the last error: function, argument and value.
 *
 * @param[in] ctx the context whose last error is meant; NULL: this thread's last error in calls
 *                without a usable context
 * @return never NULL; empty if there was no error; for a pointer to no context the text of the
 *         thread. The text stays until the next error; successful calls leave it. The pointer is
 *         valid until the next call with ctx (or on this thread).
 * @since 0.1
 */
GP_API const char *gp_last_error(const gp_context *ctx);

/* ---- memory ---------------------------------------------------------------------------------- */

/**
 * Memory where the context computes, 256-byte aligned; *memory = NULL for 0 bytes.
 *
 * Comes from the allocator of the context's options, if there is one. May wait for the device. Not
 * for use during capture. Content is not defined.
 * @return GP_OK; GP_ERROR_POINTER; GP_ERROR_MEMORY; GP_ERROR_BUSY
 * @since 0.1
 */
GP_API gp_status gp_malloc(gp_context *ctx, size_t bytes, void **memory);

/**
 * Free memory of gp_malloc() with the same context, after the work queued so far; NULL does
 * nothing. Also works on a context that has reported GP_ERROR_CUDA.
 * @return GP_OK; GP_ERROR_POINTER memory that is not of gp_malloc() with this context, or that is
 *         free already; GP_ERROR_BUSY
 * @since 0.1
 */
GP_API gp_status gp_free(gp_context *ctx, void *memory);

/**
 * Copy bytes between any two places, host or device, in the context's order.
 *
 * Queued on the stream: destination and source must stay valid until the stream has passed the
 * copy; synchronize before reading the destination on the host. Ranges must not overlap unless
 * they are the same.
 * @return GP_OK; GP_ERROR_POINTER; GP_ERROR_OVERLAP; GP_ERROR_CUDA
 * @since 0.1
 */
GP_API gp_status gp_copy(gp_context *ctx, const void *source, size_t bytes, void *destination);

/* ---- workspace sizes without a device -------------------------------------------------------- */

/**
 * The machine that a gp_<primitive>_workspace_bytes() call computes a bound for; no context is
 * needed. GP_TARGET_INIT means any machine: an upper bound over all of them. A wrong size or
 * backend, or a negative number, is GP_ERROR_ARGUMENT.
 */
typedef struct gp_target {
    size_t size;        /**< sizeof(gp_target) */
    gp_backend backend; /**< AUTO: the larger of both */
    int sm;             /**< compute capability, major * 10 + minor; 0: any */
    int sm_count;       /**< multiprocessors; 0: any */
    int threads;        /**< CPU threads; 0: any */
} gp_target;

/** Initializer of gp_target: its size, and defaults. */
#define GP_TARGET_INIT                                                                             \
    {                                                                                              \
        sizeof(gp_target), GP_BACKEND_AUTO, 0, 0, 0                                                \
    }

#ifdef __cplusplus
}
#endif
#endif
