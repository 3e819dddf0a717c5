/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernel that writes the padding of several tensors on the device. Any
 * thread, with the device's context current. A function returns the error of the
 * runtime call that failed, and leaves it in the thread's last-error slot.
 */
#ifndef PP_PADDING_CUDA_H
#define PP_PADDING_CUDA_H

#include <cuda_runtime_api.h>

#include "kernels/engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the kernel. */
cudaError_t pp_cuda_prepare_padding (void);

/* Queues the kernel on stream: it writes all but the content of the launches'
 * tensors, or with content all of them. The tensors have one size, type and
 * layout, n of them at most PP_MAX_PICTURES. Bytes that are no elements are left
 * as they are. */
cudaError_t pp_cuda_fill_padding (
    const pp_launch *launches, int n, bool content, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
