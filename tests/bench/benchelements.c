/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchelements.h"

#include <gst/base/gstbasesink.h>
#include <gst/base/gstpushsrc.h>

#include "gst/cudapreproc.h"
#include "gst/cudapreprocmux.h"

/* The source costs nothing: it takes buffers from the pool that downstream
 * proposes and fills each only once. Properties: caps; pageable, for frames in
 * ordinary memory; recycled, how many take turns at least; regions, and
 * one-by-one, as in BenchJob; and GstBaseSrc's num-buffers. */

#define BENCH_TYPE_SOURCE (bench_source_get_type ())
G_DECLARE_FINAL_TYPE (BenchSource, bench_source, BENCH, SOURCE, GstPushSrc)

struct _BenchSource {
  GstPushSrc parent;
  GstCaps *caps;
  gboolean pageable, one_by_one;
  guint recycled, regions;
  guint64 frame;
};

G_DEFINE_TYPE (BenchSource, bench_source, GST_TYPE_PUSH_SRC)

enum {
  PROP_0,
  PROP_CAPS,
  PROP_PAGEABLE,
  PROP_RECYCLED,
  PROP_REGIONS,
  PROP_ONE_BY_ONE
};

static GstStaticPadTemplate source_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GstCaps *
bench_source_get_caps (GstBaseSrc *source, GstCaps *filter)
{
  BenchSource *self = BENCH_SOURCE (source);

  if (self->caps == NULL)
    return gst_caps_new_any ();
  return filter != NULL ? gst_caps_intersect (self->caps, filter)
                        : gst_caps_ref (self->caps);
}

/* So that frames are held back as those of a file are. */
static gboolean
bench_source_is_seekable (GstBaseSrc *source)
{
  (void) source;
  return TRUE;
}

static void
add_region_metas (const BenchSource *self, GstBuffer *buffer)
{
  for (guint i = 0; i < self->regions; i++) {
    const GstVideoRectangle region = bench_region (self->frame, i);
    gst_buffer_add_video_region_of_interest_meta (buffer, "box",
        (guint) region.x, (guint) region.y, (guint) region.w, (guint) region.h);
  }
}

static void
add_crop_meta (const BenchSource *self, GstBuffer *buffer)
{
  const GstVideoRectangle region = bench_region (
      self->frame / self->regions, (guint) (self->frame % self->regions));
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  crop->x = (guint) region.x;
  crop->y = (guint) region.y;
  crop->width = (guint) region.w;
  crop->height = (guint) region.h;
}

static GstFlowReturn
bench_source_fill (GstPushSrc *source, GstBuffer *buffer)
{
  static GQuark filled;
  BenchSource *self = BENCH_SOURCE (source);
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  GstMapInfo map;

  if (filled == 0)
    filled = g_quark_from_static_string ("bench-source-filled");
  if (gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (memory), filled) ==
      NULL) {
    if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE))
      return GST_FLOW_ERROR;
    bench_fill (map.data, map.size, (guint) self->frame);
    gst_buffer_unmap (buffer, &map);
    gst_mini_object_set_qdata (
        GST_MINI_OBJECT_CAST (memory), filled, memory, NULL);
  }
  if (self->one_by_one)
    add_crop_meta (self, buffer);
  else
    add_region_metas (self, buffer);
  GST_BUFFER_PTS (buffer) =
      gst_util_uint64_scale (self->frame++, GST_SECOND, 30);
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 30;
  return GST_FLOW_OK;
}

static void
bench_source_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  BenchSource *self = BENCH_SOURCE (object);

  (void) pspec;
  if (id == PROP_PAGEABLE)
    self->pageable = g_value_get_boolean (value);
  if (id == PROP_RECYCLED)
    self->recycled = g_value_get_uint (value);
  if (id == PROP_REGIONS)
    self->regions = g_value_get_uint (value);
  if (id == PROP_ONE_BY_ONE)
    self->one_by_one = g_value_get_boolean (value);
  if (id != PROP_CAPS)
    return;
  gst_caps_replace (&self->caps, (GstCaps *) gst_value_get_caps (value));
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}

