/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of the CUDA runtime and driver that kernels/cuda calls, on the
 * host's memory: one device, whose work is done when it is queued. A copy from or
 * to device memory that is not inside of one of its blocks fails. Any thread.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VERSION 13000
/* Of blocks, as on a GPU. */
#define ALIGNMENT 256

/* Live blocks of device memory. */
struct block {
  struct block *next;
  char *memory;
  size_t size;
};

struct CUstream_st {
  int unused;
};

struct CUevent_st {
  double milliseconds; /* when it was recorded */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks; /* under the lock */
static _Thread_local cudaError_t last_error;

static cudaError_t
result (cudaError_t error)
{
  if (error != cudaSuccess)
    last_error = error;
  return error;
}

cudaError_t
cudaGetLastError (void)
{
  const cudaError_t error = last_error;

  last_error = cudaSuccess;
  return error;
}

const char *
cudaGetErrorString (cudaError_t error)
{
  return error == cudaSuccess ? "no error"
      : error == cudaErrorMemoryAllocation
      ? "out of memory"
      : "an error of the runtime on the host";
}

/* devices */

cudaError_t
cudaGetDeviceCount (int *count)
{
  *count = 1;
  return cudaSuccess;
}

cudaError_t
cudaDriverGetVersion (int *version)
{
  *version = VERSION;
  return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion (int *version)
{
  *version = VERSION;
  return cudaSuccess;
}

cudaError_t
cudaGetDeviceProperties (struct cudaDeviceProp *properties, int device)
{
  if (device != 0)
    return result (cudaErrorInvalidDevice);
  memset (properties, 0, sizeof *properties);
  strcpy (properties->name, "CUDA on the host");
  properties->multiProcessorCount = 4;
  return cudaSuccess;
}

cudaError_t
cudaFuncGetAttributes (
    struct cudaFuncAttributes *attributes, const void *kernel)
{
  if (kernel == NULL)
    return result (cudaErrorInvalidDeviceFunction);
  memset (attributes, 0, sizeof *attributes);
  return cudaSuccess;
}

/* the driver */

/* How many contexts are pushed; all are of the only device. */
static _Thread_local int n_pushed;

static CUresult
get_device (CUdevice *device, int ordinal)
{
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult
retain (CUcontext *context, CUdevice device)
{
  static char primary;

  (void) device;
  *context = (CUcontext) (void *) &primary;
  return CUDA_SUCCESS;
}

static CUresult
release (CUdevice device)
{
  (void) device;
  return CUDA_SUCCESS;
}

static CUresult
push (CUcontext context)
{
  if (context == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  n_pushed++;
  return CUDA_SUCCESS;
}

static CUresult
pop (CUcontext *context)
{
  *context = NULL;
  if (n_pushed == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  n_pushed--;
  return CUDA_SUCCESS;
}

static CUresult
get_current_device (CUdevice *device)
{
  *device = 0;
  return n_pushed > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult
get_error_string (CUresult error, const char **text)
{
  *text = error == CUDA_SUCCESS ? "no error" : "an error of the host's driver";
  return CUDA_SUCCESS;
}

cudaError_t
cudaGetDriverEntryPointByVersion (const char *symbol, void **function,
    unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *found)
{
  static const struct {
    const char *symbol;
    void *function;
  } entries[] = {
    { "cuDeviceGet", get_device },
    { "cuCtxGetDevice", get_current_device },
    { "cuDevicePrimaryCtxRetain", retain },
    { "cuDevicePrimaryCtxRelease", release },
    { "cuCtxPushCurrent", push },
    { "cuCtxPopCurrent", pop },
    { "cuGetErrorString", get_error_string },
  };

  (void) version;
  (void) flags;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (strcmp (symbol, entries[i].symbol) == 0) {
      *function = entries[i].function;
      *found = cudaDriverEntryPointSuccess;
      return cudaSuccess;
    }
  /* Else the backend would not open, and its tests be skipped. */
  fprintf (stderr, "%s: add %s\n", __FILE__, symbol);
  abort ();
}

/* memory */

static void *
allocate (size_t size)
{
  void *memory = NULL;

  return posix_memalign (&memory, ALIGNMENT, size) == 0 ? memory : NULL;
}

cudaError_t
cudaHostAlloc (void **memory, size_t size, unsigned flags)
{
  (void) flags;
  *memory = allocate (size);
  return result (*memory != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t
cudaFreeHost (void *memory)
{
  free (memory);
  return cudaSuccess;
}

/* Kernels read whole words, so a block ends with one, as on a GPU. */
cudaError_t
cudaMalloc (void **memory, size_t size)
{
  struct block *block = malloc (sizeof *block);
  char *bytes = allocate ((size + 15) / 16 * 16);

  *memory = bytes;
  if (block == NULL || bytes == NULL) {
    free (block);
    free (bytes);
    return result (cudaErrorMemoryAllocation);
  }
  block->memory = bytes;
  block->size = size;
  pthread_mutex_lock (&lock);
  block->next = blocks;
  blocks = block;
  pthread_mutex_unlock (&lock);
  return cudaSuccess;
}

cudaError_t
cudaFree (void *memory)
{
  struct block **at, *found;

  if (memory == NULL)
    return cudaSuccess;
  pthread_mutex_lock (&lock);
  for (at = &blocks; *at != NULL && (*at)->memory != memory;)
    at = &(*at)->next;
  found = *at;
  if (found != NULL)
    *at = found->next;
  pthread_mutex_unlock (&lock);
  if (found == NULL)
    return result (cudaErrorInvalidValue);
  free (found->memory);
  free (found);
  return cudaSuccess;
}

cudaError_t
cudaMemGetInfo (size_t *left, size_t *total)
{
  *left = *total = (size_t) 1 << 40;
  return cudaSuccess;
}

/* Whether the bytes are in one block of device memory. */
static bool
is_on_device (const void *memory, size_t size)
{
  const char *bytes = memory;
  bool inside = false;

  pthread_mutex_lock (&lock);
  for (const struct block *block = blocks; block != NULL && !inside;
       block = block->next)
    inside =
        bytes >= block->memory && bytes + size <= block->memory + block->size;
  pthread_mutex_unlock (&lock);
  return inside;
}

cudaError_t
cudaMemsetAsync (void *memory, int value, size_t size, cudaStream_t stream)
{
  (void) stream;
  if (!is_on_device (memory, size))
    return result (cudaErrorInvalidValue);
  memset (memory, value, size);
  return cudaSuccess;
}

cudaError_t
cudaMemcpy2DAsync (void *to, size_t to_row, const void *from, size_t from_row,
    size_t width, size_t rows, enum cudaMemcpyKind kind, cudaStream_t stream)
{
  (void) stream;
  if (width == 0 || rows == 0)
    return cudaSuccess;
  if (width > to_row || width > from_row ||
      (kind == cudaMemcpyHostToDevice &&
          !is_on_device (to, to_row * (rows - 1) + width)) ||
      (kind == cudaMemcpyDeviceToHost &&
          !is_on_device (from, from_row * (rows - 1) + width)))
    return result (cudaErrorInvalidValue);
  for (size_t y = 0; y < rows; y++)
    memcpy (
        (char *) to + y * to_row, (const char *) from + y * from_row, width);
  return cudaSuccess;
}

cudaError_t
cudaMemcpyAsync (void *to, const void *from, size_t size,
    enum cudaMemcpyKind kind, cudaStream_t stream)
{
  return cudaMemcpy2DAsync (to, size, from, size, size, 1, kind, stream);
}

cudaError_t
cudaMemcpy3DAsync (const struct cudaMemcpy3DParms *copy, cudaStream_t stream)
{
  const size_t from_box = copy->srcPtr.pitch * copy->srcPtr.ysize;
  const size_t to_box = copy->dstPtr.pitch * copy->dstPtr.ysize;

  for (size_t z = 0; z < copy->extent.depth; z++) {
    const cudaError_t error = cudaMemcpy2DAsync (
        (char *) copy->dstPtr.ptr + z * to_box, copy->dstPtr.pitch,
        (const char *) copy->srcPtr.ptr + z * from_box, copy->srcPtr.pitch,
        copy->extent.width, copy->extent.height, copy->kind, stream);
    if (error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

/* streams and events */

cudaError_t
cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned flags)
{
  (void) flags;
  *stream = calloc (1, sizeof **stream);
  return result (*stream != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t
cudaStreamDestroy (cudaStream_t stream)
{
  free (stream);
  return cudaSuccess;
}

cudaError_t
cudaStreamSynchronize (cudaStream_t stream)
{
  (void) stream;
  return cudaSuccess;
}

cudaError_t
cudaEventCreateWithFlags (cudaEvent_t *event, unsigned flags)
{
  (void) flags;
  *event = calloc (1, sizeof **event);
  return result (*event != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t
cudaEventDestroy (cudaEvent_t event)
{
  free (event);
  return cudaSuccess;
}

cudaError_t
cudaEventRecord (cudaEvent_t event, cudaStream_t stream)
{
  struct timespec now;

  (void) stream;
  clock_gettime (CLOCK_MONOTONIC, &now);
  pthread_mutex_lock (&lock);
  event->milliseconds = (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
  pthread_mutex_unlock (&lock);
  return cudaSuccess;
}

cudaError_t
cudaStreamWaitEvent (cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
  (void) stream;
  (void) event;
  (void) flags;
  return cudaSuccess;
}

cudaError_t
cudaEventQuery (cudaEvent_t event)
{
  (void) event;
  return cudaSuccess;
}

cudaError_t
cudaEventElapsedTime (float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
  pthread_mutex_lock (&lock);
  *milliseconds = (float) (to->milliseconds - from->milliseconds);
  pthread_mutex_unlock (&lock);
  return cudaSuccess;
}
