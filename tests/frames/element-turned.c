/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * video-direction: beside videoflip in front of the element, by tags, while
 * playing, and back to the frame's coordinates.
 */

#include <gst/cudapreproc/cudapreproc.h>
#include <math.h>
#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

static const gchar *const directions[] = { "identity", "90r", "180", "90l",
  "horiz", "vert", "ul-lr", "ur-ll" };
#define N_DIRECTIONS G_N_ELEMENTS (directions)

/* Of values in 0...255: as much as another order of sums may change. */
#define OTHER_ORDER (255 * 0x1p-20)

static void
expect_near (GstBuffer *a, GstBuffer *b, const gchar *what)
{
  GstMapInfo x, y;

  fail_unless (gst_buffer_map (a, &x, GST_MAP_READ));
  fail_unless (gst_buffer_map (b, &y, GST_MAP_READ));
  fail_unless_equals_uint64 (x.size, y.size);
  for (gsize i = 0; i < x.size / sizeof (gfloat); i++) {
    const gfloat is = ((const gfloat *) x.data)[i];
    const gfloat should = ((const gfloat *) y.data)[i];

    fail_unless (fabs ((gdouble) is - should) <= OTHER_ORDER,
        "%s: element %zu is %g, not %g", what, i, is, should);
  }
  gst_buffer_unmap (a, &x);
  gst_buffer_unmap (b, &y);
}

/* The first tensor of a pipeline between a source and a sink. */
static GstBuffer *
first_tensor (gint backend, const gchar *caps, const gchar *before,
    const gchar *properties, const gchar *tensors)
{
  GstElement *pipeline = test_launch (backend,
      "videotestsrc num-buffers=1 pattern=colors ! capsfilter caps=\"%s\" ! "
      "%s cudapreproc scale=1 %s ! capsfilter caps=\"%s\" ! "
      "fakesink name=sink enable-last-sample=true",
      caps, before, properties, tensors);
  GstSample *sample = NULL;

  test_play_to_eos (pipeline);
  g_object_get (test_element (pipeline, "sink"), "last-sample", &sample, NULL);
  fail_unless (sample != NULL, "no tensor came");

  GstBuffer *tensor = gst_buffer_ref (gst_sample_get_buffer (sample));

  gst_sample_unref (sample);
  test_stop (&pipeline);
  return tensor;
}

/* Formats whose chroma is centred, or not subsampled: videoflip leaves its site
 * in the caps as it was. Sizes of subsampled ones are even. Downstream's caps
 * choose the size. */
static const struct {
  const gchar *caps, *properties, *tensors;
} flips[] = {
  { "format=RGB,width=61,height=43", "fit=letterbox", "dimensions=33:57:3:1" },
  { "format=BGRx,width=40,height=30", "fit=crop crop-fraction=0.8",
      "dimensions=3:31:20:1" },
  { "format=GRAY8,width=51,height=33", "method=area", "dimensions=20:40:1:1" },
  { "format=Y444,width=33,height=47", "fit=letterbox method=bicubic",
      "dimensions=64:31:3:1" },
  { "format=I420,width=64,height=48,chroma-site=jpeg", "fit=letterbox",
      "dimensions=65:40:3:1" },
  { "format=NV12,width=64,height=48,chroma-site=jpeg",
      "antialias=true method=lanczos", "dimensions=21:17:3:1" },
  { "format=NV12,width=64,height=48,chroma-site=jpeg",
      "fit=crop denoise=median denoise-size=5", "dimensions=24:24:3:1" },
  { "format=AYUV,width=45,height=30", "denoise=gaussian",
      "dimensions=3:16:16:1" },
  { "format=RGB,width=60,height=40,pixel-aspect-ratio=4/3",
      "fit=letterbox pad-align=top-left", "dimensions=48:48:3:1" },
  { "format=RGB,width=60,height=40,pixel-aspect-ratio=4/3",
      "fit=crop resize=50", "dimensions=48:50:3:1" },
};

