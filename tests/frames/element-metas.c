/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Metas: where the picture went, and what goes on from the frame.
 */

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

static gdouble
meta_double (GstBuffer *tensor, const gchar *field)
{
  GstCustomMeta *meta =
      gst_buffer_get_custom_meta (tensor, "GstCudaPreprocMeta");
  gdouble value = 0;

  fail_unless (gst_structure_get_double (
                   gst_custom_meta_get_structure (meta), field, &value),
      "no %s", field);
  return value;
}

/* The matrix takes the corners of the picture's place in the tensor to those of
 * its place in the frame. */
static void
check_matrix (GstBuffer *tensor)
{
  static const gchar *const side[2][4] = { { "dst-x", "dst-width", "src-x",
                                               "src-width" },
    { "dst-y", "dst-height", "src-y", "src-height" } };
  static const gchar *const element[2][3] = { { "m0", "m1", "m2" },
    { "m3", "m4", "m5" } };

  for (guint axis = 0; axis < 2; axis++)
    for (gint end = 0; end < 2; end++) {
      const gdouble to = test_meta_int (tensor, side[axis][0]) +
          end * test_meta_int (tensor, side[axis][1]);
      const gdouble from = test_meta_int (tensor, side[axis][2]) +
          end * test_meta_int (tensor, side[axis][3]);
      const gdouble mapped = meta_double (tensor, element[axis][axis]) * to +
          meta_double (tensor, element[axis][2]);
      fail_unless (ABS (mapped - from) < 1e-9, "%s is %g, not %g",
          side[axis][2], mapped, from);
      fail_unless (meta_double (tensor, element[axis][1 - axis]) == 0);
    }
}

static const struct {
  const gchar *properties;
  gint width, height; /* of the frame */
  gint crop[4];       /* x, y, width, height; width 0: none */
  gint source[4], target[4];
} meta_cases[] = {
  { "width=640 height=640 fit=letterbox", 1280, 720, { 0, 0, 0, 0 },
      { 0, 0, 1280, 720 }, { 0, 140, 640, 360 } },
  { "width=640 height=640 fit=letterbox pad-align=top-left", 1280, 720,
      { 0, 0, 0, 0 }, { 0, 0, 1280, 720 }, { 0, 0, 640, 360 } },
  { "width=640 height=480 fit=stretch", 1280, 720, { 0, 0, 0, 0 },
      { 0, 0, 1280, 720 }, { 0, 0, 640, 480 } },
  { "width=224 height=224 fit=crop", 640, 480, { 0, 0, 0, 0 },
      { 0, 0, 640, 480 }, { -37, 0, 298, 224 } },
  { "width=64 height=64 fit=letterbox", 640, 480, { 100, 50, 320, 160 },
      { 100, 50, 320, 160 }, { 0, 16, 64, 32 } },
  { "width=64 height=64", 640, 480, { 639, 479, 1, 1 }, { 639, 479, 1, 1 },
      { 0, 0, 64, 64 } },
};

static void
check_rectangle (
    GstBuffer *tensor, guint i, const gchar *prefix, const gint expected[4])
{
  static const gchar *const sides[] = { "x", "y", "width", "height" };

  for (guint s = 0; s < 4; s++) {
    gchar *field = g_strdup_printf ("%s-%s", prefix, sides[s]);
    fail_unless (test_meta_int (tensor, field) == expected[s],
        "case %u: %s is %d, not %d", i, field, test_meta_int (tensor, field),
        expected[s]);
    g_free (field);
  }
}

GST_START_TEST (test_geometry_meta) {
  for (guint i = 0; i < G_N_ELEMENTS (meta_cases); i++) {
    const gint *crop = meta_cases[i].crop;
    GstHarness *h = test_harness (__i__, meta_cases[i].properties);
    GstVideoInfo info;

    test_video_info (&info, "GRAY8", meta_cases[i].width, meta_cases[i].height);
    GstBuffer *frame = test_frame (&info, NULL);
    if (crop[2] > 0) {
      GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta (frame);
      meta->x = (guint) crop[0];
      meta->y = (guint) crop[1];
      meta->width = (guint) crop[2];
      meta->height = (guint) crop[3];
    }
    GstBuffer *tensor = test_convert (h, &info, frame);
    check_rectangle (tensor, i, "src", meta_cases[i].source);
    check_rectangle (tensor, i, "dst", meta_cases[i].target);
    check_matrix (tensor);
    fail_unless (gst_buffer_get_video_meta (tensor) == NULL);
    fail_unless (gst_buffer_get_video_crop_meta (tensor) == NULL);
    gst_buffer_unref (tensor);
    test_harness_end (&h);
  }
}
GST_END_TEST

