/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The order of what is queued for a job: upload, launch, download, with an
 * event after each. A job that is waited for and alone is queued in two bands,
 * see bands.c: the upper one's launch and download go on a second stream, beside
 * the lower one's upload.
 */

#include "transfer.h"

void
pp_job_fill_padding (pp_job *job)
{
  uint64_t *holds = job->task.padding;

  if (holds != NULL && *holds == job->plan->id)
    return;
  pp_plan_fill_padding (job->plan, job->task.tensor);
  if (holds != NULL)
    *holds = job->plan->id;
}

/* Stream order covers jobs of the same stream. The other job's events are its
 * own until this one is queued: what gets its slot next is queued later. */
static pp_status
wait_for_other (pp_device *device, const pp_job *job, pp_error *error)
{
  pp_job *other = job->task.after;

  if (other == NULL || pp_job_query (other))
    return PP_OK;
  if (!other->queued) { /* its last event was never recorded */
    pthread_mutex_lock (&other->lock);
    *error = other->error;
    pthread_mutex_unlock (&other->lock);
    return error->status;
  }
  return device->backend->stream_wait (device->track[job->info.stream]->stream,
      device->slot[other->slot].event[PP_STAGE_DONE], error);
}

/* Staged planes go up as one piece. Among others, overlap comes from those, and
 * what two bands cost the host would only hold them up. */
static bool
is_worth_two (pp_device *device, const pp_job *job)
{
  return !device->backend->unified && job->task.urgent && job->plan->in_two &&
      !pp_job_is_pageable (device, job) && pp_job_is_alone (device, job);
}

static pp_status
queue_launch (const pp_device *device, pp_stream *stream,
    const pp_launch *whole, const pp_band *band, pp_error *error)
{
  pp_launch launch = *whole;

  launch.first = band->first;
  launch.last = band->last;
  return device->backend->launch (stream, &launch, error);
}

/* Between the events START and DONE. */
static pp_status
queue_whole (pp_device *device, pp_job *job, pp_launch *launch, pp_error *error)
{
  const pp_backend *backend = device->backend;
  const pp_band *whole = &job->plan->whole;
  pp_event *const *event = device->slot[job->slot].event;
  pp_stream *stream = device->track[job->info.stream]->stream;
  pp_status status = PP_OK;

  if (!backend->unified)
    status = pp_upload_source (device, job, whole, launch, error);
  if (status == PP_OK)
    status = backend->record (stream, event[PP_STAGE_UPLOADED], error);
  if (status == PP_OK)
    status = queue_launch (device, stream, launch, whole, error);
  if (status == PP_OK)
    status = backend->record (stream, event[PP_STAGE_COMPUTED], error);
  if (status == PP_OK && !backend->unified)
    status = pp_download (device, job, stream, whole, error);
  return status;
}

/* What the track's stream does next, it does after all that the upper band's
 * stream has to do. */
static pp_status
join_upper (const pp_backend *backend, pp_track *track, pp_error *error)
{
  pp_status status = backend->record (track->upper, track->upper_done, error);

  if (status == PP_OK)
    status = backend->stream_wait (track->stream, track->upper_done, error);
  if (status == PP_OK)
    track->apart = false;
  return status;
}

/* What follows the upper band's upload. */
static pp_status
queue_upper (
    pp_device *device, pp_job *job, const pp_launch *launch, pp_error *error)
{
  const pp_band *upper = &job->plan->upper;
  pp_track *track = device->track[job->info.stream];
  pp_status status =
      device->backend->stream_wait (track->upper, track->upper_uploaded, error);

  track->apart = status == PP_OK;
  if (status == PP_OK)
    status = queue_launch (device, track->upper, launch, upper, error);
  if (status == PP_OK)
    status = pp_download (device, job, track->upper, upper, error);
  return status;
}

/* Between the same, in two bands. All of the upper one is queued first: that
 * takes the host about as long as its upload takes the bus. The lower one's
 * download waits for the upper one's, so that DONE stands for both. */
static pp_status
queue_in_two (
    pp_device *device, pp_job *job, pp_launch *launch, pp_error *error)
{
  const pp_backend *backend = device->backend;
  const pp_band *upper = &job->plan->upper, *lower = &job->plan->lower;
  pp_event *const *event = device->slot[job->slot].event;
  pp_track *track = device->track[job->info.stream];
  pp_status status = pp_upload_source (device, job, upper, launch, error);

  if (status == PP_OK)
    status = backend->record (track->stream, track->upper_uploaded, error);
  if (status == PP_OK)
    status = queue_upper (device, job, launch, error);
  if (status == PP_OK)
    status = pp_upload_source (device, job, lower, launch, error);
  if (status == PP_OK)
    status = backend->record (track->stream, event[PP_STAGE_UPLOADED], error);
  if (status == PP_OK)
    status = queue_launch (device, track->stream, launch, lower, error);
  if (status == PP_OK)
    status = backend->record (track->stream, event[PP_STAGE_COMPUTED], error);
  if (status == PP_OK)
    status = join_upper (backend, track, error);
  if (status == PP_OK)
    status = pp_download (device, job, track->stream, lower, error);
  return status;
}

pp_status
pp_queue_stages (pp_device *device, pp_job *job, pp_error *error)
{
  const pp_backend *backend = device->backend;
  const int stream = job->info.stream;
  pp_track *track = device->track[stream];
  pp_event *const *event = device->slot[job->slot].event;
  pp_launch launch = { .plan = job->plan,
    .source = job->source,
    .tensor = job->task.tensor,
    .index = job->plan->index,
    .weight = job->plan->weight };
  pp_status status = PP_OK;

  if (track->apart) /* a job before this one failed in between */
    status = join_upper (backend, track, error);
  if (status == PP_OK && !backend->unified)
    status = pp_lane_reserve (device, stream, job->plan, error);
  if (status == PP_OK)
    status = wait_for_other (device, job, error);
  if (status == PP_OK && !backend->unified) {
    launch.tensor = track->tensor;
    status = pp_upload_tables (device, stream, job->plan, &launch, error);
  }
  if (status == PP_OK)
    status = backend->record (track->stream, event[PP_STAGE_START], error);
  if (status == PP_OK) {
    job->in_two = is_worth_two (device, job);
    status = job->in_two ? queue_in_two (device, job, &launch, error)
                         : queue_whole (device, job, &launch, error);
  }
  if (status == PP_OK)
    status = backend->record (track->stream, event[PP_STAGE_DONE], error);
  return status;
}

bool
pp_job_is_pageable (const pp_device *device, const pp_job *job)
{
  if (device->backend->unified)
    return false;
  for (int p = 0; p < PP_MAX_PLANES; p++)
    if (job->plan->extent[p].height > 0 &&
        (job->task.pinned_planes & (1u << p)) == 0)
      return true;
  return false;
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
