/* SPDX-License-Identifier: MIT */
/* Contexts, their memory, names. */
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"

static void memory(fuzz *f)
{
    static const size_t sizes[] = {0, 1, 255, 256, 4097, 65536};
    void *given;
    const size_t bytes = sizes[fuzz_below(f, 6)];
    FUZZ_CALL(f, gp_malloc(f->ctx, bytes, &given));
    FUZZ_CHECK((given != NULL) == (bytes != 0) && (uintptr_t)given % 256 == 0, "gp_malloc: %p",
               given);
    if (given)
        memset(given, 1, bytes);
    FUZZ_CHECK(gp_free(f->context, given) == GP_OK, "%s", gp_last_error(f->context));
    const gp_status again = gp_free(f->context, given);
    FUZZ_CHECK(again == (given ? GP_ERROR_POINTER : GP_OK), "freed twice: %d", again);
}

static void copy(fuzz *f)
{
    const size_t bytes = fuzz_below(f, 4096);
    fuzz_array *from = fuzz_bytes(f, bytes, 1), *to = fuzz_output_over(f, bytes, 1, from);
    FUZZ_CALL(f, gp_copy(f->ctx, from->data, bytes, to->data));
    fuzz_same_bytes("copy", from->before, to->contents, bytes);
}

static void reserve(fuzz *f)
{
    const uint64_t kind = fuzz_below(f, 8);
    const size_t bytes = kind ? fuzz_below(f, 65536) : SIZE_MAX - fuzz_below(f, 65536);
    f->may |= kind ? 0 : FUZZ_BIT(GP_ERROR_MEMORY);
    FUZZ_CALL(f, gp_context_reserve(f->ctx, bytes));
}

static void reset(fuzz *f)
{
    FUZZ_CALL(f, gp_context_reset(f->ctx));
}

static void describe(fuzz *f)
{
    char text[300];
    const size_t bytes = fuzz_below(f, 256) + 1;
    memset(text, FUZZ_POISON, sizeof text);
    const size_t room = fuzz_fault(f, GP_ERROR_ARGUMENT) ? 0 : bytes;
    gp_context *const ctx = f->ctx;
    f->ctx = NULL; /* which is constant, so the text of an error is the thread's */
    FUZZ_CALL(f, gp_context_describe(ctx, text, room));
    FUZZ_CHECK(memchr(text, 0, bytes) && text[bytes] == (char)FUZZ_POISON, "no end in %zu bytes",
               bytes);
}

static void create(fuzz *f)
{
    gp_context *ctx = f->context;
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    o.backend = GP_BACKEND_CPU;
    f->must = 0; /* this call takes no context */
    f->ctx = NULL;
    o.size = fuzz_struct(f, sizeof o);
    o.threads = (int)fuzz_below(f, 65);
    if (fuzz_fault(f, GP_ERROR_ARGUMENT))
        o.threads = fuzz_flip(f) ? -1 : 4097;
    o.multiprocessors = fuzz_fault(f, GP_ERROR_ARGUMENT) ? -1 : (int)fuzz_below(f, 4);
    o.reserved_too = fuzz_unused(f);
    o.reserved = (int)fuzz_below(f, 3);
    o.workspace_bytes = fuzz_below(f, 65536);
    f->may = 0;
    f->refuses = false;
    fuzz_called(f);
    const bool good = fuzz_returned(f, gp_context_create(&ctx, &o));
    FUZZ_CHECK((ctx != NULL) == good, "a context: %p", (void *)ctx);
    if (good)
        gp_context_destroy(ctx);
}

/* Machines that there may be, and others. */
static void target(fuzz *f)
{
    gp_target t = GP_TARGET_INIT;
    size_t bytes, *to = &bytes;
    f->must = 0; /* this call takes no context */
    f->ctx = NULL;
    t.size = fuzz_struct(f, sizeof t);
    t.backend = (gp_backend)fuzz_enum(f, GP_BACKEND_AUTO, GP_BACKEND_CUDA, GP_ERROR_ARGUMENT);
    t.sm = fuzz_fault(f, GP_ERROR_ARGUMENT) ? -1 : (int)fuzz_take(f, 2);
    t.sm_count = fuzz_fault(f, GP_ERROR_ARGUMENT) ? -1 : (int)fuzz_take(f, 2);
    t.threads = fuzz_fault(f, GP_ERROR_ARGUMENT) ? -1 : (int)fuzz_take(f, 2);
    const gp_dtype dtype = fuzz_dtype(f, FUZZ_ALL);
    const size_t n = fuzz_count(f, 1);
    if (fuzz_fault(f, GP_ERROR_POINTER))
        to = NULL;
    if (fuzz_flip(f))
        FUZZ_CALL(f, gp_merge_workspace_bytes(&t, dtype, n, to));
    else
        FUZZ_CALL(f, gp_argmin_workspace_bytes(&t, dtype, n, to));
}

/* Every number has a name, and known ones have a size. */
static void names(fuzz *f)
{
    const int number = (int)fuzz_take(f, 4);
    const bool dtype = number >= GP_I8 && number <= GP_F64,
               op = number >= GP_SUM && number <= GP_MAT2;
    FUZZ_CHECK(gp_status_string((gp_status)number) != NULL, "status %d", number);
    FUZZ_CHECK((strcmp(gp_dtype_string((gp_dtype)number), "?") != 0) == dtype, "dtype %d", number);
    FUZZ_CHECK((gp_dtype_bytes((gp_dtype)number) != 0) == dtype, "dtype %d", number);
    FUZZ_CHECK((strcmp(gp_op_string((gp_op)number), "?") != 0) == op, "operator %d", number);
    FUZZ_CHECK((gp_op_scalars((gp_op)number) != 0) == op, "operator %d", number);
    FUZZ_CHECK(gp_context_backend(f->context) == GP_BACKEND_CPU, "another backend");
    FUZZ_CHECK(gp_context_stream(f->context) == NULL, "a stream on the CPU");
    FUZZ_CALL(f, gp_context_set_stream(f->ctx, NULL));
}

fuzz_call *const fuzz_core[] = {memory, copy,   reserve, reset, describe,
                                create, target, names,   NULL};
