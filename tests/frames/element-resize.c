/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shrinking by much, with and without antialias: what the filter's definition
 * makes of frames that change along one axis only.
 */

#include <math.h>
#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

static const struct {
  gint width, height; /* of the frame */
  gint to_width, to_height;
  gboolean antialias;
} sizes[] = {
  { 3840, 2160, 224, 224, TRUE },
  { 3840, 2160, 224, 224, FALSE },
  { 941, 941, 10, 10, TRUE },
  { 941, 941, 10, 10, FALSE },
  { 1920, 1080, 640, 360, FALSE },
};

/* One axis of a frame and of its tensor. */
typedef struct {
  gboolean vertical;
  gint length, resized;
  gdouble reach;          /* of the triangle, samples to either side */
  guint8 samples[3840];   /* length of them */
  gdouble expected[3840]; /* resized of them, 0...255 */
} Axis;

/* frames: every sample of a line across the axis is the same */

typedef void (*Profile) (Axis *axis);

static void
constant (Axis *axis)
{
  memset (axis->samples, 77, (gsize) axis->length);
}

static void
ramp (Axis *axis)
{
  for (gint s = 0; s < axis->length; s++)
    axis->samples[s] = (guint8) (s * 256 / axis->length);
}

static void
noise (Axis *axis)
{
  GRand *random = g_rand_new_with_seed (1);

  for (gint s = 0; s < axis->length; s++)
    axis->samples[s] = (guint8) g_rand_int (random);
  g_rand_free (random);
}

/* Chroma is neutral. */
static GstBuffer *
paint (const GstVideoInfo *info, const Axis *axis)
{
  GstBuffer *buffer = test_frame (info, NULL);
  GstVideoFrame frame;

  gst_buffer_memset (buffer, 0, 128, info->size);
  fail_unless (gst_video_frame_map (
      &frame, (GstVideoInfo *) info, buffer, GST_MAP_WRITE));
  const gint width = GST_VIDEO_FRAME_WIDTH (&frame);
  const gint bytes = GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0);
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y++) {
    guint8 *row = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
    row += (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    for (gint i = 0; i < width * bytes; i++)
      row[i] = axis->samples[axis->vertical ? y : i / bytes];
  }
  gst_video_frame_unmap (&frame);
  return buffer;
}

/* what is expected */

/* Where an output's centre is, in samples. */
static gdouble
centre (const Axis *axis, gint out)
{
  return (out + 0.5) * axis->length / axis->resized;
}

/* The triangle's mean around each output's centre. */
static void
define (Axis *axis)
{
  for (gint i = 0; i < axis->resized; i++) {
    gdouble sum = 0, weights = 0;
    for (gint s = 0; s < axis->length; s++) {
      const gdouble far = fabs (s + 0.5 - centre (axis, i)) / axis->reach;
      weights += MAX (0, 1 - far);
      sum += MAX (0, 1 - far) * axis->samples[s];
    }
    axis->expected[i] = sum / weights;
  }
}

static void
expect_tensor (GstBuffer *tensor, const Axis *axis, gint width, gint height)
{
  GstMapInfo map;
  gdouble off = 0;

  fail_unless_equals_int (
      gst_buffer_get_size (tensor), (gsize) width * height * 3 * 4);
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  const gfloat *element = (const gfloat *) (gconstpointer) map.data;
  for (gint i = 0; i < width * height * 3; i++) {
    const gint at = axis->vertical ? i / width % height : i % width;
    off = MAX (off, fabs (element[i] - axis->expected[at]));
  }
  gst_buffer_unmap (tensor, &map);
  fail_unless (off < 2e-3, "%d to %d, %s: off by %g", axis->length,
      axis->resized, axis->vertical ? "vertical" : "horizontal", off);
}

/* It never falls, and away from the borders it is the line itself, of which samples
 * lose less than one. */
static void
expect_ramp (const Axis *axis)
{
  const gint length = axis->length;

  for (gint i = 0; i < axis->resized; i++) {
    const gdouble c = centre (axis, i);
    const gdouble is = axis->expected[i], line = (c - 0.5) * 256 / length;
    fail_unless (i == 0 || is >= axis->expected[i - 1], "output %d of %d falls",
        i, axis->resized);
    if (c > axis->reach && c < length - axis->reach)
      fail_unless (is > line - 1.02 && is < line + 0.02,
          "output %d is %g, not %g", i, is, line);
  }
}

/* tests */

static void
check_axis (GstHarness *h, const GstVideoInfo *info, guint size, Axis *axis)
{
  static const Profile profiles[] = { constant, ramp, noise };

  for (guint p = 0; p < G_N_ELEMENTS (profiles); p++) {
    profiles[p](axis);
    define (axis);
    GstBuffer *tensor = test_convert (h, info, paint (info, axis));
    expect_tensor (tensor, axis, sizes[size].to_width, sizes[size].to_height);
    gst_buffer_unref (tensor);
    if (profiles[p] == ramp)
      expect_ramp (axis);
  }
}

static Axis
make_axis (guint size, gboolean vertical)
{
  Axis axis = { .vertical = vertical,
    .length = vertical ? sizes[size].height : sizes[size].width,
    .resized = vertical ? sizes[size].to_height : sizes[size].to_width };

  axis.reach = sizes[size].antialias ? (gdouble) axis.length / axis.resized : 1;
  return axis;
}

GST_START_TEST (test_shrinking) {
  static const gchar *const formats[] = { "RGB", "NV12" };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    g_autofree gchar *line =
        g_strdup_printf ("width=%d height=%d antialias=%d scale=1 type=float32",
            sizes[s].to_width, sizes[s].to_height, sizes[s].antialias);
    GstHarness *h = test_harness (__i__, line);

    for (guint f = 0; f < 2 * G_N_ELEMENTS (formats); f++) {
      Axis axis = make_axis (s, f % 2 != 0);
      GstVideoInfo info;
      test_video_info (&info, formats[f / 2], sizes[s].width, sizes[s].height);
      info.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255;
      check_axis (h, &info, s, &axis);
    }
    test_harness_end (&h);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_shrinking);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-resize", add_tests);
}
