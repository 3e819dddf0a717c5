/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Freed blocks are kept, by their exact size, because decoders recreate their
 * pools and pinning memory costs milliseconds. What is kept and used together
 * never exceeds the most that was ever in use, so that memory stays flat when sizes
 * change. Taking and freeing a block cost the same however many are kept.
 */

#include "arena.h"

#include <pthread.h>
#include <stdlib.h>

#include "forked.h"

/* Kept even if less than that was ever in use. */
#define MIN_KEPT_SIZE ((size_t) 64 << 20)

/* Blocks are found by size in this many lists. */
#define BUCKETS 64

/* Written into the free block itself: blocks are at least 256 bytes. Each is in
 * two lists: that of all, and that of its bucket. */
struct free_block {
  struct free_block *newer, *older; /* freed after and before it */
  struct free_block *next, *previous;
  size_t size;
};

struct pp_arena {
  const pp_backend *backend;
  pp_context *context;
  pid_t process;
  int32_t references; /* atomic */
  pthread_mutex_t lock;
  struct free_block *newest, *oldest; /* of those that are kept */
  struct free_block *bucket[BUCKETS]; /* the same, newest first */
  size_t kept_size, used_size, peak_size;
  bool keeps;
};

/* Backends align to at least this; sizes are rounded up to it. */
#define BLOCK_ALIGNMENT ((size_t) 256)

static size_t
block_size (size_t size)
{
  return (size + BLOCK_ALIGNMENT - 1) & ~(BLOCK_ALIGNMENT - 1);
}

pp_arena *
pp_arena_new (const pp_backend *backend, int index, pp_error *error)
{
  pp_arena *arena = calloc (1, sizeof *arena);

  if (arena == NULL) {
    pp_fail_memory (error, "calloc", sizeof *arena);
    return NULL;
  }
  if (backend->open (index, &arena->context, error) != PP_OK) {
    free (arena);
    return NULL;
  }
  arena->backend = backend;
  arena->process = getpid ();
  arena->references = 1;
  arena->keeps = true;
  pthread_mutex_init (&arena->lock, NULL);
  return arena;
}

pp_arena *
pp_arena_ref (pp_arena *arena)
{
  __atomic_fetch_add (&arena->references, 1, __ATOMIC_RELAXED);
  return arena;
}

/* Gives blocks back to the backend: a list through next. */
static void
release (pp_arena *arena, struct free_block *block)
{
  if (block == NULL || arena->backend->enter (arena->context, NULL) != PP_OK)
    return;
  while (block != NULL) {
    struct free_block *next = block->next;
    arena->backend->host_free (arena->context, block);
    block = next;
  }
  arena->backend->leave (arena->context);
}

pp_context *
pp_arena_context (pp_arena *arena)
{
  return arena->context;
}

static struct free_block **
bucket_of (pp_arena *arena, size_t size)
{
  return &arena->bucket[size / BLOCK_ALIGNMENT % BUCKETS];
}

/* Under the lock. */
static void
keep (pp_arena *arena, struct free_block *block)
{
  struct free_block **bucket = bucket_of (arena, block->size);

  block->newer = NULL;
  block->older = arena->newest;
  if (arena->newest != NULL)
    arena->newest->newer = block;
  else
    arena->oldest = block;
  arena->newest = block;

  block->previous = NULL;
  block->next = *bucket;
  if (*bucket != NULL)
    (*bucket)->previous = block;
  *bucket = block;
  arena->kept_size += block->size;
}

/* Under the lock. */
static void
take (pp_arena *arena, struct free_block *block)
{
  if (block->newer != NULL)
    block->newer->older = block->older;
  else
    arena->newest = block->older;
  if (block->older != NULL)
    block->older->newer = block->newer;
  else
    arena->oldest = block->newer;

  if (block->previous != NULL)
    block->previous->next = block->next;
  else
    *bucket_of (arena, block->size) = block->next;
  if (block->next != NULL)
    block->next->previous = block->previous;
  arena->kept_size -= block->size;
}

/* Under the lock: the one of that size that was freed last, or NULL. */
static void *
take_kept (pp_arena *arena, size_t size)
{
  struct free_block *block = *bucket_of (arena, size);

  while (block != NULL && block->size != size)
    block = block->next;
  if (block != NULL)
    take (arena, block);
  return block;
}

