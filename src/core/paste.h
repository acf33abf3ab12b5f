/* SPDX-License-Identifier: MIT */
/* For units that are compiled several times: names from the macros that a unit is compiled with;
 * functions that are inlined with constants, for a loop of its own for each. */
#ifndef GPI_PASTE_H
#define GPI_PASTE_H

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define PASTE4_(a, b, c, d) a##b##c##d
#define PASTE4(a, b, c, d) PASTE4_(a, b, c, d)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
