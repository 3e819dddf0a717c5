/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Each function counts the call, fails if it is to, and leaves the work to the
 * CPU backend or, where that has no copies, to fakestream.c. Contexts are the
 * CPU's.
 */
#include "backend_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fakestream.h"

enum object {
  CONTEXTS,
  HOST_BLOCKS,
  DEVICE_BLOCKS,
  STREAMS,
  EVENTS,
  ENTERED,
  OBJECTS
};

/* What there is: so that addresses can be told apart, and what is lost with its
 * context is not taken for forgotten. */
struct block {
  struct block *next;
  enum object kind;
  size_t size;
  uint8_t *memory;
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool held;
  struct {
    int count, fails_at; /* fails_at 0: never */
    bool sticky;
    int stalls_from, stalls_until; /* counts */
  } call[FAKE_CALLS];
  struct block *blocks; /* of all contexts */
  int live[OBJECTS];
  unsigned pretended[FAKE_UNITS]; /* microseconds */
} control = { .lock = PTHREAD_MUTEX_INITIALIZER,
  .changed = PTHREAD_COND_INITIALIZER };

void
fake_reset (void)
{
  pthread_mutex_lock (&control.lock);
  control.held = false;
  memset (control.call, 0, sizeof control.call);
  pthread_cond_broadcast (&control.changed);
  pthread_mutex_unlock (&control.lock);
}

void
fake_hold (bool hold)
{
  pthread_mutex_lock (&control.lock);
  control.held = hold;
  pthread_cond_broadcast (&control.changed);
  pthread_mutex_unlock (&control.lock);
}

void
fake_stall (fake_call call, int n)
{
  pthread_mutex_lock (&control.lock);
  control.call[call].stalls_from = control.call[call].count + 1;
  control.call[call].stalls_until = control.call[call].count + n;
  pthread_cond_broadcast (&control.changed);
  pthread_mutex_unlock (&control.lock);
}

/* Called by streams before each operation. */
static void
wait_while_held (void)
{
  pthread_mutex_lock (&control.lock);
  while (control.held)
    pthread_cond_wait (&control.changed, &control.lock);
  pthread_mutex_unlock (&control.lock);
}

void
fake_pretend (unsigned up, unsigned kernel, unsigned down)
{
  pthread_mutex_lock (&control.lock);
  control.pretended[FAKE_UP] = up;
  control.pretended[FAKE_KERNEL] = kernel;
  control.pretended[FAKE_DOWN] = down;
  pthread_mutex_unlock (&control.lock);
}

