/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in CUDA memory and tensors that stay on the device: the same bits as
 * through host memory, whichever of them is on the device; what is refused; maps
 * of tensors of all kinds.
 */

#include <gst/cuda/gstcudamemory.h>
#include <string.h>

#include "gst/cudapreproc/cudapreproc.h"

#include "tests/common/cudaframes.h"
#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define MAP_CUDA ((GstMapFlags) (GST_MAP_FLAG_LAST << 1))

/* What is in memory of which kind. */
typedef struct {
  gboolean frames, tensors;
} Place;

static const Place places[] = { { TRUE, FALSE }, { FALSE, TRUE },
  { TRUE, TRUE } };

/* What a frame of info and seed has besides its samples. */
typedef void (*Decorate) (GstBuffer *frame, const GstVideoInfo *info);

static GstBuffer *
make_frame (GstCudaContext *context, gboolean cuda, const GstVideoInfo *info,
    guint32 seed, Decorate decorate)
{
  static const TestLayout plain = { 0 };
  GstBuffer *frame =
      cuda ? test_cuda_noise (context, info, seed) : test_frame (info, &plain);

  if (!cuda)
    test_paint_noise (frame, info, seed);
  if (decorate != NULL)
    decorate (frame, info);
  return frame;
}

/* Sends frames to a harness, then EOS; all buffers that come, as one list. */
static GList *
convert (const gchar *properties, Place place, const GstVideoInfo *info,
    guint frames, Decorate decorate)
{
  GstHarness *h = test_cuda_harness (properties, place.tensors);
  GstCudaContext *context = test_cuda_context_of (h);
  GList *list = NULL;

  test_cuda_send_caps (h, info, place.frames);
  for (guint f = 0; f < frames; f++) {
    GstBuffer *frame = make_frame (context, place.frames, info, f, decorate);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while (gst_harness_buffers_in_queue (h) > 0)
    list = g_list_append (list, gst_harness_pull (h));
  test_harness_end (&h);
  gst_object_unref (context);
  return list;
}

static void
free_buffers (GList *list)
{
  g_list_free_full (list, (GDestroyNotify) gst_buffer_unref);
}

static gboolean
is_on_device (GstBuffer *tensor)
{
  GstCudaPreprocDeviceTensor device;

  return gst_cuda_preproc_memory_get_device_tensor (
      gst_buffer_peek_memory (tensor, 0), &device);
}

/* All combinations give the bits of host memory. */
static void
expect_same (const gchar *properties, const gchar *format, gint width,
    gint height, guint frames, Decorate decorate)
{
  GstVideoInfo info;

  test_video_info (&info, format, width, height);
  GList *expected =
      convert (properties, (Place){ FALSE, FALSE }, &info, frames, decorate);
  for (guint p = 0; p < G_N_ELEMENTS (places); p++) {
    g_autofree gchar *what = g_strdup_printf ("%s, %s, frames %d, tensors %d",
        format, properties, places[p].frames, places[p].tensors);
    GList *got = convert (properties, places[p], &info, frames, decorate);

    fail_unless (g_list_length (got) == g_list_length (expected) && got != NULL,
        "%s: %u buffers", what, g_list_length (got));
    for (GList *g = got, *e = expected; g != NULL; g = g->next, e = e->next) {
      fail_unless (is_on_device (g->data) == places[p].tensors, "%s", what);
      test_expect_equal (g->data, e->data, what);
    }
    free_buffers (got);
  }
  free_buffers (expected);
}

static const gchar *const settings[] = {
  "width=16 height=16",
  "width=41 height=3 type=uint8 layout=nhwc",
  "width=5 height=7 type=float16 channels=gray",
  ("width=7 height=5 type=int8 quant-zero-point=-128 fit=letterbox "
   "pad-align=top-left"),
  "preset=yolo width=40 height=24",
  "width=33 height=17 fit=crop method=bicubic antialias=true pad-value=1,2,3",
  "width=20 height=20 fit=letterbox method=lanczos denoise=gaussian",
  "width=20 height=20 fit=letterbox method=area denoise=median layout=nhwc",
  "width=24 height=20 video-direction=90r fit=letterbox",
  "width=24 height=20 video-direction=ur-ll crop=3,5,20,9",
};

GST_START_TEST (test_same_bits) {
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "RGB", "BGRA",
    "P010_10LE", "I420_10LE", "Y444", "GBR", "RGBP" };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    expect_same (
        settings[f % G_N_ELEMENTS (settings)], formats[f], 38, 24, 3, NULL);
  for (guint s = 0; s < G_N_ELEMENTS (settings); s++)
    expect_same (settings[s], "NV12", 64, 36, 2, NULL);
  expect_same ("width=16 height=16", "NV12", 37, 23, 2, NULL);
}
GST_END_TEST

