/* SPDX-License-Identifier: MIT */
/* Real matrices, Matrix Market files in the directory GP_TEST_DATA: from a coordinate list to CSR,
 * and its products. */
#include <dirent.h>
#include <stdio.h>

#include "spmv_cases.h"

enum { FILES_MAX = 64 };
static char files[FILES_MAX][512];
static int file_count;

/* The next line that is neither empty nor a comment. */
static bool next_line(FILE *f, char *line, int size)
{
    while (fgets(line, size, f))
        if (line[0] != '%' && strspn(line, " \t\r\n") != strlen(line))
            return true;
    return false;
}

/* The entries of a real coordinate file as they stand there. */
static struct coo read_matrix(const char *path)
{
    char line[1024];
    unsigned long long rows, cols, n, r, c;
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert(next_line(f, line, sizeof line));
    ck_assert_int_eq(sscanf(line, "%llu %llu %llu", &rows, &cols, &n), 3);
    struct coo m = coo_new(rows, cols, n, GP_F64);
    while (m.nnz < n) {
        double v = 1;
        ck_assert(next_line(f, line, sizeof line));
        ck_assert_int_ge(sscanf(line, "%llu %llu %lf", &r, &c, &v), 2);
        t_set(GP_F64, m.values, m.nnz, v);
        coo_add(&m, r - 1, c - 1);
    }
    fclose(f);
    return m;
}

static bool is_coordinate(const char *path)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    bool ok =
        f && fgets(line, sizeof line, f) && strstr(line, "coordinate") && !strstr(line, "complex");
    if (f)
        fclose(f);
    return ok;
}

/* The files of the directory that are real coordinate lists. */
static void find_files(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;
    while (d && (e = readdir(d)) && file_count < FILES_MAX) {
        char *path = files[file_count];
        snprintf(path, sizeof files[0], "%s/%.200s", directory, e->d_name);
        if (strstr(e->d_name, ".mtx") && is_coordinate(path))
            file_count++;
    }
    if (d)
        closedir(d);
}

/* Convert on the device, compare with the oracle, multiply. */
START_TEST(test_real_matrix)
{
    struct coo m = read_matrix(files[_i]);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = GP_F64;
    struct csr want = oracle_from_coo(&m, GP_DUPLICATES_SUM);
    t_array rows = index_array(m.rows, m.nnz, GP_U32, 0),
            cols = index_array(m.cols, m.nnz, GP_U32, 0);
    t_array values = t_new_from(m.values, m.nnz * 8, 0), pointers = t_new((m.num_rows + 1) * 4, 0);
    t_array out_cols = t_new(m.nnz * 4, 0), out_values = t_new(m.nnz * 8, 0), nnz = t_new(8, 0);
    T_OK(gp_csr_from_coo(t_ctx(), &d, m.num_rows, m.num_cols, rows.data, cols.data, values.data,
                         m.nnz, pointers.data, out_cols.data, out_values.data, nnz.data));
    ck_assert_uint_eq(t_get_u64(&nnz), want.nnz);
    check_indices("row pointers", &pointers, want.pointers, m.num_rows + 1, GP_U32);
    check_indices("columns", &out_cols, want.cols, want.nnz, GP_U32);
    check_values(&out_values, &want);
    spmv_case(&want, pairs[_i % PAIRS], 0, 0);
    t_array *all[] = {&rows, &cols, &values, &pointers, &out_cols, &out_values, &nnz};
    for (int i = 0; i < 7; i++)
        t_free(all[i]);
    csr_free(&want);
    coo_free(&m);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_real");
    TCase *c = t_case(s, "real");
    if (getenv("GP_TEST_DATA"))
        find_files(getenv("GP_TEST_DATA"));
    tcase_add_loop_test(c, test_real_matrix, 0, file_count);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
