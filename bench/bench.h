/* SPDX-License-Identifier: MIT */
/*
 * gp-bench: the harness. A suite describes cases (arguments, outputs, ideal traffic, our call); the
 * harness finds the peers of a case, checks every result, times ours and theirs in turn, and writes
 * the rows.
 */
#ifndef GP_BENCH_H
#define GP_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include <gp/gp.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BENCH_SIZES = 16,
    BENCH_OUTPUTS = 4,
    BENCH_IMPLS = 24,
    BENCH_RUNS = 101,
    BENCH_RATES = 96,
    BENCH_PEER_TABLES = 16
};

struct bench;
struct bench_task;
struct bench_rule;

/* Everything a call of any suite may want; a suite fills what its cases use. */
struct bench_args {
    gp_dtype dtype; /* of the items, keys, samples or values */
    size_t n;       /* items, or non-zeros */
    const void *in;
    const void *flags;  /* compact: n bytes */
    const void *values; /* sort: payload; csr: values */
    size_t value_bytes; /* sort: bytes of one payload item */
    void *out;          /* items, keys, counts, row ids, column ids or y */
    void *out_values;
    uint64_t *count;         /* compact, csr: how many were written */
    uint64_t bound;          /* compact: keep items below it; histogram: samples are below it */
    size_t bins;             /* spmm: columns of X */
    const void *rows, *cols; /* csr, u32 */
    const void *offsets;     /* row pointers or segment starts, u32 */
    void *out_offsets;
    size_t num_rows, num_cols;
    const void *x;
    gp_op op; /* scan */
    gp_scan_kind kind;
    const struct bench_rule *rule; /* breadth: the rest of a call's arguments */
    size_t key_bytes;
};

/* One call, ours or a peer's. BENCH_SKIP and BENCH_FAIL have printed why. */
enum bench_result { BENCH_OK = 0, BENCH_SKIP = 1, BENCH_FAIL = 2 };
typedef int (*bench_run)(struct bench *b, const struct bench_args *a);

/* A peer for the cases that match; NULL matches every case. A table ends with an
 * entry without run. */
struct bench_peer {
    const char *impl, *suite, *case_name;
    gp_dtype dtype;    /* 0: every one */
    bench_run prepare; /* before a case, not timed; may be NULL */
    bench_run run;
    bool other_output; /* does less, or leaves its result elsewhere: not compared */
};

/* What a case is measured against. */
enum bench_ideal { BENCH_COPY, BENCH_READ, BENCH_WRITE };

struct bench_row;

struct bench_output {
    void *memory;
    size_t bytes;
};

struct bench_case {
    const char *suite, *name;
    struct bench_args args;
    bench_run run; /* ours */
    /* Writes the outputs, not timed; NULL: the first peer's result is the reference. */
    bench_run reference;
    /* Instead of comparing outputs; or NULL. */
    bool (*check)(struct bench *b, const struct bench_case *c);
    enum bench_ideal ideal;
    double bytes; /* ideal traffic: what must be read and written, once */
    struct bench_output outputs[BENCH_OUTPUTS];
    bool (*wanted)(const struct bench_case *c, const char *impl);        /* NULL: every one */
    void (*seen)(const struct bench_case *c, const struct bench_row *r); /* each row; or NULL */
};

/* Where the bench's own work runs. */
struct bench_backend {
    const char *name;
    const char *copy_impl, *rate_impl; /* names of the rows of the memcpy suite */
    void (*open)(struct bench *b);     /* finds the machine's name and the peers */
    void (*close)(struct bench *b);
    void (*task)(struct bench *b, const struct bench_task *task);
    void (*fill_bytes)(struct bench *b, void *memory, int byte, size_t bytes);
    int (*time)(struct bench *b, bench_run run, const struct bench_args *a, double *seconds);
    bench_run rates[3]; /* by enum bench_ideal: copy in to out, read in, write out; n bytes */
    bool use_min;       /* ratios from the best run instead of the median */
    bench_run empty;    /* launch a kernel that does nothing; NULL where there are none */
};