bool
fake_pretends (enum fake_unit unit)
{
  static pthread_mutex_t units[FAKE_UNITS] = { PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

  pthread_mutex_lock (&control.lock);
  const unsigned microseconds = control.pretended[unit];
  pthread_mutex_unlock (&control.lock);
  if (microseconds == 0)
    return false;

  const struct timespec time = { .tv_nsec = (long) microseconds * 1000 };
  pthread_mutex_lock (&units[unit]);
  nanosleep (&time, NULL);
  pthread_mutex_unlock (&units[unit]);
  return true;
}

void
fake_fail (fake_call call, int nth, bool sticky)
{
  pthread_mutex_lock (&control.lock);
  control.call[call].fails_at = nth > 0 ? control.call[call].count + nth : 0;
  control.call[call].sticky = sticky;
  pthread_mutex_unlock (&control.lock);
}

int
fake_count (fake_call call)
{
  pthread_mutex_lock (&control.lock);
  const int count = control.call[call].count;
  pthread_mutex_unlock (&control.lock);
  return count;
}

static const struct {
  const char *name;
  pp_status status;
} failures[FAKE_CALLS] = {
  [FAKE_OPEN] = { "open", PP_NO_DEVICE },
  [FAKE_ENTER] = { "enter", PP_DEVICE_FAILED },
  [FAKE_HOST_ALLOC] = { "host_alloc", PP_NO_MEMORY },
  [FAKE_DEVICE_ALLOC] = { "device_alloc", PP_NO_MEMORY },
  [FAKE_PREPARE] = { "prepare", PP_DEVICE_FAILED },
  [FAKE_STREAM_CREATE] = { "stream_create", PP_NO_MEMORY },
  [FAKE_EVENT_CREATE] = { "event_create", PP_NO_MEMORY },
  [FAKE_COPY] = { "copy", PP_DEVICE_FAILED },
  [FAKE_GATHER] = { "gather", PP_DEVICE_FAILED },
  [FAKE_LAUNCH] = { "launch", PP_DEVICE_FAILED },
  [FAKE_LAUNCH_PICTURES] = { "launch_pictures", PP_DEVICE_FAILED },
  [FAKE_RECORD] = { "record", PP_DEVICE_FAILED },
  [FAKE_STREAM_WAIT] = { "stream_wait", PP_DEVICE_FAILED },
  [FAKE_STREAM_SYNC] = { "stream_sync", PP_DEVICE_FAILED },
  [FAKE_EVENT_WAIT] = { "event_wait", PP_DEVICE_FAILED },
  [FAKE_EVENT_QUERY] = { "event_query", PP_DEVICE_FAILED },
  [FAKE_EVENT_ELAPSED] = { "event_elapsed", PP_DEVICE_FAILED },
  [FAKE_THREAD] = { "pthread_create", PP_NO_MEMORY },
  [FAKE_MALLOC] = { "alloc", PP_NO_MEMORY },
  [FAKE_ALIGNED] = { "bytes", PP_NO_MEMORY },
};

const char *
fake_call_name (fake_call call)
{
  return failures[call].name;
}

pp_status
fake_call_status (fake_call call)
{
  return failures[call].status;
}

pp_status
fake_enter_call (fake_call call, pp_error *error)
{
  pthread_mutex_lock (&control.lock);
  const int count = ++control.call[call].count;
  const int at = control.call[call].fails_at;
  const bool fails =
      at > 0 && (count == at || (count > at && control.call[call].sticky));
  while (count >= control.call[call].stalls_from &&
      count <= control.call[call].stalls_until)
    pthread_cond_wait (&control.changed, &control.lock);
  pthread_mutex_unlock (&control.lock);
  return fails ? pp_fail (error, failures[call].status,
                     "%s %d failed on purpose", failures[call].name, count)
               : PP_OK;
}

static void
count_live (enum object object, int change)
{
  pthread_mutex_lock (&control.lock);
  control.live[object] += change;
  pthread_mutex_unlock (&control.lock);
}

static void
add_block (enum object kind, void *memory, size_t size)
{
  struct block *block = pp_backend_cpu.host_alloc (NULL, sizeof *block, NULL);

  if (block == NULL)
    abort ();
  *block = (struct block){ .kind = kind, .size = size, .memory = memory };
  count_live (kind, 1);
  pthread_mutex_lock (&control.lock);
  block->next = control.blocks;
  control.blocks = block;
  pthread_mutex_unlock (&control.lock);
}

static void
remove_block (enum object kind, void *memory)
{
  pthread_mutex_lock (&control.lock);
  struct block **link = &control.blocks;
  while ((*link)->memory != memory)
    link = &(*link)->next;
  struct block *block = *link;
  *link = block->next;
  pthread_mutex_unlock (&control.lock);
  count_live (kind, -1);
  pp_backend_cpu.host_free (NULL, block);
}

int
fake_live (char *text, size_t size)
{
  static const char *const names[OBJECTS] = { "contexts", "host blocks",
    "device blocks", "streams", "events", "enters" };
  size_t length = 0;
  int sum = 0;

  text[0] = '\0';
  pthread_mutex_lock (&control.lock);
  for (int o = 0; o < OBJECTS; o++) {
    sum += abs (control.live[o]);
    if (control.live[o] != 0 && length < size)
      length += (size_t) snprintf (
          text + length, size - length, "%d %s ", control.live[o], names[o]);
  }
  pthread_mutex_unlock (&control.lock);
  return sum;
}

static pp_status
open_fake (int index, pp_context **context, pp_error *error)
{
  pp_status status = fake_enter_call (FAKE_OPEN, error);

  if (status == PP_OK)
    status = pp_backend_cpu.open (index, context, error);
  if (status == PP_OK)
    count_live (CONTEXTS, 1);
  return status;
}

static void
close_fake (pp_context **context)
{
  pp_backend_cpu.close (context);
  count_live (CONTEXTS, -1);
}

static void
describe (const pp_context *context, char *text, size_t size)
{
  (void) context;
  snprintf (text, size, "fake");
}

static pp_status
enter (pp_context *context, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_ENTER, error);

  (void) context;
  if (status == PP_OK)
    count_live (ENTERED, 1);
  return status;
}

