/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decoders whose frames stay on the GPU: nvh264dec alone, in the context that it has
 * with the element, then with tensors on the device, then through host memory, 1 to 8
 * of them in one process. An appsrc feeds each with H.264 from memory. In all of them
 * nvh264dec of GStreamer 1.22 copies each frame from its surface to a buffer, and
 * waits for that.
 *
 * The sink waits for a tensor when the next one comes, so that each has been
 * computed, and none is waited for while it is under way.
 *
 * Processor time is that of all threads of the process, the driver's too, between
 * two moments at which all decoders run, over the frames in between.
 *
 * Latency is that of a live pipeline, with one frame under way: from its coming to
 * the element's sink pad, where the decoder hands it over, until the tensor's event
 * has passed, which a CUDA stream would wait for; the streaming thread asks the
 * driver for it all the time, and the next frame comes only then. And until a map
 * that waits on the host has returned, which needs a thread to be woken up.
 */
#include "benchelements.h"
#include "benchjobs.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>

#include "gst/buffers/cuda_memory.h"
#include "gst/cudapreproc/cudapreproc.h"

#include "tests/common/h264feed.h"
#include "tests/common/media.h"

#define CLIP "bunny_1080p_bt709.mp4"
#define SAME_FRAMES 12 /* whose bits are compared: all of the clip */
#define MAX_DECODERS 8
#define LEAST_RATIO 0.98
#define MOST_CPU 0.5     /* of that through host memory */
#define MOST_LATENCY 30. /* microseconds, the median */

static const BenchJob job = { "NV12", 1920, 1080, 640, "letterbox", "float32",
  0 };

/* Not linked. Its context becomes that of the decoder, which would make one of its own
 * else: a GPU gives contexts their time in turns. */
#define CONTEXT "cudapreproc name=context backend=cuda"

typedef struct {
  const gchar *name, *frames;
  const gchar *tensors; /* NULL: the decoder alone */
  GstMapFlags map;
} Way;

enum {
  ALONE,
  DEVICE,
  HOST,
  N_WAYS
};

static const Way ways[N_WAYS] = {
  [ALONE] = { "decoder alone", "video/x-raw(memory:CUDAMemory)", NULL, 0 },
  [DEVICE] = { "device tensors", "video/x-raw(memory:CUDAMemory)",
      "other/tensors(memory:CUDAMemory)", GST_PP_MAP_CUDA },
  [HOST] = { "host memory, host tensors", "video/x-raw", "other/tensors", 0 },
};

typedef struct {
  gdouble rate;                 /* frames a second of all decoders */
  gdouble cpu;                  /* microseconds a frame */
  guint64 bytes_up, bytes_down; /* of all frames */
} Result;

typedef struct {
  const Way *way;
  GstElement *pipeline, *source;
  gint seen; /* atomic */
  GstBuffer *previous;
} Decoder;

static GstElement *
make_pipeline (
    const Way *way, const gchar *more, BenchSinkRender render, gpointer data)
{
  g_autofree gchar *of_job = bench_job_properties (&job);
  g_autofree gchar *element = way->tensors == NULL
      ? g_strdup ("")
      : g_strdup_printf ("cudapreproc name=preproc backend=cuda %s %s ! %s !",
            of_job, more, way->tensors);
  g_autofree gchar *line =
      g_strdup_printf ("appsrc name=source ! nvh264dec ! %s ! %s benchsink "
                       "name=sink %s",
          way->frames, element, way->tensors == NULL ? CONTEXT : "");

  GstElement *pipeline = bench_launch (line, render, data);
  GstElement *context = gst_bin_get_by_name (GST_BIN (pipeline), "context");
  /* Before the decoder asks for one. */
  if (context != NULL)
    gst_element_set_state (context, GST_STATE_READY);
  gst_clear_object (&context);
  return pipeline;
}

