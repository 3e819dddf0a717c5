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

/* A block that is kept is in two lists: that of all, and that of its bucket. Host
 * memory has the node in the free block itself. For each block on the device there
 * is one beside it, so that freeing allocates nothing; those of blocks in use are
 * spare. */
struct node {
  struct node *newer, *older; /* freed after and before it */
  struct node *next, *previous;
  void *memory;
  size_t size;
};

struct pp_arena {
  const pp_backend *backend;
  pp_context *context;
  pp_arena *beside; /* which the context belongs to; NULL: to this one */
  bool on_device;
  void (*done) (void *user);
  void *user;
  pid_t process;
  int32_t references; /* atomic */
  pthread_mutex_t lock;
  struct node *newest, *oldest; /* of those that are kept */
  struct node *bucket[BUCKETS]; /* the same, newest first */
  struct node *spare;
  size_t kept_size, used_size, peak_size;
  bool keeps;
  /* Held by one thread that transfers. */
  pthread_mutex_t transfer_lock;
  pp_stream *transfers; /* NULL before the first */
};

/* Backends align to at least this; sizes are rounded up to it. */
#define BLOCK_ALIGNMENT ((size_t) 256)
_Static_assert(sizeof (struct node) <= BLOCK_ALIGNMENT, "it fits a block");

static size_t
block_size (size_t size)
{
  return (size + BLOCK_ALIGNMENT - 1) & ~(BLOCK_ALIGNMENT - 1);
}

/* Without a context. NULL with an error. */
static pp_arena *
new_arena (const pp_backend *backend, bool on_device, pp_error *error)
{
  pp_arena *arena = calloc (1, sizeof *arena);

  if (arena == NULL) {
    pp_fail_memory (error, "calloc", sizeof *arena);
    return NULL;
  }
  arena->backend = backend;
  arena->on_device = on_device;
  arena->process = getpid ();
  arena->references = 1;
  arena->keeps = true;
  pthread_mutex_init (&arena->lock, NULL);
  pthread_mutex_init (&arena->transfer_lock, NULL);
  return arena;
}

static void
free_arena (pp_arena *arena)
{
  pthread_mutex_destroy (&arena->transfer_lock);
  pthread_mutex_destroy (&arena->lock);
  free (arena);
}

pp_arena *
pp_arena_new (const pp_backend *backend, int index, void *handle,
    bool on_device, pp_error *error)
{
  pp_arena *arena = new_arena (backend, on_device, error);

  if (arena != NULL &&
      backend->open (index, handle, &arena->context, error) != PP_OK) {
    free_arena (arena);
    return NULL;
  }
  return arena;
}

pp_arena *
pp_arena_new_beside (pp_arena *pinned, pp_error *error)
{
  pp_arena *arena = new_arena (pinned->backend, true, error);

  if (arena == NULL)
    return NULL;
  arena->beside = pp_arena_ref (pinned);
  arena->context = pinned->context;
  return arena;
}

void
pp_arena_set_done (pp_arena *arena, void (*done) (void *user), void *user)
{
  arena->done = done;
  arena->user = user;
}

pp_arena *
pp_arena_ref (pp_arena *arena)
{
  __atomic_fetch_add (&arena->references, 1, __ATOMIC_RELAXED);
  return arena;
}

/* Gives blocks back to the backend: a list through next. Where the process is
 * ending, they are lost. */
static void
release (pp_arena *arena, struct node *list)
{
  const pp_backend *backend = arena->backend;
  void (*give_back) (pp_context * context, void *memory) =
      arena->on_device ? backend->device_free : backend->host_free;

  if (list == NULL)
    return;
  const bool entered = backend->enter (arena->context, NULL) == PP_OK;
  while (list != NULL) {
    struct node *next = list->next;

    if (entered)
      give_back (arena->context, list->memory);
    if (arena->on_device)
      free (list);
    list = next;
  }
  if (entered)
    backend->leave (arena->context);
}

pp_context *
pp_arena_context (pp_arena *arena)
{
  return arena->context;
}

static struct node **
bucket_of (pp_arena *arena, size_t size)
{
  return &arena->bucket[size / BLOCK_ALIGNMENT % BUCKETS];
}

