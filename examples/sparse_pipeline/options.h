/* SPDX-License-Identifier: MIT */
/* The command line of sparse_pipeline. */
#ifndef EXAMPLE_OPTIONS_H
#define EXAMPLE_OPTIONS_H

#include <gp/gp.h>

#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *file, *load; /* NULL: not given */
    const char *save, *picture;
    uint64_t scale; /* of R-MAT; 0: not given */
    uint64_t edge_factor, seed, threads;
    uint64_t max_memory; /* bytes; 0: by the size of the file */
    uint64_t source;     /* of --bfs, from 1; 0: the vertex with most links */
    gp_backend backend;
    double tolerance;
    bool bfs, components, triangles;
    bool oracle;
};

/* Ends the program where the command line is wrong, or asks for help. */
void options_read(struct options *o, int argc, char **argv);

#endif
