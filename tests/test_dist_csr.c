/* SPDX-License-Identifier: MIT */
/* Sparse matrices by blocks of rows: every number of ranks and spread, against a serial list. */
#include <stdlib.h>
#include <string.h>

#include "radixsort_oracle.h"
#include "ranks.h"

static const int rank_counts[] = {1, 2, 3, 5, 8, 16, 64};
enum { RANK_COUNTS = sizeof rank_counts / sizeof rank_counts[0] };

struct coo {
    gp_coo_desc desc;
    size_t num_rows, num_cols, room;
    struct shares s;
    struct parts rows, cols, values, first, pointers, cols_out, values_out, counts;
};

static gp_status csr_rank(void *arg, int r, gp_comm *comm)
{
    struct coo *c = arg;
    return gp_dist_csr_from_coo(comm, &c->desc, c->num_rows, c->num_cols, c->rows.of[r].data,
                                c->cols.of[r].data, c->values.of[r].data, c->s.n[r],
                                (uint64_t *)c->first.of[r].data, c->num_rows,
                                c->pointers.of[r].data, c->room, c->cols_out.of[r].data,
                                c->values_out.of[r].data, (uint64_t *)c->counts.of[r].data);
}

/* Entries in order, duplicates added up or kept: the number of those that are left. */
static size_t serial(bool sum, size_t num_cols, uint32_t *rows, uint32_t *cols, uint32_t *values,
                     size_t n)
{
    uint64_t *keys = t_host(n * 8);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint64_t)rows[i] * num_cols + cols[i];
    size_t *order = oracle_argsort(GP_U64, keys, n, false, 0, 0);
    uint32_t *r = oracle_pick(rows, 4, order, n), *c = oracle_pick(cols, 4, order, n),
             *v = oracle_pick(values, 4, order, n);
    for (size_t i = 0; i < n; i++) {
        const bool again = sum && count && rows[count - 1] == r[i] && cols[count - 1] == c[i];
        if (again) {
            values[count - 1] += v[i];
            continue;
        }
        rows[count] = r[i], cols[count] = c[i], values[count++] = v[i];
    }
    free(keys), free(order), free(r), free(c), free(v);
    return count;
}

/* Of each rank: the rows of its block, pointers, columns and values. */
static void check_blocks(const struct coo *c, int p, const uint32_t *rows, const uint32_t *cols,
                         const uint32_t *values, size_t count)
{
    uint64_t first[RANKS_MAX + 1];
    size_t at = 0;
    for (int r = 0; r < p; r++) {
        uint64_t mine[RANKS_MAX + 1];
        const size_t n = (size_t)t_get_u64(&c->counts.of[r]);
        uint32_t *pointers = t_host((c->num_rows + 1) * 4), *k = t_host(n * 4), *v = t_host(n * 4);
        t_get(&c->first.of[r], r ? mine : first, ((size_t)p + 1) * 8);
        if (r)
            t_same("row_first", GP_U64, first, mine, (size_t)p + 1);
        ck_assert_uint_le(first[r], first[r + 1]);
        t_get(&c->pointers.of[r], pointers, (first[r + 1] - first[r] + 1) * 4);
        t_get(&c->cols_out.of[r], k, n * 4);
        t_get(&c->values_out.of[r], v, n * 4);
        t_same("columns", GP_U32, cols + at, k, n);
        if (c->desc.value_dtype)
            t_same("values", GP_U32, values + at, v, n);
        for (uint64_t row = first[r]; row < first[r + 1]; row++)
            for (size_t i = pointers[row - first[r]]; i < pointers[row - first[r] + 1]; i++)
                ck_assert_uint_eq(rows[at + i], row);
        ck_assert_uint_eq(pointers[first[r + 1] - first[r]], n);
        t_check_guards(&c->cols_out.of[r]);
        at += n;
        free(pointers), free(k), free(v);
    }
    ck_assert_uint_eq(at, count);
    ck_assert_uint_eq(first[0], 0);
    ck_assert_uint_eq(first[p], c->num_rows);
}

