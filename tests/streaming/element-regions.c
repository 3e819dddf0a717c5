/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * regions=meta: each region of a frame is the picture that crop makes of it, in the
 * order of the metas, as many tensors as it takes; a frame without any is a gap.
 */

#include <gst/cudapreproc/cudapreproc.h>
#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#include "regionsoak.h"

#define FRAME_TIME (GST_SECOND / 30)
#define SIDE 12
#define SLICE (3 * SIDE * SIDE) /* bytes: RGB in uint8 */
#define PADDING 114

typedef struct {
  gint x, y;
  guint w, h;
  const gchar *type;
  gint id, parent;
} Region;

static GstBuffer *
new_frame (
    const GstVideoInfo *info, guint n, const Region *regions, guint count)
{
  GstBuffer *frame = test_frame (info, NULL);

  test_paint_noise (frame, info, n);
  GST_BUFFER_PTS (frame) = n * FRAME_TIME;
  GST_BUFFER_DURATION (frame) = FRAME_TIME;
  GST_BUFFER_OFFSET (frame) = 1000 + n;
  for (guint i = 0; i < count; i++) {
    GstVideoRegionOfInterestMeta *meta =
        gst_buffer_add_video_region_of_interest_meta (frame, regions[i].type,
            (guint) regions[i].x, (guint) regions[i].y, regions[i].w,
            regions[i].h);
    meta->id = regions[i].id;
    meta->parent_id = regions[i].parent;
  }
  return frame;
}

static GstHarness *
new_harness (gint backend, const gchar *format, const gchar *properties,
    GstVideoInfo *info)
{
  g_autofree gchar *all = g_strdup_printf (
      "width=%d height=%d type=uint8 %s", SIDE, SIDE, properties);
  GstHarness *h = test_harness (backend, all);

  test_video_info (info, format, 160, 120);
  test_send_caps (h, info);
  return h;
}

/* What crop makes of the frame's rectangle. */
static GstBuffer *
crop (gint backend, const gchar *format, const gchar *properties,
    GstBuffer *frame, gint x, gint y, gint width, gint height)
{
  g_autofree gchar *all = g_strdup_printf (
      "%s crop=\"%d,%d,%d,%d\"", properties, x, y, width, height);
  GstVideoInfo info;
  GstHarness *h = new_harness (backend, format, all, &info);
  GstBuffer *tensor = test_convert (h, &info, gst_buffer_ref (frame));

  /* Its memory is the device's until it is mapped. */
  GstBuffer *copy = gst_buffer_copy_deep (tensor);
  gst_buffer_unref (tensor);
  test_harness_end (&h);
  return copy;
}

static void
expect_slice (
    GstBuffer *tensor, guint slice, GstBuffer *wanted, const gchar *what)
{
  GstBuffer *part = gst_buffer_copy_region (
      tensor, GST_BUFFER_COPY_MEMORY, slice * SLICE, SLICE);

  test_expect_equal (part, wanted, what);
  gst_buffer_unref (part);
}

static void
expect_padding (GstBuffer *tensor, guint slice)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  for (gsize i = slice * SLICE; i < (slice + 1) * SLICE; i++)
    fail_unless (map.data[i] == PADDING, "slice %u: %u", slice, map.data[i]);
  gst_buffer_unmap (tensor, &map);
}

/* The regions that count, as they are cut. */
typedef struct {
  gint nth; /* of the metas */
  gint x, y, width, height;
} Picture;

static const Region regions[] = {
  { 10, 20, 40, 30, "face", 7, 3 },
  { -15, 100, 40, 50, "car", 0, -1 }, /* outside on the left, and below */
  { 5, 5, 0, 10, "face", 9, 1 },      /* empty */
  { 155, -8, 100, 20, "face", 0, 0 }, /* outside on the right, and above */
  { 200, 10, 40, 40, "face", 11, 2 }, /* outside */
  { 12, 21, 33, 41, "plate", 12, 0 }, /* overlaps the first */
  { 0, 0, 160, 120, "car", 13, 0 },
};

