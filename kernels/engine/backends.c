/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of backends. pp_device_open looks one up by its id; nothing else in
 * the engine knows which there are.
 */
#include "backends.h"

#include "kernels/table.h"

static const pp_backend *const backends[] = {
  [PP_BACKEND_CUDA] = &pp_backend_cuda,
  [PP_BACKEND_CPU] = &pp_backend_cpu,
};
PP_CHECK_TABLE (backends, PP_N_BACKENDS);

const pp_backend *
pp_backend_find (pp_backend_id id)
{
  return backends[id];
}
