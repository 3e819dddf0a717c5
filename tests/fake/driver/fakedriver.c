/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stands for the CUDA driver where GStreamer's CUDA library looks for it, by the
 * name libcuda.so.1: two devices whose memory is the host's. Frames can lie in
 * CUDA memory so without a GPU. The program's fake device is told of each block,
 * since its kernels must not read any other memory.
 *
 * As with a real driver, memory belongs to the context that was current when it
 * was allocated, and a copy within the device is still under way when the call
 * returns: it is done when its stream is waited for. What must not happen aborts.
 */

#include <cuda.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/backend_fake.h"
#include "tests/fake/fakeobjects.h"

#define DEVICES 2
#define MAX_DEPTH 16
/* Rows begin at multiples of this; real ones are at 512. */
#define PITCH_ALIGNMENT ((size_t) 256)
#define MAX_COPIES 64
/* What memory holds that nobody has written to. */
#define POISON 0xa5

/* Only programs have them that have the fake device. */
#pragma weak fake_add_object
#pragma weak fake_enter_call
#pragma weak fake_remove_object

struct block {
  struct block *next;
  CUcontext context; /* any address: the fake device has contexts of its own */
  char *memory;
  size_t size;
};

static struct {
  pthread_mutex_t lock;
  struct block *blocks;
  /* On the default stream. */
  CUDA_MEMCPY2D copies[MAX_COPIES];
  int n_copies;
} driver = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread CUcontext stack[MAX_DEPTH];
static __thread int depth;

CUresult unsupported (void);
CUresult cuCtxCreate_v2 (CUcontext *context, unsigned flags, CUdevice device);
CUresult cuStreamDestroy_old (CUstream stream) __asm__("cuStreamDestroy");

static void
require (bool condition, const char *what)
{
  if (condition)
    return;
  fprintf (stderr, "fake CUDA driver: %s\n", what);
  abort ();
}

static CUcontext
current (void)
{
  require (depth > 0, "no context is current");
  return stack[depth - 1];
}

/* That of the byte at memory, or NULL. With the lock held. */
static struct block *
find_block (const char *memory)
{
  struct block *block = driver.blocks;

  while (block != NULL &&
      (memory < block->memory || memory >= block->memory + block->size))
    block = block->next;
  return block;
}

static void
require_block (CUdeviceptr address, size_t size)
{
  const char *memory = (const char *) (uintptr_t) address;
  const struct block *block = find_block (memory);

  require (block != NULL && memory + size <= block->memory + block->size,
      "a copy leaves its block");
}

/* devices */

CUresult
cuInit (unsigned flags)
{
  (void) flags;
  return CUDA_SUCCESS;
}