static GstBufferPool *
make_ordinary_pool (GstCaps *caps, guint size, guint min)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, min, 0);
  gst_buffer_pool_set_config (pool, config);
  return pool;
}

/* Frames from downstream's pool; where it has none, or if pageable ones are
 * wanted, from a pool of ordinary memory. */
static gboolean
bench_source_decide_allocation (GstBaseSrc *source, GstQuery *query)
{
  BenchSource *self = BENCH_SOURCE (source);
  GstBufferPool *pool = NULL;
  GstVideoInfo info;
  GstCaps *caps;
  guint min = 0;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (gst_query_get_n_allocation_pools (query) == 0)
    gst_query_add_allocation_pool (query, NULL, (guint) info.size, 0, 0);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, &min, NULL);
  min = MAX (min, self->recycled);
  if (self->pageable)
    gst_clear_object (&pool);
  if (pool == NULL) {
    pool = make_ordinary_pool (caps, (guint) info.size, min);
    while (gst_query_get_n_allocation_params (query) > 0)
      gst_query_remove_nth_allocation_param (query, 0);
  }
  gst_query_set_nth_allocation_pool (query, 0, pool, (guint) info.size, min, 0);
  gst_object_unref (pool);
  return GST_BASE_SRC_CLASS (bench_source_parent_class)
      ->decide_allocation (source, query);
}

static void
bench_source_finalize (GObject *object)
{
  gst_caps_replace (&BENCH_SOURCE (object)->caps, NULL);
  G_OBJECT_CLASS (bench_source_parent_class)->finalize (object);
}

