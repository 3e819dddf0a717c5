/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The diagnosis: which part limits the frame rate, in one word. It is a pure
 * function of a few sums. diagnosis.c has the rules, the README the remedies.
 */
#ifndef GST_PP_DIAGNOSIS_H
#define GST_PP_DIAGNOSIS_H

#include <glib.h>

G_BEGIN_DECLS

/* The stages of a job on the device. */
typedef enum {
  GST_PP_STAGE_UPLOAD,
  GST_PP_STAGE_KERNEL,
  GST_PP_STAGE_DOWNLOAD,
  GST_PP_N_STAGES
} GstPpStage;

/* Where the streaming thread can be. */
typedef enum {
  GST_PP_PLACE_SOURCE,   /* upstream: making the next frame or waiting for it */
  GST_PP_PLACE_ELEMENT,  /* here: submitting, or waiting for the device */
  GST_PP_PLACE_CONSUMER, /* downstream: in a push */
  GST_PP_N_PLACES
} GstPpPlace;

/* Sums over consecutive frames. Times in microseconds. */
typedef struct {
  guint64 frames;
  guint64 bytes_up, bytes_staged;
  guint streams; /* bit i: stream i was used */
  /* How many streams can run at once. On the CPU, where a stream is a thread,
   * the number of processors; 0 on a GPU, which all streams share. */
  guint processors;
  /* on the device */
  gdouble wall;                     /* elapsed time */
  gdouble busy;                     /* elapsed time with any job under way */
  gdouble total[GST_PP_N_STAGES];   /* of all jobs */
  gdouble covered[GST_PP_N_STAGES]; /* elapsed time with any job in the stage */
  /* on the host */
  gdouble latency;                /* of all jobs, from submission to the end */
  gdouble place[GST_PP_N_PLACES]; /* the streaming thread's time */
  gdouble waited;                 /* readers' time in maps of tensors */
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

/* Adds load to sum: numbers are added, sets of streams are united. */
void gst_pp_load_add (GstPpLoad *sum, const GstPpLoad *load);
GstPpBottleneck gst_pp_diagnose (const GstPpLoad *load);
/* The word, e.g. "upload-bound"; static. */
const gchar *gst_pp_bottleneck_name (GstPpBottleneck bottleneck);

G_END_DECLS

#endif
