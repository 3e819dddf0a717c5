/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's median, which runs before the kernels that resample. Any thread;
 * the device's context is current. The errors are those of the runtime call
 * that failed; they stay in the thread's last-error slot.
 */
#ifndef PP_MEDIAN_CUDA_H
#define PP_MEDIAN_CUDA_H

#include <cuda_runtime_api.h>

#include "kernels/engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads every kernel that a median of plan, which has one, may run. */
cudaError_t pp_cuda_prepare_median (const pp_plan *plan);

/* Queues the median of launch's source, to its medians, on stream. Rows and
 * columns that no tap reads may stay as they are.
 *
 * The fast kernel is taken where all planes and strides are multiples of 16
 * bytes and samples of a component at most 4 units apart. Then whole words of 4
 * bytes are written: what follows a row's last sample in its word is lost. */
cudaError_t pp_cuda_median (const pp_launch *launch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
