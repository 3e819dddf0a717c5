/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The errors and warnings that a person can meet, by their cause: domain and
 * code, which applications branch on; a text that names the property or the
 * field and its value; and a remedy. One message each, and no more.
 *
 * Not in the table is what no pipeline can bring about here:
 * - failing calls of a device and of the C library, which are the other texts of
 *   running out of memory, too: element-faults.c;
 * - caps that the pads' templates let nobody send: formats without whole samples
 *   (element-formats.c), tensors of types that there are not, without dimensions
 *   or with fields that are no text or fixed by nothing (element-caps.c);
 * - values that a property's range, or a check before it, keeps from the engine:
 *   test-refusals.c;
 * - "no output buffer pool": the element has always made one by then.
 */

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

/* What kinds there are: as gst/error.c has them. */
typedef struct {
  GQuark (*domain) (void);
  gint code;
  const gchar *remedy;
  gboolean is_warning; /* the stream goes on */
} Kind;

static const Kind settings = { gst_library_error_quark,
  GST_LIBRARY_ERROR_SETTINGS, "property" };
static const Kind negotiation = { gst_core_error_quark,
  GST_CORE_ERROR_NEGOTIATION, "caps|properties|defaults" };
static const Kind video = { gst_core_error_quark, GST_CORE_ERROR_NEGOTIATION,
  "frames|gst-inspect-1.0 cudapreproc|videoconvert|deinterlace" };
static const Kind input = { gst_stream_error_quark, GST_STREAM_ERROR_FORMAT,
  "element before cudapreproc|caps|another element" };
static const Kind no_device = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_NOT_FOUND, "driver|cuda-device-id|backend=cpu" };
static const Kind no_memory = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_NO_SPACE_LEFT, "smaller frames|fewer" };
static const Kind forked = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_FAILED, "after the fork|exec" };
static const Kind file = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_OPEN_WRITE, "folder that exists" };
static const Kind clamped = { gst_library_error_quark,
  GST_LIBRARY_ERROR_SETTINGS, "quant-scale|quant-zero-point", TRUE };
static const Kind relinked = { gst_core_error_quark, GST_CORE_ERROR_NEGOTIATION,
  "Block the pad|async-depth=0", TRUE };

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
add_short_stride (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 95);
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

/* What goes wrong around a frame. */

static gpointer
fail_to_map (GstMemory *memory, GstMapInfo *map, gsize size)
{
  (void) memory;
  (void) map;
  (void) size;
  return NULL;
}

static GstFlowReturn
push_unmappable (GstHarness *h, GstBuffer *frame)
{
  GstAllocator *allocator = gst_allocator_find (GST_ALLOCATOR_SYSMEM);
  const GstMemoryMapFullFunction map = allocator->mem_map_full;

  allocator->mem_map_full = fail_to_map;
  const GstFlowReturn flow = gst_harness_push (h, frame);
  allocator->mem_map_full = map;
  gst_object_unref (allocator);
  return flow;
}

static GstFlowReturn
push_without_folder (GstHarness *h, GstBuffer *frame)
{
  g_rmdir ("lost");
  return gst_harness_push (h, frame);
}

/* With the second frame downstream is another, which takes no tensor that was made
 * for the one before. */
static GstFlowReturn
push_while_relinked (GstHarness *h, GstBuffer *frame)
{
  const GstPadChainFunction take = GST_PAD_CHAINFUNC (h->sinkpad);

  if (GST_BUFFER_OFFSET (frame) == 1) {
    gst_harness_push_upstream_event (h, gst_event_new_reconfigure ());
    gst_pad_set_chain_function (h->sinkpad, test_refuse);
  }
  const GstFlowReturn flow = gst_harness_push (h, frame);
  gst_pad_set_chain_function (h->sinkpad, take);
  return flow;
}

/* One row a text in the sources, however it can come about. */
typedef struct Row Row;
struct Row {
  const gchar *cause;      /* properties */
  const gchar *downstream; /* caps that it takes; NULL: any */
  void (*spoil) (GstBuffer *frame);
  const Kind *kind;
  const gchar *words;
  const gchar *video;  /* caps that are sent; NULL: of RGB 32x24 */
  const gchar *unsaid; /* what the text must not have; NULL: any */
  /* instead of gst_harness_push */
  GstFlowReturn (*push) (GstHarness *h, GstBuffer *frame);
  gboolean late; /* the frames are taken, it comes with EOS */
  /* instead of send_frames, which it calls */
  void (*send) (GstElement *element, const Row *row);
};

