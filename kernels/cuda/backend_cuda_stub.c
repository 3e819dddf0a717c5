/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stands in for backend_cuda.c where there is no CUDA toolkit at build time.
 * It opens nothing, so that nothing else of it is ever called.
 */

#include "kernels/engine/backend.h"

static pp_status
open_context (int index, pp_context **context, pp_error *error)
{
  (void) index;
  *context = NULL;
  return pp_fail (error, PP_NO_DEVICE,
      "built without CUDA: install the CUDA toolkit (nvcc) and configure the "
      "build again");
}

const pp_backend pp_backend_cuda = {
  .id = PP_BACKEND_CUDA,
  .name = "cuda",
  .unified = false,
  .open = open_context,
};