static void check_coo(struct ranks *group, int round, uint64_t *state)
{
    const int p = group->count;
    const size_t n = t_random_below(state, round % 4 ? 3000 : 6);
    struct coo c = {.desc = GP_COO_DESC_INIT,
                    .num_rows = 1 + t_random_below(state, 300),
                    .num_cols = 1 + t_random_below(state, 40),
                    .room = n ? n : 1};
    uint32_t *rows = t_host(n * 4), *cols = t_host(n * 4), *values = t_host(n * 4);
    size_t firsts[RANKS_MAX], pointers[RANKS_MAX], room[RANKS_MAX], ones[RANKS_MAX];
    t_fill_small(GP_U32, rows, n, round & 2 ? 1 + c.num_rows / 4 : c.num_rows, state);
    t_fill_small(GP_U32, cols, n, c.num_cols, state);
    t_fill_random(GP_U32, values, n, state);
    c.desc.value_dtype = round % 5 == 4 ? (gp_dtype)0 : GP_U32;
    c.desc.duplicates = round & 1 ? GP_DUPLICATES_KEEP : GP_DUPLICATES_SUM;
    c.s = shares_of((enum spread)(round % SPREADS), n, p, state);
    for (int r = 0; r < p; r++)
        firsts[r] = (size_t)p + 1, pointers[r] = c.num_rows + 1, room[r] = c.room, ones[r] = 1;
    c.rows = parts_from(rows, &c.s, 4, p), c.cols = parts_from(cols, &c.s, 4, p);
    c.values = parts_from(values, &c.s, 4, p), c.first = parts_new(firsts, 8, p);
    c.pointers = parts_new(pointers, 4, p), c.cols_out = parts_new(room, 4, p);
    c.values_out = parts_new(room, 4, p), c.counts = parts_new(ones, 8, p);
    ranks_ok(group, round & 4, csr_rank, &c);
    const size_t count =
        serial(c.desc.duplicates == GP_DUPLICATES_SUM, c.num_cols, rows, cols, values, n);
    check_blocks(&c, p, rows, cols, values, count);
    parts_free(&c.rows, p), parts_free(&c.cols, p), parts_free(&c.values, p);
    parts_free(&c.first, p), parts_free(&c.pointers, p), parts_free(&c.cols_out, p);
    parts_free(&c.values_out, p), parts_free(&c.counts, p);
    free(rows), free(cols), free(values);
}

START_TEST(test_dist_csr_is_the_csr_of_one_rank)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < (group.count > 8 ? 10 : 30); round++)
        check_coo(&group, round, &state);
    ranks_free(&group);
}
END_TEST

/* ---- other indices --------------------------------------------------------------------------- */

/* n of the words as integers of that many bytes. */
static void *widened(const uint32_t *words, size_t n, size_t bytes)
{
    uint64_t *wide = t_host(n * 8);
    for (size_t i = 0; i < n; i++)
        if (bytes == 8)
            wide[i] = words[i];
        else
            ((uint32_t *)wide)[i] = words[i];
    return wide;
}

struct indexed {
    size_t num_rows;
    size_t bytes; /* of an index */
    struct coo c;
};

static void indexed_new(struct indexed *x, gp_dtype index, const uint32_t *rows,
                        const uint32_t *cols, size_t n, int p, uint64_t *state)
{
    size_t firsts[RANKS_MAX], pointers[RANKS_MAX], room[RANKS_MAX], ones[RANKS_MAX];
    struct coo *c = &x->c;
    x->bytes = gp_dtype_bytes(index);
    *c = (struct coo){
        .desc = GP_COO_DESC_INIT, .num_rows = x->num_rows, .num_cols = 1 << 20, .room = n};
    c->desc.index_dtype = index;
    c->desc.offset_dtype = x->bytes == 8 ? GP_U64 : GP_U32;
    c->desc.value_dtype = (gp_dtype)0;
    c->s = shares_of(SPREAD_UNEVEN, n, p, state);
    for (int r = 0; r < p; r++)
        firsts[r] = (size_t)p + 1, pointers[r] = c->num_rows + 1, room[r] = n, ones[r] = 1;
    void *wide_rows = widened(rows, n, x->bytes), *wide_cols = widened(cols, n, x->bytes);
    c->rows = parts_from(wide_rows, &c->s, x->bytes, p);
    c->cols = parts_from(wide_cols, &c->s, x->bytes, p);
    free(wide_rows), free(wide_cols);
    c->values = parts_new(ones, 4, p), c->values_out = parts_new(ones, 4, p);
    c->first = parts_new(firsts, 8, p), c->pointers = parts_new(pointers, x->bytes, p);
    c->cols_out = parts_new(room, x->bytes, p), c->counts = parts_new(ones, 8, p);
}

static void indexed_free(struct indexed *x, int p)
{
    struct coo *c = &x->c;
    parts_free(&c->rows, p), parts_free(&c->cols, p), parts_free(&c->values, p);
    parts_free(&c->first, p), parts_free(&c->pointers, p), parts_free(&c->cols_out, p);
    parts_free(&c->values_out, p), parts_free(&c->counts, p);
}

static const gp_dtype index_types[] = {GP_I32, GP_U32, GP_I64, GP_U64};

