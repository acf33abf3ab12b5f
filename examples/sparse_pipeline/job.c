/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUNS_MAX = 5 };
static const double runs_seconds = 0.2;

void job_need(struct job *j, gp_status status)
{
    if (status == GP_OK)
        return;
    const char *text = gp_last_error(j->ctx);
    report_clear(&j->report);
    /* Calls without a context leave their text with the thread. */
    fprintf(stderr, "sparse_pipeline: %s\n", *text ? text : gp_last_error(NULL));
    exit(EXIT_ERROR);
}

void job_need_host(struct job *j, bool good)
{
    if (good)
        return;
    report_clear(&j->report);
    fprintf(stderr, "sparse_pipeline: out of memory\n");
    exit(EXIT_ERROR);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

void *job_array(struct job *j, size_t count, size_t item_bytes)
{
    int place = 0;
    while (place < j->num_arrays && j->arrays[place])
        place++;
    job_need_host(j, place < JOB_ARRAYS);
    /* Calls take no NULL for an array that has items; of those without, one byte is as good. */
    job_need(j, gp_malloc(j->ctx, count * item_bytes + !count, &j->arrays[place]));
    j->num_arrays += place == j->num_arrays;
    return j->arrays[place];
}

void *job_array_of(struct job *j, size_t count, size_t item_bytes, const void *items)
{
    void *array = job_array(j, count, item_bytes);
    if (count)
        job_need(j, gp_copy(j->ctx, items, count * item_bytes, array));
    job_need(j, gp_context_synchronize(j->ctx)); /* the items need not live longer */
    return array;
}

void job_drop(struct job *j, void *array)
{
    for (int i = 0; i < j->num_arrays; i++)
        if (j->arrays[i] == array)
            j->arrays[i] = NULL;
    job_need(j, gp_free(j->ctx, array));
}

void *job_host_array(struct job *j, size_t count, size_t item_bytes)
{
    void *array = malloc(count * item_bytes + 1);
    job_need_host(j, array != NULL);
    return array;
}

void job_fetch(struct job *j, const void *from, size_t bytes, void *to)
{
    if (bytes)
        job_need(j, gp_copy(j->ctx, from, bytes, to));
    job_need(j, gp_context_synchronize(j->ctx));
}

uint64_t job_fetch_count(struct job *j, const uint64_t *from)
{
    uint64_t count;
    job_fetch(j, from, sizeof count, &count);
    return count;
}

/* ---- times and lines ------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double job_time(struct job *j, const char *stage, void (*work)(struct job *j, void *state),
                void *state)
{
    double seconds[RUNS_MAX], spent = 0.0;
    int runs = 0;
    report_begin(&j->report, stage);
    job_need(j, gp_context_synchronize(j->ctx));
    do {
        const double begin = report_now();
        work(j, state);
        job_need(j, gp_context_synchronize(j->ctx));
        seconds[runs] = report_now() - begin;
        spent += seconds[runs++];
    } while (j->options.oracle && runs < RUNS_MAX && spent < runs_seconds);
    qsort(seconds, (size_t)runs, sizeof seconds[0], compare_doubles);
    return seconds[(runs - 1) / 2];
}

void job_line(struct job *j, const struct report_stage *stage, bool good, const char *format, ...)
{
    va_list list;
    char result[REPORT_RESULT_BYTES];
    const int used = snprintf(result, sizeof result, "%s", good ? "" : "WRONG: ");
    va_start(list, format);
    vsnprintf(result + used, sizeof result - (size_t)used, format, list);
    va_end(list);
    report_line(&j->report, stage, result);
    j->different |= !good;
}

void job_note(struct job *j, const char *stage, const char *format, ...)
{
    va_list list;
    report_clear(&j->report);
    printf("%-*s ", REPORT_NAME, stage);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    fflush(stdout);
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* What a copy of more bytes than caches hold reads and writes in a second. */
static void measure_copy(struct job *j)
{
    const size_t bytes =
        gp_context_backend(j->ctx) == GP_BACKEND_CUDA ? (size_t)1 << 28 : (size_t)1 << 25;
    const uint64_t zero = 0;
    void *from = job_array(j, bytes, 1), *to = job_array(j, bytes, 1);
    job_need(j, gp_fill(j->ctx, 8, &zero, bytes / 8, from));
    for (int run = 0; run < 4; run++) {
        job_need(j, gp_context_synchronize(j->ctx));
        const double begin = report_now();
        job_need(j, gp_copy(j->ctx, from, bytes, to));
        job_need(j, gp_context_synchronize(j->ctx));
        const double rate = 2.0 * (double)bytes / (report_now() - begin);
        j->report.copy_rate = rate > j->report.copy_rate ? rate : j->report.copy_rate;
    }
    job_drop(j, from);
    job_drop(j, to);
}

void job_begin(struct job *j, int argc, char **argv)
{
    gp_context_options c = GP_CONTEXT_OPTIONS_INIT;
    options_read(&j->options, argc, argv);
    c.backend = j->options.backend;
    c.threads = (int)j->options.threads;
    job_need(j, gp_context_create(&j->ctx, &c));
    j->report.terminal = isatty(STDOUT_FILENO) == 1;
    measure_copy(j);
}

int job_end(struct job *j)
{
    for (int i = 0; i < j->num_arrays; i++)
        gp_free(j->ctx, j->arrays[i]);
    gp_context_destroy(j->ctx);
    coo_free(&j->input);
    csr_free(&j->host);
    csr_free(&j->host_links);
    if (j->options.oracle)
        printf("check %s\n", j->different ? "FAILED" : "passed");
    return j->different ? EXIT_DIFFERENT : EXIT_GOOD;
}
