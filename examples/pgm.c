/* SPDX-License-Identifier: MIT */
#include "pgm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE_MAX = 1 << 20 };

/* The next number of the header, at most limit, and the one byte after it; 0 if there is none. */
static unsigned header_number(FILE *in, unsigned limit)
{
    unsigned value = 0;
    int byte = getc(in);
    while (isspace(byte) || byte == '#') {
        if (byte == '#') /* a comment, to the end of its line */
            while (byte != '\n' && byte != EOF)
                byte = getc(in);
        else
            byte = getc(in);
    }
    for (; isdigit(byte); byte = getc(in)) {
        value = value * 10 + (unsigned)(byte - '0');
        if (value > limit)
            return 0;
    }
    return isspace(byte) ? value : 0;
}

static const char *read_pixels(FILE *in, struct pgm *image)
{
    size_t pixels = image->width * image->height;
    image->pixels = malloc(pixels);
    if (!image->pixels)
        return "too large for the memory";
    if (fread(image->pixels, 1, pixels, in) != pixels)
        return "ends before its last pixel";
    for (size_t i = 0; i < pixels; i++)
        if (image->pixels[i] > image->white)
            return "has a pixel brighter than its header allows";
    return NULL;
}

static const char *read_image(FILE *in, struct pgm *image)
{
    if (getc(in) != 'P' || getc(in) != '5')
        return "is not a binary PGM file (P5)";
    image->width = header_number(in, SIDE_MAX);
    image->height = image->width ? header_number(in, SIDE_MAX) : 0;
    image->white = image->height ? header_number(in, 255) : 0;
    if (!image->white)
        return "has a header that is broken, or more than 255 greys";
    return read_pixels(in, image);
}

const char *pgm_read(const char *file, struct pgm *image)
{
    FILE *in = fopen(file, "rb");
    *image = (struct pgm){0};
    if (!in)
        return "cannot be opened";
    const char *error = read_image(in, image);
    fclose(in);
    if (error) {
        free(image->pixels);
        image->pixels = NULL;
    }
    return error;
}

const char *pgm_write(const char *file, const struct pgm *image)
{
    size_t pixels = image->width * image->height;
    FILE *out = fopen(file, "wb");
    if (!out)
        return "cannot be written";
    fprintf(out, "P5\n%zu %zu\n%u\n", image->width, image->height, image->white);
    size_t written = fwrite(image->pixels, 1, pixels, out);
    return fclose(out) == 0 && written == pixels ? NULL : "could not be written to its end";
}
