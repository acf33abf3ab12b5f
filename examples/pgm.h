/* SPDX-License-Identifier: MIT */
/* Binary PGM images with a byte per pixel. */
#ifndef EXAMPLE_PGM_H
#define EXAMPLE_PGM_H

#include <stddef.h>
#include <stdint.h>

struct pgm {
    size_t width, height;
    unsigned white; /* the largest grey, 1 to 255 */
    uint8_t *pixels;
};

/* NULL, or what is wrong; image->pixels is then NULL, and otherwise the caller's to free. */
const char *pgm_read(const char *file, struct pgm *image);
const char *pgm_write(const char *file, const struct pgm *image);

#endif
