/* SPDX-License-Identifier: MIT */
/*
 * The stages of sparse_pipeline, most in a file of their own. A stage does its work by calls of gp,
 * compares the result with that of serial loops, and prints a line.
 */
#ifndef EXAMPLE_STAGES_H
#define EXAMPLE_STAGES_H

#include "job.h"

/* One of these. */
void stage_read(struct job *j);     /* a Matrix Market file */
void stage_generate(struct job *j); /* an R-MAT graph */
void stage_load(struct job *j);     /* a matrix of stage_save() */

void stage_csr(struct job *j);     /* not of a loaded matrix */
void stage_links(struct job *j);   /* the transpose, with magnitudes for values */
void stage_degrees(struct job *j); /* entries per row and column */
void stage_product(struct job *j); /* y = A x */

/* Of a square matrix. */
bool stage_scale(struct job *j); /* columns to sum 1; false: they have no such sum */
void stage_pagerank(struct job *j);
void stage_bfs(struct job *j);
void stage_components(struct job *j);
void stage_triangles(struct job *j);
void stage_top(struct job *j);

void stage_save(struct job *j);
void stage_picture(struct job *j);

#endif
