/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Up: the plan's rows, whichever way image.c decides, and the tables once.
 * Down: the content. Stream order protects the track's buffers.
 */
#include "transfer.h"

#include "kernels/plan/image.h"

/* Tables start at multiples of this on the device, bytes. */
#define TABLE_ALIGNMENT 256
/* Memory for them is a multiple of this, bytes. */
#define TABLES_GRAIN ((size_t) 64 << 10)

static size_t
weight_offset (const pp_plan *plan)
{
  const size_t size = plan->n_device_index * sizeof *plan->device_index;

  return (size + TABLE_ALIGNMENT - 1) / TABLE_ALIGNMENT * TABLE_ALIGNMENT;
}

static size_t
tables_size (const pp_plan *plan)
{
  return weight_offset (plan) + plan->n_weight * sizeof *plan->weight;
}

static pp_status
grow (pp_device *device, void **memory, size_t *size, size_t needed,
    pp_error *error)
{
  if (*size >= needed)
    return PP_OK;
  void *larger = device->backend->device_alloc (device->context, needed, error);
  if (larger == NULL) /* what other devices work in stays */
    return PP_NO_MEMORY;
  device->backend->device_free (device->context, *memory);
  *memory = larger;
  *size = needed;
  return PP_OK;
}

/* A median's image lies in its memory as its source does. */
static size_t
medians_size (const pp_plan *plan)
{
  return plan->median.size > 0 ? pp_image_size (plan) : 0;
}

static bool
has_room (const pp_device *device, int stream, const pp_plan *plan)
{
  const pp_track *track = device->track[stream];

  return track->source_size >= pp_image_size (plan) &&
      track->medians_size >= medians_size (plan) &&
      track->tensor_size >= plan->tensor_size &&
      device->lane[stream].tables_size >= tables_size (plan);
}

/* Twice what the plan needs: tables for a part of the same frames may be larger,
 * since it fills more of the tensor, and growing them for a job waits for its
 * track. */
pp_status
pp_tables_reserve (
    pp_device *device, int stream, const pp_plan *plan, pp_error *error)
{
  struct pp_lane *lane = &device->lane[stream];
  const size_t grains = 2 * tables_size (plan) / TABLES_GRAIN + 1;

  if (lane->tables_size >= tables_size (plan))
    return PP_OK;
  lane->tables_of = 0;
  return grow (
      device, &lane->tables, &lane->tables_size, grains * TABLES_GRAIN, error);
}

pp_status
pp_lane_reserve (
    pp_device *device, int stream, const pp_plan *plan, pp_error *error)
{
  pp_track *track = device->track[stream];
  pp_status status = PP_OK;

  if (has_room (device, stream, plan))
    return PP_OK;
  status = device->backend->stream_sync (track->upper, error);
  if (status == PP_OK)
    status = device->backend->stream_sync (track->stream, error);
  if (status == PP_OK)
    status = grow (device, &track->source, &track->source_size,
        pp_image_size (plan), error);
  if (status == PP_OK)
    status = grow (device, &track->medians, &track->medians_size,
        medians_size (plan), error);
  if (status == PP_OK)
    status = grow (
        device, &track->tensor, &track->tensor_size, plan->tensor_size, error);
  if (status == PP_OK)
    status = pp_tables_reserve (device, stream, plan, error);
  return status;
}

static unsigned
pageable_planes (const pp_job *job)
{
  return ~job->task.pinned_planes;
}

pp_status
pp_stage_planes (
    pp_device *device, pp_job *job, pp_view *source, pp_error *error)
{
  const unsigned planes = pageable_planes (job);
  struct pp_slot *slot = &device->slot[job->slot];
  const size_t needed = pp_image_staged_size (job->plan, planes);

  if (slot->staging_size < needed) {
    pp_arena_free (device->arena, slot->staging, slot->staging_size);
    slot->staging_size = 0;
    slot->staging = pp_arena_alloc (device->arena, needed, error);
    if (slot->staging == NULL)
      return PP_NO_MEMORY;
    slot->staging_size = needed;
  }
  job->info.bytes_staged =
      pp_image_stage (job->plan, planes, slot->staging, source);
  return PP_OK;
}

