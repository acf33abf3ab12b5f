/* SPDX-License-Identifier: MIT */
/* What moves items to places that are given: gather and scatter; and what fills arrays. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"

/* A gather or a scatter; far: items on the side of the indices. */
struct move {
    bool scatter;
    gp_gather_desc d; /* of either: they have the same layout */
    size_t n, far, moved, item, in_stride, out_stride;
    fuzz_array *in, *indices, *out;
};

static size_t fuzz_stride(fuzz *f, size_t item)
{
    if (fuzz_fault(f, GP_ERROR_ARGUMENT))
        return item > 1 && fuzz_flip(f) ? item - 1 : ((size_t)1 << 23) + 1;
    return fuzz_flip(f) ? 0 : item + fuzz_below(f, 20);
}

static size_t bytes_of(size_t n, size_t stride, size_t item)
{
    return n ? fuzz_product(n - 1, stride) + item : 0;
}

static struct move move_of(fuzz *f, bool scatter)
{
    struct move m = {.scatter = scatter, .d = GP_GATHER_DESC_INIT};
    m.d.size = fuzz_struct(f, sizeof m.d);
    m.d.item_bytes = fuzz_item_bytes(f);
    m.item = m.d.item_bytes > 65536 || !m.d.item_bytes ? 1 : m.d.item_bytes;
    m.d.index_dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    m.d.reserved = fuzz_unused(f);
    m.d.in_stride = fuzz_stride(f, m.item);
    m.d.out_stride = fuzz_stride(f, m.item);
    m.in_stride = m.d.in_stride ? m.d.in_stride : m.item;
    m.out_stride = m.d.out_stride ? m.d.out_stride : m.item;
    m.n = m.moved = fuzz_count(f, m.in_stride > m.out_stride ? m.in_stride : m.out_stride);
    m.far = m.d.in_items = 1 + fuzz_below(f, 256) % ((1 << 18) / m.item);
    m.d.device_n = fuzz_device_n(f, &m.moved);
    return m;
}

static void choose_arrays(fuzz *f, struct move *m)
{
    const size_t in_items = m->scatter ? m->n : m->far, out_items = m->scatter ? m->far : m->n;
    const size_t in_alignment = m->d.in_stride ? 1 : fuzz_alignment(m->item);
    const size_t out_alignment = m->d.out_stride ? 1 : fuzz_alignment(m->item);
    m->in = fuzz_bytes(f, bytes_of(in_items, m->in_stride, m->item), in_alignment);
    m->indices = fuzz_indices(f, m->d.index_dtype, m->n, m->far);
    m->out = fuzz_output_beside(f, bytes_of(out_items, m->out_stride, m->item), out_alignment,
                                m->indices);
}

static void compare_move(const struct move *m)
{
    char *expected = t_host(m->out->bytes);
    uint8_t *writers = t_host(m->far); /* of places that several items go to nothing is asked */
    memset(writers, 0, m->far);
    memcpy(expected, m->out->before, m->out->bytes);
    for (size_t i = 0; i < m->moved; i++) {
        const size_t at = (size_t)fuzz_index(m->d.index_dtype, m->indices->before, i);
        const size_t to = (m->scatter ? at : i) * m->out_stride;
        memcpy(expected + to, m->in->before + (m->scatter ? i : at) * m->in_stride, m->item);
        writers[at] = (uint8_t)(writers[at] < 2 ? writers[at] + 1 : 2);
    }
    for (size_t at = 0; m->scatter && at < m->far; at++)
        if (writers[at] > 1)
            memcpy(expected + at * m->out_stride, m->out->contents + at * m->out_stride, m->item);
    fuzz_same_bytes("move", expected, m->out->contents, m->out->bytes);
    free(expected);
    free(writers);
}

