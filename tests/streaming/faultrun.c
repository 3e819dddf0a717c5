/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "faultrun.h"

#include <string.h>

#include "gst/cudapreproc.h"
#include "gst/cudapreprocmux.h"

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"
#include "tests/common/resources.h"

/* As test_harness and test_launch take it; these programs' device has no other. */
#define BACKEND 1
/* Longest that a pipeline may take to stop, microseconds. */
#define STOP_TIME (5 * G_USEC_PER_SEC)

/* What the runs with one call failing led to. */
typedef struct {
  guint runs, failed, unnoticed, lost, delivered;
} Tally;

typedef struct {
  fake_call call;
  gint nth; /* from 1 */
  gboolean sticky;
} Fault;

const gchar *
fault_call_name (fake_call call)
{
  return call == FAKE_MALLOC ? "malloc" : fake_call_name (call);
}

static void
arm (const Fault *fault)
{
  fake_reset ();
  fake_fail (fault->call, fault->nth, fault->sticky);
}

static gboolean
has_fired (const Fault *fault)
{
  return fake_count (fault->call) >= fault->nth;
}

/* These can be done without: the next wait tells of a device that is lost; fewer
 * staging threads do; a context is entered to give back what is in it; a frame
 * of upstream's that gets no pinned memory is staged. */
static gboolean
may_go_unnoticed (fake_call call)
{
  return call == FAKE_EVENT_QUERY || call == FAKE_THREAD ||
      call == FAKE_ENTER || call == FAKE_HOST_ALLOC;
}

/* What maps of tensors on the device need besides: these fail, which whoever maps
 * is told of. */
static gboolean
may_fail_maps (const FaultStream *stream, fake_call call)
{
  return stream->on_device &&
      (call == FAKE_TRANSFER || call == FAKE_ENTER || call == FAKE_HOST_ALLOC ||
          call == FAKE_STREAM_CREATE || call == FAKE_THREAD ||
          call == FAKE_MALLOC);
}

/* Counts a run. may_be_silent: others than the element are told. FALSE if it was
 * one without the fault, since calls were too few. */
static gboolean
count_run (Tally *tally, const Fault *fault, gboolean fired, gboolean told,
    gboolean may_be_silent)
{
  if (!fired)
    return FALSE;
  fail_unless (told || may_be_silent || may_go_unnoticed (fault->call),
      "nobody was told");
  tally->runs++;
  tally->failed += told;
  tally->unnoticed += !told;
  return TRUE;
}

static gboolean
is_own (GstMessage *message)
{
  GstObject *source = GST_MESSAGE_SRC (message);

  return G_TYPE_CHECK_INSTANCE_TYPE (source, GST_TYPE_CUDA_PREPROC) ||
      G_TYPE_CHECK_INSTANCE_TYPE (source, GST_TYPE_CUDA_PREPROC_MUX);
}

static void
expect_own_error (GstMessage *message, const Fault *fault)
{
  static const struct {
    gint code;
    const gchar *remedy;
  } kinds[] = {
    [PP_NO_DEVICE] = { GST_RESOURCE_ERROR_NOT_FOUND, "driver|backend=cpu" },
    [PP_NO_MEMORY] = { GST_RESOURCE_ERROR_NO_SPACE_LEFT, "smaller|fewer" },
    [PP_DEVICE_FAILED] = { GST_RESOURCE_ERROR_FAILED, "to READY" },
  };
  const pp_status status = fake_call_status (fault->call);
  GError *error = NULL;
  gchar *remedy = NULL;

  gst_message_parse_error (message, &error, &remedy);
  fail_unless (is_own (message), "%s: %s", GST_MESSAGE_SRC_NAME (message),
      error->message);
  test_expect_words (error->message, fake_call_name (fault->call));
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, kinds[status].code),
      "%s: %d", error->message, error->code);
  test_expect_words (remedy, kinds[status].remedy);
  g_error_free (error);
  g_free (remedy);
}

