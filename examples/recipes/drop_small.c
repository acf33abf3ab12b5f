/* SPDX-License-Identifier: MIT */
/* Drop the entries of a matrix whose values are near 0; what is left is a matrix again. */
#include <math.h>
#include <string.h>

#include "cli.h"
#include "recipe.h"

enum { ROWS = 3, COLS = 4, ENTRIES = 6, LEFT = 4 };

int main(int argc, char **argv)
{
    const uint32_t pointers[ROWS + 1] = {0, 3, 3, ENTRIES}, cols[ENTRIES] = {0, 1, 3, 0, 2, 3};
    const double values[ENTRIES] = {1.5, 0.01, -0.05, -0.02, 0.05, -3};
    const uint32_t expected_pointers[ROWS + 1] = {0, 2, 2, LEFT}, expected[LEFT] = {0, 3, 2, 3};
    const double least = 0.05, high = nextafter(least, 0), low = -high;
    uint32_t out_pointers[ROWS + 1], out[LEFT];
    uint64_t left;
    gp_csr_filter_desc desc = GP_CSR_FILTER_DESC_INIT;
    cli_alone("drop_small", "Drops entries of a matrix that are near 0, checked.", argc, argv);
    desc.value_dtype = GP_F64;
    desc.entries = GP_ENTRIES_COMPARED;
    desc.compare = GP_OUTSIDE; /* below low or above high */
    desc.value = &low;
    desc.upper = &high;

    need(gp_context_create(&ctx, NULL));
    void *d_pointers = device(sizeof pointers, pointers), *d_cols = device(sizeof cols, cols);
    void *d_values = device(sizeof values, values), *count = device(sizeof left, NULL);
    void *d_out_pointers = device(sizeof pointers, NULL), *d_out = device(sizeof cols, NULL);
    void *d_out_values = device(sizeof values, NULL);
    need(gp_csr_filter(ctx, &desc, ROWS, COLS, ENTRIES, d_pointers, d_cols, d_values,
                       d_out_pointers, d_out, d_out_values, count));
    fetch(count, sizeof left, &left);
    fetch(d_out_pointers, sizeof out_pointers, out_pointers);
    fetch(d_out, sizeof out, out);

    printf("%d entries, %llu left\n", ENTRIES, (unsigned long long)left);
    const int wrong = left != LEFT || memcmp(out, expected, sizeof out) ||
                      memcmp(out_pointers, expected_pointers, sizeof out_pointers);
    void *all[] = {d_pointers, d_cols, d_values, count, d_out_pointers, d_out, d_out_values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gp_free(ctx, all[i]);
    gp_context_destroy(ctx);
    return wrong;
}
