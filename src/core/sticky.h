/* SPDX-License-Identifier: MIT */
/*
 * What a call finds wrong with data after it has returned: one record in the context's memory,
 * which gp_context_synchronize() fetches, clears and puts into words.
 *
 * The first call that finds something keeps the record until then. Within a call the smallest index
 * wins, whichever thread comes first, so the text is the same in every run and on every backend.
 * Texts and names are the host's: a record holds pointers to literals, which kernels pass on
 * without reading them. So the replay of a captured graph, whose arguments are frozen, names the
 * call too.
 */
#ifndef GPI_STICKY_H
#define GPI_STICKY_H

#include <stdint.h>

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The rules of contents: X(name, status, text). In a text @a is the argument, @i the index, @v and
 * @b are the value and the bound, items of the dtype, @n and @m the same as whole numbers of 64
 * bits with the sign of the dtype, @u the bound as one without sign, @t is the dtype's name. Of two
 * rules that one item breaks the first is reported.
 */
#define GPI_RULES(X)                                                                               \
    X(NEGATIVE, DATA, "@a[@i] is @v, negative")                                                    \
    X(FIRST, DATA, "@a[@i] is @v, expected @b")                                                    \
    X(FALLS, DATA, "@a[@i] is @v, below the @b before it")                                         \
    X(RISES, DATA, "@a[@i] is @v, above the @b before it")                                         \
    X(LAST, DATA, "@a[@i] is @v, expected @b")                                                     \
    X(SPAN, DATA, "@a[@i] - @a[0] is @n, expected @m")                                             \
    X(NAN, DATA, "@a[@i] is @v, expected a number")                                                \
    X(BELOW, DATA, "@a[@i] is @v, expected below @u")                                              \
    X(DUPLICATE, DATA, "more than one entry has row @n and column @m")                             \
    X(CAPACITY, CAPACITY, "the result has @n items, capacity is @m")                               \
    X(OVERFLOW, OVERFLOW, "an output does not fit its dtype, which is @t")                         \
    X(TOTAL, OVERFLOW, "the total is @n, which does not fit its dtype, which is @t")

enum gpi_rule {
    GPI_RULE_NONE,
#define GPI_RULE_NUMBER(name, status, text) GPI_RULE_##name,
    GPI_RULES(GPI_RULE_NUMBER)
#undef GPI_RULE_NUMBER
};

/* Rules about no item in particular: behind all that are. */
#define GPI_NO_INDEX UINT64_MAX

/* Of what something is found. */
struct gpi_source {
    const char *function; /* the public call */
    const char *argument; /* @a */
    uint32_t call;        /* counts the context's calls */
    int32_t dtype;        /* a gp_dtype; 0: whole numbers of 64 bits */
};

/* Zero: nothing found. */
struct gpi_sticky {
    uint32_t lock;
    uint32_t misuse;  /* work of the context ran on two streams at the same time */
    uint32_t blocked; /* an argument of the call that is being validated breaks a rule */
    uint32_t rule;    /* enum gpi_rule */
    struct gpi_source source;
    uint64_t index, value, bound;
    /* The total of a call that does not fit its dtype; says more than OVERFLOW of the same call. */
    uint32_t total_call;
    uint64_t total;
};

/* Who reports, as kernels get it. */
struct gpi_reporter {
    struct gpi_sticky *sticky;
    struct gpi_source source;
};

/* Whether a finding takes the place of what is in the record. */
#define GPI_STICKY_TAKES(s, r, of_rule, at)                                                        \
    ((s)->rule == GPI_RULE_NONE ||                                                                 \
     ((s)->source.call == (r)->source.call &&                                                      \
      ((at) < (s)->index || ((at) == (s)->index && (uint32_t)(of_rule) < (s)->rule))))

struct gpi_reporter gpi_reporter_of(const gp_context *ctx, const char *argument, gp_dtype dtype);

/* CPU backend: report a broken rule; thread safe. */
void gpi_report(const struct gpi_reporter *reporter, enum gpi_rule rule, uint64_t index,
                uint64_t value, uint64_t bound);
/* Outputs of a scan do not fit the reporter's dtype; its total may be one of them. */
void gpi_report_overflow(const struct gpi_reporter *reporter, uint64_t total);

/* The status of a record, and its text as the error of ctx. */
gp_status gpi_sticky_fail(gp_context *ctx, const struct gpi_sticky *found);

/* A finding of a call that returns it at once. */
gp_status gpi_rule_fail(gp_context *ctx, const char *function, const char *argument, gp_dtype dtype,
                        enum gpi_rule rule, uint64_t index, uint64_t value, uint64_t bound);

#ifdef __cplusplus
}
#endif

#endif