CUresult
cuDriverGetVersion (int *version)
{
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult
cuGetErrorName (CUresult error, const char **text)
{
  *text = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR";
  return CUDA_SUCCESS;
}

CUresult
cuGetErrorString (CUresult error, const char **text)
{
  return cuGetErrorName (error, text);
}

CUresult
cuDeviceGetCount (int *count)
{
  *count = DEVICES;
  return CUDA_SUCCESS;
}

CUresult
cuDeviceGet (CUdevice *device, int ordinal)
{
  *device = ordinal;
  return ordinal < DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult
cuDeviceGetName (char *name, int length, CUdevice device)
{
  snprintf (name, (size_t) length, "fake %d", device);
  return CUDA_SUCCESS;
}

CUresult
cuDeviceGetAttribute (int *value, CUdevice_attribute what, CUdevice device)
{
  (void) what;
  (void) device;
  *value = (int) PITCH_ALIGNMENT;
  return CUDA_SUCCESS;
}

CUresult
cuDeviceCanAccessPeer (int *can, CUdevice device, CUdevice peer)
{
  (void) device;
  (void) peer;
  *can = 0;
  return CUDA_SUCCESS;
}

/* contexts */

CUresult
cuCtxPushCurrent (CUcontext context)
{
  require (depth < MAX_DEPTH, "contexts are pushed and never popped");
  stack[depth++] = context;
  return CUDA_SUCCESS;
}

CUresult
cuCtxPopCurrent (CUcontext *context)
{
  require (depth > 0, "a context is popped that was not pushed");
  depth--;
  if (context != NULL)
    *context = stack[depth];
  return CUDA_SUCCESS;
}

CUresult
cuCtxCreate_v2 (CUcontext *context, unsigned flags, CUdevice device)
{
  (void) flags;
  (void) device;
  *context = malloc (1);
  return cuCtxPushCurrent (*context);
}

CUresult
cuCtxDestroy (CUcontext context)
{
  pthread_mutex_lock (&driver.lock);
  for (struct block *block = driver.blocks; block != NULL; block = block->next)
    require (
        block->context != context, "a context is destroyed before its memory");
  pthread_mutex_unlock (&driver.lock);
  free (context);
  return CUDA_SUCCESS;
}

/* memory */

CUresult
cuMemAlloc (CUdeviceptr *address, size_t size)
{
  struct block *block = malloc (sizeof *block);

  *block = (struct block){
    .context = current (), .memory = malloc (size), .size = size
  };
  memset (block->memory, POISON, size);
  if (fake_add_object != NULL)
    fake_add_object (FAKE_DEVICE_BLOCKS, block->context, block->memory, size);
  pthread_mutex_lock (&driver.lock);
  block->next = driver.blocks;
  driver.blocks = block;
  pthread_mutex_unlock (&driver.lock);
  *address = (CUdeviceptr) (uintptr_t) block->memory;
  return CUDA_SUCCESS;
}

CUresult
cuMemAllocPitch (CUdeviceptr *address, size_t *pitch, size_t width,
    size_t height, unsigned element)
{
  (void) element;
  *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
  return cuMemAlloc (address, *pitch * height);
}

CUresult
cuMemFree (CUdeviceptr address)
{
  pthread_mutex_lock (&driver.lock);
  struct block **link = &driver.blocks;
  while (*link != NULL && (*link)->memory != (const char *) (uintptr_t) address)
    link = &(*link)->next;
  struct block *block = *link;
  require (block != NULL, "memory is freed that is none");
  require (block->context == current (),
      "memory is freed in another context than its own");
  *link = block->next;
  pthread_mutex_unlock (&driver.lock);
  if (fake_remove_object != NULL)
    fake_remove_object (FAKE_DEVICE_BLOCKS, block->memory);
  free (block->memory);
  free (block);
  return CUDA_SUCCESS;
}

CUresult
cuMemAllocHost (void **memory, size_t size)
{
  *memory = calloc (1, size);
  return CUDA_SUCCESS;
}

CUresult
cuMemFreeHost (void *memory)
{
  free (memory);
  return CUDA_SUCCESS;
}

/* copies and streams */

static const char *
end_at (CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
    const CUDA_MEMCPY2D *copy)
{
  if (type == CU_MEMORYTYPE_HOST)
    return host;
  require (type == CU_MEMORYTYPE_DEVICE, "memory of another kind");
  require_block (device, pitch * (copy->Height - 1) + copy->WidthInBytes);
  return (const char *) (uintptr_t) device;
}

/* With the lock held. */
static void
copy_rows (const CUDA_MEMCPY2D *copy)
{
  const char *from = end_at (copy->srcMemoryType, copy->srcHost,
      copy->srcDevice, copy->srcPitch, copy);
  char *to = (char *) end_at (copy->dstMemoryType, copy->dstHost,
      copy->dstDevice, copy->dstPitch, copy);

  for (size_t y = 0; y < copy->Height; y++)
    memcpy (
        to + y * copy->dstPitch, from + y * copy->srcPitch, copy->WidthInBytes);
}

static void
finish_copies (void)
{
  for (int i = 0; i < driver.n_copies; i++)
    copy_rows (&driver.copies[i]);
  driver.n_copies = 0;
}

CUresult
cuMemcpy2DAsync (const CUDA_MEMCPY2D *copy, CUstream stream)
{
  (void) stream;
  current ();
  pthread_mutex_lock (&driver.lock);
  finish_copies ();
  copy_rows (copy);
  pthread_mutex_unlock (&driver.lock);
  return CUDA_SUCCESS;
}

CUresult
cuMemcpy2D (const CUDA_MEMCPY2D *copy)
{
  const bool on_device = copy->srcMemoryType == CU_MEMORYTYPE_DEVICE &&
      copy->dstMemoryType == CU_MEMORYTYPE_DEVICE;

  if (!on_device)
    return cuMemcpy2DAsync (copy, NULL);
  current ();
  pthread_mutex_lock (&driver.lock);
  if (driver.n_copies == MAX_COPIES)
    finish_copies ();
  driver.copies[driver.n_copies++] = *copy;
  pthread_mutex_unlock (&driver.lock);
  return CUDA_SUCCESS;
}

CUresult
cuStreamCreate (CUstream *stream, unsigned flags)
{
  (void) flags;
  current ();
  *stream = malloc (1);
  return CUDA_SUCCESS;
}

CUresult
cuStreamDestroy_old (CUstream stream)
{
  free (stream);
  return CUDA_SUCCESS;
}

CUresult
cuStreamDestroy_v2 (CUstream stream)
{
  return cuStreamDestroy_old (stream);
}

CUresult
cuStreamSynchronize (CUstream stream)
{
  pp_error error;

  (void) stream;
  current ();
  pthread_mutex_lock (&driver.lock);
  finish_copies ();
  pthread_mutex_unlock (&driver.lock);
  return fake_enter_call != NULL &&
          fake_enter_call (FAKE_DRIVER_SYNC, &error) != PP_OK
      ? CUDA_ERROR_LAUNCH_FAILED
      : CUDA_SUCCESS;
}

/* The library asks for these, too, in one version or another, and no test needs
 * them. */

CUresult
unsupported (void)
{
  return CUDA_ERROR_NOT_SUPPORTED;
}

#define UNSUPPORTED(name)                                                      \
  __asm__(".globl " name "\n.set " name ", unsupported\n.type " name           \
          ", %function\n");

UNSUPPORTED ("cuCtxDisablePeerAccess")
UNSUPPORTED ("cuCtxEnablePeerAccess")
UNSUPPORTED ("cuCtxGetLimit")
UNSUPPORTED ("cuCtxSetLimit")
UNSUPPORTED ("cuCtxSynchronize")
UNSUPPORTED ("cuDeviceGetUuid")
UNSUPPORTED ("cuEventCreate")
UNSUPPORTED ("cuEventDestroy_v2")
UNSUPPORTED ("cuEventRecord")
UNSUPPORTED ("cuEventSynchronize")
UNSUPPORTED ("cuGLGetDevices_v2")
UNSUPPORTED ("cuGraphicsGLRegisterBuffer")
UNSUPPORTED ("cuGraphicsGLRegisterImage")
UNSUPPORTED ("cuGraphicsMapResources")
UNSUPPORTED ("cuGraphicsResourceGetMappedPointer_v2")
UNSUPPORTED ("cuGraphicsResourceSetMapFlags_v2")
UNSUPPORTED ("cuGraphicsSubResourceGetMappedArray")
UNSUPPORTED ("cuGraphicsUnmapResources")
UNSUPPORTED ("cuGraphicsUnregisterResource")
UNSUPPORTED ("cuIpcCloseMemHandle")
UNSUPPORTED ("cuIpcGetEventHandle")
UNSUPPORTED ("cuIpcGetMemHandle")
UNSUPPORTED ("cuIpcOpenEventHandle")
UNSUPPORTED ("cuIpcOpenMemHandle")
UNSUPPORTED ("cuLaunchKernel")
UNSUPPORTED ("cuMemcpyDtoDAsync_v2")
UNSUPPORTED ("cuMemcpyDtoD_v2")
UNSUPPORTED ("cuMemcpyDtoHAsync_v2")
UNSUPPORTED ("cuMemcpyDtoH_v2")
UNSUPPORTED ("cuMemcpyHtoDAsync_v2")
UNSUPPORTED ("cuMemcpyHtoD_v2")
UNSUPPORTED ("cuMemsetD2D16Async")
UNSUPPORTED ("cuMemsetD2D16_v2")
UNSUPPORTED ("cuMemsetD2D32Async")
UNSUPPORTED ("cuMemsetD2D32_v2")
UNSUPPORTED ("cuMemsetD2D8Async")
UNSUPPORTED ("cuMemsetD2D8_v2")
UNSUPPORTED ("cuModuleGetFunction")
UNSUPPORTED ("cuModuleLoadData")
UNSUPPORTED ("cuModuleUnload")
UNSUPPORTED ("cuTexObjectCreate")
UNSUPPORTED ("cuTexObjectDestroy")
