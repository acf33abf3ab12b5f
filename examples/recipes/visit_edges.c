/* SPDX-License-Identifier: MIT */
/*
 * A breadth-first search on the CPU: a function for the edges of each frontier, which threads share
 * equally however many edges a vertex has. On a GPU: frontier_edges.cu.
 */
#include <string.h>

#include "cli.h"
#include "recipe.h"

enum { VERTICES = 20000, EDGES = 200000 };
static const uint32_t unseen = UINT32_MAX;

struct search {
    const uint32_t *targets;
    uint32_t *level, next;
    uint8_t *reached;
};

/* Several threads may reach a vertex at once: one of them is first. */
static void visit(void *arg, const gp_edges *edges)
{
    const struct search *s = arg;
    for (uint64_t e = edges->begin; e < edges->end; e++) {
        const uint32_t to = s->targets[e];
        uint32_t before = unseen;
        if (__atomic_compare_exchange_n(&s->level[to], &before, s->next, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            s->reached[to] = 1;
    }
}

/* The same by a queue. */
static int is_right(const uint32_t *pointers, const uint32_t *targets, const uint32_t *level)
{
    static uint32_t expected[VERTICES], queue[VERTICES];
    uint32_t end = 1;
    memset(expected, 0xff, sizeof expected);
    expected[0] = queue[0] = 0;
    for (uint32_t i = 0; i < end; i++)
        for (uint32_t e = pointers[queue[i]]; e < pointers[queue[i] + 1]; e++)
            if (expected[targets[e]] == unseen) {
                expected[targets[e]] = expected[queue[i]] + 1;
                queue[end++] = targets[e];
            }
    return memcmp(expected, level, sizeof expected) == 0;
}

/* Random, and skewed: half of the edges leave one vertex of a hundred. */
static void make_graph(uint32_t *pointers, uint32_t *targets)
{
    static uint32_t from[EDGES], to[EDGES];
    uint64_t seed = 1, nnz;
    gp_coo_desc pattern = GP_COO_DESC_INIT;
    pattern.value_dtype = (gp_dtype)0;
    pattern.duplicates = GP_DUPLICATES_KEEP;
    for (uint32_t i = 0; i < EDGES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        from[i] = (uint32_t)(seed >> 33) % (i % 2 ? VERTICES : VERTICES / 100);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        to[i] = (uint32_t)(seed >> 33) % VERTICES;
    }
    need(gp_csr_from_coo(ctx, &pattern, VERTICES, VERTICES, from, to, NULL, EDGES, pointers,
                         targets, NULL, &nnz));
}

int main(int argc, char **argv)
{
    static uint32_t pointers[VERTICES + 1], targets[EDGES], level[VERTICES], frontier[VERTICES];
    static uint8_t reached[VERTICES];
    struct search s = {targets, level, 1, reached};
    uint64_t count = 1;
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    cli_alone("visit_edges", "A breadth-first search by a function for edges, checked.", argc,
              argv);
    options.backend = GP_BACKEND_CPU;
    need(gp_context_create(&ctx, &options));
    make_graph(pointers, targets);
    memset(level, 0xff, sizeof level);
    level[0] = 0;
    desc.index_dtype = desc.offset_dtype = GP_U32;
    for (; count; s.next++) {
        memset(reached, 0, sizeof reached);
        need(gp_csr_visit_edges(ctx, &desc, VERTICES, EDGES, pointers, frontier, (size_t)count,
                                visit, &s));
        need(gp_compact_indices(ctx, GP_U32, reached, VERTICES, frontier, &count));
    }
    const int right = is_right(pointers, targets, level);
    printf("%u levels, %s\n", s.next - 1, right ? "right" : "wrong");
    gp_context_destroy(ctx);
    return !right;
}
