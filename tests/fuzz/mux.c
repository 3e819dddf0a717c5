/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cudapreprocmux between pads that do whatever they like: frames of any time and
 * size, caps, segments, gaps, ends, flushes; pads that come and go. It stops in
 * any case, nothing is left behind, and a batch has a picture, and metas in order.
 */
#include "gst/cudapreproc/cudapreproc.h"
#include "gst/cudapreprocmux.h"
#include "kernels/preproc.h"

#include <gst/video/video.h>

#include "gstinput.h"

#define MAX_STEPS 40
#define MAX_STREAMS 4

typedef struct {
  GstPad *pad, *peer; /* ours, and the mux'; NULL: there is none */
  GstVideoInfo info;
  /* Frames may wait in the mux for those of others, so each stream has a thread. */
  GThread *thread;
  GAsyncQueue *queue; /* of what it pushes: GstBuffer, GstEvent, quit */
} Stream;

typedef struct {
  input *in;
  GstElement *mux;
  GstBus *bus;
  GstPad *downstream;
  Stream streams[MAX_STREAMS];
  gint batches; /* that came downstream; atomic */
} Bench;

/* downstream */

static GstFlowReturn
on_batch (GstPad *pad, GstObject *parent, GstBuffer *batch)
{
  Bench *bench = gst_pad_get_element_private (pad);
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  gint last = -1;
  GstMapInfo map;

  (void) parent;
  while (gst_cuda_preproc_buffer_next_picture (batch, &state, &picture)) {
    MUST (picture.index > last, "picture %d after %d", picture.index, last);
    last = picture.index;
  }
  MUST (last >= 0, "a batch without a picture");
  if (gst_buffer_map (batch, &map, GST_MAP_READ)) {
    MUST (map.size % (size_t) (picture.width * picture.height) == 0,
        "%zu bytes", map.size);
    gst_buffer_unmap (batch, &map);
  }
  gst_buffer_unref (batch);
  g_atomic_int_inc (&bench->batches);
  return GST_FLOW_OK;
}

static gboolean
on_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  (void) pad;
  (void) parent;
  gst_event_unref (event);
  return TRUE;
}

/* upstream */

static gint quit; /* its address is in a queue */

static gpointer
push_all (gpointer data)
{
  Stream *stream = data;
  gpointer item;

  while ((item = g_async_queue_pop (stream->queue)) != &quit) {
    if (GST_IS_EVENT (item))
      gst_pad_push_event (stream->pad, item);
    else
      gst_pad_push (stream->pad, item);
  }
  return NULL;
}

static void
send (Stream *stream, gpointer item)
{
  g_async_queue_push (stream->queue, item);
}

/* Until streams have pushed what they have, or wait for each other. */
static void
settle (Bench *bench)
{
  for (gint i = 0; i < MAX_STREAMS; i++)
    for (gint n = 0; n < 20 && bench->streams[i].pad != NULL &&
         g_async_queue_length (bench->streams[i].queue) >= 0;
         n++)
      g_usleep (100);
}

static void
take_info (input *in, GstVideoInfo *info)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420_10LE };

  gst_video_info_set_format (info, formats[take_index (in, LENGTH (formats))],
      (guint) (1 + take_index (in, 40)), (guint) (1 + take_index (in, 40)));
  GST_VIDEO_INFO_FPS_N (info) = take_index (in, 60);
}

static void
send_caps (Bench *bench, Stream *stream)
{
  take_info (bench->in, &stream->info);
  GstCaps *caps = gst_video_info_to_caps (&stream->info);
  send (stream, gst_event_new_caps (caps));
  gst_caps_unref (caps);
}

static GstClockTime
take_time (input *in)
{
  const guint kind = take_byte (in);

  if (kind < 230)
    return kind * 10 * GST_MSECOND;
  if (kind < 240)
    return GST_CLOCK_TIME_NONE;
  return ((guint64) take_word (in) << 32) + take_word (in);
}

static void
send_segment (Bench *bench, Stream *stream)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (take_index (bench->in, 4) == 0) {
    segment.start = take_time (bench->in);
    if (!GST_CLOCK_TIME_IS_VALID (segment.start))
      segment.start = 0;
    segment.time = segment.position = segment.start;
    segment.rate = take_bool (bench->in) ? -1 : 2;
    segment.stop =
        segment.rate < 0 ? segment.start + GST_SECOND : GST_CLOCK_TIME_NONE;
    if (segment.stop < segment.start)
      segment.stop = segment.start;
  }
  send (stream, gst_event_new_segment (&segment));
}

static void
begin (Bench *bench, Stream *stream)
{
  send (stream, gst_event_new_stream_start ("fuzz"));
  if (take_index (bench->in, 8) != 0)
    send_caps (bench, stream);
  send_segment (bench, stream);
}

