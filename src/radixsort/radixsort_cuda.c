/* SPDX-License-Identifier: MIT */
/* Sorts on CUDA around the engines: the table of engines by architecture, the arrays that an engine
 * gets, their workspace, and gathers by sorted positions. */
#include "radixsort/radixsort_internal.h"

#include "core/check.h"
#include "core/cuda.h"
#include "core/variants.h"
#include "core/workspace.h"
#include "fill/fill_internal.h"
#include "gather/gather_internal.h"

/* ---- the code, by architecture ---- */

#define DECLARE(sm)                                                                                \
    gpi_radix_layout_fn gpi_radix_layout_sm##sm;                                                   \
    extern const struct gpi_radix_cuda_kernels gpi_radixsort_kernels_sm##sm;                       \
    extern const struct gpi_radix_engine gpi_radix_k8v0_sm##sm, gpi_radix_k8v4_sm##sm,             \
        gpi_radix_k8v8_sm##sm, gpi_radix_k16v0_sm##sm, gpi_radix_k16v4_sm##sm,                     \
        gpi_radix_k16v8_sm##sm, gpi_radix_k32v0_sm##sm, gpi_radix_k32v4_sm##sm,                    \
        gpi_radix_k32v8_sm##sm, gpi_radix_k64v0_sm##sm, gpi_radix_k64v4_sm##sm,                    \
        gpi_radix_k64v8_sm##sm;
