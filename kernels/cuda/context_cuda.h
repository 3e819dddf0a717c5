/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA backend's contexts and memory. pp_cuda_open to pp_cuda_device_free
 * are functions of pp_backend: engine/backend.h describes them. The others are
 * used by the backend's own files.
 */
#ifndef PP_CONTEXT_CUDA_H
#define PP_CONTEXT_CUDA_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <sys/types.h>

#include "kernels/engine/backend.h"

/* Functions of the driver. The runtime finds them, so that libcuda is not
 * linked. */
struct pp_cuda_driver {
  CUresult (CUDAAPI *get_device) (CUdevice *, int);
  CUresult (CUDAAPI *get_current_device) (CUdevice *);
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
  CUcontext primary; /* retained */
  CUcontext current; /* that this works in: the primary one or the caller's */
  pid_t pid;         /* of the process that opened it */
};

/* The runtime's text for an error. Clears the thread's last-error slot, since
 * the application may use the same runtime and would find the error there. */
const char *pp_cuda_reason (cudaError_t error);
/* Fails because the process is exiting: pp_exit_gate_enter returned false. */
pp_status pp_cuda_fail_ending (pp_error *error);
/* PP_OK, or fails with the name of the call, the device and the runtime's text.
 */
pp_status pp_cuda_check (const pp_context *context, cudaError_t code,
    const char *call, pp_error *error);

pp_status pp_cuda_open (
    int index, void *handle, pp_context **context, pp_error *error);
void pp_cuda_close (pp_context **context);
void pp_cuda_describe (const pp_context *context, char *text, size_t size);
void pp_cuda_identify (const pp_context *context, int *index, void **handle);
pp_status pp_cuda_enter (pp_context *context, pp_error *error);
void pp_cuda_leave (pp_context *context);
pp_status pp_cuda_attach (pp_context *context, pp_error *error);
void pp_cuda_detach (pp_context *context);
/* How many threads of the process are attached: one for each opened device. */
int pp_cuda_attached (void);
void *pp_cuda_host_alloc (pp_context *context, size_t size, pp_error *error);
void pp_cuda_host_free (pp_context *context, void *memory);
void *pp_cuda_device_alloc (pp_context *context, size_t size, pp_error *error);
void pp_cuda_device_free (pp_context *context, void *memory);

#endif
