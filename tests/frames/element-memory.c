/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory that the element offers upstream, and memory of its tensors.
 */

#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define MEMORY_TYPE "CudaPreprocHostMemory"

static gboolean
is_offered (GstBuffer *buffer)
{
  return gst_memory_is_type (gst_buffer_peek_memory (buffer, 0), MEMORY_TYPE);
}

/* what upstream is offered */

static GstQuery *
allocation_answer (GstHarness *h, const GstVideoInfo *info)
{
  GstCaps *caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_caps_unref (caps);
  return query;
}

GST_START_TEST (test_allocation_answer) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=3", &info);
  GstQuery *query = allocation_answer (h, &info);
  GstBufferPool *pool = NULL;
  GstAllocator *allocator = NULL;
  GstAllocationParams params;
  guint size, min, max;

  fail_unless (gst_query_get_n_allocation_pools (query) > 0);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  fail_unless (pool != NULL && size >= info.size);
  fail_unless (min >= 1 && min <= 8, "min is %u", min);
  fail_unless_equals_int (max, 0);
  fail_unless (
      gst_buffer_pool_has_option (pool, GST_BUFFER_POOL_OPTION_VIDEO_META));
  fail_unless (gst_buffer_pool_has_option (
      pool, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
  gst_object_unref (pool);

  fail_unless (gst_query_get_n_allocation_params (query) > 0);
  gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  fail_unless (allocator != NULL);
  fail_unless_equals_string (allocator->mem_type, MEMORY_TYPE);
  fail_unless (
      !GST_OBJECT_FLAG_IS_SET (allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC));
  gst_object_unref (allocator);

  fail_unless (
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless (gst_query_find_allocation_meta (
      query, GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_query_unref (query);
  test_harness_end (&h);
}
GST_END_TEST

#define TOO_LARGE ((gsize) 1 << 50)

static gpointer
allocate_too_much (gpointer allocator)
{
  return gst_allocator_alloc (allocator, TOO_LARGE, NULL);
}

/* While an error is being posted, another thread runs out of memory. */
static GstBusSyncReply
allocate_beside (GstBus *bus, GstMessage *message, gpointer allocator)
{
  (void) bus;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    fail_unless (g_thread_join (g_thread_new (
                     "beside", allocate_too_much, allocator)) == NULL);
  return GST_BUS_PASS;
}

/* Memory of ours that there is not is the element's error, if it is the first: who
 * allocates may have locked what others wait for. */
GST_START_TEST (test_no_memory_for_upstream) {
  if (__i__ != 0 || test_is_sanitized ()) {
    g_print ("SKIP too much: %s\n",
        __i__ == 0 ? "a sanitizer ends there" : "frames are pageable then");
    return;
  }
  for (guint beside = 0; beside < 2; beside++) {
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, "", &info);
    GstQuery *query = allocation_answer (h, &info);
    GstBus *bus = gst_bus_new ();
    GstAllocator *allocator = NULL;

    gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
    gst_element_set_bus (h->element, bus);
    if (beside) {
      gst_bus_set_sync_handler (bus, allocate_beside, allocator, NULL);
      fail_unless_equals_int (
          gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
    } else {
      fail_unless (allocate_too_much (allocator) == NULL);
    }
    gchar *text = test_harness_error (h);
    test_expect_words (
        text, beside ? "buffer has 0 bytes" : "1125899906842624 bytes");
    g_free (text);
    gst_object_unref (allocator);
    gst_object_unref (bus);
    gst_query_unref (query);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* The element was stopped, but whoever allocates does not know yet: nobody is to
 * learn of it from a pipeline that stands still. */
GST_START_TEST (test_no_memory_after_the_stop) {
  if (__i__ != 0 || test_is_sanitized ()) {
    g_print ("SKIP too much, as above\n");
    return;
  }
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "", &info);
  GstQuery *query = allocation_answer (h, &info);
  GstBus *bus = gst_bus_new ();
  GstAllocator *allocator = NULL;

  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  gst_element_set_bus (h->element, bus);
  gst_element_set_state (h->element, GST_STATE_READY);
  fail_unless (allocate_too_much (allocator) == NULL);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  gst_object_unref (allocator);
  gst_query_unref (query);
  test_harness_end (&h);
  gst_object_unref (bus);
}
GST_END_TEST

static GstPadProbeReturn
count_offered (GstPad *pad, GstPadProbeInfo *info, gpointer count)
{
  (void) pad;
  if (is_offered (GST_PAD_PROBE_INFO_BUFFER (info)))
    g_atomic_int_inc ((gint *) count);
  return GST_PAD_PROBE_OK;
}

/* videotestsrc paints into our memory; what is behind a tee does not, and is
 * right all the same. */
GST_START_TEST (test_upstream_takes_the_offer) {
  gint offered = 0, behind_tee = 0, out = 0;
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=10 ! cudapreproc name=pp width=16 height=16 ! "
      "fakesink videotestsrc num-buffers=10 ! tee ! "
      "cudapreproc name=other width=16 height=16 ! fakesink");

  gst_pad_add_probe (test_pad (pipeline, "pp", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, count_offered, &offered, NULL);
  gst_pad_add_probe (test_pad (pipeline, "other", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, count_offered, &behind_tee, NULL);
  test_count_buffers (test_pad (pipeline, "other", "src"), &out);
  test_play_to_eos (pipeline);
  fail_unless_equals_int (offered, 10);
  fail_unless_equals_int (behind_tee, 0);
  fail_unless_equals_int (out, 10);
  test_stop (&pipeline);
}
GST_END_TEST

/* The same frame in our memory, whole and as a share, and in any other gives
 * the same tensor. */
GST_START_TEST (test_offered_memory) {
  GstHarness *h = test_harness (__i__, "width=16 height=16");
  GstVideoInfo info;
  GstMapInfo map;

  test_video_info (&info, "NV12", 64, 48);
  test_send_caps (h, &info);
  GstBuffer *plain = test_frame (&info, NULL);
  test_paint_noise (plain, &info, 1);
  GstBuffer *offered = gst_harness_create_buffer (h, info.size);
  fail_unless (is_offered (offered));
  fail_unless (gst_buffer_map (plain, &map, GST_MAP_READ));
  fail_unless_equals_int (
      gst_buffer_fill (offered, 0, map.data, map.size), (gint) info.size);
  gst_buffer_unmap (plain, &map);
  GstBuffer *share = gst_buffer_copy_region (
      offered, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_META, 0, info.size);
  GstBuffer *expected = test_convert (h, &info, plain);

  GstBuffer *tensor = test_convert (h, &info, share);
  test_expect_equal (tensor, expected, "a share of our memory");
  gst_buffer_unref (tensor);
  tensor = test_convert (h, &info, offered);
  test_expect_equal (tensor, expected, "our memory");
  gst_buffer_unref (tensor);
  gst_buffer_unref (expected);
  test_harness_end (&h);
}
GST_END_TEST

/* tensors */

/* One memory of exactly the tensor's bytes, whatever they are. */
GST_START_TEST (test_tensor_is_one_memory) {
  static const struct {
    const gchar *properties;
    gsize size;
  } cases[] = {
    { "width=641 height=3 type=uint8 layout=nhwc", 5769 },
    { "width=641 height=3 type=uint8 layout=nchw", 5769 },
    { "width=1 height=1 type=uint8 channels=gray", 1 },
    { "width=5 height=7 type=float16 channels=gray", 70 },
    { "width=5 height=7 channels=bgr", 420 },
    { "width=640 height=640", 4915200 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = test_harness (__i__, cases[i].properties);
    GstVideoInfo info;

    test_video_info (&info, "RGB", 32, 24);
    GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
    fail_unless_equals_int (gst_buffer_n_memory (tensor), 1);
    fail_unless_equals_uint64 (gst_buffer_get_size (tensor), cases[i].size);
    fail_unless (gst_buffer_is_all_memory_writable (tensor));
    gst_buffer_unref (tensor);
    test_harness_end (&h);
  }
}
GST_END_TEST

static gpointer
map_often (gpointer tensor)
{
  for (guint i = 0; i < 200; i++) {
    GstMapInfo map;
    if (!gst_buffer_map (tensor, &map, GST_MAP_READ))
      return NULL;
    gst_buffer_unmap (tensor, &map);
  }
  return tensor;
}

/* While its job may still be running: twice at once, and from four threads. */
GST_START_TEST (test_tensor_maps) {
  GstHarness *h =
      test_harness (__i__, "width=256 height=256 type=uint8 streams=2");
  GstVideoInfo info;
  GThread *thread[4];
  GstMapInfo first, second;

  test_video_info (&info, "RGB", 640, 480);
  GstBuffer *tensor =
      test_convert (h, &info, test_numbered_frame (&info, 4711));
  for (guint t = 0; t < G_N_ELEMENTS (thread); t++)
    thread[t] = g_thread_new ("map", map_often, tensor);
  fail_unless (gst_buffer_map (tensor, &first, GST_MAP_READ));
  fail_unless (gst_buffer_map (tensor, &second, GST_MAP_READ));
  fail_unless (first.data == second.data && first.size == second.size);
  gst_buffer_unmap (tensor, &second);
  gst_buffer_unmap (tensor, &first);
  for (guint t = 0; t < G_N_ELEMENTS (thread); t++)
    fail_unless (g_thread_join (thread[t]) != NULL, "a map failed");
  fail_unless_equals_int (test_number_of (tensor), 4711);

  fail_unless (gst_buffer_map (tensor, &first, GST_MAP_READWRITE));
  memset (first.data, 0, first.size);
  gst_buffer_unmap (tensor, &first);
  fail_unless_equals_int (test_number_of (tensor), 0);
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* A copy is ordinary memory; a share is the same bytes, and is not overwritten
 * by later frames although its buffer is gone. */
GST_START_TEST (test_tensor_copies_and_shares) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=1", &info);
  GstBuffer *tensor = test_convert (h, &info, test_numbered_frame (&info, 77));
  const gsize size = gst_buffer_get_size (tensor);
  GstMapInfo map;

  GstBuffer *copy = gst_buffer_copy_deep (tensor);
  fail_unless (gst_memory_is_type (
      gst_buffer_peek_memory (copy, 0), GST_ALLOCATOR_SYSMEM));
  GstBuffer *share = gst_buffer_copy_region (
      tensor, GST_BUFFER_COPY_MEMORY, size / 3, size / 3);
  fail_unless (is_offered (share));
  GstBuffer *share_of_share =
      gst_buffer_copy_region (share, GST_BUFFER_COPY_MEMORY, 8, size / 3 - 8);
  gst_buffer_unref (tensor);

  for (guint n = 0; n < 50; n++)
    gst_buffer_unref (
        test_convert (h, &info, test_numbered_frame (&info, 1000 + n)));
  fail_unless_equals_int (test_number_of (copy), 77);
  fail_unless (gst_buffer_map (share, &map, GST_MAP_READ));
  fail_unless (map.size == size / 3 && map.data[0] == 0 &&
      memcmp (map.data, map.data + 1, map.size - 1) == 0);
  gst_buffer_unmap (share, &map);
  fail_unless (gst_buffer_map (share_of_share, &map, GST_MAP_READ));
  fail_unless (map.size == size / 3 - 8 && map.data[0] == 0 &&
      memcmp (map.data, map.data + 1, map.size - 1) == 0);
  gst_buffer_unmap (share_of_share, &map);
  fail_unless (
      !gst_memory_map (gst_buffer_peek_memory (share, 0), &map, GST_MAP_WRITE));
  gst_buffer_unref (copy);
  gst_buffer_unref (share);
  gst_buffer_unref (share_of_share);
  test_harness_end (&h);
}
GST_END_TEST

static guint8 *
address_of (GstMemory *memory)
{
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  guint8 *data = map.data; /* which unmapping may clear */
  gst_memory_unmap (memory, &map);
  return data;
}

/* Shares to the end of what they share, and neighbours that are one piece. */
GST_START_TEST (test_shares_are_where_they_say) {
  GstHarness *h = test_harness (__i__, "width=16 height=16 type=uint8");
  GstVideoInfo info;
  GstAllocationParams params;
  gsize offset = 0;

  gst_allocation_params_init (&params);
  params.prefix = 32;
  gst_harness_set_propose_allocator (h, NULL, &params);
  test_video_info (&info, "RGB", 16, 16);
  GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
  GstMemory *whole = gst_buffer_peek_memory (tensor, 0);
  GstMemory *rest = gst_memory_share (whole, 100, -1);
  GstMemory *rest_of_rest = gst_memory_share (rest, 50, -1);
  GstMemory *first = gst_memory_share (whole, 20, 30);
  GstMemory *second = gst_memory_share (whole, 50, 7);

  fail_unless_equals_uint64 (rest->size, 16 * 16 * 3 - 100);
  fail_unless (address_of (rest) == address_of (whole) + 100);
  fail_unless_equals_uint64 (rest_of_rest->size, 16 * 16 * 3 - 150);
  fail_unless (address_of (rest_of_rest) == address_of (whole) + 150);
  fail_unless (gst_memory_is_span (first, second, &offset));
  fail_unless_equals_uint64 (offset, 20);
  fail_unless (!gst_memory_is_span (second, first, &offset));
  fail_unless (!gst_memory_is_span (first, rest, &offset));
  gst_memory_unref (rest);
  gst_memory_unref (rest_of_rest);
  gst_memory_unref (first);
  gst_memory_unref (second);
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* Consumers do what they may with a tensor of their own; later tensors, also in
 * the same memory, are whole, and padding too. */
static void
check_after_misuse (GstHarness *h, void (*misuse) (GstBuffer *tensor))
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 16);
  GstBuffer *frame = test_frame (&info, NULL);
  test_paint_noise (frame, &info, 1);
  GstBuffer *first = test_convert (h, &info, gst_buffer_ref (frame));
  GstBuffer *expected = gst_buffer_copy_deep (first);

  gst_buffer_unref (first);
  for (guint n = 0; n < 40; n++) {
    GstBuffer *tensor = test_convert (h, &info, gst_buffer_ref (frame));
    test_expect_equal (tensor, expected, "after misuse");
    misuse (tensor);
    gst_buffer_unref (tensor);
  }
  gst_buffer_unref (expected);
  gst_buffer_unref (frame);
}

static void
overwrite (GstBuffer *tensor)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_WRITE));
  memset (map.data, 0xee, map.size);
  gst_buffer_unmap (tensor, &map);
}

static void
resize (GstBuffer *tensor)
{
  gst_buffer_resize (tensor, 16, 100);
}

static void
resize_and_overwrite (GstBuffer *tensor)
{
  resize (tensor);
  overwrite (tensor);
}

static void
replace_memory (GstBuffer *tensor)
{
  gst_buffer_remove_all_memory (tensor);
  gst_buffer_append_memory (tensor, gst_allocator_alloc (NULL, 10, NULL));
}

static void
leave_alone (GstBuffer *tensor)
{
  (void) tensor;
}

static void (*const misuses[]) (GstBuffer *tensor) = { leave_alone, overwrite,
  resize, resize_and_overwrite, replace_memory };

GST_START_TEST (test_tensor_misuse) {
  for (guint i = 0; i < G_N_ELEMENTS (misuses); i++) {
    GstHarness *h = test_harness (
        __i__, "width=16 height=16 fit=letterbox streams=2 type=uint8");
    check_after_misuse (h, misuses[i]);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Alignment, prefix and padding are as downstream asked, in every buffer and
 * not only in a new one. */
GST_START_TEST (test_downstream_parameters) {
  GstAllocationParams params;

  for (guint i = 0; i < G_N_ELEMENTS (misuses); i++) {
    GstHarness *h = test_harness (
        __i__, "width=16 height=16 fit=letterbox streams=2 type=uint8");
    GstVideoInfo info;

    gst_allocation_params_init (&params);
    params.align = 511;
    params.prefix = 512;
    params.padding = 64;
    gst_harness_set_propose_allocator (h, NULL, &params);
    check_after_misuse (h, misuses[i]);

    test_video_info (&info, "RGB", 32, 16);
    for (guint n = 0; n < 20; n++) {
      GstMapInfo map;
      gsize offset, maxsize;
      GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
      fail_unless_equals_int (
          gst_buffer_get_sizes (tensor, &offset, &maxsize), 16 * 16 * 3);
      fail_unless_equals_int (offset, 512);
      fail_unless (maxsize >= 512 + 16 * 16 * 3 + 64);
      fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
      fail_unless_equals_int (GPOINTER_TO_SIZE (map.data) & params.align, 0);
      gst_buffer_unmap (tensor, &map);
      gst_buffer_unref (tensor);
    }
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Someone keeps a tensor, or only its memory, while the pool goes on. */
GST_START_TEST (test_kept_tensors) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=2", &info);
  GstBuffer *kept[20];
  GstMemory *memory[20];

  for (guint n = 0; n < 100; n++) {
    GstBuffer *tensor = test_convert (h, &info, test_numbered_frame (&info, n));
    if (n % 5 == 0) {
      kept[n / 5] = gst_buffer_ref (tensor);
    } else if (n % 5 == 1) {
      memory[n / 5] = gst_buffer_get_memory (tensor, 0);
    }
    gst_buffer_unref (tensor);
  }
  for (guint k = 0; k < G_N_ELEMENTS (kept); k++) {
    GstBuffer *other = gst_buffer_new ();
    gst_buffer_append_memory (other, memory[k]);
    fail_unless_equals_int (test_number_of (kept[k]), 5 * k);
    fail_unless_equals_int (test_number_of (other), 5 * k + 1);
    gst_buffer_unref (kept[k]);
    gst_buffer_unref (other);
  }
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_allocation_answer);
  test_add (tcase, test_no_memory_for_upstream);
  test_add (tcase, test_no_memory_after_the_stop);
  test_add (tcase, test_upstream_takes_the_offer);
  test_add (tcase, test_offered_memory);
  test_add (tcase, test_tensor_is_one_memory);
  test_add (tcase, test_tensor_maps);
  test_add (tcase, test_tensor_copies_and_shares);
  test_add (tcase, test_shares_are_where_they_say);
  test_add (tcase, test_tensor_misuse);
  test_add (tcase, test_downstream_parameters);
  test_add (tcase, test_kept_tensors);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-memory", add_tests);
}