static void
count_freed (gpointer count, GstMiniObject *object)
{
  (void) object;
  g_atomic_int_inc ((gint *) count);
}

/* What belongs to the frame goes on; what keeps the input alive does not. */
GST_START_TEST (test_other_metas) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "", &info);
  GstBuffer *frame = test_numbered_frame (&info, 1);
  GstBuffer *parent = gst_buffer_new ();
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-unix");
  gint freed = 0;

  gst_buffer_add_reference_timestamp_meta (
      frame, reference, 42, GST_CLOCK_TIME_NONE);
  gst_buffer_add_parent_buffer_meta (frame, parent);
  gst_mini_object_weak_ref (GST_MINI_OBJECT_CAST (parent), count_freed, &freed);
  gst_buffer_unref (parent);

  GstBuffer *tensor = test_convert (h, &info, frame);
  fail_unless_equals_int (test_number_of (tensor), 1);
  test_wait_for (g_atomic_int_get (&freed) == 1);
  GstReferenceTimestampMeta *meta =
      gst_buffer_get_reference_timestamp_meta (tensor, reference);
  fail_unless (meta != NULL && meta->timestamp == 42);
  gst_buffer_unref (tensor);

  /* and not on the next frame's, which has the same memory */
  for (guint n = 0; n < 20; n++) {
    tensor = test_convert (h, &info, test_numbered_frame (&info, n));
    fail_unless (
        gst_buffer_get_reference_timestamp_meta (tensor, NULL) == NULL);
    gst_buffer_unref (tensor);
  }
  gst_caps_unref (reference);
  test_harness_end (&h);
}
GST_END_TEST

/* The frame stays as long as its tensor, and no longer; without the property it goes
 * when it was read. */
GST_START_TEST (test_attached_frame) {
  for (gint attach = 0; attach <= 1; attach++) {
    g_autofree gchar *properties =
        g_strdup_printf ("attach-frame=%d streams=2 async-depth=2", attach);
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, properties, &info);
    gint freed = 0;

    for (guint n = 0; n < 10; n++) {
      GstBuffer *frame = test_numbered_frame (&info, n);
      gst_mini_object_weak_ref (
          GST_MINI_OBJECT_CAST (frame), count_freed, &freed);
      gst_harness_push (h, frame);
    }
    gst_harness_push_event (h, gst_event_new_eos ());
    fail_unless_equals_int (g_atomic_int_get (&freed), attach ? 0 : 10);
    for (guint n = 0; n < 10; n++) {
      GstBuffer *tensor = gst_harness_pull (h);
      GstParentBufferMeta *meta = gst_buffer_get_parent_buffer_meta (tensor);
      GstMapInfo map;

      fail_unless_equals_int (meta != NULL, attach);
      if (meta != NULL) { /* that very frame */
        GstBuffer *expected = test_numbered_frame (&info, n);
        fail_unless (gst_buffer_map (expected, &map, GST_MAP_READ));
        fail_unless_equals_int (
            gst_buffer_memcmp (meta->buffer, 0, map.data, map.size), 0);
        gst_buffer_unmap (expected, &map);
        gst_buffer_unref (expected);
      }
      gst_buffer_unref (tensor);
      if (attach)
        fail_unless_equals_int (g_atomic_int_get (&freed), (gint) n + 1);
    }
    test_harness_end (&h);
  }
}
GST_END_TEST

static guint64
meta_number (GstBuffer *tensor, const gchar *field)
{
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (
                   gst_custom_meta_get_structure (gst_buffer_get_custom_meta (
                       tensor, "GstCudaPreprocMeta")),
                   field, &value),
      "no %s", field);
  return value;
}

static void
expect_string (GstBuffer *tensor, const gchar *field, const gchar *expected)
{
  const gchar *value = gst_structure_get_string (
      gst_custom_meta_get_structure (
          gst_buffer_get_custom_meta (tensor, "GstCudaPreprocMeta")),
      field);

  fail_unless_equals_string (value, expected);
}

