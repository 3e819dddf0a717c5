/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A sink that hands every buffer to a function, on the streaming thread: what
 * fakesink does for its handoff signal, which takes as long as a frame's way
 * through the element.
 */
#ifndef BENCH_SINK_H
#define BENCH_SINK_H

#include <gst/gst.h>

typedef void (*BenchSinkRender) (GstBuffer *buffer, gpointer data);

/* Makes "benchsink" known to gst_parse_launch. */
void bench_sink_register (void);
/* Before the sink starts. */
void bench_sink_set_render (
    GstElement *sink, BenchSinkRender render, gpointer data);

#endif