static const Picture pictures[] = {
  { 0, 10, 20, 40, 30 },
  { 1, 0, 100, 25, 20 },
  { 3, 155, 0, 5, 12 },
  { 5, 12, 21, 33, 41 },
  { 6, 0, 0, 160, 120 },
};

static void
expect_meta (GstBuffer *tensor, gpointer *state, guint index, guint nth,
    guint n_regions, const Picture *picture, guint number)
{
  const Region *region = &regions[picture->nth];
  GstCudaPreprocPicture meta;

  fail_unless (gst_cuda_preproc_buffer_next_picture (tensor, state, &meta));
  fail_unless_equals_int (meta.index, index);
  fail_unless_equals_int (meta.region, nth);
  fail_unless_equals_int (meta.regions, n_regions);
  fail_unless_equals_int (meta.region_id, region->id);
  fail_unless_equals_int (meta.region_parent, region->parent);
  fail_unless_equals_string (meta.region_type, region->type);
  fail_unless_equals_int (meta.src[0], picture->x);
  fail_unless_equals_int (meta.src[1], picture->y);
  fail_unless_equals_int (meta.src[2], picture->width);
  fail_unless_equals_int (meta.src[3], picture->height);
  fail_unless_equals_uint64 (meta.pts, number * FRAME_TIME);
  fail_unless_equals_uint64 (meta.duration, FRAME_TIME);
  fail_unless_equals_uint64 (meta.offset, 1000 + number);
}

/* Bit for bit, in order, in as many tensors as it takes. */
GST_START_TEST (test_regions_are_crops) {
  static const struct {
    const gchar *format, *properties;
    guint batch;
  } cases[] = {
    { "NV12", "", 1 },
    { "NV12", "batch-size=2 fit=letterbox", 2 },
    { "RGB", "batch-size=5 fit=letterbox denoise=median", 5 },
    { "I420", "batch-size=8 method=lanczos antialias=true", 8 },
    { "NV12", "batch-size=3 video-direction=90r streams=2", 3 },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    const guint n = G_N_ELEMENTS (pictures), batch = cases[c].batch;
    g_autofree gchar *properties =
        g_strdup_printf ("%s regions=meta", cases[c].properties);
    g_autofree gchar *single = g_strdup (cases[c].properties);
    GstVideoInfo info;
    GstHarness *h = new_harness (__i__, cases[c].format, properties, &info);

    /* One picture a tensor. */
    if (g_str_has_prefix (single, "batch-size="))
      memmove (single, strchr (single, ' '), strlen (strchr (single, ' ')) + 1);
    for (guint f = 0; f < 3; f++) {
      GstBuffer *frame = new_frame (&info, f, regions, G_N_ELEMENTS (regions));
      GstBuffer *tensor = NULL;
      gpointer state = NULL;

      fail_unless_equals_int (
          gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_OK);
      for (guint i = 0; i < n; i++) {
        const Picture *p = &pictures[i];
        if (i % batch == 0) {
          gst_clear_buffer (&tensor);
          tensor = gst_harness_try_pull (h);
          fail_unless (tensor != NULL, "no tensor for region %u", i);
          state = NULL;
          fail_unless_equals_uint64 (GST_BUFFER_PTS (tensor), f * FRAME_TIME);
          fail_unless_equals_uint64 (
              gst_buffer_get_size (tensor), batch * SLICE);
          fail_if (gst_buffer_get_video_region_of_interest_meta_id (
                       tensor, regions[0].id) != NULL);
        }
        GstBuffer *wanted = crop (__i__, cases[c].format, single, frame, p->x,
            p->y, p->width, p->height);
        expect_meta (tensor, &state, i % batch, i, n, p, f);
        expect_slice (tensor, i % batch, wanted, cases[c].properties);
        gst_buffer_unref (wanted);
      }
      for (guint i = n; i % batch != 0; i++)
        expect_padding (tensor, i % batch);
      gst_clear_buffer (&tensor);
      gst_buffer_unref (frame);
    }
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Only those that region-types names. */
GST_START_TEST (test_region_types) {
  static const struct {
    const gchar *types;
    guint count;
  } cases[] = { { "face", 2 }, { "car, plate", 3 }, { "fac", 0 },
    { "faces", 0 }, { "", 5 }, { " plate ,face", 3 } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autofree gchar *properties =
        g_strdup_printf ("regions=meta region-types=\"%s\"", cases[c].types);
    GstVideoInfo info;
    GstHarness *h = new_harness (__i__, "RGB", properties, &info);

    gst_harness_push (h, new_frame (&info, 1, regions, G_N_ELEMENTS (regions)));
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), cases[c].count);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* The next GAP or EOS. */
static GstEvent *
pull_event (GstHarness *h)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)) != NULL &&
      GST_EVENT_TYPE (event) != GST_EVENT_GAP &&
      GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    gst_event_unref (event);
  return event;
}