/* Takes the errors that have been posted; the number of the element's. */
static guint
take_errors (GstElement *element, const Fault *fault)
{
  GstBus *bus = gst_element_get_bus (element);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR)) != NULL) {
    if (is_own (message)) {
      expect_own_error (message, fault);
      n++;
    }
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return n;
}

/* harness */

/* A numbered frame in the memory that the element offers, or where that gives
 * none, or asks for none, in ordinary memory. */
static GstBuffer *
make_host_frame (GstHarness *h, const GstVideoInfo *info, guint number)
{
  GstBuffer *frame = test_numbered_frame (info, number);
  GstCaps *caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstQuery *query = gst_query_new_allocation (caps, FALSE);
  GstAllocator *allocator = NULL;

  gst_caps_unref (caps);
  if (number % 2 == 0 && gst_pad_peer_query (h->srcpad, query) &&
      gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  if (allocator != NULL) {
    GstBuffer *offered = gst_buffer_new_allocate (allocator, info->size, NULL);
    GstMapInfo map;
    if (offered != NULL) {
      fail_unless (gst_buffer_map (frame, &map, GST_MAP_READ));
      gst_buffer_fill (offered, 0, map.data, map.size);
      gst_buffer_unmap (frame, &map);
      gst_buffer_unref (frame);
      frame = offered;
    }
    gst_object_unref (allocator);
  }
  gst_query_unref (query);
  return frame;
}

static void
begin_stream (GstHarness *h, const GstVideoInfo *info, const gchar *memory)
{
  GstCaps *caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstSegment segment;

  if (memory != NULL)
    gst_caps_set_features (caps, 0, gst_caps_features_new (memory, NULL));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_stream_start ("test"));
  gst_harness_push_event (h, gst_event_new_caps (caps));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

/* Frames until one is refused; the number of those that were taken. */
static guint
push_frames (GstHarness *h, const GstVideoInfo *info, const FaultStream *stream)
{
  GstFlowReturn flow = GST_FLOW_OK;
  guint n = 0;

  while (n < stream->frames && flow == GST_FLOW_OK) {
    GstBuffer *frame = stream->make_frame != NULL
        ? stream->make_frame (h, info, n)
        : make_host_frame (h, info, n);

    for (guint i = 0; i < stream->regions; i++)
      gst_buffer_add_video_region_of_interest_meta (
          frame, "all", 0, 0, (guint) stream->width, (guint) stream->height);
    fake_hold (n < FAULT_HELD_FRAMES);
    flow = gst_harness_push (h, frame);
    n += flow == GST_FLOW_OK;
  }
  fake_hold (FALSE);
  return n;
}

/* Checks that frames from that one on are in the tensor, each in its slice; or that
 * this one is in all of them. */
static void
expect_frames (
    GstBuffer *tensor, guint from, guint n, guint slices, gboolean same)
{
  const gsize size = gst_buffer_get_size (tensor) / slices;

  for (guint i = 0; i < n; i++) {
    GstBuffer *part =
        gst_buffer_copy_region (tensor, GST_BUFFER_COPY_MEMORY, i * size, size);
    fail_unless_equals_int (test_number_of (part), same ? from : from + i);
    gst_buffer_unref (part);
  }
}

/* Checks that the tensors that can be read are those of their frames; which is the
 * first frame that is in none, n if all are. */
static guint
pull_tensors (GstHarness *h, guint n, const FaultStream *stream)
{
  const guint batch = stream->batch, regions = stream->regions;
  const guint came = gst_harness_buffers_in_queue (h);
  guint lost = n;

  /* The padding of a batch that is not full is a job, where it is on the device. */
  if (stream->on_device && came == n / batch)
    lost = came * batch;
  else
    fail_unless_equals_int (came, (n + batch - 1) / batch);
  for (guint i = 0; i < came * batch; i += batch) {
    GstBuffer *tensor = gst_harness_pull (h);
    GstMapInfo map;

    if (gst_buffer_map (tensor, &map, GST_MAP_READ)) {
      gst_buffer_unmap (tensor, &map);
      if (regions > 0)
        expect_frames (tensor, i, regions, regions, TRUE);
      else
        expect_frames (tensor, i, MIN (n - i, batch), batch, FALSE);
    } else {
      lost = MIN (lost, i);
    }
    gst_buffer_unref (tensor);
  }
  return lost;
}

static gboolean
take_eos (GstHarness *h)
{
  gboolean found = FALSE;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    found |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  return found;
}

/* Frames are launched in order: tensors before the one whose launch failed are
 * delivered, and it is not. */
static void
expect_launch_failed (
    const FaultStream *stream, const Fault *fault, guint first)
{
  const guint nth = (guint) fault->nth;
  const guint frame =
      nth > stream->first_launches ? nth - stream->first_launches : 0;

  fail_unless (first == frame - frame % stream->batch,
      "launch %u is frame %u's, but frame %u is the first not delivered", nth,
      frame, first);
}

/* One stream with the fault in it; whether the element told of it. */
static gboolean
run_stream (GstHarness *h, const FaultStream *stream, const Fault *fault)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", stream->width, stream->height);
  begin_stream (h, &info, stream->memory);
  const guint n = push_frames (h, &info, stream);
  gst_harness_push_event (h, gst_event_new_eos ());
  const guint first = pull_tensors (h, n, stream);
  const guint errors = take_errors (h->element, fault);
  const gboolean eos = take_eos (h);

  fail_unless (errors <= 1, "%u errors", errors);
  fail_unless (eos == (errors == 0), "%s after %u errors",
      eos ? "EOS came" : "no EOS", errors);
  fail_unless (errors == 1 || first == stream->frames ||
          may_fail_maps (stream, fault->call),
      "%u of %u frames, %u the first not delivered, and no error", n,
      stream->frames, first);
  if (errors == 1 && fault->call == FAKE_LAUNCH)
    expect_launch_failed (stream, fault, first);
  return errors == 1;
}

