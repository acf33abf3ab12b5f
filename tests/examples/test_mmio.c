/* SPDX-License-Identifier: MIT */
/* The helper of sparse_pipeline that reads files. usage: test_mmio DATA_DIR */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asserts.h"
#include "mmio.h"

static const char *data_dir;
static const size_t stream_bytes = 1 << 20;

static void read_good(const char *name, struct coo *m)
{
    char path[512], message[MM_MESSAGE_BYTES] = "";
    struct mm_file file;
    snprintf(path, sizeof path, "%s/%s", data_dir, name);
    bool good = mm_read(path, stream_bytes, m, &file, message, NULL, NULL);
    ck_assert_msg(good, "%s", message);
}

/* Dense and row-major, entries of one place added. */
static void check_dense(const char *name, uint32_t rows, uint32_t cols, size_t nnz,
                        const double *expected)
{
    struct coo m;
    double got[64] = {0};
    read_good(name, &m);
    ck_assert_uint_eq(m.num_rows, rows);
    ck_assert_uint_eq(m.num_cols, cols);
    ck_assert_uint_eq(m.nnz, nnz);
    for (size_t k = 0; k < m.nnz; k++)
        got[m.rows[k] * cols + m.cols[k]] += m.values[k];
    for (uint32_t i = 0; i < rows * cols; i++)
        ck_assert_msg(got[i] == expected[i], "%s: element %u is %.17g, expected %.17g", name, i,
                      got[i], expected[i]);
    coo_free(&m);
}

START_TEST(test_mm_read_general_takes_entries_in_file_order)
{
    static const uint32_t rows[] = {2, 0, 4, 2, 2, 0, 4, 0, 1};
    static const uint32_t cols[] = {0, 3, 1, 0, 0, 1, 3, 3, 1};
    static const double values[] = {2.5, -1e-3, .5, .25, 125, 7, 12345678901234567890.125, 1, 0};
    struct coo m;
    read_good("general.mtx", &m);
    ck_assert_uint_eq(m.nnz, 9);
    ck_assert_mem_eq(m.rows, rows, sizeof rows);
    ck_assert_mem_eq(m.cols, cols, sizeof cols);
    ck_assert_mem_eq(m.values, values, sizeof values);
    coo_free(&m);
}
END_TEST

START_TEST(test_mm_read_symmetries_are_mirrored)
{
    static const double symmetric[] = {2, -1, 0, 0, -1, 0, -1, 0, 0, -1, 2, -1, 0, 0, -1, .5};
    static const double skew[] = {0, -4, 7, 4, 0, 0, -7, 0, 0};
    static const double pattern[] = {0, 2, 0, 1, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1};
    check_dense("symmetric.mtx", 4, 4, 9, symmetric);
    check_dense("skew.mtx", 3, 3, 4, skew);
    check_dense("pattern_dos.mtx", 4, 4, 8, pattern);
}
END_TEST

START_TEST(test_mm_read_arrays_give_their_non_zeros)
{
    static const double array[] = {1.5, 0, 0, 0, -2, 4};
    static const double symmetric[] = {1, 2, 0, 2, 4, 5, 0, 5, 6};
    static const double skew[] = {0, -1, -2, 1, 0, -3, 2, 3, 0};
    check_dense("array.mtx", 3, 2, 3, array);
    check_dense("array_symmetric.mtx", 3, 3, 7, symmetric);
    check_dense("array_skew.mtx", 3, 3, 6, skew);
}
END_TEST

START_TEST(test_mm_read_matrices_without_entries)
{
    check_dense("no_entries.mtx", 3, 5, 0, (double[15]){0});
    check_dense("no_rows.mtx", 0, 0, 0, NULL);
}
END_TEST

/* Numbers in many forms, each compared with strtod. */
static void print_number(char text[64], uint64_t bits)
{
    static const char *const formats[] = {"%.17g", "%.6e", "%.3f", "%.0f", "%.25g", "%+.1E"};
    double v;
    if (bits % 3 == 0) {
        memcpy(&v, &bits, sizeof v);
        v = isfinite(v) ? v : 0.0;
    } else {
        v = ((double)(bits >> 11) - 4503599627370496.0) * pow(10.0, (double)(bits % 37) - 18.0);
    }
    if (snprintf(text, 64, formats[bits / 8 % 6], v) >= 64)
        snprintf(text, 64, "%.17g", v);
}