/* Under the lock: takes the blocks freed longest ago, until no more than the limit
 * is kept and used. A list through next. */
static struct free_block *
take_surplus (pp_arena *arena)
{
  const size_t limit = !arena->keeps     ? 0
      : arena->peak_size > MIN_KEPT_SIZE ? arena->peak_size
                                         : MIN_KEPT_SIZE;
  struct free_block *surplus = NULL;

  while (arena->oldest != NULL && arena->kept_size + arena->used_size > limit) {
    struct free_block *block = arena->oldest;

    take (arena, block);
    block->next = surplus;
    surplus = block;
  }
  return surplus;
}

void
pp_arena_unref (pp_arena **address)
{
  pp_arena *arena = *address;

  *address = NULL;
  if (arena == NULL ||
      __atomic_sub_fetch (&arena->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  arena->keeps = false;
  release (arena, take_surplus (arena));
  arena->backend->close (&arena->context);
  pthread_mutex_destroy (&arena->lock);
  free (arena);
}

void
pp_arena_keep_nothing (pp_arena *arena)
{
  pthread_mutex_lock (&arena->lock);
  arena->keeps = false;
  struct free_block *surplus = take_surplus (arena);
  pthread_mutex_unlock (&arena->lock);
  release (arena, surplus);
}

/* Under the lock. */
static void
count_used (pp_arena *arena, size_t size)
{
  arena->used_size += size;
  if (arena->used_size > arena->peak_size)
    arena->peak_size = arena->used_size;
}

/* A block from the backend, which takes long. */
static void *
allocate (pp_arena *arena, size_t size, pp_error *error)
{
  /* What is kept makes room for it first. */
  pthread_mutex_lock (&arena->lock);
  arena->used_size += size;
  struct free_block *surplus = take_surplus (arena);
  pthread_mutex_unlock (&arena->lock);
  release (arena, surplus);

  void *block = NULL;
  if (arena->backend->enter (arena->context, error) == PP_OK) {
    block = arena->backend->host_alloc (arena->context, size, error);
    arena->backend->leave (arena->context);
  }
  pthread_mutex_lock (&arena->lock);
  arena->used_size -= size;
  if (block != NULL)
    count_used (arena, size);
  pthread_mutex_unlock (&arena->lock);
  return block;
}

void *
pp_arena_alloc (pp_arena *arena, size_t size, pp_error *error)
{
  if (pp_is_forked (arena->process)) {
    pp_fail_forked (arena->process, error);
    return NULL;
  }
  if (size > PTRDIFF_MAX) { /* it could not be rounded up */
    pp_fail_memory (error, "pp_arena_alloc", size);
    return NULL;
  }
  const size_t rounded = block_size (size);
  pthread_mutex_lock (&arena->lock);
  void *block = take_kept (arena, rounded);
  if (block != NULL)
    count_used (arena, rounded);
  pthread_mutex_unlock (&arena->lock);
  if (block == NULL)
    block = allocate (arena, rounded, error);
  if (block != NULL)
    pp_arena_ref (arena);
  return block;
}

void
pp_arena_free (pp_arena *arena, void *memory, size_t size)
{
  struct free_block *block = memory;

  if (block == NULL || pp_is_forked (arena->process))
    return;
  pthread_mutex_lock (&arena->lock);
  block->size = block_size (size);
  keep (arena, block);
  arena->used_size -= block->size;
  struct free_block *surplus = take_surplus (arena);
  pthread_mutex_unlock (&arena->lock);
  release (arena, surplus);
  pp_arena_unref (&arena);
}

pp_status
pp_arena_download (pp_arena *arena, const void *device, void *host, size_t size,
    pp_error *error)
{
  (void) arena;
  (void) device;
  (void) host;
  return pp_fail (error, PP_BAD_ARGUMENT,
      "download of %zu bytes: the arena is of host memory", size);
}

pp_status
pp_arena_upload (pp_arena *arena, void *device, const void *host, size_t size,
    pp_error *error)
{
  (void) arena;
  (void) device;
  (void) host;
  return pp_fail (error, PP_BAD_ARGUMENT,
      "upload of %zu bytes: the arena is of host memory", size);
}
