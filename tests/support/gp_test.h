/* SPDX-License-Identifier: MIT */
/*
 * What every test program shares. A test program is
 *
 *     static Suite *suite(void)
 *     {
 *         Suite *s = suite_create("scan");
 *         TCase *c = t_case(s, "values");
 *         tcase_add_loop_test(c, test_scan_sizes, 0, T_SIZE_COUNT);
 *         return s;
 *     }
 *     int main(int argc, char **argv) { return t_main(argc, argv, suite()); }
 *
 * and runs as `test_scan cpu|cuda [part of a test-case name]`. The same bodies serve both backends:
 * data lives in t_array, which is memory of the run's context with guard bytes on both sides.
 *
 * Helpers whose names begin with t_ fail the running test themselves; on a failure in a comparison
 * they print where, how much, and the seed.
 */
#ifndef GP_TEST_H
#define GP_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gp/core.h>

#include "asserts.h"

/* ---- running --------------------------------------------------------------------------------- */

/* Run the suite on the backend named by argv[1]. 77 if that is cuda and there is no device (1 if
 * the environment says GP_REQUIRE_CUDA=1). argv[2]: run only test cases whose name contains it. */
int t_main(int argc, char **argv, Suite *suite);

/* A test case that argv[2] can select. Cases with "large" in their name run only when selected,
 * those with "cuda" not on the CPU. */
TCase *t_case(Suite *suite, const char *name);

/* Of the rounds of loop tests only those of one part: GP_TEST_PART=2/5 for the second of five. */
#undef tcase_add_loop_test
#define tcase_add_loop_test(c, test, begin, end)                                                   \
    tcase_add_loop_test_raise_signal(c, test, 0, t_part_begin(begin, end), t_part_end(begin, end))
int t_part_begin(int begin, int end);
int t_part_end(int begin, int end);

/* The context of this run, made at the first call; on the CPU with at least two threads. */
gp_context *t_ctx(void);
/* Another one of that backend, which has that number of multiprocessors on CUDA; 0: all. */
gp_context *t_context_with(int multiprocessors);
bool t_is_cuda(void);
/* Whether GP_ALGORITHM_CUB works in this run. */
bool t_has_cub(void);

/* The next t_ctx() makes a new context; for tests that leave theirs unusable. */
void t_ctx_drop(void);

/* A context with the option validate that takes arrays of t_ctx(); for gp_context_destroy(). */
gp_context *t_validating(void);

/* ---- statuses -------------------------------------------------------------------------------- */

/* The expression is GP_OK; otherwise fail with the text of gp_last_error(). */
#define T_OK(expression) t_status_at(__FILE__, __LINE__, #expression, GP_OK, (expression))

