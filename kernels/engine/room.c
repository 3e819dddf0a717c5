/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Device memory that jobs work in: buffers of the shared streams, and each
 * device's own tables. Both only grow.
 */
#include "engine.h"

#include "kernels/plan/image.h"

/* Memory for tables is a multiple of this, bytes. */
#define TABLES_GRAIN ((size_t) 64 << 10)

/* Memory that was replaced. Freed once the stream no longer uses it. */
struct replaced {
  pp_buffer buffer[PP_N_BUFFERS + 1];
  int n;
};

/* Several pictures are parts of a frame, in an image that is never larger than
 * one. Their tables: twice as much is allocated, and those of a part of the
 * frame are mostly smaller than those of the whole. */
struct pp_room
pp_room_for (const pp_plan *plan, int n, bool on_device, bool tensors_on_device)
{
  const size_t one = pp_image_size (plan), frame = plan->frame_size;
  const size_t image = n > 1 && frame > one ? frame : one;
  const size_t tables = pp_tables_size (plan);

  return (struct pp_room){
    .buffer = { [PP_BUFFER_IMAGE] = on_device ? 0 : image,
        [PP_BUFFER_MEDIANS] = plan->median.size > 0 ? image : 0,
        [PP_BUFFER_TENSOR] =
            tensors_on_device ? 0 : (size_t) n * plan->tensor_size },
    .tables = n > 1 ? (size_t) n * pp_tables_next (plan, 0) / 2 : tables,
  };
}

struct pp_room
pp_room_for_recipe (const pp_recipe *recipe)
{
  return (struct pp_room){
    .buffer = { [PP_BUFFER_IMAGE] = recipe->image_size,
        [PP_BUFFER_MEDIANS] = recipe->medians_size,
        [PP_BUFFER_TENSOR] = recipe->tensor_size },
    .tables = recipe->tables_size,
  };
}

bool
pp_room_is_there (const pp_device *device, int s, const struct pp_room *room)
{
  for (int b = 0; b < PP_N_BUFFERS; b++)
    if (device->stream[s]->buffer[b].size < room->buffer[b])
      return false;
  return device->tables[s].block.size >= room->tables;
}

/* Allocates each buffer that is too small; without the lock. */
static pp_status
allocate (pp_device *device, int s, const struct pp_room *room,
    pp_buffer larger[PP_N_BUFFERS], pp_error *error)
{
  pp_shared_stream *shared = device->stream[s];
  const size_t *size = room->buffer;
  size_t there[PP_N_BUFFERS];

  pthread_mutex_lock (&shared->lock);
  for (int b = 0; b < PP_N_BUFFERS; b++)
    there[b] = shared->buffer[b].size;
  pthread_mutex_unlock (&shared->lock);
  for (int b = 0; b < PP_N_BUFFERS; b++) {
    if (there[b] >= size[b])
      continue;
    larger[b].memory =
        device->backend->device_alloc (device->context, size[b], error);
    if (larger[b].memory == NULL)
      return PP_NO_MEMORY;
    larger[b].size = size[b];
  }
  return PP_OK;
}

/* Replaces the stream's buffers by the larger ones, and returns in replaced the
 * memory that is no longer needed. Then records mark: work that is queued after
 * it does not use that memory. */
static pp_status
swap (const pp_backend *backend, pp_shared_stream *shared,
    pp_buffer larger[PP_N_BUFFERS], pp_event *mark, struct replaced *replaced,
    pp_error *error)
{
  pthread_mutex_lock (&shared->lock);
  for (int b = 0; b < PP_N_BUFFERS; b++) {
    pp_buffer unused = larger[b];

    if (larger[b].size > shared->buffer[b].size) {
      unused = shared->buffer[b];
      shared->buffer[b] = larger[b];
    }
    if (unused.memory != NULL)
      replaced->buffer[replaced->n++] = unused;
    larger[b] = (pp_buffer){ NULL, 0 };
  }
  pp_status status = PP_OK;
  if (replaced->n > 0) {
    status = pp_shared_stream_join_second (shared, backend, error);
    if (status == PP_OK)
      status = backend->record (shared->stream, mark, error);
  }
  pthread_mutex_unlock (&shared->lock);
  return status;
}

/* Waits until the stream has passed the mark, then frees what was replaced. If
 * the mark cannot be recorded or waited for, the device has failed; queued work
 * may still use the memory, so this waits for both streams instead. */
static pp_status
free_replaced (pp_device *device, pp_shared_stream *shared, pp_event *mark,
    pp_status marked, struct replaced *replaced, pp_error *error)
{
  const pp_backend *backend = device->backend;
  pp_status status = marked;

  if (status == PP_OK)
    status = backend->event_wait (mark, false, error);
  if (status != PP_OK) {
    backend->stream_sync (shared->second, NULL);
    backend->stream_sync (shared->stream, NULL);
  }
  for (int i = 0; i < replaced->n; i++)
    backend->device_free (device->context, replaced->buffer[i].memory);
  return status;
}

static pp_status
replace (pp_device *device, pp_shared_stream *shared,
    pp_buffer larger[PP_N_BUFFERS], struct replaced *replaced, pp_error *error)
{
  const pp_backend *backend = device->backend;
  pp_event *mark = NULL;
  pp_status status =
      backend->event_create (device->context, false, &mark, error);

  if (status == PP_OK)
    status = swap (backend, shared, larger, mark, replaced, error);
  if (replaced->n > 0)
    status = free_replaced (device, shared, mark, status, replaced, error);
  if (mark != NULL)
    backend->event_destroy (&mark);
  return status;
}

/* Allocates twice what is needed. A crop of the same frames may fill more
 * of the tensor and so need larger tables, and growing them later would wait
 * for the stream. */
static pp_status
allocate_tables (pp_device *device, int s, size_t size, pp_error *error)
{
  struct pp_stream_tables *tables = &device->tables[s];
  const size_t grains = 2 * size / TABLES_GRAIN + 1;
  const pp_buffer before = tables->block;
  pp_buffer larger = { NULL, grains * TABLES_GRAIN };

  if (before.size >= size)
    return PP_OK;
  larger.memory =
      device->backend->device_alloc (device->context, larger.size, error);
  if (larger.memory == NULL)
    return PP_NO_MEMORY;
  *tables = (struct pp_stream_tables){ .block = larger };
  if (before.memory == NULL)
    return PP_OK;
  /* Earlier jobs of the device may still read the old tables. */
  pp_buffer none[PP_N_BUFFERS] = { { NULL, 0 } };
  struct replaced replaced = { .buffer = { before }, .n = 1 };
  return replace (device, device->stream[s], none, &replaced, error);
}

pp_status
pp_room_reserve (
    pp_device *device, int s, const struct pp_room *room, pp_error *error)
{
  pp_buffer larger[PP_N_BUFFERS] = { { NULL, 0 } };
  struct replaced replaced = { .n = 0 };
  bool any = false;
  pp_status status = allocate_tables (device, s, room->tables, error);

  if (status == PP_OK)
    status = allocate (device, s, room, larger, error);
  for (int b = 0; b < PP_N_BUFFERS; b++)
    any = any || larger[b].memory != NULL;
  if (status == PP_OK && any)
    status = replace (device, device->stream[s], larger, &replaced, error);
  for (int b = 0; b < PP_N_BUFFERS; b++) /* left over after a failure */
    if (larger[b].memory != NULL)
      device->backend->device_free (device->context, larger[b].memory);
  return status;
}
