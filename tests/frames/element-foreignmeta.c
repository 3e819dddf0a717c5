/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Another plugin has registered a meta named GstCudaPreprocMeta, which is no
 * GstCustomMeta. A program of its own, since a name is registered once in a
 * process.
 */

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

typedef struct {
  GstMeta meta;
  gint nothing;
} ForeignMeta;

static gboolean
init_nothing (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  (void) params;
  (void) buffer;
  ((ForeignMeta *) meta)->nothing = 7;
  return TRUE;
}

/* Tensors come, without a meta and without complaints but one warning. */
GST_START_TEST (test_name_is_taken) {
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=5 ! cudapreproc name=pp width=8 height=8 ! "
      "fakesink");
  guint warnings = 0;
  gint out = 0;

  test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gboolean over = FALSE; !over;) {
    GstMessage *message =
        test_pop (pipeline, GST_MESSAGE_EOS | GST_MESSAGE_WARNING);
    over = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (!over) {
      g_autoptr (GError) error = NULL;
      gst_message_parse_warning (message, &error, NULL);
      test_expect_words (error->message, "GstCudaPreprocMeta|another plugin");
      warnings++;
    }
    gst_message_unref (message);
  }
  fail_unless_equals_int (warnings, 1);
  fail_unless_equals_int (out, 5);
  test_stop (&pipeline);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_name_is_taken);
}

int
main (int argc, char **argv)
{
  static const gchar *tags[] = { NULL };

  /* test_main would be too late. */
  g_setenv ("GST_TRACERS", "leaks", FALSE);
  gst_init (&argc, &argv);
  gst_meta_register (
      gst_meta_api_type_register ("GstCudaPreprocMetaForeignAPI", tags),
      "GstCudaPreprocMeta", sizeof (ForeignMeta), init_nothing, NULL, NULL);
  return test_main (argc, argv, "element-foreignmeta", add_tests);
}
