/* SPDX-License-Identifier: MIT */
/*
 * Limits of arguments: a row of the table in test_limits.c says what values an argument of a call
 * may have, and at which ones the code takes another way or a number of bits is full. Each is
 * tried, and the values one below and one above. Those that are allowed must give what a serial
 * loop gives, the others their status, with nothing written.
 */
#ifndef GP_TEST_LIMITS_H
#define GP_TEST_LIMITS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gp_test.h"

enum { LIMIT_PLACES = 12 };

struct limit {
    const char *call, *argument;
    /* Makes the call with this value of the argument, checks what it wrote, and returns its status.
     * One below 0 is the largest number, or -1 for an int. */
    gp_status (*run)(const struct limit *l, uint64_t value);
    gp_dtype dtype;
    uint64_t with;        /* another argument's value, see run */
    uint64_t least, most; /* allowed */
    gp_status outside;    /* of other values; above 2^40 always GP_ERROR_ARGUMENT. 0: not tried */
    uint64_t too_many;    /* values from here on are allowed, and not tried; 0: all are */
    uint64_t at[LIMIT_PLACES]; /* tried beside least and most; 0 ends them */
    gp_status (*bytes)(const struct limit *l, uint64_t value, size_t *bytes); /* of run_bytes() */
    bool powers; /* only powers of two are allowed */
    bool cuda;   /* not for the CPU, where nothing changes there */
};

/* What is being tried, for messages. */
static char limit_now[160];

static bool limit_allows(const struct limit *l, uint64_t value)
{
    return l->least <= value && value <= l->most && (!l->powers || (value & (value - 1)) == 0);
}

/* Of the values that are allowed. */
static bool limit_tries(const struct limit *l, uint64_t value)
{
    return limit_allows(l, value) && (!l->too_many || value < l->too_many);
}

/* Items of the arrays of a call that gets the number `value`: calls that refuse it read none. */
static size_t limit_room(const struct limit *l, uint64_t value)
{
    return limit_tries(l, value) ? (size_t)value : 8;
}

static void limit_try(const struct limit *l, uint64_t value)
{
    const bool inside = limit_allows(l, value);
    const gp_status outside = value > (uint64_t)1 << 40 ? GP_ERROR_ARGUMENT : l->outside;
    if (inside ? !limit_tries(l, value) : l->outside == GP_OK)
        return;
    snprintf(limit_now, sizeof limit_now, "%s: %s is %" PRId64 " (%s, %" PRIu64 ")", l->call,
             l->argument, (int64_t)value, gp_dtype_string(l->dtype), l->with);
    gp_status s = l->run(l, value), expected = inside ? GP_OK : outside;
    ck_assert_msg(s == expected, "%s: status %d (%s), expected %d (%s)", limit_now, (int)s,
                  gp_status_string(s), (int)expected, gp_status_string(expected));
    if (inside)
        T_OK(gp_context_synchronize(t_ctx()));
}

/* Each value once. */
static void limit_try_all(const struct limit *l)
{
    uint64_t tried[3 * (LIMIT_PLACES + 2)];
    size_t count = 0;
    for (int place = -2; place < LIMIT_PLACES && (place < 0 || l->at[place]); place++)
        for (int beside = -1; beside <= 1; beside++) {
            uint64_t at = place == -2 ? l->least : place == -1 ? l->most : l->at[place];
            uint64_t value = at + (uint64_t)(int64_t)beside;
            size_t known = 0;
            while (known < count && tried[known] != value)
                known++;
            if (known == count)
                limit_try(l, tried[count++] = value);
        }
}

/* ---- what runs share ------------------------------------------------------------------------- */

/* An output: the first bytes of it are these if the call is queued, and it is as before if not. */
static void limit_output(gp_status s, t_array *out, const void *expected, size_t bytes)
{
    if (s == GP_OK) {
        void *actual = t_host(bytes);
        t_get(out, actual, bytes);
        t_same_bytes(limit_now, expected, actual, bytes);
        free(actual);
        t_check_guards(out);
    } else {
        t_check_untouched(out);
    }
    t_free(out);
}

/* The statuses of two forms of one call. */
static gp_status limit_both(gp_status a, gp_status b)
{
    ck_assert_msg(a == b, "%s: statuses %d and %d of one argument", limit_now, (int)a, (int)b);
    return a;
}

/* Numbers below bound, the first two the lowest and the highest one; not sorted, some of them
 * alike. bound 0: any of 64 bits. */
static uint64_t *limit_numbers(size_t n, uint64_t bound, uint64_t seed)
{
    uint64_t *x = t_host(n * sizeof *x), state = t_seed() + seed;
    for (size_t i = 0; i < n; i++)
        x[i] = i % 3 == 2 ? x[i / 2] : bound ? t_random_below(&state, bound) : t_random(&state);
    if (n > 0)
        x[0] = 0;
    if (n > 1)
        x[1] = bound - 1;
    return x;
}

/* The low bytes of numbers, as items of a dtype; little-endian, as the library. */
static void *limit_narrow(const uint64_t *x, size_t n, size_t bytes)
{
    char *items = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(items + i * bytes, &x[i], bytes);
    return items;
}

static t_array limit_array(const uint64_t *x, size_t n, size_t bytes)
{
    void *items = limit_narrow(x, n, bytes);
    t_array a = t_new_from(items, n * bytes, 0);
    free(items);
    return a;
}

/* 0, 1, 2, .. */
static uint64_t *limit_positions(size_t n)
{
    uint64_t *x = t_host(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = i;
    return x;
}

#endif