/* A context that cannot be entered is lost with all that is in it. */
static void
expect_nothing_left (gint threads, gboolean may_lose, Tally *tally)
{
  static gint lost;
  gchar text[128];
  const gint live = fake_live (text, sizeof text);

  if (may_lose && live != lost) {
    lost = live;
    tally->lost++;
    return;
  }
  fail_unless (live == lost, "there are %s", text);
  fail_unless (resources_become (THREADS, threads), "%d threads, %d before",
      count_resources (THREADS), threads);
}

/* Whether the element, which the fault keeps from its device or from starting, told
 * of it. It gets there when the fault is gone. */
static gboolean
fails_to_open (const FaultStream *stream, const Fault *fault)
{
  g_autofree gchar *line = g_strdup_printf (
      "cudapreproc backend=%s %s", test_backend (BACKEND), stream->properties);
  GstElement *element = gst_parse_launch (line, NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  const gboolean fails = gst_element_set_state (element, GST_STATE_PAUSED) ==
      GST_STATE_CHANGE_FAILURE;
  fail_unless_equals_int (take_errors (element, fault), fails);
  fake_fail (fault->call, 0, FALSE);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (element);
  gst_object_unref (bus);
  return fails;
}

/* Whether the element told of the fault. A new start forgives. */
static gboolean
fails_to_stream (const FaultStream *stream, const Fault *fault, gboolean *fired,
    Tally *tally)
{
  const Fault none = { fault->call, 0, FALSE };
  GstHarness *h = test_harness (BACKEND, stream->properties);

  if (stream->opened)
    arm (fault);
  if (stream->on_device)
    gst_harness_set_sink_caps_str (h, "other/tensors(memory:CUDAMemory)");
  const gboolean fails = run_stream (h, stream, fault);
  tally->delivered += gst_harness_buffers_received (h);
  *fired = has_fired (fault);
  fake_fail (fault->call, 0, FALSE);
  gst_element_set_state (h->element, GST_STATE_READY);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PLAYING),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless (!run_stream (h, stream, &none), "the fault is still there");
  test_harness_end (&h);
  return fails;
}