GST_START_TEST (test_videoflip_before) {
  for (guint i = 0; i < G_N_ELEMENTS (flips); i++)
    for (guint d = 0; d < N_DIRECTIONS; d++) {
      g_autofree gchar *caps = g_strdup_printf (
          "video/x-raw,framerate=30/1,colorimetry=1:4:0:0,%s", flips[i].caps);
      g_autofree gchar *tensors =
          g_strdup_printf ("other/tensors,%s", flips[i].tensors);
      g_autofree gchar *flip =
          g_strdup_printf ("videoflip video-direction=%s !", directions[d]);
      g_autofree gchar *turned = g_strdup_printf (
          "%s video-direction=%s", flips[i].properties, directions[d]);
      g_autofree gchar *what =
          g_strdup_printf ("%s %s", flips[i].caps, directions[d]);
      GstBuffer *expected =
          first_tensor (__i__, caps, flip, flips[i].properties, tensors);
      GstBuffer *tensor = first_tensor (__i__, caps, "", turned, tensors);

      expect_near (tensor, expected, what);
      gst_buffer_unref (tensor);
      gst_buffer_unref (expected);
    }
}
GST_END_TEST

/* The crop property counts in the stored frame, inside of its crop meta, at odd
 * places. */
GST_START_TEST (test_cropped_and_turned) {
  static const gchar *const formats[] = { "RGB", "GRAY8", "Y444" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint d = 0; d < N_DIRECTIONS; d++) {
      g_autofree gchar *caps = g_strdup_printf (
          "video/x-raw,framerate=30/1,width=90,height=70,format=%s",
          formats[i]);
      g_autofree gchar *before =
          g_strdup_printf ("videocrop left=16 top=8 right=25 bottom=25 ! "
                           "videoflip video-direction=%s !",
              directions[d]);
      g_autofree gchar *turned = g_strdup_printf (
          "fit=letterbox crop=5,3,49,37 video-direction=%s", directions[d]);
      GstBuffer *expected = first_tensor (__i__, caps, before, "fit=letterbox",
          "other/tensors,dimensions=40:30:3:1");
      GstBuffer *tensor =
          first_tensor (__i__, caps, "videocrop left=11 top=5 right=1 !",
              turned, "other/tensors,dimensions=40:30:3:1");

      expect_near (tensor, expected, directions[d]);
      gst_buffer_unref (tensor);
      gst_buffer_unref (expected);
    }
}
GST_END_TEST

#define MARK_X 5
#define MARK_Y 2
#define MARK_WIDTH 7
#define MARK_HEIGHT 3

