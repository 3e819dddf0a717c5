/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The errors that a person can meet, by their cause: domain and code, which
 * applications branch on; a text that names the property or the field and its
 * value; and a remedy. One error each, and no more. What a device's failing
 * calls give is in element-faults.c.
 */

#include <string.h>

#include "elementframes.h"
#include "elementutil.h"

/* What kinds there are: as gst/error.c has them. */
typedef struct {
  GQuark (*domain) (void);
  gint code;
  const gchar *remedy;
} Kind;

static const Kind settings = { gst_library_error_quark,
  GST_LIBRARY_ERROR_SETTINGS, "property" };
static const Kind negotiation = { gst_core_error_quark,
  GST_CORE_ERROR_NEGOTIATION, "caps|properties|leave one open" };
static const Kind input = { gst_stream_error_quark, GST_STREAM_ERROR_FORMAT,
  "element before cudapreproc|caps" };
static const Kind no_device = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_NOT_FOUND, "driver|cuda-device-id|backend=cpu" };
static const Kind file = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_OPEN_WRITE, "folder that exists" };

/* Wrong frames of RGB 32x24. */

static void
cut_short (GstBuffer *frame)
{
  gst_buffer_resize (frame, 0, 100);
}

static void
add_meta (GstBuffer *frame, GstVideoFormat format, gint stride)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };

  gst_buffer_add_video_meta_full (
      frame, GST_VIDEO_FRAME_FLAG_NONE, format, 32, 24, 1, offset, strides);
}

static void
add_meta_of_gray (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_GRAY8, 96);
}

static void
add_long_stride (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 200);
}

static void
add_negative_stride (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, -96);
}

static void
add_crop_outside (GstBuffer *frame)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);

  crop->x = 20;
  crop->width = 16;
  crop->height = 24;
}

#define T "other/tensors, format = static, num_tensors = 1, "

/* One row a text in the sources, however it can come about. */
static const struct {
  const gchar *cause;      /* properties */
  const gchar *downstream; /* caps that it takes; NULL: any */
  void (*spoil) (GstBuffer *frame);
  const Kind *kind;
  const gchar *words;
} rows[] = {
  /* lists */
  { "mean=a,b", NULL, NULL, &settings, "mean=a,b|list of numbers" },
  { "std=1,2", NULL, NULL, &settings, "std=1,2|2 values|3 channels" },
  { "crop=1,2,3", NULL, NULL, &settings, "crop=1,2,3|x,y,width,height" },
  { "crop=0,0,1.5,2", NULL, NULL, &settings,
      "crop=0,0,1.5,2|1.5|whole number" },
  { "crop=0,0,33,24", NULL, NULL, &settings, "crop=0,0,33,24|32x24" },
  /* numbers */
  { "std=0", NULL, NULL, &settings, "std[0]|0" },
  { "mean=inf", NULL, NULL, &settings, "mean[0]|inf|finite" },
  { "pad-value=300", NULL, NULL, &settings, "pad-value[0]|300|0 to 255" },
  { "quant-scale=-1 type=uint8", NULL, NULL, &settings, "quant-scale|-1" },
  { "quant-zero-point=300 type=uint8", NULL, NULL, &settings,
      "quant-zero-point|300" },
  { "width=64 height=64 resize=10 fit=crop", NULL, NULL, &settings,
      "resize is 10|64" },
  { "crop-fraction=2 fit=crop", NULL, NULL, &settings, "crop-fraction is 2" },
  { "crop-fraction=0.5 resize=64 fit=crop", NULL, NULL, &settings,
      "resize is 64|crop-fraction is 0.5|only one" },
  { "resize=64 fit=letterbox", NULL, NULL, &settings,
      "resize is 64|fit=letterbox" },
  { "crop-fraction=0.5 fit=letterbox", NULL, NULL, &settings,
      "crop-fraction is 0.5|fit=letterbox" },
  { "denoise=median denoise-size=7", NULL, NULL, &settings,
      "denoise-size is 7|3 or 5|median" },
  { "denoise=gaussian denoise-sigma=-1", NULL, NULL, &settings,
      "denoise-sigma is -1" },
  { "width=32768 height=32768", NULL, NULL, &settings,
      "width=32768|height=32768|bytes" },
  { "timeline-location=/tmp/timeline.txt", NULL, NULL, &settings,
      "timeline-location=/tmp/timeline.txt|.json|.svg" },
  /* what downstream takes */
  { "width=64", T "dimensions = (string) 3:20:20:1", NULL, &negotiation,
      "width=64|dimensions=3:20:20:1" },
  { "height=64", T "dimensions = (string) 3:20:20:1", NULL, &negotiation,
      "height=64|dimensions=3:20:20:1" },
  { "layout=nchw", T "dimensions = (string) 3:20:20:1", NULL, &negotiation,
      "layout=nchw|dimensions=3:20:20:1" },
  { "channels=gray", T "dimensions = (string) 3:20:20:1", NULL, &negotiation,
      "channels=gray|dimensions=3:20:20:1" },
  { "type=float16", T "types = (string) uint8", NULL, &negotiation,
      "type=float16|types=uint8" },
  { "", T "dimensions = (string) 2:20:20:1", NULL, &negotiation,
      "dimensions=2:20:20:1|1 or 3" },
  { "", T "dimensions = (string) 3:20:20:2", NULL, &negotiation,
      "dimensions=3:20:20:2|batch of 1" },
  { "", T "dimensions = (string) a:b", NULL, &negotiation,
      "dimensions=a:b|list of sizes" },
  { "", T "dimensions = (string) 40000:20:3:1", NULL, &negotiation,
      "dimensions=40000:20:3:1|32768" },
  { "", T "types = (string) int64", NULL, &negotiation, "int64" },
  { "", "audio/x-raw", NULL, &negotiation, "RGB|32|24|audio/x-raw" },
  /* what upstream sends */
  { "", NULL, cut_short, &input, "100 bytes|RGB 32x24|2304" },
  { "", NULL, add_meta_of_gray, &input, "GstVideoMeta|GRAY8|RGB 32x24" },
  { "", NULL, add_long_stride, &input, "plane 0|stride 200|2304" },
  { "", NULL, add_negative_stride, &input, "stride|-96" },
  { "", NULL, add_crop_outside, &input, "GstVideoCropMeta|16x24|20,0|32x24" },
  /* where it runs, and writes */
  { "backend=cuda cuda-device-id=99", NULL, NULL, &no_device, "CUDA" },
  { "timeline-location=/none/such/timeline.svg", NULL, NULL, &file,
      "timeline-location=/none/such/timeline.svg|No such file" },
};

