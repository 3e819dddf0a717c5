/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The slices of a batch: the same bits as single tensors; padding; what changes
 * from picture to picture; memory that others hold, write to and share.
 */

#include <gst/cudapreproc/cudapreproc.h>
#include <string.h>

#include "slicecases.h"
#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

GST_START_TEST (test_slices_are_single_tensors) {
  slices_expect_single_tensors (__i__);
}
GST_END_TEST

/* Of uint8 tensors of 16x12. */
#define SLICE 576

static void
push_numbers (GstHarness *h, const GstVideoInfo *info, guint from, guint n)
{
  for (guint i = 0; i < n; i++)
    test_push_number (h, info, from + i);
}

static guint
number_of_slice (GstBuffer *batch, guint slice)
{
  GstBuffer *part = gst_buffer_copy_region (
      batch, GST_BUFFER_COPY_MEMORY, slice * SLICE, SLICE);
  const guint number = test_number_of (part);

  gst_buffer_unref (part);
  return number;
}

static void
expect_all (GstBuffer *batch, guint slice, gsize size, guint8 value)
{
  GstMapInfo map;
  gsize i = slice * size;

  fail_unless (gst_buffer_map (batch, &map, GST_MAP_READ));
  while (i < (slice + 1) * size && map.data[i] == value)
    i++;
  fail_unless (i == (slice + 1) * size,
      "slice %u: byte %" G_GSIZE_FORMAT " is %u, not %u", slice, i % size,
      map.data[i], value);
  gst_buffer_unmap (batch, &map);
}

/* padding */

/* The memory is the same all the time: whatever filled a slice before, and however
 * often, it is padding when it has no picture, and the padding around the next
 * picture is right. */
