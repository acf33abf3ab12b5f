/* SPDX-License-Identifier: MIT */
/* Printed by GP_PRINT_BITS=1 test_float_bits cuda, on a GPU of compute capability 9.0. */
