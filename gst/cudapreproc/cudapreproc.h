/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For applications: which pictures a tensor holds and where they lay in the
 * frame, where a tensor lies on the device, and how to register the plugin in a
 * program that links it statically.
 *
 * Everything here is inline over plain GStreamer: a program that includes this
 * file links nothing but gstreamer-1.0, and works with the plugin loaded at run
 * time. C and C++.
 *
 *     gcc program.c $(pkg-config --cflags --libs gstcudapreproc-1.0)
 */
#ifndef GST_CUDAPREPROC_CUDAPREPROC_H
#define GST_CUDAPREPROC_CUDAPREPROC_H

#include <string.h>

#include <gst/gst.h>

G_BEGIN_DECLS

/* pictures */

/* The GstCustomMeta on every tensor, one for each picture in it, in the order of
 * index. No field is ever missing, and no string is NULL. The fields and their
 * meaning are stable; later versions may add some.
 *
 *   width, height          gint     of the tensor, pixels
 *   src-x, src-y,          gint     the picture's rectangle in the frame, as it
 *   src-width, src-height           is stored
 *   dst-x, dst-y,          gint     the same rectangle in the tensor; larger than
 *   dst-width, dst-height           the tensor where the picture was cropped
 *   m0 ... m5              gdouble  the tensor's point (x, y) is the frame's
 *                                   (m0 x + m1 y + m2, m3 x + m4 y + m5). Both
 *                                   count pixel edges: pixel i covers [i, i + 1)
 *   index                  gint     which picture of the tensor it is, from 0
 *   pts, duration          guint64  of its frame, nanoseconds; G_MAXUINT64: none
 *   offset                 guint64  of its frame; G_MAXUINT64: none
 *   pad                    string   the pad that its frame came from where there
 *                                   are several, else ""
 *   region, regions        gint     which of the frame's regions it is, from 0, and
 *                                   how many there are; -1 and 0 for a whole frame
 *   region-id,             gint     of the GstVideoRegionOfInterestMeta; -1 for a
 *   region-parent                   whole frame
 *   region-type            string   the same; "" for a whole frame
 */
#define GST_CUDA_PREPROC_META_NAME "GstCudaPreprocMeta"

/**
 * GstCudaPreprocPicture:
 * @width: width of the tensor in pixels
 * @height: height of the tensor in pixels
 * @src: x, y, width and height of the picture in the frame, before it was
 *   turned, pixels
 * @dst: x, y, width and height of the same picture in the tensor, pixels;
 *   larger than the tensor where the picture was cropped
 * @matrix: maps the tensor's (x, y) to the frame's
 *   (m0 x + m1 y + m2, m3 x + m4 y + m5)
 * @index: which slice of the tensor it fills: n of N x C x H x W; default 0
 * @pts: the frame's time in ns, or GST_CLOCK_TIME_NONE; default: the buffer's
 * @duration: as @pts
 * @offset: the frame's number or GST_BUFFER_OFFSET_NONE; default: the buffer's
 * @pad: name of the pad that the frame came from where there are several,
 *   else ""; default ""
 * @region: which of the frame's regions it is, from 0; -1, the default: the
 *   picture is the whole frame
 * @regions: how many regions of the frame became pictures; default 0
 * @region_id: id of the GstVideoRegionOfInterestMeta, often 0; default -1
 * @region_parent: its parent's id; default -1
 * @region_type: its type, such as "face"; default ""
 *
 * One picture of a tensor. The tensor's coordinates are pixel edges: sample i
 * covers [i, i + 1), so that 0 and @width are the tensor's left and right edge.
 *
 * A default is what a field has where the meta lacks it: an older plugin wrote
 * it. Strings belong to the buffer that the picture was read from.
 */
typedef struct {
  gint width, height;
  gint src[4], dst[4];
  gdouble matrix[6];
  gint index;
  GstClockTime pts, duration;
  guint64 offset;
  const gchar *pad;
  gint region, regions;
  gint region_id, region_parent;
  const gchar *region_type;
} GstCudaPreprocPicture;

/* Not for programs: fields of a structure, of any of the integer types. */
static inline gint64
gst_cuda_preproc_private_integer (
    const GstStructure *structure, const gchar *field, gint64 otherwise)
{
  const GValue *value = gst_structure_get_value (structure, field);

  if (value == NULL)
    return otherwise;
  if (G_VALUE_HOLDS_INT (value))
    return g_value_get_int (value);
  if (G_VALUE_HOLDS_UINT (value))
    return g_value_get_uint (value);
  if (G_VALUE_HOLDS_INT64 (value))
    return g_value_get_int64 (value);
  if (G_VALUE_HOLDS_UINT64 (value))
    return (gint64) g_value_get_uint64 (value);
  return otherwise;
}

static inline const gchar *
gst_cuda_preproc_private_string (
    const GstStructure *structure, const gchar *field)
{
  const gchar *text = gst_structure_get_string (structure, field);

  return text != NULL ? text : "";
}

