/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture that is turned on its way to the tensor, beside a frame that was
 * turned before, and beside the tensor of the upright picture. Argument: a seed;
 * the time by default.
 */
#include <math.h>
#include <string.h>

#include "tests/common/expect.h"
#include "picture.h"
#include "turnedframe.h"

/* Of values in 0...255: as much as another order of sums may change. */
#define OTHER_ORDER (255 * 0x1p-20)
/* Cases a direction. */
#define TURNED_CASES 150

/* The largest difference between two tensors, padding included; infinite where
 * their sizes differ. */
static double
tensors_differ (const struct result *a, const struct result *b)
{
  double most = a->size == b->size ? 0 : INFINITY;

  for (size_t i = 0; i < a->size && i < b->size; i += sizeof (float)) {
    float x, y;

    memcpy (&x, a->tensor + i, sizeof x);
    memcpy (&y, b->tensor + i, sizeof y);

    const double here = fabs ((double) x - y);

    if (!(here <= most))
      most = isnan (here) ? INFINITY : here;
  }
  return most;
}

/* Two terms have one sum in either order; more may not, and across the frame's
 * rows first is along the turned frame's. */
static bool
has_same_sums (const pp_numbers *n)
{
  return !n->swapped && n->x[0].n_taps <= 2 && n->x[1].n_taps <= 2 &&
      n->y[0].n_taps <= 2 && n->y[1].n_taps <= 2;
}

static pp_rect
random_source (const pp_format *format, check_random *random)
{
  const int x = check_between (random, 0, format->width - 1);
  const int y = check_between (random, 0, format->height - 1);

  return (pp_rect){ x, y, check_between (random, 1, format->width - x),
    check_between (random, 1, format->height - y) };
}

/* Points of the tensor are points of the frame that lie where the turned frame
 * has its own. */
static void
check_points (const check_case *check, const pp_spec *spec,
    const pp_spec *upright, const pp_rect *source,
    const struct turned_frame *turned, const pp_rect *turned_source)
{
  const struct turned_axes axes = turned_axes_of (spec->direction);
  pp_plan *plan = pp_plan_new (spec, &check->format, source, NULL);
  pp_plan *before = pp_plan_new (upright, &turned->format, turned_source, NULL);
  pp_geometry is, should;

  pp_plan_get_geometry (plan, &is);
  pp_plan_get_geometry (before, &should);
  HOLDS (memcmp (&is.source, source, sizeof *source) == 0 &&
          memcmp (&is.target, &should.target, sizeof is.target) == 0,
      check, "the picture is %dx%d at %d,%d of the tensor", is.target.width,
      is.target.height, is.target.x, is.target.y);
  for (int i = 0; i < 4; i++) {
    const double x = i % 2 * spec->width, y = i / 2 * spec->height;
    const double *m = is.matrix, *s = should.matrix;
    const double turned_x = s[0] * x + s[1] * y + s[2];
    const double turned_y = s[3] * x + s[4] * y + s[5];
    const double along = axes.swapped ? turned_y : turned_x;
    const double down = axes.swapped ? turned_x : turned_y;
    const double frame_x =
        axes.mirrored_x ? check->format.width - along : along;
    const double frame_y = axes.mirrored_y ? check->format.height - down : down;

    HOLDS (fabs (m[0] * x + m[1] * y + m[2] - frame_x) < 1e-6 &&
            fabs (m[3] * x + m[4] * y + m[5] - frame_y) < 1e-6,
        check, "(%g, %g) is not (%g, %g) of the frame", x, y, frame_x, frame_y);
  }
  pp_plan_unref (&plan);
  pp_plan_unref (&before);
}

/* With a rectangle of the frame and all filters, every format: the tensor of a
 * frame that was turned before. */
