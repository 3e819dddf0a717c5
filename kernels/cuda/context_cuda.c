/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Opens a CUDA device, makes its context current, allocates its memory.
 *
 * The context is the device's primary one, which all users of the runtime
 * share, or one that the caller has and keeps. enter pushes it and leave pops it,
 * so that the application's current context and device stay as they are. The runtime works on the current
 * context, so that cudaSetDevice is never called. The driver's functions are
 * asked of the runtime: libcuda is not linked, so that the plugin also loads
 * without a driver.
 */

#include "context_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit_gate.h"
#include "kernel_cuda.h"
#include "kernels/engine/forked.h"

const char *
pp_cuda_reason (cudaError_t error)
{
  cudaGetLastError ();
  return cudaGetErrorString (error);
}

static pp_status
fail (const pp_context *context, cudaError_t code, const char *call,
    pp_error *error)
{
  return pp_fail (error,
      code == cudaErrorMemoryAllocation ? PP_NO_MEMORY : PP_DEVICE_FAILED,
      "%s on device %d (%s): %s", call, context->index, context->name,
      pp_cuda_reason (code));
}

pp_status
pp_cuda_check (const pp_context *context, cudaError_t code, const char *call,
    pp_error *error)
{
  return code == cudaSuccess ? PP_OK : fail (context, code, call, error);
}

pp_status
pp_cuda_fail_ending (pp_error *error)
{
  return pp_fail (error, PP_DEVICE_FAILED,
      "the process is exiting: CUDA is not called any more");
}

static const char *
driver_reason (const struct pp_cuda_driver *driver, CUresult code)
{
  const char *text = NULL;

  if (driver->get_error_string (code, &text) != CUDA_SUCCESS || text == NULL)
    text = "unknown driver error";
  return text;
}

/* version: the CUDA version of the function's signature, as in cudaTypedefs.h.
 */
static cudaError_t
get_entry_point (const char *symbol, void **function, unsigned version)
{
  enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  const cudaError_t code = cudaGetDriverEntryPointByVersion (
      symbol, function, version, cudaEnableDefault, &found);
#else
  (void) version;
  const cudaError_t code =
      cudaGetDriverEntryPoint (symbol, function, cudaEnableDefault, &found);
#endif

  if (code == cudaSuccess && found != cudaDriverEntryPointSuccess)
    return cudaErrorSymbolNotFound;
  return code;
}

static pp_status
load_driver (struct pp_cuda_driver *driver, pp_error *error)
{
  const struct {
    const char *symbol;
    void *pointer; /* to the function pointer */
    unsigned version;
  } entries[] = {
    { "cuDeviceGet", &driver->get_device, 2000 },
    { "cuCtxGetDevice", &driver->get_current_device, 2000 },
    { "cuDevicePrimaryCtxRetain", &driver->retain, 7000 },
    { "cuDevicePrimaryCtxRelease", &driver->release, 11000 },
    { "cuCtxPushCurrent", &driver->push, 4000 },
    { "cuCtxPopCurrent", &driver->pop, 4000 },
    { "cuGetErrorString", &driver->get_error_string, 6000 },
  };

  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *function = NULL;
    const cudaError_t code =
        get_entry_point (entries[i].symbol, &function, entries[i].version);
    if (code != cudaSuccess)
      return pp_fail (error, PP_NO_DEVICE, "the CUDA driver's %s: %s",
          entries[i].symbol, pp_cuda_reason (code));
    memcpy (entries[i].pointer, &function, sizeof function);
  }
  return PP_OK;
}

/* CUDA versions are 1000 * major + 10 * minor; 0 means that there is no driver.
 */