/* Messages on the bus hold pads of the harness. One that goes with its message,
 * in a filtered pop that has the bus locked, unlinks and must not post then. */
static void
tear_down (GstHarness *h)
{
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

static void
send_frames (GstElement *element, const Row *row)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  const gboolean taken = row->late || row->kind->is_warning;
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  if (row->downstream != NULL)
    gst_harness_set_sink_caps_str (h, row->downstream);
  if (row->video != NULL)
    gst_harness_set_src_caps_str (h, row->video);
  else
    test_send_caps (h, &info);
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = test_frame (&info, NULL);
    GST_BUFFER_OFFSET (frame) = n;
    if (row->spoil != NULL)
      row->spoil (frame);
    const GstFlowReturn flow =
        row->push != NULL ? row->push (h, frame) : gst_harness_push (h, frame);
    fail_unless ((flow == GST_FLOW_OK) == taken, "%s, %s: frame %u: %s",
        row->cause, row->words, n, gst_flow_get_name (flow));
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless ((gst_harness_buffers_received (h) > 0) == taken, "%s, %s: %u",
      row->cause, row->words, gst_harness_buffers_received (h));
  tear_down (h);
}

/* Host memory runs out while a pool is made: of what takes 192 MiB there is room
 * for one. */
static void
send_with_little_memory (GstElement *element, const Row *row,
    void (*send) (GstElement *element, const Row *row))
{
  struct rlimit before, limit;

  fail_unless (getrlimit (RLIMIT_AS, &before) == 0);
  limit = before;
  limit.rlim_cur = test_virtual_memory () + ((gsize) 192 << 20) * 3 / 2;
  fail_unless (setrlimit (RLIMIT_AS, &limit) == 0);
  send (element, row);
  fail_unless (setrlimit (RLIMIT_AS, &before) == 0);
}

static void
send_without_room_for_tensors (GstElement *element, const Row *row)
{
  send_with_little_memory (element, row, send_frames);
}

/* Upstream makes the pool that it was offered, for which of what takes 384 MiB
 * there is room for none: GStreamer loses those made before one that fails. */
static void
offer_pool (GstElement *element, const Row *row)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstBufferPool *pool = NULL;
  GstCaps *caps = gst_caps_from_string (row->video);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  fail_if (gst_buffer_pool_set_active (pool, TRUE));
  gst_object_unref (pool);
  gst_query_unref (query);
  gst_caps_unref (caps);
  tear_down (h);
}

static void
send_without_room_for_frames (GstElement *element, const Row *row)
{
  send_with_little_memory (element, row, offer_pool);
}

#define T "other/tensors, format = static, num_tensors = 1, "
#define VIDEO "video/x-raw, width = 32, height = 24, "

