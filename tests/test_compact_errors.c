/* SPDX-License-Identifier: MIT */
/* Compaction: what is refused, and how much workspace it takes. */
#include "compact_check.h"

/* ---- errors ---------------------------------------------------------------------------------- */

struct call {
    gp_compact_desc desc;
    t_array in, keep, out, count;
    uint32_t value;
};

static struct call call_new(void)
{
    static const char zeros[64];
    struct call c = {compact_desc(GP_COMPACT_ITEMS, 4),
                     t_new_from(zeros, 64, 0),
                     t_new_from(zeros, 64, 0),
                     t_new(64, 0),
                     t_new(8, 0),
                     7};
    return c;
}

static void call_end(struct call *c)
{
    t_check_untouched(&c->out);
    t_check_untouched(&c->count);
    t_free(&c->in);
    t_free(&c->keep);
    t_free(&c->out);
    t_free(&c->count);
}

static gp_status call_by(struct call *c)
{
    return gp_compact_by(t_ctx(), &c->desc, c->in.data, c->desc.compare ? NULL : c->keep.data, 16,
                         c->out.data, c->count.data);
}

START_TEST(test_compact_errors_of_descriptors)
{
    struct call c = call_new();
    const gp_compact_desc good = c.desc;
#define REFUSED(status, change)                                                                    \
    do {                                                                                           \
        c.desc = good;                                                                             \
        change;                                                                                    \
        T_STATUS(status, call_by(&c));                                                             \
    } while (0)
    REFUSED(GP_ERROR_ARGUMENT, c.desc.size--);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.kind = (gp_compact_kind)0);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.kind = (gp_compact_kind)5);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.item_bytes = 0);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.item_bytes = 65537);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.compare = (gp_compare)-1);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.compare = (gp_compare)9);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.algorithm = (gp_algorithm)-1);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.algorithm = (gp_algorithm)(GP_ALGORITHM_SERIAL + 1));
    REFUSED(GP_ERROR_ARGUMENT, (c.desc.kind = GP_COMPACT_PARTITION, c.desc.capacity = 15));
    REFUSED(GP_ERROR_ARGUMENT,
            (c.desc.compare = GP_EQ, c.desc.dtype = GP_U64, c.desc.value = &c.value));
    REFUSED(GP_ERROR_DTYPE,
            (c.desc.compare = GP_EQ, c.desc.dtype = (gp_dtype)13, c.desc.value = &c.value));
    REFUSED(GP_ERROR_DTYPE, (c.desc.kind = GP_COMPACT_INDICES, c.desc.index_dtype = GP_I32));
    REFUSED(GP_ERROR_DTYPE, (c.desc.kind = GP_COMPACT_INDICES, c.desc.index_dtype = (gp_dtype)0));
    REFUSED(GP_ERROR_POINTER, (c.desc.compare = GP_EQ, c.desc.dtype = GP_U32));
    for (int a = GP_ALGORITHM_LOOKBACK; a <= GP_ALGORITHM_SERIAL; a++)
        if (a != GP_ALGORITHM_CUB)
            REFUSED(GP_ERROR_UNSUPPORTED, c.desc.algorithm = (gp_algorithm)a);
    for (uint64_t room = 3; room < 100; room += 13) /* below, equal to and above n */
        REFUSED(GP_ERROR_UNSUPPORTED,
                (c.desc.algorithm = GP_ALGORITHM_CUB, c.desc.capacity = room));
    REFUSED(GP_ERROR_UNSUPPORTED,
            (c.desc.algorithm = GP_ALGORITHM_CUB, c.desc.kind = GP_COMPACT_PARTITION));
    if (!t_is_cuda())
        REFUSED(GP_ERROR_UNSUPPORTED, c.desc.algorithm = GP_ALGORITHM_CUB);
#undef REFUSED
    call_end(&c);
}
END_TEST

