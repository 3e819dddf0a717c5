/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's median. It runs before the kernels that resample, on the same
 * stream. Any thread, with the device's context current. A function returns the
 * error of the runtime call that failed, and leaves it in the thread's
 * last-error slot.
 */
#ifndef PP_MEDIAN_CUDA_H
#define PP_MEDIAN_CUDA_H

#include <cuda_runtime_api.h>

#include "kernels/engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads all kernels that the median of plan may use. plan has a median. */
cudaError_t pp_cuda_prepare_median (const pp_plan *plan);

/* Queues the median on stream: from launch->source to launch->medians. Rows and
 * columns that no tap reads may be left out.
 *
 * A faster kernel is used if all planes and strides are multiples of 16 bytes,
 * and samples of a component at most 4 units apart. It writes whole words of 4
 * bytes, also behind the last sample of a row. */
cudaError_t pp_cuda_median (const pp_launch *launch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
