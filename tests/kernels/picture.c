/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames of random pictures, and what becomes of them.
 */
#include "picture.h"

#include "kernels/reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *
must (void *memory)
{
  if (!memory)
    abort ();
  return memory;
}

struct frame
make_frame (const pp_format *format, check_random *random)
{
  struct frame frame = { .check = { .format = *format } };

  check_case_planes (&frame.check);
  for (int p = 0; p < frame.check.n_planes; p++) {
    const size_t size = frame.check.stride[p] * frame.check.rows[p];

    frame.plane[p] = must (malloc (size));
    check_fill_random (random, frame.plane[p], size);
    frame.view.plane[p] = frame.plane[p];
    frame.view.stride[p] = frame.check.stride[p];
  }
  return frame;
}

void
clear_frame (struct frame *frame)
{
  for (int p = 0; p < frame->check.n_planes; p++)
    free (frame->plane[p]);
}

int
columns_of (const pp_format *format, int c)
{
  const int sub = format->component[c].sub_x;

  return (format->width + (1 << sub) - 1) >> sub;
}

int
rows_of (const pp_format *format, int c)
{
  const int sub = format->component[c].sub_y;

  return (format->height + (1 << sub) - 1) >> sub;
}

static uint8_t *
sample_at (const struct frame *frame, int c, int x, int y)
{
  const pp_component *component = &frame->check.format.component[c];

  return frame->plane[component->plane] +
      (size_t) y * frame->view.stride[component->plane] + component->offset +
      (size_t) x * component->pixel_stride;
}

int
get (const struct frame *frame, int c, int x, int y)
{
  const pp_format *format = &frame->check.format;
  const pp_component *component = &format->component[c];
  const uint8_t *at = sample_at (frame, c, x, y);

  if (format->sample_bytes == 1)
    return at[0];
  return (at[!format->big_endian] << 8 | at[format->big_endian]) >>
      component->shift &
      ((1 << component->depth) - 1);
}

void
put (struct frame *frame, int c, int x, int y, int value)
{
  const pp_format *format = &frame->check.format;
  const pp_component *component = &format->component[c];
  const int mask = ((1 << component->depth) - 1) << component->shift;
  uint8_t *at = sample_at (frame, c, x, y);

  if (format->sample_bytes == 1) {
    at[0] = (uint8_t) value;
    return;
  }

  uint8_t *high = at + !format->big_endian, *low = at + format->big_endian;
  const int sample = ((*high << 8 | *low) & ~mask) | value << component->shift;

  *high = (uint8_t) (sample >> 8);
  *low = (uint8_t) sample;
}

void
copy_samples (struct frame *to, const struct frame *from, int dx, int dy)
{
  const pp_format *format = &to->check.format;

  for (int c = 0; c < format->n_components; c++) {
    const int x0 = dx >> format->component[c].sub_x;
    const int y0 = dy >> format->component[c].sub_y;

    for (int y = 0; y < rows_of (format, c); y++)
      for (int x = 0; x < columns_of (format, c); x++)
        put (to, c, x, y, get (from, c, x + x0, y + y0));
  }
}

struct result
convert (const pp_spec *spec, const struct frame *frame, const pp_rect *source)
{
  pp_error error;
  pp_plan *plan = pp_plan_new (spec, &frame->check.format, source, &error);

  if (!plan) {
    fprintf (stderr, "no plan: %s\n", error.text);
    exit (1);
  }

  const pp_view view = pp_plan_crop_view (plan, &frame->view);
  struct result result = { plan->numbers, pp_plan_tensor_size (plan), NULL };

  result.tensor = must (malloc (result.size));
  if (!pp_apply_c (plan, &view, result.tensor))
    abort ();
  pp_plan_unref (&plan);
  return result;
}

void
clear_result (struct result *result)
{
  free (result->tensor);
}

double
value_at (const struct result *result, int c, int x, int y)
{
  const pp_numbers *n = &result->numbers;
  float value;

  memcpy (&value,
      result->tensor +
          (n->channel[c] + (n->content_y + y) * n->row_stride +
              (n->content_x + x) * n->pixel_stride) *
              (int64_t) sizeof value,
      sizeof value);
  return value;
}

double
difference (
    const struct result *a, const struct result *b, bool flip_x, bool flip_y)
{
  const pp_numbers *n = &a->numbers;
  double most = 0;

  for (int c = 0; c < n->n_channels; c++)
    for (int y = 0; y < n->content_height; y++)
      for (int x = 0; x < n->content_width; x++) {
        const int other_x = flip_x ? n->content_width - 1 - x : x;
        const int other_y = flip_y ? n->content_height - 1 - y : y;
        const double here =
            fabs (value_at (a, c, x, y) - value_at (b, c, other_x, other_y));

        /* Not fmax, which leaves out NaN. */
        if (!(here <= most))
          most = isnan (here) ? INFINITY : here;
      }
  return most;
}

check_random
make_case (check_case *check, const char *name, uint64_t seed, int number)
{
  check_random random = check_case_init (check, seed, number);
  pp_spec *spec = &check->spec, plain;
  const int width = check_between (&random, 1, 48);
  const int height = check_between (&random, 1, 48);
  const int par_n = check->format.par_n, par_d = check->format.par_d;

  if (!check_format_init (
          &check->format, name ? name : check->format_name, width, height))
    abort ();
  check->format.par_n = par_n;
  check->format.par_d = par_d;
  check->format_name = name ? name : check->format_name;
  pp_spec_init (&plain);
  spec->type = PP_TYPE_FLOAT32;
  spec->surface = plain.surface;
  spec->scale = 1;
  memcpy (spec->mean, plain.mean, sizeof plain.mean);
  memcpy (spec->std, plain.std, sizeof plain.std);
  return random;
}

uint64_t
choose_seed (int argc, char **argv)
{
  const uint64_t seed =
      argc > 1 ? strtoull (argv[1], NULL, 0) : (uint64_t) time (NULL);

  printf ("seed %llu\n", (unsigned long long) seed);
  return seed;
}
