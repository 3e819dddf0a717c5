/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "messagerows.h"

#include <glib/gstdio.h>

#include "tests/common/elementutil.h"

static const Kind settings = { gst_library_error_quark,
  GST_LIBRARY_ERROR_SETTINGS, "property", GST_FLOW_NOT_NEGOTIATED,
  .is_told_again = TRUE };
static const Kind negotiation = { gst_core_error_quark,
  GST_CORE_ERROR_NEGOTIATION, "caps|properties|defaults",
  GST_FLOW_NOT_NEGOTIATED, .is_told_again = TRUE };
static const Kind video = { gst_core_error_quark, GST_CORE_ERROR_NEGOTIATION,
  "frames|gst-inspect-1.0 cudapreproc|videoconvert|deinterlace",
  GST_FLOW_NOT_NEGOTIATED, .is_told_again = TRUE };
const Kind message_input = { gst_stream_error_quark, GST_STREAM_ERROR_FORMAT,
  "element before cudapreproc|caps|another element", GST_FLOW_ERROR,
  .is_told_again = TRUE };
static const Kind no_device = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_NOT_FOUND, "driver|cuda-device-id|backend=cpu",
  .is_told_again = TRUE };
const Kind message_no_memory = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_NO_SPACE_LEFT, "smaller frames|fewer",
  GST_FLOW_NOT_NEGOTIATED };
const Kind message_forked = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_FAILED, "after the fork|exec", GST_FLOW_NOT_NEGOTIATED };
static const Kind file = { gst_resource_error_quark,
  GST_RESOURCE_ERROR_OPEN_WRITE, "folder that exists", GST_FLOW_OK };
static const Kind clamped = { gst_library_error_quark,
  GST_LIBRARY_ERROR_SETTINGS, "quant-scale|quant-zero-point", GST_FLOW_OK,
  .is_warning = TRUE };
static const Kind undone = { gst_library_error_quark,
  GST_LIBRARY_ERROR_SETTINGS, "g_object_set|keep the values", GST_FLOW_OK,
  .is_warning = TRUE };
static const Kind missed = { gst_library_error_quark,
  GST_LIBRARY_ERROR_SETTINGS, "crop that lies in the frame", GST_FLOW_OK,
  .is_warning = TRUE };
static const Kind relinked = { gst_core_error_quark, GST_CORE_ERROR_NEGOTIATION,
  "Block the pad|async-depth=0", GST_FLOW_OK, .is_warning = TRUE };

/* What goes wrong around a frame. */

static gpointer
fail_to_map (GstMemory *memory, GstMapInfo *map, gsize size)
{
  (void) memory;
  (void) map;
  (void) size;
  return NULL;
}

static GstFlowReturn
push_unmappable (GstHarness *h, GstBuffer *frame)
{
  GstAllocator *allocator = gst_allocator_find (GST_ALLOCATOR_SYSMEM);
  const GstMemoryMapFullFunction map = allocator->mem_map_full;

  allocator->mem_map_full = fail_to_map;
  const GstFlowReturn flow = gst_harness_push (h, frame);
  allocator->mem_map_full = map;
  gst_object_unref (allocator);
  return flow;
}

static GstFlowReturn
push_without_folder (GstHarness *h, GstBuffer *frame)
{
  g_rmdir ("lost");
  return gst_harness_push (h, frame);
}

/* Before the second frame the application sets a value that is none. */
static GstFlowReturn
push_after_bad_value (GstHarness *h, GstBuffer *frame)
{
  if (GST_BUFFER_OFFSET (frame) == 1)
    g_object_set (h->element, "mean", "x", NULL);
  return gst_harness_push (h, frame);
}

/* With the third frame downstream is another, which takes no tensor that was made
 * for the one before; the first left at once, the second is held back. */
static GstFlowReturn
push_while_relinked (GstHarness *h, GstBuffer *frame)
{
  const GstPadChainFunction take = GST_PAD_CHAINFUNC (h->sinkpad);

  if (GST_BUFFER_OFFSET (frame) == 2) {
    gst_harness_push_upstream_event (h, gst_event_new_reconfigure ());
    gst_pad_set_chain_function (h->sinkpad, test_refuse);
  }
  const GstFlowReturn flow = gst_harness_push (h, frame);
  gst_pad_set_chain_function (h->sinkpad, take);
  return flow;
}

#define T "other/tensors, format = static, num_tensors = 1, "
#define VIDEO "video/x-raw, width = 32, height = 24, "

#define HELD "streams=2 async-depth=2"
#define MISSING(bytes)                                                         \
  &(const Spoilt)                                                              \
  {                                                                            \
    .missing = bytes                                                           \
  }