START_TEST(test_mm_read_numbers_equal_strtod)
{
    enum { COUNT = 5000 };
    char path[] = "gp_mmio_XXXXXX", text[64], message[MM_MESSAGE_BYTES] = "";
    struct mm_file file;
    struct coo m;
    double *expected = malloc(COUNT * sizeof *expected);
    uint64_t state = 1;
    FILE *f = fdopen(mkstemp(path), "w");
    ck_assert(f && expected);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n1 %d %d\n", COUNT, COUNT);
    for (int i = 0; i < COUNT; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        print_number(text, state ^ state >> 29);
        expected[i] = strtod(text, NULL);
        fprintf(f, "1 %d %s\n", i + 1, text);
    }
    fclose(f);
    bool good = mm_read(path, stream_bytes, &m, &file, message, NULL, NULL);
    unlink(path);
    ck_assert_msg(good, "%s", message);
    for (int i = 0; i < COUNT; i++)
        ck_assert_msg(memcmp(&m.values[i], &expected[i], 8) == 0, "entry %d is %.17g, not %.17g", i,
                      m.values[i], expected[i]);
    coo_free(&m);
    free(expected);
}
END_TEST

/* Make a locale that has nothing but a decimal comma, in dir, and take it. */
static bool take_comma_locale(const char *dir)
{
    char path[64], command[256];
    snprintf(path, sizeof path, "%s/comma.src", dir);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n", f);
    fclose(f);
    snprintf(command, sizeof command,
             "localedef -c -i %s -f ANSI_X3.4-1968 %s/comma 2>/dev/null || test -d %s/comma", path,
             dir, dir);
    return system(command) == 0 && setenv("LOCPATH", dir, 1) == 0 &&
           setlocale(LC_NUMERIC, "comma") && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* More digits than fit, and an exponent: both are strtod's work. */
START_TEST(test_mm_read_values_do_not_depend_on_locale)
{
    static const double expected[] = {3.14159265358979323846264338, 6.02214076e55};
    char dir[] = "/tmp/gp_locale_XXXXXX", command[64], path[64], message[MM_MESSAGE_BYTES] = "";
    struct mm_file file;
    struct coo m;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/m.mtx", dir);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("%%MatrixMarket matrix coordinate real general\n1 2 2\n"
          "1 1 3.14159265358979323846264338\n1 2 6.02214076e55\n",
          f);
    fclose(f);
    const bool comma = take_comma_locale(dir);
    bool good = mm_read(path, stream_bytes, &m, &file, message, NULL, NULL);
    const bool kept = !comma || strcmp(localeconv()->decimal_point, ",") == 0;
    setlocale(LC_NUMERIC, "C");
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(good, "%s", message);
    ck_assert_msg(kept, "the locale of the program was changed");
    ck_assert_mem_eq(m.values, expected, sizeof expected);
    coo_free(&m);
    if (!comma)
        printf("not tried: no locale with a decimal comma can be made\n");
}
END_TEST

/* A good beginning, and then comments without end. */
static void write_without_end(int end)
{
    static const char banner[] = "%%MatrixMarket matrix coordinate real general\n",
                      line[] = "% x\n";
    ssize_t written = write(end, banner, sizeof banner - 1);
    while (written > 0)
        written = write(end, line, sizeof line - 1);
    _exit(0);
}

START_TEST(test_mm_read_endless_stream_is_refused_at_limit)
{
    int ends[2];
    char path[32], message[MM_MESSAGE_BYTES] = "";
    struct mm_file file;
    struct coo m;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        write_without_end(ends[1]);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    bool good = mm_read(path, 100000, &m, &file, message, NULL, NULL);
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(!good);
    ck_assert_msg(strstr(message, "more than the 100000 bytes") != NULL, "%s", message);
}
END_TEST

START_TEST(test_mm_printable_replaces_control_characters)
{
    char shown[MM_NAME_BYTES], text[2 * MM_NAME_BYTES];
    ck_assert_str_eq(mm_printable("a b/\u00fc\u00df.mtx", shown), "a b/\u00fc\u00df.mtx");
    ck_assert_str_eq(mm_printable("\033[31m\n\177", shown), "?[31m??");
    ck_assert_str_eq(mm_printable("\xc2\x9b"
                                  "1m\xc2\xa0",
                                  shown),
                     "?1m\xc2\xa0");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ck_assert_uint_eq(strlen(mm_printable(text, shown)), MM_NAME_BYTES - 1);
}
END_TEST

