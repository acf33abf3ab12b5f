/* SPDX-License-Identifier: MIT */
/* Work that is queued again and again: on a GPU it is captured once in a CUDA graph. */
#ifndef EXAMPLE_REPLAY_H
#define EXAMPLE_REPLAY_H

#include "job.h"

struct replay {
    void (*queue)(struct job *j, const void *state);
    const void *state;
    void *graph; /* a cudaGraphExec_t; NULL on the CPU */
};

/* queue() is called once before its capture, to bring the workspace to its size: nothing can be
 * allocated in a capture. That call should find nothing to do. */
void replay_begin(struct job *j, struct replay *r, void (*queue)(struct job *j, const void *state),
                  const void *state);
void replay_run(struct job *j, const struct replay *r, int times);
void replay_end(struct replay *r);

#endif
