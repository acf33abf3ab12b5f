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
    if (job->one_nan)
        nans_join(job->args->out_dtype, p->count, (uint16_t *)(void *)room);
    bytes_store(room, p->count * bytes, job->stream, (char *)job->args->out + s * bytes);
}

/* ---- narrow items ---------------------------------------------------------------------------- */

enum { WIDENED = 1024 /* items at a time */ };

/* Whether segments are long enough for widening to pay, and few so long that it does not. */
static bool is_widened(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p)
{
    const uint32_t items = p->ends[p->count - 1];
    return job->wider && items >= p->count * job->widen_mean &&
           items <= (uint64_t)p->count * job->widen_max;
}

/* Places, or accumulators, of segments. */
static void part_reduce(const struct gpi_segreduce_cpu *unit, const struct gpi_segreduce_piece *p,
                        bool places, void *to)
{
    if (places)
        unit->places(p, to);
    else
        unit->fold(p, to);
}

/* Of a piece, with items widened as many at a time as there is room for; a segment that has more
 * as it is. */
static void piece_reduce(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p,
                         bool places, char *to)
{
    uint32_t words[WIDENED], ends[1 + GPI_SEGREDUCE_PIECE], begin = 0;
    const size_t bytes = places ? sizeof(uint64_t) : job->acc_bytes;
    if (!is_widened(job, p)) {
        part_reduce(job->unit, p, places, to);
        return;
    }
    ends[0] = 0;
    for (uint32_t s = 0, count; s < p->count; s += count) {
        struct gpi_segreduce_piece part = *p;
        const char *in = (const char *)p->in + (size_t)begin * job->item_bytes;
        for (count = 0; s + count < p->count && p->ends[s + count] - begin <= WIDENED; count++)
            ends[count + 1] = p->ends[s + count] - begin;
        part.begins = ends;
        part.ends = ends + 1;
        part.in = in;
        part.count = count;
        if (count) {
            job->widen(job->args->in_dtype, in, ends[count], words);
            part.in = words;
            part.folds = job->wide_folds;
            part.wide = false;
        } else {
            part.count = count = 1;
            ends[1] = p->ends[s] - begin;
        }
        part_reduce(part.in == words ? job->wider : job->unit, &part, places, to + s * bytes);
        begin += ends[count];
    }
}

/* Halves that are chosen keep the bits of their NaNs, which conversions by vectors change: they are
 * looked up. */
static void widen_open(const gp_context *ctx, struct gpi_segreduce_job *job)
{
    const struct gpi_segreduce_args *a = job->args;
    const bool half = a->in_dtype == GP_F16 || a->in_dtype == GP_BF16;
    const bool chosen = half && !a->places && gpi_scan_is_order(a->op);
    gp_dtype as;
    if ((job->out_bytes > 4 && !a->places) || (chosen && a->has_init))
        return;
    job->wider = gpi_segreduce_cpu_wider(ctx, a->in_dtype, a->op, &as, &job->widen);
    if (!job->wider)
        return;
    job->wide_folds = gpi_reduce_cpu_find(ctx, as, as, a->op);
    job->selects = chosen;
    /* one by one these take longest */
    job->widen_mean = a->in_dtype == GP_F16 || a->places || chosen ? 0 : 4;
    job->widen_max = !a->places && !chosen ? GPI_SEGREDUCE_LONG
                     : half && !chosen     ? WIDENED
                                           : 2 * GPI_SEGREDUCE_LONG;
}

/* ---- sums of integers ------------------------------------------------------------------------ */

enum { PREFIX_MEAN = 64 /* longer segments are folded in vectors */ };

static void prefix_open(const gp_context *ctx, struct gpi_segreduce_job *job)
{
    const struct gpi_segreduce_args *a = job->args;
    const uint32_t in = job->item_bytes, out = job->out_bytes;
    if (a->op != GP_SUM || a->places || out > 4 || gpi_dtype_is_float(a->out_dtype) ||
        gpi_dtype_is_float(a->in_dtype))
        return;
    job->sums = (struct gpi_segreduce_prefix){a->in_dtype, in, out > in ? 4 : in, out,
                                              (uint32_t)job->init.bits};
    job->prefix = gpi_segreduce_cpu_prefix(ctx);
}

/* Not items of 4 bytes of which a segment has one: these are gathered once. */
static bool is_prefixed(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p)
{
    const uint32_t items = p->ends[p->count - 1];
    return job->prefix && items <= p->count * PREFIX_MEAN &&
           (job->item_bytes < 4 || items >= p->count * 2);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void piece_store(const struct gpi_segreduce_job *job, const struct gpi_segreduce_piece *p,
                        uint64_t s)
{
    union {
        uint64_t places[GPI_SEGREDUCE_PIECE];
        union gpi_segreduce_acc align;
        char acc[GPI_SEGREDUCE_PIECE * 8];
    } room;
    if (job->args->places || (job->selects && is_widened(job, p))) {
        piece_reduce(job, p, true, room.acc);
        if (job->args->places)
            memcpy(job->args->indices + s, room.places, p->count * sizeof *room.places);
        if (job->args->out)
            items_store(job, p, room.places, s);
        return;
    }
    if (is_prefixed(job, p)) {
        job->prefix(&job->sums, p, room.acc);
        bytes_store(room.acc, (size_t)p->count * job->out_bytes, job->stream,
                    (char *)job->args->out + s * job->out_bytes);
        return;
    }
    piece_reduce(job, p, false, room.acc);
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
                                          .empty = &job->empty,
                                          .wide = job->wide};
    piece_store(job, &p, s);
}