/* ---- many chunks ----------------------------------------------------------------------------- */

enum { LONG_ENTRIES = 300000 };

/* A symmetric matrix of several chunks, with comments and blank lines; bad: one entry is wrong. */
static void write_long(FILE *f, int bad, int announced)
{
    fprintf(f, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", LONG_ENTRIES,
            LONG_ENTRIES, announced);
    for (int i = 0; i < LONG_ENTRIES; i++) {
        if (i % 1000 == 0)
            fprintf(f, "%% comment\n \t\n");
        fprintf(f, "%d %d %s%d.25\n", i + 1, i % 3 ? i + 1 : i / 2 + 1, i == bad ? "x" : "", i);
    }
}

static bool read_long(int threads, int bad, int announced, struct coo *m,
                      char message[MM_MESSAGE_BYTES])
{
    char path[] = "gp_mmio_XXXXXX";
    struct mm_file file;
    FILE *f = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(f);
    write_long(f, bad, announced);
    fclose(f);
    const bool good = mm_read_by(threads, path, stream_bytes, m, &file, message, NULL, NULL);
    unlink(path);
    return good;
}

START_TEST(test_mm_read_long_file_by_any_number_of_threads)
{
    for (int threads = 1; threads <= 5; threads += 2) {
        char message[MM_MESSAGE_BYTES] = "";
        struct coo m;
        ck_assert_msg(read_long(threads, -1, LONG_ENTRIES, &m, message), "%s", message);
        size_t k = 0;
        for (uint32_t i = 0; i < LONG_ENTRIES; i++) {
            const uint32_t col = i % 3 ? i : i / 2;
            ck_assert(m.rows[k] == i && m.cols[k] == col && m.values[k] == i + .25);
            k++;
            if (col != i) {
                ck_assert(m.rows[k] == col && m.cols[k] == i && m.values[k] == i + .25);
                k++;
            }
        }
        ck_assert_uint_eq(m.nnz, k);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_mm_read_long_file_names_the_first_error)
{
    char message[MM_MESSAGE_BYTES] = "";
    struct coo m;
    ck_assert(!read_long(3, 250000, LONG_ENTRIES, &m, message));
    ck_assert_msg(strstr(message, ":250505: the value is \"x250000.25\"") != NULL, "%s", message);
    ck_assert(!read_long(3, 250000, 200000, &m, message));
    ck_assert_msg(strstr(message, ":200405: more than the 200000") != NULL, "%s", message);
    ck_assert(!read_long(3, -1, LONG_ENTRIES + 1, &m, message));
    ck_assert_msg(strstr(message, ":300603: the file ends after 300000 of 300001") != NULL, "%s",
                  message);
    ck_assert(!read_long(3, 250000, LONG_ENTRIES + 1, &m, message));
    ck_assert_msg(strstr(message, ":250505: the value") != NULL, "%s", message);
    ck_assert(!m.rows && !m.cols && !m.values);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("mmio");
    TCase *c = tcase_create("values");
    tcase_set_timeout(c, 0); /* Meson ends what hangs, as in all suites */
    if (argc != 2)
        return 2;
    data_dir = argv[1];
    tcase_add_test(c, test_mm_read_general_takes_entries_in_file_order);
    tcase_add_test(c, test_mm_read_symmetries_are_mirrored);
    tcase_add_test(c, test_mm_read_arrays_give_their_non_zeros);
    tcase_add_test(c, test_mm_read_matrices_without_entries);
    tcase_add_test(c, test_mm_read_numbers_equal_strtod);
    tcase_add_test(c, test_mm_read_values_do_not_depend_on_locale);
    tcase_add_test(c, test_mm_read_endless_stream_is_refused_at_limit);
    tcase_add_test(c, test_mm_printable_replaces_control_characters);
    tcase_add_test(c, test_mm_read_long_file_by_any_number_of_threads);
    tcase_add_test(c, test_mm_read_long_file_names_the_first_error);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
