/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decoders of H.264, those of GStreamer's nvcodec with frames in CUDA memory among
 * them: changes of size, seeks, changes between system and CUDA memory, and surfaces
 * for which the decoder waits. Each frame that the decoder gives without the element
 * becomes a tensor. Says SKIP for a decoder that is not there.
 *
 * In GStreamer 1.22 nvh264dec is built on NVIDIA's parser, and nvh264sldec is what is
 * nvh264dec later. Both copy each frame into a buffer of the pool that the element
 * offers, where that is of their context, and wait for the copy. That pool has no
 * limit, so that they wait for surfaces only where a test limits it.
 */

#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "gst/cudapreproc/cudapreproc.h"

#include "tests/common/elementutil.h"
#include "tests/common/media.h"

#define CHANGING "bunny_size_changes.h264"
#define REPEATS 3
#define FILM "bunny_360p_bt709_full.mp4"
#define SEEKS 12
#define SURFACES 2
/* Access units until the kind of memory changes. */
#define MEMORY_TIME 5
/* Kinds of memory, one after the other, in the 12 access units of the film. */
#define THERE_AND_BACK 3
#define REGIONS 3
#define CUDA "memory:CUDAMemory"

static const struct {
  const gchar *name;
  gboolean cuda;
} decoders[] = {
  { "avdec_h264", FALSE },
  { "nvh264dec", TRUE },
  { "nvh264sldec", TRUE },
};

typedef struct {
  const gchar *properties;
  gint regions; /* of a frame; 0: a picture is all of it */
} Way;

static const Way ways[] = {
  { "", 0 },
  { "async-depth=4", 0 },
  { "batch-size=8", 0 },
  { "regions=meta batch-size=8", REGIONS },
};

/* What a decoder gives, and what becomes of it. */
typedef struct {
  const gchar *decoder;
  const Way *way; /* NULL: without the element */
  GstElement *pipeline;
  gint frames, pictures; /* atomic; since the last flush */
  gint limited;          /* atomic: pools */
  /* Of the streaming thread. */
  guint sizes, kinds; /* changes of the frames' height, and of their memory */
  gint height, cuda;
  guint units;
} Run;

/* decoders */

/* FALSE, and a line, where it is missing, or of a GPU and backend is not. */
static gboolean
has_decoder (gint backend, guint d)
{
  if (decoders[d].cuda && !g_str_equal (test_backend (backend), "cuda"))
    return FALSE;
  GstElementFactory *factory = gst_element_factory_find (decoders[d].name);
  if (factory == NULL)
    g_print ("SKIP %s: not there\n", decoders[d].name);
  const gboolean found = factory != NULL;
  gst_clear_object (&factory);
  return found;
}

/* Why it cannot be played; NULL: path is that of the file, and there is a parser.
 * Free path. */
static const gchar *
find_missing (const gchar *file, gchar **path)
{
  static const gchar *const needed[] = { "h264parse", "qtdemux" };

  *path = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    GstElementFactory *factory = gst_element_factory_find (needed[i]);
    if (factory == NULL)
      return needed[i];
    gst_object_unref (factory);
  }
  *path = test_media_path (file);
  return *path == NULL ? file : NULL;
}

/* watching */

static void
on_caps (Run *run, GstEvent *event)
{
  GstVideoInfo info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  fail_unless (gst_video_info_from_caps (&info, caps));
  const gint cuda =
      gst_caps_features_contains (gst_caps_get_features (caps, 0), CUDA);
  run->sizes += info.height != run->height;
  run->kinds += run->kinds == 0 || cuda != run->cuda;
  run->height = info.height;
  run->cuda = cuda;
}

/* Where the decoder's frames arrive. */
static GstPadProbeReturn
on_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;

  (void) pad;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    g_atomic_int_inc (&run->frames);
    if (run->way == NULL || run->way->regions == 0)
      return GST_PAD_PROBE_OK;
    GstBuffer *frame =
        gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
    for (gint r = 0; r < run->way->regions; r++)
      gst_buffer_add_video_region_of_interest_meta (
          frame, "region", 16 * (guint) r, 8, 64, 48);
    info->data = frame;
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS) {
    on_caps (run, info->data);
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_FLUSH_STOP) {
    g_atomic_int_set (&run->frames, 0);
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_tensor (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;

  (void) pad;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstCudaPreprocPicture picture;
    gpointer state = NULL;
    while (gst_cuda_preproc_buffer_next_picture (info->data, &state, &picture))
      g_atomic_int_inc (&run->pictures);
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_FLUSH_STOP) {
    g_atomic_int_set (&run->pictures, 0);
  }
  return GST_PAD_PROBE_OK;
}

