/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "image.h"

#include "operations.h"

/* Rows start at multiples of this, bytes: whole cache lines for the threads
 * that stage. Kernels and gathers ask for less. */
#define ROW_ALIGNMENT 64
/* Planes start at multiples of this, bytes. */
#define PLANE_ALIGNMENT 256
/* Gaps between adjacent rows are moved with them up to this part of a row. */
#define GAP_PART 64
/* Bytes that a copy moves while narrow rows are gathered: an H200 gathers them
 * at 35 GB/s and copies at 54. */
#define COPY_SPEED 3
#define GATHER_SPEED 2

static size_t
align_up (size_t size, size_t alignment)
{
  return (size + alignment - 1) / alignment * alignment;
}

static size_t
plane_width (const pp_plan *plan, int plane)
{
  return (size_t) plan->extent[plane].width;
}

static size_t
compact_stride (size_t width)
{
  return align_up (width, ROW_ALIGNMENT);
}

/* The largest stride that rows have in the image. */
static size_t
largest_stride (size_t width)
{
  return align_up (width + width / GAP_PART, ROW_ALIGNMENT);
}

/* Whether adjacent rows of a frame can be moved as one piece. The image then has
 * the frame's stride, which must suit it. */
static bool
can_join (size_t width, size_t stride)
{
  return stride % PP_GATHER_ALIGNMENT == 0 && stride <= largest_stride (width);
}

static size_t
plane_size (const pp_plan *plan, int plane, size_t stride)
{
  return align_up (stride * (size_t) plan->rows[plane].count, PLANE_ALIGNMENT);
}

/* Counts all rows of the extents, so that a smaller rectangle of the frame, of
 * which taps touch more rows, needs no larger buffer. */
size_t
pp_image_size (const pp_plan *plan)
{
  size_t size = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    size += align_up (largest_stride (plane_width (plan, p)) *
            (size_t) plan->extent[p].height,
        PLANE_ALIGNMENT);
  return size;
}

size_t
pp_image_staged_size (const pp_plan *plan, unsigned staged)
{
  size_t size = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    if ((staged & (1u << p)) != 0)
      size += plane_size (plan, p, compact_stride (plane_width (plan, p)));
  return size;
}

void
pp_image_layout_init (pp_image_layout *layout, const pp_plan *plan,
    unsigned staged, const size_t stride[PP_MAX_PLANES])
{
  size_t end = 0;

  *layout = (pp_image_layout){ .offset = { 0 } };
  for (int pass = 0; pass < 2; pass++) {
    for (int p = 0; p < PP_MAX_PLANES; p++) {
      const bool is_staged = (staged & (1u << p)) != 0;
      const size_t width = plane_width (plan, p);

      if (plan->rows[p].count == 0 || is_staged != (pass == 0))
        continue;
      layout->joined[p] = !is_staged && can_join (width, stride[p]);
      layout->stride[p] =
          layout->joined[p] ? stride[p] : compact_stride (width);
      layout->offset[p] = end;
      end += plane_size (plan, p, layout->stride[p]);
    }
  }
}

size_t
pp_image_frame_size (const pp_format *format)
{
  size_t width[PP_MAX_PLANES] = { 0 }, rows[PP_MAX_PLANES] = { 0 }, size = 0;

  for (int i = 0; i < format->n_components; i++) {
    const pp_component *c = &format->component[i];
    const int end = c->offset +
        ((format->width - 1) >> c->sub_x) * c->pixel_stride +
        format->sample_bytes;
    const int high = ((format->height - 1) >> c->sub_y) + 1;

    if (width[c->plane] < (size_t) end)
      width[c->plane] = (size_t) end;
    if (rows[c->plane] < (size_t) high)
      rows[c->plane] = (size_t) high;
  }
  for (int p = 0; p < PP_MAX_PLANES; p++)
    size += align_up (largest_stride (width[p]) * rows[p], PLANE_ALIGNMENT);
  return size;
}

/* ---- several pictures ----------------------------------------------------- */

static pp_rect
unite (pp_rect a, const pp_rect *b)
{
  if (a.height == 0)
    return *b;
  if (b->height == 0)
    return a;

  const int x = a.x < b->x ? a.x : b->x, y = a.y < b->y ? a.y : b->y;
  const int a_right = a.x + a.width, b_right = b->x + b->width;
  const int a_bottom = a.y + a.height, b_bottom = b->y + b->height;

  return (pp_rect){ x, y, (a_right > b_right ? a_right : b_right) - x,
    (a_bottom > b_bottom ? a_bottom : b_bottom) - y };
}

/* Where a plane starts that needs size bytes of what ends at *end. */
static size_t
append (size_t *end, size_t size)
{
  const size_t start = *end;

  *end += size;
  return start;
}

