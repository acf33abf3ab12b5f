/* SPDX-License-Identifier: MIT */
/* The scratch of sorts on CUDA, for every architecture and kind of sort; needs no GPU. */
#include "gp_test.h"
#include "radixsort_layout.h"
#include "tuning_rows.h"

#define ONE(sm) +1
enum { GPUS = TUNING_ARCHITECTURES(ONE), KINDS = 12 };

static const struct {
    size_t key_bytes, value_bytes;
} kinds[KINDS] = {{1, 0}, {1, 4}, {1, 8}, {2, 0}, {2, 4}, {2, 8},
                  {4, 0}, {4, 4}, {4, 8}, {8, 0}, {8, 4}, {8, 8}};

static void layout_of(int kind, int gpu, uint64_t n, struct sort_layout *layout)
{
    sort_layout_of(gpu, kinds[kind].key_bytes, kinds[kind].value_bytes, n, layout);
}

/* Sizes in ascending order: 0, and before, at, after and between powers of two. */
enum { SIZES = 1 + 40 * 4 };
static uint64_t size_at(int i)
{
    const uint64_t power = (uint64_t)1 << (i - 1) / 4;
    const uint64_t of[4] = {power - 1, power, power + 1, power + power / 2};
    return i ? of[(i - 1) % 4] : 0;
}

#define EACH_LAYOUT(gpu, i)                                                                        \
    for (int gpu = 0; gpu < GPUS; gpu++)                                                           \
        for (int i = 0; i < SIZES; i++)

START_TEST(test_radixsort_layout_pieces_are_aligned_and_apart)
{
    EACH_LAYOUT(gpu, i)
    {
        struct sort_layout l;
        size_t end = 0;
        layout_of(_i, gpu, size_at(i), &l);
        for (int p = 0; p < l.num_pieces; p++) {
            if (l.pieces[p].bytes == 0)
                continue;
            if (l.pieces[p].at % 256 != 0 || l.pieces[p].at < end)
                ck_abort_msg("gpu %d, n %llu: piece %d at %zu, the one before ends at %zu", gpu,
                             (unsigned long long)size_at(i), p, l.pieces[p].at, end);
            end = l.pieces[p].at + l.pieces[p].bytes;
        }
        ck_assert_uint_ge(l.bytes, end);
        ck_assert_uint_lt(l.bytes, end + 256);
        ck_assert_uint_eq(l.zeroed, l.zeroed_end);
    }
}
END_TEST

START_TEST(test_radixsort_layout_pieces_hold_what_is_written)
{
    EACH_LAYOUT(gpu, i)
    {
        struct sort_layout l;
        layout_of(_i, gpu, size_at(i), &l);
        for (int p = 0; p < l.num_pieces; p++)
            if (l.pieces[p].bytes < l.pieces[p].least)
                ck_abort_msg("gpu %d, n %llu: piece %d has %zu bytes of %zu", gpu,
                             (unsigned long long)size_at(i), p, l.pieces[p].bytes,
                             l.pieces[p].least);
    }
}
END_TEST

/* The number of items may be in memory: what n items get is enough for fewer. */
START_TEST(test_radixsort_layout_pieces_hold_fewer_items)
{
    for (int gpu = 0; gpu < GPUS; gpu++) {
        struct sort_layout fewer, l;
        layout_of(_i, gpu, 0, &fewer);
        for (int i = 1; i < SIZES; i++, fewer = l) {
            layout_of(_i, gpu, size_at(i), &l);
            if (l.bytes < fewer.bytes)
                ck_abort_msg("gpu %d, n %llu: %zu bytes, fewer items %zu", gpu,
                             (unsigned long long)size_at(i), l.bytes, fewer.bytes);
            for (int p = 0; p < l.num_pieces; p++)
                if (l.pieces[p].bytes < fewer.pieces[p].bytes)
                    ck_abort_msg("gpu %d, n %llu: piece %d has %zu bytes, fewer items %zu", gpu,
                                 (unsigned long long)size_at(i), p, l.pieces[p].bytes,
                                 fewer.pieces[p].bytes);
        }
    }
}
END_TEST

/* Keys that are counted get the scratch of one item, of which as much is cleared as of all. */
START_TEST(test_radixsort_layout_of_one_item_serves_counted_keys)
{
    if (kinds[_i].key_bytes > 2 || kinds[_i].value_bytes > 0)
        return;
    EACH_LAYOUT(gpu, i)
    {
        struct sort_layout one, l;
        layout_of(_i, gpu, 1, &one);
        layout_of(_i, gpu, size_at(i), &l);
        ck_assert_uint_le(l.zeroed, one.bytes);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("radixsort_layout");
    TCase *c = t_case(s, "layout");
    tcase_add_loop_test(c, test_radixsort_layout_pieces_are_aligned_and_apart, 0, KINDS);
    tcase_add_loop_test(c, test_radixsort_layout_pieces_hold_what_is_written, 0, KINDS);
    tcase_add_loop_test(c, test_radixsort_layout_pieces_hold_fewer_items, 0, KINDS);
    tcase_add_loop_test(c, test_radixsort_layout_of_one_item_serves_counted_keys, 0, KINDS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
