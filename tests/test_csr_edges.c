/* SPDX-License-Identifier: MIT */
/* Checks of coordinate lists, and the edges of a frontier. */
#include <inttypes.h>
#include <stdio.h>

#include "csr_cases.h"

static const gp_dtype indices[] = {GP_U32, GP_I32, GP_U64, GP_I64};

/* ---- checks of lists ---- */

static const char *check_of(const struct coo *m, gp_dtype index, gp_coo_order order)
{
    t_array rows = index_array(m->rows, m->nnz, index, 0);
    t_array cols = index_array(m->cols, m->nnz, index, 0);
    const gp_status s =
        gp_check_coo(t_ctx(), index, m->num_rows, m->num_cols, rows.data, cols.data, m->nnz, order);
    ck_assert(s == GP_OK || s == GP_ERROR_DATA);
    t_free(&rows), t_free(&cols);
    return s == GP_OK ? "good" : gp_last_error(t_ctx());
}

/* A list in order, n entries, each row with columns 0, 2, .. */
static struct coo ordered(uint64_t n)
{
    struct coo m = coo_new(n + 1, 64, n, (gp_dtype)0);
    for (uint64_t i = 0; i < n; i++)
        coo_add(&m, i / 20, i % 20 * 2);
    return m;
}

START_TEST(test_check_coo_names_the_first)
{
    const uint64_t n = 10007;
    const gp_dtype index = indices[_i % 4];
    const uint64_t places[] = {1, 33, 5000, n - 1};
    char text[160];
    struct coo m = ordered(n);
    for (int o = GP_COO_ANY; o <= GP_COO_CANONICAL; o++)
        ck_assert_str_eq(check_of(&m, index, (gp_coo_order)o), "good");
    for (int k = 0; k < 4; k++) {
        const uint64_t at = places[k], row = m.rows[at], col = m.cols[at];
        m.rows[at] = n + 1;
        snprintf(text, sizeof text,
                 "gp_check_coo: rows[%" PRIu64 "] is %" PRIu64 ", expected below %" PRIu64, at,
                 n + 1, n + 1);
        ck_assert_str_eq(check_of(&m, index, GP_COO_ANY), text);
        m.rows[at] = row, m.cols[at] = 64;
        snprintf(text, sizeof text, "gp_check_coo: cols[%" PRIu64 "] is 64, expected below 64", at);
        ck_assert_str_eq(check_of(&m, index, GP_COO_CANONICAL), text);
        m.cols[at] = col;
        if (at % 20) {
            m.cols[at] = m.cols[at - 1];
            ck_assert_str_eq(check_of(&m, index, GP_COO_SORTED), "good");
            snprintf(text, sizeof text,
                     "gp_check_coo: rows[%" PRIu64 "] is %" PRIu64 " and cols[%" PRIu64
                     "] is %" PRIu64 ", as those before them",
                     at, row, at, m.cols[at]);
            ck_assert_str_eq(check_of(&m, index, GP_COO_CANONICAL), text);
            m.cols[at - 1] = 63;
            ck_assert_str_eq(check_of(&m, index, GP_COO_ROWS), "good");
            snprintf(text, sizeof text,
                     "gp_check_coo: cols[%" PRIu64 "] is %" PRIu64 ", below the 63 before it", at,
                     m.cols[at]);
            ck_assert_str_eq(check_of(&m, index, GP_COO_SORTED), text);
            m.cols[at - 1] = m.cols[at], m.cols[at] = col;
        }
        m.rows[at - 1] += n / 2;
        ck_assert_str_eq(check_of(&m, index, GP_COO_ANY), "good");
        snprintf(text, sizeof text,
                 "gp_check_coo: rows[%" PRIu64 "] is %" PRIu64 ", below the %" PRIu64 " before it",
                 at, row, m.rows[at - 1]);
        ck_assert_str_eq(check_of(&m, index, GP_COO_ROWS), text);
        m.rows[at - 1] -= n / 2;
        m.cols[at - 1] = at % 20 ? (at - 1) % 20 * 2 : m.cols[at - 1];
    }
    coo_free(&m);
}
END_TEST

