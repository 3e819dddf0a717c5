/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernels, as backend_cuda.c calls them. Any thread, with the
 * device's context current. A function returns the error of the runtime call
 * that failed, and leaves it in the thread's last-error slot.
 */
#ifndef PP_KERNEL_CUDA_H
#define PP_KERNEL_CUDA_H

#include <cuda_runtime_api.h>

#include "kernels/engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks that the device can run the kernels, by loading one. */
cudaError_t pp_cuda_probe (void);

/* Loads all kernels that a launch of plan may use. */
cudaError_t pp_cuda_prepare (const pp_plan *plan);

/* Queues a kernel on stream that writes the job's rows of the content.
 * multiprocessors: how many the device has.
 *
 * Rows of source may start at any address. Faster kernels are used if strides
 * are multiples of 8 bytes and below 4 GiB, planes are multiples of a sample or,
 * where chroma is interleaved, of two, and, for samples of 2 bytes, offsets and
 * pixel strides are even. They read whole aligned words of 8 bytes: a row's first
 * and last word must be readable from begin to end. */
cudaError_t pp_cuda_launch (
    const pp_launch *launch, int multiprocessors, cudaStream_t stream);

/* The same for several pictures, n at least 1: as few launches as there are
 * different kernels, and numbers that differ, in a row, and at most 16 pictures in
 * each. */
cudaError_t pp_cuda_launch_pictures (
    const pp_launch *launches, int n, int multiprocessors, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
