/* SPDX-License-Identifier: MIT */
/* Items of a bucket as a lane has them. */
#pragma once

#include "group/group_bucket.cuh"

namespace GPI_SPACE
{

template <class Cell, int BATCH = 8> struct BucketRows {
    static constexpr int T = 32;        /* items of a row: one of each lane */
    static constexpr int batch = BATCH; /* rows that a lane has on their way */

    template <class F> static GPI_DEVICE void for_rows(F f)
    {
#pragma unroll
        for (int j = 0; j < batch; j++)
            f(j);
    }

    /* Values of rows. */
    struct Values {
        Cell value[batch];

        template <class F> GPI_DEVICE void read(const BucketForm &form, const char *values, F at)
        {
            if (form.in_bytes == sizeof(Cell))
                for_rows([&](int j) { value[j] = __ldcs((const Cell *)values + at(j)); });
            else if (form.in_bytes)
                for_rows([&](int j) { value[j] = __ldcs((const uint32_t *)values + at(j)); });
        }

        /* As accumulators are, once they are needed. */
        GPI_DEVICE void widen(const BucketForm &form)
        {
            if (form.in_bytes == sizeof(Cell))
                return;
            if (!form.in_bytes)
                for_rows([&](int j) { value[j] = 1; });
            else if (form.is_float)
                for_rows([&](int j) { value[j] = widened_float((uint32_t)value[j]); });
            else
                for_rows([&](int j) {
                    value[j] = (Cell)((uint32_t)value[j] ^ form.sign) - (Cell)form.sign;
                });
        }

        static GPI_DEVICE Cell widened_float(uint32_t bits)
        {
            if constexpr (sizeof(Cell) == 8)
                return bits_as<Cell>((double)__uint_as_float(bits));
            else
                return bits;
        }
    };

    template <class K> struct Rows : Values {
        K key[batch];
        uint32_t there; /* a bit for each row */

        GPI_DEVICE void read(const BucketForm &form, const K *keys, const char *values, uint32_t i)
        {
            for_rows([&](int j) { key[j] = __ldcs(keys + i + j * T); });
            Values::read(form, values, [=](int j) { return i + j * T; });
        }

        /* Of rows behind the last item that one. */
        GPI_DEVICE void read_rest(const BucketForm &form, const K *keys, const char *values,
                                  uint32_t i, uint32_t last)
        {
            for_rows([&](int j) { key[j] = __ldcs(keys + min(i + j * T, last)); });
            Values::read(form, values, [=](int j) { return min(i + j * T, last); });
        }
    };
};

} // namespace GPI_SPACE
