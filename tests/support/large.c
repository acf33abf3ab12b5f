/* SPDX-License-Identifier: MIT */
#include "large.h"

#include <stdlib.h>
#include <string.h>

char *large_new(size_t bytes)
{
    void *memory;
    T_OK(gp_malloc(t_ctx(), bytes, &memory));
    return memory;
}

void large_free(char **arrays, int count)
{
    for (int i = 0; i < count; i++)
        T_OK(gp_free(t_ctx(), arrays[i]));
}

char *large_repeated(const void *chunk, size_t each, size_t bytes)
{
    char *memory = large_new(bytes);
    size_t have = each < bytes ? each : bytes;
    T_OK(gp_copy(t_ctx(), chunk, have, memory));
    while (have < bytes) {
        const size_t more = bytes - have < have ? bytes - have : have;
        T_OK(gp_copy(t_ctx(), memory, more, memory + have));
        have += more;
    }
    return memory;
}

void large_same(const char *what, const char *actual, size_t bytes, const void *expected)
{
    char *host = t_host(bytes ? bytes : 1);
    T_OK(gp_copy(t_ctx(), actual, bytes, host));
    T_OK(gp_context_synchronize(t_ctx()));
    t_same_bytes(what, expected, host, bytes);
    free(host);
}

void large_repeats(const char *what, const char *actual, size_t bytes, const void *expected,
                   size_t each)
{
    const size_t full = bytes / each, about = ((size_t)1 << 32) / each;
    for (size_t k = 0; k < full; k++)
        if (k < 2 || k + 2 > full || (k + 2 > about && k < about + 2) || k % 509 == 0)
            large_same(what, actual + k * each, each, expected);
    large_same(what, actual + full * each, bytes - full * each, expected);
}

char *large_random_chunk(uint64_t seed, unsigned below)
{
    char *chunk = t_host(LARGE_CHUNK);
    for (size_t i = 0; i < LARGE_CHUNK; i++)
        chunk[i] = (char)t_random_below(&seed, below);
    return chunk;
}

size_t large_pick(const char *chunk, size_t item_bytes, const char *numbers, size_t items,
                  int number, char *out)
{
    size_t count = 0;
    for (size_t i = 0; i < items; i++)
        if (numbers[i] == number)
            memcpy(out + item_bytes * count++, chunk + item_bytes * i, item_bytes);
    return count;
}
