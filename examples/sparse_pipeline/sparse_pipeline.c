/* SPDX-License-Identifier: MIT */
/*
 * A graph from a file, or a generator, to answers: compressed rows, its transpose, degrees, a
 * product, PageRank, breadth-first search, components, triangles; on the GPU or the CPU, timed
 * stage by stage and compared with serial loops. sparse_pipeline --help says how.
 */
#include "input.h"
#include "stages.h"

#include <stdio.h>

static void generate(struct job *j)
{
    const struct options *o = &j->options;
    char what[128];
    const double vertices = (double)(UINT64_C(1) << o->scale);
    const double edges = vertices * (double)o->edge_factor;
    if (o->max_memory)
        input_allow("the graph", vertices, vertices, edges, (double)o->max_memory);
    snprintf(what, sizeof what, "R-MAT scale %d, factor %llu, seed %llu", (int)o->scale,
             (unsigned long long)o->edge_factor, (unsigned long long)o->seed);
    if (edges > UINT32_MAX)
        input_allow_file(o, what, vertices, vertices, edges, 0);
    input_title(j, what, (size_t)vertices, (size_t)vertices, (size_t)edges);
    stage_generate(j);
}

/* What needs rows and columns to be the same things. */
static void of_vertices(struct job *j)
{
    if (j->a.num_rows != j->a.num_cols || !j->a.num_rows) {
        job_note(j, "PageRank", "left out: the matrix is not square");
        return;
    }
    if (stage_scale(j))
        stage_pagerank(j);
    if (j->options.bfs)
        stage_bfs(j);
    if (j->options.components)
        stage_components(j);
    if (j->options.triangles)
        stage_triangles(j);
    if (j->rank)
        stage_top(j);
}

int main(int argc, char **argv)
{
    struct job j = {0};
    job_begin(&j, argc, argv);
    if (j.options.load) {
        stage_load(&j);
    } else {
        if (j.options.file)
            stage_read(&j);
        else
            generate(&j);
        stage_csr(&j);
    }
    if (j.options.save)
        stage_save(&j);
    stage_links(&j);
    stage_degrees(&j);
    if (j.options.picture)
        stage_picture(&j);
    stage_product(&j);
    of_vertices(&j);
    return job_end(&j);
}
