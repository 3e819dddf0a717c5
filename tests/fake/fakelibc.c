/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The C library's calls that can fail, as everything that is linked statically
 * sees them (ld --wrap). GLib and GStreamer have the real ones.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "backend_fake.h"

void *__real_malloc (size_t size);
void *__wrap_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__real_realloc (void *memory, size_t size);
void *__wrap_realloc (void *memory, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);
int __real_posix_memalign (void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign (void **memory, size_t alignment, size_t size);
int __real_pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
    void *(*start) (void *), void *data);
int __wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
    void *(*start) (void *), void *data);

static int
fails (fake_call call)
{
  return fake_enter_call (call, NULL) != PP_OK;
}

void *
__wrap_malloc (size_t size)
{
  return fails (FAKE_MALLOC) ? NULL : __real_malloc (size);
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return fails (FAKE_MALLOC) ? NULL : __real_calloc (n, size);
}

void *
__wrap_realloc (void *memory, size_t size)
{
  return fails (FAKE_MALLOC) ? NULL : __real_realloc (memory, size);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return fails (FAKE_ALIGNED) ? NULL : __real_aligned_alloc (alignment, size);
}

int
__wrap_posix_memalign (void **memory, size_t alignment, size_t size)
{
  return fails (FAKE_ALIGNED) ? ENOMEM
                              : __real_posix_memalign (memory, alignment, size);
}

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
    void *(*start) (void *), void *data)
{
  return fails (FAKE_THREAD)
      ? EAGAIN
      : __real_pthread_create (thread, attributes, start, data);
}
