/* SPDX-License-Identifier: MIT */
/* Loads the C++ peers from a module, so that the program runs where TBB is not: from beside the
 * program, or from where it was installed. */
#include "../bench.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct bench_peer *bench_parallel_peers(int threads)
{
    typedef const struct bench_peer *(*peers_function)(int);
    static const char module[] = "gp_bench_parallel.so";
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof module - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, module, sizeof module);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen(BENCH_MODULE_DIR "/gp_bench_parallel.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("no std and tbb peers: %s\n", dlerror());
        return NULL;
    }
    peers_function function;
    *(void **)&function = dlsym(library, "gp_bench_parallel_peers");
    return function ? function(threads) : NULL;
}