static pp_status
count_devices (int *count, pp_error *error)
{
  int driver = 0, runtime = 0;
  const cudaError_t code = cudaGetDeviceCount (count);

  if (code == cudaSuccess && *count > 0)
    return PP_OK;
  cudaDriverGetVersion (&driver);
  cudaRuntimeGetVersion (&runtime);
  const char *why =
      pp_cuda_reason (code == cudaSuccess ? cudaErrorNoDevice : code);
  if (driver == 0)
    return pp_fail (error, PP_NO_DEVICE,
        "cudaGetDeviceCount: %s (no CUDA driver found, runtime %d.%d)", why,
        runtime / 1000, runtime % 1000 / 10);
  return pp_fail (error, PP_NO_DEVICE,
      "cudaGetDeviceCount: %s (driver for CUDA %d.%d, runtime %d.%d)", why,
      driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

static pp_status
retain_primary (pp_context *context, pp_error *error)
{
  const struct pp_cuda_driver *driver = &context->driver;
  CUresult code = driver->get_device (&context->device, context->index);

  if (code == CUDA_SUCCESS)
    code = driver->retain (&context->primary, context->device);
  if (code == CUDA_SUCCESS) {
    if (context->current == NULL)
      context->current = context->primary;
    return PP_OK;
  }
  context->primary = NULL;
  return pp_fail (error,
      code == CUDA_ERROR_OUT_OF_MEMORY ? PP_NO_MEMORY : PP_NO_DEVICE,
      "cuDevicePrimaryCtxRetain of device %d (%s): %s", context->index,
      context->name, driver_reason (driver, code));
}

/* The process that first used the driver; 0: none. Atomic. */
static pid_t first_user;

/* The number of the device that the caller's context is of. index: as it was
 * asked for. */
static pp_status
find_index (pp_context *context, int index, int count, pp_error *error)
{
  const struct pp_cuda_driver *driver = &context->driver;
  CUdevice device = 0, other = 0;
  CUcontext popped;
  const char *call = "cuCtxPushCurrent";
  CUresult code = driver->push (context->current);

  if (code == CUDA_SUCCESS) {
    call = "cuCtxGetDevice";
    code = driver->get_current_device (&device);
    driver->pop (&popped);
  }
  if (code != CUDA_SUCCESS)
    return pp_fail (error, PP_BAD_ARGUMENT, "%s of the context %p: %s", call,
        (void *) context->current, driver_reason (driver, code));

  int found = 0;
  while (found < count &&
      (driver->get_device (&other, found) != CUDA_SUCCESS || other != device))
    found++;
  if (found == count || (index >= 0 && index != found))
    return pp_fail (error, PP_BAD_ARGUMENT,
        "the context %p is of device %d, but device %d was asked for",
        (void *) context->current, found, index);
  context->index = found;
  return PP_OK;
}

/* handle: the caller's context, or NULL. */
static pp_status
find_device (pp_context *context, int index, void *handle, pp_error *error)
{
  struct cudaDeviceProp properties;
  int count = 0;
  pp_status status = count_devices (&count, error);

  if (status != PP_OK)
    return status;
  __atomic_store_n (&first_user, context->pid, __ATOMIC_RELAXED);
  status = load_driver (&context->driver, error);
  context->current = handle;
  context->index = index < 0 ? 0 : index;
  if (status == PP_OK && handle != NULL)
    status = find_index (context, index, count, error);
  if (status != PP_OK)
    return status;
  if (context->index >= count)
    return pp_fail (error, PP_NO_DEVICE,
        "there is no CUDA device %d: %d found, counted from 0", context->index,
        count);
  const cudaError_t code =
      cudaGetDeviceProperties (&properties, context->index);
  if (code != cudaSuccess)
    return pp_fail (error, PP_NO_DEVICE,
        "cudaGetDeviceProperties of device %d: %s", context->index,
        pp_cuda_reason (code));
  snprintf (context->name, sizeof context->name, "%.*s",
      (int) sizeof context->name - 1, properties.name);
  context->multiprocessors = properties.multiProcessorCount;
  return PP_OK;
}

static pp_status
push (pp_context *context, pp_error *error)
{
  if (pp_is_forked (context->pid))
    return pp_fail (error, PP_DEVICE_FAILED,
        "device %d (%s) was opened by process %ld: CUDA does not survive a "
        "fork",
        context->index, context->name, (long) context->pid);
  const CUresult code = context->driver.push (context->current);
  if (code != CUDA_SUCCESS)
    return pp_fail (error, PP_DEVICE_FAILED,
        "cuCtxPushCurrent on device %d (%s): %s", context->index, context->name,
        driver_reason (&context->driver, code));
  return PP_OK;
}

static void
pop (pp_context *context)
{
  CUcontext popped;

  context->driver.pop (&popped);
}

pp_status
pp_cuda_enter (pp_context *context, pp_error *error)
{
  if (!pp_exit_gate_enter ())
    return pp_cuda_fail_ending (error);
  const pp_status status = push (context, error);
  if (status != PP_OK)
    pp_exit_gate_leave ();
  return status;
}

void
pp_cuda_leave (pp_context *context)
{
  pop (context);
  pp_exit_gate_leave ();
}

static int attached; /* threads; atomic */

int
pp_cuda_attached (void)
{
  return __atomic_load_n (&attached, __ATOMIC_RELAXED);
}

pp_status
pp_cuda_attach (pp_context *context, pp_error *error)
{
  const pp_status status = pp_cuda_enter (context, error);

  if (status == PP_OK) {
    pp_exit_gate_leave ();
    __atomic_fetch_add (&attached, 1, __ATOMIC_RELAXED);
  }
  return status;
}

void
pp_cuda_detach (pp_context *context)
{
  __atomic_fetch_sub (&attached, 1, __ATOMIC_RELAXED);
  if (!pp_exit_gate_enter ())
    return;
  pp_cuda_leave (context);
}

/* Fails if the device cannot run the kernels: it may be older than all GPUs
 * that they were compiled for. */
static pp_status
probe (pp_context *context, pp_error *error)
{
  pp_status status = pp_cuda_enter (context, error);

  if (status != PP_OK)
    return status;
  status =
      pp_cuda_check (context, pp_cuda_probe (), "loading the kernels", error);
  pp_cuda_leave (context);
  if (status == PP_DEVICE_FAILED) {
    status = PP_NO_DEVICE;
    if (error != NULL)
      error->status = status;
  }
  return status;
}

void
pp_cuda_close (pp_context **address)
{
  pp_context *context = *address;

  *address = NULL;
  if (context == NULL)
    return;
  if (context->primary != NULL && !pp_is_forked (context->pid) &&
      pp_exit_gate_enter ()) {
    context->driver.release (context->device);
    pp_exit_gate_leave ();
  }
  free (context);
}

static pp_status
bring_up (pp_context *context, int index, void *handle, pp_error *error)
{
  pp_status status = find_device (context, index, handle, error);

  if (status == PP_OK)
    status = retain_primary (context, error);
  if (status == PP_OK)
    status = probe (context, error);
  if (status == PP_OK)
    pp_exit_gate_install ();
  return status;
}

/* Fails in a forked child if its parent used CUDA. The driver would only say
 * that there is no device. */
static pp_status
check_forks (pp_error *error)
{
  const pid_t first = __atomic_load_n (&first_user, __ATOMIC_RELAXED);

  if (first == 0 || !pp_is_forked (first))
    return PP_OK;
  return pp_fail (error, PP_NO_DEVICE,
      "process %ld used CUDA before process %ld was forked from it: CUDA does "
      "not survive a fork",
      (long) first, (long) getpid ());
}

pp_status
pp_cuda_open (int index, void *handle, pp_context **address, pp_error *error)
{
  pp_context *context = calloc (1, sizeof *context);

  *address = NULL;
  if (context == NULL)
    return pp_fail_memory (error, "calloc", sizeof *context);
  context->pid = getpid ();
  pp_status status = check_forks (error);
  if (status == PP_OK && pp_exit_gate_enter ()) {
    status = bring_up (context, index, handle, error);
    pp_exit_gate_leave ();
  } else if (status == PP_OK) {
    status = pp_cuda_fail_ending (error);
  }
  if (status == PP_OK)
    *address = context;
  else
    pp_cuda_close (&context);
  return status;
}

void
pp_cuda_describe (const pp_context *context, char *text, size_t size)
{
  snprintf (text, size, "cuda: %s (device %d)", context->name, context->index);
}

void
pp_cuda_identify (const pp_context *context, int *index, void **handle)
{
  *index = context->index;
  *handle = context->current;
}

/* Not write-combined, since the CPU reads frames and tensors. Portable, so that
 * all contexts of the process can copy from it directly. */
void *
pp_cuda_host_alloc (pp_context *context, size_t size, pp_error *error)
{
  void *memory = NULL;
  const cudaError_t code = cudaHostAlloc (&memory, size, cudaHostAllocPortable);

  if (code == cudaSuccess)
    return memory;
  pp_fail (error, PP_NO_MEMORY,
      "cudaHostAlloc of %zu bytes for device %d (%s), %s: %s", size,
      context->index, context->name, pp_describe_memory_left ().text,
      pp_cuda_reason (code));
  return NULL;
}

void
pp_cuda_host_free (pp_context *context, void *memory)
{
  (void) context;
  if (cudaFreeHost (memory) != cudaSuccess)
    cudaGetLastError ();
}

/* Sets new memory to 0, and waits for it. Kernels read whole words, so also
 * bytes behind a row that nobody writes; tools would report these as
 * uninitialised. */
static pp_status
clear (pp_context *context, void *memory, size_t size, pp_error *error)
{
  cudaError_t code = cudaMemsetAsync (memory, 0, size, cudaStreamPerThread);

  if (code == cudaSuccess)
    code = cudaStreamSynchronize (cudaStreamPerThread);
  return pp_cuda_check (context, code, "cudaMemsetAsync", error);
}

void *
pp_cuda_device_alloc (pp_context *context, size_t size, pp_error *error)
{
  void *memory = NULL;
  size_t free_size = 0, total = 0;
  const cudaError_t code = cudaMalloc (&memory, size);

  if (code == cudaSuccess && clear (context, memory, size, error) == PP_OK)
    return memory;
  if (code == cudaSuccess) {
    pp_cuda_device_free (context, memory);
    return NULL;
  }
  const char *why = pp_cuda_reason (code);
  if (cudaMemGetInfo (&free_size, &total) != cudaSuccess)
    cudaGetLastError ();
  pp_fail (error, PP_NO_MEMORY,
      "cudaMalloc of %zu bytes on device %d (%s), %zu of %zu bytes free: %s",
      size, context->index, context->name, free_size, total, why);
  return NULL;
}

void
pp_cuda_device_free (pp_context *context, void *memory)
{
  (void) context;
  if (cudaFree (memory) != cudaSuccess)
    cudaGetLastError ();
}