static inline void
gst_cuda_preproc_private_read (
    const GstStructure *s, GstBuffer *buffer, GstCudaPreprocPicture *picture)
{
  static const gchar *const sides[8] = { "src-x", "src-y", "src-width",
    "src-height", "dst-x", "dst-y", "dst-width", "dst-height" };
  static const gchar *const elements[6] = { "m0", "m1", "m2", "m3", "m4",
    "m5" };
  static const gdouble identity[6] = { 1, 0, 0, 0, 1, 0 };

#define GST_CUDA_PREPROC_INTEGER(type, field, otherwise)                       \
  ((type) gst_cuda_preproc_private_integer (s, field, (gint64) (otherwise)))
  picture->width = GST_CUDA_PREPROC_INTEGER (gint, "width", 0);
  picture->height = GST_CUDA_PREPROC_INTEGER (gint, "height", 0);
  for (guint i = 0; i < 4; i++) {
    picture->src[i] = GST_CUDA_PREPROC_INTEGER (gint, sides[i], 0);
    picture->dst[i] = GST_CUDA_PREPROC_INTEGER (gint, sides[4 + i], 0);
  }
  for (guint i = 0; i < 6; i++)
    if (!gst_structure_get_double (s, elements[i], &picture->matrix[i]))
      picture->matrix[i] = identity[i];
  picture->index = GST_CUDA_PREPROC_INTEGER (gint, "index", 0);
  picture->pts =
      GST_CUDA_PREPROC_INTEGER (GstClockTime, "pts", GST_BUFFER_PTS (buffer));
  picture->duration = GST_CUDA_PREPROC_INTEGER (
      GstClockTime, "duration", GST_BUFFER_DURATION (buffer));
  picture->offset =
      GST_CUDA_PREPROC_INTEGER (guint64, "offset", GST_BUFFER_OFFSET (buffer));
  picture->pad = gst_cuda_preproc_private_string (s, "pad");
  picture->region = GST_CUDA_PREPROC_INTEGER (gint, "region", -1);
  picture->regions = GST_CUDA_PREPROC_INTEGER (gint, "regions", 0);
  picture->region_id = GST_CUDA_PREPROC_INTEGER (gint, "region-id", -1);
  picture->region_parent = GST_CUDA_PREPROC_INTEGER (gint, "region-parent", -1);
  picture->region_type = gst_cuda_preproc_private_string (s, "region-type");
#undef GST_CUDA_PREPROC_INTEGER
}

/**
 * gst_cuda_preproc_buffer_next_picture:
 * @buffer: a buffer from cudapreproc, or a copy of it
 * @state: (inout): NULL before the first call
 * @picture: (out caller-allocates): the next picture
 *
 * Walks through the pictures of a tensor, in the order of their index. Neither
 * maps the buffer nor waits for it. Any thread, as long as nobody else changes
 * the buffer's metas.
 *
 *     GstCudaPreprocPicture picture;
 *     gpointer state = NULL;
 *     while (gst_cuda_preproc_buffer_next_picture (buffer, &state, &picture))
 *       g_print ("slice %d: frame at %" GST_TIME_FORMAT "\n", picture.index,
 *           GST_TIME_ARGS (picture.pts));
 *
 * Returns: FALSE where there is none left, and for a buffer of another element.
 */
static inline gboolean
gst_cuda_preproc_buffer_next_picture (
    GstBuffer *buffer, gpointer *state, GstCudaPreprocPicture *picture)
{
  const GstMetaInfo *info = gst_meta_get_info (GST_CUDA_PREPROC_META_NAME);

  /* Registered with the plugin, unless another took the name for its own. */
  if (info == NULL || !gst_meta_info_is_custom (info))
    return FALSE;
  GstMeta *meta = gst_buffer_iterate_meta_filtered (buffer, state, info->api);
  if (meta == NULL)
    return FALSE;
  gst_cuda_preproc_private_read (
      gst_custom_meta_get_structure ((GstCustomMeta *) meta), buffer, picture);
  return TRUE;
}

/**
 * gst_cuda_preproc_picture_map_point:
 * @picture: the picture that the tensor's slice shows
 * @x: in the tensor, pixels; pixel edges, so that the centre of sample 3 is 3.5
 * @y: as @x
 * @frame_x: (out): the same place in the frame, pixels, pixel edges
 * @frame_y: (out): as @frame_x
 *
 * Not clipped: a point in the padding lies outside of the frame.
 *
 *     gst_cuda_preproc_picture_map_point (&picture, nose.x, nose.y, &x, &y);
 */
static inline void
gst_cuda_preproc_picture_map_point (const GstCudaPreprocPicture *picture,
    gdouble x, gdouble y, gdouble *frame_x, gdouble *frame_y)
{
  const gdouble *m = picture->matrix;

  *frame_x = m[0] * x + m[1] * y + m[2];
  *frame_y = m[3] * x + m[4] * y + m[5];
}