#define ENGINES(keys, sm)                                                                          \
    {                                                                                              \
        GPI_CUDA(&gpi_radix_##keys##v0_sm##sm), GPI_CUDA(&gpi_radix_##keys##v4_sm##sm),            \
            GPI_CUDA(&gpi_radix_##keys##v8_sm##sm)                                                 \
    }
#define ROW(sm)                                                                                    \
    {{ENGINES(k8, sm), ENGINES(k16, sm), ENGINES(k32, sm), ENGINES(k64, sm)},                      \
     GPI_CUDA(&gpi_radixsort_kernels_sm##sm),                                                      \
     GPI_CUDA(gpi_radix_layout_sm##sm)},

GPI_SMS(DECLARE)

static const struct gpi_radix_cuda table[] = {GPI_SMS(ROW)};

const struct gpi_radix_cuda *gpi_radix_cuda_get(const gp_context *ctx)
{
    return table[ctx->sm_row].kernels ? &table[ctx->sm_row] : NULL;
}

/* The scratch of an engine, by what it moves. */
static size_t engine_bytes(const struct gpi_radix_cuda *cuda, size_t key_bytes, size_t moved_bytes,
                           uint64_t n)
{
    struct gpi_radix_layout layout;
    cuda->layout(key_bytes, (moved_bytes + 3) / 4 * 4, n, &layout);
    return layout.bytes;
}

/* From this number of keys of a width on, all engines of this build count keys alone. */
static uint64_t counted_from_max(int width)
{
    uint64_t most = 0;
    for (int row = 0; row < GPI_SM_COUNT; row++) {
        const struct gpi_radix_engine *engine = table[row].engine[width][0];
        uint64_t from = engine ? engine->counted_from : UINT64_MAX;
        most = from > most ? from : most;
    }
    return most;
}

/* The most scratch that an engine of this build takes. */
static size_t engine_bytes_max(size_t key_bytes, size_t moved_bytes, uint64_t n)
{
    size_t most = 0;
    for (int row = 0; row < GPI_SM_COUNT; row++) {
        size_t bytes = table[row].layout ? engine_bytes(&table[row], key_bytes, moved_bytes, n) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- what the engine gets ---- */

/* What is done around an engine, and the bytes of the arrays that are taken for it. */
struct route {
    bool positions;   /* positions are moved beside the keys, though the caller wants none */
    bool pick_keys;   /* keys are gathered by positions, as CUB's words are not invertible */
    bool pick_values; /* values are gathered by positions */
    bool widen;       /* the engine moves values as words of 4 bytes */
    size_t keys_tmp, keys_out, keys_copy;
    size_t values_in, values_tmp, values_out, values_copy, engine;
};

/* From here on the passes that widen and narrow cost less than a gather (sort-60). */
#define WIDENED_FROM ((uint64_t)1 << 21)

static bool is_cub(const struct gpi_radix_job *j)
{
    return j->algorithm == GP_ALGORITHM_CUB;
}

static bool value_is_widened(const struct gpi_radix_job *j)
{
    return j->value_bytes == 3 && j->n >= WIDENED_FROM && !is_cub(j);
}

/* CUB counts with 32 bits beside values of 4 bytes. */
static bool value_is_direct(const struct gpi_radix_job *j)
{
    const size_t bytes = j->value_bytes;
    if (is_cub(j))
        return bytes == 0 || bytes == 8 || (bytes == 4 && gpi_radix_index_bytes(j->n) == 4);
    return bytes <= 2 || bytes == 4 || bytes == 8;
}

/* Whether words are invertible, so that a sort need not be stable: of keys alone, by all bits. */
static bool wants_exact_words(const struct gpi_radix_job *j)
{
    return j->value_bytes == 0 && j->begin_bit == 0 && j->end_bit == 8 * (int)j->key_bytes;
}

/* Floats alone by some of their bits are sorted as pairs with positions, as their words are not
 * invertible and the sort has to be stable. So are those that CUB sorts beside values. */
static bool needs_positions(const struct gpi_radix_job *j)
{
    return j->order.inf != 0 && !wants_exact_words(j) &&
           (j->value_bytes == 0 || (is_cub(j) && j->keys_out));
}

/* Bytes of what the engine moves beside a key. */
static size_t moved_bytes_of(const struct gpi_radix_job *j)
{
    if (value_is_widened(j))
        return 4;
    return value_is_direct(j) && !needs_positions(j) ? j->value_bytes : gpi_radix_index_bytes(j->n);
}

static struct route moved_route(const struct gpi_radix_job *j, bool keys_in_place,
                                bool values_in_place, size_t engine)
{
    struct route r = {.engine = engine};
    const bool cub = is_cub(j), words = !gpi_radix_is_word(&j->order), argsort = !j->keys_out;
    const size_t keys = j->n * j->key_bytes, moved = j->n * moved_bytes_of(j);
    r.widen = value_is_widened(j);
    r.pick_keys = cub && needs_positions(j);
    r.pick_values = j->value_bytes && (r.pick_keys || !(value_is_direct(j) || r.widen));
    r.positions = r.pick_values || needs_positions(j);
    r.values_in = r.widen ? gpi_piece(j->n * 4) : 0;
    r.values_out = r.widen ? r.values_in : r.positions ? moved : 0;
    r.values_copy = (r.pick_values || cub) && values_in_place ? j->n * j->value_bytes : 0;
    r.keys_tmp = !cub || words ? keys : 0;
    r.keys_out = argsort ? keys : 0;
    r.keys_copy = cub && keys_in_place && (r.pick_keys || !words) ? keys : 0;
    r.values_tmp = !cub || r.positions || argsort ? moved : 0;
    return r;
}

static size_t route_bytes(const struct route *r)
{
    return gpi_piece(r->keys_tmp) + gpi_piece(r->keys_out) + gpi_piece(r->keys_copy) +
           r->values_in + gpi_piece(r->values_tmp) + gpi_piece(r->values_out) +
           gpi_piece(r->values_copy) + gpi_piece(r->engine);
}

/* The bound for n holds for any fewer, so for the most that are not counted. */
size_t gpi_radixsort_cuda_bytes(int sm_count, const struct gpi_radix_job *job)
{
    const uint64_t counted_from = counted_from_max(gpi_key_width(job->key_bytes));
    struct gpi_radix_job j = *job;
    if (j.begin_bit == j.end_bit)
        return 0;
    if (wants_exact_words(&j) && j.n >= counted_from && !is_cub(&j))
        j.n = counted_from - 1;
    const size_t moved = moved_bytes_of(&j);
    size_t engine = is_cub(&j) ? gpi_radix_cub_bytes_max(sm_count, j.key_bytes, moved, j.n)
                               : engine_bytes_max(j.key_bytes, moved, j.n ? j.n : 1);
    struct route r = moved_route(&j, j.keys_out != NULL, j.values_in != NULL, engine);
    return route_bytes(&r);
}

/* to[i] = from[positions[i]], or from[i] with index_bytes 0. */
static gp_status pick(gp_context *ctx, const char *function, const struct gpi_radix_job *j,
                      size_t item_bytes, const void *from, size_t index_bytes,
                      const void *positions, void *to)
{
    struct gpi_gather_args items =
        gpi_gather_of(item_bytes, from, index_bytes, positions, j->n, to);
    items.device_n = j->device_n;
    return gpi_gather_cuda(ctx, function, &items);
}

static gp_status copy(gp_context *ctx, const char *function, const struct gpi_radix_job *j,
                      size_t item_bytes, const void *from, void *to)
{
    if (!j->device_n)
        return gpi_cuda_copy(ctx, from, j->n * item_bytes, to);
    return pick(ctx, function, j, item_bytes, from, 0, NULL, to);
}

/* *array becomes a copy of itself, for what is sorted in place and read again after that. */
static gp_status copy_aside(gp_context *ctx, const char *function, const struct gpi_radix_job *j,
                            size_t item_bytes, struct gpi_frame *frame, const void **array)
{
    void *aside = gpi_frame_take(frame, j->n * item_bytes);
    GPI_TRY(copy(ctx, function, j, item_bytes, *array, aside));
    *array = aside;
    return GP_OK;
}

gp_status gpi_radix_put_indices(gp_context *ctx, const char *function, size_t index_bytes,
                                uint64_t n, const uint64_t *device_n, void *out)
{
    const struct gpi_iota_args a = {.kind = index_bytes == 4 ? GPI_IOTA_32 : GPI_IOTA_64,
                                    .item_bytes = index_bytes,
                                    .step = 1,
                                    .n = n,
                                    .device_n = device_n,
                                    .out = out};
    return gpi_fill_launchers_get(ctx->sm_row)->iota(ctx, function, &a);
}

/* No bits compared: copies, and indices in order. */
static gp_status copy_all(gp_context *ctx, const char *function, const struct gpi_radix_job *j)
{
    if (j->keys_out && j->keys_out != j->keys_in)
        GPI_TRY(copy(ctx, function, j, j->key_bytes, j->keys_in, j->keys_out));
    if (j->value_bytes && !j->values_in)
        return gpi_radix_put_indices(ctx, function, j->value_bytes, j->n, j->device_n,
                                     j->values_out);
    if (j->value_bytes && j->values_out != j->values_in)
        return copy(ctx, function, j, j->value_bytes, j->values_in, j->values_out);
    return GP_OK;
}

/* Queues a sort by an engine or CUB with all that is around it. */
static gp_status queue(gp_context *ctx, const char *function, const struct gpi_radix_cuda *cuda,
                       const struct gpi_radix_engine *engine, struct gpi_frame *frame,
                       const struct route *r, const struct gpi_radix_job *j,
                       struct gpi_radix_engine_args *a)
{
    const void *keys = j->keys_in, *values = j->values_in;
    if (r->keys_copy)
        GPI_TRY(copy_aside(ctx, function, j, j->key_bytes, frame, &keys));
    if (r->values_copy)
        GPI_TRY(copy_aside(ctx, function, j, j->value_bytes, frame, &values));
    a->keys[gpi_radix_in] = (void *)keys;
    a->keys[gpi_radix_tmp] = r->keys_tmp ? gpi_frame_take(frame, r->keys_tmp) : NULL;
    a->keys[gpi_radix_out] = j->keys_out ? j->keys_out : gpi_frame_take(frame, r->keys_out);
    a->keys_wanted = j->keys_out && !r->pick_keys;
    a->values[gpi_radix_in] = r->positions ? NULL : (void *)values;
    a->values[gpi_radix_tmp] = r->values_tmp ? gpi_frame_take(frame, r->values_tmp) : NULL;
    a->values[gpi_radix_out] = r->values_out ? gpi_frame_take(frame, r->values_out) : j->values_out;
    if (r->widen) {
        a->values[gpi_radix_in] = gpi_frame_take(frame, r->values_in);
        cuda->kernels->widen(ctx, values, j->n, j->device_n, a->values[gpi_radix_in]);
    }
    a->scratch = gpi_frame_take(frame, r->engine);
    GPI_TRY(is_cub(j) ? gpi_radix_cub_sort(ctx, function, j->key_bytes, a)
                      : engine->sort(ctx, function, a));
    const void *positions = a->values[gpi_radix_out];
    if (r->widen)
        cuda->kernels->narrow(ctx, positions, j->n, j->device_n, j->values_out);
    if (r->pick_keys)
        GPI_TRY(pick(ctx, function, j, j->key_bytes, keys, a->value_bytes, positions, j->keys_out));
    if (r->pick_values)
        return pick(ctx, function, j, j->value_bytes, values, a->value_bytes, positions,
                    j->values_out);
    return gpi_cuda_launched(ctx, function);
}

gp_status gpi_radixsort_cuda(gp_context *ctx, const char *function, const struct gpi_radix_job *job)
{
    const struct gpi_radix_cuda *cuda = gpi_radix_cuda_get(ctx);
    struct gpi_radix_engine_args a = {.order = job->order,
                                      .exact = wants_exact_words(job),
                                      .begin_bit = job->begin_bit,
                                      .end_bit = job->end_bit,
                                      .n = job->n,
                                      .device_n = job->device_n,
                                      .value_bytes = moved_bytes_of(job),
                                      .visitor = job->visitor};
    if (!cuda)
        return gpi_fail_sm(ctx, function);
    if (job->begin_bit == job->end_bit)
        return copy_all(ctx, function, job);
    const struct gpi_radix_engine *engine =
        cuda->engine[gpi_key_width(job->key_bytes)][(a.value_bytes + 3) / 4];
    const bool counted = a.exact && !is_cub(job) && job->n >= engine->counted_from;
    const bool in_place = job->values_in && job->values_in == job->values_out;
    if (is_cub(job))
        GPI_TRY(gpi_radix_cub_sort(ctx, function, job->key_bytes, &a));
    else
        a.scratch_bytes = engine_bytes(cuda, job->key_bytes, a.value_bytes, counted ? 1 : job->n);
    struct route r = {.engine = a.scratch_bytes}; /* what is counted takes no array */
    if (!counted)
        r = moved_route(job, job->keys_in == job->keys_out, in_place, a.scratch_bytes);
    GPI_FRAME(frame, ctx, function, route_bytes(&r));
    return queue(ctx, function, cuda, engine, &frame, &r, job, &a);
}

#ifdef GPI_FAULT
void gp_radix_sort_faults(gp_context *ctx, uint64_t counts[GPI_RADIX_FAULT_TILES][2])
{
    for (int tile = 0; tile < GPI_RADIX_FAULT_TILES; tile++)
        counts[tile][0] = counts[tile][1] = 0;
    for (int width = 0; width < 4; width++)
        for (int values = 0; values < 3; values++)
            gpi_radix_cuda_get(ctx)->engine[width][values]->add_faults(counts);
}
#endif
