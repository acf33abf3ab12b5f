/* SPDX-License-Identifier: MIT */
/* The front door of sorts by parts of a key, and of records by their fields. */
#include "lexsort/lexsort_parts_internal.h"

#include <stdio.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "radixsort/radixsort_internal.h"

/* The name of a member of a part, for an error text. */
struct member {
    char name[48];
};

static const char *member_of(struct member *m, const char *list, int i, const char *member)
{
    snprintf(m->name, sizeof m->name, "desc->%s[%d].%s", list, i, member);
    return m->name;
}

static gp_status check_parts_number(gp_context *ctx, const char *f, const char *member, int number)
{
    if (number < 1 || number > GP_KEY_PARTS_MAX)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->%s is %d, expected 1 to %d", f, member,
                        number, GP_KEY_PARTS_MAX);
    return GP_OK;
}

/* ---- by parts -------------------------------------------------------------------------------- */

static uint64_t part_bytes(const gp_key_part *part, size_t n)
{
    return n ? (uint64_t)(n - 1) * part->stride + gpi_dtype_bytes(part->dtype) : 0;
}

/* Beyond this the bytes of a part would not fit 64 bits. */
#define STRIDE_MAX ((size_t)1 << 20)

static gp_status check_part(gp_context *ctx, const char *f, const gp_key_part *part, int i)
{
    struct member m;
    GPI_TRY(gpi_check_dtype(ctx, f, member_of(&m, "parts", i, "dtype"), part->dtype));
    if (part->stride < gpi_dtype_bytes(part->dtype) || part->stride > STRIDE_MAX)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %zu, expected %zu to %zu", f,
                        member_of(&m, "parts", i, "stride"), part->stride,
                        gpi_dtype_bytes(part->dtype), STRIDE_MAX);
    return gpi_check_order(ctx, f, member_of(&m, "parts", i, "order"), part->order);
}

/* *d becomes the full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, const gp_lexsort_desc *given,
                            gp_lexsort_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_lexsort_desc)));
    GPI_TRY(gpi_check_unsigned_index(ctx, f, "desc->index_dtype", d->index_dtype));
    GPI_TRY(check_parts_number(ctx, f, "num_parts", d->num_parts));
    for (int i = 0; i < d->num_parts; i++)
        GPI_TRY(check_part(ctx, f, &d->parts[i], i));
    return GP_OK;
}

static struct gpi_lex_sort order_of(const gp_lexsort_desc *d, size_t n, void *indices)
{
    struct gpi_lex_sort s = {.n = n,
                             .device_n = d->device_n,
                             .index_bytes = gpi_dtype_bytes(d->index_dtype),
                             .indices = indices};
    for (int i = 0; i < d->num_parts; i++)
        gpi_lex_add_part(&s.parts, d->parts[i].data, d->parts[i].stride, d->parts[i].dtype,
                         d->parts[i].order);
    return s;
}

static gp_status check_arrays(gp_context *ctx, const char *f, const gp_lexsort_desc *d, size_t n,
                              void *indices_out)
{
    const size_t index = gpi_dtype_bytes(d->index_dtype);
    const struct gpi_array count = GPI_COUNT("desc->device_n", d->device_n);
    struct gpi_array pair[] = {count,
                               GPI_WRITE("indices_out", indices_out, (uint64_t)n * index, index)};
    struct member m;
    for (int i = 0; i < d->num_parts; i++)
        GPI_TRY(gpi_check_array(ctx, f, member_of(&m, "parts", i, "data"), d->parts[i].data,
                                part_bytes(&d->parts[i], n), 1));
    GPI_TRY(gpi_check_memory(ctx, f, &count, 1));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_index_range(ctx, f, n, "desc->index_dtype", d->index_dtype));
    GPI_TRY(gpi_check_memory(ctx, f, pair + 1, 1));
    for (int i = 0; i < d->num_parts; i++) {
        member_of(&m, "parts", i, "data");
        pair[0] = GPI_READ(m.name, d->parts[i].data, part_bytes(&d->parts[i], n), 1);
        GPI_TRY(gpi_check_apart(ctx, f, pair, 1, 2));
    }
    pair[0] = count;
    return gpi_check_apart(ctx, f, pair, 1, 2);
}

gp_status gp_lexsort_by(gp_context *ctx, const gp_lexsort_desc *desc, size_t n, void *indices_out)
{
    static const char f[] = "gp_lexsort_by";
    gp_lexsort_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, desc, &d));
    GPI_TRY(check_arrays(ctx, f, &d, n, indices_out));
    const struct gpi_lex_sort s = order_of(&d, n, indices_out);
    return gpi_lex_sort(ctx, f, &s);
}

gp_status gp_lexsort_by_workspace_bytes(const gp_target *target, const gp_lexsort_desc *desc,
                                        size_t n, size_t *bytes)
{
    static const char f[] = "gp_lexsort_by_workspace_bytes";
    gp_lexsort_desc d;
    gp_target t;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, desc, &d));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_index_range(NULL, f, n, "desc->index_dtype", d.index_dtype));
    const struct gpi_lex_sort s = order_of(&d, n, bytes); /* any array: there is one */
    *bytes = gpi_lex_sort_bytes(&t, &s);
    return GP_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

