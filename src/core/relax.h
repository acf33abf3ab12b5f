/* SPDX-License-Identifier: MIT */
#ifndef GPI_RELAX_H
#define GPI_RELAX_H

/* In a loop that waits for another thread. */
static inline void gpi_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif
