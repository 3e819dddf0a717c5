/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernel that gathers rows: it reads them from pinned host memory and
 * writes them to the device, in place of many small copies. Any thread, with
 * the device's context current. A function returns the error of the runtime
 * call that failed, and leaves it in the thread's last-error slot.
 */
#ifndef PP_GATHER_CUDA_H
#define PP_GATHER_CUDA_H

#include <cuda_runtime_api.h>

#include "kernels/engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the kernel. */
cudaError_t pp_cuda_prepare_gather (void);

/* Queues the kernel on stream. The planes are in memory of cudaHostAlloc, which
 * has the same address on the device. The kernel reads aligned words of 16
 * bytes, so also bytes beside a row; they are inside the allocation, which ends
 * with a whole word. */
cudaError_t pp_cuda_gather (const pp_gather *gather, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
