/* SPDX-License-Identifier: MIT */
/* A drawing in SVG: the pattern of a matrix in shades, and the distribution of two kinds of degrees
 * on logarithmic scales. */
#ifndef EXAMPLE_PICTURE_H
#define EXAMPLE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct picture {
    const char *title;
    size_t rows, cols; /* of the matrix */
    size_t cell_rows, cell_cols;
    const uint64_t *cells; /* entries in each cell, row by row */
    int bins;              /* of degrees: 0, 1, 2 and 3, 4 to 7, .. */
    const uint64_t *in, *out;
};

/* False: errno says why it could not be written. */
bool picture_write(const char *path, const struct picture *p);

#endif
