/* SPDX-License-Identifier: MIT */
/* The family of scan algorithms beside the default one: gp against itself. */
#include "../bench.h"

static int scan_by(struct bench *b, const struct bench_args *a, gp_algorithm algorithm)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = a->dtype;
    desc.algorithm = algorithm;
    return bench_status(b, gp_scan(b->ctx, &desc, a->in, a->n, a->out));
}

#define ALGORITHM(name, algorithm)                                                                 \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        return scan_by(b, a, algorithm);                                                           \
    }

ALGORITHM(lookahead, GP_ALGORITHM_LOOKAHEAD)
ALGORITHM(lookback, GP_ALGORITHM_LOOKBACK)
ALGORITHM(chained, GP_ALGORITHM_CHAINED)
ALGORITHM(reduce_then_scan, GP_ALGORITHM_REDUCE_THEN_SCAN)
ALGORITHM(scan_then_fan, GP_ALGORITHM_SCAN_THEN_FAN)
ALGORITHM(fenwick, GP_ALGORITHM_FENWICK)
ALGORITHM(cub, GP_ALGORITHM_CUB)

#define ENTRY(impl, run)                                                                           \
    {                                                                                              \
        impl, "scan", "algorithms", GP_I32, NULL, run, false                                       \
    }

const struct bench_peer bench_algorithm_peers[] = {
    ENTRY("gp-lookahead", lookahead),
    ENTRY("gp-lookback", lookback),
    ENTRY("gp-chained", chained),
    ENTRY("gp-reduce-then-scan", reduce_then_scan),
    ENTRY("gp-scan-then-fan", scan_then_fan),
    ENTRY("gp-fenwick", fenwick),
    ENTRY("gp-cub", cub),
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};
