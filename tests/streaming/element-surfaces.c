/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A decoder that has few surfaces, and waits until one comes back: none is kept
 * while it does, and each frame gets its tensor, also through batches and regions,
 * through seeks while it waits, and where the size or the memory of its frames
 * changes in mid-stream.
 */

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/cuda/gstcudautils.h>

#include "gst/cudapreproc/cudapreproc.h"

#include "tests/common/cudaframes.h"
#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define FRAMES 40
#define MAX_SURFACES 3
#define SEEKS 12
#define FRAME_TIME(n) ((n) *GST_SECOND / 30)

/* What frames are, one after the other. */
static const struct {
  gint width, height;
  gboolean cuda;
} kinds[] = {
  { 32, 24, TRUE },
  { 48, 30, TRUE },
  { 32, 24, FALSE },
};
#define N_KINDS G_N_ELEMENTS (kinds)

typedef struct {
  const gchar *element, *properties;
  guint batch, regions; /* pictures of a tensor; of a frame */
} Way;

static const Way ways[] = {
  { "cudapreproc", "", 1, 1 },
  { "cudapreproc", "async-depth=4", 1, 1 },
  { "cudapreproc", "batch-size=8", 8, 1 },
  { "cudapreproc", "batch-size=8 async-depth=2 streams=1", 8, 1 },
  { "cudapreproc", "regions=meta", 1, 3 },
  { "cudapreproc", "regions=meta batch-size=8 async-depth=2", 8, 3 },
  { "cudapreprocmux", "", 1, 1 },
};

/* The decoder, and what its tensors must be. */
typedef struct {
  const Way *way;
  GstElement *pipeline;
  GstAppSink *sink;
  GstVideoInfo info[N_KINDS];
  GstBufferPool *pool[N_KINDS]; /* NULL: in host memory */
  guint surfaces;
  guint change; /* frames until the kind changes; 0: never */
  guint next;   /* frame; of the streaming thread */
} Decoder;

/* decoding */

/* FALSE: none is free. */
static gboolean
try_acquire (GstBufferPool *pool, GstBuffer **frame)
{
  GstBufferPoolAcquireParams at_once = {
    .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
  };

  return gst_buffer_pool_acquire_buffer (pool, frame, &at_once) == GST_FLOW_OK;
}

/* Waits for one that has come back. */
static GstBuffer *
take_surface (const Decoder *decoder, guint kind)
{
  GstBuffer *frame = NULL;

  if (decoder->pool[kind] == NULL)
    return test_numbered_frame (&decoder->info[kind], decoder->next);
  test_wait_for (try_acquire (decoder->pool[kind], &frame));
  test_paint_number (frame, &decoder->info[kind], decoder->next);
  return frame;
}

/* On the streaming thread. */
static void
on_need_data (GstAppSrc *source, guint size, gpointer data)
{
  Decoder *decoder = data;
  const guint kind =
      decoder->change > 0 ? decoder->next / decoder->change % N_KINDS : 0;

  (void) size;
  if (decoder->next == FRAMES) {
    gst_app_src_end_of_stream (source);
    return;
  }
  GstBuffer *frame = take_surface (decoder, kind);
  GST_BUFFER_PTS (frame) = FRAME_TIME (decoder->next);
  GST_BUFFER_DURATION (frame) = GST_SECOND / 30;
  for (guint r = 0; r < decoder->way->regions; r++)
    gst_buffer_add_video_region_of_interest_meta (frame, "all", 0, 0,
        (guint) kinds[kind].width, (guint) kinds[kind].height);
  decoder->next++;
  GstCaps *caps = test_cuda_caps (&decoder->info[kind], kinds[kind].cuda);
  GstSample *sample = gst_sample_new (frame, caps, NULL, NULL);
  gst_app_src_push_sample (source, sample);
  gst_sample_unref (sample);
  gst_caps_unref (caps);
  gst_buffer_unref (frame);
}

/* No frame is being made meanwhile. */
static gboolean
on_seek (GstAppSrc *source, guint64 time, gpointer data)
{
  Decoder *decoder = data;

  (void) source;
  decoder->next = (guint) ((time * 30 + GST_SECOND / 2) / GST_SECOND);
  return TRUE;
}

static void
start (Decoder *decoder, const Way *way, guint surfaces, guint change,
    gboolean tensors)
{
  GstCudaContext *context = test_cuda_context (0);
  GstContext *given = gst_context_new_cuda_context (context);

  *decoder = (Decoder){ .way = way, .surfaces = surfaces, .change = change };
  for (guint k = 0; k < N_KINDS; k++) {
    test_video_info (&decoder->info[k], "RGB", kinds[k].width, kinds[k].height);
    if (kinds[k].cuda)
      decoder->pool[k] = test_cuda_pool (context, &decoder->info[k], surfaces);
  }
  decoder->pipeline = test_launch (CUDA_BACKEND,
      "appsrc name=in format=time stream-type=seekable ! "
      "%s width=16 height=12 type=uint8 %s ! %s ! "
      "appsink name=out sync=false",
      way->element, way->properties,
      tensors ? "other/tensors(memory:CUDAMemory)" : "other/tensors");
  decoder->sink = GST_APP_SINK (test_element (decoder->pipeline, "out"));
  GstElement *source = test_element (decoder->pipeline, "in");
  g_signal_connect (source, "need-data", G_CALLBACK (on_need_data), decoder);
  g_signal_connect (source, "seek-data", G_CALLBACK (on_seek), decoder);
  gst_element_set_context (decoder->pipeline, given);
  gst_element_set_state (decoder->pipeline, GST_STATE_PLAYING);
  gst_context_unref (given);
  gst_object_unref (context);
}

