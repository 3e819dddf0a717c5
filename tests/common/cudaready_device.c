/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For programs that load the plugin and use the real driver.
 */
#include "cudaframes.h"

#include "elementutil.h"

gboolean
test_cuda_ready (void)
{
  /* Says why not. */
  return test_n_backends () > CUDA_BACKEND;
}
