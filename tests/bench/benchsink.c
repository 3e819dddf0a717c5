/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchsink.h"

#include <gst/base/gstbasesink.h>

#define BENCH_TYPE_SINK (bench_sink_get_type ())
G_DECLARE_FINAL_TYPE (BenchSink, bench_sink, BENCH, SINK, GstBaseSink)

struct _BenchSink {
  GstBaseSink parent;
  BenchSinkRender render;
  gpointer data;
};

G_DEFINE_TYPE (BenchSink, bench_sink, GST_TYPE_BASE_SINK)

static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE (
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

  gst_element_class_add_static_pad_template (element_class, &template);
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
bench_sink_register (void)
{
  gst_element_register (NULL, "benchsink", GST_RANK_NONE, BENCH_TYPE_SINK);
}

void
bench_sink_set_render (GstElement *sink, BenchSinkRender render, gpointer data)
{
  BenchSink *self = BENCH_SINK (sink);

  self->render = render;
  self->data = data;
}