/* The image of what bounds the pictures: staged planes first. */
static void
lay_out_bound (pp_pictures_layout *layout, const pp_pictures *pictures,
    unsigned staged, const size_t stride[PP_MAX_PLANES])
{
  for (int p = 0; p < PP_MAX_PLANES; p++)
    for (int i = 0; i < pictures->n; i++)
      layout->bound[p] =
          unite (layout->bound[p], &pictures->plan[i]->extent[p]);
  for (int pass = 0; pass < 2; pass++) {
    for (int p = 0; p < PP_MAX_PLANES; p++) {
      const bool is_staged = (staged & (1u << p)) != 0;
      const size_t width = (size_t) layout->bound[p].width;
      const size_t rows = (size_t) layout->bound[p].height;
      pp_image_layout *frame = &layout->frame;

      if (rows == 0 || is_staged != (pass == 0))
        continue;
      frame->joined[p] = !is_staged && can_join (width, stride[p]);
      frame->stride[p] = frame->joined[p] ? stride[p] : compact_stride (width);
      frame->offset[p] = append (
          &layout->size, align_up (frame->stride[p] * rows, PLANE_ALIGNMENT));
    }
    if (pass == 0)
      layout->staged_size = layout->size;
  }
}

/* An image of its own for each picture; the staged planes of all come first. */
static void
lay_out_each (
    pp_pictures_layout *layout, const pp_pictures *pictures, unsigned staged)
{
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < pictures->n; i++)
      for (int p = 0; p < PP_MAX_PLANES; p++) {
        const pp_plan *plan = pictures->plan[i];
        pp_picture_layout *picture = &layout->picture[i];
        const bool is_staged = (staged & (1u << p)) != 0;

        if (plan->rows[p].count == 0 || is_staged != (pass == 0))
          continue;
        picture->stride[p] = compact_stride (plane_width (plan, p));
        picture->offset[p] =
            append (&layout->size, plane_size (plan, p, picture->stride[p]));
      }
    if (pass == 0)
      layout->staged_size = layout->size;
  }
}

/* Each picture in the one image. */
static void
place_in_bound (pp_pictures_layout *layout, const pp_pictures *pictures)
{
  for (int i = 0; i < pictures->n; i++)
    for (int p = 0; p < PP_MAX_PLANES; p++) {
      const pp_rect *extent = &pictures->plan[i]->extent[p];
      const pp_rect *bound = &layout->bound[p];

      if (extent->height == 0)
        continue;
      layout->picture[i].stride[p] = layout->frame.stride[p];
      layout->picture[i].offset[p] = layout->frame.offset[p] +
          (size_t) (extent->y - bound->y) * layout->frame.stride[p] +
          (size_t) (extent->x - bound->x);
    }
}

static void
lay_out_medians (pp_pictures_layout *layout, const pp_pictures *pictures)
{
  for (int i = 0; i < pictures->n; i++) {
    const pp_plan *plan = pictures->plan[i];
    pp_picture_layout *medians = &layout->medians[i];
    size_t end = 0;

    if (plan->median.size == 0)
      continue;
    for (int p = 0; p < PP_MAX_PLANES; p++) {
      if (plan->rows[p].count == 0)
        continue;
      medians->stride[p] = compact_stride (plane_width (plan, p));
      medians->offset[p] =
          append (&end, plane_size (plan, p, medians->stride[p]));
    }
    layout->medians_size =
        end > layout->medians_size ? end : layout->medians_size;
  }
}

void
pp_pictures_layout_init (pp_pictures_layout *layout,
    const pp_pictures *pictures, unsigned staged,
    const size_t stride[PP_MAX_PLANES])
{
  *layout = (pp_pictures_layout){ .together = false };
  lay_out_each (layout, pictures, staged);

  const size_t each = layout->size, each_staged = layout->staged_size;

  layout->size = 0;
  lay_out_bound (layout, pictures, staged, stride);
  layout->together = COPY_SPEED * each >= GATHER_SPEED * layout->size;
  if (layout->together) {
    place_in_bound (layout, pictures);
    lay_out_medians (layout, pictures);
    return;
  }
  layout->size = each;
  layout->staged_size = each_staged;
  for (int i = 0; i < pictures->n; i++)
    if (pictures->plan[i]->median.size > 0) {
      layout->medians[i] = layout->picture[i];
      layout->medians_size = each;
    }
}

void
pp_pictures_layout_init_in_place (
    pp_pictures_layout *layout, const pp_pictures *pictures)
{
  *layout = (pp_pictures_layout){ .together = true };
  lay_out_medians (layout, pictures);
}