static void
on_buffer (GstBuffer *buffer, gpointer data)
{
  Decoder *decoder = data;

  if (decoder->way->tensors != NULL) {
    if (decoder->previous != NULL)
      bench_wait_for_tensor (decoder->previous, decoder->way->map);
    gst_buffer_replace (&decoder->previous, buffer);
  }
  g_atomic_int_inc (&decoder->seen);
}

/* many frames */

static void
start (Decoder *decoder, const Way *way, H264Clip *clip)
{
  *decoder = (Decoder){ .way = way };
  decoder->pipeline = make_pipeline (way, "", on_buffer, decoder);
  decoder->source = gst_bin_get_by_name (GST_BIN (decoder->pipeline), "source");
  h264_feed (decoder->source, clip, -1);
  gst_element_set_state (decoder->pipeline, GST_STATE_PLAYING);
}

static void
finish (Decoder *decoder, Result *result)
{
  GstElement *element =
      gst_bin_get_by_name (GST_BIN (decoder->pipeline), "preproc");

  bench_wait_for_end (decoder->pipeline);
  if (element != NULL) {
    GstStructure *stats = NULL;
    guint64 up = 0, down = 0;
    g_object_get (element, "stats", &stats, NULL);
    gst_structure_get_uint64 (stats, "bytes-up", &up);
    gst_structure_get_uint64 (stats, "bytes-down", &down);
    result->bytes_up += up;
    result->bytes_down += down;
    gst_structure_free (stats);
    gst_object_unref (element);
  }
  gst_element_set_state (decoder->pipeline, GST_STATE_NULL);
  gst_clear_buffer (&decoder->previous);
  gst_object_unref (decoder->source);
  gst_object_unref (decoder->pipeline);
}

/* Waits until all decoders together, or each, have seen so many frames. */
static void
wait_for_frames (Decoder *decoders, gint n, gint frames, gboolean each)
{
  gint seen;

  do {
    /* Rarely: what this takes is counted, too. */
    g_usleep (10000);
    seen = each ? G_MAXINT : 0;
    for (gint d = 0; d < n; d++) {
      const gint its = g_atomic_int_get (&decoders[d].seen);
      seen = each ? MIN (seen, its) : seen + its;
      bench_check (decoders[d].pipeline);
    }
  } while (seen < frames);
}

static gint
count_frames (Decoder *decoders, gint n)
{
  gint frames = 0;

  for (gint d = 0; d < n; d++)
    frames += g_atomic_int_get (&decoders[d].seen);
  return frames;
}