#define WATCHED                                                                \
  (GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |           \
      GST_PAD_PROBE_TYPE_EVENT_FLUSH)

/* A pipeline from source to the decoder, whose frames are in memory; way NULL: they
 * end there. The decoder is called dec, what chooses its memory memory. */
static void
make (Run *run, gint backend, guint d, const Way *way, const gchar *source)
{
  const gboolean cuda = decoders[d].cuda;
  g_autofree gchar *element = way == NULL
      ? g_strdup ("identity name=pp")
      : g_strdup_printf ("cudapreproc name=pp width=64 height=48 %s ! "
                         "other/tensors%s",
            way->properties, cuda ? "(" CUDA ")" : "");

  *run = (Run){ .decoder = decoders[d].name, .way = way };
  run->pipeline = test_launch (backend,
      "%s ! %s name=dec ! capsfilter name=memory caps=video/x-raw%s ! %s ! "
      "fakesink name=out sync=false enable-last-sample=false",
      source, run->decoder, cuda ? "(" CUDA ")" : "", element);
  gst_pad_add_probe (
      test_pad (run->pipeline, "pp", "sink"), WATCHED, on_frame, run, NULL);
  gst_pad_add_probe (
      test_pad (run->pipeline, "pp", "src"), WATCHED, on_tensor, run, NULL);
}

/* Waits for the end; the frames that came since the last flush. Each is in a tensor. */
static gint
finish (Run *run)
{
  gst_message_unref (test_pop (run->pipeline, GST_MESSAGE_EOS));
  if (run->way != NULL)
    fail_unless (run->pictures == run->frames * MAX (run->way->regions, 1),
        "%s: %d pictures of %d frames", run->decoder, run->pictures,
        run->frames);
  test_stop (&run->pipeline);
  return run->frames;
}

static void
play (Run *run)
{
  gst_element_set_state (run->pipeline, GST_STATE_PLAYING);
}

/* sizes */

/* The byte stream several times, as one. */
static void
feed (GstElement *pipeline, const gchar *path)
{
  GstAppSrc *source = GST_APP_SRC (test_element (pipeline, "source"));
  gsize size;
  gchar *bytes;

  fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
  GstBuffer *buffer = gst_buffer_new_wrapped (bytes, size);
  for (gint i = 0; i < REPEATS; i++)
    gst_app_src_push_buffer (source, gst_buffer_copy (buffer));
  gst_app_src_end_of_stream (source);
  gst_buffer_unref (buffer);
}

#define STREAM                                                                 \
  "appsrc name=source caps=video/x-h264,stream-format=byte-stream ! h264parse"

static gint
play_sizes (gint backend, guint d, const Way *way, const gchar *path)
{
  Run run;

  make (&run, backend, d, way, STREAM);
  feed (run.pipeline, path);
  play (&run);
  const gint frames = finish (&run);
  fail_unless_equals_int (run.sizes, 3 * REPEATS);
  return frames;
}

/* A decoder may lose frames with each change: as many as without the element. */
GST_START_TEST (test_sizes_change) {
  g_autofree gchar *path = NULL;
  const gchar *missing = find_missing (CHANGING, &path);

  if (missing != NULL)
    g_print ("SKIP sizes: no %s\n", missing);
  for (guint d = 0; d < G_N_ELEMENTS (decoders) && missing == NULL; d++) {
    if (!has_decoder (__i__, d))
      continue;
    const gint frames = play_sizes (__i__, d, NULL, path);
    fail_unless (frames > 0);
    for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
      fail_unless_equals_int (play_sizes (__i__, d, &ways[w], path), frames);
  }
}
GST_END_TEST

/* a film */

typedef void (*PlayFilm) (Run *run);

/* Of each decoder, or only those with frames in CUDA memory: the film by play_film
 * has all frames that it has without the element, and their memory is at least so
 * often of another kind than before; the first counts. */
