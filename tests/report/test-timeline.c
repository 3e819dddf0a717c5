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
#include "gst/report/diagnosis.h"
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
    const gchar *element, *device_name, *bottleneck;
  } cases[] = {
    /* the H200's times for 1080p RGB to float32, whole frames */
    { "h200", { 3, { 110, 4, 50 }, 0, 6220800, 4915200 }, 128, "cudapreproc0",
        "cuda: NVIDIA H200 (device 0)", "upload-bound" },
    { "h200-two", { 2, { 110, 4, 50 }, 0, 6220800, 4915200 }, 128,
        "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "upload-bound" },
    { "one-stream", { 1, { 110, 4, 50 }, 0, 6220800, 4915200 }, 3,
        "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "one-stream" },
    { "camera", { 4, { 110, 4, 50 }, 33333, 6220800, 4915200 }, 5000,
        "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "source-too-slow" },
    { "many", { 16, { 12, 90, 12 }, 5, 6220800, 4915200 }, 200000,
        "cudapreproc0", "cuda: NVIDIA H200 (device 0)", "kernel-bound" },
    { "none", { 1, { 0 }, 0, 0, 0 }, 0,
        "a \"quoted\" \\ <element> & a very long name of it\t",
        "cpu: <a device> with a name that is longer than the picture is "
        "wide, and so long that it has to be cut off somewhere",
        "none" },
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
      EXPECT (gst_pp_timeline_write (timeline, cases[i].element,
                  cases[i].device_name, cases[i].bottleneck, &reason),
          "%s", reason);
      check_file (name, MIN (cases[i].frames, GST_PP_TIMELINE_FRAMES),
          cases[i].frames, cases[i].device.streams, G_MAXINT32);
      gst_pp_timeline_free (timeline);
    }
  }
}

/* No name makes a file that a parser refuses, or is read beyond its end. What
 * XML or JSON cannot have is replaced, and the rest stays. */
static void
test_names (void)
{
  static const gchar *const endings[] = { "json", "svg" };
  static const struct {
    const gchar *name, *in_json, *in_svg;
  } cases[] = {
    { "\001\002\003\004\005\006\007\010\t\n\013|", "\"???????????|\"",
        ">???????????| on" },
    { "\014\r\016\017\020\021\022\023\024\025\026|", "\"???????????|\"",
        ">???????????| on" },
    { "\027\030\031\032\033\034\035\036\037\177|", "\"??????????|\"",
        ">??????????| on" },
    { "<&>\"'\\ \xc2\xb5", "\"<&>\\\"'\\\\ \xc2\xb5\"",
        ">&lt;&amp;&gt;&quot;&apos;\\ \xc2\xb5 on" },
    /* not UTF-8: a byte that begins nothing, one that begins more than there is,
     * a surrogate */
    { "a\xff|", "\"a\xef\xbf\xbd|\"", ">a\xef\xbf\xbd| on" },
    { "a\xe2\x82", "\"a\xef\xbf\xbd", ">a\xef\xbf\xbd" },
    { "\xf0", "\"\xef\xbf\xbd\"", ">\xef\xbf\xbd on" },
    { "\xed\xa0\x80|", "|\"", "| on" },
    /* noncharacters: U+FFFF, U+FFFE, U+FDD0, U+10FFFF */
    { "a\xef\xbf\xbf|", "\"a?|\"", ">a?| on" },
    { "\xef\xbf\xbe\xef\xb7\x90\xf4\x8f\xbf\xbf|", "\"???|\"", ">???| on" },
    { NULL, "\"\"", "> on" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    for (guint e = 0; e < G_N_ELEMENTS (endings); e++) {
      g_autofree gchar *name = g_strdup_printf ("names-%u.%s", i, endings[e]);
      g_autofree gchar *path = path_of (name);
      g_autofree gchar *text = NULL;
      const gchar *expected = e == 0 ? cases[i].in_json : cases[i].in_svg;
      gchar *reason = NULL;
      GstPpFault fault;
      GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

      EXPECT (gst_pp_timeline_write (
                  timeline, cases[i].name, cases[i].name, "none", &reason),
          "%s", reason);
      check_file (name, 0, 0, 1, G_MAXINT32);
      gst_pp_timeline_free (timeline);
      /* Also where there is no parser. */
      EXPECT (g_file_get_contents (path, &text, NULL, NULL), "no %s", path);
      EXPECT (strstr (text, expected) != NULL, "no %s in %s", expected, text);
      EXPECT (g_utf8_validate (text, -1, NULL), "name %u is not UTF-8", i);
    }
  }
}

/* The text of a made-up file; free it. */
static gchar *
text_of (const gchar *name)
{
  const Device device = { 3, { 110.25, 4.5, 50.125 }, 7.75, 6220800, 4915200 };
  g_autofree gchar *path = path_of (name);
  gchar *text = NULL, *reason = NULL;
  GstPpFault fault;
  GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

  add_frames (timeline, &device, 40);
  EXPECT (gst_pp_timeline_write (timeline, "a", "b", "none", &reason), "%s",
      reason);
  gst_pp_timeline_free (timeline);
  EXPECT (g_file_get_contents (path, &text, NULL, NULL), "no %s", path);
  return text;
}

/* A decimal comma is neither JSON nor SVG. */
static void
test_locale (void)
{
  static const gchar *const names[] = { "locale.json", "locale.svg" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *expected = text_of (names[i]);
    if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL)
      g_print ("SKIP locale: de_DE.UTF-8 is not installed\n");
    g_autofree gchar *text = text_of (names[i]);
    setlocale (LC_NUMERIC, "C");
    EXPECT (strcmp (text, expected) == 0, "%s: %s", names[i], text);
  }
}

/* An event's time is rounded, so a frame may seem to start before the one
 * before it on the stream ended. */
static void
test_rounded_times (void)
{
  g_autofree gchar *path = path_of ("rounded.json");
  gchar *reason = NULL;
  GstPpFault fault;
  GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

  for (guint i = 0; i < 10; i++) {
    const pp_job_info info = { .sequence = i,
      .times = { i * 10.0, i * 10 + 4.0, i * 10 + 8.0, i * 10 + 10.5 } };
    gst_pp_timeline_add (timeline, &info);
  }
  EXPECT (gst_pp_timeline_write (timeline, "a", "b", "none", &reason), "%s",
      reason);
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
  g_autofree gchar *path = path_of ("bytes.json");
  g_autofree gchar *text = NULL;
  gchar *reason = NULL;
  GstPpFault fault;
  GstPpTimeline *timeline = gst_pp_timeline_new (path, &fault, &reason);

  add_frames (timeline, &device, 1);
  EXPECT (gst_pp_timeline_write (timeline, "a", "b", "none", &reason), "%s",
      reason);
  add_frames (timeline, &device, 1);
  EXPECT (gst_pp_timeline_write (timeline, "a", "b", "none", &reason), "%s",
      reason);
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

/* A path means the file that it leads to at the start, whatever folder is the
 * current one later. A link that comes there meanwhile is not followed, and not
 * replaced. */
static void
test_link_while_playing (void)
{
  g_autofree gchar *path = path_of ("late.json");
  g_autofree gchar *other = path_of ("other.json");
  GstElement *pipeline =
      launch ("cpu", "videotestsrc num-buffers=5", "late.json");
  g_autofree gchar *text = NULL;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, PATIENCE);
  g_file_set_contents (other, "other", -1, NULL);
  EXPECT (symlink ("other.json", path) == 0, "%s", g_strerror (errno));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = pop (pipeline, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  EXPECT (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR,
      "no error");
  if (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    EXPECT (strstr (error->message, path) != NULL &&
            strstr (error->message, "a link was put there") != NULL,
        "%s", error->message);
    g_error_free (error);
  }
  gst_clear_message (&message);
  stop (pipeline);
  EXPECT (g_file_test (path, G_FILE_TEST_IS_SYMLINK), "the link is gone");
  EXPECT (g_file_get_contents (other, &text, NULL, NULL) &&
          strcmp (text, "other") == 0,
      "%s was written: %s", other, text);
  g_unlink (path);
  g_unlink (other);
}

static gpointer
rename_again_and_again (gpointer data)
{
  GstElement *preproc = data;

  for (guint i = 0; GST_STATE (preproc) > GST_STATE_READY; i++) {
    g_autofree gchar *name = g_strdup_printf ("n%0*u", 1 + (int) (i % 200), i);
    gst_object_set_name (GST_OBJECT (preproc), name);
  }
  return NULL;
}

/* An element that is in no bin may be renamed by any thread, also while its name
 * is written. */
static void
test_renamed (void)
{
  g_autofree gchar *path = path_of ("renamed.json");

  for (guint i = 0; i < 20; i++) {
    GstElement *preproc = gst_element_factory_make ("cudapreproc", NULL);
    GstBus *bus = gst_bus_new ();

    g_object_set (preproc, "timeline-location", path, NULL);
    gst_util_set_object_arg (G_OBJECT (preproc), "backend", "cpu");
    gst_element_set_bus (preproc, bus);
    gst_element_set_state (preproc, GST_STATE_PAUSED);
    GThread *thread = g_thread_new ("rename", rename_again_and_again, preproc);
    g_usleep (2000);
    /* Writes the file; the name changes before, meanwhile and after. */
    gst_element_set_state (preproc, GST_STATE_READY);
    g_thread_join (thread);
    gst_element_set_state (preproc, GST_STATE_NULL);
    g_autofree gchar *text = NULL;
    EXPECT (g_file_get_contents (path, &text, NULL, NULL), "no %s", path);
    EXPECT (g_regex_match_simple (
                "\"element\":\"(cudapreproc|n)[0-9]+\"", text, 0, 0),
        "%s", text);
    gst_element_set_bus (preproc, NULL);
    gst_object_unref (bus);
    gst_object_unref (preproc);
  }
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
  test_link_while_playing ();
  test_renamed ();
  test_lost_place ();
  expect_clean_folder (argc <= 2);
  if (argc <= 2)
    EXPECT (g_rmdir (folder) == 0, "%s is not empty", folder);
  g_free (folder);
  g_free (python);
  return expect_end ();
}