/**
 * gst_cuda_preproc_picture_map_box:
 * @picture: the picture that the tensor's slice shows
 * @box: left, top, right and bottom edge in the tensor, pixels
 * @frame_box: (out): left, top, right and bottom edge in the frame, pixels; may
 *   be @box itself
 *
 * Left stays at most right, and top at most bottom, also where the frame was
 * turned or mirrored. Not clipped to the frame.
 *
 *     const gdouble box[4] = { 10, 20, 110, 220 };
 *     gdouble face[4];
 *     gst_cuda_preproc_picture_map_box (&picture, box, face);
 */
static inline void
gst_cuda_preproc_picture_map_box (const GstCudaPreprocPicture *picture,
    const gdouble box[4], gdouble frame_box[4])
{
  gdouble x0, y0, x1, y1;

  gst_cuda_preproc_picture_map_point (picture, box[0], box[1], &x0, &y0);
  gst_cuda_preproc_picture_map_point (picture, box[2], box[3], &x1, &y1);
  frame_box[0] = MIN (x0, x1);
  frame_box[1] = MIN (y0, y1);
  frame_box[2] = MAX (x0, x1);
  frame_box[3] = MAX (y0, y1);
}

/* on the device */

/**
 * GstCudaPreprocDeviceTensor:
 * @struct_size: bytes of this struct in the program; fields are only ever added at
 *   its end
 * @data: the device pointer (CUdeviceptr) of the first byte
 * @size: bytes from there on that belong to the tensor
 * @context: the CUcontext in which @data and @events are valid
 * @device: number of the CUDA device
 * @n_events: how many events there are; 0: the tensor is complete
 * @events: CUevents; when all of them have passed, the tensor is complete
 *
 * A tensor that stays on a CUDA device: other/tensors(memory:CUDAMemory). It is no
 * GstCudaMemory. Everything belongs to the memory, until its last unref.
 */
typedef struct {
  gsize struct_size;
  guint64 data;
  gsize size;
  gpointer context;
  gint device;
  guint n_events;
  gpointer events[64];
} GstCudaPreprocDeviceTensor;

/* Not for programs: what such a memory has as qdata, under this name. */
#define GST_CUDA_PREPROC_DEVICE_TENSOR_NAME "GstCudaPreprocDeviceTensor"

typedef struct {
  gboolean (*describe) (GstMemory *memory, GstCudaPreprocDeviceTensor *tensor);
} GstCudaPreprocDeviceAccess;

/**
 * gst_cuda_preproc_memory_get_device_tensor:
 * @memory: a tensor's memory, or a share of it
 * @tensor: (out caller-allocates): where it lies; fields that the plugin does
 *   not know yet are 0
 *
 * For work on a CUDA stream of one's own: that stream waits for the events, and the
 * host only until the tensor's jobs are queued. Keep the memory until the work is
 * done, and do not write to it. To wait on the host instead, map the memory with
 * GST_MAP_READ | GST_MAP_CUDA, where GST_MAP_CUDA is GST_MAP_FLAG_LAST << 1. Any
 * thread.
 *
 *     GstCudaPreprocDeviceTensor tensor;
 *     if (gst_cuda_preproc_memory_get_device_tensor (memory, &tensor)) {
 *       for (guint i = 0; i < tensor.n_events; i++)
 *         cuStreamWaitEvent (stream, (CUevent) tensor.events[i], 0);
 *       infer (stream, (CUdeviceptr) tensor.data);
 *     }
 *
 * Returns: FALSE where the tensor is in host memory, is none, or could not be
 *   computed. Events pass also for a tensor that fails later; mapping it tells.
 */
static inline gboolean
gst_cuda_preproc_memory_get_device_tensor (
    GstMemory *memory, GstCudaPreprocDeviceTensor *tensor)
{
  const GQuark key =
      g_quark_from_static_string (GST_CUDA_PREPROC_DEVICE_TENSOR_NAME);
  GstMemory *root = memory->parent != NULL ? memory->parent : memory;
  const GstCudaPreprocDeviceAccess *access =
      (const GstCudaPreprocDeviceAccess *) gst_mini_object_get_qdata (
          GST_MINI_OBJECT_CAST (root), key);

  memset (tensor, 0, sizeof *tensor);
  tensor->struct_size = sizeof *tensor;
  return access != NULL && access->describe (memory, tensor);
}

/* linked statically */

GST_PLUGIN_STATIC_DECLARE (cudapreproc);

/**
 * gst_cuda_preproc_register_static:
 *
 * Registers the plugin in a program that links it, after gst_init. Needs a
 * plugin that was built with -Ddefault_library=static or both, and
 * pkg-config --static:
 *
 *     gst_init (&argc, &argv);
 *     gst_cuda_preproc_register_static ();
 *
 *     gcc program.c $(pkg-config --static --cflags --libs gstcudapreproc-1.0)
 */
#define gst_cuda_preproc_register_static()                                     \
  GST_PLUGIN_STATIC_REGISTER (cudapreproc)

G_END_DECLS

#endif
