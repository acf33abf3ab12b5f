/* SPDX-License-Identifier: MIT */
/*
 * The loop over the edges of a frontier, one edge for each thread however many a vertex has:
 * lengths, their offsets, and for every edge its vertex and its place there. Here it is the step of
 * a breadth-first search, whose numbers of vertices stay on the GPU. Exit code 77: no GPU.
 */
#include <cuda_runtime.h>

#include <vector>

#include "cli.h"
#include "recipe.h"

constexpr uint32_t vertices = 20000, edges = 200000, unseen = ~0u;

static void need_cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "frontier_edges: %s\n", cudaGetErrorString(error));
    exit(1);
}

/* A graph in CSR, and a frontier of *count vertices. */
struct graph {
    const uint32_t *pointers, *targets, *frontier;
    const uint64_t *count;
};

/* Grid: any. lengths[i] = edges of vertex i of the frontier. */
__global__ void lengths_k(graph g, uint32_t *lengths)
{
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < *g.count;
         i += gridDim.x * blockDim.x)
        lengths[i] = g.pointers[g.frontier[i] + 1] - g.pointers[g.frontier[i]];
}

/* Grid: any. Edge i of the frontier is edge places[i] of its vertex owners[i]. */
__global__ void visit_k(graph g, const uint32_t *offsets, const uint32_t *owners,
                        const uint32_t *places, uint32_t next, uint32_t *level, uint8_t *reached)
{
    const uint32_t total = offsets[*g.count];
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += gridDim.x * blockDim.x) {
        const uint32_t to = g.targets[g.pointers[g.frontier[owners[i]]] + places[i]];
        if (atomicCAS(&level[to], unseen, next) == unseen)
            reached[to] = 1;
    }
}

/* Random, and skewed: half of the edges leave one vertex of a hundred. */
static void make_graph(std::vector<uint32_t> &from, std::vector<uint32_t> &to)
{
    uint64_t seed = 1;
    for (uint32_t i = 0; i < edges; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        from.push_back((uint32_t)(seed >> 33) % (i % 2 ? vertices : vertices / 100));
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        to.push_back((uint32_t)(seed >> 33) % vertices);
    }
}

static std::vector<uint32_t> levels_of(const std::vector<uint32_t> &pointers,
                                       const std::vector<uint32_t> &targets)
{
    std::vector<uint32_t> level(vertices, unseen), queue = {0};
    level[0] = 0;
    for (size_t i = 0; i < queue.size(); i++)
        for (uint32_t e = pointers[queue[i]]; e < pointers[queue[i] + 1]; e++)
            if (level[targets[e]] == unseen) {
                level[targets[e]] = level[queue[i]] + 1;
                queue.push_back(targets[e]);
            }
    return level;
}

/* One step: the edges of the frontier, then the vertices that they reach first as the new one. */
static void step(const graph &g, uint32_t *lengths, uint32_t *offsets, uint32_t *owners,
                 uint32_t *places, uint32_t next, uint32_t *level, uint8_t *reached,
                 uint32_t *frontier, uint64_t *count, cudaStream_t stream)
{
    gp_scan_desc sums = GP_SCAN_DESC_INIT;
    gp_balance_desc search = GP_BALANCE_DESC_INIT;
    gp_compact_desc keep = GP_COMPACT_DESC_INIT;
    sums.kind = GP_SCAN_ROW_POINTERS;
    sums.in_dtype = GP_U32;
    sums.device_n = g.count;
    search.offset_dtype = search.index_dtype = GP_U32;
    search.device_num_segments = g.count; /* the offsets say how many edges there are */
    keep.kind = GP_COMPACT_INDICES;
    keep.index_dtype = GP_U32;
    lengths_k<<<64, 256, 0, stream>>>(g, lengths);
    need(gp_scan(ctx, &sums, lengths, vertices, offsets));
    need(gp_balance_search_by(ctx, &search, offsets, vertices, edges, owners, places));
    need_cuda(cudaMemsetAsync(reached, 0, vertices, stream));
    visit_k<<<64, 256, 0, stream>>>(g, offsets, owners, places, next, level, reached);
    need(gp_compact_by(ctx, &keep, NULL, reached, vertices, frontier, count));
}

int main(int argc, char **argv)
{
    int devices = 0;
    cli_alone("frontier_edges", "A breadth-first search by the edges of each frontier, checked.",
              argc, argv);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return puts("frontier_edges: no GPU"), 77;
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    options.backend = GP_BACKEND_CUDA;
    need(gp_context_create(&ctx, &options));
    const cudaStream_t stream = (cudaStream_t)gp_context_stream(ctx);

    std::vector<uint32_t> from, to, pointers(vertices + 1), targets(edges);
    make_graph(from, to);
    gp_coo_desc pattern = GP_COO_DESC_INIT;
    pattern.value_dtype = (gp_dtype)0;
    void *rows = device(edges * 4, from.data()), *cols = device(edges * 4, to.data());
    uint32_t *p = (uint32_t *)device((vertices + 1) * 4, NULL);
    uint32_t *t = (uint32_t *)device(edges * 4, NULL);
    uint64_t one = 1, count = 1, *n = (uint64_t *)device(8, &one),
             *nnz = (uint64_t *)device(8, NULL);
    need(gp_csr_from_coo(ctx, &pattern, vertices, vertices, rows, cols, NULL, edges, p, t, NULL,
                         nnz));
    fetch(p, (vertices + 1) * 4, pointers.data());
    fetch(t, edges * 4, targets.data());

    std::vector<uint32_t> level(vertices, unseen);
    const uint32_t first = level[0] = 0;
    uint32_t *l = (uint32_t *)device(vertices * 4, level.data());
    uint32_t *frontier = (uint32_t *)device(vertices * 4, NULL);
    need(gp_copy(ctx, &first, 4, frontier));
    uint32_t *lengths = (uint32_t *)device(vertices * 4, NULL);
    uint32_t *offsets = (uint32_t *)device((vertices + 1) * 4, NULL);
    uint32_t *owners = (uint32_t *)device(edges * 4, NULL),
             *places = (uint32_t *)device(edges * 4, NULL);
    uint8_t *reached = (uint8_t *)device(vertices, NULL);
    uint32_t depth = 0;
    for (; count; depth++) {
        step({p, t, frontier, n}, lengths, offsets, owners, places, depth + 1, l, reached, frontier,
             n, stream);
        fetch(n, 8, &count);
    }
    fetch(l, vertices * 4, level.data());
    const bool right = level == levels_of(pointers, targets);
    printf("%u levels, %s\n", depth, right ? "right" : "wrong");
    gp_context_destroy(ctx);
    return !right;
}