static void
play_films (gint backend, gboolean cuda_only, guint kinds, PlayFilm play_film)
{
  g_autofree gchar *path = NULL;
  const gchar *missing = find_missing (FILM, &path);

  if (missing != NULL) {
    g_print ("SKIP film: no %s\n", missing);
    return;
  }
  g_autofree gchar *source =
      g_strdup_printf ("filesrc location=\"%s\" ! qtdemux ! h264parse", path);
  for (guint d = 0; d < G_N_ELEMENTS (decoders); d++) {
    Run run;
    if ((cuda_only && !decoders[d].cuda) || !has_decoder (backend, d))
      continue;
    make (&run, backend, d, NULL, source);
    play (&run);
    const gint frames = finish (&run);
    fail_unless (frames > 0);
    for (guint w = 0; w < G_N_ELEMENTS (ways); w++) {
      make (&run, backend, d, &ways[w], source);
      play_film (&run);
      fail_unless_equals_int (finish (&run), frames);
      fail_unless (run.kinds >= kinds, "%u kinds of memory", run.kinds);
    }
  }
}

static void
seek (Run *run, guint percent, GstSeekFlags flags)
{
  gint64 duration = 0;

  fail_unless (
      gst_element_query_duration (run->pipeline, GST_FORMAT_TIME, &duration));
  fail_unless (gst_element_seek_simple (run->pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | flags, duration * percent / 100));
}

/* After some, a frame is waited for. */
static void
play_with_seeks (Run *run)
{
  test_set_state (run->pipeline, GST_STATE_PAUSED);
  play (run);
  for (guint n = 0; n < SEEKS; n++) {
    seek (run, n * 37 % 90,
        n % 2 == 0 ? GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_KEY_UNIT);
    if (n % 3 == 0)
      test_wait_for (g_atomic_int_get (&run->frames) > 0);
  }
  seek (run, 0, GST_SEEK_FLAG_ACCURATE);
}

GST_START_TEST (test_seeks) {
  play_films (__i__, FALSE, 1, play_with_seeks);
}
GST_END_TEST

/* Before an access unit, when the decoder has no buffer: one that changes between
 * taking it and pushing it gives frames that are not where their caps say. */
static GstPadProbeReturn
on_unit (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;

  (void) pad;
  (void) info;
  if (run->units++ % MEMORY_TIME == 0) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (
        run->units / MEMORY_TIME % 2 == 0 ? "video/x-raw(" CUDA ")"
                                          : "video/x-raw");
    g_object_set (test_element (run->pipeline, "memory"), "caps", caps, NULL);
  }
  return GST_PAD_PROBE_OK;
}

static void
play_with_changes (Run *run)
{
  gst_pad_add_probe (test_pad (run->pipeline, "dec", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, on_unit, run, NULL);
  play (run);
}

GST_START_TEST (test_memory_changes) {
  play_films (__i__, TRUE, THERE_AND_BACK, play_with_changes);
}
GST_END_TEST

/* Of the pool that the element offers. */
static GstPadProbeReturn
limit_pool (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstBufferPool *pool = NULL;
  Run *run = data;
  guint size;

  (void) pad;
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION ||
      gst_query_get_n_allocation_pools (query) == 0)
    return GST_PAD_PROBE_OK;
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, NULL, NULL);
  gst_query_set_nth_allocation_pool (query, 0, pool, size, SURFACES, SURFACES);
  gst_clear_object (&pool);
  g_atomic_int_inc (&run->limited);
  return GST_PAD_PROBE_OK;
}

/* It is that pool, so the decoder is in the element's context. */
static GstPadProbeReturn
expect_few (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBufferPool *pool = GST_PAD_PROBE_INFO_BUFFER (info)->pool;
  guint max = 0;

  (void) pad;
  (void) data;
  fail_unless (pool != NULL);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, NULL, NULL, &max);
  gst_structure_free (config);
  fail_unless_equals_int (max, SURFACES);
  return GST_PAD_PROBE_OK;
}

static void
play_with_few (Run *run)
{
  GstPad *pad = test_pad (run->pipeline, "dec", "src");

  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PULL, limit_pool,
      run, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, expect_few, run, NULL);
  play_with_seeks (run);
  fail_unless (g_atomic_int_get (&run->limited) > 0);
}

GST_START_TEST (test_few_surfaces) {
  play_films (__i__, TRUE, 1, play_with_few);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_sizes_change);
  test_add (tcase, test_seeks);
  test_add (tcase, test_memory_changes);
  test_add (tcase, test_few_surfaces);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-decoders", add_tests);
}
