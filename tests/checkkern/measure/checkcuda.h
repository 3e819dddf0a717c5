/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calls of CUDA's runtime that must not fail.
 */
#ifndef PP_CHECKCUDA_H
#define PP_CHECKCUDA_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

/* A failure is a broken machine, not a result: says so and exits. */
static inline void
must (cudaError_t code, const char *call)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "checkkern: %s: %s\n", call, cudaGetErrorString (code));
  exit (2);
}

#endif