GST_START_TEST (test_unfilled_slices) {
  static const struct {
    const gchar *pad_value; /* set before these frames; NULL: it stays */
    guint frames;           /* until the end */
    guint8 padding;
  } rounds[] = { { NULL, 4, 114 }, { NULL, 1, 114 }, { NULL, 1, 114 },
    { NULL, 3, 114 }, { NULL, 4, 114 }, { "7", 1, 7 }, { "7", 2, 7 },
    { "9", 4, 9 }, { "9", 2, 9 }, { "114", 1, 114 }, { NULL, 4, 114 } };
  GstHarness *h = test_harness (__i__,
      "width=16 height=16 fit=letterbox type=uint8 channels=gray batch-size=4");
  GstVideoInfo info;
  const gsize size = 16 * 16;

  test_video_info (&info, "GRAY8", 32, 16); /* becomes 16x8 */
  test_send_caps (h, &info);
  for (guint r = 0; r < G_N_ELEMENTS (rounds); r++) {
    if (rounds[r].pad_value != NULL)
      gst_util_set_object_arg (
          G_OBJECT (h->element), "pad-value", rounds[r].pad_value);
    for (guint f = 0; f < rounds[r].frames; f++) {
      GstBuffer *frame = test_frame (&info, NULL);
      gst_buffer_memset (frame, 0, 200, info.size);
      fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    }
    gst_harness_push_event (h, gst_event_new_gap (0, 1));
    GstBuffer *batch = gst_harness_pull (h);
    for (guint i = 0; i < 4; i++) {
      GstBuffer *part = gst_buffer_copy_region (
          batch, GST_BUFFER_COPY_MEMORY, i * size, size);
      if (i < rounds[r].frames) {
        expect_all (part, 0, 64, rounds[r].padding);
        expect_all (part, 3, 64, rounds[r].padding);
        fail_unless (gst_buffer_memcmp (part, 64, "\310\310\310", 3) == 0);
      } else {
        expect_all (part, 0, size, rounds[r].padding);
      }
      gst_buffer_unref (part);
    }
    gst_buffer_unref (batch);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* Normalised as pixels are. */
GST_START_TEST (test_padding_is_normalised) {
  GstHarness *h = test_harness (__i__,
      "width=2 height=2 scale=1 mean=10 std=2 pad-value=30 batch-size=2");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 4, 4);
  test_send_caps (h, &info);
  fail_unless_equals_int (
      gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  GstBuffer *batch = gst_harness_pull (h);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *part =
        gst_buffer_copy_region (batch, GST_BUFFER_COPY_MEMORY, i * 48, 48);
    test_expect_float (part, i == 0 ? -5 : 10);
    gst_buffer_unref (part);
  }
  gst_buffer_unref (batch);
  test_harness_end (&h);
}
GST_END_TEST

/* pictures that differ */

/* Each frame of a batch has a crop of its own, by its meta or by the property that
 * is set between them. */
GST_START_TEST (test_each_picture_has_its_plan) {
  GstVideoInfo info;
  GstHarness *h =
      test_rgb_harness (__i__, "batch-size=4 fit=letterbox pad-value=9", &info);
  GstHarness *alone =
      test_rgb_harness (__i__, "fit=letterbox pad-value=9", &info);
  static const guint crops[4][4] = { { 0, 0, 32, 24 }, { 3, 5, 17, 11 },
    { 30, 2, 2, 20 }, { 1, 1, 30, 3 } };
  GstBuffer *frame = test_frame (&info, NULL), *single[4];
  GstCudaPreprocPicture picture;
  gpointer state = NULL;

  test_paint_noise (frame, &info, 5);
  for (guint round = 0; round < 3; round++)
    for (guint i = 0; i < 4; i++) {
      GstBuffer *cropped = gst_buffer_copy (frame);
      if (i % 2 == 0) {
        GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta (cropped);
        meta->x = crops[i][0];
        meta->y = crops[i][1];
        meta->width = crops[i][2];
        meta->height = crops[i][3];
      }
      g_autofree gchar *crop = i % 2 == 0
          ? g_strdup ("0,0,99,99")
          : g_strdup_printf ("%u,%u,%u,%u", crops[i][0], crops[i][1],
                crops[i][2], crops[i][3]);
      g_object_set (h->element, "crop", crop, NULL);
      fail_unless_equals_int (
          gst_harness_push (h, gst_buffer_ref (cropped)), GST_FLOW_OK);
      if (round == 0) {
        g_object_set (alone->element, "crop", crop, NULL);
        single[i] = test_convert (alone, &info, gst_buffer_ref (cropped));
      }
      gst_buffer_unref (cropped);
    }
  for (guint round = 0; round < 3; round++) {
    GstBuffer *batch = gst_harness_pull (h);
    state = NULL;
    for (guint i = 0; i < 4; i++) {
      GstBuffer *part = gst_buffer_copy_region (
          batch, GST_BUFFER_COPY_MEMORY, i * SLICE, SLICE);
      test_expect_equal (part, single[i], "a crop in a batch");
      gst_buffer_unref (part);
      fail_unless (
          gst_cuda_preproc_buffer_next_picture (batch, &state, &picture));
      fail_unless_equals_int (picture.index, i);
      for (guint s = 0; s < 4; s++)
        fail_unless_equals_int (picture.src[s], crops[i][s]);
    }
    gst_buffer_unref (batch);
  }
  for (guint i = 0; i < 4; i++)
    gst_buffer_unref (single[i]);
  gst_buffer_unref (frame);
  test_harness_end (&alone);
  test_harness_end (&h);
}
GST_END_TEST

/* metas */

static gboolean
count_parents (GstBuffer *buffer, GstMeta **meta, gpointer count)
{
  (void) buffer;
  if ((*meta)->info->api == GST_PARENT_BUFFER_META_API_TYPE)
    ++*(guint *) count;
  return TRUE;
}

static void
count_freed (gpointer count, GstMiniObject *object)
{
  (void) object;
  g_atomic_int_inc ((gint *) count);
}

/* All frames of a batch stay with it, and no longer than it. */
GST_START_TEST (test_attached_frames) {
  GstVideoInfo info;
  GstHarness *h =
      test_rgb_harness (__i__, "batch-size=3 attach-frame=true", &info);
  gint freed = 0;

  for (guint n = 0; n < 8; n++) {
    GstBuffer *frame = test_numbered_frame (&info, n);
    gst_mini_object_weak_ref (
        GST_MINI_OBJECT_CAST (frame), count_freed, &freed);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (g_atomic_int_get (&freed), 0);
  for (guint b = 0; b < 3; b++) {
    const guint expected = b < 2 ? 3 : 2;
    GstBuffer *batch = gst_harness_pull (h);
    guint parents = 0;
    gst_buffer_foreach_meta (batch, count_parents, &parents);
    fail_unless_equals_int (parents, expected);
    gst_buffer_unref (batch);
    fail_unless_equals_int (
        g_atomic_int_get (&freed), (gint) (3 * b + expected));
  }
  test_harness_end (&h);
}
GST_END_TEST

/* What comes with a frame, and what downstream does to metas, is in no other
 * batch: each has its pictures, in order, in copies, too. */
GST_START_TEST (test_metas_are_as_new) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "batch-size=4", &info);
  const GType api = gst_meta_get_info (GST_CUDA_PREPROC_META_NAME)->api;

  for (guint round = 0; round < 40; round++) {
    const guint n = 1 + round % 4;
    for (guint i = 0; i < n; i++) {
      GstBuffer *frame = test_numbered_frame (&info, i);
      GST_BUFFER_PTS (frame) = 1000 * round + i;
      if (i % 2 == 0)
        gst_structure_set (
            gst_custom_meta_get_structure (
                gst_buffer_add_custom_meta (frame, GST_CUDA_PREPROC_META_NAME)),
            "index", G_TYPE_INT, 77, NULL);
      fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    }
    gst_harness_push_event (h, gst_event_new_gap (0, 1));
    GstBuffer *batch = gst_harness_pull (h);
    GstBuffer *copy = gst_buffer_copy (batch);
    gpointer state = NULL;
    GstCudaPreprocPicture picture;
    fail_unless_equals_int (gst_buffer_get_n_meta (copy, api), n);
    for (guint i = 0; i < n; i++) {
      fail_unless (
          gst_cuda_preproc_buffer_next_picture (copy, &state, &picture));
      fail_unless_equals_int (picture.index, i);
      fail_unless_equals_uint64 (picture.pts, 1000 * round + i);
    }
    gst_buffer_unref (copy);
    /* whoever has it may spoil, remove and add some */
    GstMeta *meta = gst_buffer_get_meta (batch, api);
    if (round % 3 == 0)
      gst_buffer_remove_meta (batch, meta);
    else if (round % 3 == 1)
      gst_structure_remove_all_fields (
          gst_custom_meta_get_structure ((GstCustomMeta *) meta));
    else
      gst_buffer_add_custom_meta (batch, GST_CUDA_PREPROC_META_NAME);
    gst_buffer_unref (batch);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* memory */

/* A share of one slice keeps the whole block from being used again; a copy is
 * ordinary memory. */
GST_START_TEST (test_share_of_a_slice) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "batch-size=4 streams=1", &info);

  push_numbers (h, &info, 10, 4);
  GstBuffer *batch = gst_harness_pull (h);
  GstBuffer *share =
      gst_buffer_copy_region (batch, GST_BUFFER_COPY_MEMORY, 2 * SLICE, SLICE);
  GstBuffer *copy = gst_buffer_copy_deep (batch);
  fail_unless (gst_memory_is_type (
      gst_buffer_peek_memory (copy, 0), GST_ALLOCATOR_SYSMEM));
  gst_buffer_unref (batch);
  for (guint b = 0; b < 20; b++) {
    push_numbers (h, &info, 100, 4);
    gst_buffer_unref (gst_harness_pull (h));
  }
  fail_unless_equals_int (test_number_of (share), 12);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int (number_of_slice (copy, i), 10 + i);
  gst_buffer_unref (share);
  gst_buffer_unref (copy);
  test_harness_end (&h);
}
GST_END_TEST