static void
leave (pp_context *context)
{
  (void) context;
  count_live (ENTERED, -1);
}

static void *
host_alloc (pp_context *context, size_t size, pp_error *error)
{
  if (fake_enter_call (FAKE_HOST_ALLOC, error) != PP_OK)
    return NULL;
  void *memory = pp_backend_cpu.host_alloc (context, size, error);
  if (memory != NULL)
    add_block (HOST_BLOCKS, memory, size);
  return memory;
}

static void
host_free (pp_context *context, void *memory)
{
  remove_block (HOST_BLOCKS, memory);
  pp_backend_cpu.host_free (context, memory);
}

static void *
device_alloc (pp_context *context, size_t size, pp_error *error)
{
  if (fake_enter_call (FAKE_DEVICE_ALLOC, error) != PP_OK)
    return NULL;
  void *memory = pp_backend_cpu.host_alloc (context, size, error);
  if (memory != NULL)
    add_block (DEVICE_BLOCKS, memory, size);
  return memory;
}

static void
device_free (pp_context *context, void *memory)
{
  if (memory == NULL)
    return;
  remove_block (DEVICE_BLOCKS, memory);
  pp_backend_cpu.host_free (context, memory);
}

/* The bytes must lie in one block of that kind: a kernel that reads the host's
 * memory, a copy the wrong way or of pageable memory, or one that ends in the next
 * buffer would give the right numbers here. */
static void
require_inside (enum object kind, const void *address, size_t size)
{
  const uint8_t *byte = address;
  bool found = false;

  pthread_mutex_lock (&control.lock);
  for (struct block *b = control.blocks; b != NULL; b = b->next)
    found |= b->kind == kind && byte >= b->memory &&
        byte + size <= b->memory + b->size;
  pthread_mutex_unlock (&control.lock);
  if (!found) {
    fprintf (stderr, "%zu bytes at %p are in no %s\n", size, address,
        kind == DEVICE_BLOCKS ? "device block" : "pinned block");
    abort ();
  }
}

static size_t
extent (const pp_copy *copy, size_t row, size_t box)
{
  return (copy->boxes - 1) * box + (copy->rows - 1) * row + copy->width;
}

static pp_status
prepare (pp_context *context, const pp_plan *plan, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_PREPARE, error);

  return status == PP_OK ? pp_backend_cpu.prepare (context, plan, error)
                         : status;
}

static pp_status
stream_create (pp_context *context, pp_stream **stream, pp_error *error)
{
  pp_status status = fake_enter_call (FAKE_STREAM_CREATE, error);

  (void) context;
  if (status == PP_OK)
    status = pp_host_stream_create (stream, wait_while_held, error);
  if (status == PP_OK)
    count_live (STREAMS, 1);
  return status;
}

static void
stream_destroy (pp_stream **stream)
{
  pp_host_stream_destroy (stream);
  count_live (STREAMS, -1);
}

static pp_status
event_create (
    pp_context *context, bool timed, pp_event **event, pp_error *error)
{
  pp_status status = fake_enter_call (FAKE_EVENT_CREATE, error);

  (void) context;
  (void) timed;
  if (status == PP_OK)
    status = pp_host_event_create (event, error);
  if (status == PP_OK)
    add_block (EVENTS, *event, 0);
  return status;
}

static void
event_destroy (pp_event **event)
{
  remove_block (EVENTS, *event);
  pp_host_event_destroy (event);
}

static pp_status
copy (pp_stream *stream, const pp_copy *copy, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_COPY, error);

  require_inside (copy->up ? HOST_BLOCKS : DEVICE_BLOCKS, copy->from,
      extent (copy, copy->from_row, copy->from_box));
  require_inside (copy->up ? DEVICE_BLOCKS : HOST_BLOCKS, copy->to,
      extent (copy, copy->to_row, copy->to_box));
  if (status == PP_OK)
    fake_stream_copy (stream, copy);
  return status;
}

