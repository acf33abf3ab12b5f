/* SPDX-License-Identifier: MIT */
/* What the memory gives: the rows that every other row is measured against. */
#include "bench.h"

void bench_memcpy(struct bench *b)
{
    static const char *const names[] = {"copy", "read", "write"};
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, true, exponents);
    for (int i = 0; i < count; i++)
        for (int ideal = BENCH_COPY; ideal <= BENCH_WRITE; ideal++) {
            size_t n = (size_t)1 << exponents[i];
            double bytes = (double)n * 4 * (ideal == BENCH_COPY ? 2 : 1);
            if (!bench_wanted(b, names[ideal], GP_U32))
                continue;
            struct bench_rate r = bench_rate(b, (enum bench_ideal)ideal, bytes);
            struct bench_rate copy = bench_rate(b, BENCH_COPY, bytes);
            struct bench_row row = {.suite = "memcpy",
                                    .name = names[ideal],
                                    .dtype = "u32",
                                    .best_peer = "",
                                    .n = n,
                                    .runs = b->options.runs,
                                    .median = r.median,
                                    .min = r.min,
                                    .bytes = bytes};
            row.impl = ideal == BENCH_COPY ? b->backend->copy_impl : b->backend->rate_impl;
            row.memcpy_ratio = b->backend->use_min ? copy.min / r.min : copy.median / r.median;
            bench_write_row(b, &row);
        }
}
