/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What neighbours say about memory, true or not: metas that map planes by
 * themselves, allocation parameters, pools that are changed behind our back.
 * Either the tensor is right, or there is one error that has the numbers.
 */

#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

/* metas that map planes by themselves */

/* What a map function tells besides the address and the stride. */
typedef enum {
  TELL_FLAGS,   /* as elements of VA-API do */
  TELL_ALL,     /* what it mapped is as large as the plane */
  TELL_SHORT,   /* a byte less */
  TELL_SIZE,    /* only how large it is, one byte less than the plane */
  TELL_OTHER,   /* that something else was mapped */
  TELL_OURS,    /* that it lies in memory of the element's, which it does not */
  TELL_NOTHING, /* not even an address */
  N_TELLINGS
} Telling;

static const struct {
  gboolean good;
  const gchar *words; /* of the error */
} tellings[] = {
  [TELL_FLAGS] = { TRUE, NULL },
  [TELL_ALL] = { TRUE, NULL },
  [TELL_SHORT] = { FALSE, "too short|plane 0|3072|3071" },
  [TELL_SIZE] = { FALSE, "too short|plane 0|3072|3071" },
  [TELL_OTHER] = { FALSE, "too short|plane 0|3072 bytes, but has 0" },
  [TELL_OURS] = { TRUE, NULL },
  [TELL_NOTHING] = { FALSE, "plane 0|no address" },
};
G_STATIC_ASSERT (G_N_ELEMENTS (tellings) == N_TELLINGS);

/* Where the planes of the frame under test really are. */
static struct {
  guint8 *data;
  const GstVideoInfo *info;
  GstMemory *ours;
  Telling telling;
  gint mapped; /* not unmapped yet */
} elsewhere;

static gboolean
map_elsewhere (GstVideoMeta *meta, guint plane, GstMapInfo *info,
    gpointer *data, gint *stride, GstMapFlags flags)
{
  static guint8 other[4096];
  const gsize offset = GST_VIDEO_INFO_PLANE_OFFSET (elsewhere.info, plane);
  const gsize end = plane + 1 < meta->n_planes
      ? GST_VIDEO_INFO_PLANE_OFFSET (elsewhere.info, plane + 1)
      : GST_VIDEO_INFO_SIZE (elsewhere.info);

  *data = elsewhere.data + offset;
  *stride = GST_VIDEO_INFO_PLANE_STRIDE (elsewhere.info, plane);
  info->flags = flags;
  if (elsewhere.telling == TELL_ALL || elsewhere.telling == TELL_SHORT)
    info->data = *data;
  if (elsewhere.telling == TELL_OTHER)
    info->data = other;
  if (elsewhere.telling == TELL_ALL || elsewhere.telling == TELL_OTHER)
    info->size = end - offset;
  if (elsewhere.telling == TELL_SHORT || elsewhere.telling == TELL_SIZE)
    info->size = end - offset - 1;
  if (elsewhere.telling == TELL_OURS)
    info->memory = elsewhere.ours;
  if (elsewhere.telling == TELL_NOTHING)
    *data = NULL;
  g_atomic_int_inc (&elsewhere.mapped);
  return TRUE;
}

static gboolean
unmap_elsewhere (GstVideoMeta *meta, guint plane, GstMapInfo *info)
{
  (void) meta;
  (void) plane;
  (void) info;
  g_atomic_int_add (&elsewhere.mapped, -1);
  return TRUE;
}

/* An empty buffer with a meta that maps a copy of frame's planes. */
static GstBuffer *
frame_elsewhere (const GstVideoInfo *info, GstBuffer *frame, Telling telling)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstVideoMeta *meta =
      gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
          GST_VIDEO_INFO_FORMAT (info), (guint) GST_VIDEO_INFO_WIDTH (info),
          (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
          (gsize *) info->offset, (gint *) info->stride);

  meta->map = map_elsewhere;
  meta->unmap = unmap_elsewhere;
  elsewhere.info = info;
  elsewhere.telling = telling;
  elsewhere.data = g_malloc (info->size);
  gst_buffer_extract (frame, 0, elsewhere.data, info->size);
  return buffer;
}