static pp_status
upload_array (pp_device *device, int stream, const void *from, size_t size,
    size_t offset, pp_error *error)
{
  uint8_t *tables = device->lane[stream].tables;
  const pp_copy copy = pp_copy_bytes (tables + offset, from, size, true);

  return device->backend->copy (device->track[stream]->stream, &copy, error);
}

/* The tables stay on the lane until a job with another plan comes. */
pp_status
pp_upload_tables (pp_device *device, int stream, const pp_plan *plan,
    pp_launch *launch, pp_error *error)
{
  struct pp_lane *lane = &device->lane[stream];
  const size_t index_size = plan->n_device_index * sizeof *plan->device_index;
  const size_t weight_size = plan->n_weight * sizeof *plan->weight;
  const size_t offset = weight_offset (plan);

  launch->index = lane->tables;
  launch->weight =
      (const float *) (const void *) ((uint8_t *) lane->tables + offset);
  if (lane->tables_of == plan->id)
    return PP_OK;

  lane->tables_of = 0;
  pp_status status =
      upload_array (device, stream, plan->device_index, index_size, 0, error);
  if (status == PP_OK)
    status =
        upload_array (device, stream, plan->weight, weight_size, offset, error);
  if (status == PP_OK)
    lane->tables_of = plan->id;
  return status;
}

static void
place_medians (const pp_track *track, pp_launch *launch)
{
  const uint8_t *source = track->source;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (launch->plan->median.size == 0 || launch->source.plane[p] == NULL)
      continue;
    launch->medians.plane[p] =
        (uint8_t *) track->medians + (launch->source.plane[p] - source);
    launch->medians.stride[p] = launch->source.stride[p];
  }
}

pp_status
pp_upload_source (pp_device *device, pp_job *job, const pp_band *band,
    pp_launch *launch, pp_error *error)
{
  const pp_track *track = device->track[job->info.stream];
  const pp_backend *backend = device->backend;
  pp_status status = PP_OK;
  pp_image image;

  pp_image_init (&image, job->plan, band, pageable_planes (job), &job->source,
      track->source, launch->index);
  for (int i = 0; i < image.n_copies && status == PP_OK; i++)
    status = backend->copy (track->stream, &image.copy[i], error);
  if (image.gather.n_planes > 0 && status == PP_OK)
    status = backend->gather (track->stream, &image.gather, error);
  launch->source = image.view;
  place_medians (track, launch);
  job->info.bytes_up += image.bytes;
  return status;
}

pp_status
pp_download (pp_device *device, pp_job *job, pp_stream *stream,
    const pp_band *band, pp_error *error)
{
  const pp_track *track = device->track[job->info.stream];
  const pp_numbers *n = &job->plan->numbers;
  const size_t element = pp_type_size ((pp_type) n->type);
  const bool planar = n->pixel_stride == 1;
  const size_t pixel = element * (size_t) n->pixel_stride;
  const size_t row = element * (size_t) n->row_stride;
  const size_t box = row * (size_t) n->height;
  const size_t offset = ((size_t) n->content_y + (size_t) band->first) * row +
      (size_t) n->content_x * pixel;
  const pp_copy copy = { .from = (uint8_t *) track->tensor + offset,
    .to = (uint8_t *) job->task.tensor + offset,
    .from_row = row,
    .to_row = row,
    .from_box = box,
    .to_box = box,
    .width = (size_t) n->content_width * pixel,
    .rows = (size_t) (band->last - band->first),
    .boxes = planar ? (size_t) n->n_channels : 1,
    .up = false };

  job->info.bytes_down += copy.width * copy.rows * copy.boxes;
  return device->backend->copy (stream, &copy, error);
}
