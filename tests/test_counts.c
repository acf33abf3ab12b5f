/* SPDX-License-Identifier: MIT */
/*
 * Numbers of items, segments and rows in device memory: every call of the headers, captured once in
 * a graph and replayed with the numbers 0, 1, .., the bound and more gives what the oracle gives
 * for that number, and nothing behind is touched. On the CPU without the graph.
 *
 * The oracle is the CPU backend with one thread, whose numbers come from the host: for a GPU it is
 * other code. All results are exact, as floats are small whole numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "gp_test.h"

/* ---- every call has a row -------------------------------------------------------------------- */

/* Calls without a row, and why. */
static const struct {
    const char *calls, *reason;
} others[] = {
    {"gp_version gp_status_string gp_dtype_bytes gp_dtype_string gp_op_string gp_op_scalars "
     "gp_last_error gp_context_create gp_context_destroy gp_context_synchronize "
     "gp_context_set_stream gp_context_stream gp_context_backend gp_context_reserve "
     "gp_context_reset gp_context_describe gp_malloc gp_free gp_copy",
     "no number of items but that of bytes"},
    {"gp_check_offsets gp_check_offsets_by gp_check_csr gp_check_csr_by gp_check_coo",
     "wait for their answer, as one would for the number"},
    {"gp_csr_visit_edges", "of the CPU alone, where a number in memory is known"},
    {"gp_comm_create_local gp_comm_create gp_comm_create_nccl gp_comm_destroy gp_comm_rank "
     "gp_comm_ranks gp_comm_context gp_comm_set_timeout gp_comm_synchronize gp_comm_abort "
     "gp_comm_group_begin gp_comm_group_end",
     "no number of items"},
    {"gp_dist_reduce gp_dist_scan gp_dist_sort gp_dist_sort_pairs gp_dist_argsort gp_dist_top_k "
     "gp_dist_histogram gp_dist_compact gp_dist_rebalance gp_dist_exchange gp_dist_group_by "
     "gp_dist_csr_from_coo gp_dist_halo_create gp_dist_halo_destroy gp_dist_halo_items gp_dist_spmv",
     "every rank has to know the numbers of all"},
    {"gp_balance_plan_bytes gp_balance_plan gp_spmv_plan_bytes gp_spmv_plan gp_spmv_planned "
     "gp_spmv_transposed_plan_bytes gp_spmv_transposed_plan gp_spmv_transposed_values gp_spmv_transposed",
     "a plan is of numbers that the host knows"},
    {"gp_vector_dot gp_vector_norm gp_vector_divide",
     "round, or have NaNs, in these inputs: test_vector counts them"},
    {"gp_scan_inclusive gp_scan_exclusive gp_reduce gp_argmin gp_argmax gp_compact gp_compact_if "
     "gp_compact_indices gp_partition gp_partition_into gp_partition_range gp_multisplit gp_gather "
     "gp_scatter gp_fill gp_iota gp_unique gp_run_length_encode gp_balance_search gp_expand "
     "gp_expand_counts gp_merge_path_partition gp_lower_bound gp_upper_bound gp_merge "
     "gp_merge_pairs gp_top_k gp_csr_row_pointers gp_csr_row_pointers_unsorted gp_csr_to_coo "
     "gp_spmv gp_adjacent_difference",
     "short forms of others"},
};

/* Whether a list of names, parted by blanks, has one of that length. */
static bool has_name(const char *list, const char *name, size_t length)
{
    for (const char *at = list; (at = strstr(at, name)) != NULL; at++) {
        const bool begins = at == list || at[-1] == ' ';
        if (begins && strncmp(at, name, length) == 0 && (at[length] == 0 || at[length] == ' '))
            return true;
    }
    return false;
}

static bool is_known(const char *name)
{
    const size_t length = strlen(name);
    const char *workspace = strstr(name, "_workspace_bytes");
    if (workspace && strcmp(workspace, "_workspace_bytes") == 0)
        return true;
    for (size_t r = 0; r < counts_row_count; r++)
        if (has_name(counts_rows[r].calls, name, length))
            return true;
    for (size_t o = 0; o < sizeof others / sizeof others[0]; o++)
        if (has_name(others[o].calls, name, length))
            return true;
    return false;
}

/* The functions that a header declares; returns how many. */
static size_t check_header(const char *path)
{
    char line[512];
    size_t found = 0;
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (fgets(line, sizeof line, f)) {
        char *name = strstr(line, "gp_"), *end = NULL;
        if (strncmp(line, "GP_API ", 7) != 0)
            continue;
        for (; name; name = strstr(name + 1, "gp_")) {
            end = name + strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
            if (*end == '(')
                break;
        }
        ck_assert_msg(name != NULL, "%s: %s", path, line);
        *end = 0;
        ck_assert_msg(is_known(name), "%s is in no row of counts_calls.c, nor among the others",
                      name);
        found++;
    }
    fclose(f);
    return found;
}

