/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Built instead of backend_cuda.c where there is no CUDA toolkit. Opening it
 * fails, so that none of its other functions is ever called.
 */

#include "kernels/engine/backend.h"

static pp_status
open_context (int index, void *handle, pp_context **context, pp_error *error)
{
  (void) index;
  (void) handle;
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
