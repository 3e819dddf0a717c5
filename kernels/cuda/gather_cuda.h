/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernel that fetches rows from pinned memory. Any thread; the device's
 * context is current. The errors are those of the runtime call that failed;
 * they stay in the thread's last-error slot.
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

/* Queues the kernel on stream. The planes' memory is pinned and has the same
 * address on the device, as all of cudaHostAlloc's has. Aligned words of 16
 * bytes are read that hold a byte of a row: pinned memory ends with one. */
cudaError_t pp_cuda_gather (const pp_gather *gather, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
