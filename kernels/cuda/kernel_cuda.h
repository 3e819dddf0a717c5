/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernels as backend_cuda.c sees them. Any thread; the device's
 * context is current. The errors are those of the runtime call that failed;
 * they stay in the thread's last-error slot.
 */
#ifndef PP_KERNEL_CUDA_H
#define PP_KERNEL_CUDA_H

#include <cuda_runtime_api.h>

#include "kernels/engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the library has code that the device can run: loads a kernel. */
cudaError_t pp_cuda_probe (void);

/* Loads every kernel that a launch of plan may run. */
cudaError_t pp_cuda_prepare (const pp_plan *plan);

/* Queues the kernel on stream. Writes the content, not the padding.
 * multiprocessors: how many the device has.
 *
 * Rows of source may start anywhere. The fast kernels are taken where planes
 * and strides are multiples of 8 bytes, strides less than 4 GiB and, for samples
 * of 2 bytes, first bytes and pixel strides even. Where they are taken, whole words of 8 bytes are
 * read: a row's last word must be readable to its end. */
cudaError_t pp_cuda_launch (
    const pp_launch *launch, int multiprocessors, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