START_TEST(test_check_coo_sizes_and_errors)
{
    const uint32_t one = 0;
    t_array a = t_new_from(&one, 4, 0);
    T_OK(gp_check_coo(t_ctx(), GP_U32, 0, 0, NULL, NULL, 0, GP_COO_CANONICAL));
    T_OK(gp_check_coo(t_ctx(), GP_U32, 1, 1, a.data, a.data, 1, GP_COO_CANONICAL));
    T_STATUS(GP_ERROR_DATA, gp_check_coo(t_ctx(), GP_U32, 0, 1, a.data, a.data, 1, GP_COO_ANY));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_check_coo(t_ctx(), GP_U32, 1, 1, a.data, a.data, 1, (gp_coo_order)0));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_check_coo(t_ctx(), GP_U32, 1, 1, a.data, a.data, 1, (gp_coo_order)5));
    T_STATUS(GP_ERROR_DTYPE, gp_check_coo(t_ctx(), GP_F32, 1, 1, a.data, a.data, 1, GP_COO_ANY));
    T_STATUS(GP_ERROR_POINTER, gp_check_coo(t_ctx(), GP_U32, 1, 1, NULL, a.data, 1, GP_COO_ANY));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_check_coo(t_ctx(), GP_U32, (size_t)1 << 33, 1, a.data, a.data, 1, GP_COO_ANY));
    T_STATUS(GP_ERROR_ARGUMENT, gp_check_coo(t_ctx(), GP_U32, 1, 1, a.data, a.data,
                                             ((size_t)1 << 40) + 1, GP_COO_ANY));
    t_free(&a);
}
END_TEST

/* ---- edges of a frontier ---- */

struct seen {
    const struct csr *a;
    const uint64_t *frontier, *before;
    uint32_t *visits; /* of each edge of the frontier */
    uint64_t *shares; /* edges of each share */
    int wrong;
};

static void see(void *arg, const gp_edges *e)
{
    struct seen *s = arg;
    const uint64_t row = s->frontier ? s->frontier[e->place] : e->place;
    const uint64_t first = e->before - s->before[e->place];
    if (e->row != row || e->begin >= e->end || e->begin != s->a->pointers[row] + first ||
        e->end > s->a->pointers[row + 1])
        __atomic_fetch_add(&s->wrong, 1, __ATOMIC_RELAXED);
    for (uint64_t i = e->begin; i < e->end; i++)
        s->visits[e->before + (i - e->begin)]++;
    s->shares[e->share] += e->end - e->begin;
}

static void edges_case(const struct csr *a, const gp_dtype pair[2], const uint64_t *frontier,
                       uint64_t n)
{
    uint64_t *before = t_host((n + 1) * 8), sum = 0;
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t row = frontier ? frontier[k] : k;
        before[k] = sum;
        sum += a->pointers[row + 1] - a->pointers[row];
    }
    before[n] = sum;
    const uint64_t shares = (sum + n) / GP_EDGES_SHARE + 1;
    struct seen s = {a, frontier, before, t_host(sum * 4), t_host(shares * 8), 0};
    memset(s.visits, 0, sum * 4), memset(s.shares, 0, shares * 8);
    t_array pointers = index_array(a->pointers, a->num_rows + 1, pair[1], 0);
    t_array f = index_array(frontier ? frontier : before, n, pair[0], 0);
    gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = pair[0], d.offset_dtype = pair[1];
    T_OK(gp_csr_visit_edges(t_ctx(), &d, a->num_rows, a->nnz, pointers.data,
                            frontier ? f.data : NULL, n, see, &s));
    ck_assert_int_eq(s.wrong, 0);
    for (uint64_t i = 0; i < sum; i++)
        if (s.visits[i] != 1)
            ck_abort_msg("edge %" PRIu64 " is visited %u times", i, s.visits[i]);
    for (uint64_t i = 0; i < shares; i++)
        ck_assert_uint_le(s.shares[i], GP_EDGES_SHARE);
    t_free(&pointers), t_free(&f);
    free(before), free(s.visits), free(s.shares);
}

