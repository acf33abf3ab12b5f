/* SPDX-License-Identifier: MIT */
/*
 * Front door: the loop over the edges of a frontier, on the CPU. The edges before each row of the
 * frontier are row pointers of a matrix that has these rows alone; its merge path is cut into
 * equal shares.
 */
#include <inttypes.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"

struct visit {
    gp_context *ctx;
    gp_dtype index_dtype, offset_dtype;
    uint64_t num_rows, nnz, places;
    const void *pointers, *frontier;
    void (*visit)(void *arg, const gp_edges *edges);
    void *arg;
    uint64_t *before; /* edges before each place, and all */
};

static uint64_t row_of(const struct visit *v, uint64_t place)
{
    return v->frontier ? gpi_word_at(v->frontier, gpi_dtype_bytes(v->index_dtype), place) : place;
}

static uint64_t pointer_of(const struct visit *v, uint64_t row)
{
    return gpi_word_at(v->pointers, gpi_dtype_bytes(v->offset_dtype), row);
}

/* Whether the edges of a place can be visited; reports the first thing that is wrong. */
static bool is_good(const struct visit *v, uint64_t place)
{
    const uint64_t row = row_of(v, place);
    if (row >= v->num_rows) {
        const struct gpi_reporter r = gpi_reporter_of(v->ctx, "frontier", v->index_dtype);
        gpi_report(&r, GPI_RULE_BELOW, place, row, v->num_rows);
        return false;
    }
    const uint64_t begin = pointer_of(v, row), end = pointer_of(v, row + 1);
    const struct gpi_reporter r = gpi_reporter_of(v->ctx, "row_pointers", v->offset_dtype);
    if (begin <= end && end <= v->nnz)
        return true;
    if (end < begin)
        gpi_report(&r, GPI_RULE_FALLS, row + 1, end, begin);
    else
        gpi_report(&r, GPI_RULE_BELOW, row + 1, end, v->nnz + 1);
    return false;
}

/* The edges before each place, by one thread: little beside visiting them. Whether all are good. */
static bool count_edges(const struct visit *v)
{
    uint64_t sum = 0;
    for (uint64_t place = 0; place < v->places; place++) {
        if (!is_good(v, place))
            return false;
        v->before[place] = sum;
        const uint64_t row = row_of(v, place);
        sum += pointer_of(v, row + 1) - pointer_of(v, row);
    }
    v->before[v->places] = sum;
    return true;
}

static uint64_t steps_of(const struct visit *v)
{
    return v->places + v->before[v->places];
}

/* The rows whose end lies before a step. */
static uint64_t places_before(const struct visit *v, uint64_t step)
{
    return gpi_merge_path_search(v->before, 8, 0, v->places, v->before[v->places], step);
}

static void visit_share(void *arg, size_t share)
{
    const struct visit *v = arg;
    const uint64_t first = (uint64_t)share * GP_EDGES_SHARE;
    const uint64_t last = gpi_min(first + GP_EDGES_SHARE, steps_of(v));
    const uint64_t place_end = places_before(v, last), edge_end = last - place_end;
    uint64_t place = places_before(v, first), edge = first - place;
    for (; place <= place_end && edge < edge_end; place++) {
        const uint64_t stop = gpi_min(v->before[place + 1], edge_end);
        if (stop == edge)
            continue;
        const uint64_t row = row_of(v, place);
        const uint64_t begin = pointer_of(v, row) + (edge - v->before[place]);
        const gp_edges edges = {place, row, begin, begin + (stop - edge), edge, share};
        v->visit(v->arg, &edges);
        edge = stop;
    }
}

static gp_status visit_edges(const struct visit *given, const char *f)
{
    struct visit v = *given;
    GPI_FRAME(frame, v.ctx, f, gpi_piece((size_t)(v.places + 1) * sizeof *v.before));
    v.before = gpi_frame_take(&frame, (size_t)(v.places + 1) * sizeof *v.before);
    if (!count_edges(&v))
        return GP_OK;
    const uint64_t shares = (steps_of(&v) + GP_EDGES_SHARE - 1) / GP_EDGES_SHARE;
    gpi_parallel_for(v.ctx->threads, (size_t)shares, visit_share, &v);
    return GP_OK;
}

static gp_status check_frontier(gp_context *ctx, const char *f, const struct visit *v)
{
    GPI_TRY(gpi_check_n(ctx, f, "num_frontier", v->places));
    if (!v->frontier && v->places != v->num_rows && v->places)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: num_frontier is %" PRIu64 ", expected %" PRIu64
                        ", which is num_rows, as frontier is NULL",
                        f, v->places, v->num_rows);
    if (!v->visit)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: visit is NULL", f);
    return GP_OK;
}

gp_status gp_csr_visit_edges(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows, size_t nnz,
                             const void *row_pointers, const void *frontier, size_t num_frontier,
                             void (*visit)(void *arg, const gp_edges *edges), void *arg)
{
    static const char f[] = "gp_csr_visit_edges";
    gp_csr_desc d;
    GPI_CALL(ctx, f);
    if (ctx->backend != GP_BACKEND_CPU)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: ctx is a CUDA context, expected a CPU one",
                        f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, true, false, desc, &d));
    GPI_TRY(gpi_csr_check_count(ctx, f, true, "num_rows", num_rows, d.index_dtype));
    GPI_TRY(gpi_csr_check_nnz(ctx, f, true, nnz, d.offset_dtype));
    struct visit v = {.ctx = ctx,
                      .index_dtype = d.index_dtype,
                      .offset_dtype = d.offset_dtype,
                      .num_rows = num_rows,
                      .nnz = nnz,
                      .places = num_frontier,
                      .pointers = row_pointers,
                      .frontier = frontier,
                      .visit = visit,
                      .arg = arg};
    GPI_TRY(check_frontier(ctx, f, &v));
    const size_t ib = gpi_dtype_bytes(d.index_dtype), ob = gpi_dtype_bytes(d.offset_dtype);
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&d),
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ_IF("frontier", frontier, num_frontier * ib, ib),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 4));
    v.nnz = gpi_count_now(ctx, &d.device_nnz, nnz);
    v.num_rows = gpi_count_now(ctx, &d.device_num_rows, num_rows);
    if (!frontier)
        v.places = gpi_min(v.places, v.num_rows);
    const struct gpi_content rule =
        GPI_ROW_POINTERS("row_pointers", row_pointers, v.num_rows, d.offset_dtype, v.nnz);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, visit_edges(&v, f));
}

gp_status gp_csr_visit_edges_workspace_bytes(const gp_target *target, size_t num_frontier,
                                             size_t *bytes)
{
    static const char f[] = "gp_csr_visit_edges_workspace_bytes";
    gp_target t;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_n(NULL, f, "num_frontier", num_frontier));
    *bytes = gpi_piece((num_frontier + 1) * sizeof(uint64_t));
    return GP_OK;
}