/* Takes the one error and checks it. */
static void
expect_error (GstBus *bus, guint row)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  const Kind *kind = rows[row].kind;
  GError *error = NULL;
  gchar *remedy = NULL;

  fail_unless (message != NULL, "row %u, %s: no error", row, rows[row].words);
  gst_message_parse_error (message, &error, &remedy);
  fail_unless (g_error_matches (error, kind->domain (), kind->code),
      "row %u, %s: %s %d: %s", row, rows[row].words,
      g_quark_to_string (error->domain), error->code, error->message);
  test_expect_words (error->message, rows[row].words);
  test_expect_words (remedy, kind->remedy);
  g_print ("%-26s %2d  %s\n", g_quark_to_string (error->domain), error->code,
      error->message);
  g_error_free (error);
  g_free (remedy);
  gst_message_unref (message);

  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (
      message == NULL, "row %u, %s: a second error", row, rows[row].words);
}

static void
send_frames (GstElement *element, guint row)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  if (rows[row].downstream != NULL)
    gst_harness_set_sink_caps_str (h, rows[row].downstream);
  test_send_caps (h, &info);
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = test_frame (&info, NULL);
    if (rows[row].spoil != NULL)
      rows[row].spoil (frame);
    fail_unless (gst_harness_push (h, frame) != GST_FLOW_OK,
        "row %u, %s: the frame was taken", row, rows[row].words);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  gst_harness_teardown (h);
}

static void
check_row (gint backend, guint row)
{
  g_autofree gchar *line = g_strdup_printf (
      "cudapreproc backend=%s %s", test_backend (backend), rows[row].cause);
  GstElement *element = gst_parse_launch (line, NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  if (gst_element_set_state (element, GST_STATE_PAUSED) !=
      GST_STATE_CHANGE_FAILURE)
    send_frames (element, row);
  expect_error (bus, row);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (element);
  gst_object_unref (bus);
}

GST_START_TEST (test_messages) {
  for (guint row = 0; row < G_N_ELEMENTS (rows); row++)
    check_row (__i__, row);
}
GST_END_TEST

static GstElement *
negotiate (gint backend, const gchar *properties, GstBus *bus)
{
  g_autofree gchar *line = g_strdup_printf (
      "cudapreproc backend=%s %s", test_backend (backend), properties);
  GstElement *element = gst_parse_launch (line, NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstVideoInfo info;

  gst_element_set_bus (element, bus);
  test_video_info (&info, "RGB", 32, 24);
  gst_harness_play (h);
  test_send_caps (h, &info);
  gst_harness_teardown (h);
  return element;
}

/* Integers that cannot hold the pixels, where nobody chose it so. */
GST_START_TEST (test_clamp_is_told) {
  static const struct {
    const gchar *properties, *words; /* NULL: no warning */
  } cases[] = {
    { "type=uint8", NULL },
    { "type=int8", "int8|-128|127|quant-scale=0|quant-zero-point=0|255" },
    { "type=int8 quant-zero-point=-128", NULL },
    { "type=uint8 preset=imagenet", "uint8|-540|573" },
    { "type=uint8 preset=imagenet quant-scale=0.02", NULL },
    { "type=float16 preset=imagenet", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBus *bus = gst_bus_new ();
    GstElement *element = negotiate (__i__, cases[i].properties, bus);
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
    GError *warning = NULL;

    fail_unless ((message != NULL) == (cases[i].words != NULL), "%s",
        cases[i].properties);
    if (message != NULL) {
      gst_message_parse_warning (message, &warning, NULL);
      fail_unless (g_error_matches (
          warning, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS));
      test_expect_words (warning->message, cases[i].words);
      g_clear_error (&warning);
      gst_message_unref (message);
    }
    gst_bus_set_flushing (bus, TRUE);
    gst_object_unref (element);
    gst_object_unref (bus);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_clamp_is_told);
  test_add (tcase, test_messages);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-messages", add_tests);
}
