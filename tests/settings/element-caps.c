/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gst/caps/tensorcaps.c: caps in <-> caps out, as pure functions.
 */

#include "gst/settings/settings.h"
#include "gst/caps/tensorcaps.h"

#include "tests/common/elementutil.h"

#define T "other/tensors, format = static, num_tensors = 1, "
#define ANY_RATE "framerate = (fraction) [ 0/1, 2147483647/1 ]"
#define VIDEO "video/x-raw, format = NV12, width = 640, height = 480, "

#define OPEN                                                                   \
  {                                                                            \
    0, 0, GST_PP_AUTO, GST_PP_AUTO, GST_PP_AUTO                                \
  }
#define SIZED(w, h)                                                            \
  {                                                                            \
    w, h, GST_PP_AUTO, GST_PP_AUTO, GST_PP_AUTO                                \
  }
#define OF_LAYOUT(layout)                                                      \
  {                                                                            \
    0, 0, GST_PP_AUTO, PP_LAYOUT_##layout, GST_PP_AUTO                         \
  }
#define OF_BATCH(n)                                                            \
  {                                                                            \
    0, 0, GST_PP_AUTO, GST_PP_AUTO, GST_PP_AUTO, .batch = n                    \
  }
#define OF_TYPE(type)                                                          \
  {                                                                            \
    0, 0, GST_PP_AUTO, GST_PP_AUTO, PP_TYPE_##type                             \
  }
#define OF_CHANNELS(order)                                                     \
  {                                                                            \
    0, 0, PP_CHANNELS_##order, GST_PP_AUTO, GST_PP_AUTO                        \
  }

/* caps from what downstream offers */

typedef struct {
  const gchar *candidates; /* what is common with downstream */
  GstPpTensorConstraints constraints;
  const gchar *video;
  const gchar *chosen; /* NULL: none agrees */
  const gchar *words;  /* of the reason then, | between them */
} FixateCase;

#define RATE30 "framerate = (fraction) 30/1"
#define ALL_TYPES "types = (string) { float32, float16, uint8, int8 }, "

