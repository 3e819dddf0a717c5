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
  pp_gather gather;

  gather.n_planes = step->last - step->first;
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

static const void *
table (const pp_bindings *bindings, pp_place place)
{
  return address (bindings, place);
}

pp_launch
pp_recipe_launch (const pp_recipe *recipe, int i, const pp_bindings *bindings)
{
  const pp_plan *plan = bindings->plan[i];
  const pp_picture_step *picture = &recipe->picture[i];
  const bool unified = recipe->facts.unified;
  const bool medians = plan->median.size > 0 && !unified;
  pp_launch launch = { .plan = plan,
    .last = plan->whole.last,
    .tensor = address (bindings, picture->tensor),
    .index = unified ? plan->index : table (bindings, picture->index),
    .weight = unified ? plan->weight : table (bindings, picture->weight) };

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (plan->extent[p].height == 0)
      continue;
    launch.source.plane[p] = address (bindings, picture->source[p]);
    launch.source.stride[p] = picture->stride[p];
    if (medians) {
      launch.medians.plane[p] = address (bindings, picture->medians[p]);
      launch.medians.stride[p] = picture->medians_stride[p];
    }
  }
  return launch;
}

static pp_status
run_launch (const pp_recipe *recipe, const pp_backend *backend,
    const pp_bindings *bindings, pp_stream *stream, const pp_step *step,
    pp_error *error)
{
  pp_launch launch = pp_recipe_launch (recipe, 0, bindings);

  launch.first = step->first;
  launch.last = step->last;
  return backend->launch (stream, &launch, error);
}

static pp_status
run_launch_pictures (const pp_recipe *recipe, const pp_backend *backend,
    const pp_bindings *bindings, pp_stream *stream, const pp_step *step,
    pp_error *error)
{
  pp_launch launches[PP_MAX_PICTURES];
  const int n = step->last - step->first;

  for (int i = 0; i < n; i++)
    launches[i] = pp_recipe_launch (recipe, step->first + i, bindings);
  return backend->launch_pictures (
      stream, &bindings->team, launches, n, recipe->facts.padding, error);
}

static pp_status
run_pad (const pp_recipe *recipe, const pp_backend *backend,
    const pp_bindings *bindings, pp_stream *stream, pp_error *error)
{
  pp_launch launches[PP_MAX_PICTURES];
  int n = 0;

  for (int i = 0; i < recipe->n_pictures; i++)
    if ((recipe->facts.pad >> i & 1) != 0)
      launches[n++] = (pp_launch){ .plan = bindings->plan[i],
        .tensor = address (bindings, recipe->picture[i].tensor) };
  return backend->pad (stream, launches, n, recipe->facts.padding_only, error);
}

pp_status
pp_recipe_run (const pp_recipe *recipe, const pp_backend *backend,
    const pp_bindings *bindings, pp_error *error)
{
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
        status = run_launch (recipe, backend, bindings, stream, step, error);
        break;
      case PP_OP_LAUNCH_PICTURES:
        status = run_launch_pictures (
            recipe, backend, bindings, stream, step, error);
        break;
      case PP_OP_PAD:
        status = run_pad (recipe, backend, bindings, stream, error);
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
  return !device->backend->unified && job->task.urgent &&
      job->task.n_pictures == 1 && job->picture[0].plan->in_two &&
      job->staged == 0 && !job->task.on_device &&
      !job->task.tensors_on_device && pp_job_is_alone (device, job);
}

static pp_facts
gather_facts (pp_device *device, const pp_job *job)
{
  pp_job *after = job->task.after;
  const bool unified = device->backend->unified;
  const bool padding_only = job->task.padding_only;
  pp_facts facts = { .plan = job->picture[0].plan->id,
    .unified = unified,
    .source_in_place = unified || job->task.on_device || padding_only,
    .tensor_in_place = unified || job->task.tensors_on_device,
    .padding_only = padding_only,
    .staged = job->staged,
    .two_bands = is_worth_two_bands (device, job),
    .padding = job->padding,
    .pad = job->pad,
    .after = after != NULL && !pp_job_query (after),
    .timed = job->info.timed };

  pp_job_get_strides (job, facts.stride);
  return facts;
}

