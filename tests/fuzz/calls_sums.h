/* SPDX-License-Identifier: MIT */
/* A part of calls_scan.c: reductions of segments. */

struct sums {
    gp_reduce_segmented_desc d;
    gp_scan_desc same;
    gp_dtype out_dtype;
    size_t n, item, scalars;
    fuzz_array *in;
};

/* rows: the items fill rows of that length; otherwise 0. */
static struct sums sums_of(fuzz *f, size_t length)
{
    struct sums s = {.d = GP_REDUCE_SEGMENTED_DESC_INIT};
    s.d.size = fuzz_struct(f, sizeof s.d);
    s.d.in_dtype = fuzz_dtype(f, FUZZ_ALL);
    s.d.op = fuzz_op(f, s.d.in_dtype);
    s.out_dtype = s.d.out_dtype = widen(f, &s.d.in_dtype, s.d.op);
    if (length == 0)
        s.d.offset_dtype = fuzz_dtype(f, FUZZ_INDICES);
    s.d.init = initial(f, s.out_dtype, s.d.op);
    s.scalars = gp_op_scalars(s.d.op);
    s.item = s.scalars * gp_dtype_bytes(s.d.in_dtype);
    s.n = fuzz_count(f, s.item);
    s.n -= length == 0 || s.n > (size_t)1 << 40 ? 0 : s.n % length;
    s.in = fuzz_input(f, s.d.in_dtype, fuzz_product(s.n, s.scalars));
    s.same = (gp_scan_desc){.size = sizeof s.same,
                            .kind = GP_SCAN_ROW_POINTERS,
                            .in_dtype = s.d.in_dtype,
                            .out_dtype = s.out_dtype,
                            .op = s.d.op,
                            .init = s.d.init};
    return s;
}

/* The result of items [begin, begin + n), of which out has a place. */
static void expect_sum(const struct sums *s, size_t begin, size_t n, const char *out)
{
    const size_t bytes = gp_dtype_bytes(s->out_dtype);
    char *expected = oracle_scan(&s->same, s->in->before + begin * s->item, n);
    fuzz_same("sum of a segment", s->out_dtype, expected + n * bytes, out, 1);
    free(expected);
}

static bool sums_are_exact(const struct sums *s)
{
    return is_exact(s->d.in_dtype, s->d.op, s->in->before, s->n) &&
           !(s->d.init && t_is_float(s->d.in_dtype));
}

static void reduce_segmented(fuzz *f)
{
    size_t bytes;
    struct sums s = sums_of(f, 0);
    const gp_dtype dtype = s.d.offset_dtype;
    const size_t count = s.n ? 1 + fuzz_below(f, 2 * (s.n < 4096 ? s.n : 4096)) : fuzz_below(f, 4);
    const size_t result = s.scalars * gp_dtype_bytes(s.out_dtype);
    fuzz_array *offsets = fuzz_offsets(f, dtype, count, s.n, false);
    if (s.n || count)
        fuzz_strict_rule(f, fuzz_offsets_good(dtype, offsets, count, s.n, false));
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(count, result), scalar(s.out_dtype), s.in);
    fuzz_reserve(f, gp_reduce_segmented_workspace_bytes(NULL, &s.d, s.n, count, &bytes), &bytes);
    FUZZ_CALL(f,
              gp_reduce_segmented(f->ctx, &s.d, s.in->data, s.n, offsets->data, count, out->data));
    if (!sums_are_exact(&s))
        return;
    const uint64_t first = fuzz_index(dtype, offsets->before, 0);
    for (size_t k = 0; k < count; k++) {
        const uint64_t begin = fuzz_index(dtype, offsets->before, k) - first;
        expect_sum(&s, begin, fuzz_index(dtype, offsets->before, k + 1) - first - begin,
                   out->contents + k * result);
    }
}

static void reduce_rows(fuzz *f)
{
    size_t bytes;
    const size_t length = 1 + fuzz_below(f, 256);
    struct sums s = sums_of(f, length);
    const size_t rows = s.n > (size_t)1 << 40 ? s.n : s.n / length;
    const size_t result = s.scalars * gp_dtype_bytes(s.out_dtype);
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(rows, result), scalar(s.out_dtype), s.in);
    fuzz_reserve(f, gp_reduce_rows_workspace_bytes(NULL, &s.d, rows, length, &bytes), &bytes);
    FUZZ_CALL(f, gp_reduce_rows(f->ctx, &s.d, s.in->data, rows, length, out->data));
    if (sums_are_exact(&s))
        for (size_t k = 0; k < rows; k++)
            expect_sum(&s, k * length, length, out->contents + k * result);
}

static void arg_segmented(fuzz *f)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    const bool largest = fuzz_flip(f);
    d.size = fuzz_struct(f, sizeof d);
    d.in_dtype = fuzz_dtype(f, FUZZ_ALL);
    d.offset_dtype = fuzz_dtype(f, FUZZ_INDICES);
    const size_t item = gp_dtype_bytes(d.in_dtype), n = fuzz_count(f, item);
    const size_t count = n ? 1 + fuzz_below(f, n < 4096 ? n : 4096) : 0;
    fuzz_array *in = fuzz_input(f, d.in_dtype, n);
    fuzz_array *offsets = fuzz_offsets(f, d.offset_dtype, count, n, false);
    if (n)
        fuzz_strict_rule(f, fuzz_offsets_good(d.offset_dtype, offsets, count, n, false));
    fuzz_array *values = fuzz_output_if(f, fuzz_product(count, item), scalar(d.in_dtype));
    fuzz_array *indices = fuzz_output_beside(f, count * 8, 8, in);
    FUZZ_CALL(f, (largest ? gp_argmax_segmented : gp_argmin_segmented)(
                     f->ctx, &d, in->data, n, offsets->data, count, values->data, indices->data));
    const uint64_t first = count ? fuzz_index(d.offset_dtype, offsets->before, 0) : 0;
    for (size_t k = 0; k < count; k++) {
        const uint64_t begin = fuzz_index(d.offset_dtype, offsets->before, k) - first;
        const uint64_t end = fuzz_index(d.offset_dtype, offsets->before, k + 1) - first;
        uint64_t best = begin, place = UINT64_MAX;
        for (uint64_t i = begin; i < end; i++) {
            const int order =
                fuzz_order(d.in_dtype, in->before + i * item, in->before + best * item);
            best = (largest ? order > 0 : order < 0) ? i : best;
            place = best - begin;
        }
        fuzz_same_bytes("place", &place, indices->contents + k * 8, 8);
        if (values->data && end > begin)
            fuzz_same_bytes("value", in->before + best * item, values->contents + k * item, item);
    }
}
