/* SPDX-License-Identifier: MIT */
#include "pgm.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 1 << 15, BLANKS_MAX = 1 << 16, FIRST_PIXELS = 1 << 16 };

/* The first byte after blanks and comments; more than BLANKS_MAX bytes of them are an error. */
static int skip_blanks(FILE *in)
{
    int byte = getc(in);
    bool comment = byte == '#';
    for (int i = 0; (isspace(byte) || comment) && i < BLANKS_MAX; i++) {
        byte = getc(in);
        comment = comment ? byte != '\n' && byte != EOF : byte == '#';
    }
    return comment ? EOF : byte;
}

/* The next number of the header, at most limit, and the one byte after it; 0 if there is none. */
static unsigned header_number(FILE *in, unsigned limit)
{
    unsigned value = 0;
    int byte = skip_blanks(in);
    for (; isdigit(byte); byte = getc(in)) {
        value = value * 10 + (unsigned)(byte - '0');
        if (value > limit)
            return 0;
    }
    return isspace(byte) ? value : 0;
}

static const char *read_pixels(FILE *in, struct pgm *image)
{
    size_t pixels = image->width * image->height, room = 0, used = 0;
    while (used < pixels) { /* no more memory than twice what the file has, whatever its header */
        room = room == 0 ? FIRST_PIXELS : 2 * room;
        room = room < pixels ? room : pixels;
        uint8_t *larger = realloc(image->pixels, room);
        if (!larger)
            return "is too large for the memory";
        image->pixels = larger;
        used += fread(image->pixels + used, 1, room - used, in);
        if (ferror(in))
            return strerror(errno);
        if (used < room)
            return "ends before its last pixel";
    }
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
        return strerror(errno);
    const char *error = read_image(in, image);
    if (error && ferror(in))
        error = strerror(errno);
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
        return strerror(errno);
    fprintf(out, "P5\n%zu %zu\n%u\n", image->width, image->height, image->white);
    const bool good = fwrite(image->pixels, 1, pixels, out) == pixels;
    return fclose(out) == 0 && good ? NULL : strerror(errno);
}
