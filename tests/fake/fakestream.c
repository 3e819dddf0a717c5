/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fakestream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fakeobjects.h"
#include "kernels/cpu/kernel_cpu.h"
#include "tests/fake/uploadedplan.h"

static pp_status
run_copy (pp_stream *stream, const void *data, pp_error *error)
{
  const pp_copy *copy = data;

  (void) stream;
  (void) error;
  if (fake_pretends (copy->up ? FAKE_UP : FAKE_DOWN))
    return PP_OK;
  for (size_t box = 0; box < copy->boxes; box++)
    for (size_t row = 0; row < copy->rows; row++)
      memcpy ((uint8_t *) copy->to + box * copy->to_box + row * copy->to_row,
          (const uint8_t *) copy->from + box * copy->from_box +
              row * copy->from_row,
          copy->width);
  return PP_OK;
}

/* What follows a row is lost. */
static void
gather_plane (const pp_gather_plane *plane)
{
  const size_t rest =
      (PP_GATHER_ALIGNMENT - plane->width % PP_GATHER_ALIGNMENT) %
      PP_GATHER_ALIGNMENT;

  for (int i = 0; i < plane->n_rows; i++) {
    uint8_t *to = plane->to + (size_t) i * plane->to_row;
    memcpy (to, plane->from + (size_t) plane->rows[i] * plane->from_row,
        plane->width);
    memset (to + plane->width, 0xa5, rest);
  }
}

static pp_status
run_gather (pp_stream *stream, const void *data, pp_error *error)
{
  pp_gather *gather;

  (void) stream;
  (void) error;
  memcpy (&gather, data, sizeof gather);
  if (!fake_pretends (FAKE_UP))
    for (int p = 0; p < gather->n_planes; p++)
      gather_plane (&gather->plane[p]);
  pp_backend_cpu.host_free (NULL, gather);
  return PP_OK;
}

/* The samples that the taps of a component read, by the uploaded tables. */
static void
require_samples (const pp_stream *stream, const pp_plan *plan,
    const pp_launch *launch, const pp_source *source)
{
  const pp_axis *x = &plan->numbers.x[source->axes];
  const pp_axis *y = &plan->numbers.y[source->axes];
  const size_t stride = launch->source.stride[source->plane];
  int last_x = 0, last_y = 0;

  for (int i = 0; i < x->n_out; i++)
    last_x =
        plan->index[x->first + i] > last_x ? plan->index[x->first + i] : last_x;
  for (int i = launch->first; i < launch->last; i++)
    last_y =
        plan->index[y->first + i] > last_y ? plan->index[y->first + i] : last_y;
  last_x += x->n_taps - 1;
  last_y += y->n_taps - 1;
  fake_require_on_device (stream, launch->source.plane[source->plane],
      (size_t) (source->first_row + last_y) * stride +
          (size_t) (source->first_byte + last_x * source->pixel_stride +
              plan->numbers.sample_bytes));
}

static pp_status
run_launch (pp_stream *stream, const void *data, pp_error *error)
{
  const pp_launch *launch = data;
  const pp_plan plan = uploaded_plan (launch);

  if (fake_pretends (FAKE_KERNEL))
    return PP_OK;
  void *scratch =
      pp_host_stream_scratch (stream, pp_apply_cpu_scratch (&plan), error);
  if (scratch == NULL)
    abort ();
  for (int c = 0; c < plan.numbers.n_components; c++)
    require_samples (stream, &plan, launch, &plan.numbers.source[c]);
  pp_apply_cpu (&plan, &launch->source, launch->tensor, launch->first,
      launch->last, scratch);
  return PP_OK;
}

void
fake_stream_copy (pp_stream *stream, const pp_copy *copy)
{
  pp_host_stream_push (stream, run_copy, copy, sizeof *copy);
}

/* It is too large for an operation's data. */
void
fake_stream_gather (pp_stream *stream, const pp_gather *gather)
{
  pp_gather *copy = pp_backend_cpu.host_alloc (NULL, sizeof *copy, NULL);

  if (copy == NULL)
    abort ();
  *copy = *gather;
  pp_host_stream_push (stream, run_gather, &copy, sizeof copy);
}

static pp_status
run_pad (pp_stream *stream, const void *data, pp_error *error)
{
  const pp_launch *launch = data;

  (void) stream;
  (void) error;
  pp_plan_fill_padding (launch->plan, launch->tensor);
  return PP_OK;
}

static pp_status
run_pad_content (pp_stream *stream, const void *data, pp_error *error)
{
  const pp_launch *launch = data;
  uint64_t padding = 0;

  (void) stream;
  (void) error;
  pp_plan_fill_tensor (launch->plan, launch->tensor, &padding);
  return PP_OK;
}

void
fake_stream_pad (pp_stream *stream, const pp_launch *launch, bool content)
{
  pp_host_stream_push (
      stream, content ? run_pad_content : run_pad, launch, sizeof *launch);
}

void
fake_stream_launch (pp_stream *stream, const pp_launch *launch)
{
  pp_host_stream_push (stream, run_launch, launch, sizeof *launch);
}