struct bench_options {
    const char *suites[16];
    int num_suites;
    gp_backend backend;
    int exponents[BENCH_SIZES];
    int num_exponents;
    const char *case_name, *dtype, *csv, *svg;
    const char *first_call; /* what a process started by the suite calls measures */
    int runs, threads;
    bool quick;
};

/* Grow-only buffers; the suites use the first ones as they like. */
enum bench_slot {
    BENCH_SLOT_0,
    BENCH_SLOT_1,
    BENCH_SLOT_2,
    BENCH_SLOT_3,
    BENCH_SLOT_4,
    BENCH_SLOT_5,
    BENCH_SLOT_6,
    BENCH_SLOT_7,
    BENCH_SLOT_8,
    BENCH_SLOT_TEMP,    /* scratch of the peers */
    BENCH_SLOT_BAD,     /* counters of the checks */
    BENCH_SLOT_RATE_IN, /* of the memcpy rows */
    BENCH_SLOT_RATE_OUT,
    BENCH_SLOT_FLUSH,     /* what is read so that caches hold nothing else */
    BENCH_SLOT_REFERENCE, /* one per output */
    BENCH_SLOTS = BENCH_SLOT_REFERENCE + BENCH_OUTPUTS
};

struct bench_rate {
    enum bench_ideal ideal;
    double bytes, median, min;
};

struct bench {
    struct bench_options options;
    gp_context *ctx;
    const struct bench_backend *backend;
    char machine[256], date[16], commit[64];
    FILE *csv;
    struct bench_output slots[BENCH_SLOTS];
    struct bench_rate rates[BENCH_RATES];
    int num_rates;
    const struct bench_peer *peers[BENCH_PEER_TABLES];
    int num_peers;
    int failures;
    /* Of the CPU: every run finds its threads awake and nothing of its arrays in a cache, and the
     * memory's rates are measured again for each case. */
    bool cold;
};

/* ---- for suites ------------------------------------------------------------------------------ */

/* Whether the command line lets a case through. */
bool bench_wanted(const struct bench *b, const char *name, gp_dtype dtype);

/* Exponents of n to run, largest first: those of --n, otherwise main_exponent and,
 * with sweep and without --quick, the smaller ones. */
int bench_sizes(const struct bench *b, int main_exponent, bool sweep, int *exponents);

/* At least bytes of the context's memory; content is lost when it grows. */
void *bench_buffer(struct bench *b, int slot, size_t bytes);
void *bench_temp(struct bench *b, size_t bytes);

/* Check all implementations of a case, time those that are right, write the rows. */
void bench_measure(struct bench *b, const struct bench_case *c);

/* Turn a status into a bench_result, printing the text of an error. */
int bench_status(struct bench *b, gp_status s);
/* The reference of products with a matrix: y = A x, each row by one thread. */
int bench_row_by_row(struct bench *b, const struct bench_args *a);

/* Seconds of a clock that only goes forward. */
double bench_now(void);

/* Sort the times; their median, and the best. */
void bench_summarize(double *times, int count, double *median, double *min);

/* The first peer of that suite, case and type, or NULL. */
const struct bench_peer *bench_find_peer(const struct bench *b, const char *suite,
                                         const char *case_name, gp_dtype dtype);

/* Copy to or from the context's memory, and wait. */
void bench_copy(struct bench *b, const void *source, size_t bytes, void *destination);
void bench_synchronize(struct bench *b);

/* Run a task and return how often it found something wrong. */
uint64_t bench_count_bad(struct bench *b, const struct bench_task *task);

/* Seconds to move bytes in the way of ideal (median, min), measured once per size or case. */
struct bench_rate bench_rate(struct bench *b, enum bench_ideal ideal, double bytes);

/* Print and end the program. */
void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Set a->offsets to a->num_rows segments that hold a->n items: all alike, or by a power law with
 * every other one empty; num_rows is a power of two. */
void bench_segment_lengths(struct bench *b, struct bench_args *a, bool powerlaw, int slot);

