/* SPDX-License-Identifier: MIT */
/* The calls of the library: an input is a context and up to four calls with it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"

enum { CALLS = 4, RESERVE_MAX = 1 << 26, FAULTS = 24 };

/* ---- instruction sets ------------------------------------------------------------------------ */

#if FUZZ_HAVE_ISA

/* What a context takes, in the order of src/core/threads.h: the newest that this processor has, or
 * one that is not newer. Linked in place of the library's function of that name. */
static int chosen;
int __real_gpi_isa_detect(void);
int __wrap_gpi_isa_detect(void);

int __wrap_gpi_isa_detect(void)
{
    const int newest = __real_gpi_isa_detect();
    return chosen < newest ? chosen : newest;
}

/* FUZZ_ISA=0 to 2 means this one alone; 77, skipped, if the processor does not have it. */
static void choose_isa(uint64_t any)
{
    const char *one = getenv("FUZZ_ISA");
    chosen = one ? atoi(one) : 2 - (int)(any % 3);
    if (one && chosen > __real_gpi_isa_detect())
        exit(77);
}

#else

static void choose_isa(uint64_t any)
{
    (void)any;
}

#endif

/* ---- context --------------------------------------------------------------------------------- */

static void *allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    fuzz *f = user;
    (void)stream;
    f->allocations++;
    return f->refuses ? NULL : aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
}

static void release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)user, (void)bytes, (void)stream;
    free(memory);
}

static void begin(fuzz *f)
{
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    const uint64_t kind = fuzz_take(f, 1);
    options.backend = GP_BACKEND_CPU;
    options.threads = 1 + (int)(kind & 3);
    options.validate = kind >> 2 & 1;
    options.allocator = (gp_allocator){f, allocate, release};
    choose_isa(kind >> 3);
    f->validates = options.validate;
    f->random = fuzz_take(f, 2) + 1;
    const gp_status s = gp_context_create(&f->context, &options);
    FUZZ_CHECK(s == GP_OK, "no context: %s", gp_last_error(NULL));
}

/* What is passed as the context: mostly it, or NULL, or what was one. */
static gp_context *passed(fuzz *f)
{
    gp_context *gone;
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    if (!fuzz_fault(f, GP_ERROR_POINTER))
        return f->context;
    if (fuzz_flip(f))
        return NULL;
    options.backend = GP_BACKEND_CPU;
    FUZZ_CHECK(gp_context_create(&gone, &options) == GP_OK, "no context");
    gp_context_destroy(gone);
    return gone;
}

/* ---- before and after a call ----------------------------------------------------------------- */

void fuzz_reserve(fuzz *f, gp_status status, const size_t *bytes)
{
    if (status != GP_OK) {
        FUZZ_CHECK((f->must | f->may) & FUZZ_BIT(status), "workspace: %s", gp_last_error(NULL));
        return;
    }
    if (*bytes > RESERVE_MAX || f->refuses)
        return;
    status = gp_context_reserve(f->context, *bytes);
    FUZZ_CHECK(status == GP_OK, "reserve %zu: %s", *bytes, gp_last_error(f->context));
    f->reserved = true;
    f->allocations = 0;
}

static bool all_poison(const char *from, const char *to)
{
    while (from < to && *from == (char)FUZZ_POISON)
        from++;
    return from == to;
}

static void check_array(const fuzz_array *a, bool refused)
{
    if (!a->block)
        return;
    fuzz_guard((fuzz_array *)a, false);
    FUZZ_CHECK(all_poison(a->block, a->contents), "written before an array");
    FUZZ_CHECK(all_poison(a->contents + a->bytes, a->contents + a->bytes + FUZZ_GUARD),
               "written behind an array");
    if (!a->written || refused)
        fuzz_same_bytes(a->written ? "an output of a call that failed" : "an input", a->before,
                        a->contents, a->bytes);
}

void fuzz_called(fuzz *f)
{
    if (f->must)
        f->reserved = false;
    for (int i = 0; i < f->count; i++)
        fuzz_guard(&f->arrays[i], true);
}

bool fuzz_returned(fuzz *f, gp_status status)
{
    const unsigned allowed = f->must | f->may | (f->must ? 0 : FUZZ_BIT(GP_OK));
    const char *text = status ? gp_last_error(f->ctx) : "";
    FUZZ_CHECK(allowed & FUZZ_BIT(status), "status %d, allowed %#x: %s", status, allowed, text);
    FUZZ_CHECK(status == GP_OK || strncmp(text, "gp_", 3) == 0, "the text is \"%s\"", text);
    FUZZ_CHECK(!f->reserved || f->allocations == 0, "%zu allocations in spite of the workspace",
               f->allocations);
    for (int i = 0; i < f->count; i++)
        check_array(&f->arrays[i], status != GP_OK);
    const gp_status later = gp_context_synchronize(f->context);
    const unsigned sticky =
        status ? 0 : f->sticky | (f->vague ? FUZZ_BIT(GP_ERROR_DATA) : 0) | FUZZ_BIT(GP_OK);
    FUZZ_CHECK((sticky | FUZZ_BIT(GP_OK)) & FUZZ_BIT(later), "later: %s",
               gp_last_error(f->context));
    return status == GP_OK && later == GP_OK && !f->vague && !f->must;
}

static void free_arrays(fuzz *f)
{
    for (int i = 0; i < f->count; i++) {
        free(f->arrays[i].block);
        free(f->arrays[i].before);
    }
    f->count = 0;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

void fuzz_same(const char *what, gp_dtype dtype, const void *expected, const void *actual, size_t n)
{
    const size_t item = gp_dtype_bytes(dtype);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(fuzz_order(dtype, (const char *)expected + i * item,
                              (const char *)actual + i * item) == 0,
                   "%s: item %zu of %zu (%s) is %.17g, not %.17g", what, i, n,
                   gp_dtype_string(dtype), t_value(dtype, actual, i), t_value(dtype, expected, i));
}

/* ---- input ----------------------------------------------------------------------------------- */

static fuzz_call *call_at(size_t place)
{
    fuzz_call *const *const tables[] = {fuzz_scans,    fuzz_compactions, fuzz_moves,  fuzz_sorts,
                                        fuzz_merges,   fuzz_histograms,  fuzz_sparse, fuzz_core,
                                        fuzz_places,   fuzz_groups,      fuzz_splits, fuzz_keys,
                                        fuzz_products, fuzz_ranks};
    size_t all = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; tables[t][i]; i++)
            all++;
    place %= all;
    for (size_t t = 0;; t++)
        for (size_t i = 0; tables[t][i]; i++)
            if (place-- == 0)
                return tables[t][i];
}

static void one_call(fuzz *f)
{
    fuzz_call *const call = call_at(fuzz_take(f, 1));
    const int fault = (int)fuzz_take(f, 1);
    f->fault = fault < 2 * FAULTS ? fault : 0;
    f->place = 0;
    f->must = f->may = f->sticky = 0;
    f->vague = f->reserved = false;
    f->ctx = passed(f);
    f->refuses = fault == 255;
    f->may = f->refuses ? FUZZ_BIT(GP_ERROR_MEMORY) : 0;
    call(f);
    f->refuses = false;
    free_arrays(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz f = {.at = data, .end = data + bytes};
    begin(&f);
    for (int i = 0; i < CALLS && f.at < f.end; i++)
        one_call(&f);
    gp_context_destroy(f.context);
    return 0;
}
