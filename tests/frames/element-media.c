/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Real clips, through whatever decoders are installed: every frame comes out,
 * with its times. The clips are all that the folder PP_MEDIA has, else those of
 * ../shared/media beside the source tree, else of tests/media.
 */

#include <math.h>
#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

/* Frames that each of our files has (media/README.md). */
static const struct {
  const gchar *file;
  guint frames;
} clips[] = {
  { "bunny_1080p_bt709.mp4", 12 },
  { "bunny_1366x768_baseline.mp4", 12 },
  { "bunny_360p_444.mp4", 8 },
  { "bunny_360p_bt709_full.mkv", 12 },
  { "bunny_360p_bt709_full.mp4", 12 },
  { "bunny_360p_gbr.mp4", 8 },
  { "bunny_360p_gray.mp4", 8 },
  { "bunny_360p_vfr.mkv", 40 },
  { "bunny_480_mjpeg420.avi", 12 },
  { "bunny_480_mjpeg422.avi", 12 },
  { "bunny_576i_tff.mp4", 24 },
  { "bunny_641x361_vp9.webm", 8 },
  { "bunny_642x362_10bit_bt2020.mp4", 8 },
  { "bunny_720p_bt601.mp4", 12 },
  { "bunny_720p_orig.mp4", 132 },
  { "bunny_720p_rotate90.mp4", 30 },
  { "bunny_size_changes.h264", 30 },
  { "city_720x405_orig.mkv", 50 },
  { "still_639x479_422.jpg", 1 },
  { "still_639x479_444.jpg", 1 },
  { "still_641x481_420.jpg", 1 },
  { "still_720x405_gray.jpg", 1 },
};

/* 0 for a file of somebody else's. */
static guint
known_frames (const gchar *file)
{
  for (guint i = 0; i < G_N_ELEMENTS (clips); i++)
    if (strcmp (clips[i].file, file) == 0)
      return clips[i].frames;
  return 0;
}

static const gchar *
media_folder (void)
{
  const gchar *const folders[] = { SOURCE_ROOT "/../shared/media",
    SOURCE_ROOT "/tests/media" };
  const gchar *wanted = g_getenv ("PP_MEDIA");

  if (wanted != NULL) {
    fail_unless (g_file_test (wanted, G_FILE_TEST_IS_DIR),
        "PP_MEDIA is no folder: %s", wanted);
    return wanted;
  }
  for (guint f = 0; f < G_N_ELEMENTS (folders); f++)
    if (g_file_test (folders[f], G_FILE_TEST_IS_DIR))
      return folders[f];
  fail ("no folder with clips");
  return NULL;
}

static gchar *
media_path (const gchar *file)
{
  return g_build_filename (media_folder (), file, NULL);
}

/* runs */

/* What passes a pad. */
typedef struct {
  GArray *times;     /* GstClockTime: PTS and duration of each frame, in turn */
  GString *heights;  /* of the frames, where they change */
  GstBuffer *first;  /* a copy of the first frame, or its tensor */
  GstCaps *caps;     /* that it came with */
  guint n_offered;   /* frames in the element's own memory, or on the GPU */
  guint n_rotations; /* tags with an orientation */
  gboolean lossy;    /* their decoder drops some */
} Passed;

static void
note_height (Passed *passed, GstBuffer *tensor)
{
  gchar *height = g_strdup_printf ("%d ", test_meta_int (tensor, "src-height"));

  if (!g_str_has_suffix (passed->heights->str, height))
    g_string_append (passed->heights, height);
  g_free (height);
}

static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  Passed *passed = user;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
    const GstClockTime times[2] = { GST_BUFFER_PTS (buffer),
      GST_BUFFER_DURATION (buffer) };
    g_array_append_vals (passed->times, times, 2);
    GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
    if (gst_memory_is_type (memory, "CudaPreprocHostMemory") ||
        gst_memory_is_type (memory, "gst.cuda.memory"))
      passed->n_offered++;
    if (passed->first == NULL) {
      passed->first = GST_PAD_IS_SRC (pad) ? gst_buffer_ref (buffer)
                                           : gst_buffer_copy_deep (buffer);
      passed->caps = gst_pad_get_current_caps (pad);
    }
    if (GST_PAD_IS_SRC (pad))
      note_height (passed, buffer);
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) ==
      GST_EVENT_TAG) {
    GstTagList *tags;
    gst_event_parse_tag (GST_PAD_PROBE_INFO_EVENT (info), &tags);
    if (gst_tag_list_get_tag_size (tags, GST_TAG_IMAGE_ORIENTATION) > 0)
      passed->n_rotations++;
  }
  return GST_PAD_PROBE_OK;
}

