/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the picture is in the tensor: its size by fit, its place by pad-align.
 * The results are those of the libraries that models are trained with, to the
 * pixel; tests/golden/ has tables of them.
 */
#include "parts.h"

#include <math.h>

#include "kernels/engine/backend.h"
#include "kernels/table.h"

/* Largest target, and largest side of the picture resized to it, pixels. Within
 * these limits, neither the products here nor the positions in taps.c overflow.
 */
#define MAX_TARGET (4 * PP_MAX_SIZE)
#define MAX_RESIZED (1 << 30)

typedef struct size {
  int64_t width, height;
} size;

/* The picture to be fitted. A pixel's width is width_unit / height_unit of its
 * height. */
struct picture {
  int64_t width, height; /* pixels */
  int64_t width_unit, height_unit;
};

static size
fit_stretch (size target, const struct picture *picture)
{
  (void) picture;
  return target;
}

static int64_t
at_least (int64_t value, int64_t least)
{
  return value > least ? value : least;
}

static int64_t
at_most (int64_t value, int64_t most)
{
  return value < most ? value : most;
}

/* As Ultralytics' LetterBox, in double as there: where a product in double is
 * exactly half an integer, the exact product may not be. */
static size
fit_letterbox (size target, const struct picture *picture)
{
  const double width = (double) (picture->width * picture->width_unit) /
      (double) picture->height_unit;
  const double height = (double) picture->height;
  const double ratio = fmin (target.height / height, target.width / width);

  /* llrint rounds half to even, as Python's round. */
  return (size){
    .width = at_most (at_least (llrint (width * ratio), 1), target.width),
    .height = at_most (at_least (llrint (height * ratio), 1), target.height),
  };
}

/* As torchvision's Resize: one side becomes its target, the other at least its
 * target. A product of a target (2^17), a side (2^15) and a unit (2^31) has at
 * most 63 bits. */
static size
fit_crop (size target, const struct picture *picture)
{
  const uint64_t width = picture->width * picture->width_unit;
  const uint64_t height = picture->height * picture->height_unit;
  const uint64_t by_width = target.width * height;
  const uint64_t by_height = target.height * width;

  if (by_width >= by_height)
    return (size){ target.width, (int64_t) (by_width / width) };
  return (size){ (int64_t) (by_height / height), target.height };
}

static const struct {
  size (*resized) (size target, const struct picture *picture);
  const char *uncropped; /* the fit's name, if it shows the whole picture */
} fits[] = {
  [PP_FIT_STRETCH] = { fit_stretch, NULL },
  [PP_FIT_LETTERBOX] = { fit_letterbox, "letterbox" },
  [PP_FIT_CROP] = { fit_crop, NULL },
};
PP_CHECK_TABLE (fits, PP_N_FITS);

/* How much of the padding is before the picture, in halves. */
static const int halves_before[] = {
  [PP_ALIGN_CENTER] = 1,
  [PP_ALIGN_TOP_LEFT] = 0,
};
PP_CHECK_TABLE (halves_before, PP_N_ALIGNS);

static const pp_turn turns[] = {
  [PP_DIRECTION_IDENTITY] = { false, false, false },
  [PP_DIRECTION_90R] = { true, false, true },
  [PP_DIRECTION_180] = { false, true, true },
  [PP_DIRECTION_90L] = { true, true, false },
  [PP_DIRECTION_HORIZ] = { false, true, false },
  [PP_DIRECTION_VERT] = { false, false, true },
  [PP_DIRECTION_UL_LR] = { true, false, false },
  [PP_DIRECTION_UR_LL] = { true, true, true },
};
PP_CHECK_TABLE (turns, PP_N_DIRECTIONS);

pp_turn
pp_turn_of (pp_direction direction)
{
  return turns[direction];
}

bool
pp_direction_swaps_axes (pp_direction direction)
{
  return turns[direction].swapped;
}

const char *
pp_fit_uncropped (pp_fit fit)
{
  return fits[fit].uncropped;
}