/* Most entries in one row, the others far apart; columns in their order. */
START_TEST(test_dist_csr_takes_indices_of_all_types)
{
    enum { N = 4000, P = 3 };
    struct ranks group = ranks_new(P);
    struct indexed x = {.num_rows = 100000};
    uint32_t *rows = t_host(N * 4), *cols = t_host(N * 4), *values = t_host(N * 4);
    uint64_t state = t_seed();
    for (uint32_t i = 0; i < N; i++) {
        rows[i] = i % 3 ? 77777 : (uint32_t)t_random_below(&state, x.num_rows);
        cols[i] = i * 7919 % N;
    }
    indexed_new(&x, index_types[_i], rows, cols, N, P, &state);
    ranks_ok(&group, _i & 1, csr_rank, &x.c);
    const size_t count = serial(true, 1 << 20, rows, cols, values, N);
    size_t at = 0;
    for (int r = 0; r < P; r++) {
        const size_t n = (size_t)t_get_u64(&x.c.counts.of[r]);
        void *got = t_host(n * 8), *wanted = widened(cols + at, n, x.bytes);
        t_get(&x.c.cols_out.of[r], got, n * x.bytes);
        t_same_bytes("columns", wanted, got, n * x.bytes);
        at += n;
        free(got), free(wanted);
    }
    ck_assert_uint_eq(at, count);
    indexed_free(&x, P);
    free(rows), free(cols), free(values);
    ranks_free(&group);
}
END_TEST

/* The rank that gets the entry finds it; no rank waits for ever. */
START_TEST(test_dist_csr_finds_rows_out_of_range)
{
    enum { N = 300, P = 3 };
    struct ranks group = ranks_new(P);
    struct indexed x = {.num_rows = 50};
    uint32_t rows[N], cols[N];
    gp_status statuses[RANKS_MAX];
    uint64_t state = t_seed();
    int found = 0;
    for (uint32_t i = 0; i < N; i++)
        rows[i] = i % 50, cols[i] = i;
    rows[11] = _i & 1 ? 50 : UINT32_MAX;
    indexed_new(&x, GP_U32, rows, cols, N, P, &state);
    T_OK(gp_context_synchronize(t_ctx())); /* inputs were made on its stream */
    ranks_threads(group.comm, P, csr_rank, &x.c, statuses);
    for (int r = 0; r < P; r++)
        found +=
            statuses[r] == GP_ERROR_DATA || gp_context_synchronize(group.ctx[r]) == GP_ERROR_DATA;
    ck_assert_int_eq(found, 1);
    indexed_free(&x, P);
    ranks_free(&group);
}
END_TEST

/* ---- products -------------------------------------------------------------------------------- */

/* A square matrix in blocks of rows, as gp_dist_csr_from_coo() would make it. */
struct product {
    gp_csr_desc desc;
    struct shares s; /* of rows, and of x */
    struct parts first, pointers, cols, values, x, y;
    size_t nnz[RANKS_MAX];
    gp_dist_halo *halo[RANKS_MAX];
};

static gp_status halo_rank(void *arg, int r, gp_comm *comm)
{
    struct product *m = arg;
    return gp_dist_halo_create(comm, &m->desc, (const uint64_t *)m->first.of[r].data, m->s.n[r],
                               m->nnz[r], m->pointers.of[r].data, m->cols.of[r].data, &m->halo[r]);
}

static gp_status product_rank(void *arg, int r, gp_comm *comm)
{
    static const double one = 1, zero = 0;
    struct product *m = arg;
    return comm ? gp_dist_spmv(m->halo[r], m->values.of[r].data, &one, m->x.of[r].data, &zero,
                               m->y.of[r].data)
                : GP_ERROR_POINTER;
}

/* Rows of up to 8 entries, near the diagonal or anywhere. Small whole numbers: sums are exact. */
static void make_product(struct product *m, size_t n, int p, uint64_t *cols, double *values,
                         uint64_t *pointers, bool near, uint64_t *state)
{
    uint64_t first[RANKS_MAX + 1];
    size_t firsts[RANKS_MAX], rows[RANKS_MAX];
    pointers[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t k = t_random_below(state, 9);
        pointers[i + 1] = pointers[i] + k;
        for (size_t j = pointers[i]; j < pointers[i + 1]; j++) {
            const uint64_t any = t_random_below(state, n), by = t_random_below(state, 9);
            cols[j] = near ? (i + by < n ? i + by : i) : any;
            values[j] = (double)t_random_below(state, 7);
        }
    }
    for (int r = 0; r < p; r++)
        first[r] = m->s.first[r], firsts[r] = (size_t)p + 1, rows[r] = m->s.n[r] + 1;
    first[p] = n;
    m->first = parts_new(firsts, 8, p), m->pointers = parts_new(rows, 8, p);
    for (int r = 0; r < p; r++) {
        const size_t begin = m->s.first[r], at = pointers[begin], rows_here = m->s.n[r];
        uint64_t *mine = t_host((rows_here + 1) * 8);
        for (size_t i = 0; i <= rows_here; i++)
            mine[i] = pointers[begin + i] - at;
        m->nnz[r] = mine[rows_here];
        t_put(&m->pointers.of[r], mine, (rows_here + 1) * 8);
        t_put(&m->first.of[r], first, ((size_t)p + 1) * 8);
        m->cols.of[r] = t_new_from(cols + at, m->nnz[r] * 8, 0);
        m->values.of[r] = t_new_from(values + at, m->nnz[r] * 8, 0);
        free(mine);
    }
}