static void run_move(fuzz *f, struct move *m)
{
    gp_scatter_desc s;
    const bool good = fuzz_all_below(m->d.index_dtype, m->indices, m->moved, m->far);
    if (!good && !f->validates && !f->must)
        return; /* it would read or write what is not there */
    if (m->n)   /* of what is not moved nothing is asked */
        fuzz_rule(f, good);
    else
        f->may |= FUZZ_BIT(GP_OK);
    memcpy(&s, &m->d, sizeof s);
    const bool plain = !m->d.in_stride && !m->d.out_stride && !m->d.device_n;
    const void *in = m->in->data, *indices = m->indices->data;
    void *out = m->out->data;
    if (m->scatter && plain && !f->must && !f->validates)
        FUZZ_CALL(f, gp_scatter(f->ctx, m->item, in, m->d.index_dtype, indices, m->n, out));
    else if (m->scatter)
        FUZZ_CALL(f, gp_scatter_by(f->ctx, &s, in, indices, m->n, out));
    else if (plain && !f->must && !f->validates)
        FUZZ_CALL(f, gp_gather(f->ctx, m->item, in, m->d.index_dtype, indices, m->n, out));
    else
        FUZZ_CALL(f, gp_gather_by(f->ctx, &m->d, in, indices, m->n, out));
    compare_move(m);
}

static void gather(fuzz *f)
{
    struct move m = move_of(f, false);
    choose_arrays(f, &m);
    run_move(f, &m);
}

static void scatter(fuzz *f)
{
    struct move m = move_of(f, true);
    choose_arrays(f, &m);
    run_move(f, &m);
}

/* ---- fill ------------------------------------------------------------------------------------ */

static void fill(fuzz *f)
{
    gp_fill_desc d = GP_FILL_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.item_bytes = fuzz_item_bytes(f);
    const size_t item = d.item_bytes > 65536 || !d.item_bytes ? 1 : d.item_bytes;
    const size_t n = fuzz_count(f, item);
    size_t set = n;
    d.item = fuzz_host(f, GP_U8, item);
    d.device_n = fuzz_device_n(f, &set);
    if (n && fuzz_fault(f, GP_ERROR_POINTER))
        d.item = NULL;
    if (n == 0)
        f->may |= FUZZ_BIT(GP_OK);
    fuzz_array *out = fuzz_output(f, fuzz_product(n, item), 1);
    if (f->must || d.device_n || fuzz_flip(f))
        FUZZ_CALL(f, gp_fill_by(f->ctx, &d, n, out->data));
    else
        FUZZ_CALL(f, gp_fill(f->ctx, item, d.item, n, out->data));
    for (size_t i = 0; i < n; i++)
        fuzz_same_bytes("fill", i < set ? d.item : out->before + i * item, out->contents + i * item,
                        item);
}

/* Halves are left to the tests. */
static void compare_iota(const gp_iota_desc *d, size_t i, const fuzz_array *out)
{
    const size_t bytes = gp_dtype_bytes(d->dtype);
    uint64_t x = 0, step = 1;
    if (t_is_float(d->dtype)) {
        const double first = d->first ? t_value(d->dtype, d->first, 0) : 0;
        const double product = (double)i * (d->step ? t_value(d->dtype, d->step, 0) : 1);
        t_set(d->dtype, &x, 0, first + product);
    } else {
        memcpy(&x, d->first ? d->first : &x, bytes);
        memcpy(&step, d->step ? d->step : &step, bytes);
        x += i * step;
    }
    if (d->dtype != GP_F16 && d->dtype != GP_BF16)
        fuzz_same("iota", d->dtype, &x, out->contents + i * bytes, 1);
}

static void iota(fuzz *f)
{
    gp_iota_desc d = GP_IOTA_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.dtype = fuzz_dtype(f, FUZZ_ALL);
    d.reserved = fuzz_unused(f);
    const size_t bytes = gp_dtype_bytes(d.dtype), n = fuzz_count(f, 8);
    size_t set = n;
    d.first = bytes && fuzz_flip(f) ? fuzz_host(f, d.dtype, 1) : NULL;
    d.step = bytes && fuzz_flip(f) ? fuzz_host(f, d.dtype, 1) : NULL;
    d.device_n = fuzz_device_n(f, &set);
    if (n == 0)
        f->may |= FUZZ_BIT(GP_OK);
    fuzz_array *out = fuzz_output(f, fuzz_product(n, bytes), bytes ? bytes : 1);
    if (f->must || d.device_n || fuzz_flip(f))
        FUZZ_CALL(f, gp_iota_by(f->ctx, &d, n, out->data));
    else
        FUZZ_CALL(f, gp_iota(f->ctx, d.dtype, d.first, d.step, n, out->data));
    for (size_t i = 0; i < set; i++)
        compare_iota(&d, i, out);
    fuzz_same_bytes("iota", out->before + set * bytes, out->contents + set * bytes,
                    (n - set) * bytes);
}

fuzz_call *const fuzz_places[] = {gather, scatter, fill, iota, NULL};
