/* SPDX-License-Identifier: MIT */
/* A piece of segments on the CPU: in which way it is reduced, and its results. Included by the file
 * segreduce_cpu.c alone. */

/* ---- results --------------------------------------------------------------------------------- */

static void halves_store(const struct gpi_segreduce_job *job, const float *from, uint32_t count,
                         uint16_t *to)
{
    const gp_dtype dtype = job->args->out_dtype;
    if (gpi_scan_is_order(job->args->op) && !job->one_nan)
        for (uint32_t j = 0; j < count; j++)
            to[j] = dtype == GP_BF16 ? gpi_bf16_of_widened(from[j]) : gpi_f16_of_widened(from[j]);
    else if (job->narrow)
        job->narrow(dtype, from, count, to);
    else if (dtype == GP_F16)
        for (uint32_t j = 0; j < count; j++)
            to[j] = gpi_float_to_f16(from[j]);
    else
        for (uint32_t j = 0; j < count; j++)
            to[j] = gpi_float_to_bf16(from[j]);
}

/* The low bytes of integers. */
static void integers_store(const uint64_t *from, uint32_t count, size_t bytes, char *to)
{
    if (bytes == 1)
        for (uint32_t j = 0; j < count; j++)
            ((uint8_t *)to)[j] = (uint8_t)from[j];
    else if (bytes == 2)
        for (uint32_t j = 0; j < count; j++)
            ((uint16_t *)(void *)to)[j] = (uint16_t)from[j];
    else
        for (uint32_t j = 0; j < count; j++)
            ((uint32_t *)(void *)to)[j] = (uint32_t)from[j];
}

/* Accumulators as results, there or in a room. */
static const char *results_narrow(const struct gpi_segreduce_job *job, const void *acc,
                                  uint32_t count, char *narrowed)
{
    const struct gpi_segreduce_args *a = job->args;
    if (a->out_dtype == GP_F16 || a->out_dtype == GP_BF16)
        halves_store(job, acc, count, (uint16_t *)(void *)narrowed);
    else if (!gpi_dtype_is_float(a->out_dtype) && job->out_bytes < 8)
        integers_store(acc, count, job->out_bytes, narrowed);
    else
        return acc;
    return narrowed;
}

/* Accumulators become the results of segments from s on. */
static void results_store(const struct gpi_segreduce_job *job, const void *acc, uint32_t count,
                          uint64_t s)
{
    char narrowed[GPI_SEGREDUCE_PIECE * 4];
    bytes_store(results_narrow(job, acc, count, narrowed), (size_t)count * job->out_bytes,
                job->stream, (char *)job->args->out + s * job->out_bytes);
}

/* The initial value comes before what a segment has. */
static void results_start(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p,
                          char *acc)
{
    for (uint32_t j = 0; j < p->count; j++, acc += job->acc_bytes) {
        union gpi_segreduce_acc all = job->init;
        if (p->ends[j] != p->begins[j])
            job->folds->join(p->op, &all, acc);
        memcpy(acc, &all, job->acc_bytes);
    }
}

/* out[j] = the item at a place, or what an empty segment gives */
#define ITEMS_COPY(TYPE)                                                                           \
    do {                                                                                           \
        TYPE none, *to = (TYPE *)(void *)room;                                                     \
        memcpy(&none, empty, sizeof none);                                                         \
        for (uint32_t j = 0; j < p->count; j++)                                                    \
            to[j] =                                                                                \
                places[j] == UINT64_MAX ? none : ((const TYPE *)p->in)[p->begins[j] + places[j]];  \
    } while (0)

/* NaNs become what conversions make of them. */
static void nans_join(gp_dtype dtype, uint32_t count, uint16_t *halves)
{
    const uint16_t inf = (uint16_t)gpi_infinity_bits(dtype);
    for (uint32_t j = 0; j < count; j++)
        halves[j] = (halves[j] & 0x7fff) > inf ? 0x7fff : halves[j];
}

/* The items at places of segments from s on. */
static void items_store(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p,
                        const uint64_t *places, uint64_t s)
{
    const size_t bytes = job->item_bytes;
    _Alignas(8) char narrowed[8], room[GPI_SEGREDUCE_PIECE * 8];
    const char *empty = results_narrow(job, &job->empty, 1, narrowed);
    if (bytes == 1)
        ITEMS_COPY(uint8_t);
    else if (bytes == 2)
        ITEMS_COPY(uint16_t);
    else if (bytes == 4)
        ITEMS_COPY(uint32_t);
    else
        ITEMS_COPY(uint64_t);
    bytes_store(room, p->count * bytes, job->stream, (char *)job->args->out + s * bytes);
}

/* ---- narrow items ---------------------------------------------------------------------------- */

enum { WIDENED = 2048 /* items at a time */ };

/* Few segments are so long that widening does not pay. */
static bool is_widened(const struct gpi_segreduce_piece *p)
{
    return p->ends[p->count - 1] <= p->count * GPI_SEGREDUCE_LONG;
}

/* Of a piece, with items widened as many at a time as there is room for; a segment that has more
 * as it is. */
