/* SPDX-License-Identifier: MIT */
/*
 * Bytes from the host to the context's memory. On a GPU they go through a few pinned buffers, which
 * the bus takes at its full rate: while one is on its way, the next is filled by several threads.
 */
#ifndef EXAMPLE_UPLOAD_H
#define EXAMPLE_UPLOAD_H

#include "job.h"

/* Puts the bytes from offset on where to points; called by several threads. False: it cannot. */
typedef bool upload_fill(void *arg, size_t offset, size_t bytes, char *to);

/* False: fill() said so. The bytes are there when the context is synchronized. */
bool upload_by(struct job *j, upload_fill *fill, void *arg, size_t bytes, void *to);

void upload_array(struct job *j, const void *from, size_t bytes, void *to);

#endif