static const Row rows[] = {
  /* lists */
  { "mean=a,b", NULL, NULL, &settings, "mean=a,b|list of numbers" },
  { "std=1,2", NULL, NULL, &settings, "std=1,2|2 values|3 channels" },
  { "crop=1,2,3", NULL, NULL, &settings, "crop=1,2,3|x,y,width,height" },
  { "crop=0,0,1.5,2", NULL, NULL, &settings,
      "crop=0,0,1.5,2|1.5|whole number" },
  { "crop=0,0,33,24", NULL, NULL, &settings, "crop=0,0,33,24|32x24" },
  { "preset=imagenet channels=gray", NULL, NULL, &settings,
      "mean=0.485,0.456,0.406|3 values|1 channels|preset=imagenet" },
  /* numbers */
  { "std=0", NULL, NULL, &settings, "std[0]|0" },
  { "mean=inf", NULL, NULL, &settings, "mean[0]|inf|finite" },
  { "scale=1e30 std=1e-20", NULL, NULL, &settings,
      "scale is 1e+30|std[0] 1e-20|together a factor of inf" },
  { "scale=0 type=uint8", NULL, NULL, &settings,
      "scale is 0|quant-scale|must not be 0" },
  { "pad-value=300", NULL, NULL, &settings, "pad-value[0]|300|0 to 255" },
  { "quant-scale=-1 type=uint8", NULL, NULL, &settings, "quant-scale|-1" },
  { "quant-zero-point=300 type=uint8", NULL, NULL, &settings,
      "quant-zero-point|300" },
  { "width=64 height=64 resize=10 fit=crop", NULL, NULL, &settings,
      "resize is 10|64" },
  { "crop-fraction=2 fit=crop", NULL, NULL, &settings, "crop-fraction is 2" },
  { "crop-fraction=1e-20 fit=crop", NULL, NULL, &settings,
      "crop-fraction is 1e-20|a size of 3.2e+21x2.4e+21 before the crop" },
  { "fit=crop", NULL, NULL, &settings,
      "source is 32x24|pixel aspect ratio of 1000000000/1|resized to",
      .video = VIDEO "format = RGB, pixel-aspect-ratio = 1000000000/1" },
  { "crop-fraction=0.5 resize=64 fit=crop", NULL, NULL, &settings,
      "resize is 64|crop-fraction is 0.5|only one" },
  { "resize=64 fit=letterbox", NULL, NULL, &settings,
      "resize is 64|fit=letterbox" },
  { "crop-fraction=0.5 fit=letterbox", NULL, NULL, &settings,
      "crop-fraction is 0.5|fit=letterbox" },
  { "denoise=median denoise-size=7", NULL, NULL, &settings,
      "denoise-size is 7|3 or 5|median" },
  { "preset=imagenet denoise=median denoise-size=7", NULL, NULL, &settings,
      "denoise-size is 7", .unsaid = "preset" },
  { "denoise=gaussian denoise-size=4", NULL, NULL, &settings,
      "denoise-size is 4|3, 5 or|7" },
  { "denoise=gaussian denoise-sigma=-1", NULL, NULL, &settings,
      "denoise-sigma is -1|at least 0 and finite" },
  { "scale=nan", NULL, NULL, &settings, "scale is nan|must be finite" },
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
  { "channels=bgr", T "dimensions = (string) 20:20:1:1", NULL, &negotiation,
      "channels=bgr is set|dimensions=20:20:1:1" },
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
  { "", NULL, NULL, &video, "colorimetry=|no matrix|format=NV12",
      .video = VIDEO "format = NV12, colorimetry = (string) 2:200:5:1" },
  { "", NULL, NULL, &video, "cannot be read as frames|alternate",
      .video = VIDEO "format = NV12, interlace-mode = alternate" },
  { "", NULL, NULL, &video, "Upstream sends audio/x-raw, must be video/x-raw",
      .video = "audio/x-raw" },
  { "", NULL, NULL, &video, "Upstream sends format=v210|not possible",
      .video = VIDEO "format = v210" },
  { "", NULL, NULL, &video, "Upstream sends width=40000|1 to 32768",
      .video = "video/x-raw, format = RGB, width = 40000, height = 24" },
  { "", NULL, NULL, &video, "Upstream sends video/x-raw(memory:DMABuf)",
      .video = "video/x-raw(memory:DMABuf), format = RGB, width = 32, "
               "height = 24" },
  { "", NULL, cut_short, &input, "100 bytes|RGB 32x24|2304" },
  { "", NULL, add_meta_of_gray, &input, "GstVideoMeta|GRAY8|RGB 32x24" },
  { "", NULL, add_long_stride, &input, "plane 0|stride 200|2304" },
  { "", NULL, add_short_stride, &input,
      "stride of plane 0 of RGB 32x24 is 95|its rows take 96" },
  { "", NULL, add_negative_stride, &input, "stride|-96" },
  { "", NULL, add_crop_outside, &input, "GstVideoCropMeta|16x24|20,0|32x24" },
  { "", NULL, NULL, &input, "2304 bytes|cannot be mapped|RGB 32x24",
      .push = push_unmappable },
  /* where it runs, and writes */
  { "backend=cuda cuda-device-id=99", NULL, NULL, &no_device, "CUDA" },
  { "backend=cpu cuda-device-id=0", NULL, NULL, &settings,
      "cuda-device-id is 0|-1 with backend=cpu" },
  { "timeline-location=/none/such/timeline.svg", NULL, NULL, &file,
      "timeline-location=/none/such/timeline.svg|No such file" },
  { "timeline-location=folder.svg", NULL, NULL, &file,
      "timeline-location=folder.svg|it is a folder" },
  { "timeline-location=pipe.json", NULL, NULL, &file,
      "timeline-location=pipe.json|it is no regular file" },
  { "timeline-location=lost/timeline.svg", NULL, NULL, &file,
      "timeline-location=lost/timeline.svg was not written|No such file",
      .push = push_without_folder, .late = TRUE },
  { "width=4096 height=4096 streams=8", NULL, NULL, &no_memory,
      "201326592 bytes|the machine has|the process may map",
      .send = send_without_room_for_tensors },
  { "width=32 height=24", NULL, NULL, &no_memory,
      "posix_memalign of 402653184 bytes",
      .video = "video/x-raw, format = RGB, width = 16384, height = 8192, "
               "framerate = 0/1",
      .send = send_without_room_for_frames },
  { "", NULL, NULL, &forked, "opened by process|does not survive a fork" },
  /* what is only told */
  { "type=int8", NULL, NULL, &clamped,
      "type=int8|-128|127|quant-scale=0|quant-zero-point=0|255" },
  { "async-depth=4", NULL, NULL, &relinked,
      "Downstream changed|tensors lost: 1", .push = push_while_relinked },
};

