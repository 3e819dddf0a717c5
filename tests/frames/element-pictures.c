/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What applications include: the pictures of a tensor, boxes mapped back to the
 * frame, and where a tensor lies on a device.
 */

#include <gst/cudapreproc/cudapreproc.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

static guint
count_pictures (GstBuffer *buffer)
{
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  guint n = 0;

  while (gst_cuda_preproc_buffer_next_picture (buffer, &state, &picture))
    n++;
  return n;
}

static void
expect_numbers (const gdouble *found, const gdouble *expected, guint n)
{
  for (guint i = 0; i < n; i++)
    fail_unless (ABS (found[i] - expected[i]) < 1e-9, "number %u is %g, not %g",
        i, found[i], expected[i]);
}

static void
expect_rectangle (const gint found[4], gint x, gint y, gint width, gint height)
{
  fail_unless_equals_int (found[0], x);
  fail_unless_equals_int (found[1], y);
  fail_unless_equals_int (found[2], width);
  fail_unless_equals_int (found[3], height);
}

GST_START_TEST (test_picture_of_tensor) {
  GstHarness *h = test_harness (__i__, "width=640 height=640 fit=letterbox");
  GstVideoInfo info;
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  gdouble x, y;

  test_video_info (&info, "GRAY8", 1280, 720);
  GstBuffer *frame = test_frame (&info, NULL);
  GST_BUFFER_PTS (frame) = 5 * GST_SECOND;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 30;
  GST_BUFFER_OFFSET (frame) = 150;
  GstBuffer *tensor = test_convert (h, &info, frame);

  fail_unless (gst_cuda_preproc_buffer_next_picture (tensor, &state, &picture));
  fail_unless_equals_int (picture.width, 640);
  fail_unless_equals_int (picture.height, 640);
  expect_rectangle (picture.src, 0, 0, 1280, 720);
  expect_rectangle (picture.dst, 0, 140, 640, 360);
  fail_unless_equals_int (picture.index, 0);
  fail_unless_equals_uint64 (picture.pts, 5 * GST_SECOND);
  fail_unless_equals_uint64 (picture.duration, GST_SECOND / 30);
  fail_unless_equals_uint64 (picture.offset, 150);
  fail_unless_equals_string (picture.pad, "");
  fail_unless_equals_int (picture.region, -1);
  fail_unless_equals_int (picture.regions, 0);
  fail_unless_equals_int (picture.region_id, -1);
  fail_unless_equals_string (picture.region_type, "");

  /* The picture's edges are those of the frame, padding lies outside. */
  gst_cuda_preproc_picture_map_point (&picture, 0, 140, &x, &y);
  fail_unless (ABS (x) < 1e-9 && ABS (y) < 1e-9);
  gst_cuda_preproc_picture_map_point (&picture, 320, 0, &x, &y);
  fail_unless (ABS (x - 640) < 1e-9 && ABS (y + 280) < 1e-9);
  gdouble box[4] = { 160, 230, 480, 410 };
  gst_cuda_preproc_picture_map_box (&picture, box, box);
  expect_numbers (box, (const gdouble[]){ 320, 180, 960, 540 }, 4);

  fail_if (gst_cuda_preproc_buffer_next_picture (tensor, &state, &picture));
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* A custom meta such as the element's, with these fields of a structure. */
static void
add_picture (GstBuffer *buffer, const gchar *fields)
{
  gchar *text = g_strdup_printf ("x, %s;", fields);
  GstStructure *given = gst_structure_from_string (text, NULL);
  GstStructure *structure = gst_custom_meta_get_structure (
      gst_buffer_add_custom_meta (buffer, GST_CUDA_PREPROC_META_NAME));

  fail_unless (given != NULL, "not a structure: %s", text);
  for (gint i = 0; i < gst_structure_n_fields (given); i++) {
    const gchar *name = gst_structure_nth_field_name (given, (guint) i);
    gst_structure_set_value (
        structure, name, gst_structure_get_value (given, name));
  }
  gst_structure_free (given);
  g_free (text);
}

/* Several pictures, in copies of a buffer, too, and integers of any type. */
GST_START_TEST (test_pictures_in_order) {
  GstHarness *h = test_harness (__i__, ""); /* the meta is registered */
  GstBuffer *buffer = gst_buffer_new ();
  GstCudaPreprocPicture picture;
  gpointer state = NULL;

  GST_BUFFER_PTS (buffer) = 1;
  add_picture (buffer,
      "index=(int)0, pts=(guint64)18446744073709551615, "
      "duration=(guint64)7, offset=(guint64)8, pad=sink_3, "
      "region=-1, regions=0, region-id=-1, region-parent=-1, "
      "region-type=(string)\"\"");
  add_picture (buffer,
      "index=(uint)1, pts=(gint64)20, duration=(uint)30, "
      "offset=(int)9, pad=(string)\"\", region=1, regions=2, "
      "region-id=-4, region-parent=(uint)5, region-type=face, "
      "m0=2.0, m4=3.0, m5=1.5");
  GstBuffer *copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (count_pictures (copy), 2);

  gst_cuda_preproc_buffer_next_picture (copy, &state, &picture);
  fail_unless_equals_int (picture.index, 0);
  fail_unless (!GST_CLOCK_TIME_IS_VALID (picture.pts));
  fail_unless_equals_uint64 (picture.duration, 7);
  fail_unless_equals_uint64 (picture.offset, 8);
  fail_unless_equals_string (picture.pad, "sink_3");
  fail_unless_equals_string (picture.region_type, "");

  gst_cuda_preproc_buffer_next_picture (copy, &state, &picture);
  fail_unless_equals_int (picture.index, 1);
  fail_unless_equals_uint64 (picture.pts, 20);
  fail_unless_equals_uint64 (picture.duration, 30);
  fail_unless_equals_uint64 (picture.offset, 9);
  fail_unless_equals_int (picture.regions, 2);
  fail_unless_equals_int (picture.region, 1);
  fail_unless_equals_int (picture.region_id, -4);
  fail_unless_equals_int (picture.region_parent, 5);
  fail_unless_equals_string (picture.region_type, "face");
  expect_numbers (picture.matrix, (const gdouble[]){ 2, 0, 0, 0, 3, 1.5 }, 6);
  gst_buffer_unref (copy);
  test_harness_end (&h);
}
GST_END_TEST

/* What a meta lacks, and what is no tensor. */
GST_START_TEST (test_pictures_that_are_missing) {
  GstHarness *h = test_harness (__i__, "");
  GstBuffer *buffer = gst_buffer_new ();
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-unix");
  GstCudaPreprocPicture picture;
  gpointer state = NULL;

  gst_buffer_add_reference_timestamp_meta (buffer, reference, 1, 2);
  gst_caps_unref (reference);
  fail_unless_equals_int (count_pictures (buffer), 0);

  GST_BUFFER_PTS (buffer) = 11;
  GST_BUFFER_DURATION (buffer) = 12;
  GST_BUFFER_OFFSET (buffer) = 13;
  add_picture (buffer, "index=none, pts=1.5, region-id=(string)7");
  memset (&picture, 0xa5, sizeof picture);
  fail_unless (gst_cuda_preproc_buffer_next_picture (buffer, &state, &picture));
  fail_unless_equals_int (picture.width, 0);
  fail_unless_equals_int (picture.height, 0);
  expect_rectangle (picture.src, 0, 0, 0, 0);
  expect_rectangle (picture.dst, 0, 0, 0, 0);
  expect_numbers (picture.matrix, (const gdouble[]){ 1, 0, 0, 0, 1, 0 }, 6);
  fail_unless_equals_int (picture.index, 0);
  fail_unless_equals_uint64 (picture.pts, 11);
  fail_unless_equals_uint64 (picture.duration, 12);
  fail_unless_equals_uint64 (picture.offset, 13);
  fail_unless_equals_string (picture.pad, "");
  fail_unless_equals_int (picture.regions, 0);
  fail_unless_equals_int (picture.region, -1);
  fail_unless_equals_int (picture.region_id, -1);
  fail_unless_equals_int (picture.region_parent, -1);
  fail_unless_equals_string (picture.region_type, "");
  gst_buffer_unref (buffer);
  test_harness_end (&h);
}
GST_END_TEST

/* A quarter turn to the right of a frame 100 high, and a mirror. */
GST_START_TEST (test_box_of_turned_frame) {
  GstCudaPreprocPicture picture = { .matrix = { 0, 1, 0, -1, 0, 100 } };
  const gdouble box[4] = { 10, 20, 30, 60 };
  gdouble mapped[4];

  gst_cuda_preproc_picture_map_box (&picture, box, mapped);
  expect_numbers (mapped, (const gdouble[]){ 20, 70, 60, 90 }, 4);

  const gdouble mirror[6] = { -2, 0, 200, 0, 1, 0 };
  memcpy (picture.matrix, mirror, sizeof mirror);
  gst_cuda_preproc_picture_map_box (&picture, box, mapped);
  expect_numbers (mapped, (const gdouble[]){ 140, 20, 180, 60 }, 4);
}
GST_END_TEST

GST_START_TEST (test_host_tensor_is_not_on_device) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "", &info);
  GstBuffer *tensor = test_convert (h, &info, test_numbered_frame (&info, 1));
  GstCudaPreprocDeviceTensor device;

  memset (&device, 0xa5, sizeof device);
  fail_if (gst_cuda_preproc_memory_get_device_tensor (
      gst_buffer_peek_memory (tensor, 0), &device));
  fail_unless (device.data == 0 && device.size == 0 && device.n_events == 0);
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_picture_of_tensor);
  test_add (tcase, test_pictures_in_order);
  test_add (tcase, test_pictures_that_are_missing);
  tcase_add_test (tcase, test_box_of_turned_frame);
  test_add (tcase, test_host_tensor_is_not_on_device);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-pictures", add_tests);
}
