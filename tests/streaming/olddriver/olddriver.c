/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stands for a CUDA driver of version 11.4 where the runtime looks for one, by
 * the name libcuda.so.1. The runtime asks for the version and goes no further.
 */

/* CUresult of cuda.h, which the driver of this version has. */
#define SUCCESS 0
#define SYSTEM_DRIVER_MISMATCH 803

int cuDriverGetVersion (int *version);
int cuInit (unsigned flags);

int
cuDriverGetVersion (int *version)
{
  *version = 11040;
  return SUCCESS;
}

int
cuInit (unsigned flags)
{
  (void) flags;
  return SYSTEM_DRIVER_MISMATCH;
}
