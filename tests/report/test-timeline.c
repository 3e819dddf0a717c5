/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * timeline-location: files from made-up times and from pipelines on every
 * backend that opens here, read by Python's parsers, and paths that cannot be
 * written.
 * Arguments: checktimeline.py; a folder to leave the files in, else they are
 * removed.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/common/expect.h"
#include "gst/cudapreproc.h"
#include "gst/report/timeline.h"

#define PATIENCE (30 * GST_SECOND)

static const gchar *script;
static gchar *folder, *python;

static gchar *
path_of (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

/* Runs the checker, unless there is no Python. */
static void
check_file (const gchar *name, guint recorded, guint frames, gint streams,
    gint64 longest)
{
  g_autofree gchar *path = path_of (name);
  gchar *output = NULL;
  gint status = 0;
  GError *error = NULL;

  EXPECT (g_file_test (path, G_FILE_TEST_IS_REGULAR), "no %s", path);
  if (python == NULL)
    return;
  g_autofree gchar *command =
      g_strdup_printf ("%s %s %s %u %u %d %" G_GINT64_FORMAT, python, script,
          path, recorded, frames, streams, longest);
  EXPECT (g_spawn_command_line_sync (command, NULL, &output, &status, &error),
      "%s: %s", command, error->message);
  EXPECT (status == 0, "%s: %s", command, output);
  g_free (output);
}

/* A device as made-up as its times: what comes to a copy engine waits for what
 * is in it. */
typedef struct {
  gint streams;
  gdouble
      length[GST_PP_N_STAGES]; /* microseconds, when nothing is in the way */
  gdouble pause;               /* from submission to submission */
  gsize bytes_up, bytes_down;
} Device;

static void
add_frames (GstPpTimeline *timeline, const Device *device, guint frames)
{
  gdouble stream_free[PP_MAX_STREAMS] = { 0 };
  gdouble stage_free[GST_PP_N_STAGES] = { 0 };

  for (guint i = 0; i < frames; i++) {
    const gint stream = (gint) (i % (guint) device->streams);
    pp_job_info info = { .sequence = i,
      .stream = stream,
      .streams_in_use = device->streams,
      .bytes_up = device->bytes_up,
      .bytes_down = device->bytes_down };
    gdouble edge[GST_PP_N_STAGES + 1];

    /* A run does not begin when the device was opened. */
    edge[0] = MAX (1e6 + device->pause * i, stream_free[stream]);
    for (gint s = 0; s < GST_PP_N_STAGES; s++) {
      edge[s + 1] = MAX (edge[s], stage_free[s]) + device->length[s];
      stage_free[s] = edge[s + 1];
    }
    stream_free[stream] = edge[GST_PP_N_STAGES];
    info.times = (pp_times){ edge[0], edge[1], edge[2], edge[3] };
    gst_pp_timeline_add (timeline, &info);
  }
}

static void
test_made_up (void)
{
  static const struct {
    const gchar *name;
    Device device;
    guint frames;
    GstPpTimelineLabels labels;
  } cases[] = {
    /* the H200's times for 1080p RGB to float32, whole frames */
    { "h200", { 3, { 110, 4, 50 }, 0, 6220800, 4915200 }, 128,
        { "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "upload-bound" } },
    { "h200-two", { 2, { 110, 4, 50 }, 0, 6220800, 4915200 }, 128,
        { "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "upload-bound" } },
    { "one-stream", { 1, { 110, 4, 50 }, 0, 6220800, 4915200 }, 3,
        { "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "one-stream" } },
    { "camera", { 4, { 110, 4, 50 }, 33333, 6220800, 4915200 }, 5000,
        { "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "source-too-slow" } },
    { "many", { 16, { 12, 90, 12 }, 5, 6220800, 4915200 }, 200000,
        { "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "kernel-bound" } },
    { "none", { 1, { 0 }, 0, 0, 0 }, 0,
        { "a \"quoted\" \\ <element> & a very long name of it\t",
            "cpu: <a device> with a name that is longer than the picture is "
            "wide, and so long that it has to be cut off somewhere",
            "none" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    static const gchar *const endings[] = { "json", "svg" };
    for (guint e = 0; e < G_N_ELEMENTS (endings); e++) {
      g_autofree gchar *name =
          g_strdup_printf ("%s.%s", cases[i].name, endings[e]);
      g_autofree gchar *path = path_of (name);
      gchar *reason = NULL;
      GstPpFault fault;
      GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

      EXPECT (timeline != NULL, "%s", reason);
      if (timeline == NULL)
        return;
      add_frames (timeline, &cases[i].device, cases[i].frames);
      EXPECT (gst_pp_timeline_write (timeline, &cases[i].labels, &reason), "%s",
          reason);
      check_file (name, MIN (cases[i].frames, GST_PP_TIMELINE_FRAMES),
          cases[i].frames, cases[i].device.streams, G_MAXINT32);
      gst_pp_timeline_free (timeline);
    }
  }
}

/* No name makes a file that a parser refuses. What XML cannot have is replaced,
 * and what it can have stays. */
static void
test_names (void)
{
  static const gchar *const endings[] = { "json", "svg" };
  /* \001 to \037, in two lots that the heading has room for, and DEL. */
  const GstPpTimelineLabels labels = {
    "\001\002\003\004\005\006\007\010\t\n\013\014\r\016\017\020|",
    "\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037|\177<&>\"'|\xc2\xb5",
    "none"
  };

  for (guint e = 0; e < G_N_ELEMENTS (endings); e++) {
    g_autofree gchar *name = g_strconcat ("names.", endings[e], NULL);
    g_autofree gchar *path = path_of (name);
    gchar *reason = NULL;
    GstPpFault fault;
    GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

    EXPECT (gst_pp_timeline_write (timeline, &labels, &reason), "%s", reason);
    check_file (name, 0, 0, 1, G_MAXINT32);
    gst_pp_timeline_free (timeline);
  }

  /* Also where there is no parser. */
  g_autofree gchar *path = path_of ("names.svg");
  g_autofree gchar *text = NULL;
  EXPECT (g_file_get_contents (path, &text, NULL, NULL), "no %s", path);
  EXPECT (strstr (text, ">????????\t\n??\r???| on ???????????????|") != NULL &&
          strstr (text, "|\xc2\xb5</text>") != NULL,
      "%s", text);
}

/* A decimal comma is not JSON. */
static void
test_locale (void)
{
  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL)
    g_print ("SKIP locale: de_DE.UTF-8 is not installed\n");
  GString *text = g_string_new (NULL);
  gst_pp_timeline_append_number (text, 1234.5, 2);
  EXPECT (strcmp (text->str, "1234.50") == 0, "%s", text->str);
  g_string_free (text, TRUE);
  setlocale (LC_NUMERIC, "C");
}

/* An event's time is rounded, so a frame may seem to start before the one
 * before it on the stream ended. */
static void
test_rounded_times (void)
{
  g_autofree gchar *path = path_of ("rounded.json");
  const GstPpTimelineLabels labels = { "a", "b", "none" };
  gchar *reason = NULL;
  GstPpFault fault;
  GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

  for (guint i = 0; i < 10; i++) {
    const pp_job_info info = { .sequence = i,
      .times = { i * 10.0, i * 10 + 4.0, i * 10 + 8.0, i * 10 + 10.5 } };
    gst_pp_timeline_add (timeline, &info);
  }
  EXPECT (gst_pp_timeline_write (timeline, &labels, &reason), "%s", reason);
  check_file ("rounded.json", 10, 10, 1, 101);
  gst_pp_timeline_free (timeline);
}

/* Each stage has its own bytes; frames after the first file come into the next.
 */
static void
test_bytes (void)
{
  static const gchar *const spans[] = {
    "\"cat\":\"upload\",\"pid\":1,\"tid\":1,\"ts\":0.000,\"dur\":10.000,"
    "\"args\":{\"frame\":0,\"stream\":0,\"bytes\":1000}",
    "\"cat\":\"kernel\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"dur\":3.000,"
    "\"args\":{\"frame\":0,\"stream\":0,\"bytes\":0}",
    "\"cat\":\"download\",\"pid\":1,\"tid\":3,\"ts\":13.000,\"dur\":7.000,"
    "\"args\":{\"frame\":0,\"stream\":0,\"bytes\":100}",
  };
  const Device device = { 1, { 10, 3, 7 }, 0, 1000, 100 };
  const GstPpTimelineLabels labels = { "", "", "" };
  g_autofree gchar *path = path_of ("bytes.json");
  g_autofree gchar *text = NULL;
  gchar *reason = NULL;
  GstPpFault fault;
  GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

  add_frames (timeline, &device, 1);
  EXPECT (gst_pp_timeline_write (timeline, &labels, &reason), "%s", reason);
  add_frames (timeline, &device, 1);
  EXPECT (gst_pp_timeline_write (timeline, &labels, &reason), "%s", reason);
  gst_pp_timeline_free (timeline);
  EXPECT (g_file_get_contents (path, &text, NULL, NULL), "no %s", path);
  EXPECT (strstr (text, "\"frames\":2,") != NULL, "%s", text);
  for (guint s = 0; s < G_N_ELEMENTS (spans); s++)
    EXPECT (strstr (text, spans[s]) != NULL, "no %s in %s", spans[s], text);
}

/* pipelines */

static GstElement *
launch (const gchar *backend, const gchar *source, const gchar *name)
{
  g_autofree gchar *path = path_of (name);
  g_autofree gchar *line = g_strdup_printf (
      "%s ! video/x-raw,format=RGB,width=320,height=240 ! cudapreproc "
      "name=preproc backend=%s width=160 height=160 fit=letterbox streams=2 "
      "timeline-location=\"%s\" ! fakesink name=sink sync=false",
      source, backend, path);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  return pipeline;
}

/* The next message of these types; NULL when none comes. */
static GstMessage *
pop (GstElement *pipeline, GstMessageType types)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, PATIENCE, types);

  gst_object_unref (bus);
  return message;
}

static void
stop (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* Written when EOS comes out, and as a whole: over what was there. */
static void
test_at_eos (const gchar *backend, const gchar *ending)
{
  g_autofree gchar *name = g_strdup_printf ("%s-eos.%s", backend, ending);
  g_autofree gchar *path = path_of (name);
  GstElement *pipeline =
      launch (backend, "videotestsrc num-buffers=50 pattern=black", name);
  const gint64 start = g_get_monotonic_time ();

  g_file_set_contents (path, "old", -1, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = pop (pipeline, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  EXPECT (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS,
      "no EOS");
  gst_clear_message (&message);
  check_file (name, 50, 50, 2, g_get_monotonic_time () - start);

  /* Stop has nothing to add. */
  g_autofree gchar *aside = g_strconcat (path, ".aside", NULL);
  g_rename (path, aside);
  stop (pipeline);
  EXPECT (!g_file_test (path, G_FILE_TEST_EXISTS), "written again at stop");
  g_rename (aside, path);
}

/* A pipeline that has no end. */
static void
test_at_stop (const gchar *backend, const gchar *ending)
{
  g_autofree gchar *name = g_strdup_printf ("%s-stop.%s", backend, ending);
  g_autofree gchar *path = path_of (name);
  GstElement *pipeline = launch (backend, "videotestsrc pattern=black", name);
  GstElement *preproc = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");
  const gint64 start = g_get_monotonic_time ();
  guint64 frames = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (frames < 100 && g_get_monotonic_time () < start + 30000000) {
    GstStructure *stats;
    g_object_get (preproc, "stats", &stats, NULL);
    gst_structure_get_uint64 (stats, "frames", &frames);
    gst_structure_free (stats);
    g_usleep (1000);
  }
  EXPECT (!g_file_test (path, G_FILE_TEST_EXISTS), "written before the end");
  gst_element_set_state (pipeline, GST_STATE_READY);
  GstStructure *stats;
  g_object_get (preproc, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "frames", &frames);
  gst_structure_free (stats);
  check_file (name, (guint) MIN (frames, GST_PP_TIMELINE_FRAMES),
      (guint) frames, 2, g_get_monotonic_time () - start);
  gst_object_unref (preproc);
  stop (pipeline);
}

/* The one error that start posts; free it. */
static gchar *
error_of_start (const gchar *name, GQuark *domain, gint *code)
{
  GstElement *pipeline = launch ("cpu", "videotestsrc num-buffers=5", name);
  gchar *text = NULL;
  GError *error = NULL;

  EXPECT (gst_element_set_state (pipeline, GST_STATE_PAUSED) ==
          GST_STATE_CHANGE_FAILURE,
      "%s: starts", name);
  GstMessage *message = pop (pipeline, GST_MESSAGE_ERROR);
  if (message != NULL) {
    gst_message_parse_error (message, &error, NULL);
    text = g_strdup (error->message);
    *domain = error->domain;
    *code = error->code;
    g_error_free (error);
    gst_message_unref (message);
  }
  GstBus *bus = gst_element_get_bus (pipeline);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  EXPECT (message == NULL, "%s: a second error", name);
  gst_clear_message (&message);
  gst_object_unref (bus);
  stop (pipeline);
  return text;
}

static void
test_bad_places (void)
{
  static const struct {
    const gchar *name, *why;
    gboolean is_setting;
  } cases[] = {
    { "timeline.txt", "does not end in .json or .svg", TRUE },
    { "json", "does not end in .json or .svg", TRUE },
    { "no/such/folder.json", "No such file or directory", FALSE },
    { "folder.svg", "it is a folder", FALSE },
    { "pipe.json", "it is no regular file", FALSE },
  };
  g_autofree gchar *sub = path_of ("folder.svg");
  g_autofree gchar *pipe = path_of ("pipe.json");

  g_mkdir (sub, 0700);
  EXPECT (mkfifo (pipe, 0600) == 0, "%s: %s", pipe, g_strerror (errno));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = path_of (cases[i].name);
    g_autofree gchar *named = g_strdup_printf ("timeline-location=%s", path);
    GQuark domain = 0;
    gint code = 0;
    g_autofree gchar *text = error_of_start (cases[i].name, &domain, &code);

    EXPECT (text != NULL && strstr (text, named) != NULL &&
            strstr (text, cases[i].why) != NULL,
        "%s: %s", cases[i].name, text);
    if (cases[i].is_setting)
      EXPECT (domain == GST_LIBRARY_ERROR && code == GST_LIBRARY_ERROR_SETTINGS,
          "%s", text);
    else
      EXPECT (
          domain == GST_RESOURCE_ERROR && code == GST_RESOURCE_ERROR_OPEN_WRITE,
          "%s", text);
  }
  g_rmdir (sub);
  g_unlink (pipe);
}

/* Who keeps the newest timeline under a link finds it there again, also where
 * there was none yet. */
static void
test_link (void)
{
  g_autofree gchar *link = path_of ("link.json");
  g_autofree gchar *kept = path_of ("kept.json");
  const GstPpTimelineLabels labels = { "element", "device", "none" };

  EXPECT (symlink ("kept.json", link) == 0, "%s: %s", link, g_strerror (errno));
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *text = NULL;
    GstPpFault fault;
    gchar *reason = NULL;
    GstPpTimeline *timeline = gst_pp_timeline_new (link, &fault, &reason);

    EXPECT (
        timeline != NULL && gst_pp_timeline_write (timeline, &labels, &reason),
        "%s", reason);
    if (timeline != NULL)
      gst_pp_timeline_free (timeline);
    EXPECT (g_file_test (link, G_FILE_TEST_IS_SYMLINK), "the link is gone");
    EXPECT (g_file_get_contents (kept, &text, NULL, NULL) && text[0] == '{',
        "%s was not written", kept);
    g_file_set_contents (kept, "old", -1, NULL);
  }
  g_unlink (link);
  g_unlink (kept);
}

/* The disk may be full only at the end. The file that was there stays. */
static void
test_lost_place (void)
{
  g_autofree gchar *sub = path_of ("sub");
  g_mkdir (sub, 0700);
  GstElement *pipeline =
      launch ("cpu", "videotestsrc num-buffers=5", "sub/lost.json");

  gst_element_set_state (pipeline, GST_STATE_READY);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, PATIENCE);
  EXPECT (g_rmdir (sub) == 0, "something was left in %s", sub);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = pop (pipeline, GST_MESSAGE_ERROR);
  EXPECT (message != NULL, "no error");
  if (message != NULL) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    EXPECT (strstr (error->message, "sub/lost.json was not written") != NULL,
        "%s", error->message);
    g_error_free (error);
    gst_message_unref (message);
  }
  stop (pipeline);
}

/* Nothing but what was asked for is left, no half file. */
static void
expect_clean_folder (gboolean remove)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = path_of (name);
    EXPECT (g_str_has_suffix (name, ".json") || g_str_has_suffix (name, ".svg"),
        "left behind: %s", name);
    if (remove)
      g_unlink (path);
  }
  g_dir_close (dir);
}

static gboolean
has_cuda (void)
{
  pp_error error;
  pp_device *device = pp_device_open (PP_BACKEND_CUDA, -1, NULL, &error);
  const gboolean found = device != NULL;

  if (!found)
    g_print ("SKIP cuda: %s\n", error.text);
  pp_device_close (&device);
  return found;
}

int
main (int argc, char **argv)
{
  static const gchar *const backends[] = { "cpu", "cuda" };
  static const gchar *const endings[] = { "json", "svg" };

  gst_init (&argc, &argv);
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  script = argv[1];
  folder =
      argc > 2 ? g_strdup (argv[2]) : g_dir_make_tmp ("timeline-XXXXXX", NULL);
  g_mkdir_with_parents (folder, 0700);
  python = g_find_program_in_path ("python3");
  if (python == NULL)
    g_print ("SKIP parsing: python3 was not found\n");

  test_made_up ();
  test_names ();
  test_locale ();
  test_rounded_times ();
  test_bytes ();
  const guint n_backends = has_cuda () ? 2 : 1;
  for (guint b = 0; b < n_backends; b++) {
    for (guint e = 0; e < G_N_ELEMENTS (endings); e++) {
      test_at_eos (backends[b], endings[e]);
      test_at_stop (backends[b], endings[e]);
    }
  }
  test_bad_places ();
  test_link ();
  test_lost_place ();
  expect_clean_folder (argc <= 2);
  if (argc <= 2)
    EXPECT (g_rmdir (folder) == 0, "%s is not empty", folder);
  g_free (folder);
  g_free (python);
  return expect_end ();
}