START_TEST(test_visit_edges_matrices)
{
    struct coo m = coo_make((enum matrix)(_i / PAIRS), t_at_most(30000), GP_U8, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    const uint64_t n = a.num_rows == 0 ? 0 : a.num_rows < 100 ? 20 : 2000;
    uint64_t *frontier = t_host(n * 8), seed = t_seed();
    for (uint64_t k = 0; k < n; k++)
        frontier[k] = t_random_below(&seed, a.num_rows);
    if (gp_context_backend(t_ctx()) == GP_BACKEND_CPU) {
        edges_case(&a, pairs[_i % PAIRS], frontier, n);
        edges_case(&a, pairs[_i % PAIRS], frontier, n ? 1 : 0);
        edges_case(&a, pairs[_i % PAIRS], NULL, a.num_rows);
    }
    free(frontier);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

static void never(void *arg, const gp_edges *edges)
{
    (void)edges;
    *(int *)arg = 1;
}

static gp_status visit_wrong(const gp_csr_desc *d, size_t rows, const uint32_t (*pointers)[4],
                             const uint32_t (*frontier)[3], size_t n, const char *text)
{
    int called = 0;
    t_array p = t_new_from(pointers, 16, 0), f = t_new_from(frontier, 12, 0);
    gp_status s =
        gp_csr_visit_edges(t_ctx(), d, rows, 6, p.data, n == 99 ? NULL : f.data, n, never, &called);
    if (s == GP_OK)
        s = gp_context_synchronize(t_ctx());
    ck_assert_int_eq(called, 0);
    ck_assert_msg(strstr(gp_last_error(t_ctx()), text) != NULL, "%s", gp_last_error(t_ctx()));
    t_free(&p), t_free(&f);
    return s;
}

START_TEST(test_visit_edges_errors)
{
    const uint32_t good[4] = {0, 2, 3, 6}, falls[4] = {0, 5, 3, 6}, past[4] = {0, 2, 3, 7};
    const uint32_t all[3] = {2, 0, 1}, far[3] = {0, 3, 9};
    gp_csr_desc d = GP_CSR_DESC_INIT;
    int called = 0;
    d.index_dtype = d.offset_dtype = GP_U32;
    if (gp_context_backend(t_ctx()) != GP_BACKEND_CPU) {
        T_STATUS(GP_ERROR_UNSUPPORTED,
                 gp_csr_visit_edges(t_ctx(), &d, 0, 0, NULL, NULL, 0, never, &called));
        return;
    }
    T_STATUS(GP_ERROR_DATA, visit_wrong(&d, 3, &good, &far, 3,
                                        "gp_csr_visit_edges: frontier[1] is 3, expected below 3"));
    T_STATUS(GP_ERROR_DATA, visit_wrong(&d, 3, &falls, &all, 3, "row_pointers[2] is 3, below the"));
    T_STATUS(GP_ERROR_DATA, visit_wrong(&d, 3, &past, &all, 3, "row_pointers[3] is 7"));
    T_STATUS(GP_ERROR_ARGUMENT, visit_wrong(&d, 3, &good, &all, 99, "num_frontier is 99"));
    T_STATUS(GP_ERROR_ARGUMENT, visit_wrong(&d, (size_t)1 << 33, &good, &all, 3, "num_rows is"));
    T_STATUS(GP_ERROR_POINTER, gp_csr_visit_edges(t_ctx(), &d, 3, 6, NULL, all, 3, never, &called));
    T_STATUS(GP_ERROR_POINTER, gp_csr_visit_edges(t_ctx(), &d, 3, 6, good, all, 3, NULL, &called));
    T_STATUS(GP_ERROR_POINTER, gp_csr_visit_edges(t_ctx(), NULL, 3, 6, good, all, 3, never, NULL));
    d.hot_columns = 1;
    T_STATUS(GP_ERROR_ARGUMENT, visit_wrong(&d, 3, &good, &all, 3, "desc->hot_columns"));
    d.hot_columns = 0, d.index_dtype = GP_F32;
    T_STATUS(GP_ERROR_DTYPE, visit_wrong(&d, 3, &good, &all, 3, "desc->index_dtype"));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_edges");
    TCase *c = t_case(s, "check");
    tcase_add_loop_test(c, test_check_coo_names_the_first, 0, 4);
    tcase_add_test(c, test_check_coo_sizes_and_errors);
    c = t_case(s, "edges");
    tcase_add_loop_test(c, test_visit_edges_matrices, 0, MATRIX_RUNS);
    tcase_add_test(c, test_visit_edges_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
