/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads the fake CUDA driver when the program starts. Who looks for a driver by the
 * name libcuda.so.1 later, finds it there.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__ ((constructor)) static void
load_driver (void)
{
  if (dlopen (FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL) != NULL)
    return;
  fprintf (stderr, "the fake CUDA driver: %s\n", dlerror ());
  abort ();
}