/* The last batch is not full. */
GST_START_TEST (test_batches) {
  expect_same (
      "width=20 height=20 fit=letterbox batch-size=3", "NV12", 64, 36, 7, NULL);
  expect_same ("width=8 height=8 batch-size=2 attach-frame=true", "NV12", 64,
      36, 3, NULL);
  expect_same ("width=5 height=7 type=uint8 batch-size=2 async-depth=2", "RGB",
      40, 24, 5, NULL);
}
GST_END_TEST

static void
add_regions (GstBuffer *frame, const GstVideoInfo *info)
{
  (void) info;
  gst_buffer_add_video_region_of_interest_meta (frame, "face", 3, 5, 17, 9);
  gst_buffer_add_video_region_of_interest_meta (frame, "face", 20, 0, 30, 36);
  gst_buffer_add_video_region_of_interest_meta (frame, "car", 0, 0, 64, 36);
}

GST_START_TEST (test_regions) {
  expect_same ("width=20 height=20 fit=letterbox regions=meta batch-size=2",
      "NV12", 64, 36, 3, add_regions);
  expect_same ("width=9 height=6 type=uint8 regions=meta batch-size=4", "RGB",
      64, 36, 2, add_regions);
}
GST_END_TEST

static void
add_crop (GstBuffer *frame, const GstVideoInfo *info)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);

  (void) info;
  crop->x = 5;
  crop->y = 3;
  crop->width = 31;
  crop->height = 22;
}

GST_START_TEST (test_crop_meta) {
  expect_same ("width=20 height=20 fit=letterbox", "NV12", 64, 36, 2, add_crop);
}
GST_END_TEST

/* The frame begins inside of the memory, at an odd address. */
static void
begin_inside (GstBuffer *frame, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (frame);

  (void) info;
  meta->offset[0] += (gsize) meta->stride[0] * 3 + 3 * 7;
  meta->width -= 9;
  meta->height -= 3;
}

/* Every second row. */
static void
skip_rows (GstBuffer *frame, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (frame);

  (void) info;
  meta->stride[0] *= 2;
  meta->height /= 2;
}

/* As expect_same, for frames whose meta differs from what was painted: info is of
 * the painted frame, and caps say what decorate leaves. */
static void
expect_same_layout (gint width, gint height, Decorate decorate)
{
  GstVideoInfo painted, sent;

  test_video_info (&painted, "RGB", 64, 40);
  test_video_info (&sent, "RGB", width, height);
  GstBuffer *tensor[2];
  for (gint cuda = 0; cuda < 2; cuda++) {
    GstHarness *h = test_cuda_harness ("width=16 height=16", cuda);
    GstCudaContext *context = test_cuda_context_of (h);
    test_cuda_send_caps (h, &sent, cuda);
    fail_unless_equals_int (
        gst_harness_push (h, make_frame (context, cuda, &painted, 1, decorate)),
        GST_FLOW_OK);
    tensor[cuda] = gst_harness_pull (h);
    test_harness_end (&h);
    gst_object_unref (context);
  }
  test_expect_equal (tensor[1], tensor[0], "layout");
  gst_buffer_unref (tensor[0]);
  gst_buffer_unref (tensor[1]);
}

GST_START_TEST (test_layouts) {
  expect_same_layout (55, 37, begin_inside);
  expect_same_layout (64, 20, skip_rows);
}
GST_END_TEST