static void run_product(struct ranks *group, struct product *m, const double *x, bool together)
{
    const int p = group->count;
    ranks_ok(group, together, halo_rank, m);
    for (int r = 0; r < p; r++) {
        const size_t halo = (size_t)gp_dist_halo_items(m->halo[r]);
        m->x.of[r] = t_new((m->s.n[r] + halo) * 8, 0);
        t_put(&m->x.of[r], x + m->s.first[r], m->s.n[r] * 8);
    }
    m->y = parts_new(m->s.n, 8, p);
    for (int again = 0; again < 2; again++)
        ranks_ok(group, !together, product_rank, m);
    for (int r = 0; r < p; r++)
        gp_dist_halo_destroy(m->halo[r]);
}

static void check_product(struct ranks *group, int round, uint64_t *state)
{
    const int p = group->count;
    const size_t n = 1 + t_random_below(state, 500);
    struct product m = {.desc = GP_CSR_DESC_INIT,
                        .s = shares_of((enum spread)(round % SPREADS), n, p, state)};
    uint64_t *cols = t_host(n * 64), *pointers = t_host((n + 1) * 8);
    double *values = t_host(n * 64), *x = t_host(n * 8), *y = t_host(n * 8);
    m.desc.index_dtype = m.desc.offset_dtype = round & 2 ? GP_U64 : GP_I64;
    m.desc.value_dtype = GP_F64;
    make_product(&m, n, p, cols, values, pointers, round & 1, state);
    t_fill_small(GP_F64, x, n, 50, state);
    for (size_t i = 0; i < n; i++) {
        y[i] = 0;
        for (uint64_t j = pointers[i]; j < pointers[i + 1]; j++)
            y[i] += values[j] * x[cols[j]];
    }
    run_product(group, &m, x, round & 4);
    void *all = parts_join(&m.y, m.s.n, 8, p);
    t_same("y", GP_F64, y, all, n);
    parts_free(&m.first, p), parts_free(&m.pointers, p), parts_free(&m.cols, p);
    parts_free(&m.values, p), parts_free(&m.x, p), parts_free(&m.y, p);
    free(cols), free(pointers), free(values), free(x), free(y), free(all);
}

START_TEST(test_dist_spmv_is_the_product_of_one_rank)
{
    struct ranks group = ranks_new(rank_counts[_i]);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int round = 0; round < (group.count > 8 ? 8 : 20); round++)
        check_product(&group, round, &state);
    ranks_free(&group);
}
END_TEST

/* A column that no rank has is found by all. */
START_TEST(test_dist_halo_refuses_columns_out_of_range)
{
    struct ranks group = ranks_new(2);
    struct product m = {.desc = GP_CSR_DESC_INIT};
    const uint64_t first[3] = {0, 1, 2}, pointers[2] = {0, 1}, col[2] = {1, 2};
    gp_status statuses[2];
    m.desc.index_dtype = m.desc.offset_dtype = GP_U64, m.desc.value_dtype = GP_F64;
    for (int r = 0; r < 2; r++) {
        m.s.n[r] = m.nnz[r] = 1;
        m.first.of[r] = t_new_from(first, sizeof first, 0);
        m.pointers.of[r] = t_new_from(pointers, sizeof pointers, 0);
        m.cols.of[r] = t_new_from(&col[r], 8, 0);
    }
    ranks_run(&group, false, halo_rank, &m, statuses);
    for (int r = 0; r < 2; r++) {
        ck_assert_int_eq(statuses[r], GP_ERROR_DATA);
        ck_assert_ptr_null(m.halo[r]);
    }
    T_STATUS(GP_ERROR_POINTER, gp_dist_spmv(NULL, NULL, NULL, NULL, NULL, NULL));
    gp_dist_halo_destroy(NULL);
    ck_assert_uint_eq(gp_dist_halo_items(NULL), 0);
    parts_free(&m.first, 2), parts_free(&m.pointers, 2), parts_free(&m.cols, 2);
    ranks_free(&group);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dist_csr");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_dist_csr_is_the_csr_of_one_rank, 0, RANK_COUNTS);
    tcase_add_loop_test(c, test_dist_csr_takes_indices_of_all_types, 0, 4);
    tcase_add_loop_test(c, test_dist_csr_finds_rows_out_of_range, 0, 2);
    tcase_add_loop_test(c, test_dist_spmv_is_the_product_of_one_rank, 0, RANK_COUNTS);
    tcase_add_test(c, test_dist_halo_refuses_columns_out_of_range);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