/* It is in its place among the tensors that are held back. */
GST_START_TEST (test_gap_for_no_region) {
  for (guint depth = 0; depth < 3; depth++) {
    g_autofree gchar *properties =
        g_strdup_printf ("regions=meta async-depth=%u", depth);
    GstVideoInfo info;
    GstHarness *h = new_harness (__i__, "NV12", properties, &info);
    GstClockTime time, duration;

    for (guint f = 0; f < 4; f++)
      gst_harness_push (h, new_frame (&info, f, regions, f % 2 == 0 ? 1 : 0));
    GstBuffer *untimed = new_frame (&info, 9, NULL, 0);
    GST_BUFFER_PTS (untimed) = GST_CLOCK_TIME_NONE;
    gst_harness_push (h, untimed);
    gst_harness_push_event (h, gst_event_new_eos ());
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), 2);
    for (guint f = 1; f < 4; f += 2) {
      GstEvent *event = pull_event (h);
      fail_unless (event != NULL && GST_EVENT_TYPE (event) == GST_EVENT_GAP);
      gst_event_parse_gap (event, &time, &duration);
      fail_unless_equals_uint64 (time, f * FRAME_TIME);
      fail_unless_equals_uint64 (duration, FRAME_TIME);
      gst_event_unref (event);
    }
    GstEvent *last = pull_event (h);
    fail_unless (last != NULL && GST_EVENT_TYPE (last) == GST_EVENT_EOS);
    gst_event_unref (last);
    test_harness_end (&h);
  }
}
GST_END_TEST

