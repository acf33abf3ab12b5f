/* SPDX-License-Identifier: MIT */
#include "core/sticky.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "core/dtype.h"
#include "core/half.h"

/* ---- finding --------------------------------------------------------------------------------- */

struct gpi_reporter gpi_reporter_of(const gp_context *ctx, const char *argument, gp_dtype dtype)
{
    return (struct gpi_reporter){ctx->sticky, {ctx->function, argument, ctx->calls, (int)dtype}};
}

static void lock(struct gpi_sticky *s)
{
    while (__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(struct gpi_sticky *s)
{
    __atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

void gpi_report(const struct gpi_reporter *r, enum gpi_rule rule, uint64_t index, uint64_t value,
                uint64_t bound)
{
    struct gpi_sticky *s = r->sticky;
    lock(s);
    if (GPI_STICKY_TAKES(s, r, rule, index)) {
        s->rule = rule;
        s->source = r->source;
        s->index = index;
        s->value = value;
        s->bound = bound;
    }
    unlock(s);
}

void gpi_report_overflow(const struct gpi_reporter *r, uint64_t total)
{
    const gp_dtype dtype = (gp_dtype)r->source.dtype;
    const int unused = 64 - 8 * (int)gpi_dtype_bytes(dtype);
    const uint64_t low = total << unused;
    const uint64_t stored =
        gpi_dtype_is_signed(dtype) ? (uint64_t)((int64_t)low >> unused) : low >> unused;
    gpi_report(r, stored != total ? GPI_RULE_TOTAL : GPI_RULE_OVERFLOW, GPI_NO_INDEX, total, 0);
}

/* ---- telling --------------------------------------------------------------------------------- */

struct text {
    char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *t, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(t->at, (size_t)(t->end - t->at), format, values);
    va_end(values);
    if (length > 0)
        t->at = length < t->end - t->at ? t->at + length : t->end - 1;
}

/* An integer of `width` bits. */
static void append_number(struct text *t, uint64_t bits, int width, bool is_signed)
{
    const int unused = 64 - width;
    if (is_signed)
        append(t, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else
        append(t, "%" PRIu64, bits << unused >> unused);
}

static void append_item(struct text *t, gp_dtype dtype, uint64_t bits)
{
    float f32;
    double f64;
    const uint32_t low = (uint32_t)bits;
    memcpy(&f32, &low, sizeof f32);
    memcpy(&f64, &bits, sizeof f64);
    switch (dtype) {
    case GP_F16:
        append(t, "%g", (double)gpi_f16_to_float((uint16_t)bits));
        break;
    case GP_BF16:
        append(t, "%g", (double)gpi_bf16_to_float((uint16_t)bits));
        break;
    case GP_F32:
        append(t, "%.9g", (double)f32);
        break;
    case GP_F64:
        append(t, "%.17g", f64);
        break;
    default:
        append_number(t, bits, gpi_dtype_bytes(dtype) ? 8 * (int)gpi_dtype_bytes(dtype) : 64,
                      gpi_dtype_is_signed(dtype));
    }
}

static void append_token(struct text *t, const struct gpi_sticky *s, char token)
{
    const gp_dtype dtype = (gp_dtype)s->source.dtype;
    switch (token) {
    case 'a':
        append(t, "%s", s->source.argument);
        break;
    case 'i':
        append(t, "%" PRIu64, s->index);
        break;
    case 'v':
        append_item(t, dtype, s->value);
        break;
    case 'b':
        append_item(t, dtype, s->bound);
        break;
    case 'n':
        append_number(t, s->value, 64, gpi_dtype_is_signed(dtype));
        break;
    case 'u':
        append(t, "%" PRIu64, s->bound);
        break;
    case 'm':
        append_number(t, s->bound, 64, gpi_dtype_is_signed(dtype));
        break;
    default:
        append(t, "%s", gp_dtype_string(dtype));
    }
}

gp_status gpi_sticky_fail(gp_context *ctx, const struct gpi_sticky *found)
{
    static const struct {
        gp_status status;
        const char *text;
    } rules[] = {{GP_OK, ""},
#define RULE(name, status, text) {GP_ERROR_##status, text},
                 GPI_RULES(RULE)
#undef RULE
    };
    char buffer[GPI_ERROR_TEXT];
    struct text t = {buffer, buffer + sizeof buffer};
    struct gpi_sticky s = *found;
    if (s.misuse)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "gp_context_synchronize: work of this context ran on two streams at the "
                        "same time");
    if (s.rule == GPI_RULE_NONE)
        return GP_OK;
    if (s.rule == GPI_RULE_OVERFLOW && s.total_call == s.source.call) {
        s.rule = GPI_RULE_TOTAL;
        s.value = s.total;
    }
    append(&t, "%s: ", s.source.function);
    for (const char *c = rules[s.rule].text; *c; c++) {
        if (*c == '@')
            append_token(&t, &s, *++c);
        else
            append(&t, "%c", *c);
    }
    return gpi_fail(ctx, rules[s.rule].status, "%s", buffer);
}

gp_status gpi_rule_fail(gp_context *ctx, const char *function, const char *argument, gp_dtype dtype,
                        enum gpi_rule rule, uint64_t index, uint64_t value, uint64_t bound)
{
    const struct gpi_sticky found = {.rule = rule,
                                     .source = {function, argument, 1, (int)dtype},
                                     .index = index,
                                     .value = value,
                                     .bound = bound};
    return gpi_sticky_fail(ctx, &found);
}
