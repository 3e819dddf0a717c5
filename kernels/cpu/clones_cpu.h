/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the CPU backend's loops are compiled: for several levels of the machine.
 */
#ifndef PP_CLONES_CPU_H
#define PP_CLONES_CPU_H

/* The build passes -ffp-contract=off, so that no multiplication and addition
 * become one operation with one rounding. gcc ignores the pragma for it. */
#ifdef __FAST_MATH__
#error "with -ffast-math the bits are not those of the reference"
#endif

/* A clone of a function for each x86-64 level, chosen when the library is
 * loaded. It takes a compiler that knows the levels and a loader that knows
 * indirect functions; thread sanitizer is not up yet when these are resolved.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&        \
    !defined(__SANITIZE_THREAD__) && __GNUC__ >= 12
#define PP_CLONES                                                              \
  __attribute__ ((                                                             \
      target_clones ("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PP_CLONES
#endif

/* Inlined into every clone, where it is compiled for the clone's level. */
#define PP_INLINE static inline __attribute__ ((always_inline))

/* Before a loop: what it writes to overlaps nothing that it reads. For loops
 * over more pointers than restrict on parameters can tell. */
#ifdef __clang__
#define PP_NO_OVERLAP _Pragma ("clang loop vectorize(assume_safety)")
#else
#define PP_NO_OVERLAP _Pragma ("GCC ivdep")
#endif

#endif