/* The error for one frame, whose memory is in CUDA's or not, with caps that say
 * CUDA memory. */
static void
expect_refused (GstHarness *h, GstBuffer *frame, const gchar *words)
{
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  g_autofree gchar *text = test_harness_error (h);
  test_expect_words (text, words);
  test_harness_end (&h);
}

static GstHarness *
refusing_harness (GstVideoInfo *info, GstCudaContext **context)
{
  GstHarness *h = test_cuda_harness ("width=16 height=16", FALSE);

  test_video_info (info, "RGB", 32, 24);
  test_cuda_send_caps (h, info, TRUE);
  *context = test_cuda_context_of (h);
  return h;
}

/* Brings what the host wrote to the device, as what a decoder leaves there: a map
 * for the host copies it down. */
static void
bring_to_device (GstMemory *memory)
{
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, MAP_CUDA | GST_MAP_READWRITE));
  gst_memory_unmap (memory, &map);
  fail_unless (
      GST_MEMORY_FLAG_IS_SET (memory, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD));
}

/* The CPU's tensor of one frame. The CPU can read no device pointer, though those of
 * the fake driver could be read: it must have copied the frame down. */
static GstBuffer *
convert_on_cpu (const GstVideoInfo *info, gboolean cuda)
{
  GstHarness *h = test_harness (0, "width=20 height=20 fit=letterbox");
  GstCudaContext *context = cuda ? test_cuda_context (0) : NULL;
  GstBuffer *frame = make_frame (context, cuda, info, 1, NULL);

  GstMemory *memory = gst_memory_ref (gst_buffer_peek_memory (frame, 0));

  if (cuda)
    bring_to_device (memory);
  gst_harness_set_sink_caps_str (h, "other/tensors");
  test_cuda_send_caps (h, info, cuda);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  GstBuffer *tensor = gst_harness_pull (h);
  fail_if (cuda &&
      GST_MEMORY_FLAG_IS_SET (memory, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD));
  gst_memory_unref (memory);
  test_harness_end (&h);
  gst_clear_object (&context);
  return tensor;
}

/* The CPU does not offer to take frames in CUDA memory, but takes them. A decoder in
 * decodebin sends such caps before it is linked; an error would end the stream. */
GST_START_TEST (test_cpu_takes_them) {
  GstVideoInfo info;

  test_video_info (&info, "NV12", 64, 36);
  GstBuffer *expected = convert_on_cpu (&info, FALSE);
  GstBuffer *got = convert_on_cpu (&info, TRUE);
  test_expect_equal (got, expected, "frames in CUDA memory on the CPU");
  gst_buffer_unref (got);
  gst_buffer_unref (expected);
}
GST_END_TEST

GST_START_TEST (test_refused_frames) {
  GstCudaContext *context;
  GstVideoInfo info;

  GstHarness *h = refusing_harness (&info, &context);
  GstBuffer *frame = test_cuda_noise (context, &info, 1);
  gst_buffer_get_video_meta (frame)->offset[0] +=
      (gsize) gst_buffer_get_video_meta (frame)->stride[0];
  expect_refused (h, frame, "too short|plane 0|RGB 32x24");
  gst_object_unref (context);

  h = refusing_harness (&info, &context);
  expect_refused (h, test_frame (&info, NULL), "memory:CUDAMemory|plane 0");
  gst_object_unref (context);

  h = refusing_harness (&info, &context);
  frame = test_cuda_noise (context, &info, 1);
  GstBuffer *spread = gst_buffer_new ();
  for (guint i = 0; i < 2; i++)
    gst_buffer_append_memory (
        spread, gst_memory_ref (gst_buffer_peek_memory (frame, 0)));
  gst_buffer_unref (frame);
  expect_refused (h, spread, "memory:CUDAMemory|plane 0");
  gst_object_unref (context);
}
GST_END_TEST