GST_START_TEST (test_planes_mapped_by_their_meta) {
  GstVideoInfo info;

  test_video_info (&info, "NV12", 64, 48);
  GstBuffer *frame = test_frame (&info, NULL);
  test_paint_noise (frame, &info, 1);
  for (Telling t = 0; t < N_TELLINGS; t++) {
    GstHarness *h = test_harness (__i__, "width=64 height=48");
    GstBuffer *expected = test_convert (h, &info, gst_buffer_ref (frame));
    GstBuffer *ours = gst_harness_create_buffer (h, info.size);

    elsewhere.ours = gst_buffer_peek_memory (ours, 0);
    GstBuffer *buffer = frame_elsewhere (&info, frame, t);
    if (tellings[t].good) {
      GstBuffer *tensor = test_convert (h, &info, buffer);
      test_expect_equal (tensor, expected, "mapped by its meta");
      gst_buffer_unref (tensor);
    } else {
      fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
      g_autofree gchar *text = test_harness_error (h);
      test_expect_words (text, tellings[t].words);
    }
    gst_buffer_unref (expected);
    gst_buffer_unref (ours);
    test_harness_end (&h);
    fail_unless_equals_int (g_atomic_int_get (&elsewhere.mapped), 0);
    g_free (elsewhere.data);
  }
  gst_buffer_unref (frame);
}
GST_END_TEST