/* Whoever has a batch may write to it: later ones have their padding all the
 * same, in each slice. */
GST_START_TEST (test_written_batches) {
  GstHarness *h = test_harness (__i__,
      "width=16 height=16 fit=letterbox type=uint8 batch-size=3 streams=2");
  GstVideoInfo info;
  GstBuffer *expected = NULL;

  test_video_info (&info, "RGB", 32, 16);
  test_send_caps (h, &info);
  GstBuffer *frame = test_frame (&info, NULL);
  test_paint_noise (frame, &info, 1);
  for (guint b = 0; b < 30; b++) {
    GstMapInfo map;

    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int (
          gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_OK);
    GstBuffer *batch = gst_harness_pull (h);
    if (expected == NULL)
      expected = gst_buffer_copy_deep (batch);
    test_expect_equal (batch, expected, "after a write");
    fail_unless (gst_buffer_map (batch, &map, GST_MAP_WRITE));
    memset (map.data, 0xee, map.size);
    gst_buffer_unmap (batch, &map);
    gst_buffer_unref (batch);
  }
  gst_buffer_unref (expected);
  gst_buffer_unref (frame);
  test_harness_end (&h);
}
GST_END_TEST

static gpointer
map_often (gpointer batch)
{
  for (guint i = 0; i < 200; i++) {
    GstMapInfo map;
    if (!gst_buffer_map (batch, &map, GST_MAP_READ))
      return NULL;
    gst_buffer_unmap (batch, &map);
  }
  return batch;
}

/* While its jobs may still be running, by four threads at once; and after the
 * element is gone. */
GST_START_TEST (test_maps_while_it_is_filled) {
  GstHarness *h = test_harness (
      __i__, "width=256 height=256 type=uint8 streams=2 batch-size=4");
  GstVideoInfo info;
  GThread *thread[4];

  test_video_info (&info, "RGB", 640, 480);
  test_send_caps (h, &info);
  for (guint n = 0; n < 4; n++)
    test_push_number (h, &info, 4711);
  GstBuffer *batch = gst_harness_pull (h);
  for (guint t = 0; t < G_N_ELEMENTS (thread); t++)
    thread[t] = g_thread_new ("map", map_often, batch);
  for (guint t = 0; t < G_N_ELEMENTS (thread); t++)
    fail_unless (g_thread_join (thread[t]) != NULL, "a map failed");
  for (guint n = 0; n < 4; n++)
    test_push_number (h, &info, 4712);
  GstBuffer *late = gst_harness_pull (h);
  test_harness_end (&h);
  for (guint i = 0; i < 4; i++) {
    const gsize size = 256 * 256 * 3;
    GstBuffer *part =
        gst_buffer_copy_region (late, GST_BUFFER_COPY_MEMORY, i * size, size);
    fail_unless_equals_int (test_number_of (part), 4712);
    gst_buffer_unref (part);
  }
  gst_buffer_unref (batch);
  gst_buffer_unref (late);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_slices_are_single_tensors);
  test_add (tcase, test_unfilled_slices);
  test_add (tcase, test_padding_is_normalised);
  test_add (tcase, test_each_picture_has_its_plan);
  test_add (tcase, test_attached_frames);
  test_add (tcase, test_metas_are_as_new);
  test_add (tcase, test_share_of_a_slice);
  test_add (tcase, test_written_batches);
  test_add (tcase, test_maps_while_it_is_filled);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-slices", add_tests);
}