static void
bench_source_class_init (BenchSourceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = bench_source_set_property;
  object_class->finalize = bench_source_finalize;
  g_object_class_install_property (object_class, PROP_CAPS,
      g_param_spec_boxed ("caps", "caps", "Caps of the frames", GST_TYPE_CAPS,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_PAGEABLE,
      g_param_spec_boolean ("pageable", "pageable",
          "Frames in ordinary memory instead of downstream's", FALSE,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_RECYCLED,
      g_param_spec_uint ("recycled", "recycled", "Frames taking turns", 0,
          G_MAXUINT, 0, G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_REGIONS,
      g_param_spec_uint ("regions", "regions", "Regions of each frame", 0,
          PP_MAX_PICTURES, 0, G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_ONE_BY_ONE,
      g_param_spec_boolean ("one-by-one", "one by one",
          "A frame with a crop meta for each region", FALSE,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  gst_element_class_add_static_pad_template (element_class, &source_template);
  gst_element_class_set_static_metadata (element_class, "Benchmark source",
      "Source/Video", "Recycles prefilled buffers", "The cudapreproc authors");
  GST_BASE_SRC_CLASS (klass)->get_caps = bench_source_get_caps;
  GST_BASE_SRC_CLASS (klass)->is_seekable = bench_source_is_seekable;
  GST_BASE_SRC_CLASS (klass)->decide_allocation =
      bench_source_decide_allocation;
  GST_PUSH_SRC_CLASS (klass)->fill = bench_source_fill;
}

static void
bench_source_init (BenchSource *self)
{
  (void) self;
}

/* The sink hands every buffer to a function, on the streaming thread: what
 * fakesink does for its handoff signal, which takes as long as a frame's way
 * through the element. */

#define BENCH_TYPE_SINK (bench_sink_get_type ())
G_DECLARE_FINAL_TYPE (BenchSink, bench_sink, BENCH, SINK, GstBaseSink)

struct _BenchSink {
  GstBaseSink parent;
  BenchSinkRender render;
  gpointer data;
};

G_DEFINE_TYPE (BenchSink, bench_sink, GST_TYPE_BASE_SINK)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GstFlowReturn
bench_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  BenchSink *self = BENCH_SINK (sink);

  self->render (buffer, self->data);
  return GST_FLOW_OK;
}

static void
bench_sink_class_init (BenchSinkClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Benchmark sink",
      "Sink", "Hands buffers to a function", "The cudapreproc authors");
  GST_BASE_SINK_CLASS (klass)->render = bench_sink_render;
}

static void
bench_sink_init (BenchSink *self)
{
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}

void
bench_register_elements (void)
{
  gst_element_register (NULL, "benchsource", GST_RANK_NONE, BENCH_TYPE_SOURCE);
  gst_element_register (NULL, "benchsink", GST_RANK_NONE, BENCH_TYPE_SINK);
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  gst_element_register (
      NULL, "cudapreprocmux", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC_MUX);
}

/* What a source is, up to where it is linked. */
static gchar *
describe_source (const BenchJob *job, gint number, gint frames)
{
  return g_strdup_printf (
      "benchsource name=source_%d pageable=%d recycled=%d regions=%d "
      "one-by-one=%d num-buffers=%d !",
      number, job->pageable, bench_job_recycled (job), job->regions,
      job->one_by_one, frames);
}

GstElement *
bench_launch (const gchar *line, BenchSinkRender render, gpointer data)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);

  bench_require (pipeline != NULL, line, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  BENCH_SINK (sink)->render = render;
  BENCH_SINK (sink)->data = data;
  gst_object_unref (sink);
  return pipeline;
}

static GstElement *
launch (const BenchJob *job, const gchar *line, gint sources,
    BenchSinkRender render, gpointer data)
{
  g_autoptr (GstCaps) caps = bench_job_caps (job);
  GstElement *pipeline = bench_launch (line, render, data);

  for (gint i = 0; i < sources; i++) {
    g_autofree gchar *name = g_strdup_printf ("source_%d", i);
    GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), name);
    g_object_set (source, "caps", caps, NULL);
    gst_object_unref (source);
  }
  return pipeline;
}

GstElement *
bench_make_pipeline (const BenchJob *job, gint frames, const gchar *properties,
    BenchSinkRender render, gpointer data)
{
  g_autofree gchar *source = describe_source (job, 0, frames);
  g_autofree gchar *line = g_strdup_printf ("%s %s%s benchsink name=sink",
      source, properties != NULL ? "cudapreproc name=preproc " : "",
      properties != NULL ? properties : "");

  return launch (job, line, 1, render, data);
}

GstElement *
bench_make_mux (const BenchJob *job, gint sources, gint frames,
    const gchar *properties, BenchSinkRender render, gpointer data)
{
  GString *line = g_string_new (NULL);

  g_string_append_printf (line,
      "cudapreprocmux name=preproc %s queue max-size-buffers=4 "
      "max-size-bytes=0 max-size-time=0 ! benchsink name=sink",
      properties);
  for (gint i = 0; i < sources; i++) {
    g_autofree gchar *source = describe_source (job, i, frames);
    g_string_append_printf (line, " %s preproc.sink_%d", source, i);
  }
  GstElement *pipeline = launch (job, line->str, sources, render, data);
  g_string_free (line, TRUE);
  return pipeline;
}

static GstPadProbeReturn
on_arrival (GstPad *pad, GstPadProbeInfo *info, gpointer arrived)
{
  (void) pad;
  (void) info;
  *(gdouble *) arrived = bench_now ();
  return GST_PAD_PROBE_OK;
}

void
bench_note_arrivals (GstElement *pipeline, gdouble *arrived)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");
  GstPad *pad = gst_element_get_static_pad (element, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_arrival, arrived, NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
}

void
bench_wait_for_tensor (GstBuffer *buffer, GstMapFlags where)
{
  GstMapInfo map;

  bench_require (
      gst_buffer_map (buffer, &map, GST_MAP_READ | where), "map", NULL);
  gst_buffer_unmap (buffer, &map);
}

static void
require_no_error (GstMessage *message)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  bench_require (error == NULL, error != NULL ? error->message : "", NULL);
  gst_message_unref (message);
}

void
bench_check (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  if (message != NULL)
    require_no_error (message);
  gst_object_unref (bus);
}

void
bench_wait_for_end (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);

  require_no_error (gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_object_unref (bus);
}