static GstPadProbeReturn
note_order (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GString *order = data;

  (void) pad;
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_c (order, 't');
  else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_GAP)
    g_string_append_c (order, 'g');
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (test_order_of_gaps) {
  static const guint counts[] = { 0, 2, 0, 0, 1, 3, 0, 1 };
  GstVideoInfo info;
  GstHarness *h = new_harness (
      __i__, "NV12", "regions=meta async-depth=2 batch-size=2", &info);
  GstPad *src = gst_element_get_static_pad (h->element, "src");
  GString *order = g_string_new (NULL);

  gst_pad_add_probe (src,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_order, order, NULL);
  for (guint f = 0; f < G_N_ELEMENTS (counts); f++) {
    static const Region same[] = { { 1, 2, 30, 40, "a", 0, 0 },
      { 1, 2, 30, 40, "a", 0, 0 }, { 50, 2, 30, 40, "a", 0, 0 } };
    gst_harness_push (h, new_frame (&info, f, same, counts[f]));
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_string (order->str, "gtggtttgt");
  g_string_free (order, TRUE);
  gst_object_unref (src);
  test_harness_end (&h);
}
GST_END_TEST

/* From none to hundreds, other ones in each frame. */
GST_START_TEST (test_any_number) {
  GstVideoInfo info;
  GstHarness *h =
      new_harness (__i__, "NV12", "regions=meta batch-size=64", &info);
  GRand *random = g_rand_new_with_seed (4);

  for (guint f = 0; f < 40; f++) {
    const guint n = f % 8 == 0 ? 0 : f % 8 == 1 ? 300 : f % 13;
    Region some[300];
    for (guint i = 0; i < n; i++)
      some[i] = (Region){ g_rand_int_range (random, 0, 100),
        g_rand_int_range (random, 0, 80), g_rand_int_range (random, 1, 60),
        g_rand_int_range (random, 1, 40), "x", (gint) i, -1 };
    fail_unless_equals_int (
        gst_harness_push (h, new_frame (&info, f, some, n)), GST_FLOW_OK);
    guint seen = 0;
    while (gst_harness_buffers_in_queue (h) > 0) {
      GstBuffer *tensor = gst_harness_pull (h);
      GstCudaPreprocPicture picture;
      gpointer state = NULL;
      GstMapInfo map;
      fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
      gst_buffer_unmap (tensor, &map);
      while (gst_cuda_preproc_buffer_next_picture (tensor, &state, &picture)) {
        fail_unless_equals_int (picture.region, seen);
        fail_unless_equals_int (picture.region_id, seen++);
      }
      gst_buffer_unref (tensor);
    }
    fail_unless_equals_int (seen, n);
  }
  g_rand_free (random);
  test_harness_end (&h);
}
GST_END_TEST

/* A thousand frames; element-soak has ten thousand of a film. */
GST_START_TEST (test_soak) {
  region_soak (__i__,
      "videotestsrc num-buffers=1001 pattern=ball ! "
      "video/x-raw,format=NV12,width=320,height=240,framerate=30/1",
      100, 3);
}
GST_END_TEST

/* A frame counts once, however many tensors its regions fill, and a tensor once,
 * however many frames fill it. */
GST_START_TEST (test_stats_count_each_once) {
  static const struct {
    const gchar *properties;
    guint frames, tensors;
  } cases[] = { { "regions=meta batch-size=2", 5, 7 },
    { "regions=meta", 5, 11 }, { "batch-size=4", 7, 2 }, { "", 7, 7 } };
  /* Of which two are empty or outside. */
  static const guint counts[] = { 0, 2, 5, 1, 0, 3, 4 };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    GstVideoInfo info;
    GstHarness *h = new_harness (__i__, "NV12", cases[c].properties, &info);
    guint64 frames = 0, tensors = 0;

    for (guint f = 0; f < G_N_ELEMENTS (counts); f++)
      gst_harness_push (h, new_frame (&info, f, regions, counts[f]));
    gst_harness_push_event (h, gst_event_new_eos ());
    GstStructure *stats = test_stats (h);
    fail_unless (gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames,
        "tensors", G_TYPE_UINT64, &tensors, NULL));
    fail_unless (frames == cases[c].frames && tensors == cases[c].tensors,
        "%s: %u frames, %u tensors", cases[c].properties, (guint) frames,
        (guint) tensors);
    gst_structure_free (stats);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* How many tensors come does not follow from the framerate. */
GST_START_TEST (test_framerate) {
  GstVideoInfo info;
  GstHarness *h = new_harness (__i__, "RGB", "regions=meta", &info);
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  gint n, d;

  fail_unless (gst_structure_get_fraction (
      gst_caps_get_structure (caps, 0), "framerate", &n, &d));
  fail_unless (n == 0 && d == 1, "%d/%d", n, d);
  gst_caps_unref (caps);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_regions_are_crops);
  test_add (tcase, test_region_types);
  test_add (tcase, test_gap_for_no_region);
  test_add (tcase, test_order_of_gaps);
  test_add (tcase, test_any_number);
  test_add (tcase, test_soak);
  test_add (tcase, test_stats_count_each_once);
  test_add (tcase, test_framerate);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-regions", add_tests);
}
