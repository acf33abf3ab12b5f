/* SPDX-License-Identifier: MIT */
/* One call of every primitive over arrays of one kind: what the suite calls measures. */
#ifndef GP_BENCH_CALLS_H
#define GP_BENCH_CALLS_H

#include "../bench.h"

enum {
    CALL_SEGMENT = 16,
    CALL_BINS = 256,
    CALL_TOP = 64,
    CALL_PARTS = 128,
    CALL_SAMPLES_BELOW = 1 << 20
};

/*
 * The arrays of all calls, for n items (a multiple of 256) in segments of 16: rows of a matrix,
 * runs of equal keys. Inputs lie in one block of the context's memory and outputs in another. They
 * are made on the host, so that a process may call nothing of the library but what it measures.
 */
struct call_arrays {
    size_t n, num_segments;
    uint32_t *words;     /* any bits */
    uint32_t *samples;   /* below CALL_SAMPLES_BELOW */
    uint32_t *ascending; /* over the whole range, as the two halves of halves are */
    uint32_t *halves;
    uint32_t *segments;     /* i / 16 */
    uint32_t *offsets;      /* num_segments + 1 */
    uint32_t *sizes;        /* 16, num_segments times */
    uint32_t *rows, *cols;  /* of entries in random order, below num_segments */
    uint32_t *csr_cols;     /* ascending in each segment */
    uint32_t *edges;        /* CALL_BINS + 1 */
    uint32_t *places;       /* below n */
    float *values;          /* 1 to 4 */
    uint8_t *bytes, *flags; /* any; 1 for every other item or so */
    uint8_t *heads;         /* 1 where a segment begins */
    uint32_t *out, *out_values, *out_rows;
    uint32_t *out_offsets; /* num_segments + 1 */
    uint64_t *out_count;
    void *inputs, *outputs; /* the blocks */
    size_t output_bytes;
};

/* Make the arrays; what failed is in the context's error text. */
gp_status call_arrays_make(gp_context *ctx, size_t n, struct call_arrays *a);
void call_arrays_free(gp_context *ctx, struct call_arrays *a);

struct call {
    const char *name; /* of the function, without gp_ */
    gp_status (*run)(gp_context *ctx, const struct call_arrays *a);
    gp_dtype dtype; /* of the items, keys, samples or values */
    bool counted;   /* outputs beyond *out_count are unspecified */
    /* The serial peer that does the same, by its names, and what it takes; or NULL. */
    const char *loop_suite, *loop_case;
    void (*loop_input)(const struct call_arrays *a, struct bench_args *loop);
};

extern const struct call call_table[]; /* ends with an entry without run */

/* ---- measuring ------------------------------------------------------------------------------- */

enum { CALL_SAMPLES = 512 };

/* One of those that are timed in turn: a call on a context, or something of the bench's own. */
struct call_subject {
    const char *impl;
    gp_context *ctx; /* NULL: run */
    bench_run run;
    double times[CALL_SAMPLES], median, min;
    int samples, batch; /* calls between two looks at the clock */
};

/* What a measurement is about. */
struct call_measurement {
    struct bench *b;
    const struct call *call;
    struct call_arrays a;
    struct bench_args loop; /* the same for a plain loop */
};

/* Call it, and wait; whether it can be measured. */
bool call_usable(const struct call_measurement *m, const struct call_subject *s);

/* On the CPU: whether two write the same. */
bool call_agree(const struct call_measurement *m, const struct call_subject *s,
                const struct call_subject *t);

/* Calls in a row, in turn with another's in a row, a pause in seconds before each row. */
void call_time_rows(const struct call_measurement *m, struct call_subject *s, int count,
                    double pause);
/* Single calls with pauses, in turn; only the median counts, for the best had no rival. */
void call_time_single(const struct call_measurement *m, struct call_subject *s, int count);
/* Calls that are only queued, so few that the queue has room; then wait for the device. */
void call_time_queued(const struct call_measurement *m, struct call_subject *s, int count);

void call_summarize(struct call_subject *s);

/* Write a row; ratio: that to other, or 0. */
void call_write_csv(const struct call_measurement *m, const struct call_subject *s,
                    const struct call_subject *other, double ratio);

/* Sizes of a section: those of --n, otherwise from first to last in so large steps. */
struct call_sizes {
    int count, exponents[BENCH_SIZES];
};
struct call_sizes call_sizes(const struct bench *b, int first, int last, int step);

/* ---- processes for first calls --------------------------------------------------------------- */

/* What the program does with --first-call NAME: measure, print, end. */
int call_first_child(const struct bench_options *options);
/* Run this program again for every call, and report what their first calls take. */
void call_first(struct bench *b);

/* ---- other load ------------------------------------------------------------------------------ */

/* Keep every processor busy with a process, until call_busy_end() or the end of the program. */
void call_busy_begin(void);
void call_busy_end(void);

#endif
