/* SPDX-License-Identifier: MIT */
#ifndef GPI_VALIDATE_CPU_H
#define GPI_VALIDATE_CPU_H

#include "validate/validate_rule.h"

/* The first item that breaks a rule, if the verdict has one. */
struct gpi_offence {
    struct gpi_verdict verdict;
    uint64_t index, value;
};

struct gpi_offence gpi_rule_first_offence(const gp_context *ctx, struct gpi_content_rule *rule);

#endif
