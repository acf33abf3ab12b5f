/* SPDX-License-Identifier: MIT */
/* y = A x for real matrices: the Matrix Market coordinate files of the directory GP_TEST_DATA. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_spmv.h"

struct list {
    uint32_t *rows, *cols;
    size_t num_rows, num_cols, n, room;
};

static void add(struct list *l, uint32_t row, uint32_t col)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 1 << 16;
        l->rows = realloc(l->rows, l->room * sizeof *l->rows);
        l->cols = realloc(l->cols, l->room * sizeof *l->cols);
        if (!l->rows || !l->cols)
            bench_die("out of host memory");
    }
    l->rows[l->n] = row;
    l->cols[l->n++] = col;
}

static void free_list(struct list *l)
{
    free(l->rows);
    free(l->cols);
}

/* The pattern of a file, with both halves of a symmetric matrix; false, after a line that says so,
 * if it has none. */
static bool read_list(const char *path, struct list *l)
{
    char line[1024], kind[1024] = "";
    unsigned long long rows = 0, cols = 0, n = 0, r, c;
    FILE *f = fopen(path, "r");
    *l = (struct list){0};
    bool ok = f && fgets(kind, sizeof kind, f);
    while (ok && (ok = fgets(line, sizeof line, f)) && line[0] == '%')
        ;
    ok = ok && sscanf(line, "%llu %llu %llu", &rows, &cols, &n) == 3;
    const bool half = strstr(kind, "symmetric") || strstr(kind, "hermitian");
    while (ok && n-- && (ok = fgets(line, sizeof line, f) != NULL)) {
        ok = sscanf(line, "%llu %llu", &r, &c) == 2 && r - 1 < rows && c - 1 < cols;
        if (ok)
            add(l, (uint32_t)(r - 1), (uint32_t)(c - 1));
        if (ok && half && r != c)
            add(l, (uint32_t)(c - 1), (uint32_t)(r - 1));
    }
    if (f)
        fclose(f);
    if (!ok) {
        printf("  skipped: %s is no list of coordinates\n", path);
        free_list(l);
    }
    l->num_rows = (size_t)rows;
    l->num_cols = (size_t)cols;
    return ok;
}

static void *uploaded(struct bench *b, int slot, const uint32_t *numbers, size_t n)
{
    void *to = bench_buffer(b, slot, n * 4);
    bench_copy(b, numbers, n * 4, to);
    return to;
}

static void make(struct bench *b, const struct bench_matrix *m, struct bench_args *a)
{
    struct list l;
    if (!read_list(m->path, &l))
        bench_die("%s is not what it was", m->path);
    gp_coo_desc desc = GP_COO_DESC_INIT;
    desc.value_dtype = (gp_dtype)0;
    desc.duplicates = GP_DUPLICATES_KEEP;
    a->n = l.n;
    a->num_rows = l.num_rows;
    a->num_cols = l.num_cols;
    const void *rows = uploaded(b, BENCH_SLOT_5, l.rows, l.n);
    const void *cols = uploaded(b, BENCH_SLOT_6, l.cols, l.n);
    bench_matrix_of(b, a, &desc, rows, cols);
    free_list(&l);
}

void bench_spmv_files(struct bench *b)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64};
    const char *directory = getenv("GP_TEST_DATA");
    DIR *d = directory ? opendir(directory) : NULL;
    const struct dirent *e;
    while (d && (e = readdir(d))) {
        char path[1024], name[64], head[256] = "";
        const char *dot = strstr(e->d_name, ".mtx");
        snprintf(path, sizeof path, "%s/%.255s", directory, e->d_name);
        FILE *f = dot ? fopen(path, "r") : NULL;
        const bool wanted = f && fgets(head, sizeof head, f) && strstr(head, "coordinate");
        if (f)
            fclose(f);
        struct list l;
        if (!wanted || !read_list(path, &l))
            continue;
        free_list(&l);
        snprintf(name, sizeof name, "%.*s", (int)(dot - e->d_name), e->d_name);
        const struct bench_matrix m = {.name = name, .make = make, .path = path};
        for (int k = 0; k < 2; k++)
            bench_spmv_forms(b, &m, dtypes[k], false);
    }
    if (d)
        closedir(d);
}