static void
test_turned_before (uint64_t seed)
{
  int compared = 0, exact = 0;

  for (int i = 0; i < PP_N_DIRECTIONS * TURNED_CASES; i++) {
    const pp_direction direction = (pp_direction) (i % PP_N_DIRECTIONS);
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);

    if (!can_turn_before (&check.format, direction))
      continue;

    struct frame frame = make_frame (&check.format, &random);
    pp_rect source = random_source (&check.format, &random);
    pp_rect turned_source = source;
    struct turned_frame turned;
    pp_spec spec = check.spec, upright = check.spec;

    spec.direction = direction;
    upright.direction = PP_DIRECTION_IDENTITY;
    turned_frame_init (
        &turned, &check.format, &frame.view, direction, &turned_source);

    struct frame before = { .view = turned.view };

    before.check.format = turned.format;

    struct result is = convert (&spec, &frame, &source);
    struct result should = convert (&upright, &before, &turned_source);
    const double off = tensors_differ (&is, &should);
    const bool same = has_same_sums (&is.numbers);

    HOLDS (off <= (same ? 0 : OTHER_ORDER), &check,
        "direction %d of %dx%d at %d,%d is off by %g", (int) direction,
        source.width, source.height, source.x, source.y, off);
    check_points (&check, &spec, &upright, &source, &turned, &turned_source);
    compared++;
    exact += same;
    clear_result (&is);
    clear_result (&should);
    turned_frame_clear (&turned);
    clear_frame (&frame);
  }
  EXPECT (compared > 4 * TURNED_CASES && exact > TURNED_CASES / 2,
      "%d cases compared, %d to the bit", compared, exact);
}

/* The tensor of the upright picture, turned: also where chroma's site, or a cut
 * sample of it, has no name in a turned frame. As many rows are uploaded. */
static void
test_turned_after (uint64_t seed)
{
  for (int i = 0; i < PP_N_DIRECTIONS * TURNED_CASES; i++) {
    const pp_direction direction = (pp_direction) (i % PP_N_DIRECTIONS);
    const struct turned_axes axes = turned_axes_of (direction);
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);
    pp_spec *spec = &check.spec;

    check.format.cosited_x = check_one_in (&random, 2);
    check.format.cosited_y = check_one_in (&random, 2);

    struct frame frame = make_frame (&check.format, &random);
    const pp_rect source = random_source (&check.format, &random);

    /* Nearest takes the sample to the right of a centre between two, and where
     * an odd excess is cropped, one side has more of it: not symmetrical. */
    if (spec->method == PP_METHOD_NEAREST)
      spec->method = PP_METHOD_AREA;
    if (spec->fit == PP_FIT_CROP)
      spec->fit = PP_FIT_LETTERBOX;
    spec->resize = 0;
    spec->crop_fraction = 0;
    spec->ignore_pixel_aspect_ratio = true;

    pp_spec upright = *spec;

    spec->direction = direction;
    upright.direction = PP_DIRECTION_IDENTITY;
    upright.width = axes.swapped ? spec->height : spec->width;
    upright.height = axes.swapped ? spec->width : spec->height;

    struct result is = convert (spec, &frame, &source);
    struct result should = convert (&upright, &frame, &source);
    const double off =
        difference (&should, &is, axes.mirrored_x, axes.mirrored_y);

    HOLDS (is.numbers.content_width == should.numbers.content_width &&
            is.numbers.content_height == should.numbers.content_height,
        &check, "the content is %dx%d, not %dx%d", is.numbers.content_width,
        is.numbers.content_height, should.numbers.content_width,
        should.numbers.content_height);
    HOLDS (off <= OTHER_ORDER, &check,
        "direction %d of %dx%d at %d,%d is off by %g", (int) direction,
        source.width, source.height, source.x, source.y, off);
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);

    pp_plan *plan = pp_plan_new (spec, &check.format, &source, NULL);
    pp_plan *other = pp_plan_new (&upright, &check.format, &source, NULL);

    for (int p = 0; p < PP_MAX_PLANES; p++)
      HOLDS (plan->rows[p].count == other->rows[p].count &&
              plan->extent[p].width == other->extent[p].width,
          &check, "plane %d: %d rows of %d bytes, not %d of %d", p,
          plan->rows[p].count, plan->extent[p].width, other->rows[p].count,
          other->extent[p].width);
    pp_plan_unref (&plan);
    pp_plan_unref (&other);
  }
}

int
main (int argc, char **argv)
{
  const uint64_t seed = choose_seed (argc, argv);

  test_turned_before (seed);
  test_turned_after (seed);
  return expect_end ();
}
