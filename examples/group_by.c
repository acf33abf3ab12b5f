/* SPDX-License-Identifier: MIT */
/* Sales by shop in one call: how many, their sum, the largest, and the first one's number. */
#include <gp/gp.h>

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, SHOPS = 300 };

/* Every call returns a status; the context has the text. */
static void need(gp_context *ctx, gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "group_by: %s\n", gp_last_error(ctx));
    exit(1);
}

static void *arrays[12];
static int num_arrays;

/* Memory where the context computes, with a copy of what is at host unless that is NULL. */
static void *device(gp_context *ctx, size_t bytes, const void *host)
{
    void *memory;
    need(ctx, gp_malloc(ctx, bytes, &memory));
    if (host)
        need(ctx, gp_copy(ctx, host, bytes, memory));
    return arrays[num_arrays++] = memory;
}

static uint32_t shops[N], numbers[N], shops_of[SHOPS], counts[SHOPS], firsts[SHOPS];
static double amounts[N], sums[SHOPS], largest[SHOPS];

/* Shop g against a loop over all sales. */
static int is_right(size_t g)
{
    uint32_t count = 0, first = N;
    double sum = 0, most = 0;
    for (uint32_t i = 0; i < N; i++)
        if (shops[i] == shops_of[g]) {
            count++;
            sum += amounts[i];
            most = amounts[i] > most ? amounts[i] : most;
            first = first < i ? first : i;
        }
    return counts[g] == count && sums[g] == sum && largest[g] == most && firsts[g] == first;
}

int main(int argc, char **argv)
{
    gp_aggregate of[4] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT, GP_AGGREGATE_INIT,
                          GP_AGGREGATE_INIT};
    gp_group_by_desc desc = GP_GROUP_BY_DESC_INIT;
    gp_context *ctx = NULL;
    uint64_t groups, wrong = 0;
    cli_alone("group_by", "Sales by shop in one call, checked.", argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        shops[i] = i * 2654435761u % SHOPS + 1000;
        amounts[i] = i * 40503u % 9973 / 4.0; /* exact: sums do not depend on their order */
        numbers[i] = i;
    }
    need(NULL, gp_context_create(&ctx, NULL));
    void *keys = device(ctx, sizeof shops, shops), *values = device(ctx, sizeof amounts, amounts);
    void *places = device(ctx, sizeof numbers, numbers);
    void *out = device(ctx, sizeof shops_of, NULL), *count = device(ctx, sizeof groups, NULL);

    of[0].kind = GP_AGGREGATE_COUNT, of[0].out_dtype = GP_U32;
    of[1].in_dtype = GP_F64, of[1].values = values; /* a sum */
    of[2].in_dtype = GP_F64, of[2].values = values, of[2].op = GP_MAX;
    of[3].kind = GP_AGGREGATE_FIRST, of[3].value_bytes = 4, of[3].values = places;
    for (int k = 0; k < 4; k++)
        of[k].out = device(ctx, SHOPS * sizeof(double), NULL);
    desc.key_dtype = GP_U32, desc.capacity = SHOPS;
    desc.num_aggregates = 4, desc.aggregates = of;
    need(ctx, gp_group_by(ctx, &desc, keys, N, out, count));

    need(ctx, gp_copy(ctx, count, sizeof groups, &groups));
    need(ctx, gp_copy(ctx, out, sizeof shops_of, shops_of));
    need(ctx, gp_copy(ctx, of[0].out, sizeof counts, counts));
    need(ctx, gp_copy(ctx, of[1].out, sizeof sums, sums));
    need(ctx, gp_copy(ctx, of[2].out, sizeof largest, largest));
    need(ctx, gp_copy(ctx, of[3].out, sizeof firsts, firsts));
    need(ctx, gp_context_synchronize(ctx)); /* until here everything was only queued */
    for (size_t g = 0; g < groups; g++)
        wrong += !is_right(g);
    printf("%d sales of %llu shops; shop %u: %u sales of %.2f, the largest %.2f\n", N,
           (unsigned long long)groups, shops_of[0], counts[0], sums[0], largest[0]);
    while (num_arrays > 0)
        gp_free(ctx, arrays[--num_arrays]);
    gp_context_destroy(ctx);
    return groups != SHOPS || wrong != 0;
}
