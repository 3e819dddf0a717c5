/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is queued for a job: staging, upload, launch, download, with an event
 * after each, and the device buffers that this takes.
 */

#include "engine.h"

#include <string.h>

/* Rows on the device start at multiples of this, bytes. */
#define ROW_ALIGNMENT 256

static size_t
align_up (size_t size)
{
  return (size + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

/* Plane rectangles lie one behind the other. */
static size_t
source_size (const pp_plan *plan)
{
  size_t size = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    size += align_up ((size_t) plan->extent[p].width) *
        (size_t) plan->extent[p].height;
  return size;
}

static size_t
tables_size (const pp_plan *plan)
{
  return align_up (plan->n_index * sizeof *plan->index) +
      plan->n_weight * sizeof *plan->weight;
}

static pp_status
grow (pp_device *device, void **memory, size_t *size, size_t needed,
    pp_error *error)
{
  if (*size >= needed)
    return PP_OK;
  device->backend->device_free (device->context, *memory);
  *size = 0;
  *memory = device->backend->device_alloc (device->context, needed, error);
  if (*memory == NULL)
    return PP_NO_MEMORY;
  *size = needed;
  return PP_OK;
}

pp_status
pp_lane_reserve (pp_device *device, struct pp_lane *lane, const pp_plan *plan,
    pp_error *error)
{
  pp_status status = grow (
      device, &lane->source, &lane->source_size, source_size (plan), error);

  if (status == PP_OK)
    status = grow (
        device, &lane->tensor, &lane->tensor_size, plan->tensor_size, error);
  if (status == PP_OK && lane->tables_size < tables_size (plan)) {
    lane->tables_of = 0;
    status = grow (
        device, &lane->tables, &lane->tables_size, tables_size (plan), error);
  }
  return status;
}

static bool
lane_has_room (const struct pp_lane *lane, const pp_plan *plan)
{
  return lane->source_size >= source_size (plan) &&
      lane->tensor_size >= plan->tensor_size &&
      lane->tables_size >= tables_size (plan);
}

/* Copies the planes that the device cannot reach into the slot's pinned memory
 * and points source at the copies. */
static pp_status
stage_planes (pp_device *device, pp_job *job, pp_view *source, pp_error *error)
{
  const pp_plan *plan = job->plan;
  struct pp_slot *slot = &device->slot[job->slot];
  size_t needed = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    if ((job->task.pinned_planes & (1u << p)) == 0)
      needed += align_up ((size_t) plan->extent[p].width) *
          (size_t) plan->extent[p].height;
  if (slot->staging_size < needed) {
    pp_arena_free (device->arena, slot->staging, slot->staging_size);
    slot->staging_size = 0;
    slot->staging = pp_arena_alloc (device->arena, needed, error);
    if (slot->staging == NULL)
      return PP_NO_MEMORY;
    slot->staging_size = needed;
  }

  uint8_t *to = slot->staging;
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect *extent = &plan->extent[p];
    if (extent->height == 0 || (job->task.pinned_planes & (1u << p)) != 0)
      continue;
    const size_t width = (size_t) extent->width;
    const size_t stride = align_up (width);
    const uint8_t *from = source->plane[p];
    source->plane[p] = to;
    for (int row = 0; row < extent->height; row++) {
      memcpy (to, from, width);
      from += source->stride[p];
      to += stride;
    }
    source->stride[p] = stride;
    job->info.bytes_staged += width * (size_t) extent->height;
  }
  return PP_OK;
}

static pp_status
upload (pp_device *device, pp_job *job, struct pp_lane *lane, pp_view *source,
    pp_error *error)
{
  uint8_t *to = lane->source;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect *extent = &job->plan->extent[p];
    if (extent->height == 0)
      continue;
    const size_t width = (size_t) extent->width;
    const size_t rows = (size_t) extent->height;
    const size_t stride = align_up (width);
    const pp_copy copy = { .from = source->plane[p],
      .to = to,
      .from_row = source->stride[p],
      .to_row = stride,
      .from_box = source->stride[p] * rows,
      .to_box = stride * rows,
      .width = width,
      .rows = rows,
      .boxes = 1,
      .up = true };
    const pp_status status = device->backend->copy (lane->stream, &copy, error);
    if (status != PP_OK)
      return status;
    source->plane[p] = to;
    source->stride[p] = stride;
    to += stride * rows;
    job->info.bytes_up += width * rows;
  }
  return PP_OK;
}

static pp_status
upload_array (pp_device *device, struct pp_lane *lane, const void *from,
    size_t size, size_t offset, pp_error *error)
{
  const pp_copy copy = { .from = from,
    .to = (uint8_t *) lane->tables + offset,
    .from_row = size,
    .to_row = size,
    .from_box = size,
    .to_box = size,
    .width = size,
    .rows = 1,
    .boxes = 1,
    .up = true };

  return device->backend->copy (lane->stream, &copy, error);
}

