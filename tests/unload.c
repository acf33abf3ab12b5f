/* SPDX-License-Identifier: MIT */
/*
 * Load the library, compute with several threads, unload it, a thousand times:
 *
 *     unload LIBRARY unloads|stays
 *
 * "unloads" is expected of a build for the CPU alone: it leaves no thread, no memory and no mapping
 * behind, also when the program has forgotten a context. The CUDA runtime cannot be unloaded, so a
 * build with CUDA stays.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gp/scan.h>

enum { N = 1 << 18, ROUNDS = 1000, FORGETFUL = 20, GROWTH_MAX_KIB = 4096 };

static uint32_t in[N], out[N];

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (!address) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return address;
}

static void compute(void *library, int destroy)
{
    gp_status (*create)(gp_context **, const gp_context_options *);
    gp_status (*scan)(gp_context *, gp_dtype, gp_op, const void *, size_t, void *);
    void (*end)(gp_context *);
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    *(void **)&create = symbol(library, "gp_context_create");
    *(void **)&scan = symbol(library, "gp_scan_inclusive");
    *(void **)&end = symbol(library, "gp_context_destroy");
    o.backend = GP_BACKEND_CPU;
    o.threads = 4;
    out[N - 1] = 0;
    if (create(&ctx, &o) || scan(ctx, GP_U32, GP_SUM, in, N, out) || out[N - 1] != N) {
        fprintf(stderr, "wrong result\n");
        exit(1);
    }
    if (destroy)
        end(ctx);
}

static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    const int unloads = argc == 3 && strcmp(argv[2], "unloads") == 0;
    const struct timespec moment = {0, 10000000}; /* for a thread left behind to fall */
    long before = 0;
    if (argc != 3)
        return 2;
    for (int i = 0; i < N; i++)
        in[i] = 1;
    for (int round = 0; round < ROUNDS + FORGETFUL; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        compute(library, round < ROUNDS);
        dlclose(library);
        if (round == 50)
            before = resident_kib();
        if (round == ROUNDS - 1 && unloads && resident_kib() - before > GROWTH_MAX_KIB) {
            fprintf(stderr, "%ld KiB more than at the start\n", resident_kib() - before);
            return 1;
        }
        if (unloads && dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) {
            fprintf(stderr, "round %d: still loaded\n", round);
            return 1;
        }
    }
    nanosleep(&moment, NULL);
    return 0;
}