static const FixateCase fixate_cases[] = {
  /* Nothing is decided: the frame's size and the defaults. */
  { T ALL_TYPES ANY_RATE, OPEN, VIDEO RATE30,
      T "types = float32, dimensions = (string) 640:480:3:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE, OPEN, VIDEO "framerate = (fraction) 30000/1001",
      T "types = float32, dimensions = (string) 640:480:3:1, "
        "framerate = (fraction) 30000/1001",
      NULL },
  /* No framerate upstream. */
  { T ALL_TYPES ANY_RATE, OPEN,
      "video/x-raw, format = NV12, width = 640, height = 480",
      T "types = float32, dimensions = (string) 640:480:3:1, "
        "framerate = (fraction) 0/1",
      NULL },
  /* Properties decide. */
  { T ALL_TYPES ANY_RATE, SIZED (224, 0), VIDEO RATE30,
      T "types = float32, dimensions = (string) 224:480:3:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE,
      { 224, 160, PP_CHANNELS_RGB, PP_LAYOUT_NHWC, PP_TYPE_UINT8 },
      VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:224:160:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE,
      { 224, 160, PP_CHANNELS_GRAY, PP_LAYOUT_NHWC, PP_TYPE_INT8 },
      VIDEO RATE30,
      T "types = int8, dimensions = (string) 1:224:160:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE,
      { 224, 160, PP_CHANNELS_GRAY, PP_LAYOUT_NCHW, PP_TYPE_FLOAT16 },
      VIDEO RATE30,
      T "types = float16, dimensions = (string) 224:160:1:1, " RATE30, NULL },
  /* Downstream decides, in its own spelling. */
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE, OPEN,
      VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:224:160:1, " RATE30, NULL },
  { T "types = uint8, dimensions = (string) 3:224:160, " ANY_RATE, OPEN,
      VIDEO RATE30, T "types = uint8, dimensions = (string) 3:224:160, " RATE30,
      NULL },
  { T "types = uint8, dimensions = (string) 224:160:3:1:1, " ANY_RATE, OPEN,
      VIDEO RATE30,
      T "types = uint8, dimensions = (string) 224:160:3:1:1, " RATE30, NULL },
  { T "types = uint8, dimensions = (string) 224:160:3:1:1:1:1:1:1:1:1:1:1:1:1:1"
      ", " ANY_RATE,
      OPEN, VIDEO RATE30,
      T "types = uint8, dimensions = (string) "
        "224:160:3:1:1:1:1:1:1:1:1:1:1:1:1:1, " RATE30,
      NULL },
  { T "types = uint8, dimensions = (string) 224:160, " ANY_RATE, OPEN,
      VIDEO RATE30, T "types = uint8, dimensions = (string) 224:160, " RATE30,
      NULL },
  /* Batches: what downstream says, what is set, and the framerate of both. */
  { T ALL_TYPES "dimensions = (string) 224:160:3:4, " ANY_RATE, OPEN,
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 224:160:3:4, "
        "framerate = (fraction) 15/2",
      NULL },
  { T ALL_TYPES "dimensions = (string) 3:224:160:64:1, " ANY_RATE,
      OF_BATCH (64), VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:224:160:64:1, "
        "framerate = (fraction) 15/32",
      NULL },
  { T ALL_TYPES ANY_RATE, OF_BATCH (5), VIDEO RATE30,
      T "types = float32, dimensions = (string) 640:480:3:5, "
        "framerate = (fraction) 6/1",
      NULL },
  { T ALL_TYPES "framerate = (fraction) { 30/1, 6/1 }", OF_BATCH (5),
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 640:480:3:5, "
        "framerate = (fraction) 6/1",
      NULL },
  { T ALL_TYPES ANY_RATE, OF_BATCH (5),
      "video/x-raw, format = NV12, width = 640, height = 480",
      T "types = float32, dimensions = (string) 640:480:3:5, "
        "framerate = (fraction) 0/1",
      NULL },
  /* The first of several that has the number, or the rate. */
  { T ALL_TYPES "dimensions = (string) { 8:8:3:2, 8:8:3:4 }, " ANY_RATE,
      OF_BATCH (4), VIDEO RATE30,
      T "types = float32, dimensions = (string) 8:8:3:4, "
        "framerate = (fraction) 15/2",
      NULL },
  { T "types = uint8, dimensions = (string) 8:8:3:2, " RATE30 "; " T
      "types = uint8, dimensions = (string) 8:8:3:3, framerate = (fraction) 10/1",
      OPEN, VIDEO RATE30,
      T "types = uint8, dimensions = (string) 8:8:3:3, "
        "framerate = (fraction) 10/1",
      NULL },
  /* A shape that reads both ways stays as it is, whatever the layout. */
  { T ALL_TYPES "dimensions = (string) 3:640:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:640:3:1, " RATE30, NULL },
  { T ALL_TYPES "dimensions = (string) 3:640:3:1, " ANY_RATE, SIZED (640, 3),
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:640:3:1, " RATE30, NULL },
  { T ALL_TYPES "dimensions = (string) 3:640:3:1, " ANY_RATE, OF_LAYOUT (NHWC),
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:640:3:1, " RATE30, NULL },
  /* The first structure that agrees, as NNStreamer's elements offer several. */
  { "other/tensors, format = static, num_tensors = 1, types = uint8, "
    "dimensions = (string) 3:300:300:1, " ANY_RATE "; " T
    "types = float32, dimensions = (string) 3:224:224:1, " ANY_RATE,
      SIZED (224, 224), VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:224:224:1, " RATE30, NULL },
  { T "types = uint8, dimensions = (string) 3:300:300:1, " ANY_RATE "; " T
      "types = float32, dimensions = (string) 3:224:224:1, " ANY_RATE,
      OPEN, VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:300:300:1, " RATE30, NULL },
  { T "types = (string) { uint8, float32 }, dimensions = (string) { "
      "3:300:300:1, 3:224:224:1 }, " ANY_RATE,
      { 224, 0, GST_PP_AUTO, GST_PP_AUTO, PP_TYPE_FLOAT32 }, VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:224:224:1, " RATE30, NULL },
  { T "types = int16, dimensions = (string) 3:224:224:1, " ANY_RATE "; " T
      "types = uint8, dimensions = (string) 3:64:64:1, " ANY_RATE,
      OPEN, VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:64:64:1, " RATE30, NULL },
  /* Contradictions name both sides. */
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      SIZED (640, 0), VIDEO RATE30, NULL, "3:224:160:1|width=640" },
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      SIZED (0, 640), VIDEO RATE30, NULL, "3:224:160:1|height=640" },
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      OF_TYPE (FLOAT32), VIDEO RATE30, NULL, "types=uint8|type=float32" },
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      OF_LAYOUT (NCHW), VIDEO RATE30, NULL, "3:224:160:1|layout=nchw|nchw" },
  { T "types = uint8, dimensions = (string) 224:160:3:1, " ANY_RATE,
      OF_LAYOUT (NHWC), VIDEO RATE30, NULL, "224:160:3:1|layout=nhwc|nhwc" },
  { T "types = uint8, dimensions = (string) 224:160:3:1, " ANY_RATE,
      OF_CHANNELS (GRAY), VIDEO RATE30, NULL, "224:160:3:1|channels=gray" },
  { T "types = uint8, dimensions = (string) 224:160:1:1, " ANY_RATE,
      OF_CHANNELS (RGB), VIDEO RATE30, NULL, "224:160:1:1|channels=rgb" },
  /* What no tensor of ours can be. */
  { T "types = uint8, dimensions = (string) 224:160:4:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "224:160:4:1" },
  { T "types = uint8, dimensions = (string) 3:224:160:65, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL,
      "3:224:160:65|batch of 65|224x160|3 channels as nhwc|at most 64" },
  { T "types = uint8, dimensions = (string) 320:240:3:1000, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL,
      "320:240:3:1000|batch of 1000|320x240|3 channels as nchw" },
  { T "types = uint8, dimensions = (string) 3:320:240:99, " ANY_RATE,
      OF_LAYOUT (NCHW), VIDEO RATE30, NULL,
      "3:320:240:99|batch of 99|320x240|3 channels as nhwc" },
  { T "types = uint8, dimensions = (string) 3:320:240:2:1:3, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "3:320:240:2:1:3|6th is 3|must be 1" },
  { T "types = uint8, dimensions = (string) 320:240:3:4, " ANY_RATE,
      OF_BATCH (8), VIDEO RATE30, NULL, "320:240:3:4|batch-size=8" },
  { T "types = uint8, dimensions = (string) 320:240:3, " ANY_RATE, OF_BATCH (8),
      VIDEO RATE30, NULL, "320:240:3|batch-size=8" },
  { T "types = uint8, dimensions = (string) 320:240:3:4, " ANY_RATE,
      OF_BATCH (1), VIDEO RATE30, NULL, "320:240:3:4|batch-size=1" },
  { T "types = uint8, dimensions = (string) 320:240:3:4, " RATE30, OPEN,
      VIDEO RATE30, NULL, "framerate=30/1|frames come at 30/1|4|15/2" },
  { T "types = uint8, framerate = (fraction) 25/1", OPEN, VIDEO RATE30, NULL,
      "framerate=25/1|frames come at 30/1" },
  { T "types = uint8, dimensions = (string) 4:320:240:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL,
      "4:320:240:1|320x240 with 4 channels as nhwc|1 or 3" },
  { T "types = uint8, dimensions = (string) 320:240:2:1, " ANY_RATE,
      OF_LAYOUT (NHWC), VIDEO RATE30, NULL,
      "320:240:2:1|320x240 with 2 channels as nchw|1 or 3" },
  { T "types = uint8, dimensions = (string) 3:40000:240:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "3:40000:240:1|40000x240 as nhwc|32768" },
  { T "types = auto, dimensions = (string) 224:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "types=auto" },
  { T "types = uint8, dimensions = (string) 0:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "0:160:3:1" },
  { T "types = uint8, dimensions = (string) -2:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "-2:160:3:1" },
  { T "types = uint8, dimensions = (string) 224:160:3:, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "224:160:3:" },
  { T "types = uint8, dimensions = (string) 32769:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "32769:160:3:1|32768" },
  { T "types = uint8, dimensions = (string) 4294967520:160:3:1, " ANY_RATE,
      OPEN, VIDEO RATE30, NULL, "4294967520:160:3:1|32768" },
  { T "types = int16, dimensions = (string) 224:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "int16" },
  { T "types = (string) \"uint8,uint8\", " ANY_RATE, OPEN, VIDEO RATE30, NULL,
      "uint8,uint8" },
  /* Fields that are no text, and one of others that no value can fix. */
  { T "types = uint8, dimensions = (int) 5, " ANY_RATE, OPEN, VIDEO RATE30,
      NULL, "dimensions|not text" },
  { T "types = (int) 5, " ANY_RATE, OPEN, VIDEO RATE30, NULL,
      "types|not text" },
  { T "types = uint8, other = { }, " ANY_RATE, OPEN, VIDEO RATE30, NULL,
      "nothing" },
};

static void
check_chosen (const FixateCase *row, guint index, const GstCaps *chosen)
{
  GstCaps *expected = gst_caps_from_string (row->chosen);

  fail_unless (gst_caps_is_fixed (chosen), "case %u is not fixed: %s", index,
      gst_caps_to_string (chosen));
  fail_unless (gst_caps_is_equal (chosen, expected), "case %u is %s, not %s",
      index, gst_caps_to_string (chosen), row->chosen);
  gst_caps_unref (expected);
}

GST_START_TEST (test_fixate) {
  for (guint i = 0; i < G_N_ELEMENTS (fixate_cases); i++) {
    const FixateCase *row = &fixate_cases[i];
    GstCaps *candidates = gst_caps_from_string (row->candidates);
    GstCaps *video = gst_caps_from_string (row->video);
    gchar *reason = NULL;
    GstCaps *chosen = gst_pp_tensor_caps_fixate (
        candidates, &row->constraints, video, &reason);

    if (row->chosen != NULL) {
      fail_unless (chosen != NULL, "case %u: %s", i, reason);
      fail_unless (reason == NULL, "case %u has a reason: %s", i, reason);
      check_chosen (row, i, chosen);
    } else {
      fail_unless (chosen == NULL, "case %u is %s", i,
          chosen != NULL ? gst_caps_to_string (chosen) : "");
      test_expect_words (reason, row->words);
    }
    g_free (reason);
    gst_clear_caps (&chosen);
    gst_caps_unref (candidates);
    gst_caps_unref (video);
  }
}
GST_END_TEST

/* caps of the other pad */

static const struct {
  const gchar *caps;
  GstPadDirection direction;
  const gchar *framerate; /* in every structure; NULL: none has one */
  guint size;
  gint batch; /* that is set; 0: open */
} transform_cases[] = {
  /* Downstream's dimensions say how many frames are one tensor. */
  { VIDEO RATE30, GST_PAD_SINK, "[ 0/1, 2147483647/1 ]", 1 },
  { VIDEO RATE30, GST_PAD_SINK, "30/1", 1, 1 },
  { VIDEO RATE30, GST_PAD_SINK, "15/2", 1, 4 },
  { VIDEO "framerate = (fraction) 0/1", GST_PAD_SINK, "0/1", 1, 1 },
  { VIDEO "framerate = (fraction) 0/1", GST_PAD_SINK, "0/1", 1, 4 },
  { VIDEO "framerate = (fraction) { 25/1, 30/1 }", GST_PAD_SINK,
      "{ (fraction)25/4, (fraction)15/2 }", 1, 4 },
  /* Any framerate among others. */
  { VIDEO "framerate = (fraction) { 30/1, [ 0/1, 2147483647/1 ] }",
      GST_PAD_SINK, "[ 0/1, 2147483647/1 ]", 1, 1 },
  { VIDEO "framerate = (fraction) [ 1/1, 60/1 ]", GST_PAD_SINK, "[ 1/4, 15/1 ]",
      1, 4 },
  { VIDEO "framerate = (fraction) 1/2147483647", GST_PAD_SINK, "1/2147483647",
      1, 4 },
  { "video/x-raw, format = RGB", GST_PAD_SINK, "[ 0/1, 2147483647/1 ]", 1 },
  /* One that is none. */
  { VIDEO "framerate = (string) x", GST_PAD_SINK, "[ 0/1, 2147483647/1 ]", 1 },
  { T RATE30, GST_PAD_SRC, "30/1", 1 },
  { T RATE30, GST_PAD_SRC, "120/1", 1, 4 },
  { T "dimensions = (string) 8:8:3:4, " RATE30, GST_PAD_SRC, "120/1", 1 },
  { T "dimensions = (string) 8:8:3:4, " RATE30, GST_PAD_SRC, "60/1", 1, 2 },
  { T "dimensions = (string) 8:8, " RATE30, GST_PAD_SRC, "30/1", 1 },
  { T "dimensions = (string) x, " RATE30, GST_PAD_SRC, "30/1", 1 },
  { T "framerate = (fraction) [ 1/1, 2147483647/1 ]", GST_PAD_SRC,
      "[ 4/1, 2147483647/1 ]", 1, 4 },
  { T "framerate = (fraction) [ 2147483646/1, 2147483647/1 ]", GST_PAD_SRC,
      "2147483647/1", 1, 4 },
  { T ANY_RATE, GST_PAD_SRC, NULL, 1, 4 },
  { T "framerate = (fraction) [ 1/1, 30/1 ]", GST_PAD_SRC, "[ 1/1, 30/1 ]", 1 },
  /* Video caps need no framerate: one that says nothing is not asked for. */
  { T ANY_RATE, GST_PAD_SRC, NULL, 1 },
  { T "framerate = (fraction) 0/1", GST_PAD_SRC, NULL, 1 },
  { T "framerate = (fraction) { 30/1, 0/1 }", GST_PAD_SRC, NULL, 1 },
  { T "framerate = (fraction) { 30/1, [ 0/1, 2147483647/1 ] }", GST_PAD_SRC,
      NULL, 1 },
  { T "types = uint8", GST_PAD_SRC, NULL, 1 },
  { "EMPTY", GST_PAD_SRC, NULL, 0 },
};

GST_START_TEST (test_transform) {
  GstCaps *video = gst_caps_from_string ("video/x-raw, format = RGB");
  GstCaps *tensor = gst_caps_from_string (GST_PP_TENSOR_CAPS);

  for (guint i = 0; i < G_N_ELEMENTS (transform_cases); i++) {
    const GstPadDirection direction = transform_cases[i].direction;
    GstCaps *caps = gst_caps_from_string (transform_cases[i].caps);
    const GstPpTensorConstraints constraints = { 0, 0, GST_PP_AUTO, GST_PP_AUTO,
      GST_PP_AUTO, .batch = transform_cases[i].batch };
    GstCaps *other = gst_pp_tensor_caps_transform (caps, direction,
        &constraints, direction == GST_PAD_SINK ? tensor : video, NULL);

    fail_unless_equals_int (gst_caps_get_size (other), transform_cases[i].size);
    for (guint s = 0; s < gst_caps_get_size (other); s++) {
      const GValue *rate = gst_structure_get_value (
          gst_caps_get_structure (other, s), "framerate");
      gchar *text = rate != NULL ? gst_value_serialize (rate) : NULL;
      fail_unless (g_strcmp0 (text, transform_cases[i].framerate) == 0,
          "case %u: framerate is %s, not %s", i, text,
          transform_cases[i].framerate);
      g_free (text);
    }
    gst_caps_unref (caps);
    gst_caps_unref (other);
  }
  gst_caps_unref (video);
  gst_caps_unref (tensor);
}
GST_END_TEST

/* The other way and back: what is negotiated reads as what was meant. */
GST_START_TEST (test_tensor_from_caps) {
  static const struct {
    const gchar *caps;
    GstPpTensorConstraints constraints;
    GstPpTensor tensor;
    const gchar *words;
  } cases[] = {
    { T "types = float32, dimensions = (string) 640:480:3:1", OPEN,
        { 640, 480, 3, PP_LAYOUT_NCHW, PP_TYPE_FLOAT32, 1 }, NULL },
    { T "types = float32, dimensions = (string) 640:480:3:7", OPEN,
        { 640, 480, 3, PP_LAYOUT_NCHW, PP_TYPE_FLOAT32, 7 }, NULL },
    { T "types = float32, dimensions = (string) 3:640:480:7:1", OF_BATCH (7),
        { 640, 480, 3, PP_LAYOUT_NHWC, PP_TYPE_FLOAT32, 7 }, NULL },
    { T "types = uint8, dimensions = (string) 640:480:3:2", OF_BATCH (3), { 0 },
        "640:480:3:2|batch-size=3" },
    { T "types = float16, dimensions = (string) 3:640:480:1", OPEN,
        { 640, 480, 3, PP_LAYOUT_NHWC, PP_TYPE_FLOAT16, 1 }, NULL },
    { T "types = uint8, dimensions = (string) 1:640:480:1", OPEN,
        { 640, 480, 1, PP_LAYOUT_NHWC, PP_TYPE_UINT8, 1 }, NULL },
    { T "types = int8, dimensions = (string) 640:480", OPEN,
        { 640, 480, 1, PP_LAYOUT_NCHW, PP_TYPE_INT8, 1 }, NULL },
    /* both ways */
    { T "types = uint8, dimensions = (string) 3:640:3:1", OPEN,
        { 3, 640, 3, PP_LAYOUT_NCHW, PP_TYPE_UINT8, 1 }, NULL },
    { T "types = uint8, dimensions = (string) 3:640:3:1", OF_LAYOUT (NHWC),
        { 640, 3, 3, PP_LAYOUT_NHWC, PP_TYPE_UINT8, 1 }, NULL },
    { T "types = uint8, dimensions = (string) 3:640:3:1", SIZED (640, 3),
        { 640, 3, 3, PP_LAYOUT_NHWC, PP_TYPE_UINT8, 1 }, NULL },
    { T "types = uint8, dimensions = (string) 1:1:1:1", OF_LAYOUT (NHWC),
        { 1, 1, 1, PP_LAYOUT_NHWC, PP_TYPE_UINT8, 1 }, NULL },
    { T "types = uint8", OPEN, { 0 }, "dimensions" },
    { T "types = uint8, dimensions = (string) 640:480:3:1", SIZED (320, 0),
        { 0 }, "640:480:3:1|width=320" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstCaps *caps = gst_caps_from_string (cases[i].caps);
    GstPpTensor tensor;
    gchar *reason = NULL;
    const gboolean read =
        gst_pp_tensor_from_caps (caps, &cases[i].constraints, &tensor, &reason);

    if (cases[i].words != NULL) {
      fail_unless (!read, "case %u was read", i);
      test_expect_words (reason, cases[i].words);
    } else {
      const GstPpTensor *expected = &cases[i].tensor;
      fail_unless (read, "case %u: %s", i, reason);
      fail_unless (tensor.width == expected->width &&
              tensor.height == expected->height &&
              tensor.channels == expected->channels &&
              tensor.layout == expected->layout &&
              tensor.type == expected->type && tensor.batch == expected->batch,
          "case %u is %dx%dx%d layout %d type %d, %d pictures", i, tensor.width,
          tensor.height, tensor.channels, (gint) tensor.layout,
          (gint) tensor.type, tensor.batch);
    }
    g_free (reason);
    gst_caps_unref (caps);
  }
}
GST_END_TEST

/* Tables of enumerations have each value and each word once; caps have the types'
 * words. */
GST_START_TEST (test_enumerations) {
  static const struct {
    const GEnumValue *values;
    gint first, count;
  } tables[] = {
    { gst_pp_backends, GST_PP_AUTO, PP_N_BACKENDS },
    { gst_pp_layouts, GST_PP_AUTO, PP_N_LAYOUTS },
    { gst_pp_types, GST_PP_AUTO, PP_N_TYPES },
    { gst_pp_channels, GST_PP_AUTO, PP_N_CHANNEL_ORDERS },
    { gst_pp_fits, 0, PP_N_FITS },
    { gst_pp_aligns, 0, PP_N_ALIGNS },
    { gst_pp_methods, 0, PP_N_METHODS },
    { gst_pp_denoises, 0, PP_N_DENOISES },
  };
  GstCaps *template = gst_caps_from_string (GST_PP_TENSOR_CAPS);
  const GValue *types =
      gst_structure_get_value (gst_caps_get_structure (template, 0), "types");

  for (guint t = 0; t < G_N_ELEMENTS (tables); t++)
    for (gint i = tables[t].first; i < tables[t].count; i++) {
      const gchar *nick = gst_pp_enum_nick (tables[t].values, i);
      gint value = G_MININT;

      fail_unless (nick != NULL, "table %u has no %d", t, i);
      fail_unless (gst_pp_enum_from_nick (tables[t].values, nick, &value));
      fail_unless_equals_int (value, i);
    }
  fail_unless (gst_pp_enum_nick (gst_pp_fits, PP_N_FITS) == NULL);
  fail_unless_equals_int (gst_value_list_get_size (types), PP_N_TYPES);
  for (guint i = 0; i < PP_N_TYPES; i++)
    fail_unless_equals_string (
        g_value_get_string (gst_value_list_get_value (types, i)),
        gst_pp_enum_nick (gst_pp_types, (gint) i));
  gst_caps_unref (template);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_test (tcase, test_enumerations);
  tcase_add_test (tcase, test_fixate);
  tcase_add_test (tcase, test_transform);
  tcase_add_test (tcase, test_tensor_from_caps);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-caps", add_tests);
}