static void
watch (Passed *passed, GstPad *pad)
{
  passed->times = g_array_new (FALSE, FALSE, sizeof (GstClockTime));
  passed->heights = g_string_new (NULL);
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note,
      passed, NULL);
}

static void
clear (Passed *passed)
{
  g_array_unref (passed->times);
  g_string_free (passed->heights, TRUE);
  gst_clear_buffer (&passed->first);
  gst_clear_caps (&passed->caps);
}

static gboolean
is_missing_decoder (const GError *error)
{
  return g_error_matches (
             error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) ||
      g_error_matches (
          error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND);
}

/* openh264 drops the frames that it has when the size changes. */
static gboolean
has_lossy_decoder (GstElement *pipeline)
{
  GstIterator *elements = gst_bin_iterate_all_by_element_factory_name (
      GST_BIN (pipeline), "openh264dec");
  GValue found = G_VALUE_INIT;
  const gboolean lossy =
      gst_iterator_next (elements, &found) == GST_ITERATOR_OK;

  if (lossy)
    g_value_unset (&found);
  gst_iterator_free (elements);
  return lossy;
}

/* Decodes a file to its end, without the element, into memory that caps ask for.
 * FALSE, and a line, where that fails or gives no picture. */
static gboolean
play_to (const gchar *file, const gchar *caps, Passed *plain)
{
  gchar *path = media_path (file);
  GstElement *pipeline = test_launch (0,
      "filesrc location=\"%s\" ! decodebin ! %s ! fakesink name=sink", path,
      caps);
  GstBus *bus = gst_element_get_bus (pipeline);
  GError *error = NULL;

  memset (plain, 0, sizeof *plain);
  watch (plain, test_pad (pipeline, "sink", "sink"));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (
      message != NULL, "%s: never ends, even without the element", file);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  const gboolean played = error == NULL && plain->times->len > 0;
  if (!played)
    g_print ("SKIP %s: %s\n", file, error ? error->message : "no picture");
  g_clear_error (&error);
  gst_message_unref (message);
  gst_object_unref (bus);
  test_stop (&pipeline);
  g_free (path);
  if (!played)
    clear (plain);
  return played;
}

static gboolean
play_plain (const gchar *file, Passed *plain)
{
  return play_to (file, "video/x-raw", plain);
}

/* Fails unless an error, which is taken, is the decoder's: there is none, or it
 * refuses the file without the element, too. */
static void
check_undecodable (GError *error, const gchar *file)
{
  Passed plain;

  if (!is_missing_decoder (error) && play_plain (file, &plain))
    fail ("%s: %s", file, error->message);
  g_print ("SKIP %s: %s\n", file, error->message);
  g_error_free (error);
}

/* Plays a file to its end. FALSE, and a line, where it is not there or nothing
 * here decodes it. Some decoders do not say so: openh264 of interlaced video. */
static gboolean
play_with (gint backend, const gchar *settings, const gchar *file, Passed *in,
    Passed *out)
{
  gchar *path = media_path (file);
  gboolean played = FALSE;

  memset (in, 0, sizeof *in);
  memset (out, 0, sizeof *out);
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_print ("SKIP %s: not there\n", file);
    g_free (path);
    return FALSE;
  }
  GstElement *pipeline = test_launch (backend,
      "filesrc location=\"%s\" ! decodebin ! cudapreproc name=pp %s ! fakesink",
      path, settings);
  watch (in, test_pad (pipeline, "pp", "sink"));
  watch (out, test_pad (pipeline, "pp", "src"));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message =
      test_pop (pipeline, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  GError *error = NULL;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  gst_message_unref (message);
  in->lossy = has_lossy_decoder (pipeline);
  test_stop (&pipeline);
  g_free (path);
  played = error == NULL && in->times->len > 0;
  if (error != NULL)
    check_undecodable (error, file);
  else if (!played)
    g_print ("SKIP %s: its decoder gives no frame\n", file);
  if (!played) {
    clear (in);
    clear (out);
  }
  return played;
}

static gboolean
play (gint backend, const gchar *file, Passed *in, Passed *out)
{
  return play_with (
      backend, "width=640 height=640 fit=letterbox", file, in, out);
}

