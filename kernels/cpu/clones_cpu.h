/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the loops of the CPU's kernels are compiled: once for each level of
 * vector instructions, as it is chosen at run time.
 */
#ifndef PP_CLONES_CPU_H
#define PP_CLONES_CPU_H

/* The build passes -ffp-contract=off, so that no multiplication and addition
 * become one operation with one rounding. gcc ignores the pragma for it. */
#ifdef __FAST_MATH__
#error "with -ffast-math the bits are not those of the reference"
#endif

/* Before a function: compiles it for several x86-64 levels. The loader picks
 * the best one that the machine has. This needs a compiler that knows the
 * levels and a loader with indirect functions. Thread sanitizer is left out: it
 * is not ready yet when the loader picks. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&        \
    !defined(__SANITIZE_THREAD__) && __GNUC__ >= 12
#define PP_CLONES                                                              \
  __attribute__ ((                                                             \
      target_clones ("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PP_CLONES
#endif

/* A function that is inlined in all clones, and so compiled for each level. */
#define PP_INLINE static inline __attribute__ ((always_inline))

/* Before a loop: nothing that it writes overlaps anything that it reads. For
 * loops over pointers that are not parameters with restrict. */
#ifdef __clang__
#define PP_NO_OVERLAP _Pragma ("clang loop vectorize(assume_safety)")
#else
#define PP_NO_OVERLAP _Pragma ("GCC ivdep")
#endif

#endif