/* The tables stay on the stream until a job with another plan comes. */
static pp_status
upload_tables (pp_device *device, struct pp_lane *lane, const pp_plan *plan,
    pp_launch *launch, pp_error *error)
{
  const size_t index_size = plan->n_index * sizeof *plan->index;
  const size_t weight_size = plan->n_weight * sizeof *plan->weight;
  const size_t weight_offset = align_up (index_size);

  launch->index = lane->tables;
  launch->weight =
      (const float *) (const void *) ((uint8_t *) lane->tables + weight_offset);
  if (lane->tables_of == plan->id)
    return PP_OK;

  lane->tables_of = 0;
  pp_status status =
      upload_array (device, lane, plan->index, index_size, 0, error);
  if (status == PP_OK)
    status = upload_array (
        device, lane, plan->weight, weight_size, weight_offset, error);
  if (status == PP_OK)
    lane->tables_of = plan->id;
  return status;
}

/* Brings back the content; the padding is in the block already. */
static pp_status
download (pp_device *device, pp_job *job, struct pp_lane *lane, pp_error *error)
{
  const pp_numbers *n = &job->plan->numbers;
  const size_t element = pp_type_size ((pp_type) n->type);
  const bool planar = n->pixel_stride == 1;
  const size_t pixel = element * (size_t) n->pixel_stride;
  const size_t row = element * (size_t) n->row_stride;
  const size_t box = row * (size_t) n->height;
  const size_t offset =
      (size_t) n->content_y * row + (size_t) n->content_x * pixel;
  const pp_copy copy = { .from = (uint8_t *) lane->tensor + offset,
    .to = (uint8_t *) job->task.tensor + offset,
    .from_row = row,
    .to_row = row,
    .from_box = box,
    .to_box = box,
    .width = (size_t) n->content_width * pixel,
    .rows = (size_t) n->content_height,
    .boxes = planar ? (size_t) n->n_channels : 1,
    .up = false };

  job->info.bytes_down = copy.width * copy.rows * copy.boxes;
  return device->backend->copy (lane->stream, &copy, error);
}

static void
fill_padding (pp_job *job)
{
  uint64_t *holds = job->task.padding;

  if (holds != NULL && *holds == job->plan->id)
    return;
  pp_plan_fill_padding (job->plan, job->task.tensor);
  if (holds != NULL)
    *holds = job->plan->id;
}

/* Stream order covers jobs of the same stream. The other job's events are its
 * own until it has ended: only this thread gives its slot to another job. */
static pp_status
wait_for_other (
    pp_device *device, pp_job *job, struct pp_lane *lane, pp_error *error)
{
  pp_job *other = job->task.after;

  if (other == NULL || pp_job_query (other))
    return PP_OK;
  if (other->device != device) {
    pp_job_wait (other, NULL);
    return PP_OK;
  }
  return device->backend->stream_wait (
      lane->stream, device->slot[other->slot].event[PP_STAGE_DONE], error);
}

pp_status
pp_queue_stages (pp_device *device, pp_job *job, pp_error *error)
{
  const pp_backend *backend = device->backend;
  struct pp_lane *lane = &device->lane[job->info.stream];
  pp_event *const *event = device->slot[job->slot].event;
  pp_launch launch = { .plan = job->plan,
    .source = pp_plan_crop_view (job->plan, &job->task.view),
    .tensor = job->task.tensor,
    .index = job->plan->index,
    .weight = job->plan->weight };
  pp_status status = PP_OK;

  fill_padding (job);
  if (!backend->unified && !lane_has_room (lane, job->plan)) {
    status = backend->stream_sync (lane->stream, error);
    if (status == PP_OK)
      status = pp_lane_reserve (device, lane, job->plan, error);
  }
  if (status == PP_OK)
    status = wait_for_other (device, job, lane, error);
  if (status == PP_OK && !backend->unified) {
    launch.tensor = lane->tensor;
    status = stage_planes (device, job, &launch.source, error);
  }
  if (status == PP_OK && !backend->unified)
    status = upload_tables (device, lane, job->plan, &launch, error);
  if (status == PP_OK)
    status = backend->record (lane->stream, event[PP_STAGE_START], error);
  if (status == PP_OK && !backend->unified)
    status = upload (device, job, lane, &launch.source, error);
  if (status == PP_OK)
    status = backend->record (lane->stream, event[PP_STAGE_UPLOADED], error);
  if (status == PP_OK)
    status = backend->launch (lane->stream, &launch, error);
  if (status == PP_OK)
    status = backend->record (lane->stream, event[PP_STAGE_COMPUTED], error);
  if (status == PP_OK && !backend->unified)
    status = download (device, job, lane, error);
  if (status == PP_OK)
    status = backend->record (lane->stream, event[PP_STAGE_DONE], error);
  return status;
}

bool
pp_job_reads_input (const pp_device *device, const pp_job *job)
{
  if (device->backend->unified)
    return true;
  for (int p = 0; p < PP_MAX_PLANES; p++)
    if (job->plan->extent[p].height > 0 &&
        (job->task.pinned_planes & (1u << p)) != 0)
      return true;
  return false;
}