static gp_status check_field(gp_context *ctx, const char *f, const gp_record_sort_desc *d, int i)
{
    const gp_record_field *field = &d->fields[i];
    struct member m;
    GPI_TRY(gpi_check_dtype(ctx, f, member_of(&m, "fields", i, "dtype"), field->dtype));
    const size_t bytes = gpi_dtype_bytes(field->dtype);
    if (bytes > d->record_bytes)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s takes %zu bytes, expected at most %zu, %s",
                        f, member_of(&m, "fields", i, "dtype"), bytes, d->record_bytes,
                        "desc->record_bytes");
    if (field->offset > d->record_bytes - bytes)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %zu, expected 0 to %zu", f,
                        member_of(&m, "fields", i, "offset"), field->offset,
                        d->record_bytes - bytes);
    return gpi_check_order(ctx, f, member_of(&m, "fields", i, "order"), field->order);
}

static gp_status check_records(gp_context *ctx, const char *f, const gp_record_sort_desc *given,
                               gp_record_sort_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_record_sort_desc)));
    GPI_TRY(gpi_check_item_bytes(ctx, f, "desc->record_bytes", d->record_bytes));
    GPI_TRY(check_parts_number(ctx, f, "num_fields", d->num_fields));
    for (int i = 0; i < d->num_fields; i++)
        GPI_TRY(check_field(ctx, f, d, i));
    return gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved);
}

/* Records are values, in which their fields are parts. */
static struct gpi_lex_sort records_of(const gp_record_sort_desc *d, size_t n, const void *in,
                                      void *out)
{
    struct gpi_lex_sort s = {.n = n,
                             .device_n = d->device_n,
                             .index_bytes = gpi_radix_index_bytes(n),
                             .value_bytes = d->record_bytes,
                             .values = in,
                             .values_out = out};
    for (int i = 0; i < d->num_fields; i++)
        gpi_lex_add_part(&s.parts, (const void *)((uintptr_t)in + d->fields[i].offset),
                         d->record_bytes, d->fields[i].dtype, d->fields[i].order);
    return s;
}

gp_status gp_record_sort(gp_context *ctx, const gp_record_sort_desc *desc, const void *records_in,
                         size_t n, void *records_out)
{
    static const char f[] = "gp_record_sort";
    gp_record_sort_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_records(ctx, f, desc, &d));
    const uint64_t bytes = (uint64_t)n * d.record_bytes;
    const size_t alignment = gpi_item_alignment(d.record_bytes);
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_n", d.device_n),
        GPI_READ("records_in", records_in, bytes, alignment),
        GPI_WRITE_OVER(1, "records_out", records_out, bytes, alignment),
    };
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 2));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 2, 1));
    GPI_TRY(gpi_check_apart(ctx, f, arrays, 2, 3));
    const struct gpi_lex_sort s = records_of(&d, n, records_in, records_out);
    return gpi_lex_sort(ctx, f, &s);
}

gp_status gp_record_sort_workspace_bytes(const gp_target *target, const gp_record_sort_desc *desc,
                                         size_t n, size_t *bytes)
{
    static const char f[] = "gp_record_sort_workspace_bytes";
    gp_record_sort_desc d;
    gp_target t;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_records(NULL, f, desc, &d));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    const struct gpi_lex_sort s = records_of(&d, n, NULL, NULL); /* in place */
    *bytes = gpi_lex_sort_bytes(&t, &s);
    return GP_OK;
}
