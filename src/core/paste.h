/* SPDX-License-Identifier: MIT */
/* Names of units that are compiled several times, from the macros that a unit is compiled with. */
#ifndef GPI_PASTE_H
#define GPI_PASTE_H

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define PASTE4_(a, b, c, d) a##b##c##d
#define PASTE4(a, b, c, d) PASTE4_(a, b, c, d)

#endif
