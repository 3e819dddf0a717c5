/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fakeobjects.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend_fake.h"

struct object {
  struct object *next;
  enum fake_kind kind;
  size_t size;
  const uint8_t *memory;
  const void *handle; /* of its context */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static struct object *objects; /* of all contexts */
static int live[FAKE_KINDS];

/* The contexts that the thread has entered, innermost last. */
#define MAX_ENTERED 8
static _Thread_local struct {
  const void *handle[MAX_ENTERED];
  int n;
} entered;

static const char *const names[FAKE_KINDS] = { "contexts", "host blocks",
  "device blocks", "streams", "events", "enters" };

__attribute__ ((format (printf, 1, 2), noreturn)) static void
die (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  vfprintf (stderr, format, arguments);
  va_end (arguments);
  fprintf (stderr, "\n");
  abort ();
}

void
fake_count_live (enum fake_kind kind, int change)
{
  pthread_mutex_lock (&lock);
  live[kind] += change;
  pthread_mutex_unlock (&lock);
}

/* Not of malloc, which may be told to fail. */
void
fake_add_object (
    enum fake_kind kind, const void *handle, const void *memory, size_t size)
{
  struct object *object =
      pp_backend_cpu.host_alloc (NULL, sizeof *object, NULL);

  if (object == NULL)
    abort ();
  *object = (struct object){
    .kind = kind, .size = size, .memory = memory, .handle = handle
  };
  fake_count_live (kind, 1);
  pthread_mutex_lock (&lock);
  object->next = objects;
  objects = object;
  pthread_mutex_unlock (&lock);
}

void
fake_remove_object (enum fake_kind kind, const void *memory)
{
  pthread_mutex_lock (&lock);
  struct object **link = &objects;
  while (*link != NULL && ((*link)->memory != memory || (*link)->kind != kind))
    link = &(*link)->next;
  struct object *object = *link;
  if (object == NULL)
    die ("%p is none of the %s", memory, names[kind]);
  *link = object->next;
  pthread_mutex_unlock (&lock);
  fake_count_live (kind, -1);
  pp_backend_cpu.host_free (NULL, object);
}

int
fake_live (char *text, size_t size)
{
  size_t length = 0;
  int sum = 0;

  text[0] = '\0';
  pthread_mutex_lock (&lock);
  for (int k = 0; k < FAKE_KINDS; k++) {
    sum += abs (live[k]);
    if (live[k] != 0 && length < size)
      length += (size_t) snprintf (
          text + length, size - length, "%d %s ", live[k], names[k]);
  }
  pthread_mutex_unlock (&lock);
  return sum;
}

void
fake_enter_context (const void *handle)
{
  if (entered.n == MAX_ENTERED)
    die ("%d contexts are entered", entered.n);
  entered.handle[entered.n++] = handle;
  fake_count_live (FAKE_ENTERED, 1);
}

void
fake_require_entered (const void *handle)
{
  if (entered.n == 0 || entered.handle[entered.n - 1] != handle)
    die ("context %p is not current, %p is", handle,
        entered.n == 0 ? NULL : entered.handle[entered.n - 1]);
}

void
fake_leave_context (const void *handle)
{
  fake_require_entered (handle);
  entered.n--;
  fake_count_live (FAKE_ENTERED, -1);
}

const void *
fake_context_of (const void *stream)
{
  const void *handle = NULL;

  pthread_mutex_lock (&lock);
  for (struct object *o = objects; o != NULL; o = o->next)
    if (o->kind == FAKE_STREAMS && o->memory == stream)
      handle = o->handle;
  pthread_mutex_unlock (&lock);
  return handle;
}

/* Whether the bytes are in one block; handle NULL: of any context. */
static bool
is_inside (enum fake_kind kind, const void *handle, const uint8_t *address,
    size_t size)
{
  bool found = false;

  pthread_mutex_lock (&lock);
  for (struct object *o = objects; o != NULL; o = o->next)
    found |= o->kind == kind && address >= o->memory &&
        address + size <= o->memory + o->size &&
        (handle == NULL || o->handle == handle);
  pthread_mutex_unlock (&lock);
  return found;
}

void
fake_require_pinned (const void *address, size_t size)
{
  if (!is_inside (FAKE_HOST_BLOCKS, NULL, address, size))
    die ("%zu bytes at %p are in no pinned block", size, address);
}

void
fake_require_on_device (const void *stream, const void *address, size_t size)
{
  if (!is_inside (FAKE_DEVICE_BLOCKS, fake_context_of (stream), address, size))
    die ("%zu bytes at %p are in no device block of the stream's context", size,
        address);
}
