/* SPDX-License-Identifier: MIT */
/* Keep the samples above a limit, then sort what is left. */
#include "cli.h"
#include "recipe.h"

enum { N = 100000 };

int main(int argc, char **argv)
{
    static int32_t samples[N];
    const int32_t limit = 0;
    uint64_t count, expected = 0;
    cli_alone("compact_sort", "Keeps the samples above a limit, then sorts what is left; checked.",
              argc, argv);
    for (int i = 0; i < N; i++) {
        samples[i] = (int32_t)((uint32_t)i * 2654435761u);
        expected += samples[i] > limit;
    }
    need(gp_context_create(&ctx, NULL));
    void *in = device(sizeof samples, samples), *d_count = device(sizeof count, NULL);

    need(gp_compact_if(ctx, GP_I32, GP_GT, &limit, in, N, in, d_count)); /* in place */
    fetch(d_count, sizeof count, &count); /* waits: a sort takes its n from the host */
    need(gp_radix_sort(ctx, GP_I32, in, (size_t)count, in, NULL));
    fetch(in, (size_t)count * sizeof *samples, samples);

    int wrong = count != expected;
    for (size_t i = 1; i < count; i++)
        wrong |= samples[i] < samples[i - 1];
    printf("%llu of %d samples are left, from %d to %d\n", (unsigned long long)count, (int)N,
           samples[0], samples[count - 1]);
    gp_free(ctx, in);
    gp_free(ctx, d_count);
    gp_context_destroy(ctx);
    return wrong || samples[0] <= limit;
}