/* Where the source is: other machines run the program without it. */
START_TEST(test_every_call_of_the_headers_has_a_row)
{
    static const char *const headers[] = {T_HEADERS};
    char path[1024];
    size_t found = 0;
    FILE *f = fopen(T_HEADERS_FOLDER "/gp.h", "r");
    if (!f)
        return;
    fclose(f);
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++) {
        snprintf(path, sizeof path, "%s/%s", T_HEADERS_FOLDER, headers[h]);
        found += check_header(path);
    }
    ck_assert_uint_gt(found, 100);
}
END_TEST

/* ---- inputs ---------------------------------------------------------------------------------- */

#define ONE_MORE(type, name, bytes) +1
enum { INPUTS = 0 COUNTS_INPUTS(ONE_MORE) };

/* Inputs and outputs with what they lie in; host: the same inputs for the oracle. */
struct data {
    counts c, host;
    gp_context *oracle;
    t_array in[INPUTS], out[COUNTS_OUTPUTS], numbers;
    size_t out_bytes;
};

static gp_context *oracle_new(void)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx = NULL;
    o.backend = GP_BACKEND_CPU;
    o.threads = 1;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

static struct data *data_new(size_t items)
{
    struct data *d = t_host(sizeof *d);
    int i = 0;
    if (items < 2 * COUNTS_COLUMNS) /* what a product reads of two columns */
        items = 2 * COUNTS_COLUMNS;
    *d = (struct data){.c = {.items = items, .segments = items / 8}};
    counts *const c = &d->c;
    d->host = *c;
#define MAKE(type, name, bytes) d->host.name = t_host(bytes);
    COUNTS_INPUTS(MAKE)
    counts_make(&d->host, t_seed());
#define PUT(type, name, bytes)                                                                     \
    d->in[i] = t_new_from(d->host.name, bytes, 0);                                                 \
    c->name = d->in[i++].data;
    COUNTS_INPUTS(PUT)
    d->oracle = oracle_new();
    d->numbers = t_new(2 * sizeof(uint64_t), 0);
    d->out_bytes = 24 * items + COUNTS_ROOM;
    for (i = 0; i < COUNTS_OUTPUTS; i++) {
        d->out[i] = t_new(d->out_bytes, 0);
        c->out[i] = d->out[i].data;
    }
    return d;
}

static void data_free(struct data *d)
{
    for (int i = 0; i < INPUTS; i++)
        t_free(&d->in[i]);
#define FREE(type, name, bytes) free(d->host.name);
    COUNTS_INPUTS(FREE)
    for (int i = 0; i < COUNTS_OUTPUTS; i++)
        t_free(&d->out[i]);
    t_free(&d->numbers);
    gp_context_destroy(d->oracle);
    free(d);
}

/* The oracle's call, of which the first number is n. */
static counts numbers_of(const counts_row *row, const struct data *d, size_t n, char *outputs)
{
    counts c = d->host;
    counts_numbers(row, d->host.offsets, n, &c);
    for (int i = 0; i < COUNTS_OUTPUTS; i++)
        c.out[i] = outputs + (size_t)i * d->out_bytes;
    c.any_algorithm = true;
    return c;
}

/* The same with bounds, and the numbers in memory. */
static counts bounds_of(const counts_row *row, const struct data *d)
{
    const uint64_t *numbers = d->numbers.data;
    counts c = d->c;
    counts_bounds(row, d->host.offsets, &c);
    c.device_n = numbers;
    c.device_m = numbers + 1;
    return c;
}

/* ---- the test -------------------------------------------------------------------------------- */

static void poison(struct data *d)
{
    for (int i = 0; i < COUNTS_OUTPUTS; i++)
        t_poison(&d->out[i]);
}

static void read_outputs(const struct data *d, char *host)
{
    for (int i = 0; i < COUNTS_OUTPUTS; i++) {
        t_get(&d->out[i], host + (size_t)i * d->out_bytes, d->out_bytes);
        t_check_guards(&d->out[i]);
    }
}

/* More than the bounds in memory are the bounds. */
static void put_numbers(struct data *d, const counts *expected, bool more)
{
    const uint64_t numbers[2] = {more ? UINT64_MAX : expected->n, more ? UINT64_MAX : expected->m};
    t_put(&d->numbers, numbers, sizeof numbers);
}