/* Microseconds of processor time of all threads. */
static gdouble
processor_time (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return 1e6 * (gdouble) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
      (gdouble) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static Result
measure (const BenchRun *run, const Way *way, H264Clip *clip, gint n)
{
  Decoder decoders[MAX_DECODERS];
  Result result = { 0 };

  for (gint d = 0; d < n; d++)
    start (&decoders[d], way, clip);
  wait_for_frames (decoders, n, BENCH_WARM_UP, TRUE);
  const gint before = count_frames (decoders, n);
  const gdouble begin = bench_now (), used = processor_time ();
  wait_for_frames (decoders, n, before + run->frames * n, FALSE);
  const gint frames = count_frames (decoders, n) - before;
  result.rate = frames / (bench_now () - begin) * 1e6;
  result.cpu = (processor_time () - used) / frames;
  for (gint d = 0; d < n; d++)
    h264_feed_end (decoders[d].source);
  for (gint d = 0; d < n; d++)
    finish (&decoders[d], &result);
  return result;
}

/* The best of rounds in which the ways take turns. */
static void
bench_number (const BenchRun *run, H264Clip *clip, gint n)
{
  Result best[N_WAYS] = { { 0 } };

  for (gint round = 0; round < BENCH_ROUNDS; round++)
    for (gint w = 0; w < N_WAYS; w++) {
      const Result result = measure (run, &ways[w], clip, n);
      if (result.rate > best[w].rate)
        best[w] = result;
    }
  for (gint w = 0; w < N_WAYS; w++)
    g_print ("  %-9d %-26s %9.0f %8.3f %10.1f %8.2f %12" G_GUINT64_FORMAT
             " %12" G_GUINT64_FORMAT "\n",
        n, ways[w].name, best[w].rate, best[w].rate / best[ALONE].rate,
        best[w].cpu, best[w].cpu / best[HOST].cpu, best[w].bytes_up,
        best[w].bytes_down);
  const gdouble ratio = best[DEVICE].rate / best[ALONE].rate;
  const gdouble cpu = best[DEVICE].cpu / best[HOST].cpu;
  const guint64 bytes = best[DEVICE].bytes_up + best[DEVICE].bytes_down;
  g_print ("  rate at least %.2f of the decoder's: %s; bytes 0: %s; processor "
           "time at most %.1f of host memory's: %s\n",
      LEAST_RATIO, ratio >= LEAST_RATIO ? "reached" : "MISSED",
      bytes == 0 ? "reached" : "MISSED", MOST_CPU,
      cpu <= MOST_CPU ? "reached" : "MISSED");
}

/* one frame at a time */

/* Of the driver, which the program is not linked with. */
static struct {
  int (*push) (gpointer context);
  int (*pop) (gpointer *context);
  int (*query) (gpointer event);
} driver;

static gboolean
load_driver (void)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW);

  if (library == NULL)
    return FALSE;
  *(void **) &driver.push = dlsym (library, "cuCtxPushCurrent_v2");
  *(void **) &driver.pop = dlsym (library, "cuCtxPopCurrent_v2");
  *(void **) &driver.query = dlsym (library, "cuEventQuery");
  return driver.push != NULL && driver.pop != NULL && driver.query != NULL;
}

typedef struct {
  gint seen, frames; /* atomic; behind the warm-up */
  gdouble arrived;
  gdouble *passed, *mapped; /* latencies */
} Single;

static void
wait_for_events (GstBuffer *buffer)
{
  enum {
    NOT_READY = 600
  }; /* CUDA_ERROR_NOT_READY */
  GstCudaPreprocDeviceTensor tensor;
  int result = 0;

  bench_require (gst_cuda_preproc_memory_get_device_tensor (
                     gst_buffer_peek_memory (buffer, 0), &tensor),
      "a tensor on the device", NULL);
  bench_require (driver.push (tensor.context) == 0, "cuCtxPushCurrent", NULL);
  for (guint e = 0; e < tensor.n_events; e++)
    do
      result = driver.query (tensor.events[e]);
    while (result == NOT_READY);
  driver.pop (&(gpointer){ NULL });
  bench_require (result == 0, "cuEventQuery", NULL);
}

static void
on_single (GstBuffer *buffer, gpointer data)
{
  Single *single = data;
  const gint i = g_atomic_int_get (&single->seen) - BENCH_WARM_UP;

  wait_for_events (buffer);
  const gdouble passed = bench_now ();
  bench_wait_for_tensor (buffer, GST_PP_MAP_CUDA);
  if (i >= 0 && i < single->frames) {
    single->passed[i] = passed - single->arrived;
    single->mapped[i] = bench_now () - single->arrived;
  }
  g_atomic_int_inc (&single->seen);
}

static void
bench_single (const BenchRun *run, H264Clip *clip)
{
  Single single = { .frames = run->frames,
    .passed = g_new0 (gdouble, run->frames),
    .mapped = g_new0 (gdouble, run->frames) };
  BenchResult passed, mapped;
  GstElement *pipeline =
      make_pipeline (&ways[DEVICE], "async-depth=0", on_single, &single);
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");

  bench_note_arrivals (pipeline, &single.arrived);
  h264_feed (source, clip, BENCH_WARM_UP + run->frames);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bench_wait_for_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  bench_require (single.seen == BENCH_WARM_UP + run->frames,
      "every frame gives a tensor", NULL);
  bench_sort_latencies (single.passed, run->frames, &passed);
  bench_sort_latencies (single.mapped, run->frames, &mapped);
  g_print ("  one frame under way, us from the sink pad: %6s %6s\n"
           "  %-44s %6.1f %6.1f\n  %-44s %6.1f %6.1f\n"
           "  the event's median at most %.0f: %s\n",
      "p50", "p95", "until the tensor's event has passed", passed.latency[0],
      passed.latency[1], "until it is mapped on the device", mapped.latency[0],
      mapped.latency[1], MOST_LATENCY,
      passed.latency[0] <= MOST_LATENCY ? "reached" : "MISSED");
  gst_object_unref (source);
  gst_object_unref (pipeline);
  g_free (single.passed);
  g_free (single.mapped);
}