static GstBuffer *
marked_frame (const GstVideoInfo *info)
{
  GstBuffer *frame = test_frame (info, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  for (gint y = MARK_Y; y < MARK_Y + MARK_HEIGHT; y++)
    memset (map.data + y * info->stride[0] + MARK_X, 255, MARK_WIDTH);
  gst_buffer_unmap (frame, &map);
  return frame;
}

/* The box around what is white in a gray uint8 tensor. */
static void
find_mark (GstBuffer *tensor, gint width, gint height, gdouble box[4])
{
  GstMapInfo map;

  box[0] = width;
  box[1] = height;
  box[2] = box[3] = 0;
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      if (map.data[y * width + x] == 255) {
        box[0] = MIN (box[0], x);
        box[1] = MIN (box[1], y);
        box[2] = MAX (box[2], x + 1);
        box[3] = MAX (box[3], y + 1);
      }
  gst_buffer_unmap (tensor, &map);
}

/* A box that is found in the tensor is mapped to its place in the stored frame,
 * and so is a point; the picture's rectangle is the stored one. */
GST_START_TEST (test_boxes_of_turned_pictures) {
  static const gint sizes[][2] = { { 32, 24 }, { 96, 48 } };
  GstVideoInfo info;

  test_video_info (&info, "GRAY8", 32, 24);
  for (guint d = 0; d < N_DIRECTIONS; d++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      g_autofree gchar *properties = g_strdup_printf (
          "channels=gray type=uint8 method=nearest fit=letterbox width=%d "
          "height=%d pad-value=7 video-direction=%s",
          sizes[s][0], sizes[s][1], directions[d]);
      GstHarness *h = test_harness (__i__, properties);
      GstBuffer *tensor = test_convert (h, &info, marked_frame (&info));
      GstCudaPreprocPicture picture;
      gpointer state = NULL;
      gdouble box[4], x, y;

      fail_unless (
          gst_cuda_preproc_buffer_next_picture (tensor, &state, &picture));
      fail_unless (picture.src[0] == 0 && picture.src[1] == 0 &&
          picture.src[2] == 32 && picture.src[3] == 24);
      find_mark (tensor, sizes[s][0], sizes[s][1], box);
      gst_cuda_preproc_picture_map_point (
          &picture, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, &x, &y);
      fail_unless (x > MARK_X && x < MARK_X + MARK_WIDTH && y > MARK_Y &&
              y < MARK_Y + MARK_HEIGHT,
          "%s: the middle is at %g,%g", directions[d], x, y);
      gst_cuda_preproc_picture_map_box (&picture, box, box);
      /* Nearest: an edge may be half a pixel of the tensor off. */
      const gdouble off =
          0.5 * MAX (ABS (picture.matrix[0]) + ABS (picture.matrix[1]), 1) +
          1e-9;
      fail_unless (ABS (box[0] - MARK_X) <= off &&
              ABS (box[1] - MARK_Y) <= off &&
              ABS (box[2] - MARK_X - MARK_WIDTH) <= off &&
              ABS (box[3] - MARK_Y - MARK_HEIGHT) <= off,
          "%s: the box is %g,%g to %g,%g", directions[d], box[0], box[1],
          box[2], box[3]);
      gst_buffer_unref (tensor);
      test_harness_end (&h);
    }
}
GST_END_TEST

/* tags */

#define SIDE 16

/* A tensor of each direction, to find out how one was turned. */
typedef struct {
  GstVideoInfo info;
  GstBuffer *frame;
  GstBuffer *tensor[N_DIRECTIONS];
} Examples;

static GstHarness *
small_harness (gint backend, const gchar *properties)
{
  g_autofree gchar *line = g_strdup_printf (
      "name=cudapreproc type=uint8 width=%d height=%d fit=letterbox %s", SIDE,
      SIDE, properties);

  return test_harness (backend, line);
}

static void
examples_init (Examples *examples, gint backend)
{
  test_video_info (&examples->info, "RGB", 14, 10);
  examples->frame = test_frame (&examples->info, NULL);
  test_paint_noise (examples->frame, &examples->info, 7);
  for (guint d = 0; d < N_DIRECTIONS; d++) {
    g_autofree gchar *properties =
        g_strdup_printf ("video-direction=%s", directions[d]);
    GstHarness *h = small_harness (backend, properties);

    examples->tensor[d] =
        test_convert (h, &examples->info, gst_buffer_ref (examples->frame));
    test_harness_end (&h);
  }
}

static void
examples_clear (Examples *examples)
{
  gst_buffer_unref (examples->frame);
  for (guint d = 0; d < N_DIRECTIONS; d++)
    gst_buffer_unref (examples->tensor[d]);
}

/* Takes tensor. */
static const gchar *
direction_of (const Examples *examples, GstBuffer *tensor)
{
  const gchar *found = "none";
  GstMapInfo map;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  for (guint d = 0; d < N_DIRECTIONS; d++)
    if (gst_buffer_memcmp (examples->tensor[d], 0, map.data, map.size) == 0)
      found = directions[d];
  gst_buffer_unmap (tensor, &map);
  gst_buffer_unref (tensor);
  return found;
}

static void
expect_direction (GstHarness *h, const Examples *examples, const gchar *name)
{
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (examples->frame)), GST_FLOW_OK);
  fail_unless_equals_string (
      direction_of (examples, gst_harness_pull (h)), name);
}

static GstEvent *
tag_event (GstTagScope scope, const gchar *orientation)
{
  GstTagList *tags = gst_tag_list_new (GST_TAG_TITLE, "a title", NULL);

  gst_tag_list_set_scope (tags, scope);
  if (orientation != NULL)
    gst_tag_list_add (tags, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION,
        orientation, NULL);
  return gst_event_new_tag (tags);
}

/* Pushes tags; what goes on has that orientation, and all else of them. */
static void
push_tags (GstHarness *h, GstTagScope scope, const gchar *orientation,
    const gchar *goes_on)
{
  GstEvent *event = tag_event (scope, orientation), *passed;
  GstTagList *tags;
  g_autofree gchar *title = NULL, *found = NULL;

  while ((passed = gst_harness_try_pull_event (h)) != NULL)
    gst_event_unref (passed);
  fail_unless (gst_harness_push_event (h, gst_event_ref (event)));
  while ((passed = gst_harness_try_pull_event (h)) != NULL &&
      GST_EVENT_TYPE (passed) != GST_EVENT_TAG)
    gst_event_unref (passed);
  fail_unless (passed != NULL, "no tags went on");
  fail_unless_equals_int (
      gst_event_get_seqnum (passed), gst_event_get_seqnum (event));
  gst_event_parse_tag (passed, &tags);
  fail_unless_equals_int (gst_tag_list_get_scope (tags), scope);
  fail_unless (gst_tag_list_get_string (tags, GST_TAG_TITLE, &title));
  gst_tag_list_get_string (tags, GST_TAG_IMAGE_ORIENTATION, &found);
  fail_unless_equals_string (found, goes_on);
  gst_event_unref (passed);

  /* What others hold is as it was. */
  g_clear_pointer (&found, g_free);
  gst_event_parse_tag (event, &tags);
  gst_tag_list_get_string (tags, GST_TAG_IMAGE_ORIENTATION, &found);
  fail_unless_equals_string (found, orientation);
  gst_event_unref (event);
}

