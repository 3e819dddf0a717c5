/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What keeps frames from going faster, in one word: a pure function of a few
 * numbers. The rules are in diagnosis.c, the remedies in the README.
 */
#ifndef GST_PP_DIAGNOSIS_H
#define GST_PP_DIAGNOSIS_H

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  GST_PP_STAGE_UPLOAD,
  GST_PP_STAGE_KERNEL,
  GST_PP_STAGE_DOWNLOAD,
  GST_PP_N_STAGES
} GstPpStage;

/* Where the streaming thread can be. */
typedef enum {
  GST_PP_PLACE_SOURCE,   /* upstream, making or waiting for the next frame */
  GST_PP_PLACE_ELEMENT,  /* staging, submitting, waiting for the device */
  GST_PP_PLACE_CONSUMER, /* downstream, in a push */
  GST_PP_N_PLACES
} GstPpPlace;

/* What some consecutive frames took. Times in microseconds. */
typedef struct {
  guint64 frames;
  guint64 bytes_up, bytes_staged;
  guint streams; /* bit i: stream i was used */
  /* For a GPU 0: streams share it. For the CPU, where a stream is a thread and
   * there is nothing to copy, how many of them run at once. */
  guint processors;
  /* on the device */
  gdouble wall;
  gdouble busy;                     /* of wall: some job was under way */
  gdouble total[GST_PP_N_STAGES];   /* sum over jobs */
  gdouble covered[GST_PP_N_STAGES]; /* of wall: some job was in that stage */
  /* on the host */
  gdouble latency; /* sum over jobs, submission to end */
  gdouble place[GST_PP_N_PLACES];
  gdouble waited; /* in maps for tensors, by whoever reads them */
} GstPpLoad;

typedef enum {
  GST_PP_BOTTLENECK_NONE,
  GST_PP_BOTTLENECK_ONE_STREAM,
  GST_PP_BOTTLENECK_UPLOAD,
  GST_PP_BOTTLENECK_KERNEL,
  GST_PP_BOTTLENECK_DOWNLOAD,
  GST_PP_BOTTLENECK_PAGEABLE_INPUT,
  GST_PP_BOTTLENECK_SOURCE_TOO_SLOW,
  GST_PP_BOTTLENECK_CONSUMER_TOO_SLOW,
  GST_PP_BOTTLENECK_CONSUMER_WAITS,
  GST_PP_N_BOTTLENECKS
} GstPpBottleneck;

/* sum += load; streams are united. */
void gst_pp_load_add (GstPpLoad *sum, const GstPpLoad *load);
GstPpBottleneck gst_pp_diagnose (const GstPpLoad *load);
/* The word, e.g. "upload-bound". */
const gchar *gst_pp_bottleneck_name (GstPpBottleneck bottleneck);

G_END_DECLS

#endif