pp_status
pp_recipes_reserve (struct pp_recipes *recipes, int n, pp_error *error)
{
  if (recipes->pictures != NULL && recipes->pictures->max_pictures >= n)
    return PP_OK;
  free (recipes->pictures);
  recipes->pictures = pp_recipe_new (n);
  return recipes->pictures != NULL
      ? PP_OK
      : pp_fail_memory (error, "malloc", sizeof *recipes->pictures);
}

/* That of several pictures is made anew for each job: their plans are those of
 * one frame. */
static const pp_recipe *
make_recipe (struct pp_recipes *recipes, const pp_pictures *pictures,
    const pp_facts *facts, pp_error *error)
{
  if (pp_recipes_reserve (recipes, pictures->n, error) != PP_OK)
    return NULL;
  pp_recipe_init (recipes->pictures, pictures, facts);
  return recipes->pictures;
}

/* The recipe for the facts: a kept one, else a new one. NULL with an error. */
static const pp_recipe *
get_recipe (struct pp_recipes *recipes, const pp_pictures *pictures,
    const pp_facts *facts, pp_error *error)
{
  pp_recipe **kept = recipes->kept;
  int at = 0;

  if (pictures->n > 1)
    return make_recipe (recipes, pictures, facts, error);
  while (at < PP_MAX_KEPT_RECIPES - 1 && kept[at] != NULL &&
      !pp_facts_equal (&kept[at]->facts, facts))
    at++;
  pp_recipe *found = kept[at];
  if (found == NULL) {
    found = pp_recipe_new (1);
    if (found == NULL) {
      pp_fail_memory (error, "malloc", sizeof *found);
      return NULL;
    }
    pp_recipe_init (found, pictures, facts);
  } else if (!pp_facts_equal (&found->facts, facts)) {
    pp_recipe_init (found, pictures, facts);
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
  free (recipes->pictures);
  recipes->pictures = NULL;
}

/* ---- queueing a job ------------------------------------------------------- */

/* Threads of a unified device share the pictures of a job. On the CPU, some of
 * a device's streams may be the same. */
static void
bind_team (const pp_device *device, pp_stream *own, pp_team *team)
{
  for (int s = 0; s < device->n_streams; s++) {
    pp_stream *other = device->stream[s]->stream;
    bool there = other == own;

    for (int i = 0; i < team->n; i++)
      there |= team->stream[i] == other;
    if (!there)
      team->stream[team->n++] = other;
  }
}

/* With the stream's lock held. */
static void
bind (const pp_device *device, const pp_job *job, const pp_pictures *pictures,
    pp_bindings *bindings)
{
  const pp_shared_stream *shared = device->stream[job->info.stream];
  const struct pp_stream_tables *tables = &device->tables[job->info.stream];
  const struct pp_job_resources *resources = &device->resources[job->resources];
  uint8_t **base = bindings->base;

  *bindings = (pp_bindings){ .plan = pictures->plan,
    .stream = { shared->stream, shared->second },
    .tables_there = job->tables != NULL && tables->tables == job->tables->id };
  for (int p = 0; p < PP_MAX_PLANES; p++)
    base[PP_BASE_PLANE + p] = (uint8_t *) job->task.view.plane[p];
  base[PP_BASE_STAGING] = resources->staging.memory;
  base[PP_BASE_OUTPUT] =
      (uint8_t *) job->picture[0].tensor - pictures->slice[0];
  if (device->backend->unified) {
    bind_team (device, shared->stream, &bindings->team);
  } else {
    if (job->tables != NULL)
      base[PP_BASE_PINNED_TABLES] = job->tables->block.memory;
    base[PP_BASE_INDEX] = tables->block.memory;
    base[PP_BASE_WEIGHT] = (uint8_t *) tables->block.memory +
        pp_tables_weight_offset (pictures->plan[0]);
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
run_locked (pp_device *device, const pp_job *job, const pp_pictures *pictures,
    const pp_recipe *recipe, pp_error *error)
{
  pp_shared_stream *shared = device->stream[job->info.stream];
  struct pp_stream_tables *tables = &device->tables[job->info.stream];
  pp_status status =
      pp_shared_stream_join_second (shared, device->backend, error);
  pp_bindings bindings;

  if (status != PP_OK)
    return status;
  bind (device, job, pictures, &bindings);
  if (job->tables != NULL)
    tables->tables = 0;
  status = pp_recipe_run (recipe, device->backend, &bindings, error);
  if (status != PP_OK)
    shared->upper_pending = recipe->facts.two_bands;
  else if (job->tables != NULL)
    tables->tables = job->tables->id;
  return status;
}

/* Runs the recipe with the stream's lock held. If the stream's buffers are too
 * small, releases the lock, grows them, and tries again. */
static pp_status
run_on_stream (pp_device *device, const pp_job *job,
    const pp_pictures *pictures, const pp_recipe *recipe, pp_error *error)
{
  const pp_backend *backend = device->backend;
  pp_shared_stream *shared = device->stream[job->info.stream];
  const struct pp_room needed = pp_room_for_recipe (recipe);
  bool room = false;
  pp_status status = PP_OK;

  while (!room && status == PP_OK) {
    pthread_mutex_lock (&shared->lock);
    status = backend->enter (device->context, error);
    if (status == PP_OK) {
      room = backend->unified ||
          pp_room_is_there (device, job->info.stream, &needed);
      if (room)
        status = run_locked (device, job, pictures, recipe, error);
      backend->leave (device->context);
    }
    pthread_mutex_unlock (&shared->lock);
    if (room || status != PP_OK)
      break;
    status = backend->enter (device->context, error);
    if (status == PP_OK) {
      status = pp_room_reserve (device, job->info.stream, &needed, error);
      backend->leave (device->context);
    }
  }
  return status;
}

/* Makes new events in place of those that belong to an earlier job, which used the
 * same resources. */
static pp_status
replace_lent_events (pp_device *device, const pp_job *job, pp_error *error)
{
  const pp_backend *backend = device->backend;
  struct pp_job_resources *resources = &device->resources[job->resources];
  pp_status status = PP_OK;

  if (resources->lent == 0)
    return PP_OK;
  status = backend->enter (device->context, error);
  if (status != PP_OK)
    return status;
  for (int m = 0; m < PP_N_JOB_MARKS && status == PP_OK; m++) {
    pp_event *event = NULL;

    if ((resources->lent >> m & 1) == 0)
      continue;
    status = backend->event_create (
        device->context, pp_mark_is_timed ((pp_mark) m), &event, error);
    if (status != PP_OK)
      break;
    resources->event[m] = event;
    resources->lent &= ~(1u << m);
  }
  backend->leave (device->context);
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

  if (status == PP_OK)
    status = replace_lent_events (device, job, error);
  if (status != PP_OK)
    return status;
  const pp_facts facts = gather_facts (device, job);
  pp_pictures pictures;
  pp_job_get_pictures (job, &pictures);
  const pp_recipe *recipe =
      get_recipe (&device->recipes, &pictures, &facts, error);
  if (recipe == NULL)
    return PP_NO_MEMORY;
  if (!facts.unified && !facts.padding_only && job->tables == NULL) {
    job->tables =
        pp_pinned_tables_get (device, &pictures, recipe->all_rows, error);
    if (job->tables == NULL)
      return PP_NO_MEMORY;
  }
  job->in_two_bands = facts.two_bands;
  job->input_mark = recipe->input_mark;
  job->done_mark = recipe->done_mark;
  job->uploaded_mark = recipe->uploaded_mark;
  job->computed_mark = recipe->computed_mark;
  job->info.bytes_up = recipe->bytes_up;
  job->info.bytes_down = recipe->bytes_down;
  return run_on_stream (device, job, &pictures, recipe, error);
}
