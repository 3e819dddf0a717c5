/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Queues a job: picks the recipe, takes the lock of the job's stream, and runs
 * the recipe, which is one loop over its steps.
 */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* ---- running a recipe ----------------------------------------------------- */

static uint8_t *
address (const pp_bindings *bindings, pp_place place)
{
  return bindings->base[place.base] + place.offset;
}

static pp_status
run_copy (const pp_backend *backend, const pp_bindings *bindings,
    pp_stream *stream, const pp_step *step, pp_error *error)
{
  pp_copy copy = step->shape;

  copy.from = address (bindings, step->from);
  copy.to = address (bindings, step->to);
  return backend->copy (stream, &copy, error);
}

static pp_status
run_gather (const pp_recipe *recipe, const pp_backend *backend,
    const pp_bindings *bindings, pp_stream *stream, const pp_step *step,
    pp_error *error)
{
  pp_gather gather = { .n_planes = step->last - step->first };

  for (int i = 0; i < gather.n_planes; i++) {
    const pp_gather_step *plane = &recipe->gather[step->first + i];
    gather.plane[i] = plane->shape;
    gather.plane[i].from = address (bindings, plane->from);
    gather.plane[i].to = address (bindings, plane->to);
    gather.plane[i].rows =
        (const int32_t *) (const void *) address (bindings, plane->rows);
  }
  return backend->gather (stream, &gather, error);
}

pp_launch
pp_recipe_launch (const pp_recipe *recipe, const pp_bindings *bindings)
{
  const bool medians =
      bindings->plan->median.size > 0 && !recipe->facts.in_place;
  pp_launch launch = { .plan = bindings->plan,
    .last = bindings->plan->whole.last,
    .tensor = address (bindings, recipe->tensor),
    .index = (const int32_t *) (const void *) bindings->base[PP_BASE_INDEX],
    .weight = (const float *) (const void *) bindings->base[PP_BASE_WEIGHT] };

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (bindings->plan->extent[p].height == 0)
      continue;
    launch.source.plane[p] = address (bindings, recipe->source[p]);
    launch.source.stride[p] = recipe->stride[p];
    if (medians) {
      launch.medians.plane[p] = address (bindings, recipe->medians[p]);
      launch.medians.stride[p] = recipe->stride[p];
    }
  }
  return launch;
}

pp_status
pp_recipe_run (const pp_recipe *recipe, const pp_backend *backend,
    const pp_bindings *bindings, pp_error *error)
{
  pp_launch launch = pp_recipe_launch (recipe, bindings);
  pp_status status = PP_OK;

  for (int i = 0; i < recipe->n_steps && status == PP_OK; i++) {
    const pp_step *step = &recipe->step[i];
    pp_stream *stream = bindings->stream[step->second];

    if (step->tables && bindings->tables_there)
      continue;
    switch (step->op) {
      case PP_OP_COPY:
        status = run_copy (backend, bindings, stream, step, error);
        break;
      case PP_OP_GATHER:
        status = run_gather (recipe, backend, bindings, stream, step, error);
        break;
      case PP_OP_LAUNCH:
        launch.first = step->first;
        launch.last = step->last;
        status = backend->launch (stream, &launch, error);
        break;
      case PP_OP_RECORD:
        status = backend->record (stream, bindings->event[step->mark], error);
        break;
      case PP_OP_WAIT:
        status =
            backend->stream_wait (stream, bindings->event[step->mark], error);
        break;
      case PP_N_OPS:
        break;
    }
  }
  return status;
}

/* ---- picking a recipe ----------------------------------------------------- */

/* An urgent frame that is alone on the device goes in two bands, so that its
 * upload and download overlap. Other jobs in flight already give that overlap;
 * the calls for a second band would only delay them. */
static bool
is_worth_two_bands (pp_device *device, const pp_job *job)
{
  return !device->backend->unified && job->task.urgent && job->plan->in_two &&
      job->staged == 0 && pp_job_is_alone (device, job);
}

static pp_facts
gather_facts (pp_device *device, const pp_job *job)
{
  pp_job *after = job->task.after;
  pp_facts facts = { .plan = job->plan->id,
    .in_place = device->backend->unified,
    .staged = job->staged,
    .two_bands = is_worth_two_bands (device, job),
    .after = after != NULL && !pp_job_query (after),
    .timed = job->info.timed };

  for (int p = 0; p < PP_MAX_PLANES; p++)
    if (job->plan->extent[p].height > 0 && (job->staged & (1u << p)) == 0)
      facts.stride[p] = job->task.view.stride[p];
  return facts;
}

/* The recipe for the facts: a kept one, else a new one. NULL with an error. */
static const pp_recipe *
get_recipe (struct pp_recipes *recipes, const pp_plan *plan,
    const pp_facts *facts, pp_error *error)
{
  pp_recipe **kept = recipes->kept;
  int at = 0;

  while (at < PP_MAX_KEPT_RECIPES - 1 && kept[at] != NULL &&
      !pp_facts_equal (&kept[at]->facts, facts))
    at++;
  pp_recipe *found = kept[at];
  if (found == NULL) {
    found = malloc (sizeof *found);
    if (found == NULL) {
      pp_fail_memory (error, "malloc", sizeof *found);
      return NULL;
    }
    pp_recipe_init (found, plan, facts);
  } else if (!pp_facts_equal (&found->facts, facts)) {
    pp_recipe_init (found, plan, facts);
  }
  memmove (kept + 1, kept, (size_t) at * sizeof *kept);
  kept[0] = found;
  return found;
}

