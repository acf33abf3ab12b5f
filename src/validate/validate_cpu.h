/* SPDX-License-Identifier: MIT */
#ifndef GPI_VALIDATE_CPU_H
#define GPI_VALIDATE_CPU_H

#include "validate/validate_rule.h"

/* The first item that breaks a rule, if the verdict has one. */
struct gpi_offence {
    struct gpi_verdict verdict;
    uint64_t index, value;
};

/* Whether something may be wrong in [begin, end), begin > 0, without the last item of offsets; if
 * not, nothing is. Named gpi_rule_any_bad_<instruction set>. */
typedef bool gpi_rule_any_bad_fn(const struct gpi_content_rule *r, uint64_t begin, uint64_t end);

struct gpi_offence gpi_rule_first_offence(const gp_context *ctx, struct gpi_content_rule *rule);

#endif
