/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA backend's contexts and memory. The functions are those of backend.h;
 * the others are for the backend's own files.
 */
#ifndef PP_CONTEXT_CUDA_H
#define PP_CONTEXT_CUDA_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <sys/types.h>

#include "kernels/engine/backend.h"

/* The driver's functions, as the runtime finds them. */
struct pp_cuda_driver {
  CUresult (CUDAAPI *get_device) (CUdevice *, int);
  CUresult (CUDAAPI *retain) (CUcontext *, CUdevice);
  CUresult (CUDAAPI *release) (CUdevice);
  CUresult (CUDAAPI *push) (CUcontext);
  CUresult (CUDAAPI *pop) (CUcontext *);
  CUresult (CUDAAPI *get_error_string) (CUresult, const char **);
};

struct pp_context {
  struct pp_cuda_driver driver;
  int index;
  char name[64];
  int multiprocessors;
  CUdevice device;
  CUcontext primary;
  pid_t pid; /* of the process that opened it */
};

/* What the runtime says, and nothing left in the thread's last-error slot: it
 * is the application's too where that links the same runtime. */
const char *pp_cuda_reason (cudaError_t error);
/* What is said instead of a call that pp_exit_gate_enter forbids. */
pp_status pp_cuda_fail_ending (pp_error *error);
/* PP_OK, or the failure of call. */
pp_status pp_cuda_check (const pp_context *context, cudaError_t code,
    const char *call, pp_error *error);

pp_status pp_cuda_open (int index, pp_context **context, pp_error *error);
void pp_cuda_close (pp_context **context);
void pp_cuda_describe (const pp_context *context, char *text, size_t size);
pp_status pp_cuda_enter (pp_context *context, pp_error *error);
void pp_cuda_leave (pp_context *context);
pp_status pp_cuda_attach (pp_context *context, pp_error *error);
void pp_cuda_detach (pp_context *context);
/* Threads of the process that are: one a device. */
int pp_cuda_attached (void);
void *pp_cuda_host_alloc (pp_context *context, size_t size, pp_error *error);
void pp_cuda_host_free (pp_context *context, void *memory);
void *pp_cuda_device_alloc (pp_context *context, size_t size, pp_error *error);
void pp_cuda_device_free (pp_context *context, void *memory);

#endif
