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
