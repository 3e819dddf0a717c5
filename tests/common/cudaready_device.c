/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For programs that load the plugin and use the real driver, and CUDA's runtime.
 */
#include "cudaframes.h"

#include <cuda_runtime_api.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>

#include "elementutil.h"

gboolean
test_cuda_ready (void)
{
  /* Says why not. */
  return test_n_backends () > CUDA_BACKEND;
}

/* The context that the runtime works in, which is the primary one. Memory can be
 * copied from other contexts, too, so that a copy alone would not tell. */
static CUcontext
primary_context (gint device)
{
  CUcontext context = NULL;

  if (cudaSetDevice (device) != cudaSuccess || cudaFree (NULL) != cudaSuccess ||
      !gst_cuda_result (CuCtxPopCurrent (&context)) ||
      !gst_cuda_result (CuCtxPushCurrent (context)))
    return NULL;
  return context;
}

gboolean
test_cuda_read_in_primary (
    const GstCudaPreprocDeviceTensor *tensor, gpointer memory, gsize size)
{
  cudaStream_t stream;

  if (primary_context (tensor->device) != tensor->context ||
      cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking) != cudaSuccess)
    return FALSE;
  gboolean good = TRUE;
  for (guint i = 0; i < tensor->n_events; i++)
    good &= cudaStreamWaitEvent (stream, (cudaEvent_t) tensor->events[i], 0) ==
        cudaSuccess;
  good &= cudaMemcpyAsync (memory, (const void *) (guintptr) tensor->data, size,
              cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
      cudaStreamSynchronize (stream) == cudaSuccess;
  cudaStreamDestroy (stream);
  return good;
}

void
test_cuda_expect_nothing_left (void)
{
}
