/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the benchmark measures, and how: each function times one way of doing one
 * job and returns microseconds a frame. All times of a table are of one run.
 */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include <gst/video/video.h>

#include "kernels/preproc.h"

#define BENCH_MAX_STREAMS 4
#define BENCH_ROUNDS 3  /* best of */
#define BENCH_BUFFERS 8 /* frames taking turns, so that none stays in a cache */
#define BENCH_WARM_UP 96 /* frames before the clock starts */
/* Of frames on a device, and of tensors there, as many take turns as have these
 * bytes together: several times a GPU's cache. */
#define BENCH_DEVICE_BYTES ((gsize) 256 << 20)

typedef struct {
  const gchar *format;
  gint width, height; /* of the frame */
  gint target;        /* the tensor's width and height */
  const gchar *fit, *type;
  gint gaussian;     /* size, 0: none */
  gboolean pageable; /* frames in ordinary memory */
  gboolean area;     /* method area instead of bilinear */
  gint recycled;     /* least frames taking turns in a pipeline */
  gint batch;        /* pictures of a tensor; 0: 1 */
  /* Of pipelines only. */
  gint regions; /* each frame's pictures, see bench_region; 0: the frame */
  /* For each region there is a frame with a crop meta, in place of one with a meta
   * for each region. */
  gboolean one_by_one;
  const gchar *direction; /* the property video-direction; NULL: upright */
  /* On a GPU. */
  gboolean on_device;    /* frames lie on it */
  gboolean tensors_stay; /* tensors stay on it; a pipeline's sink takes them and
                          * waits for the last one only */
} BenchJob;

/* Where the jobs run, and on how many frames. */
typedef struct {
  pp_backend_id backend;
  const gchar *backend_name;
  gint frames;
  const gchar *only; /* of the lists, those with this in their names; or NULL */
} BenchRun;

gboolean bench_is_wanted (const BenchRun *run, const gchar *name);

/* A failure here is a broken machine or build, not a result: says so and exits. */
void bench_require (
    gboolean condition, const gchar *what, const pp_error *error);
gdouble bench_now (void); /* microseconds */
void bench_fill (guint8 *data, gsize size, guint seed);
/* The region i of a frame of 1080p, another one for each frame: 60 to 240 pixels
 * wide and 120 to 360 high. */
GstVideoRectangle bench_region (guint64 frame, guint i);
/* Tensors that the job makes of a frame: 1, or with one_by_one one a region. */
gint bench_job_tensors (const BenchJob *job);
/* Frames that it makes a tensor of: 1, or as many as a batch has. */
gint bench_job_frames (const BenchJob *job);
/* How many of so many bytes take turns: wanted, or BENCH_DEVICE_BYTES on a GPU. */
gint bench_job_turns (gboolean on_device, gsize size, gint wanted);
/* How many of its frames take turns in a pipeline. */
gint bench_job_recycled (const BenchJob *job);
gchar *bench_job_name (const BenchJob *job);
GstCaps *bench_job_caps (const BenchJob *job);
/* The element's properties, as on a launch line; free it. */
gchar *bench_job_properties (const BenchJob *job);
/* The plan that these make; fills info for the job's caps. */
pp_plan *bench_job_plan (const BenchJob *job, GstVideoInfo *info);

/* Pinned copies, up bytes up and down bytes down a frame, either of which may be 0,
 * no kernel, on the best of 1 to 4 streams; and one such pass waited for. CUDA
 * only. */
typedef struct {
  gdouble time; /* a frame */
  gint streams; /* that gave it */
  gdouble latency;
} BenchLimit;
BenchLimit bench_limit (const BenchRun *run, gsize up, gsize down);

/* What the engine did for a job. */
typedef struct {
  gdouble time;                     /* a frame, of the best round */
  gdouble mean;                     /* a frame, of all rounds; the engine's */
  gdouble upload, kernel, download; /* means of the stages, of all rounds */
  gdouble latency[3];               /* p50, p95, p99, one frame at a time */
  gsize bytes_up, bytes_down;       /* a frame */
} BenchResult;

/* A round's time a frame. */
void bench_add_round (BenchResult *result, gdouble time);
/* Makes means of the sums that the stages are of frames. */
void bench_mean_stages (BenchResult *result, gint frames);
/* Sorts one latency a frame; sets result's. */
void bench_sort_latencies (gdouble *latencies, gint n, BenchResult *result);

/* Frames as fast as they go; each waited for; each waited for and urgent. */
typedef enum {
  BENCH_OVERLAPPED,
  BENCH_SERIAL,
  BENCH_URGENT
} BenchMode;
BenchResult bench_engine (
    const BenchRun *run, const BenchJob *job, gint streams, BenchMode mode);
/* The same work without the engine: one stream, whole frames, and a wait after
 * each stage. CUDA only. */
BenchResult bench_stage_by_stage (const BenchRun *run, const BenchJob *job);

/* Through a pipeline, or as many at once as pipelines says, each with a thread of
 * its own: the time is wall time over the frames of all. serial: each frame is
 * waited for, and urgent, which is what the element makes of async-depth=0;
 * latencies are from a frame's coming to the element until its tensor is mapped.
 * streams 0: automatic. */
BenchResult bench_pipeline (const BenchRun *run, const BenchJob *job,
    gint streams, gboolean serial, gint pipelines);
/* Frames of so many sources through one cudapreprocmux. */
BenchResult bench_mux (const BenchRun *run, const BenchJob *job, gint sources);

/* Tables of batches, regions and several streams. */
void bench_batches (const BenchRun *run);
void bench_regions (const BenchRun *run);
void bench_cameras (const BenchRun *run);
/* Tables of frames and tensors that stay on a GPU, from the source's memory and
 * from decoders. Say SKIP where there is none. */
void bench_device (const BenchRun *run);
void bench_decoders (const BenchRun *run);

#endif
