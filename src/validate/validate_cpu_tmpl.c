/* SPDX-License-Identifier: MIT */
/* Rules of whole numbers of 4 and 8 bytes in loops for vectors, compiled per instruction set. */
#include "core/ahead.h"
#include "core/paste.h"
#include "validate/validate_cpu.h"

/* The ends of offsets are looked at elsewhere. */
#define DEFINE_ANY_BAD(T)                                                                          \
    static bool any_bad_##T(const struct gpi_content_rule *r, uint64_t begin, uint64_t end)        \
    {                                                                                              \
        const T *x = r->items, flip = (T)(r->order.flip >> r->unused);                             \
        gpi_ahead(x + begin, (end - begin) * sizeof *x, GPI_AHEAD_BYTES);                          \
        const T largest = (T)(r->is_signed ? (T)-1 >> 1 : (T)-1);                                  \
        const T most = r->bound > largest ? largest : (T)(r->bound - 1);                           \
        T bad = r->kind == GPI_CONTENT_BELOW && r->bound == 0;                                     \
        if (r->kind == GPI_CONTENT_BELOW)                                                          \
            for (uint64_t i = begin; i < end; i++)                                                 \
                bad |= x[i] > most;                                                                \
        else                                                                                       \
            for (uint64_t i = begin; i < end; i++)                                                 \
                bad |= (x[i - 1] ^ flip) > (x[i] ^ flip);                                          \
        return bad;                                                                                \
    }

DEFINE_ANY_BAD(uint32_t)
DEFINE_ANY_BAD(uint64_t)

#define FUNCTION PASTE(gpi_rule_any_bad_, GPI_ISA_SUFFIX)
gpi_rule_any_bad_fn FUNCTION;

bool FUNCTION(const struct gpi_content_rule *r, uint64_t begin, uint64_t end)
{
    enum { PIECE = 512 };
    bool bad = r->order.inf || (r->unused != 0 && r->unused != 32) || r->kind == GPI_CONTENT_RANGES;
    for (uint64_t i = begin; i < end && !bad; i += PIECE) {
        const uint64_t next = end - i < PIECE ? end : i + PIECE;
        bad = r->unused ? any_bad_uint32_t(r, i, next) : any_bad_uint64_t(r, i, next);
    }
    return bad;
}