static void
push_frame (Bench *bench, Stream *stream)
{
  GstBuffer *frame = gst_buffer_new_allocate (
      NULL, stream->info.size + (gsize) take_index (bench->in, 2), NULL);
  gst_buffer_memset (frame, 0, (guint8) take_byte (bench->in), G_MAXSSIZE);
  if (take_index (bench->in, 16) == 0)
    gst_buffer_set_size (frame, (gssize) (stream->info.size / 2));
  GST_BUFFER_PTS (frame) = take_time (bench->in);
  GST_BUFFER_DURATION (frame) = take_time (bench->in);
  send (stream, frame);
}

static void
flush (Bench *bench)
{
  for (gint i = 0; i < MAX_STREAMS; i++)
    if (bench->streams[i].pad != NULL)
      gst_pad_push_event (bench->streams[i].pad, gst_event_new_flush_start ());
  for (gint i = 0; i < MAX_STREAMS; i++)
    if (bench->streams[i].pad != NULL) {
      gst_pad_push_event (
          bench->streams[i].pad, gst_event_new_flush_stop (TRUE));
      begin (bench, &bench->streams[i]);
    }
}

/* pads */

static void
add_stream (Bench *bench, Stream *stream)
{
  GstPad *peer = gst_element_request_pad_simple (bench->mux, "sink_%u");

  if (peer == NULL)
    return;
  stream->peer = peer;
  stream->pad = gst_pad_new (NULL, GST_PAD_SRC);
  stream->queue =
      g_async_queue_new_full ((GDestroyNotify) gst_mini_object_unref);
  gst_pad_set_active (stream->pad, TRUE);
  gst_pad_link (stream->pad, peer);
  stream->thread = g_thread_new ("stream", push_all, stream);
  begin (bench, stream);
}

static void
remove_stream (Bench *bench, Stream *stream)
{
  send (stream, &quit);
  gst_element_release_request_pad (bench->mux, stream->peer);
  g_thread_join (stream->thread);
  gst_pad_set_active (stream->pad, FALSE);
  g_async_queue_unref (stream->queue);
  gst_clear_object (&stream->peer);
  gst_clear_object (&stream->pad);
}

/* Steps of one stream, each as often as others. */
static void
step (Bench *bench)
{
  input *in = bench->in;
  Stream *stream = &bench->streams[take_index (in, MAX_STREAMS)];
  const guint kind = take_byte (in);

  if (stream->pad == NULL) {
    add_stream (bench, stream);
  } else if (kind < 170) {
    push_frame (bench, stream);
  } else if (kind < 185) {
    send_caps (bench, stream);
  } else if (kind < 195) {
    send_segment (bench, stream);
  } else if (kind < 205) {
    send (stream,
        gst_event_new_gap ((guint) take_index (in, 100) * GST_MSECOND, 1));
  } else if (kind < 215) {
    send (stream, gst_event_new_eos ());
  } else if (kind < 225) {
    remove_stream (bench, stream);
  } else if (kind < 235) {
    flush (bench);
  } else if (kind < 245) {
    g_object_set (bench->mux, "method", take_index (in, PP_N_METHODS), NULL);
  } else {
    begin (bench, stream);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  input in = { data, size };
  Bench bench = { .in = &in };

  /* GStreamer warns of what these streams do, such as a frame after a flush and
   * before the next segment. */
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL);
  bench.mux = gst_object_ref_sink (g_object_new (GST_TYPE_CUDA_PREPROC_MUX,
      "backend", PP_BACKEND_CPU, "streams", 1 + take_index (&in, 2), "width",
      take_index (&in, 20), "height", 1 + take_index (&in, 20), "batch-size",
      take_index (&in, 6), NULL));
  bench.bus = gst_bus_new ();
  gst_element_set_bus (bench.mux, bench.bus);
  bench.downstream = gst_pad_new (NULL, GST_PAD_SINK);
  gst_pad_set_element_private (bench.downstream, &bench);
  gst_pad_set_chain_function (bench.downstream, on_batch);
  gst_pad_set_event_function (bench.downstream, on_event);
  gst_pad_set_active (bench.downstream, TRUE);
  GstPad *src = gst_element_get_static_pad (bench.mux, "src");
  gst_pad_link (src, bench.downstream);
  gst_object_unref (src);
  MUST (gst_element_set_state (bench.mux, GST_STATE_PLAYING) !=
          GST_STATE_CHANGE_FAILURE,
      "it does not start");

  for (gint n = 0; n < MAX_STEPS && in.size > 0; n++)
    step (&bench);
  settle (&bench);

  gst_element_set_state (bench.mux, GST_STATE_NULL);
  for (gint i = 0; i < MAX_STREAMS; i++)
    if (bench.streams[i].pad != NULL)
      remove_stream (&bench, &bench.streams[i]);
  gst_pad_set_active (bench.downstream, FALSE);
  gst_bus_set_flushing (bench.bus, TRUE);
  gst_element_set_bus (bench.mux, NULL);
  gst_object_unref (bench.bus);
  gst_object_unref (bench.downstream);
  gst_object_unref (bench.mux);
  return 0;
}
