/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GStreamer's definition of each direction, spelled as where a pixel of the
 * turned picture comes from. Shares nothing with the engine's table.
 */
#include "turnedframe.h"

#include <stdlib.h>
#include <string.h>

struct point {
  int x, y;
};

/* Where pixel (x, y) of the turned picture is stored, in a picture of width x
 * height. */
static struct point
find_stored (pp_direction direction, int x, int y, int width, int height)
{
  const int right = width - 1, bottom = height - 1;

  switch (direction) {
    case PP_DIRECTION_90R: /* the first row is the last column */
      return (struct point){ y, bottom - x };
    case PP_DIRECTION_180:
      return (struct point){ right - x, bottom - y };
    case PP_DIRECTION_90L: /* the last column is the first row */
      return (struct point){ right - y, x };
    case PP_DIRECTION_HORIZ:
      return (struct point){ right - x, y };
    case PP_DIRECTION_VERT:
      return (struct point){ x, bottom - y };
    case PP_DIRECTION_UL_LR:
      return (struct point){ y, x };
    case PP_DIRECTION_UR_LL:
      return (struct point){ right - y, bottom - x };
    case PP_DIRECTION_IDENTITY:
    case PP_N_DIRECTIONS:
      break;
  }
  return (struct point){ x, y };
}

struct turned_axes
turned_axes_of (pp_direction direction)
{
  const struct point corner = find_stored (direction, 0, 0, 2, 2);
  const struct point beside = find_stored (direction, 1, 0, 2, 2);

  return (
      struct turned_axes){ beside.x == corner.x, corner.x == 1, corner.y == 1 };
}

bool
can_turn_before (const pp_format *format, pp_direction direction)
{
  const pp_component *chroma = &format->component[format->n_components - 1];
  const struct turned_axes axes = turned_axes_of (direction);
  const bool cut_x = format->width % (1 << chroma->sub_x) != 0;
  const bool cut_y = format->height % (1 << chroma->sub_y) != 0;

  return !(axes.mirrored_x && chroma->sub_x > 0 &&
             (format->cosited_x || cut_x)) &&
      !(axes.mirrored_y && chroma->sub_y > 0 && (format->cosited_y || cut_y));
}

static int
samples (int pixels, int sub)
{
  return (pixels + (1 << sub) - 1) >> sub;
}

/* Copies component c of the stored frame to the plane. */
static void
turn_component (struct turned_frame *turned, const pp_format *format,
    const pp_view *view, pp_direction direction, int c)
{
  const pp_component *stored = &format->component[c];
  const int columns = samples (format->width, stored->sub_x);
  const int rows = samples (format->height, stored->sub_y);
  const bool swapped = turned_axes_of (direction).swapped;
  const int width = swapped ? rows : columns;
  const size_t size = (size_t) format->sample_bytes;

  turned->view.stride[c] = (size_t) width * size;
  turned->plane[c] = malloc ((size_t) columns * (size_t) rows * size);
  if (turned->plane[c] == NULL)
    abort ();
  turned->view.plane[c] = turned->plane[c];
  for (int y = 0; y < (swapped ? columns : rows); y++)
    for (int x = 0; x < width; x++) {
      const struct point at = find_stored (direction, x, y, columns, rows);

      memcpy (turned->plane[c] + (size_t) (y * width + x) * size,
          view->plane[stored->plane] +
              (size_t) at.y * view->stride[stored->plane] +
              (size_t) (stored->offset + at.x * stored->pixel_stride),
          size);
    }
}

static pp_rect
turn_rect (const pp_rect *stored, pp_direction direction, int width, int height)
{
  pp_rect turned = { 0, 0, 0, 0 };
  const bool swapped = turned_axes_of (direction).swapped;
  const int columns = swapped ? height : width, rows = swapped ? width : height;
  const int right = stored->x + stored->width - 1;
  const int bottom = stored->y + stored->height - 1;
  int first_x = columns, first_y = rows;

  /* The corner of the turned rectangle that is nearest to the origin. */
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      const struct point at = find_stored (direction, x, y, width, height);

      if (at.x < stored->x || at.x > right || at.y < stored->y || at.y > bottom)
        continue;
      first_x = x < first_x ? x : first_x;
      first_y = y < first_y ? y : first_y;
    }
  turned.x = first_x;
  turned.y = first_y;
  turned.width = swapped ? stored->height : stored->width;
  turned.height = swapped ? stored->width : stored->height;
  return turned;
}

void
turned_frame_init (struct turned_frame *turned, const pp_format *format,
    const pp_view *view, pp_direction direction, pp_rect *source)
{
  const bool swapped = turned_axes_of (direction).swapped;

  *turned = (struct turned_frame){ .format = *format };
  for (int c = 0; c < format->n_components; c++) {
    pp_component *component = &turned->format.component[c];
    const pp_component *stored = &format->component[c];

    turn_component (turned, format, view, direction, c);
    component->plane = c;
    component->offset = 0;
    component->pixel_stride = format->sample_bytes;
    component->sub_x = swapped ? stored->sub_y : stored->sub_x;
    component->sub_y = swapped ? stored->sub_x : stored->sub_y;
  }
  if (swapped) {
    turned->format.width = format->height;
    turned->format.height = format->width;
    turned->format.par_n = format->par_d;
    turned->format.par_d = format->par_n;
    turned->format.cosited_x = format->cosited_y;
    turned->format.cosited_y = format->cosited_x;
  }
  *source = turn_rect (source, direction, format->width, format->height);
}

void
turned_frame_clear (struct turned_frame *turned)
{
  for (int c = 0; c < PP_MAX_COMPONENTS; c++)
    free (turned->plane[c]);
}