/* As videoflip of GStreamer 1.28: a stream's tag counts more than one of the whole
 * medium, whichever comes last, and another stream begins without tags. */
GST_START_TEST (test_tags_turn) {
  Examples examples;

  examples_init (&examples, __i__);
  GstHarness *h = small_harness (__i__, "video-direction=auto");

  /* before caps */
  fail_unless (
      gst_harness_push_event (h, gst_event_new_stream_start ("first")));
  push_tags (h, GST_TAG_SCOPE_STREAM, "rotate-90", "rotate-0");
  test_send_caps (h, &examples.info);
  expect_direction (h, &examples, "90r");

  push_tags (h, GST_TAG_SCOPE_GLOBAL, "rotate-180", "rotate-0");
  expect_direction (h, &examples, "90r");
  push_tags (h, GST_TAG_SCOPE_STREAM, "flip-rotate-180", "rotate-0");
  expect_direction (h, &examples, "vert");
  push_tags (h, GST_TAG_SCOPE_STREAM, NULL, NULL);
  expect_direction (h, &examples, "180");
  push_tags (h, GST_TAG_SCOPE_GLOBAL, NULL, NULL);
  expect_direction (h, &examples, "identity");

  push_tags (h, GST_TAG_SCOPE_GLOBAL, "flip-rotate-0", "rotate-0");
  push_tags (h, GST_TAG_SCOPE_STREAM, "rotate-270", "rotate-0");
  expect_direction (h, &examples, "90l");
  fail_unless (
      gst_harness_push_event (h, gst_event_new_stream_start ("first")));
  expect_direction (h, &examples, "90l");
  fail_unless (
      gst_harness_push_event (h, gst_event_new_stream_start ("second")));
  expect_direction (h, &examples, "identity");
  push_tags (h, GST_TAG_SCOPE_GLOBAL, "flip-rotate-0", "rotate-0");
  expect_direction (h, &examples, "horiz");
  test_harness_end (&h);
  examples_clear (&examples);
}
GST_END_TEST

/* With another direction, tags count for nothing and go on as they are; until it
 * is automatic, from the next frame on. */
GST_START_TEST (test_tags_wait_for_auto) {
  Examples examples;

  examples_init (&examples, __i__);
  GstHarness *h = small_harness (__i__, "video-direction=horiz");

  test_send_caps (h, &examples.info);
  push_tags (h, GST_TAG_SCOPE_STREAM, "rotate-90", "rotate-90");
  expect_direction (h, &examples, "horiz");
  gst_util_set_object_arg (G_OBJECT (h->element), "video-direction", "auto");
  expect_direction (h, &examples, "90r");
  push_tags (h, GST_TAG_SCOPE_STREAM, "rotate-180", "rotate-0");
  expect_direction (h, &examples, "180");
  gst_util_set_object_arg (G_OBJECT (h->element), "video-direction", "vert");
  expect_direction (h, &examples, "vert");

  /* Tags are of a run. */
  gst_util_set_object_arg (G_OBJECT (h->element), "video-direction", "auto");
  expect_direction (h, &examples, "180");
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  fail_unless (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
  gst_harness_set_src_caps (h, gst_video_info_to_caps (&examples.info));
  expect_direction (h, &examples, "identity");
  test_harness_end (&h);
  examples_clear (&examples);
}
GST_END_TEST

/* while playing */

/* Frames under way keep their direction; each change counts from the next frame
 * on, and nothing is warned about. */
GST_START_TEST (test_direction_changes) {
  Examples examples;

  examples_init (&examples, __i__);
  GstHarness *h = small_harness (__i__, "streams=3 async-depth=3");
  GstBus *bus = gst_element_get_bus (h->element);

  test_send_caps (h, &examples.info);
  for (guint n = 0; n < 40; n++) {
    gst_util_set_object_arg (G_OBJECT (h->element), "video-direction",
        directions[n * 3 % N_DIRECTIONS]);
    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_ref (examples.frame)), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < 40; n++)
    fail_unless_equals_string (direction_of (&examples, gst_harness_pull (h)),
        directions[n * 3 % N_DIRECTIONS]);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_object_unref (bus);
  test_harness_end (&h);
  examples_clear (&examples);
}
GST_END_TEST