/* A meta without the functions that map it, or of another buffer. */
GST_START_TEST (test_metas_that_cannot_map) {
  for (guint how = 0; how < 3; how++) {
    GstHarness *h = test_harness (__i__, "");
    GstBuffer *other = gst_buffer_new ();
    GstVideoInfo info;

    test_video_info (&info, "RGB", 16, 16);
    test_send_caps (h, &info);
    GstBuffer *frame = test_frame (&info, NULL);
    GstVideoMeta *meta = gst_buffer_add_video_meta (
        frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 16, 16);
    if (how == 0)
      meta->map = NULL;
    else if (how == 1)
      meta->unmap = NULL;
    else
      meta->buffer = other;
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
    g_autofree gchar *text = test_harness_error (h);
    test_expect_words (text, how < 2 ? "no function" : "another buffer");
    gst_buffer_unref (other);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* allocation parameters */

static const struct {
  gsize align, prefix, padding;
  const gchar *words; /* of the error; NULL: good */
  gsize offset;       /* of the tensor */
} parameters[] = {
  /* Elements of 4 bytes begin where they can. */
  { 0, 1, 0, NULL, 4 },
  { 0, 4, 1, NULL, 4 },
  { 15, 6, 0, NULL, 8 },
  { 4095, 4096, 5, NULL, 4096 },
  { 0, G_MAXSIZE, 0, "prefix=18446744073709551615", 0 },
  { 0, 0, G_MAXSIZE, "padding=18446744073709551615", 0 },
  { G_MAXSIZE, 0, 0, "align=18446744073709551615", 0 },
  { 0, G_MAXSIZE - 3, 0, "prefix=18446744073709551612|768 bytes", 0 },
  { 0, 0, G_MAXSIZE - 767, "padding=18446744073709550848", 0 },
  { G_MAXSIZE / 2, G_MAXSIZE / 2, 0, "prefix=9223372036854775807", 0 },
  { 2, 0, 0, "align=2", 0 },
};

static void
expect_layout (GstBuffer *tensor, guint i)
{
  gsize offset, maxsize;
  GstMapInfo map;

  fail_unless_equals_int (
      gst_buffer_get_sizes (tensor, &offset, &maxsize), 8 * 8 * 3 * 4);
  fail_unless_equals_uint64 (offset, parameters[i].offset);
  fail_unless (
      maxsize >= parameters[i].offset + 8 * 8 * 3 * 4 + parameters[i].padding);
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  fail_unless_equals_int (
      (GPOINTER_TO_SIZE (map.data) - offset) & parameters[i].align, 0);
  fail_unless_equals_int (GPOINTER_TO_SIZE (map.data) % 4, 0);
  gst_buffer_unmap (tensor, &map);
}

GST_START_TEST (test_allocation_parameters) {
  for (guint i = 0; i < G_N_ELEMENTS (parameters); i++) {
    GstHarness *h = test_harness (__i__, "width=8 height=8");
    GstVideoInfo info;
    GstAllocationParams params;

    gst_allocation_params_init (&params);
    params.align = parameters[i].align;
    params.prefix = parameters[i].prefix;
    params.padding = parameters[i].padding;
    gst_harness_set_propose_allocator (h, NULL, &params);
    test_video_info (&info, "RGB", 16, 16);
    if (parameters[i].words == NULL) {
      GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
      expect_layout (tensor, i);
      gst_buffer_unref (tensor);
    } else {
      test_send_caps (h, &info);
      fail_unless (gst_harness_push (h, test_frame (&info, NULL)) < 0);
      g_autofree gchar *text = test_harness_error (h);
      test_expect_words (text, parameters[i].words);
    }
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Memory for a large alignment has room to be aligned: written to from end to end,
 * none touches another's. */
GST_START_TEST (test_aligned_blocks_have_room) {
  static const gsize aligns[] = { 255, 511, 4095, 65535 };

  for (guint a = 0; a < G_N_ELEMENTS (aligns); a++) {
    GstHarness *h = test_harness (__i__, "width=8 height=8 type=uint8");
    GstVideoInfo info;
    GstAllocationParams params;
    GstBuffer *tensors[32];
    GstMapInfo map;

    gst_allocation_params_init (&params);
    params.align = aligns[a];
    params.padding = 256;
    gst_harness_set_propose_allocator (h, NULL, &params);
    test_video_info (&info, "RGB", 16, 16);
    for (guint i = 0; i < G_N_ELEMENTS (tensors); i++) {
      tensors[i] = test_convert (h, &info, test_frame (&info, NULL));
      gst_buffer_resize (tensors[i], 0, 8 * 8 * 3 + 256);
      gst_buffer_memset (tensors[i], 0, (guint8) i, 8 * 8 * 3 + 256);
    }
    for (guint i = 0; i < G_N_ELEMENTS (tensors); i++) {
      fail_unless (gst_buffer_map (tensors[i], &map, GST_MAP_READ));
      for (gsize at = 0; at < map.size; at++)
        fail_unless (
            map.data[at] == i, "byte %" G_GSIZE_FORMAT " of tensor %u", at, i);
      gst_buffer_unmap (tensors[i], &map);
      gst_buffer_unref (tensors[i]);
    }
    test_harness_end (&h);
  }
}
GST_END_TEST

/* What is not ours to promise is not on the memory: nobody could write to a tensor
 * or share it. What is asked to be zero is. */
GST_START_TEST (test_allocation_flags) {
  const guint flags = GST_MEMORY_FLAG_READONLY | GST_MEMORY_FLAG_NO_SHARE |
      GST_MEMORY_FLAG_NOT_MAPPABLE;
  GstHarness *h = test_harness (__i__, "width=8 height=8 type=uint8");
  GstVideoInfo info;
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  params.flags =
      flags | GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED;
  params.prefix = params.padding = 64;
  gst_harness_set_propose_allocator (h, NULL, &params);
  test_video_info (&info, "RGB", 16, 16);
  for (guint n = 0; n < 3; n++) {
    /* Whoever had the block before left something there. */
    GstBuffer *used = gst_harness_create_buffer (h, 512);
    gst_buffer_memset (used, 0, 0xee, 512);
    gst_buffer_unref (used);
    GstBuffer *frame = test_frame (&info, NULL);
    test_paint_noise (frame, &info, n);
    GstBuffer *tensor = test_convert (h, &info, frame);
    GstMemory *memory = gst_buffer_peek_memory (tensor, 0);
    GstMapInfo map;

    fail_unless_equals_int (GST_MEMORY_FLAGS (memory) & flags, 0);
    gst_memory_resize (memory, -64, 64 + 8 * 8 * 3 + 64);
    fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
    for (gsize i = 0; i < 64; i++)
      fail_unless (map.data[i] == 0 && map.data[map.size - 1 - i] == 0,
          "byte %" G_GSIZE_FORMAT " is not zero", i);
    gst_memory_unmap (memory, &map);
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* pools */

/* What whoever holds a tensor can do to the pool it came from. */
typedef enum {
  SHRINK,     /* 16 bytes a buffer */
  EMPTY,      /* none */
  GROW,       /* more than a tensor has */
  LAY_OUT,    /* with a prefix; this is harmless */
  DEACTIVATE, /* no buffers any more */
  N_CHANGES
} Change;

static const gchar *const change_words[] = {
  [SHRINK] = "16 bytes|192|reconfigured",
  [EMPTY] = "0 bytes|192|reconfigured",
  [GROW] = "300 bytes|192|reconfigured",
  [LAY_OUT] = NULL,
  [DEACTIVATE] = "deactivated",
};
G_STATIC_ASSERT (G_N_ELEMENTS (change_words) == N_CHANGES);

static void
change_pool (GstBufferPool *pool, Change change)
{
  static const guint sizes[N_CHANGES] = {
    [SHRINK] = 16,
    [GROW] = 300,
    [LAY_OUT] = 192,
  };
  GstAllocationParams params;
  GstCaps *caps;

  fail_unless (gst_buffer_pool_set_active (pool, FALSE));
  if (change == DEACTIVATE)
    return;
  GstStructure *config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, &caps, NULL, NULL, NULL);
  gst_buffer_pool_config_set_params (config, caps, sizes[change], 2, 0);
  gst_allocation_params_init (&params);
  params.prefix = change == LAY_OUT ? 64 : 0;
  gst_buffer_pool_config_set_allocator (config, NULL, &params);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
}

GST_START_TEST (test_pool_is_changed) {
  for (Change change = 0; change < N_CHANGES; change++) {
    GstHarness *h = test_harness (__i__, "width=8 height=8 type=uint8");
    GstVideoInfo info;

    test_video_info (&info, "RGB", 16, 16);
    GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
    GstBufferPool *pool = gst_object_ref (tensor->pool);
    gst_buffer_unref (tensor);
    change_pool (pool, change);

    const GstFlowReturn flow = gst_harness_push (h, test_frame (&info, NULL));
    if (change_words[change] == NULL) {
      fail_unless_equals_int (flow, GST_FLOW_OK);
    } else {
      fail_unless (flow < GST_FLOW_OK);
      g_autofree gchar *text = test_harness_error (h);
      test_expect_words (text, change_words[change]);
    }
    gst_object_unref (pool);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Tensors are out while the pool is laid out anew: their memory is too small for
 * what it gives next. */
GST_START_TEST (test_pool_grows_while_tensors_are_out) {
  GstHarness *h = test_harness (__i__, "width=8 height=8 type=uint8 streams=1");
  GstVideoInfo info;
  GstBuffer *tensors[4];

  test_video_info (&info, "RGB", 16, 16);
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    tensors[i] = test_convert (h, &info, test_frame (&info, NULL));
  GstBufferPool *pool = gst_object_ref (tensors[0]->pool);
  /* Which only then has none out. */
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++) {
    GstMemory *memory = gst_buffer_get_memory (tensors[i], 0);
    gst_buffer_unref (tensors[i]);
    tensors[i] = gst_buffer_new ();
    gst_buffer_append_memory (tensors[i], memory);
  }
  change_pool (pool, LAY_OUT);
  for (guint n = 0; n < 8; n++) {
    GstBuffer *tensor = test_convert (h, &info, test_numbered_frame (&info, n));
    fail_unless_equals_int (test_number_of (tensor), n);
    gst_buffer_unref (tensor);
  }
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    gst_buffer_unref (tensors[i]);
  gst_object_unref (pool);
  test_harness_end (&h);
}
GST_END_TEST

/* A share of a tensor, or of another one's memory, in a buffer that goes back to
 * the pool: jobs do not write to it. */
GST_START_TEST (test_pool_gets_another_memory) {
  GstHarness *h = test_harness (__i__, "width=8 height=8 type=uint8 streams=1");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 16, 16);
  GstBuffer *kept = test_convert (h, &info, test_numbered_frame (&info, 4711));
  for (guint n = 0; n < 12; n++) {
    GstBuffer *tensor = test_convert (h, &info, test_numbered_frame (&info, n));
    GstMemory *memory = n % 3 == 0
        ? gst_memory_share (gst_buffer_peek_memory (kept, 0), 0, -1)
        : n % 3 == 1 ? gst_buffer_get_memory (kept, 0)
                     : gst_allocator_alloc (NULL, 192, NULL);
    fail_unless_equals_int (test_number_of (tensor), n);
    gst_buffer_replace_all_memory (tensor, memory);
    /* It denies that its memory changed. */
    GST_BUFFER_FLAG_UNSET (tensor, GST_BUFFER_FLAG_TAG_MEMORY);
    gst_buffer_unref (tensor);
  }
  fail_unless_equals_int (test_number_of (kept), 4711);
  gst_buffer_unref (kept);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_planes_mapped_by_their_meta);
  test_add (tcase, test_metas_that_cannot_map);
  test_add (tcase, test_allocation_parameters);
  test_add (tcase, test_aligned_blocks_have_room);
  test_add (tcase, test_allocation_flags);
  test_add (tcase, test_pool_is_changed);
  test_add (tcase, test_pool_grows_while_tensors_are_out);
  test_add (tcase, test_pool_gets_another_memory);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-trust", add_tests);
}