void
pp_recipes_clear (struct pp_recipes *recipes)
{
  for (int i = 0; i < PP_MAX_KEPT_RECIPES; i++) {
    free (recipes->kept[i]);
    recipes->kept[i] = NULL;
  }
}

/* ---- queueing a job ------------------------------------------------------- */

/* With the stream's lock held. */
static void
bind (const pp_device *device, const pp_job *job, pp_bindings *bindings)
{
  const pp_shared_stream *shared = device->stream[job->info.stream];
  const struct pp_stream_tables *tables = &device->tables[job->info.stream];
  const struct pp_job_resources *resources = &device->resources[job->resources];
  uint8_t **base = bindings->base;

  *bindings = (pp_bindings){ .plan = job->plan,
    .stream = { shared->stream, shared->second },
    .tables_there = tables->plan == job->plan->id };
  for (int p = 0; p < PP_MAX_PLANES; p++)
    base[PP_BASE_PLANE + p] = (uint8_t *) job->task.view.plane[p];
  base[PP_BASE_STAGING] = resources->staging.memory;
  base[PP_BASE_OUTPUT] = job->task.tensor;
  if (device->backend->unified) {
    base[PP_BASE_INDEX] = (uint8_t *) job->plan->index;
    base[PP_BASE_WEIGHT] = (uint8_t *) job->plan->weight;
  } else {
    base[PP_BASE_PINNED_TABLES] = job->tables->block.memory;
    base[PP_BASE_INDEX] = tables->block.memory;
    base[PP_BASE_WEIGHT] =
        (uint8_t *) tables->block.memory + pp_tables_weight_offset (job->plan);
    base[PP_BASE_IMAGE] = shared->buffer[PP_BUFFER_IMAGE].memory;
    base[PP_BASE_MEDIANS] = shared->buffer[PP_BUFFER_MEDIANS].memory;
    base[PP_BASE_TENSOR] = shared->buffer[PP_BUFFER_TENSOR].memory;
  }
  for (int m = 0; m < PP_N_JOB_MARKS; m++)
    bindings->event[m] = resources->event[m];
  bindings->event[PP_MARK_UPPER_UPLOADED] = shared->upper_uploaded;
  bindings->event[PP_MARK_UPPER_DONE] = shared->upper_done;
  /* The other job still owns its events here: the next job that uses them is
   * queued after this one. */
  const pp_job *after = job->task.after;
  if (after != NULL && after->device == device)
    bindings->event[PP_MARK_AFTER] =
        device->resources[after->resources].event[after->done_mark];
}

/* With the stream's lock held, between enter and leave. */
static pp_status
run_locked (pp_device *device, const pp_job *job, const pp_recipe *recipe,
    pp_error *error)
{
  pp_shared_stream *shared = device->stream[job->info.stream];
  struct pp_stream_tables *tables = &device->tables[job->info.stream];
  pp_status status =
      pp_shared_stream_join_second (shared, device->backend, error);
  pp_bindings bindings;

  if (status != PP_OK)
    return status;
  bind (device, job, &bindings);
  tables->plan = 0;
  status = pp_recipe_run (recipe, device->backend, &bindings, error);
  if (status == PP_OK)
    tables->plan = job->plan->id;
  else
    shared->upper_pending = recipe->facts.two_bands;
  return status;
}

/* Runs the recipe with the stream's lock held. If the stream's buffers are too
 * small, releases the lock, grows them, and tries again. */
static pp_status
run_on_stream (pp_device *device, const pp_job *job, const pp_recipe *recipe,
    pp_error *error)
{
  const pp_backend *backend = device->backend;
  pp_shared_stream *shared = device->stream[job->info.stream];
  bool room = false;
  pp_status status = PP_OK;

  while (!room && status == PP_OK) {
    pthread_mutex_lock (&shared->lock);
    status = backend->enter (device->context, error);
    if (status == PP_OK) {
      room = backend->unified ||
          pp_room_is_there (device, job->info.stream, job->plan);
      if (room)
        status = run_locked (device, job, recipe, error);
      backend->leave (device->context);
    }
    pthread_mutex_unlock (&shared->lock);
    if (room || status != PP_OK)
      break;
    status = backend->enter (device->context, error);
    if (status == PP_OK) {
      status = pp_room_reserve (device, job->info.stream, job->plan, error);
      backend->leave (device->context);
    }
  }
  return status;
}

/* Returns the error of the job in task.after if queueing that one failed: its
 * last event was not recorded, so the stream cannot wait for it. */
static pp_status
check_after (const pp_device *device, const pp_job *job, pp_error *error)
{
  pp_job *after = job->task.after;

  if (after == NULL || after->device != device || after->queued ||
      pp_job_query (after))
    return PP_OK;
  pthread_mutex_lock (&after->lock);
  *error = after->error;
  pthread_mutex_unlock (&after->lock);
  return error->status;
}

pp_status
pp_queue_job (pp_device *device, pp_job *job, pp_error *error)
{
  pp_status status = check_after (device, job, error);

  if (status != PP_OK)
    return status;
  const pp_facts facts = gather_facts (device, job);
  const pp_recipe *recipe =
      get_recipe (&device->recipes, job->plan, &facts, error);
  if (recipe == NULL)
    return PP_NO_MEMORY;
  if (!device->backend->unified) {
    job->tables = pp_pinned_tables_get (device, job->plan, error);
    if (job->tables == NULL)
      return PP_NO_MEMORY;
  }
  job->in_two_bands = facts.two_bands;
  job->input_mark = recipe->input_mark;
  job->done_mark = recipe->done_mark;
  job->info.bytes_up = recipe->bytes_up;
  job->info.bytes_down = recipe->bytes_down;
  return run_on_stream (device, job, recipe, error);
}