/* What the picture is resized to fill, before it is cropped to the tensor. */
static pp_status
make_target (const pp_spec *spec, size *target, pp_error *error)
{
  const int shorter = spec->width < spec->height ? spec->width : spec->height;
  double width = spec->width, height = spec->height;

  if (spec->resize != 0) {
    width = (double) ((int64_t) spec->width * spec->resize / shorter);
    height = (double) ((int64_t) spec->height * spec->resize / shorter);
  } else if (spec->crop_fraction != 0) {
    /* As timm. 1e-6 keeps quotients whole that rounding made a little less. */
    width = floor (spec->width / spec->crop_fraction + 1e-6);
    height = floor (spec->height / spec->crop_fraction + 1e-6);
  }
  if (width > MAX_TARGET || height > MAX_TARGET)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "resize is %d and crop-fraction is %g, a size of %gx%g before the "
        "crop, must be at most %d",
        spec->resize, spec->crop_fraction, width, height, MAX_TARGET);
  *target = (size){ (int64_t) width, (int64_t) height };
  return PP_OK;
}

/* Where the resized picture starts in the tensor on one axis. Negative if it is
 * cropped. */
static int
place (int available, int64_t resized, pp_align align)
{
  const int64_t rest = available - resized;

  if (rest >= 0) /* centred: LetterBox' round (rest / 2 - 0.1) */
    return (int) (rest * halves_before[align] / 2);

  /* torchvision's CenterCrop: half of the excess, rounded half to even. */
  const int64_t half = -rest / 2;

  return (int) -(half + (-rest & half & 1));
}

/* One row of the matrix: how a coordinate of the frame depends on the tensor's
 * coordinate along the same axis. */
struct line {
  double factor, constant;
};

/* The picture is length pixels from start in the frame, and resized pixels from
 * target in the tensor. Mirrored, it ends in the frame where it starts in the
 * tensor. */
static struct line
map_axis (int start, int length, int target, int resized, bool mirrored)
{
  const int64_t l = mirrored ? -(int64_t) length : length;
  const int64_t from = mirrored ? (int64_t) start + length : start;

  return (struct line){ (double) l / resized,
    (double) (from * resized - target * l) / resized };
}

/* The matrix that maps the tensor's coordinates to the frame's. */
static void
make_matrix (pp_geometry *geometry, pp_turn turn)
{
  const pp_rect *s = &geometry->source;
  const pp_rect t = pp_turned_rect (geometry->target, turn);
  const struct line x =
      map_axis (s->x, s->width, t.x, t.width, turn.mirrored_x);
  const struct line y =
      map_axis (s->y, s->height, t.y, t.height, turn.mirrored_y);
  double *m = geometry->matrix;

  m[0] = turn.swapped ? 0 : x.factor;
  m[1] = turn.swapped ? x.factor : 0;
  m[2] = x.constant;
  m[3] = turn.swapped ? y.factor : 0;
  m[4] = turn.swapped ? 0 : y.factor;
  m[5] = y.constant;
}

pp_status
pp_geometry_init (pp_geometry *geometry, const pp_spec *spec,
    const pp_format *format, const pp_rect *source, pp_error *error)
{
  const pp_turn turn = pp_turn_of (spec->direction);
  const bool square = spec->ignore_pixel_aspect_ratio;
  const int par_n = square ? 1 : format->par_n;
  const int par_d = square ? 1 : format->par_d;
  const struct picture picture = turn.swapped
      ? (struct picture){ source->height, source->width, par_d, par_n }
      : (struct picture){ source->width, source->height, par_n, par_d };
  size target;
  const pp_status status = make_target (spec, &target, error);

  if (status != PP_OK)
    return status;

  const size resized = fits[spec->fit].resized (target, &picture);

  if (resized.width > MAX_RESIZED || resized.height > MAX_RESIZED)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "source is %dx%d with a pixel aspect ratio of %d/%d, resized to "
        "%lldx%lld before the crop, must be at most %d",
        source->width, source->height, format->par_n, format->par_d,
        (long long) resized.width, (long long) resized.height, MAX_RESIZED);
  geometry->source = *source;
  geometry->target = (pp_rect){
    .x = place (spec->width, resized.width, spec->pad_align),
    .y = place (spec->height, resized.height, spec->pad_align),
    .width = (int) resized.width,
    .height = (int) resized.height,
  };
  make_matrix (geometry, turn);
  return PP_OK;
}