/* All surfaces have come back. */
static void
stop (Decoder *decoder)
{
  test_stop (&decoder->pipeline);
  for (guint k = 0; k < N_KINDS; k++) {
    GstBuffer *frames[MAX_SURFACES];
    if (decoder->pool[k] == NULL)
      continue;
    for (guint s = 0; s < decoder->surfaces; s++)
      fail_unless (try_acquire (decoder->pool[k], &frames[s]));
    for (guint s = 0; s < decoder->surfaces; s++)
      gst_buffer_unref (frames[s]);
    gst_buffer_pool_set_active (decoder->pool[k], FALSE);
    gst_object_unref (decoder->pool[k]);
  }
}

/* tensors */

/* Checks that tensor has the pictures from that one on; which one follows. A picture
 * is a region, or else the whole frame. */
static guint
expect_pictures (const Decoder *decoder, GstBuffer *tensor, guint picture)
{
  const gsize size = gst_buffer_get_size (tensor) / decoder->way->batch;
  GstCudaPreprocPicture its;
  gpointer state = NULL;

  while (gst_cuda_preproc_buffer_next_picture (tensor, &state, &its)) {
    const guint frame = picture++ / decoder->way->regions;
    GstBuffer *slice = gst_buffer_copy_region (
        tensor, GST_BUFFER_COPY_MEMORY, (gsize) its.index * size, size);
    fail_unless_equals_uint64 (its.pts, FRAME_TIME (frame));
    fail_unless_equals_int (test_number_of (slice), frame);
    gst_buffer_unref (slice);
  }
  return picture;
}

/* The same of so many tensors, or, with -1, of all until EOS. */
static guint
pull (const Decoder *decoder, guint picture, gint tensors)
{
  for (gint n = 0; n != tensors; n++) {
    GstSample *sample =
        gst_app_sink_try_pull_sample (decoder->sink, TEST_PATIENCE);
    if (sample == NULL)
      break;
    picture =
        expect_pictures (decoder, gst_sample_get_buffer (sample), picture);
    gst_sample_unref (sample);
  }
  return picture;
}

static void
expect_rest (const Decoder *decoder, guint frame)
{
  fail_unless_equals_int (pull (decoder, frame * decoder->way->regions, -1),
      FRAMES * decoder->way->regions);
  fail_unless (gst_app_sink_is_eos (decoder->sink), "stuck");
}

/* tests */

GST_START_TEST (test_all_come_back) {
  Decoder decoder;

  for (guint surfaces = 1; surfaces <= MAX_SURFACES; surfaces++)
    for (gint tensors = 0; tensors < 2; tensors++) {
      start (&decoder, &ways[__i__], surfaces, 0, tensors);
      expect_rest (&decoder, 0);
      stop (&decoder);
    }
}
GST_END_TEST

/* Also within a batch, and with tensors that are held back. */
GST_START_TEST (test_frames_change) {
  static const guint changes[] = { 1, 3, 5 };
  Decoder decoder;

  for (guint c = 0; c < G_N_ELEMENTS (changes); c++)
    for (gint tensors = 0; tensors < 2; tensors++) {
      start (&decoder, &ways[__i__], 2, changes[c], tensors);
      expect_rest (&decoder, 0);
      stop (&decoder);
    }
}
GST_END_TEST

/* What was before a seek is gone, and all that is behind it comes. */
GST_START_TEST (test_seeks) {
  Decoder decoder;

  for (guint change = 0; change <= 3; change += 3) {
    guint frame = 0;

    start (&decoder, &ways[__i__], 2, change, TRUE);
    for (guint n = 0; n < SEEKS; n++) {
      pull (&decoder, frame * decoder.way->regions, (gint) (n % 3));
      frame = n * 11 % FRAMES;
      fail_unless (gst_element_seek_simple (decoder.pipeline, GST_FORMAT_TIME,
          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, FRAME_TIME (frame)));
    }
    expect_rest (&decoder, frame);
    stop (&decoder);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_loop_test (tcase, test_all_come_back, 0, (int) G_N_ELEMENTS (ways));
  tcase_add_loop_test (tcase, test_frames_change, 0, (int) G_N_ELEMENTS (ways));
  tcase_add_loop_test (tcase, test_seeks, 0, (int) G_N_ELEMENTS (ways));
}

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, "element-surfaces", add_tests);
}