/* The expression has this status, and if that is an error, gp_last_error() has a text. */
#define T_STATUS(expected, expression)                                                             \
    (t_error_clear(), t_status_at(__FILE__, __LINE__, #expression, (expected), (expression)))

void t_status_at(const char *file, int line, const char *expression, gp_status expected,
                 gp_status actual);
void t_error_clear(void);

/* The call found data that breaks a rule and says so in this text: on the CPU by itself, on CUDA at
 * the next gp_context_synchronize(). */
void t_refused(gp_context *ctx, gp_status of_call, const char *text);

/* ---- arrays ---------------------------------------------------------------------------------- */

enum { T_GUARD = 256, T_POISON = 0xA5 };

/* Memory of t_ctx() between guards. */
struct t_array {
    void *data;
    size_t bytes;
    void *block; /* of gp_malloc(): guard, offset, data, guard */
    size_t block_bytes;
};
typedef struct t_array t_array;

/* bytes of poisoned memory that begin offset bytes after a 256-byte boundary. */
t_array t_new(size_t bytes, size_t offset);
/* The same with contents from the host. */
t_array t_new_from(const void *host, size_t bytes, size_t offset);
void t_free(t_array *array);
/* Poison data and guards again. */
void t_poison(t_array *array);
void t_put(t_array *array, const void *host, size_t bytes);
/* Copies to the host after everything queued; fails if a call has found something. */
void t_get(const t_array *array, void *host, size_t bytes);

/* The guards are untouched. */
#define t_check_guards(array) t_check_guards_at(__FILE__, __LINE__, #array, (array))
void t_check_guards_at(const char *file, int line, const char *name, const t_array *array);

/* The array's bytes are still all poison: nothing has been written. */
#define t_check_untouched(array) t_check_untouched_at(__FILE__, __LINE__, #array, (array))
void t_check_untouched_at(const char *file, int line, const char *name, const t_array *array);

/* One uint64_t in the context's memory, read after everything queued. */
uint64_t t_get_u64(const t_array *array);

/* Host memory or the test fails; for 0 bytes too a pointer that free() takes. */
void *t_host(size_t bytes);

/* ---- comparisons: one assertion per array ---------------------------------------------------- */

/* Equal element by element: integers by bits; floats equal or both NaN, -0 equals +0. */
#define t_same(name, dtype, expected, actual, n)                                                   \
    t_same_at(__FILE__, __LINE__, name, dtype, expected, actual, n)
void t_same_at(const char *file, int line, const char *name, gp_dtype dtype, const void *expected,
               const void *actual, size_t n);

/* Equal byte by byte. */
#define t_same_bytes(name, expected, actual, bytes)                                                \
    t_same_at(__FILE__, __LINE__, name, GP_U8, expected, actual, bytes)

/* |actual - expected| <= rel * |expected| + tiny; NaN equals NaN, an infinity itself. */
#define t_close(name, dtype, expected, actual, n, rel)                                             \
    t_close_at(__FILE__, __LINE__, name, dtype, expected, actual, n, rel)
void t_close_at(const char *file, int line, const char *name, gp_dtype dtype, const void *expected,
                const void *actual, size_t n, double rel);

/* |actual - expected| <= rel * magnitude + tiny, with expected values and magnitudes in double;
 * magnitude[i] is, for a sum, the sum of the terms' absolute values. */
#define t_close_to(name, dtype, expected, magnitude, actual, n, rel)                               \
    t_close_to_at(__FILE__, __LINE__, name, dtype, expected, magnitude, actual, n, rel)
void t_close_to_at(const char *file, int line, const char *name, gp_dtype dtype,
                   const double *expected, const double *magnitude, const void *actual, size_t n,
                   double rel);

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Fixed, or GP_TEST_SEED. */
uint64_t t_seed(void);
uint64_t t_random(uint64_t *state);
/* Below bound, which is not 0. */
uint64_t t_random_below(uint64_t *state, uint64_t bound);

/* Integers: all values; floats: evenly from [-1, 1). */
void t_fill_random(gp_dtype dtype, void *host, size_t n, uint64_t *state);
/* Any bit pattern, so floats include NaN, infinities and denormals. */
void t_fill_bits(gp_dtype dtype, void *host, size_t n, uint64_t *state);
/* Bit patterns at which mistakes show: of floats NaNs of both signs with payloads, zeros of
 * both signs, infinities, denormals and limits; of integers 0, 1, all ones, the limits and
 * their neighbours. */
void t_fill_special(gp_dtype dtype, void *host, size_t n, uint64_t *state);
/* The whole numbers 0 to range - 1, in every dtype. */
void t_fill_small(gp_dtype dtype, void *host, size_t n, uint64_t range, uint64_t *state);

float t_f16_to_f32(uint16_t half);
uint16_t t_f32_to_f16(float value);
float t_bf16_to_f32(uint16_t half);
uint16_t t_f32_to_bf16(float value);

/* Element i as double, and a double rounded to element i. */
double t_value(gp_dtype dtype, const void *array, size_t i);
void t_set(gp_dtype dtype, void *array, size_t i, double value);

bool t_is_float(gp_dtype dtype);
bool t_is_signed(gp_dtype dtype);
/* Relative rounding error of one operation in the dtype's arithmetic; 0 for integers. */
double t_epsilon(gp_dtype dtype);

/* All dtypes and operators, for loop tests. */
#define T_ONE_MORE(...) +1
enum { T_DTYPE_COUNT = 0 GP_DTYPE_MAP(T_ONE_MORE), T_OP_COUNT = 0 GP_OP_MAP(T_ONE_MORE) };
extern const gp_dtype t_dtypes[];
extern const gp_op t_ops[];

/* Rising sizes: around every power of two and around usual tiles. The first T_SIZE_SMALL_COUNT are
 * at most 2^17 + 1. */
enum { T_SIZE_COUNT = 86, T_SIZE_SMALL_COUNT = 74 };
extern const size_t t_sizes[];

/* n, or GP_TEST_ITEMS where that is less: compute-sanitizer takes minutes for long arrays. */
size_t t_at_most(size_t n);

/* step, or GP_TEST_STEP where that is more: how far apart the sizes of a loop over all
 * of them are, or the calls of one over every call. */
size_t t_step(size_t step);

/* ---- CUDA, without its headers in the tests -------------------------------------------------- */

/* Capture what t_ctx() queues into a graph; false, and nothing happens, if t_is_cuda() is false. */
bool t_capture_begin(void);
void t_capture_end(void);
/* How many kernels, copies and fills the graph holds. */
size_t t_captured_nodes(void);
/* Queue the captured graph once more. */
void t_replay(void);
void t_capture_free(void);

int t_device_count(void);
/* Memory of the current GPU; nothing of a build without CUDA. */
gp_allocator t_device_allocator(void);
/* Of the device in use; 0 without CUDA. */
int t_multiprocessors(void);
/* major * 10 + minor; 0 without CUDA. */
int t_compute_capability(void);
int t_device_current(void);
void t_device_select(int device);
gp_stream t_stream_new(void);
void t_stream_free(gp_stream stream);
/* Page-locked host memory; NULL without CUDA. */
void *t_pinned_new(size_t bytes);
void t_pinned_free(void *memory);

#endif