/* FALSE: the call is never made so often. */
static gboolean
run_harness (const FaultStream *stream, const Fault *fault, Tally *tally)
{
  const gint threads = count_resources (THREADS);
  gboolean told = FALSE, fired = FALSE;

  if (stream->opened) {
    fake_reset ();
  } else {
    arm (fault);
    told = fails_to_open (stream, fault);
    fired = has_fired (fault);
    arm (fault);
  }
  if (!told)
    told = fails_to_stream (stream, fault, &fired, tally);
  expect_nothing_left (threads, fault->call == FAKE_ENTER, tally);
  return count_run (
      tally, fault, fired, told, may_fail_maps (stream, fault->call));
}

/* pipelines */

/* Until EOS or an error; whether it was one, which must be the element's: what
 * others post because of it comes later. */
static gboolean
play (GstElement *pipeline, const FaultPipeline *kind, const Fault *fault)
{
  GstBus *bus = gst_element_get_bus (pipeline);

  if (kind->feed != NULL)
    kind->feed (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "neither an error nor EOS");
  const gboolean failed = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
  if (failed)
    expect_own_error (message, fault);
  gst_message_unref (message);
  fail_unless_equals_int (take_errors (pipeline, fault), 0);
  gst_object_unref (bus);
  return failed;
}

static void
stop (GstElement *pipeline)
{
  const gint64 begin = g_get_monotonic_time ();

  gst_element_set_state (pipeline, GST_STATE_NULL);
  const gint64 took = g_get_monotonic_time () - begin;
  fail_unless (took < STOP_TIME, "stopping took %" G_GINT64_FORMAT " us", took);
}

static gboolean
run_pipeline (const FaultPipeline *kind, const Fault *fault, Tally *tally)
{
  gint out = 0;

  arm (fault);
  GstElement *pipeline = test_launch (BACKEND, "%s", kind->line);
  if (kind->opened) {
    fake_fail (fault->call, 0, FALSE);
    test_set_state (pipeline, GST_STATE_READY);
    arm (fault);
  }
  test_count_buffers (test_pad (pipeline, "out", "sink"), &out);

  const gboolean told = play (pipeline, kind, fault);
  const gboolean fired = has_fired (fault);
  fail_unless (told || g_atomic_int_get (&out) == (gint) kind->tensors);
  stop (pipeline);
  tally->delivered += (guint) g_atomic_int_get (&out);

  const Fault none = { fault->call, 0, FALSE };
  fake_fail (fault->call, 0, FALSE);
  g_atomic_int_set (&out, 0);
  fail_unless (!play (pipeline, kind, &none), "the fault is still there");
  fail_unless_equals_int (out, kind->tensors);
  test_stop (&pipeline);
  return count_run (tally, fault, fired, told, FALSE);
}

/* each call */

static gpointer
do_nothing (gpointer data)
{
  return data;
}

/* With a stream or a pipeline; the other is NULL. The number of runs in which the
 * call failed. */
static guint
fail_each (
    fake_call call, const FaultStream *stream, const FaultPipeline *pipeline)
{
  /* A sanitizer looks at every seventh one: it takes ten times as long. */
  const gint step = test_is_sanitized () ? 7 : 1;
  Tally tally = { 0 };

  /* A sanitizer makes one of its own with the first thread. */
  g_thread_join (g_thread_new ("first", do_nothing, NULL));
  for (gint sticky = 0; sticky <= 1; sticky++) {
    Fault fault = { call, 1 + (step > 1 ? sticky : 0), sticky };
    while (stream != NULL ? run_harness (stream, &fault, &tally)
                          : run_pipeline (pipeline, &fault, &tally))
      fault.nth += step;
  }
  g_print ("%-8s %-14s %4u runs: %4u errors, %3u unnoticed, %3u lost, "
           "%4u tensors\n",
      stream != NULL ? stream->name : pipeline->name, fault_call_name (call),
      tally.runs, tally.failed, tally.unnoticed, tally.lost, tally.delivered);
  return tally.runs;
}

guint
fault_run_stream (fake_call call, const FaultStream *stream)
{
  return fail_each (call, stream, NULL);
}

guint
fault_run_pipeline (fake_call call, const FaultPipeline *pipeline)
{
  return fail_each (call, NULL, pipeline);
}
