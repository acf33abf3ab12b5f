/* SPDX-License-Identifier: MIT */
/* libgp_cub is found and loaded when a call asks for CUB; it stays loaded. */
#define _GNU_SOURCE /* dladdr */
#include "core/cub.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/check.h"
#include "core/variants.h"

#if GPI_CUB == GPI_CUB_BESIDE

static struct {
    const struct gpi_cub_table *table;
    char why[400]; /* there is none */
} loaded;

/* The path of the library beside the one that this code is in, if it is there. */
static bool is_beside(char *path, size_t bytes)
{
    Dl_info self;
    if (!dladdr(&loaded, &self) || !self.dli_fname)
        return false;
    const char *end = strrchr(self.dli_fname, '/');
    const int folder = end ? (int)(end - self.dli_fname + 1) : 0;
    const int length = snprintf(path, bytes, "%.*s%s", folder, self.dli_fname, GPI_CUB_SONAME);
    return end && length < (int)bytes && access(path, F_OK) == 0;
}

/* A static libgp is inside the program, so that its libgp_cub may be where libraries are. */
static void load(void)
{
    char path[4096];
    const struct gpi_cub_table *(*ask)(void) = NULL;
    void *library = dlopen(is_beside(path, sizeof path) ? path : GPI_CUB_SONAME, RTLD_NOW);
    void *symbol = library ? dlsym(library, "gp_cub_table") : NULL;
    if (!symbol) {
        const char *error = dlerror();
        snprintf(loaded.why, sizeof loaded.why, "%s", error ? error : GPI_CUB_SONAME);
        return;
    }
    memcpy(&ask, &symbol, sizeof ask);
    loaded.table = ask();
    if (loaded.table->border == GPI_CUB_BORDER && loaded.table->version == GP_VERSION &&
        loaded.table->start(&gpi_cub_runtime))
        return;
    loaded.table = NULL;
    snprintf(loaded.why, sizeof loaded.why, "%s is of another version", GPI_CUB_SONAME);
}

const struct gpi_cub_table *gpi_cub_load(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *why = loaded.why;
    return loaded.table;
}

#else

const struct gpi_cub_table *gpi_cub_load(const char **why)
{
    *why = "this build has none, see its option cub";
#if GPI_CUB == GPI_CUB_INSIDE
    return gp_cub_table();
#else
    return NULL;
#endif
}

#endif

gp_status gpi_cub_find(gp_context *ctx, const char *function, const struct gpi_cub **cub)
{
    static const int compiled[] = {GPI_SMS(GPI_SM_NUMBER)};
    const char *why;
    const struct gpi_cub_table *table = gpi_cub_load(&why);
    if (!table)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: CUB is not here: %s", function, why);
    for (int i = 0; i < table->count; i++)
        if (table->row[i].sm == compiled[ctx->sm_row]) {
            *cub = &table->row[i];
            return GP_OK;
        }
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                    "%s: CUB is not here: libgp_cub has no code for sm_%d", function,
                    compiled[ctx->sm_row]);
}