static pp_status
gather (pp_stream *stream, const pp_gather *gather, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_GATHER, error);

  for (int p = 0; p < gather->n_planes; p++) {
    const pp_gather_plane *plane = &gather->plane[p];
    const size_t rows = (size_t) plane->n_rows;
    require_inside (HOST_BLOCKS, plane->from, plane->width);
    require_inside (DEVICE_BLOCKS, plane->to,
        (rows - 1) * plane->to_row +
            (plane->width + PP_GATHER_ALIGNMENT - 1) / PP_GATHER_ALIGNMENT *
                PP_GATHER_ALIGNMENT);
    require_inside (DEVICE_BLOCKS, plane->rows, rows * sizeof *plane->rows);
  }
  if (status == PP_OK)
    fake_stream_gather (stream, gather);
  return status;
}

static void
require_launch (const pp_launch *launch)
{
  const pp_plan *plan = launch->plan;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const size_t stride = launch->source.stride[p];
    const size_t rows = (size_t) plan->rows[p].count;
    const size_t width = (size_t) plan->extent[p].width;
    if (rows == 0)
      continue;
    require_inside (
        DEVICE_BLOCKS, launch->source.plane[p], (rows - 1) * stride + width);
    if (plan->median.size > 0)
      require_inside (DEVICE_BLOCKS, launch->medians.plane[p],
          (rows - 1) * launch->medians.stride[p] + width);
  }
  require_inside (DEVICE_BLOCKS, launch->tensor, plan->tensor_size);
  require_inside (DEVICE_BLOCKS, launch->index,
      plan->n_device_index * sizeof *plan->device_index);
  require_inside (
      DEVICE_BLOCKS, launch->weight, plan->n_weight * sizeof *plan->weight);
}

static pp_status
launch (pp_stream *stream, const pp_launch *launch, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_LAUNCH, error);

  require_launch (launch);
  if (status == PP_OK)
    fake_stream_launch (stream, launch);
  return status;
}

static pp_status
launch_pictures (pp_stream *stream, const pp_team *team,
    const pp_launch *launches, int n, bool padding, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_LAUNCH_PICTURES, error);

  (void) team;
  for (int i = 0; i < n; i++)
    require_launch (&launches[i]);
  for (int i = 0; i < n && status == PP_OK; i++) {
    if (padding)
      fake_stream_padding (stream, &launches[i]);
    fake_stream_launch (stream, &launches[i]);
  }
  return status;
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_RECORD, error);

  if (status == PP_OK)
    pp_host_stream_record (stream, event);
  return status;
}

static pp_status
stream_wait (pp_stream *stream, pp_event *event, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_STREAM_WAIT, error);

  if (status == PP_OK)
    pp_host_stream_wait (stream, event);
  return status;
}

/* The engine relies on it also where it reports a failure. */
static pp_status
stream_sync (pp_stream *stream, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_STREAM_SYNC, error);

  pp_host_stream_sync (stream);
  return status;
}

static pp_status
event_wait (pp_event *event, bool alone, pp_error *error)
{
  (void) alone;
  const pp_status status = fake_enter_call (FAKE_EVENT_WAIT, error);

  if (status == PP_OK)
    pp_host_event_wait (event, NULL);
  return status;
}

static pp_status
event_query (pp_event *event, bool *passed, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_EVENT_QUERY, error);

  if (status == PP_OK)
    *passed = pp_host_event_query (event);
  return status;
}

static pp_status
event_elapsed (
    pp_event *from, pp_event *to, double *microseconds, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_EVENT_ELAPSED, error);

  if (status == PP_OK)
    *microseconds = pp_host_event_elapsed (from, to);
  return status;
}

/* It stands for CUDA wherever the engine asks. */
const pp_backend fake_backend = {
  .id = PP_BACKEND_CUDA,
  .name = "fake",
  .unified = false,
  .open = open_fake,
  .close = close_fake,
  .describe = describe,
  .enter = enter,
  .leave = leave,
  .attach = enter,
  .detach = leave,
  .host_alloc = host_alloc,
  .host_free = host_free,
  .device_alloc = device_alloc,
  .device_free = device_free,
  .prepare = prepare,
  .stream_create = stream_create,
  .stream_destroy = stream_destroy,
  .event_create = event_create,
  .event_destroy = event_destroy,
  .copy = copy,
  .gather = gather,
  .launch = launch,
  .launch_pictures = launch_pictures,
  .record = record,
  .stream_wait = stream_wait,
  .stream_sync = stream_sync,
  .event_wait = event_wait,
  .event_query = event_query,
  .event_elapsed = event_elapsed,
};