static GstMessage *
pop (GstBus *bus)
{
  return gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
}

/* Takes the one message and checks it. */
static void
expect_message (GstBus *bus, const Row *row)
{
  GstMessage *message = pop (bus);
  const Kind *kind = row->kind;
  GError *error = NULL;
  gchar *remedy = NULL;

  fail_unless (message != NULL, "%s, %s: no message", row->cause, row->words);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, &remedy);
  else
    gst_message_parse_error (message, &error, &remedy);
  fail_unless (
      (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) == kind->is_warning &&
          g_error_matches (error, kind->domain (), kind->code),
      "%s, %s: %s of %s %d: %s", row->cause, row->words,
      GST_MESSAGE_TYPE_NAME (message), g_quark_to_string (error->domain),
      error->code, error->message);
  test_expect_words (error->message, row->words);
  fail_unless (
      row->unsaid == NULL || strstr (error->message, row->unsaid) == NULL,
      "%s: %s", row->cause, error->message);
  test_expect_words (remedy, kind->remedy);
  g_print ("%-26s %2d  %s\n", g_quark_to_string (error->domain), error->code,
      error->message);
  g_error_free (error);
  g_free (remedy);
  gst_message_unref (message);

  message = pop (bus);
  fail_unless (
      message == NULL, "%s, %s: a second message", row->cause, row->words);
}

/* In a fork's child, where the element has neither its threads nor its device. */
static void
meet_in_child (GstElement *element, const Row *row)
{
  /* The parent's is a descriptor that both would read. */
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  send_frames (element, row);
  expect_message (bus, row);
}

static void
fork_and_meet (GstElement *element, const Row *row)
{
  const pid_t process = fork ();

  if (process == 0) {
    meet_in_child (element, row);
    test_end_child (TRUE);
  }
  const gint status = test_wait_for_exit (process, TEST_PATIENCE);
  fail_unless (status == 0, "%s: the child ended as %d", row->words, status);
}

static void
check_row (gint backend, const Row *row)
{
  g_autofree gchar *line = g_strdup_printf (
      "cudapreproc backend=%s %s", test_backend (backend), row->cause);
  GstElement *element = gst_parse_launch (line, NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  const gboolean started = gst_element_set_state (element, GST_STATE_PAUSED) !=
      GST_STATE_CHANGE_FAILURE;
  if (row->kind == &forked) {
    fork_and_meet (element, row);
  } else {
    if (started)
      (row->send != NULL ? row->send : send_frames) (element, row);
    expect_message (bus, row);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (element);
  gst_object_unref (bus);
}

/* CUDA's driver maps more than any limit. */
static gboolean
can_run_out_of_memory (gint backend)
{
  if (backend == 0 && !test_is_sanitized ())
    return TRUE;
  g_print ("SKIP no memory: %s\n",
      backend == 0 ? "a sanitizer ends at the limit" : "not with CUDA");
  return FALSE;
}

/* In a folder of its own, with what rows name in it. */
GST_START_TEST (test_messages) {
  g_autofree gchar *before = g_get_current_dir ();
  g_autofree gchar *folder = g_dir_make_tmp ("messages-XXXXXX", NULL);

  fail_unless (folder != NULL && g_chdir (folder) == 0);
  fail_unless (g_mkdir ("folder.svg", 0700) == 0 &&
      mkfifo ("pipe.json", 0600) == 0 && g_mkdir ("lost", 0700) == 0);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].kind != &no_memory || can_run_out_of_memory (__i__))
      check_row (__i__, &rows[i]);
  g_rmdir ("folder.svg");
  g_unlink ("pipe.json");
  fail_unless (g_chdir (before) == 0 && g_rmdir (folder) == 0,
      "something was left in %s", folder);
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
  tear_down (h);
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