/* What is ours may be skipped for want of a decoder when it is played. */
static gboolean
is_clip (const gchar *file)
{
  Passed plain;

  if (known_frames (file) > 0)
    return TRUE;
  if (!play_plain (file, &plain))
    return FALSE;
  clear (&plain);
  return TRUE;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

/* The files that the tests walk, by name: of PP_MEDIA all that there are,
 * else ours. To be unreffed. */
static GPtrArray *
clip_files (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);

  if (g_getenv ("PP_MEDIA") == NULL) {
    for (guint i = 0; i < G_N_ELEMENTS (clips); i++)
      g_ptr_array_add (files, g_strdup (clips[i].file));
    return files;
  }
  GDir *folder = g_dir_open (media_folder (), 0, NULL);
  fail_unless (folder != NULL, "PP_MEDIA cannot be read");
  for (const gchar *file; (file = g_dir_read_name (folder)) != NULL;) {
    gchar *path = media_path (file);
    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      g_ptr_array_add (files, g_strdup (file));
    g_free (path);
  }
  g_dir_close (folder);
  g_ptr_array_sort (files, compare_names);
  return files;
}

/* tests */

static void
expect_times (const GArray *is, const GArray *should, const gchar *file,
    const gchar *what)
{
  fail_unless (is->len == should->len, "%s: %u frames %s of %u", file,
      is->len / 2, what, should->len / 2);
  fail_unless (
      memcmp (is->data, should->data, is->len * sizeof (GstClockTime)) == 0,
      "%s: times of frames that %s differ", file, what);
}

static gboolean
is_cuda (const GstCaps *caps)
{
  return gst_caps_features_contains (
      gst_caps_get_features (caps, 0), "memory:CUDAMemory");
}

/* Fails unless the decoder gives as few frames without the element, into memory of
 * the same kind: some lose frames where the size changes. */
static void
check_decoder_loses (const gchar *file, const Passed *in)
{
  Passed plain;

  fail_unless (play_to (file,
      is_cuda (in->caps) ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw",
      &plain));
  fail_unless (plain.times->len == in->times->len,
      "%s: %u frames came, but %u without the element", file,
      in->times->len / 2, plain.times->len / 2);
  g_print ("%s: its decoder gives %u frames\n", file, in->times->len / 2);
  clear (&plain);
}

/* Whether it was played. */
static gboolean
check_known_clip (gint backend, const gchar *file)
{
  const guint frames = known_frames (file);
  Passed in, out;

  if (!play (backend, file, &in, &out))
    return FALSE;
  fail_unless (in.times->len <= 2 * frames, "%s: %u frames came, not %u", file,
      in.times->len / 2, frames);
  if (in.times->len < 2 * frames && !in.lossy)
    check_decoder_loses (file, &in);
  expect_times (out.times, in.times, file, "left");
  clear (&in);
  clear (&out);
  return TRUE;
}

/* A file that nothing is known about: as many frames as without the element. */
static gboolean
check_unknown_clip (gint backend, const gchar *file)
{
  Passed plain, in, out;

  if (!play_plain (file, &plain))
    return FALSE;
  fail_unless (play (backend, file, &in, &out),
      "%s: does not play with the element", file);
  if (!in.lossy)
    expect_times (in.times, plain.times, file, "came");
  expect_times (out.times, in.times, file, "left");
  clear (&plain);
  clear (&in);
  clear (&out);
  return TRUE;
}

GST_START_TEST (test_every_clip) {
  GPtrArray *files = clip_files ();
  guint n_played = 0;

  for (guint i = 0; i < files->len; i++) {
    const gchar *file = g_ptr_array_index (files, i);
    n_played += known_frames (file) > 0 ? check_known_clip (__i__, file)
                                        : check_unknown_clip (__i__, file);
  }
  fail_unless (n_played > 0 || g_getenv ("PP_MEDIA") == NULL,
      "no clip of PP_MEDIA could be played");
  g_print ("%u clips played\n", n_played);
  g_ptr_array_unref (files);
}
GST_END_TEST

/* Tensors that a digest is made of: enough for every slot to be used again. */
#define DIGESTED 12

typedef struct {
  GChecksum *checksum;
  gint tensors; /* atomic */
} Digest;

static void
add_to_digest (GstElement *sink, GstBuffer *tensor, GstPad *pad, gpointer user)
{
  Digest *digest = user;
  GstMapInfo map;

  (void) sink;
  (void) pad;
  if (g_atomic_int_get (&digest->tensors) == DIGESTED)
    return;
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  g_checksum_update (digest->checksum, map.data, (gssize) map.size);
  gst_buffer_unmap (tensor, &map);
  g_atomic_int_inc (&digest->tensors);
}

