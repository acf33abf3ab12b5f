/* SPDX-License-Identifier: MIT */
/* The library's way of taking a struct of an older release, with a struct of the test's: none of
 * the interface has grown yet. */
#ifndef OLDER_STRUCT_H
#define OLDER_STRUCT_H

#include <gp/core.h>

/* older: sizes, then 0. *full has bytes bytes. */
gp_status older_take(const void *given, void *full, size_t bytes, const size_t *older);

#endif