/* Each picture of a batch is turned as its frame was to be, padding included,
 * also in buffers that held others before. */
GST_START_TEST (test_batch_of_directions) {
  Examples examples;

  examples_init (&examples, __i__);
  GstHarness *h = small_harness (__i__, "batch-size=4");

  test_send_caps (h, &examples.info);
  for (guint n = 0; n < 40; n++) {
    gst_util_set_object_arg (G_OBJECT (h->element), "video-direction",
        directions[n * 3 % N_DIRECTIONS]);
    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_ref (examples.frame)), GST_FLOW_OK);
    if (n % 4 != 3)
      continue;

    GstBuffer *batch = gst_harness_pull (h);

    for (guint i = 0; i < 4; i++)
      fail_unless_equals_string (
          direction_of (&examples,
              gst_buffer_copy_region (batch, GST_BUFFER_COPY_MEMORY,
                  i * SIDE * SIDE * 3, SIDE * SIDE * 3)),
          directions[(n - 3 + i) * 3 % N_DIRECTIONS]);
    gst_buffer_unref (batch);
  }
  test_harness_end (&h);
  examples_clear (&examples);
}
GST_END_TEST

static void
expect_dimensions (GstHarness *h, const gchar *dimensions)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->sinkpad);

  fail_unless_equals_string (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "dimensions"),
      dimensions);
}

static void
push_frame (GstHarness *h, const GstVideoInfo *info, gsize size)
{
  fail_unless_equals_int (
      gst_harness_push (h, test_frame (info, NULL)), GST_FLOW_OK);

  GstBuffer *tensor = gst_harness_pull (h);

  fail_unless_equals_uint64 (gst_buffer_get_size (tensor), size);
  gst_buffer_unref (tensor);
}

/* A size that nobody chooses is that of the turned frame, as behind videoflip:
 * also where it turns after caps came. One that downstream chooses stays. */
GST_START_TEST (test_open_size_is_turned) {
  GstHarness *h = test_harness (__i__, "type=uint8 video-direction=90l");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  test_send_caps (h, &info);
  expect_dimensions (h, "24:32:3:1");
  push_frame (h, &info, 32 * 24 * 3);
  gst_util_set_object_arg (G_OBJECT (h->element), "video-direction", "auto");
  push_frame (h, &info, 32 * 24 * 3);
  expect_dimensions (h, "32:24:3:1");
  fail_unless (gst_harness_push_event (
      h, tag_event (GST_TAG_SCOPE_STREAM, "rotate-90")));
  push_frame (h, &info, 32 * 24 * 3);
  expect_dimensions (h, "24:32:3:1");
  test_harness_end (&h);

  h = test_harness (__i__, "type=uint8 width=10 video-direction=ul-lr");
  test_send_caps (h, &info);
  expect_dimensions (h, "10:32:3:1");
  test_harness_end (&h);

  h = test_harness (__i__, "type=uint8 video-direction=auto");
  gst_harness_set_sink_caps_str (h,
      "other/tensors,format=static,"
      "num_tensors=1,types=uint8,dimensions=20:10:3:1,framerate=30/1");
  test_send_caps (h, &info);
  for (guint i = 0; i < 4; i++) {
    fail_unless (gst_harness_push_event (h,
        tag_event (
            GST_TAG_SCOPE_STREAM, i % 2 == 0 ? "rotate-90" : "rotate-180")));
    push_frame (h, &info, 20 * 10 * 3);
    expect_dimensions (h, "20:10:3:1");
  }
  test_harness_end (&h);
}
GST_END_TEST

GST_START_TEST (test_is_video_direction) {
  GstHarness *h = test_harness (__i__, "");

  fail_unless (GST_IS_VIDEO_DIRECTION (h->element));
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_videoflip_before);
  test_add (tcase, test_cropped_and_turned);
  test_add (tcase, test_boxes_of_turned_pictures);
  test_add (tcase, test_tags_turn);
  test_add (tcase, test_tags_wait_for_auto);
  test_add (tcase, test_direction_changes);
  test_add (tcase, test_batch_of_directions);
  test_add (tcase, test_open_size_is_turned);
  test_add (tcase, test_is_video_direction);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-turned", add_tests);
}
