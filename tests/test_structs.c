/* SPDX-License-Identifier: MIT */
/*
 * Descriptors and options of other sizes: those of a newer caller are taken if what the library
 * does not know is 0; sizes of no release are refused. Every call that takes such
 * a struct is a row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gp_test.h"
#include "older_struct.h"
#include "struct_rows.h"

/* A struct of size bytes, with what follows those that are known in the memory of the caller. */
static char *given_of(const struct kind *k, size_t size)
{
    char *given = calloc(1, k->bytes + TAIL);
    k->make(given);
    memcpy(given, &size, sizeof size);
    return given;
}

/* The status of a call, and a hash of all that it writes. */
static gp_status outcome(const struct row *row, E e, const void *given, uint64_t *hash)
{
    size_t figure = 77;
    T_OK(every_fill(t_ctx(), e));
    gp_status s = row->call(t_ctx(), e, given, &figure);
    T_OK(gp_context_synchronize(t_ctx()));
    T_OK(every_read(t_ctx(), e, hash));
    *hash += figure;
    return s;
}

static void expect_taken(const struct row *row, E e, char *given, uint64_t expected)
{
    uint64_t hash;
    gp_status s = outcome(row, e, given, &hash);
    ck_assert_msg(s == GP_OK, "%s: %s", row->name,
                  gp_last_error(row->has_context ? t_ctx() : NULL));
    ck_assert_msg(hash == expected, "%s: another result", row->name);
    free(given);
}

static void expect_refused(const struct row *row, E e, char *given, const char *part)
{
    char size_text[40];
    uint64_t filled, hash;
    size_t figure = 77;
    snprintf(size_text, sizeof size_text, ": %s->size is ", row->kind->argument);
    T_OK(every_fill(t_ctx(), e));
    T_OK(every_read(t_ctx(), e, &filled));
    gp_status s = row->call(t_ctx(), e, given, &figure);
    const char *text = gp_last_error(row->has_context ? t_ctx() : NULL);
    ck_assert_msg(s == GP_ERROR_ARGUMENT, "%s: status %d", row->name, (int)s);
    ck_assert_msg(strstr(text, size_text) && strstr(text, part), "%s: \"%s\"", row->name, text);
    T_OK(every_read(t_ctx(), e, &hash));
    ck_assert_msg(hash == filled && figure == 77, "%s: has written", row->name);
    free(given);
}

START_TEST(test_structs_of_newer_callers_are_taken_if_the_rest_is_zero)
{
    every e = every_new(t_ctx(), N);
    for (int i = 0; i < ROWS; i++) {
        const size_t bytes = rows[i].kind->bytes;
        char *exact = given_of(rows[i].kind, bytes);
        uint64_t hash;
        memset(exact + bytes, 0x11, TAIL); /* no part of it */
        ck_assert_msg(outcome(&rows[i], &e, exact, &hash) == GP_OK, "%s", rows[i].name);
        expect_taken(&rows[i], &e, given_of(rows[i].kind, bytes + 1), hash);
        expect_taken(&rows[i], &e, given_of(rows[i].kind, bytes + 8), hash);
        expect_taken(&rows[i], &e, given_of(rows[i].kind, bytes + TAIL), hash);
        free(exact);
    }
    every_free(t_ctx(), &e);
}
END_TEST

START_TEST(test_structs_of_newer_callers_are_refused_if_the_rest_is_set)
{
    const size_t places[] = {0, 1, 7, TAIL - 1};
    every e = every_new(t_ctx(), N);
    for (int i = 0; i < ROWS; i++)
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            const size_t bytes = rows[i].kind->bytes;
            char *given = given_of(rows[i].kind, bytes + TAIL), part[40];
            given[bytes + places[p]] = 1;
            snprintf(part, sizeof part, "its byte %zu is not 0", bytes + places[p]);
            expect_refused(&rows[i], &e, given, part);
        }
    every_free(t_ctx(), &e);
}
END_TEST

/* What the initializer of an earlier release made; what is behind it, and what was padding in it,
 * is the caller's garbage. */
START_TEST(test_structs_of_earlier_releases_are_taken)
{
    every e = every_new(t_ctx(), N);
    for (int i = 0; i < ROWS; i++) {
        const struct kind *k = rows[i].kind;
        uint64_t hash;
        if (!k->older)
            continue;
        char *full = given_of(k, k->bytes), *old = given_of(k, k->older);
        T_OK(outcome(&rows[i], &e, full, &hash));
        free(full);
        expect_taken(&rows[i], &e, old, hash);
    }
    every_free(t_ctx(), &e);
}
END_TEST

START_TEST(test_structs_of_sizes_never_released_are_refused)
{
    every e = every_new(t_ctx(), N);
    for (int i = 0; i < ROWS; i++) {
        const size_t bytes = rows[i].kind->bytes;
        const size_t sizes[] = {0, 1, 8, bytes - 8, bytes - 4, bytes - 1, 4097, SIZE_MAX};
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            if (sizes[s] != rows[i].kind->older || sizes[s] == 0)
                expect_refused(&rows[i], &e, given_of(rows[i].kind, sizes[s]), ", expected ");
    }
    every_free(t_ctx(), &e);
}
END_TEST

/* A struct that has grown twice. */
struct grown {
    size_t size, first, second, third;
};

START_TEST(test_struct_of_an_older_caller_leaves_defaults)
{
    const size_t older[] = {2 * sizeof(size_t), 3 * sizeof(size_t), 0};
    for (size_t members = 0; members <= 4; members++) {
        const struct grown given = {members * sizeof(size_t), 11, 12, 13};
        struct grown full = {5, 6, 7, 8};
        gp_status s = older_take(&given, &full, sizeof full, older);
        ck_assert_int_eq(s, members < 2 ? GP_ERROR_ARGUMENT : GP_OK);
        if (s)
            continue;
        ck_assert_uint_eq(full.size, sizeof full);
        ck_assert_uint_eq(full.first, 11);
        ck_assert_uint_eq(full.second, members > 2 ? 12 : 0);
        ck_assert_uint_eq(full.third, members > 3 ? 13 : 0);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("structs");
    TCase *c = t_case(s, "sizes");
    tcase_add_test(c, test_structs_of_newer_callers_are_taken_if_the_rest_is_zero);
    tcase_add_test(c, test_structs_of_newer_callers_are_refused_if_the_rest_is_set);
    tcase_add_test(c, test_structs_of_earlier_releases_are_taken);
    tcase_add_test(c, test_structs_of_sizes_never_released_are_refused);
    tcase_add_test(c, test_struct_of_an_older_caller_leaves_defaults);
    return t_main(argc, argv, s);
}
