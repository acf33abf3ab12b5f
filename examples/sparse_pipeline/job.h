/* SPDX-License-Identifier: MIT */
/* What the stages of sparse_pipeline share: the context, the arrays, and how they end. */
#ifndef EXAMPLE_JOB_H
#define EXAMPLE_JOB_H

#include <gp/gp.h>

#include "coo.h"
#include "options.h"
#include "oracle.h"
#include "report.h"

enum { EXIT_GOOD = 0, EXIT_ERROR = 1, EXIT_DIFFERENT = 3 }; /* 2: bad options */
enum { JOB_ARRAYS = 96 };

static const double job_damping = 0.85; /* of PageRank */

struct job {
    gp_context *ctx;
    struct options options;
    struct report report;
    bool different;  /* from the oracle */
    char title[320]; /* what the input is */

    /* On the host: what was read, and what the oracle made of it. */
    struct coo input;
    struct csr host, host_links;

    /* In the context's memory. A link goes from a column to a row: row j of links has the vertices
     * that j links to. The values of links are magnitudes. */
    struct coo entries;
    struct csr a, links;
    double *magnitudes;               /* of the values of a */
    uint32_t *in_degree, *out_degree; /* of rows and columns */
    uint32_t busiest;                 /* the first column with most entries */
    double *weights;                  /* magnitudes, scaled to sum 1 in each column */
    uint32_t *empty;                  /* the columns whose sum is 0, */
    uint64_t *num_empty;              /* and how many there are */
    double *rank;                     /* NULL: PageRank was left out */

    void *arrays[JOB_ARRAYS]; /* all of job_array() */
    int num_arrays;
};

/* End the program with exit status 1, and what gp's last error was, unless the status is GP_OK. */
void job_need(struct job *j, gp_status status);
/* The same for lack of host memory. */
void job_need_host(struct job *j, bool good);

/* count items in the context's memory, until job_drop() or the end. */
void *job_array(struct job *j, size_t count, size_t item_bytes);
/* An array that holds the items. */
void *job_array_of(struct job *j, size_t count, size_t item_bytes, const void *items);
void job_drop(struct job *j, void *array);
/* The same on the host, for free(). */
void *job_host_array(struct job *j, size_t count, size_t item_bytes);

/* Copy to the host and wait. */
void job_fetch(struct job *j, const void *from, size_t bytes, void *to);
uint64_t job_fetch_count(struct job *j, const uint64_t *from);

/* Seconds of work(): of its one run, or the median of several if results are compared. */
double job_time(struct job *j, const char *stage, void (*work)(struct job *j, void *state),
                void *state);

/* Print the line of a stage. A result that is not good makes the job a failure. */
void job_line(struct job *j, const struct report_stage *stage, bool good, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A line without figures. */
void job_note(struct job *j, const char *stage, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void job_begin(struct job *j, int argc, char **argv);
int job_end(struct job *j);

#endif
