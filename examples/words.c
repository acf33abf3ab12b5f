/* SPDX-License-Identifier: MIT */
/*
 * The most frequent words of a text. The host finds the words and hashes them; one call groups the
 * hashes, with the count and the first place of each, and another one finds the largest counts.
 */
#include <gp/gp.h>

#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 28, FIRST_BYTES = 1 << 16, SHOWN = 20 };

static const char usage[] =
    "usage: words [FILE]\n"
    "\n"
    "The most frequent words of a text of at most 256 MiB; without FILE, or\n"
    "with -, of the standard input.\n"
    "\n"
    "  --help     this text\n"
    "  --version  the version of gp\n";

static const struct option options[] = {CLI_OPTIONS, {NULL, 0, NULL, 0}};
static const struct cli cli = {"words", usage, options};
static gp_context *ctx;

/* What device() has given. */
static void *arrays[12];
static int num_arrays;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "words: %s: %s\n", what, why);
    exit(1);
}

static void need(gp_status status)
{
    if (status != GP_OK)
        die("gp", gp_last_error(ctx));
}

static void *host(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        die("gp", "out of memory");
    return memory;
}

static void *device(size_t bytes, const void *from)
{
    void *memory;
    need(gp_malloc(ctx, bytes, &memory));
    if (from)
        need(gp_copy(ctx, from, bytes, memory));
    return arrays[num_arrays++] = memory;
}

/* All of a file. */
static char *read_text(const char *name, size_t *bytes)
{
    FILE *in = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    size_t room = 0, used = 0;
    char *text = NULL;
    if (!in)
        die(name, strerror(errno));
    do {
        room = room == 0 ? FIRST_BYTES : 2 * room;
        text = realloc(text, room);
        if (!text)
            die(name, "out of memory");
        used += fread(text + used, 1, room - used, in);
        if (ferror(in))
            die(name, strerror(errno));
        if (used > TEXT_MAX)
            die(name, "has more than 256 MiB");
    } while (used == room);
    if (in != stdin)
        fclose(in);
    *bytes = used;
    return text;
}

/* Words are letters, in lower case, and what is not ASCII. */
static int is_letter(char c)
{
    return isalpha((unsigned char)c) || (unsigned char)c >= 128;
}

struct words {
    uint64_t *hashes; /* FNV-1a */
    uint32_t *places;
    size_t count;
};

/* Of a text, which becomes lower case. */
static struct words find_words(char *text, size_t bytes)
{
    struct words w = {host((bytes / 2 + 1) * 8), host((bytes / 2 + 1) * 4), 0};
    for (size_t i = 0; i < bytes; i++) {
        if (!is_letter(text[i]))
            continue;
        uint64_t hash = 14695981039346656037u;
        w.places[w.count] = (uint32_t)i;
        for (; i < bytes && is_letter(text[i]); i++) {
            text[i] = (char)tolower((unsigned char)text[i]);
            hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
        }
        w.hashes[w.count++] = hash;
    }
    return w;
}

/* Counts and first places of the groups in descending order of the counts. */
static size_t most_frequent(const struct words *w, uint32_t *counts, uint32_t *places)
{
    uint64_t groups;
    gp_aggregate of[2] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT};
    gp_group_by_desc desc = GP_GROUP_BY_DESC_INIT;
    void *top = device(SHOWN * 4, NULL), *top_index = device(SHOWN * 4, NULL);
    void *num_groups = device(8, NULL), *first = device(SHOWN * 4, NULL);
    of[0].kind = GP_AGGREGATE_COUNT, of[0].out_dtype = GP_U32;
    of[0].out = device(w->count * 4, NULL);
    of[1].kind = GP_AGGREGATE_FIRST, of[1].value_bytes = 4;
    of[1].values = device(w->count * 4, w->places), of[1].out = device(w->count * 4, NULL);
    desc.key_dtype = GP_U64, desc.num_aggregates = 2, desc.aggregates = of;
    need(gp_group_by(ctx, &desc, device(w->count * 8, w->hashes), w->count, NULL, num_groups));
    need(gp_copy(ctx, num_groups, 8, &groups));
    need(gp_context_synchronize(ctx));

    const size_t shown = groups < SHOWN ? (size_t)groups : SHOWN;
    need(gp_top_k(ctx, GP_U32, GP_DESCENDING, of[0].out, groups, shown, top, GP_U32, top_index));
    need(gp_gather(ctx, 4, of[1].out, GP_U32, top_index, shown, first));
    need(gp_copy(ctx, top, shown * 4, counts));
    need(gp_copy(ctx, first, shown * 4, places));
    need(gp_context_synchronize(ctx));
    return shown;
}

int main(int argc, char **argv)
{
    uint32_t counts[SHOWN], places[SHOWN];
    size_t bytes, shown;
    cli_begin(&cli);
    while (cli_next(&cli, argc, argv) != -1)
        ;
    if (optind + 1 < argc)
        cli_wrong(&cli, "one file at most, not also %s", argv[optind + 1]);
    const char *name = optind < argc ? argv[optind] : "-";
    char *text = read_text(name, &bytes);
    struct words w = find_words(text, bytes);
    if (w.count == 0)
        die(name, "has no words");
    need(gp_context_create(&ctx, NULL));
    shown = most_frequent(&w, counts, places);
    while (num_arrays > 0)
        gp_free(ctx, arrays[--num_arrays]);
    gp_context_destroy(ctx);
    for (size_t k = 0; k < shown; k++) {
        size_t length = 0;
        while (places[k] + length < bytes && is_letter(text[places[k] + length]))
            length++;
        printf("%8u %.*s\n", counts[k], (int)length, text + places[k]);
    }
    free(w.hashes);
    free(w.places);
    free(text);
    return !cli_flush("words");
}