/* Until enough tensors came or the file ended; the error, if that ended it. */
static GError *
wait_for_digest (GstElement *pipeline, Digest *digest)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = NULL;
  GError *error = NULL;

  while (message == NULL && g_atomic_int_get (&digest->tensors) < DIGESTED)
    message = gst_bus_timed_pop_filtered (
        bus, GST_MSECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_object_unref (bus);
  if (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  gst_clear_message (&message);
  return error;
}

/* The digest of a file's first tensors, or NULL where it cannot be played; to be
 * freed. offered: the decoder may write to the element's memory. */
static gchar *
digest_of (
    gint backend, const gchar *file, gboolean offered, const gchar *settings)
{
  gchar *path = media_path (file), *text = NULL;

  if (g_file_test (path, G_FILE_TEST_EXISTS)) {
    Digest digest = { g_checksum_new (G_CHECKSUM_SHA1), 0 };
    GstElement *pipeline = test_launch (backend,
        "filesrc location=\"%s\" ! decodebin ! identity drop-allocation=%d ! "
        "cudapreproc %s ! fakesink name=sink sync=false signal-handoffs=true",
        path, !offered, settings);
    g_signal_connect (test_element (pipeline, "sink"), "handoff",
        G_CALLBACK (add_to_digest), &digest);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    GError *error = wait_for_digest (pipeline, &digest);
    test_stop (&pipeline);
    if (error != NULL)
      check_undecodable (error, file);
    else
      text = g_strdup (g_checksum_get_string (digest.checksum));
    g_checksum_free (digest.checksum);
  }
  g_free (path);
  return text;
}

/* The CPU's bits, whatever the backend, the number of streams and the way that
 * frames take: in the offered memory, or copied. */
GST_START_TEST (test_same_bits) {
  static const gchar *const settings[] = {
    "width=640 height=640 fit=letterbox",
    "width=512 height=512 fit=letterbox type=float16 layout=nhwc",
    "width=224 height=224 preset=imagenet",
    "width=320 height=192 denoise=median method=bicubic channels=bgr",
  };
  static const struct {
    gboolean offered;
    const gchar *streams;
  } ways[] = { { TRUE, "streams=1" }, { TRUE, "" }, { FALSE, "" } };

  GPtrArray *files = clip_files ();

  for (guint i = 0; i < files->len; i++) {
    const gchar *file = g_ptr_array_index (files, i);
    const guint n_settings = is_clip (file) ? G_N_ELEMENTS (settings) : 0;
    for (guint s = 0; s < n_settings; s++) {
      gchar *expected = digest_of (0, file, TRUE, settings[s]);
      for (guint w = 0; w < G_N_ELEMENTS (ways) && expected != NULL; w++) {
        gchar *line = g_strdup_printf ("%s %s", settings[s], ways[w].streams);
        gchar *found = digest_of (__i__, file, ways[w].offered, line);
        fail_unless (
            g_strcmp0 (found, expected) == 0, "%s: %s: other bits", file, line);
        g_free (found);
        g_free (line);
      }
      g_free (expected);
    }
  }
  g_ptr_array_unref (files);
}
GST_END_TEST

/* Decoders write where the device reads, which NVDEC does anyway. */
GST_START_TEST (test_decoders_take_the_offer) {
  static const gchar *const files[] = { "bunny_1080p_bt709.mp4",
    "bunny_480_mjpeg420.avi", "still_641x481_420.jpg" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    Passed in, out;

    if (!play (__i__, files[i], &in, &out))
      continue;
    fail_unless (in.n_offered == in.times->len / 2,
        "%s: %u of %u frames are where the device reads", files[i],
        in.n_offered, in.times->len / 2);
    clear (&in);
    clear (&out);
  }
}
GST_END_TEST

/* The size changes twice within the stream. */
GST_START_TEST (test_size_changes) {
  Passed in, out;

  if (!play (__i__, "bunny_size_changes.h264", &in, &out))
    return;
  fail_unless_equals_string (out.heights->str, "360 720 480 ");
  clear (&in);
  clear (&out);
}
GST_END_TEST

GST_START_TEST (test_orientation_passes) {
  Passed in, out;

  if (!play (__i__, "bunny_720p_rotate90.mp4", &in, &out))
    return;
  fail_unless (in.n_rotations > 0, "the decoder sent no orientation");
  fail_unless_equals_int (out.n_rotations, in.n_rotations);
  clear (&in);
  clear (&out);
}
GST_END_TEST

/* Between a float32 tensor's channels. */
static gfloat
largest_difference (GstBuffer *tensor)
{
  GstMapInfo map;
  gfloat largest = 0;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  const gsize plane = map.size / 3 / sizeof (gfloat);
  const gfloat *red = (const gfloat *) (gconstpointer) map.data;
  for (gsize i = 0; i < plane; i++)
    for (gsize c = 1; c < 3; c++)
      largest = MAX (largest, fabsf (red[i] - red[c * plane + i]));
  gst_buffer_unmap (tensor, &map);
  return largest;
}

/* Chroma is neutral: red, green and blue are equal, whatever the luma. */
GST_START_TEST (test_gray_clip) {
  static const gchar *const files[] = { "bunny_360p_gray.mp4",
    "still_720x405_gray.jpg" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    Passed in, out;

    if (!play (__i__, files[i], &in, &out))
      continue;
    fail_unless (largest_difference (out.first) < 1e-6f, "%s: %g", files[i],
        (gdouble) largest_difference (out.first));
    clear (&in);
    clear (&out);
  }
}
GST_END_TEST

/* What the luma code of black is, and how far above it white is. */
typedef struct {
  gint black, range;
  gdouble weight[3]; /* of red, green and blue in luma */
} Levels;

/* By the caps' own text where there is one: GstVideoInfo forgets the range with
 * an unknown matrix, which only gray clips have here, whose channels are equal. */
static Levels
levels_of (GstCaps *caps)
{
  const gchar *text = gst_structure_get_string (
      gst_caps_get_structure (caps, 0), "colorimetry");
  gdouble kr = 0.299, kb = 0.114;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  GstVideoColorimetry colour = info.colorimetry;
  fail_unless (
      text == NULL || gst_video_colorimetry_from_string (&colour, text));
  gst_video_color_matrix_get_Kr_Kb (colour.matrix, &kr, &kb);
  const gboolean full = colour.range == GST_VIDEO_COLOR_RANGE_0_255;
  return (Levels){ full ? 0 : 16, full ? 255 : 219, { kr, 1 - kr - kb, kb } };
}

/* The luma of a pixel of a float32 tensor, of which a channel has plane
 * elements; negative where one is clamped. */
static gdouble
luma_of (const gfloat *pixel, gsize plane, const gdouble weight[3])
{
  gdouble luma = 0;

  for (gsize c = 0; c < 3; c++) {
    if (pixel[c * plane] <= 0 || pixel[c * plane] >= 1)
      return -1;
    luma += weight[c] * pixel[c * plane];
  }
  return luma;
}

/* The most that a tensor's luma is off from its frame's; pixel on pixel. */
static gdouble
luma_is_off (const Passed *in, const Passed *out, const Levels *levels)
{
  GstVideoFrame frame;
  GstVideoInfo info;
  GstMapInfo map;
  gdouble off = 0;
  gsize n = 0;

  fail_unless (gst_video_info_from_caps (&info, in->caps));
  fail_unless (gst_video_frame_map (&frame, &info, in->first, GST_MAP_READ));
  fail_unless (gst_buffer_map (out->first, &map, GST_MAP_READ));
  const gfloat *red = (const gfloat *) (gconstpointer) map.data;
  const gint width = info.width, height = info.height;
  fail_unless_equals_int (map.size, (gsize) width * height * 3 * 4);
  for (gint i = 0; i < width * height; i++) {
    const guint8 *row = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
    row += (gsize) (i / width) * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    const gdouble luma =
        luma_of (red + i, (gsize) width * height, levels->weight);
    const gdouble code = luma * levels->range + levels->black;
    if (luma < 0)
      continue;
    n++;
    off = MAX (off, fabs (code - row[i % width]));
  }
  gst_buffer_unmap (out->first, &map);
  gst_video_frame_unmap (&frame);
  fail_unless (n > (gsize) width * height / 4, "almost all is clamped");
  return off;
}

/* One stream in two containers, whose caps say full and limited range, and
 * others: the caps are followed, to the code. */
GST_START_TEST (test_range_is_as_caps_say) {
  static const gchar *const files[] = { "bunny_360p_bt709_full.mkv",
    "bunny_360p_bt709_full.mp4", "bunny_360p_gray.mp4",
    "still_720x405_gray.jpg", "bunny_641x361_vp9.webm" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    Passed in, out;

    if (!play_with (__i__, "type=float32", files[i], &in, &out))
      continue;
    const Levels levels = levels_of (in.caps);
    const gdouble off = luma_is_off (&in, &out, &levels);
    fail_unless (off < 0.01, "%s: not %d to %d, but off by %g codes", files[i],
        levels.black, levels.black + levels.range, off);
    clear (&in);
    clear (&out);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_every_clip);
  test_add (tcase, test_same_bits);
  test_add (tcase, test_decoders_take_the_offer);
  test_add (tcase, test_size_changes);
  test_add (tcase, test_orientation_passes);
  test_add (tcase, test_gray_clip);
  test_add (tcase, test_range_is_as_caps_say);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-media", add_tests);
}