/* A copy within the device is under way when GStreamer returns it. */
GST_START_TEST (test_copies_are_waited_for) {
  GstVideoInfo info;
  GstHarness *h = test_cuda_harness ("width=16 height=16 type=uint8", FALSE);
  GstCudaContext *context = test_cuda_context_of (h);

  test_video_info (&info, "RGB", 32, 24);
  test_cuda_send_caps (h, &info, TRUE);
  GstBuffer *frame = test_cuda_noise (context, &info, 5);
  gst_harness_push (h, gst_buffer_ref (frame));
  GstBuffer *expected = gst_harness_pull (h);
  GstBuffer *copy = gst_buffer_copy_deep (frame);
  gst_harness_push (h, copy);
  GstBuffer *got = gst_harness_pull (h);
  test_expect_equal (got, expected, "the copy");
  gst_buffer_unref (got);
  gst_buffer_unref (expected);
  gst_buffer_unref (frame);
  test_harness_end (&h);
  gst_object_unref (context);
}
GST_END_TEST

/* A tensor of uint8 on the device, and what is in it. */
static GstBuffer *
device_tensor (GstHarness *h, GstBuffer **same)
{
  GstVideoInfo info;
  GstHarness *host =
      test_cuda_harness ("width=16 height=20 fit=letterbox type=uint8", FALSE);

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *frame = make_frame (NULL, FALSE, &info, 9, NULL);
  *same = test_convert (host, &info, gst_buffer_ref (frame));
  GstBuffer *tensor = test_convert (h, &info, frame);
  test_harness_end (&host);
  return tensor;
}

static GstHarness *
device_harness (void)
{
  return test_cuda_harness (
      "name=cudapreproc width=16 height=20 fit=letterbox type=uint8", TRUE);
}

/* Tensors outlive the element; what is read, shared and copied is the tensor. */
GST_START_TEST (test_reads) {
  GstHarness *h = device_harness ();
  GstCudaPreprocDeviceTensor device, part;
  GstBuffer *same;
  GstMapInfo map, host;

  GstBuffer *tensor = device_tensor (h, &same);
  test_harness_end (&h);
  GstMemory *memory = gst_buffer_peek_memory (tensor, 0);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ | MAP_CUDA));
  fail_unless (gst_cuda_preproc_memory_get_device_tensor (memory, &device));
  fail_unless_equals_uint64 (device.data, (guintptr) map.data);
  fail_unless_equals_uint64 (device.size, map.size);
  fail_unless (device.context != NULL && device.device == 0);
  fail_unless (gst_memory_map (memory, &host, GST_MAP_READ));
  fail_unless (host.data != map.data);
  gst_memory_unmap (memory, &host);
  gst_memory_unmap (memory, &map);
  for (gint again = 0; again < 2; again++)
    test_expect_equal (tensor, same, "a read");

  GstMemory *share = gst_memory_share (memory, 100, 50);
  fail_unless (gst_cuda_preproc_memory_get_device_tensor (share, &part));
  fail_unless_equals_uint64 (part.data, device.data + 100);
  fail_unless_equals_uint64 (part.size, 50);
  fail_unless (gst_memory_map (share, &host, GST_MAP_READ));
  fail_unless (gst_buffer_memcmp (same, 100, host.data, 50) == 0);
  gst_memory_unmap (share, &host);
  gst_memory_unref (share);

  GstBuffer *copy = gst_buffer_copy_deep (tensor);
  fail_if (is_on_device (copy));
  test_expect_equal (copy, same, "a copy");
  gst_buffer_unref (copy);
  gst_buffer_unref (tensor);
  gst_buffer_unref (same);
}
GST_END_TEST

static void
fill (GstBuffer *tensor, guint8 value)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_WRITE));
  memset (map.data, value, map.size);
  gst_buffer_unmap (tensor, &map);
}

/* What is written gets to the device, from where it is read again; the next tensor
 * in the same memory is whole, its padding, too. */
