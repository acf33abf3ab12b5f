/* SPDX-License-Identifier: MIT */
/* Sort records by a float; records with equal floats stay in order. */
#include "cli.h"
#include "recipe.h"

enum { N = 1000 };

struct record {
    uint32_t id;
    char name[12];
    double amount;
};

int main(int argc, char **argv)
{
    static struct record records[N], sorted[N];
    static float price[N];
    cli_alone("sort_records", "Sorts records by a float, ties in order; checked.", argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        records[i] = (struct record){.id = i, .name = "record", .amount = i * 0.5};
        price[i] = (float)(i * 7 % 50); /* many ties */
    }
    need(gp_context_create(&ctx, NULL));
    void *keys = device(sizeof price, price), *values = device(sizeof records, records);

    /* Both in place: the keys are sorted, and a record moves with each. Stable. */
    need(gp_radix_sort_pairs(ctx, GP_F32, keys, sizeof(struct record), values, N, keys, values,
                             NULL));
    fetch(keys, sizeof price, price);
    fetch(values, sizeof sorted, sorted);

    int wrong = 0;
    for (int i = 1; i < N; i++)
        wrong |= price[i] < price[i - 1] ||
                 (price[i] == price[i - 1] && sorted[i].id < sorted[i - 1].id);
    printf("the cheapest: record %u at %g\n", sorted[0].id, (double)price[0]);
    gp_free(ctx, keys);
    gp_free(ctx, values);
    gp_context_destroy(ctx);
    return wrong;
}