/* Under the lock. */
static void
keep (pp_arena *arena, struct node *block)
{
  struct node **bucket = bucket_of (arena, block->size);

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
take (pp_arena *arena, struct node *block)
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

/* Under the lock. */
static void
add_spare (pp_arena *arena, struct node *node)
{
  node->next = arena->spare;
  arena->spare = node;
}

/* Under the lock: the one of that size that was freed last, or NULL. */
static void *
take_kept (pp_arena *arena, size_t size)
{
  struct node *block = *bucket_of (arena, size);

  while (block != NULL && block->size != size)
    block = block->next;
  if (block == NULL)
    return NULL;
  take (arena, block);
  void *memory = block->memory;
  if (arena->on_device)
    add_spare (arena, block);
  return memory;
}

/* Under the lock: takes the blocks freed longest ago, until no more than the limit
 * is kept and used. A list through next. */
static struct node *
take_surplus (pp_arena *arena)
{
  const size_t limit = !arena->keeps     ? 0
      : arena->peak_size > MIN_KEPT_SIZE ? arena->peak_size
                                         : MIN_KEPT_SIZE;
  struct node *surplus = NULL;

  while (arena->oldest != NULL && arena->kept_size + arena->used_size > limit) {
    struct node *block = arena->oldest;

    take (arena, block);
    block->next = surplus;
    surplus = block;
  }
  return surplus;
}

static void
destroy_transfers (pp_arena *arena)
{
  if (arena->transfers == NULL ||
      arena->backend->enter (arena->context, NULL) != PP_OK)
    return;
  arena->backend->stream_destroy (&arena->transfers);
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
  arena->keeps = false;
  release (arena, take_surplus (arena));
  destroy_transfers (arena);
  if (arena->beside == NULL)
    arena->backend->close (&arena->context);
  pp_arena_unref (&arena->beside);
  if (arena->done != NULL)
    arena->done (arena->user);
  free_arena (arena);
}

void
pp_arena_keep_nothing (pp_arena *arena)
{
  pthread_mutex_lock (&arena->lock);
  arena->keeps = false;
  struct node *surplus = take_surplus (arena);
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

static void *
allocate_from_backend (pp_arena *arena, size_t size, pp_error *error)
{
  const pp_backend *backend = arena->backend;
  void *block = NULL;

  if (backend->enter (arena->context, error) != PP_OK)
    return NULL;
  if (arena->on_device)
    block = backend->device_alloc (arena->context, size, error);
  else
    block = backend->host_alloc (arena->context, size, error);
  backend->leave (arena->context);
  return block;
}

/* A new block, which takes long. */
static void *
allocate (pp_arena *arena, size_t size, pp_error *error)
{
  struct node *node = arena->on_device ? malloc (sizeof *node) : NULL;

  if (arena->on_device && node == NULL) {
    pp_fail_memory (error, "malloc", sizeof *node);
    return NULL;
  }
  /* What is kept makes room for it first. */
  pthread_mutex_lock (&arena->lock);
  arena->used_size += size;
  struct node *surplus = take_surplus (arena);
  pthread_mutex_unlock (&arena->lock);
  release (arena, surplus);

  void *block = allocate_from_backend (arena, size, error);
  pthread_mutex_lock (&arena->lock);
  arena->used_size -= size;
  if (block != NULL)
    count_used (arena, size);
  if (block != NULL && node != NULL)
    add_spare (arena, node);
  pthread_mutex_unlock (&arena->lock);
  if (block == NULL)
    free (node);
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
  if (memory == NULL || pp_is_forked (arena->process))
    return;
  pthread_mutex_lock (&arena->lock);
  struct node *block = memory;
  if (arena->on_device) {
    block = arena->spare;
    arena->spare = block->next;
  }
  block->memory = memory;
  block->size = block_size (size);
  keep (arena, block);
  arena->used_size -= block->size;
  struct node *surplus = take_surplus (arena);
  pthread_mutex_unlock (&arena->lock);
  release (arena, surplus);
  pp_arena_unref (&arena);
}

/* ---- transfers ------------------------------------------------------------ */

/* With the lock of transfers held, between enter and leave. */
static pp_status
run_transfer (pp_arena *arena, const pp_copy *copy, pp_error *error)
{
  const pp_backend *backend = arena->backend;
  pp_status status = PP_OK;

  if (arena->transfers == NULL)
    status = backend->stream_create (arena->context, &arena->transfers, error);
  if (status == PP_OK)
    status = backend->transfer (arena->transfers, copy, error);
  return status;
}

static pp_status
transfer (
    pp_arena *arena, const char *call, const pp_copy *copy, pp_error *error)
{
  if (pp_is_forked (arena->process))
    return pp_fail_forked (arena->process, error);
  if (!arena->on_device)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "%s of %zu bytes: the arena is of host memory, must be of memory on the "
        "device",
        call, copy->width);
  if (copy->width == 0)
    return PP_OK;
  pp_status status = arena->backend->enter (arena->context, error);
  if (status != PP_OK)
    return status;
  pthread_mutex_lock (&arena->transfer_lock);
  status = run_transfer (arena, copy, error);
  pthread_mutex_unlock (&arena->transfer_lock);
  arena->backend->leave (arena->context);
  return status;
}

pp_status
pp_arena_download (pp_arena *arena, const void *device, void *host, size_t size,
    pp_error *error)
{
  const pp_copy copy = pp_copy_bytes (host, device, size, false);

  return transfer (arena, "pp_arena_download", &copy, error);
}

pp_status
pp_arena_upload (pp_arena *arena, void *device, const void *host, size_t size,
    pp_error *error)
{
  const pp_copy copy = pp_copy_bytes (device, host, size, true);

  return transfer (arena, "pp_arena_upload", &copy, error);
}
