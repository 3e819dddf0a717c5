/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pipelines of sources that cost nothing, one of the elements, which are linked in,
 * and a sink that hands each buffer to a function on the streaming thread.
 */
#ifndef BENCH_ELEMENTS_H
#define BENCH_ELEMENTS_H

#include <gst/gst.h>

#include "benchjobs.h"

typedef void (*BenchSinkRender) (GstBuffer *buffer, gpointer data);

/* Makes them known to gst_parse_launch. */
void bench_register_elements (void);
/* A pipeline of so many of the job's frames, which does not play yet; -1: without
 * end. properties: of the element, whose name is preproc, and a "!"; NULL: it is
 * left out. */
GstElement *bench_make_pipeline (const BenchJob *job, gint frames,
    const gchar *properties, BenchSinkRender render, gpointer data);
/* The same with so many sources of frames each, cudapreprocmux, and a queue that
 * holds some batches. */
GstElement *bench_make_mux (const BenchJob *job, gint sources, gint frames,
    const gchar *properties, BenchSinkRender render, gpointer data);
/* A pipeline of that line, whose sink is a benchsink with the name sink. */
GstElement *bench_launch (
    const gchar *line, BenchSinkRender render, gpointer data);
/* From now on *arrived is when the last frame came to the element preproc. */
void bench_note_arrivals (GstElement *pipeline, gdouble *arrived);
/* Maps the buffer, which waits for its tensor; with GST_PP_MAP_CUDA on the device. */
void bench_wait_for_tensor (GstBuffer *buffer, GstMapFlags where);
/* Ends the program where the pipeline has posted an error. */
void bench_check (GstElement *pipeline);
/* Waits for EOS. */
void bench_wait_for_end (GstElement *pipeline);

#endif
