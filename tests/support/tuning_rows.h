/* SPDX-License-Identifier: MIT */
/* The rows of src/tuning that an architecture takes, as the host sees them. */
#ifndef TUNING_ROWS_H
#define TUNING_ROWS_H

struct tuning_row {
    const char *name;           /* of a room, or of a kernel in it */
    int least_sm, shared_bytes; /* what the row is for, and what one block takes */
    int threads, blocks;        /* of a block; blocks that are to share a multiprocessor */
    int items;                  /* of a thread */
};

/* What the GPU has. */
struct tuning_gpu {
    int sm, block_shared_bytes, threads;
    const struct tuning_row *rows;
    int num_rows;
};

#define TUNING_ARCHITECTURES(X) X(75) X(80) X(86) X(89) X(90) X(100) X(120)
#define TUNING_DECLARE(sm) struct tuning_gpu tuning_gpu_sm##sm(void);

#ifdef __cplusplus
extern "C" {
#endif
TUNING_ARCHITECTURES(TUNING_DECLARE)
#ifdef __cplusplus
}
#endif

#endif