static void piece_widen(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p,
                        float *to)
{
    uint32_t words[WIDENED], ends[1 + GPI_SEGREDUCE_PIECE], begin = 0;
    ends[0] = 0;
    for (uint32_t s = 0, count; s < p->count; s += count) {
        struct gpi_segreduce_piece part = *p;
        part.in = (const char *)p->in + (size_t)begin * job->item_bytes;
        for (count = 0; s + count < p->count && p->ends[s + count] - begin <= WIDENED; count++)
            ends[count + 1] = p->ends[s + count] - begin;
        part.begins = ends;
        part.ends = ends + 1;
        part.count = count;
        if (count) {
            job->widen(job->args->in_dtype, part.in, ends[count], words);
            part.in = words;
            part.folds = job->wide_folds;
            job->side(&part, to + s);
        } else {
            part.count = count = 1;
            ends[1] = p->ends[s] - begin;
            job->unit->fold(&part, to + s);
        }
        begin += ends[count];
    }
}

static void piece_fold(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p,
                       void *to)
{
    if (job->side && !job->widen)
        job->side(p, to);
    else if (job->side && is_widened(p))
        piece_widen(job, p, to);
    else
        job->unit->fold(p, to);
}

static void side_open(const gp_context *ctx, struct gpi_segreduce_job *job)
{
    const struct gpi_segreduce_args *a = job->args;
    if (a->places)
        return;
    job->side = gpi_segreduce_cpu_side(ctx, a->in_dtype, a->out_dtype, a->op);
    if (job->side && job->item_bytes == 2) {
        job->widen = gpi_segreduce_cpu_widen(ctx);
        job->wide_folds = gpi_reduce_cpu_find(ctx, GP_F32, GP_F32, a->op);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* An item as often as 8 bytes have room for it. */
static uint64_t repeated(uint64_t item, uint32_t bytes)
{
    for (uint32_t bits = 8 * bytes; bits < 64; bits *= 2)
        item = (item & (((uint64_t)1 << bits) - 1)) << bits | (item & (((uint64_t)1 << bits) - 1));
    return item;
}

/* Of floats: extremes, which are looked up by their places. */
static bool is_lined(const struct gpi_segreduce_job *job)
{
    const struct gpi_segreduce_args *a = job->args;
    const bool real = gpi_dtype_is_float(a->in_dtype), same = a->in_dtype == a->out_dtype;
    if (a->places)
        return true;
    if (real)
        return gpi_scan_is_order(a->op) && same;
    return gpi_op_scalars(a->op) == 1 && !gpi_dtype_is_float(a->out_dtype) &&
           (job->out_bytes == job->item_bytes || (job->out_bytes == 4 && job->item_bytes < 4));
}

static void lines_open(const gp_context *ctx, struct gpi_segreduce_job *job)
{
    const struct gpi_segreduce_args *a = job->args;
    const uint32_t bytes = job->item_bytes;
    if (!is_lined(job))
        return;
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1), infinity = gpi_infinity_bits(a->in_dtype);
    const bool below = infinity || gpi_dtype_is_signed(a->in_dtype);
    union gpi_segreduce_acc neutral = {.bits = a->op == GP_MIN ? sign - 1 : sign | infinity};
    uint64_t flip = gpi_scan_is_order(a->op) && !below ? sign : 0, start = 0;
    _Alignas(8) char narrowed[8];
    if (!infinity)
        job->folds->identity(a->op, &neutral);
    if (a->op == GP_MAX || a->op == GP_AND)
        flip = ~flip;
    memcpy(&start, results_narrow(job, &job->empty, 1, narrowed), job->out_bytes);
    job->line = (struct gpi_segreduce_lines){.op = a->op,
                                             .dtype = a->in_dtype,
                                             .item_bytes = bytes,
                                             .out_bytes = job->out_bytes,
                                             .neutral = repeated(neutral.bits, bytes),
                                             .has_init = a->has_init,
                                             .start = repeated(start, job->out_bytes),
                                             .flip = repeated(flip, bytes),
                                             .magnitude = repeated(sign - 1, bytes),
                                             .infinity = repeated(infinity, bytes)};
    job->lines = gpi_segreduce_cpu_lines(ctx);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void piece_store(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p,
                        uint64_t s)
{
    union {
        uint64_t places[GPI_SEGREDUCE_PIECE];
        union gpi_segreduce_acc align;
        char acc[(GPI_SEGREDUCE_PIECE + 16) * 8];
    } room;
    if (job->args->places) {
        uint64_t *places = job->args->indices + s;
        if (job->lines)
            job->lines(&job->line, p, true, places);
        else
            job->unit->places(p, places);
        if (job->args->out)
            items_store(job, p, places, s);
        return;
    }
    if (job->lines) {
        char *out = (char *)job->args->out + s * job->out_bytes, *to = job->stream ? room.acc : out;
        job->lines(&job->line, p, false, to);
        if (job->one_nan && gpi_scan_is_order(job->args->op))
            nans_join(job->args->out_dtype, p->count, (uint16_t *)(void *)to);
        if (job->stream)
            bytes_store(room.acc, (size_t)p->count * job->out_bytes, true, out);
        return;
    }
    piece_fold(job, p, room.acc);
    if (job->args->has_init)
        results_start(job, p, room.acc);
    results_store(job, &room, p->count, s);
}

void gpi_segreduce_cpu_piece(const struct gpi_segreduce_job *job, const void *in,
                             const uint32_t *begins, uint32_t count, uint64_t s)
{
    const struct gpi_segreduce_piece p = {.op = job->args->op,
                                          .folds = job->folds,
                                          .in = in,
                                          .begins = begins,
                                          .ends = begins + 1,
                                          .count = count,
                                          .empty = &job->empty};
    piece_store(job, &p, s);
}
