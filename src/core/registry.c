/* SPDX-License-Identifier: MIT */
/*
 * A hash table of chained entries. Looking up takes no lock: entries are only added to the front of
 * a chain and never leave it, one of a dead context is used again. So there are as many as there
 * were contexts at the same time, and they are freed when the library is unloaded.
 */
#include "core/registry.h"

#include <pthread.h>
#include <stdlib.h>

struct gpi_entry {
    struct gpi_entry *next;
    const gp_context *ctx; /* NULL: free */
    uintptr_t owner;       /* the thread that is in a call with ctx; 0: none */
};

enum { CHAINS = 256 };

static struct gpi_entry *chains[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t forks;

static struct gpi_entry **chain_of(const gp_context *ctx)
{
    uintptr_t bits = (uintptr_t)ctx;
    return &chains[(bits >> 4 ^ bits >> 12) % CHAINS];
}

/* The entry of ctx, or with NULL a free one, in a chain. */
static struct gpi_entry *find_in(struct gpi_entry **chain, const gp_context *ctx)
{
    struct gpi_entry *e = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
    while (e && __atomic_load_n(&e->ctx, __ATOMIC_ACQUIRE) != ctx)
        e = e->next;
    return e;
}

bool gpi_registry_add(gp_context *ctx)
{
    struct gpi_entry **chain = chain_of(ctx);
    pthread_mutex_lock(&lock);
    struct gpi_entry *e = find_in(chain, NULL);
    if (e) {
        __atomic_store_n(&e->ctx, ctx, __ATOMIC_RELEASE);
    } else if ((e = malloc(sizeof *e))) {
        *e = (struct gpi_entry){*chain, ctx, 0};
        __atomic_store_n(chain, e, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return e != NULL;
}

enum gpi_claim gpi_registry_claim(const gp_context *ctx, struct gpi_entry **entry)
{
    uintptr_t me = (uintptr_t)pthread_self(), owner = 0;
    struct gpi_entry *e = ctx ? find_in(chain_of(ctx), ctx) : NULL;
    *entry = NULL;
    if (!e)
        return GPI_UNKNOWN;
    if (!__atomic_compare_exchange_n(&e->owner, &owner, me, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return owner == me ? GPI_NESTED : GPI_BUSY;
    /* it may have been destroyed in between */
    if (__atomic_load_n(&e->ctx, __ATOMIC_RELAXED) != ctx) {
        gpi_registry_release(e);
        return GPI_UNKNOWN;
    }
    *entry = e;
    return GPI_CLAIMED;
}

void gpi_registry_release(struct gpi_entry *entry)
{
    __atomic_store_n(&entry->owner, 0, __ATOMIC_RELEASE);
}

void gpi_registry_remove(struct gpi_entry *entry)
{
    __atomic_store_n(&entry->ctx, NULL, __ATOMIC_RELAXED);
    gpi_registry_release(entry);
}

bool gpi_registry_alive(const gp_context *ctx)
{
    return ctx && find_in(chain_of(ctx), ctx);
}

uint32_t gpi_registry_forks(void)
{
    return __atomic_load_n(&forks, __ATOMIC_RELAXED);
}

void gpi_registry_lock(void)
{
    pthread_mutex_lock(&lock);
}

void gpi_registry_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Contexts that other threads were using stay in use: those threads are gone, in the middle. */
void gpi_registry_forked(void)
{
    __atomic_store_n(&forks, forks + 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void registry_end(void)
{
    for (int i = 0; i < CHAINS; i++) {
        while (chains[i]) {
            struct gpi_entry *e = chains[i];
            chains[i] = e->next;
            free(e);
        }
    }
}