/* A tensor's one picture is its whole frame, whose times are in the meta, too. */
GST_START_TEST (test_picture_meta) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=2 async-depth=2", &info);

  for (guint n = 0; n < 8; n++) {
    GstBuffer *frame = test_numbered_frame (&info, n);
    GST_BUFFER_PTS (frame) = n & 1 ? n * GST_SECOND : GST_CLOCK_TIME_NONE;
    GST_BUFFER_DURATION (frame) = n & 2 ? n : GST_CLOCK_TIME_NONE;
    GST_BUFFER_OFFSET (frame) = n & 4 ? n + 100 : GST_BUFFER_OFFSET_NONE;
    gst_harness_push (h, frame);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < 8; n++) {
    GstBuffer *tensor = gst_harness_pull (h);
    fail_unless_equals_uint64 (
        meta_number (tensor, "pts"), n & 1 ? n * GST_SECOND : G_MAXUINT64);
    fail_unless_equals_uint64 (
        meta_number (tensor, "duration"), n & 2 ? n : G_MAXUINT64);
    fail_unless_equals_uint64 (
        meta_number (tensor, "offset"), n & 4 ? n + 100 : G_MAXUINT64);
    fail_unless_equals_int (test_meta_int (tensor, "index"), 0);
    fail_unless_equals_int (test_meta_int (tensor, "region"), -1);
    fail_unless_equals_int (test_meta_int (tensor, "regions"), 0);
    fail_unless_equals_int (test_meta_int (tensor, "region-id"), -1);
    fail_unless_equals_int (test_meta_int (tensor, "region-parent"), -1);
    expect_string (tensor, "region-type", "");
    expect_string (tensor, "pad", "");
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* Ways in which whoever has a tensor may change its meta. */
static void
spoil_meta (GstBuffer *tensor, guint how)
{
  GstCustomMeta *meta =
      gst_buffer_get_custom_meta (tensor, "GstCudaPreprocMeta");
  GstStructure *structure = gst_custom_meta_get_structure (meta);
  gdouble last = 0;

  if (how == 0 || how == 7)
    gst_structure_set (structure, "src-width", G_TYPE_INT, 7, NULL);
  else if (how == 1)
    gst_structure_set (structure, "m5", G_TYPE_DOUBLE, 0.25, NULL);
  else if (how == 2)
    gst_structure_set (structure, "m5", G_TYPE_INT, 0, NULL);
  else if (how == 3)
    gst_structure_set (structure, "more", G_TYPE_INT, 1, NULL);
  else if (how == 4)
    gst_structure_remove_field (structure, "m5");
  else if (how == 5)
    gst_structure_remove_all_fields (structure);
  else if (how == 6)
    gst_structure_set_name (structure, "another");
  else if (how == 8)
    gst_buffer_add_custom_meta (tensor, "GstCudaPreprocMeta");
  else if (how == 9)
    gst_buffer_remove_meta (tensor, (GstMeta *) meta);
  else if (how == 11) { /* the last one's name only */
    gst_structure_get_double (structure, "m5", &last);
    gst_structure_remove_field (structure, "m5");
    gst_structure_set (structure, "m6", G_TYPE_DOUBLE, last, NULL);
  }
  if (how == 7 || how == 10)
    GST_META_FLAG_SET ((GstMeta *) meta, GST_META_FLAG_LOCKED);
}

/* The pool's buffers keep their metas: the next tensor's is as new all the same,
 * and not the pool's, which base classes would not copy. */
GST_START_TEST (test_meta_is_as_new) {
  enum {
    WAYS = 13, /* the last: left alone */
    EACH = 20  /* each of the pool's buffers */
  };
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "", &info);
  GstBuffer *tensor = test_convert (h, &info, test_numbered_frame (&info, 1));
  GstStructure *first = gst_structure_copy (gst_custom_meta_get_structure (
      gst_buffer_get_custom_meta (tensor, "GstCudaPreprocMeta")));

  GstBuffer *right = gst_buffer_copy (tensor);

  gst_buffer_unref (tensor);
  for (guint n = 0; n < WAYS * EACH; n++) {
    GstBuffer *frame = test_numbered_frame (&info, n);
    /* Metas that come with frames are copied to their tensors. */
    if (n % 3 == 0)
      gst_buffer_add_custom_meta (frame, "GstCudaPreprocMeta");
    else if (n % 3 == 1)
      gst_buffer_copy_into (frame, right, GST_BUFFER_COPY_META, 0, -1);
    tensor = test_convert (h, &info, frame);
    GstCustomMeta *meta =
        gst_buffer_get_custom_meta (tensor, "GstCudaPreprocMeta");
    fail_unless (
        gst_structure_is_equal (gst_custom_meta_get_structure (meta), first),
        "tensor %u has the meta of another", n);
    fail_unless_equals_int (GST_META_FLAGS ((GstMeta *) meta), 0);
    fail_unless_equals_int (
        gst_buffer_get_n_meta (tensor, ((GstMeta *) meta)->info->api), 1);
    spoil_meta (tensor, n / EACH);
    gst_buffer_unref (tensor);
  }
  gst_structure_free (first);
  gst_buffer_unref (right);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_geometry_meta);
  test_add (tcase, test_other_metas);
  test_add (tcase, test_attached_frame);
  test_add (tcase, test_picture_meta);
  test_add (tcase, test_meta_is_as_new);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-metas", add_tests);
}
