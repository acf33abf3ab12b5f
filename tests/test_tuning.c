/* SPDX-License-Identifier: MIT */
/* Every architecture takes rows that fit it; needs no GPU. */
#include <string.h>

#include "gp_test.h"
#include "tuning_rows.h"

#define GPU_OF(sm) tuning_gpu_sm##sm,
static struct tuning_gpu (*const gpus[])(void) = {TUNING_ARCHITECTURES(GPU_OF)};
enum { GPUS = sizeof gpus / sizeof *gpus };

static const struct tuning_row *row_of(const struct tuning_gpu *gpu, const char *name)
{
    for (int i = 0; i < gpu->num_rows; i++)
        if (strcmp(gpu->rows[i].name, name) == 0)
            return &gpu->rows[i];
    ck_abort_msg("no row %s", name);
    return NULL;
}

START_TEST(test_tuning_rows_fit_every_architecture)
{
    const struct tuning_gpu gpu = gpus[_i]();
    ck_assert_int_gt(gpu.num_rows, 0);
    for (int i = 0; i < gpu.num_rows; i++) {
        const struct tuning_row *r = &gpu.rows[i];
        if (r->least_sm > gpu.sm || r->shared_bytes > gpu.block_shared_bytes || r->threads > 1024 ||
            r->threads < 32 || r->threads % 32 || r->blocks < 1 ||
            r->threads * r->blocks > gpu.threads || r->items < 1)
            ck_abort_msg("sm_%d, %s: sm_%d, %d bytes, %d blocks of %d threads of %d items", gpu.sm,
                         r->name, r->least_sm, r->shared_bytes, r->blocks, r->threads, r->items);
    }
}
END_TEST

/* The newest row that fits, not the newest: sm_120 has less shared memory than sm_90. */
START_TEST(test_tuning_newest_row_that_fits_is_taken)
{
    const struct {
        int sm, row_sm, kilobytes;
    } expected[] = {{75, 75, 64},  {80, 80, 163},  {86, 80, 99}, {89, 80, 99},
                    {90, 90, 227}, {100, 90, 227}, {120, 80, 99}};
    const struct tuning_gpu gpu = gpus[_i]();
    const struct tuning_row *scan = row_of(&gpu, "scan"), *sort = row_of(&gpu, "sort tile u32");
    ck_assert_int_eq(gpu.sm, expected[_i].sm);
    ck_assert_int_eq(gpu.block_shared_bytes, expected[_i].kilobytes * 1024);
    ck_assert_int_eq(scan->least_sm, expected[_i].row_sm);
    ck_assert_int_eq(sort->least_sm, expected[_i].row_sm);
    ck_assert_int_eq(sort->shared_bytes, expected[_i].kilobytes * 1024);
}
END_TEST

/* What a row asks for is used: another shape would fit no more of it. */
START_TEST(test_tuning_scan_rows_leave_less_than_a_quarter)
{
    const struct tuning_gpu gpu = gpus[_i]();
    ck_assert_int_gt(4 * row_of(&gpu, "scan")->shared_bytes, 3 * gpu.block_shared_bytes);
    ck_assert_int_gt(4 * row_of(&gpu, "compact")->shared_bytes, 3 * gpu.block_shared_bytes);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("tuning");
    TCase *c = t_case(s, "rows");
    tcase_add_loop_test(c, test_tuning_rows_fit_every_architecture, 0, GPUS);
    tcase_add_loop_test(c, test_tuning_newest_row_that_fits_is_taken, 0, GPUS);
    tcase_add_loop_test(c, test_tuning_scan_rows_leave_less_than_a_quarter, 0, GPUS);
    return t_main(argc, argv, s);
}