GST_START_TEST (test_writes) {
  GstHarness *h = device_harness ();
  GstBuffer *same;
  GstMapInfo map;

  GstBuffer *tensor = device_tensor (h, &same);
  fill (tensor, 7);
  /* drops the copy in host memory */
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READWRITE | MAP_CUDA));
  gst_buffer_unmap (tensor, &map);
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  for (gsize i = 0; i < map.size; i++)
    if (map.data[i] != 7)
      fail ("byte %" G_GSIZE_FORMAT " is %d", i, map.data[i]);
  gst_buffer_unmap (tensor, &map);
  gst_buffer_unref (same);
  for (gint again = 0; again < 8; again++) {
    gst_buffer_unref (tensor);
    tensor = device_tensor (h, &same);
    test_expect_equal (tensor, same, "the next tensor");
    fill (tensor, 9);
    gst_buffer_unref (same);
  }
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* A program that knows less, or more, of the struct than the plugin. */
GST_START_TEST (test_struct_sizes) {
  const GQuark key =
      g_quark_from_static_string (GST_CUDA_PREPROC_DEVICE_TENSOR_NAME);
  GstHarness *h = device_harness ();
  GstBuffer *same;

  GstBuffer *tensor = device_tensor (h, &same);
  GstMemory *memory = gst_buffer_peek_memory (tensor, 0);
  const GstCudaPreprocDeviceAccess *access =
      gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (memory), key);
  struct {
    GstCudaPreprocDeviceTensor known;
    gint64 more;
  } newer = { .known.struct_size = sizeof newer, .more = -1 };
  fail_unless (access->describe (memory, &newer.known));
  fail_unless (newer.known.data != 0 && newer.more == -1);
  GstCudaPreprocDeviceTensor older;
  memset (&older, 0xa5, sizeof older);
  older.struct_size = G_STRUCT_OFFSET (GstCudaPreprocDeviceTensor, device);
  const gint before = older.device;
  fail_unless (access->describe (memory, &older));
  fail_unless (older.data == newer.known.data && older.device == before);
  gst_buffer_unref (tensor);
  gst_buffer_unref (same);
  test_harness_end (&h);
}
GST_END_TEST

/* What stays on the device crosses no bus. */
GST_START_TEST (test_nothing_moves) {
  for (guint p = 0; p < G_N_ELEMENTS (places); p++) {
    guint64 up, down, staged;
    GstVideoInfo info;
    GstHarness *h = test_cuda_harness (
        "name=cudapreproc width=16 height=16", places[p].tensors);
    GstCudaContext *context = test_cuda_context_of (h);

    test_video_info (&info, "NV12", 64, 36);
    test_cuda_send_caps (h, &info, places[p].frames);
    for (guint f = 0; f < 10; f++) {
      gst_harness_push (
          h, make_frame (context, places[p].frames, &info, f, NULL));
      gst_buffer_unref (gst_harness_pull (h));
    }
    gst_harness_push_event (h, gst_event_new_eos ());
    GstStructure *stats = test_stats (h);
    fail_unless (gst_structure_get (stats, "bytes-up", G_TYPE_UINT64, &up,
        "bytes-down", G_TYPE_UINT64, &down, "bytes-staged", G_TYPE_UINT64,
        &staged, NULL));
    fail_unless ((up == 0) == places[p].frames, "%" G_GUINT64_FORMAT, up);
    fail_unless ((staged == 0) == places[p].frames);
    fail_unless ((down == 0) == places[p].tensors, "%" G_GUINT64_FORMAT, down);
    const gchar *word = gst_structure_get_string (stats, "bottleneck");
    fail_if (places[p].frames && strcmp (word, "pageable-input") == 0);
    gst_structure_free (stats);
    gst_object_unref (context);
    test_harness_end (&h);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_test (tcase, test_same_bits);
  tcase_add_test (tcase, test_batches);
  tcase_add_test (tcase, test_regions);
  tcase_add_test (tcase, test_crop_meta);
  tcase_add_test (tcase, test_layouts);
  tcase_add_test (tcase, test_cpu_takes_them);
  tcase_add_test (tcase, test_refused_frames);
  tcase_add_test (tcase, test_copies_are_waited_for);
  tcase_add_test (tcase, test_reads);
  tcase_add_test (tcase, test_writes);
  tcase_add_test (tcase, test_struct_sizes);
  tcase_add_test (tcase, test_nothing_moves);
}

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, "element-device", add_tests);
}
