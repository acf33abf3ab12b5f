/* SPDX-License-Identifier: MIT */
/*
 * Histogram equalisation of a grey image: each grey becomes the share of pixels up to it, so that
 * the greys are used alike. The shares are a scan of the histogram.
 *
 *   equalise IN.pgm OUT.pgm    binary PGM, up to 256 greys
 *   equalise                   a dull test image, checked
 */
#include "cli.h"
#include "host_scan.h"
#include "pgm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GREYS = 256, SIDE = 256 };

/* count[g]: pixels of grey g or darker. */
static void cumulate(gp_context *ctx, const struct pgm *image, uint64_t *count)
{
    size_t pixels = image->width * image->height, bytes = GREYS * sizeof *count;
    void *d_pixels = NULL, *d_count = NULL;
    need(ctx, gp_malloc(ctx, pixels, &d_pixels));
    need(ctx, gp_malloc(ctx, bytes, &d_count));
    need(ctx, gp_copy(ctx, image->pixels, pixels, d_pixels));
    need(ctx, gp_bincount(ctx, GP_U8, d_pixels, pixels, GREYS, GP_U64, d_count, NULL));
    need(ctx, gp_scan_inclusive(ctx, GP_U64, GP_SUM, d_count, GREYS, d_count));
    need(ctx, gp_copy(ctx, d_count, bytes, count));
    need(ctx, gp_context_synchronize(ctx));
    need(ctx, gp_free(ctx, d_pixels));
    need(ctx, gp_free(ctx, d_count));
}

/* The darkest grey in use becomes black and the brightest white; one grey alone stays. */
static void equalise(gp_context *ctx, struct pgm *image)
{
    uint64_t count[GREYS], darkest = 0;
    uint8_t grey[GREYS];
    size_t pixels = image->width * image->height;
    cumulate(ctx, image, count);
    for (int g = 0; g < GREYS && !darkest; g++)
        darkest = count[g];
    if (darkest == pixels)
        return;
    for (int g = 0; g < GREYS; g++) {
        uint64_t share = count[g] > darkest ? count[g] - darkest : 0, all = pixels - darkest;
        grey[g] = (uint8_t)((share * image->white + all / 2) / all);
    }
    for (size_t i = 0; i < pixels; i++)
        image->pixels[i] = grey[image->pixels[i]];
}

/* Greys from 100 to 131 alone; afterwards 32 of them from 0 to 255, in the same order. */
static int check(gp_context *ctx)
{
    static uint8_t before[SIDE * SIDE], after[SIDE * SIDE];
    struct pgm image = {SIDE, SIDE, 255, after};
    int to[GREYS], last = -1, wrong = 0; /* to: the grey that each became, or -1 */
    for (size_t i = 0; i < SIDE * SIDE; i++)
        before[i] = after[i] = (uint8_t)(100 + 32 * noise(i) * noise(i + SIDE * SIDE));
    equalise(ctx, &image);
    memset(to, -1, sizeof to);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        wrong += to[before[i]] >= 0 && to[before[i]] != after[i];
        to[before[i]] = after[i];
    }
    wrong += to[100] != 0;
    for (int g = 0; g < GREYS; g++) {
        wrong += to[g] >= 0 && to[g] < last;
        last = to[g] >= 0 ? to[g] : last;
    }
    printf("test image: greys 100 to 131 became 0 to %d, %d wrong\n", last, wrong);
    return wrong != 0 || last != 255;
}

static int say(const char *file, const char *error)
{
    fprintf(stderr, "equalise: %s: %s\n", file, error);
    return 1;
}

static const char usage[] =
    "usage: equalise [IN.pgm OUT.pgm]\n"
    "\n"
    "Spreads the greys of an image, a binary PGM file of up to 256 greys. Without files: a\n"
    "test image, checked.\n"
    "\n"
    "  --help      this text\n"
    "  --version   the version of gp\n";
static const struct option options[] = {CLI_OPTIONS, {0}};
static const struct cli cli = {"equalise", usage, options};

int main(int argc, char **argv)
{
    struct pgm image = {0};
    gp_context *ctx = NULL;
    cli_begin(&cli);
    cli_next(&cli, argc, argv);
    const char *in = argv[optind], *out = in ? argv[optind + 1] : NULL;
    if (argc - optind != 0 && argc - optind != 2)
        cli_wrong(&cli, "takes two file names, or none");
    const char *error = in ? pgm_read(in, &image) : NULL;
    if (error)
        return say(in, error);
    need(NULL, gp_context_create(&ctx, NULL));
    int failed = !in && check(ctx);
    if (in)
        equalise(ctx, &image);
    error = in ? pgm_write(out, &image) : NULL;
    gp_context_destroy(ctx);
    free(image.pixels);
    return error ? say(out, error) : failed;
}