static void expect(struct data *d, const counts_row *row, const counts *call, size_t n, bool more,
                   char *expected, char *actual)
{
    counts c = numbers_of(row, d, n, expected);
    char name[128];
    if (row->kind == COUNTS_ROWS && more)
        c.m = call->m;
    memset(expected, T_POISON, COUNTS_OUTPUTS * d->out_bytes);
    T_OK(row->call(d->oracle, &c));
    poison(d);
    put_numbers(d, &c, more);
    if (t_is_cuda())
        t_replay();
    else
        T_OK(row->call(t_ctx(), call));
    read_outputs(d, actual);
    for (int i = 0; i < COUNTS_OUTPUTS; i++) {
        snprintf(name, sizeof name, "output %d of %s with %zu of %zu items%s", i, row->name, n,
                 call->n, more ? ", and a number above" : "");
        t_same_bytes(name, expected + (size_t)i * d->out_bytes, actual + (size_t)i * d->out_bytes,
                     d->out_bytes);
    }
}

/* Some scans have no algorithm of that name on the CPU. */
static bool is_here(struct data *d, const counts_row *row)
{
    counts c = d->c;
    counts_numbers(row, d->host.offsets, 0, &c);
    const gp_status s = row->call(t_ctx(), &c);
    if (s != GP_ERROR_UNSUPPORTED)
        T_OK(s);
    return s == GP_OK;
}

static void test_row(const counts_row *row, size_t items, const size_t *numbers, size_t count)
{
    struct data *d = data_new(items);
    char *expected = t_host(COUNTS_OUTPUTS * d->out_bytes);
    char *actual = t_host(COUNTS_OUTPUTS * d->out_bytes);
    const counts call = bounds_of(row, d);
    put_numbers(d, &call, false);
    if (is_here(d, row)) {
        T_OK(row->call(t_ctx(), &call)); /* the workspace grows */
        if (t_capture_begin()) {
            T_OK(row->call(t_ctx(), &call));
            t_capture_end();
        }
        for (size_t i = 0; i < count; i++)
            if (numbers[i] < call.n)
                expect(d, row, &call, numbers[i], false, expected, actual);
        expect(d, row, &call, call.n, false, expected, actual);
        expect(d, row, &call, call.n, true, expected, actual);
        t_capture_free();
    }
    free(expected);
    free(actual);
    data_free(d);
}

/* A number that is no uint64_t of the context's memory, or that an output would overwrite: the call
 * is refused. Scans and reductions read theirs before they write. */
START_TEST(test_numbers_are_checked)
{
    const counts_row *row = &counts_rows[_i];
    struct data *d = data_new(t_at_most(1000));
    counts call = bounds_of(row, d);
    const bool reads_first =
        strcmp(row->calls, "gp_scan") == 0 || !strcmp(row->calls, "gp_reduce_by");
    const uint64_t *const number = call.device_n;
    put_numbers(d, &call, false);
    if (is_here(d, row)) {
        call.device_n = (const uint64_t *)(const void *)((const char *)number + 4);
        T_STATUS(GP_ERROR_POINTER, row->call(t_ctx(), &call));
        call.device_n = (const uint64_t *)(const void *)(call.out[0]);
        if (!reads_first)
            T_STATUS(GP_ERROR_OVERLAP, row->call(t_ctx(), &call));
    }
    data_free(d);
}
END_TEST

/* A bucket of a sort has up to 9216 items. */
START_TEST(test_numbers_in_memory)
{
    static const size_t numbers[] = {0, 1, 2, 33, 1000, 0, 3000, 9216, 9217, 19999};
    test_row(&counts_rows[_i], t_at_most(20000), numbers, sizeof numbers / sizeof numbers[0]);
}
END_TEST

/* Bounds at which sorts have other kernels. */
START_TEST(test_numbers_below_large_bounds)
{
    static const size_t numbers[] = {0, 1024, 9217, 300000, 2500000};
    const counts_row *row = &counts_rows[_i];
    if (strstr(row->calls, "sort") || strstr(row->calls, "top_k") || strstr(row->calls, "csr"))
        test_row(row, (size_t)9 << 19, numbers, sizeof numbers / sizeof numbers[0]);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("counts");
    TCase *c = t_case(s, "rows");
    tcase_add_test(c, test_every_call_of_the_headers_has_a_row);
    c = t_case(s, "numbers");
    tcase_add_loop_test(c, test_numbers_in_memory, 0, (int)counts_row_count);
    tcase_add_loop_test(c, test_numbers_are_checked, 0, (int)counts_row_count);
    c = t_case(s, "large");
    tcase_add_loop_test(c, test_numbers_below_large_bounds, 0, (int)counts_row_count);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