#define META(format, width, stride, offset)                                    \
  &(const Spoilt)                                                              \
  {                                                                            \
    0, GST_VIDEO_FORMAT_##format, width, stride, offset, NULL                  \
  }
#define CROP(x, y, width, height)                                              \
  &(const Spoilt)                                                              \
  {                                                                            \
    .crop = (const guint[])                                                    \
    {                                                                          \
      x, y, width, height                                                      \
    }                                                                          \
  }

const Row message_rows[] = {
  /* lists */
  { "mean=a,b", &settings, "mean=a,b|list of numbers" },
  { "std=1,2", &settings, "std=1,2|2 values|3 channels" },
  { "crop=1,2,3", &settings, "crop=1,2,3|x,y,width,height" },
  { "crop=0,0,1.5,2", &settings, "crop=0,0,1.5,2|1.5|whole number" },
  { "crop=32,0,10,24", &settings, "crop=32,0,10,24|no pixel|32x24" },
  { "crop=-10,-10,10,10", &settings, "crop=-10,-10,10,10|no pixel|32x24" },
  { "video-direction=custom", &settings,
      "video-direction=custom|ur-ll or auto" },
  { "mean=1,2", &settings, "mean=1,2|2 values|3 channels" },
  { "mean=1,2 channels=gray", &settings,
      "mean=1,2|2 values|1 channel,|1 or 3" },
  { "pad-value=1,2", &settings, "pad-value=1,2" },
  { "std=\"\"", &settings, "std is empty|list of numbers" },
  { "crop=0,0,0,0", &settings, "crop=0,0,0,0|width is 0|at least 1" },
  /* numbers */
  { "std=0", &settings, "std[0]|0" },
  { "std=1,0,1", &settings, "std[1]|0" },
  { "std=nan", &settings, "std|nan" },
  { "std=1e-320", &settings, "std" },
  { "mean=inf", &settings, "mean[0]|inf|finite" },
  { "mean=0,0,-nan", &settings, "mean[2]|nan" },
  { "scale=1e30 std=1e-20", &settings,
      "scale is 1e+30|std[0] 1e-20|together a factor of inf" },
  { "scale=0 type=uint8", &settings, "scale is 0|quant-scale|must not be 0" },
  { "pad-value=300", &settings, "pad-value[0]|300|0 to 255" },
  { "pad-value=-1", &settings, "pad-value|-1" },
  { "quant-scale=-1 type=uint8", &settings, "quant-scale|-1" },
  { "quant-zero-point=300 type=uint8", &settings, "quant-zero-point|300" },
  { "quant-zero-point=200 type=int8", &settings, "quant-zero-point|200" },
  { "width=64 height=64 resize=10 fit=crop", &settings, "resize is 10|64" },
  { "crop-fraction=2 fit=crop", &settings, "crop-fraction is 2" },
  { "crop-fraction=1e-20 fit=crop", &settings,
      "crop-fraction is 1e-20|before the crop" },
  { "crop-fraction=1e-20 fit=crop width=32 height=24", &settings,
      "crop-fraction is 1e-20|a size of 3.2e+21x2.4e+21 before the crop" },
  { "fit=crop", &settings,
      "source is 32x24|pixel aspect ratio of 1000000000/1|resized to",
      .video = VIDEO "format = RGB, pixel-aspect-ratio = 1000000000/1" },
  { "crop-fraction=0.5 resize=64 fit=crop", &settings,
      "resize is 64|crop-fraction is 0.5|only one" },
  { "resize=64 fit=letterbox", &settings, "resize is 64|fit=letterbox" },
  { "crop-fraction=0.5 fit=letterbox", &settings,
      "crop-fraction is 0.5|fit=letterbox" },
  { "denoise=median denoise-size=7", &settings,
      "denoise-size is 7|3 or 5|median" },
  { "preset=imagenet denoise=median denoise-size=7", &settings,
      "denoise-size is 7", .unsaid = "preset" },
  { "denoise=gaussian denoise-size=4", &settings,
      "denoise-size is 4|3, 5 or|7" },
  { "denoise=gaussian denoise-sigma=-1", &settings,
      "denoise-sigma is -1|at least 0 and finite" },
  { "scale=nan", &settings, "scale is nan|must be finite" },
  { "width=32768 height=32768", &settings, "width=32768|height=32768|bytes" },
  { "width=21000 height=21000 type=float32", &settings,
      "width=21000|height=21000" },
  { "timeline-location=/tmp/timeline.txt", &settings,
      "timeline-location=/tmp/timeline.txt|.json|.svg" },
  { "colorimetry=bt7090", &settings,
      "colorimetry=bt7090|not a GStreamer colorimetry" },
  { "colorimetry=1:4", &settings, "colorimetry=1:4|such as" },
  /* what downstream takes */
  { "width=64", &negotiation, "width=64|dimensions=3:20:20:1",
      T "dimensions = (string) 3:20:20:1" },
  { "height=64", &negotiation, "height=64|dimensions=3:20:20:1",
      T "dimensions = (string) 3:20:20:1" },
  { "layout=nchw", &negotiation, "layout=nchw|dimensions=3:20:20:1",
      T "dimensions = (string) 3:20:20:1" },
  { "channels=gray", &negotiation, "channels=gray|dimensions=3:20:20:1",
      T "dimensions = (string) 3:20:20:1" },
  { "channels=bgr", &negotiation, "channels=bgr is set|dimensions=20:20:1:1",
      T "dimensions = (string) 20:20:1:1" },
  { "preset=caffe", &negotiation,
      "channels=bgr|preset=caffe sets|dimensions=64:48:1:1",
      T "dimensions = (string) 64:48:1:1" },
  { "type=float16", &negotiation, "type=float16|types=uint8",
      T "types = (string) uint8" },
  { "", &negotiation,
      "dimensions=1:3:224:224|at most 64|innermost comes first: dimensions=224:224:3:1",
      T "dimensions = (string) 1:3:224:224" },
  { "width=64", &negotiation, "dimensions=1:3:224:224|at most 64",
      T "dimensions = (string) 1:3:224:224", .unsaid = "innermost" },
  { "", &negotiation, "dimensions=2:20:20:1|1 or 3",
      T "dimensions = (string) 2:20:20:1" },
  { "", &negotiation, "dimensions=3:20:20:65|batch of 65|at most 64",
      T "dimensions = (string) 3:20:20:65" },
  { "", &negotiation, "dimensions=3:20:20:1:2|5th is 2",
      T "dimensions = (string) 3:20:20:1:2" },
  { "batch-size=4", &negotiation, "batch-size=4|dimensions=3:20:20:2",
      T "dimensions = (string) 3:20:20:2" },
  { "", &negotiation, "framerate=30/1|batches of 2|15/1",
      T "dimensions = (string) 3:20:20:2, framerate = (fraction) 30/1" },
  { "batch-size=65", &settings, "batch-size is 65|0 to 64" },
  { "", &negotiation, "dimensions=3:0:20:1",
      T "dimensions = (string) 3:0:20:1" },
  { "", &negotiation, "dimensions=3:-20:20:1",
      T "dimensions = (string) 3:-20:20:1" },
  { "", &negotiation, "dimensions=a:b|list of sizes",
      T "dimensions = (string) a:b" },
  { "", &negotiation, "dimensions=40000:20:3:1|32768",
      T "dimensions = (string) 40000:20:3:1" },
  { "", &negotiation, "int64", T "types = (string) int64" },
  { "", &negotiation, "flexible", "other/tensors, format = flexible" },
  { "", &negotiation, "num_tensors",
      "other/tensors, format = static, num_tensors = 2" },
  { "", &negotiation, "30/1|25/1", T "framerate = (fraction) 25/1" },
  { "", &negotiation, "RGB|32|24|audio/x-raw", "audio/x-raw" },
  /* what upstream sends */
  { "", &video, "colorimetry=|no matrix|format=NV12",
      .video = VIDEO "format = NV12, colorimetry = (string) 2:200:5:1" },
  { "", &video, "cannot be read as frames|alternate",
      .video = VIDEO "format = NV12, interlace-mode = alternate" },
  { "", &video, "Upstream sends audio/x-raw, must be video/x-raw",
      .video = "audio/x-raw" },
  { "", &video, "Upstream sends format=v210|not possible",
      .video = VIDEO "format = v210" },
  { "", &video, "format=Y210", .video = VIDEO "format = Y210" },
  { "", &video, "format=RGB16", .video = VIDEO "format = RGB16" },
  { "", &video, "format=FOO", .video = VIDEO "format = FOO" },
  { "", &video, "format=3", .video = VIDEO "format = (int) 3" },
  { "", &video, "Upstream sends width=40000|1 to 32768",
      .video = "video/x-raw, format = RGB, width = 40000, height = 24" },
  { "", &video, "width=0|1 to 32768",
      .video = "video/x-raw, format = RGB, width = 0, height = 24" },
  { "", &video, "width=-4",
      .video = "video/x-raw, format = RGB, width = -4, height = 24" },
  { "", &video, "height=-1",
      .video = "video/x-raw, format = RGB, width = 32, height = -1" },
  { "", &video, "Upstream sends video/x-raw(memory:DMABuf)",
      .video = "video/x-raw(memory:DMABuf), format = RGB, width = 32, "
               "height = 24" },
  { "", &video, "video/x-raw(format:Interlaced)",
      .video = "video/x-raw(format:Interlaced), format = NV12, width = 32, "
               "height = 24, interlace-mode = alternate" },
  /* these reach the element's own check */
  { "", &video, "video/x-raw", .video = "video/x-raw" },
  { "", &video, "width=(int)32",
      .video = "video/x-raw, format = RGB, width = 32" },
  /* frames that are not what caps or metas say; some are held back */
  { HELD, &message_input, "100 bytes|RGB 32x24|2304",
      .spoilt = MISSING (2204) },
  { HELD, &message_input, "2303 bytes|2304|RGB 32x24", .spoilt = MISSING (1) },
  { HELD, &message_input, "0 bytes|2304", .spoilt = MISSING (2304) },
  { HELD, &message_input, "GstVideoMeta|GRAY8|RGB 32x24",
      .spoilt = META (GRAY8, 32, 96, 0) },
  { HELD, &message_input, "GstVideoMeta|16x24|32x24",
      .spoilt = META (RGB, 16, 96, 0) },
  { HELD, &message_input, "plane 0|stride 128|2304",
      .spoilt = META (RGB, 32, 128, 0) },
  { HELD, &message_input,
      "stride of plane 0 of RGB 32x24 is 95|its rows take 96 bytes",
      .spoilt = META (RGB, 32, 95, 0) },
  { HELD, &message_input, "plane 0|is 0|96 bytes",
      .spoilt = META (RGB, 32, 0, 0) },
  { HELD, &message_input, "stride|-96",
      .spoilt = META (RGB, 32, -96, 23 * 96) },
  { HELD, &message_input, "2304 bytes", .spoilt = META (RGB, 32, 96, 1 << 20) },
  { HELD, &message_input, "plane 0|2304|2303",
      .spoilt = META (RGB, 32, 96, 1) },
  { HELD, &message_input, "GstVideoCropMeta|10x10|30,0|32x24",
      .spoilt = CROP (30, 0, 10, 10) },
  { HELD, &message_input, "GstVideoCropMeta|10x10|0,20|32x24",
      .spoilt = CROP (0, 20, 10, 10) },
  { HELD, &message_input, "GstVideoCropMeta|0x10|32x24",
      .spoilt = CROP (0, 0, 0, 10) },
  { HELD, &message_input, "GstVideoCropMeta|10x0|32x24",
      .spoilt = CROP (0, 0, 10, 0) },
  /* sums that do not fit in 32 bits */
  { HELD, &message_input, "GstVideoCropMeta|2x2|4294967295,0|32x24",
      .spoilt = CROP (G_MAXUINT, 0, 2, 2) },
  { HELD, &message_input, "GstVideoCropMeta|2x2|0,4294967295|32x24",
      .spoilt = CROP (0, G_MAXUINT, 2, 2) },
  { "", &message_input, "2304 bytes|cannot be mapped|RGB 32x24",
      .push = push_unmappable },
  /* where it runs, and writes */
  { "backend=cuda cuda-device-id=99", &no_device, "CUDA" },
  { "backend=auto cuda-device-id=99", &no_device, "CUDA" },
  { "backend=cuda cuda-device-id=99 streams=3", &no_device, "CUDA" },
  { "backend=cpu cuda-device-id=0", &settings,
      "cuda-device-id is 0|-1 with backend=cpu" },
  { "timeline-location=/none/such/timeline.svg", &file,
      "timeline-location=/none/such/timeline.svg|No such file" },
  { "timeline-location=folder.svg", &file,
      "timeline-location=folder.svg|it is a folder" },
  { "timeline-location=pipe.json", &file,
      "timeline-location=pipe.json|it is no regular file" },
  { "timeline-location=lost/timeline.svg", &file,
      "timeline-location=lost/timeline.svg was not written|No such file",
      .push = push_without_folder },
  { "width=4096 height=4096 streams=8", &message_no_memory,
      "201326592 bytes|the machine has|the process may map",
      .send = send_without_room_for_tensors },
  { "width=32 height=24", &message_no_memory,
      "posix_memalign of 402653184 bytes",
      .video = "video/x-raw, format = RGB, width = 16384, height = 8192, "
               "framerate = 0/1",
      .send = send_without_room_for_frames },
  { "", &message_forked, "opened by process|does not survive a fork" },
  /* what is only told */
  { "", &undone, "mean=x|list of numbers|undone",
      .push = push_after_bad_value },
  { "crop=5,0,8,8", &missed, "crop=5,0,8,8|no pixel|4x3|whole",
      .spoilt = CROP (0, 0, 4, 3) },
  { "type=int8", &clamped,
      "type=int8|-128|127|quant-scale=0|quant-zero-point=0|255" },
  { "async-depth=4", &relinked, "Downstream changed|tensors lost: 1",
      .push = push_while_relinked },
};

const guint message_n_rows = G_N_ELEMENTS (message_rows);