START_TEST(test_compact_errors_of_arrays)
{
    struct call c = call_new();
    gp_context *ctx = t_ctx();
    char *in = c.in.data, *out = c.out.data, *keep = c.keep.data;
    const uint8_t *flags = c.keep.data;
    void *count = c.count.data;
    T_STATUS(GP_ERROR_POINTER, gp_compact(NULL, 4, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact_by(ctx, NULL, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, NULL, flags, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, NULL, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 16, NULL, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 16, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 0, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in + 2, flags, 15, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 15, out + 1, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 24, in + 4, flags, 2, out, count));
    T_STATUS(GP_ERROR_POINTER,
             gp_compact(ctx, 4, in, flags, 16, out, (uint64_t *)(void *)((char *)count + 4)));
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact(ctx, 4, in, flags, ((size_t)1 << 40) + 1, out, count));
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact(ctx, 0, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_ARGUMENT, gp_partition(ctx, 0, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_DTYPE, gp_compact_indices(ctx, GP_F32, flags, 16, out, count));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_compact_indices(ctx, GP_U32, flags, ((size_t)1 << 32) + 1, out, count));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_compact_if(ctx, GP_U32, (gp_compare)0, &c.value, in, 16, out, count));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_compact_if(ctx, GP_U32, GP_BETWEEN, &c.value, in, 16, out, count));
    T_STATUS(GP_ERROR_DTYPE, gp_compact_if(ctx, (gp_dtype)0, GP_EQ, &c.value, in, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact_if(ctx, GP_U32, GP_EQ, NULL, in, 16, out, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 15, in + 4, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_partition(ctx, 4, in, flags, 16, in, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 4, keep, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact_indices(ctx, GP_U32, flags, 16, keep, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 16, out, (uint64_t *)(void *)out));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 16, out, (uint64_t *)(void *)in));
    c.desc.device_n = count;
    T_STATUS(GP_ERROR_OVERLAP, call_by(&c));
    c.desc = compact_desc(GP_COMPACT_ITEMS, 4);
    c.desc.compare = GP_EQ;
    c.desc.dtype = GP_U32;
    c.desc.value = &c.value;
    T_STATUS(GP_ERROR_POINTER, gp_compact_by(ctx, &c.desc, in, flags, 16, out, count));
    if (t_is_cuda())
        T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, &c, flags, 4, out, count));
    call_end(&c);
}
END_TEST

START_TEST(test_compact_nothing_to_do)
{
    t_array count = t_new(8, 0);
    T_OK(gp_compact(t_ctx(), 4, NULL, NULL, 0, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 0);
    t_poison(&count);
    T_OK(gp_partition(t_ctx(), 12, NULL, NULL, 0, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 0);
    t_poison(&count);
    T_OK(gp_compact_indices(t_ctx(), GP_U64, NULL, 0, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 0);
    t_check_guards(&count);
    t_free(&count);
}
END_TEST

START_TEST(test_compact_workspace_bytes)
{
    gp_target target = GP_TARGET_INIT;
    gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, 4);
    size_t any, one = 0;
    T_STATUS(GP_ERROR_POINTER, gp_compact_workspace_bytes(NULL, NULL, 1, &any));
    T_STATUS(GP_ERROR_POINTER, gp_compact_workspace_bytes(NULL, &d, 1, NULL));
    target.size--;
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact_workspace_bytes(&target, &d, 1, &any));
    target.size++;
    T_OK(gp_compact_workspace_bytes(NULL, &d, 1 << 24, &any));
    for (int backend = GP_BACKEND_CPU; backend <= GP_BACKEND_CUDA; backend++)
        for (int threads = 0; threads < 5; threads++) {
            target.backend = (gp_backend)backend;
            target.threads = threads;
            target.sm_count = threads * 33;
            T_OK(gp_compact_workspace_bytes(&target, &d, 1 << 24, &one));
            ck_assert_uint_le(one, any);
        }
    d.kind = (gp_compact_kind)9;
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact_workspace_bytes(NULL, &d, 1, &any));
    d = compact_desc(GP_COMPACT_INDICES, 0);
    d.index_dtype = GP_F64;
    T_STATUS(GP_ERROR_DTYPE, gp_compact_workspace_bytes(NULL, &d, 1, &any));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("compact_errors");
    TCase *c = t_case(s, "sizes");
    tcase_add_test(c, test_compact_nothing_to_do);
    c = t_case(s, "errors");
    tcase_add_test(c, test_compact_errors_of_descriptors);
    tcase_add_test(c, test_compact_errors_of_arrays);
    tcase_add_test(c, test_compact_workspace_bytes);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