/* bits */

static void
on_bits (GstBuffer *buffer, gpointer data)
{
  GstMapInfo map;

  bench_require (gst_buffer_map (buffer, &map, GST_MAP_READ), "map", NULL);
  g_byte_array_append (data, map.data, (guint) map.size);
  gst_buffer_unmap (buffer, &map);
}

static GByteArray *
read_tensors (const Way *way, H264Clip *clip)
{
  GByteArray *bits = g_byte_array_new ();
  GstElement *pipeline = make_pipeline (way, "", on_bits, bits);
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");

  h264_feed (source, clip, SAME_FRAMES);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bench_wait_for_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (source);
  gst_object_unref (pipeline);
  return bits;
}

static void
compare_bits (H264Clip *clip)
{
  GstVideoInfo info;
  pp_plan *plan = bench_job_plan (&job, &info);
  const gsize expected = SAME_FRAMES * pp_plan_tensor_size (plan);
  GByteArray *device = read_tensors (&ways[DEVICE], clip);
  GByteArray *host = read_tensors (&ways[HOST], clip);

  bench_require (device->len == expected && host->len == expected,
      "a tensor for each frame", NULL);
  bench_require (memcmp (device->data, host->data, expected) == 0,
      "tensors on the device are those through host memory", NULL);
  g_print ("  %d tensors on the device equal those through host memory\n",
      SAME_FRAMES);
  g_byte_array_unref (device);
  g_byte_array_unref (host);
  pp_plan_unref (&plan);
}

/* Why they cannot be measured; NULL: they can, and clip is read. */
static gchar *
prepare (const BenchRun *run, H264Clip **clip)
{
  GstElementFactory *factory = gst_element_factory_find ("nvh264dec");
  g_autofree gchar *path = test_media_path (CLIP);
  gchar *reason = NULL;

  if (run->backend != PP_BACKEND_CUDA)
    reason = g_strdup ("the CPU has no decoder");
  else if (!gst_pp_cuda_takes_frames ())
    reason = g_strdup ("built without GStreamer's CUDA library");
  else if (factory == NULL)
    reason = g_strdup ("there is no nvh264dec");
  else if (path == NULL)
    reason = g_strdup (CLIP " is missing: PP_MEDIA names its folder");
  else if (!load_driver ())
    reason = g_strdup ("libcuda.so.1 does not load");
  else
    *clip = h264_clip_read (path, "qtdemux !", &reason);
  gst_clear_object (&factory);
  return reason;
}

void
bench_decoders (const BenchRun *run)
{
  H264Clip *clip = NULL;
  g_autofree gchar *reason = prepare (run, &clip);
  g_autofree gchar *name = bench_job_name (&job);

  if (reason != NULL) {
    g_print ("\nSKIP decoders: %s\n", reason);
    return;
  }
  g_print ("\nnvh264dec: %s, %d frames a decoder\n", name, run->frames);
  compare_bits (clip);
  g_print ("  %-9s %-26s %9s %8s %10s %8s %12s %12s\n", "decoders", "",
      "frames/s", "/ alone", "cpu us/fr.", "/ host", "bytes up", "bytes down");
  bench_number (run, clip, 1);
  bench_number (run, clip, 4);
  bench_number (run, clip, MAX_DECODERS);
  bench_single (run, clip);
  h264_clip_free (clip);
}
