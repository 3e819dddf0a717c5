/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Freed blocks are kept, by their exact size, because decoders recreate their
 * pools and pinning memory costs milliseconds. What is kept never exceeds the
 * most that was ever in use, so that memory stays flat when sizes change.
 */

#include "arena.h"

#include <pthread.h>
#include <stdlib.h>

#include "forked.h"

/* Kept even if less than that was ever in use. */
#define KEEP_AT_LEAST ((size_t) 64 << 20)

/* Written into the free block itself: blocks are at least 256 bytes. */
struct free_block {
  struct free_block *next;
  size_t size;
};

struct pp_arena {
  const pp_backend *backend;
  pp_context *context;
  pid_t process;
  int32_t references; /* atomic */
  pthread_mutex_t lock;
  struct free_block *kept; /* most recently freed first */
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

/* Gives blocks back to the backend. */
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

void
pp_arena_unref (pp_arena **address)
{
  pp_arena *arena = *address;

  *address = NULL;
  if (arena == NULL ||
      __atomic_sub_fetch (&arena->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  release (arena, arena->kept);
  arena->backend->close (&arena->context);
  pthread_mutex_destroy (&arena->lock);
  free (arena);
}

pp_context *
pp_arena_context (pp_arena *arena)
{
  return arena->context;
}

/* Under the lock. */
static void *
take_kept (pp_arena *arena, size_t size)
{
  struct free_block **link = &arena->kept;

  while (*link != NULL && (*link)->size != size)
    link = &(*link)->next;
  struct free_block *block = *link;
  if (block != NULL) {
    *link = block->next;
    arena->kept_size -= size;
  }
  return block;
}

/* Under the lock: unlinks the blocks freed longest ago, until no more than the
 * limit is kept. */
static struct free_block *
take_surplus (pp_arena *arena)
{
  const size_t limit = !arena->keeps     ? 0
      : arena->peak_size > KEEP_AT_LEAST ? arena->peak_size
                                         : KEEP_AT_LEAST;
  struct free_block **link = &arena->kept;
  size_t size = 0;

  while (*link != NULL && size + (*link)->size + arena->used_size <= limit) {
    size += (*link)->size;
    link = &(*link)->next;
  }
  struct free_block *surplus = *link;
  *link = NULL;
  arena->kept_size = size;
  return surplus;
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

void *
pp_arena_alloc (pp_arena *arena, size_t size, pp_error *error)
{
  const size_t rounded = block_size (size);

  if (pp_is_forked (arena->process)) {
    pp_fail_forked (arena->process, error);
    return NULL;
  }
  pthread_mutex_lock (&arena->lock);
  void *block = take_kept (arena, rounded);
  arena->used_size += rounded;
  if (arena->used_size > arena->peak_size)
    arena->peak_size = arena->used_size;
  struct free_block *surplus = block == NULL ? take_surplus (arena) : NULL;
  pthread_mutex_unlock (&arena->lock);
  release (arena, surplus);

  if (block == NULL && arena->backend->enter (arena->context, error) == PP_OK) {
    block = arena->backend->host_alloc (arena->context, rounded, error);
    arena->backend->leave (arena->context);
  }
  if (block == NULL) {
    pthread_mutex_lock (&arena->lock);
    arena->used_size -= rounded;
    pthread_mutex_unlock (&arena->lock);
    return NULL;
  }
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
  block->next = arena->kept;
  arena->kept = block;
  arena->kept_size += block->size;
  arena->used_size -= block->size;
  struct free_block *surplus = take_surplus (arena);
  pthread_mutex_unlock (&arena->lock);
  release (arena, surplus);
  pp_arena_unref (&arena);
}
