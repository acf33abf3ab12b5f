/* SPDX-License-Identifier: MIT */
/* Without libFuzzer: run the inputs of files, and of the files of folders. usage: PROGRAM PATH.. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { INPUT_MAX = 1 << 20 };

static int inputs;

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(INPUT_MAX);
    if (!file || !bytes) {
        perror(path);
        return 1;
    }
    const size_t read = fread(bytes, 1, INPUT_MAX, file);
    uint8_t *exact = malloc(read ? read : 1); /* so that a read behind it is seen */
    fclose(file);
    if (!exact)
        return 1;
    memcpy(exact, bytes, read);
    free(bytes);
    LLVMFuzzerTestOneInput(exact, read);
    free(exact);
    inputs++;
    return 0;
}

static int replay(const char *path)
{
    char inside[4096];
    int failed = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return replay_file(path);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            failed |= replay_file(inside);
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]);
    printf("%d inputs\n", inputs);
    return failed || inputs == 0;
}