void bench_memcpy(struct bench *b);
void bench_scan(struct bench *b);
void bench_segments(struct bench *b);
void bench_gather(struct bench *b);
void bench_segsort(struct bench *b);
void bench_lexsort(struct bench *b);
void bench_merge(struct bench *b);
void bench_scan_sizes(struct bench *b);
void bench_reduce(struct bench *b);
void bench_segreduce(struct bench *b);
void bench_compact(struct bench *b);
void bench_group(struct bench *b);
void bench_sort(struct bench *b);
void bench_distributions(struct bench *b);
void bench_histogram(struct bench *b);
void bench_csr(struct bench *b);
void bench_spmv(struct bench *b);
void bench_spmv_files(struct bench *b);
void bench_spmm(struct bench *b);
void bench_vector(struct bench *b);
void bench_balance(struct bench *b);
void bench_ladder(struct bench *b);
void bench_calls(struct bench *b);
void bench_breadth(struct bench *b);
void bench_counts(struct bench *b);

/* The calls of the suites that sort. */
int bench_run_sort(struct bench *b, const struct bench_args *a);
int bench_run_sort_pairs(struct bench *b, const struct bench_args *a);
int bench_run_argsort(struct bench *b, const struct bench_args *a);

/* ---- rows ------------------------------------------------------------------------------------ */

/* One measurement; ratios of 0 and an empty best_peer are left out. */
struct bench_row {
    const char *suite, *name, *impl, *dtype, *best_peer;
    size_t n;
    int runs;
    double median, min, bytes, memcpy_ratio, peer_ratio;
};

void bench_write_header(struct bench *b);
void bench_write_row(struct bench *b, const struct bench_row *row);
/* To the CSV file alone, for suites with a table of their own. */
void bench_write_csv(struct bench *b, const struct bench_row *row);

/* Print the ratios of the rows that two result files share; the program's exit status. */
int bench_compare(const char *old_file, const char *new_file);

/* ---- threads --------------------------------------------------------------------------------- */

/* Processors that this process may use. */
int bench_processors(void);

/* Call share(arg, i) for every i in [0, count), each on a thread of its own;
 * returns when all are done. */
typedef void (*bench_share)(void *arg, int index);
void bench_parallel(int count, bench_share share, void *arg);

/* ---- backends and peers ---------------------------------------------------------------------- */

extern const struct bench_backend bench_cpu;
extern const struct bench_peer bench_algorithm_peers[]; /* of the suite scan */
void bench_add_peers(struct bench *b, const struct bench_peer *table);
extern const struct bench_peer bench_serial_peers[];
extern const struct bench_peer bench_serial_reduce_peers[];
extern const struct bench_peer bench_serial_sort_peers[];
extern const struct bench_peer bench_serial_csr_peers[];
/* The peers of the C++ standard library and TBB, a module beside the program;
 * NULL if it is not there. */
const struct bench_peer *bench_parallel_peers(int threads);

#if BENCH_HAVE_CUDA
extern const struct bench_backend bench_cuda;
/* Seconds that the CUDA runtime takes to start, and then to make a stream. */
void bench_cuda_start(double *runtime, double *stream);
extern const struct bench_peer bench_ladder_peers[]; /* its steps, from the first */
extern const struct bench_peer bench_cub_scan_peers[];
extern const struct bench_peer bench_cub_reduce_peers[];
extern const struct bench_peer bench_cub_segreduce_peers[];
extern const struct bench_peer bench_cub_select_peers[];
extern const struct bench_peer bench_cub_partition_peers[];
extern const struct bench_peer bench_cub_group_peers[];
extern const struct bench_peer bench_cub_sort_peers[];
extern const struct bench_peer bench_cub_histogram_peers[];
/* The peers of cuSPARSE, loaded now; NULL, and a line printed, if it is not there. */
const struct bench_peer *bench_cusparse_peers(void);
/* The same of cuBLAS. */
const struct bench_peer *bench_cublas_peers(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
