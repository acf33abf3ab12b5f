/* SPDX-License-Identifier: MIT */
/*
 * How many processors this process may use: those of its affinity mask, and no more than the quota
 * of the control groups it is in, which is how containers are limited. Which of them a thread runs
 * on; their last cache, and their instruction set.
 */
#define _GNU_SOURCE /* sched_getaffinity, sched_getcpu */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/past_cache.h"
#include "core/threads.h"
#include "core/threads_internal.h"

enum { PATH_BYTES = 512 };

int gpi_processor_here(void)
{
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

void gpi_thread_send_away(pthread_t thread, int here)
{
#if defined(__linux__)
    cpu_set_t all, others;
    if (pthread_getaffinity_np(thread, sizeof all, &all) != 0)
        return;
    others = all;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0 && pthread_setaffinity_np(thread, sizeof others, &others) == 0)
        pthread_setaffinity_np(thread, sizeof all, &all);
#else
    (void)thread, (void)here;
#endif
}

static int of_affinity(void)
{
#if defined(__linux__)
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        if (!set)
            break;
        int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < GPI_THREADS_MAX ? (int)online : 1;
}

#if defined(__linux__)
/* The first line of a file below folder and path; whether it is there. */
static bool read_line(const char *folder, const char *path, const char *name, char *line, int bytes)
{
    char whole[2 * PATH_BYTES];
    snprintf(whole, sizeof whole, "%s%s/%s", folder, path, name);
    FILE *file = fopen(whole, "r");
    if (!file)
        return false;
    bool read = fgets(line, bytes, file) != NULL;
    fclose(file);
    return read;
}

/* Processors that a quota of a period allows, rounded up; 0: any number. */
static long processors_of(long quota, long period)
{
    return quota > 0 && period > 0 ? (quota - 1) / period + 1 : 0;
}

static long quota_v2(const char *path)
{
    char line[64];
    long quota, period;
    if (!read_line("/sys/fs/cgroup", path, "cpu.max", line, sizeof line) ||
        sscanf(line, "%ld %ld", &quota, &period) != 2)
        return 0;
    return processors_of(quota, period);
}

static long quota_v1(const char *path)
{
    static const char folder[] = "/sys/fs/cgroup/cpu";
    char quota[64], period[64];
    if (!read_line(folder, path, "cpu.cfs_quota_us", quota, sizeof quota) ||
        !read_line(folder, path, "cpu.cfs_period_us", period, sizeof period))
        return 0;
    return processors_of(strtol(quota, NULL, 10), strtol(period, NULL, 10));
}

/* The least quota of a group and those it lies in. */
static int least_on_path(char *path, long quota_of(const char *path), int processors)
{
    for (;;) {
        char *slash = strrchr(path, '/');
        if (slash && !slash[1])
            *slash = '\0';
        long allowed = quota_of(path);
        if (allowed > 0 && allowed < processors)
            processors = (int)allowed;
        if (!(slash = strrchr(path, '/')))
            return processors;
        *slash = '\0';
    }
}

/* The quotas, read once: a process stays in its groups. */
static int quota = GPI_THREADS_MAX;

/* Lines of this file are "0::path" or "number:controllers:path". */
static void read_quotas(void)
{
    int processors = GPI_THREADS_MAX;
    char line[PATH_BYTES];
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(controllers, ":") == 0)
            processors = least_on_path(path, quota_v2, processors);
        else if (strcmp(controllers, ":cpu") == 0 || strncmp(controllers, ":cpu,", 5) == 0)
            processors = least_on_path(path, quota_v1, processors);
    }
    if (file)
        fclose(file);
    quota = processors;
}
#endif

int gpi_processors(void)
{
    int processors = of_affinity();
#if defined(__linux__)
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_quotas);
    processors = processors < quota ? processors : quota;
#endif
    return processors < GPI_THREADS_MAX ? processors : GPI_THREADS_MAX;
}

static uint64_t cache_bytes = STREAM_BYTES;

static void read_cache_bytes(void)
{
#if defined(_SC_LEVEL3_CACHE_SIZE)
    const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (bytes > STREAM_BYTES)
        cache_bytes = (uint64_t)bytes;
#endif
}

uint64_t gpi_cache_bytes(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_cache_bytes);
    return cache_bytes;
}

enum gpi_isa gpi_isa_detect(void)
{
#if GPI_ISA_VARIANTS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd"))
        return GPI_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return GPI_ISA_AVX2;
#endif
    return GPI_ISA_BASE;
}
