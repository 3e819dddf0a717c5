/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory as GStreamer's extension points let others make it, through the whole
 * element to the kernel: metas with map functions of their own, allocators and
 * pools, ours and others', metas of others, regions of interest, parent buffers;
 * downstream's allocation parameters, and consumers that do to a tensor and its
 * pool whatever they can. There is an error, or a tensor of the right size; a
 * sanitizer sees every byte that is read or written where it should not be.
 */
#include "gst/cudapreproc.h"
#include "kernels/preproc.h"

#include <gst/video/video.h>

#include "gstinput.h"

#define MAX_STEPS 12
#define MAX_KEPT 4
#define MAX_BYTES (1 << 15)

/* One element between two pads, and what its neighbours remember. */
typedef struct {
  input *in;
  GstElement *element;
  GstBus *bus;
  GstPad *upstream, *downstream;
  GstVideoInfo info;
  gsize tensor_size; /* 0: any, the caps are not known */
  gboolean regions;  /* of frames become pictures */
  GstBufferPool *offered_pool;
  GstAllocator *offered;
  GstBuffer *kept[MAX_KEPT];
  GstBufferPool *pool; /* of the last tensor */
  gboolean told;       /* of an error, since the last flush */
} Bench;

/* sizes */

/* Small, or so large that no sum with it is a size. */
static gsize
take_size (input *in)
{
  const guint kind = take_byte (in);

  if (kind < 200)
    return take_word (in) % 5000;
  if (kind < 220)
    return G_MAXSIZE - take_byte (in);
  return (gsize) G_MAXSSIZE + 1 + take_byte (in);
}

static void
take_params (input *in, GstAllocationParams *params)
{
  gst_allocation_params_init (params);
  if (take_bool (in)) {
    params->flags = (GstMemoryFlags) take_word (in);
    params->prefix = take_size (in);
    params->padding = take_size (in);
    params->align = take_byte (in) < 230
        ? ((gsize) 1 << take_index (in, 14)) - 1
        : take_size (in);
  }
}

/* memory of others */

typedef struct {
  GstMemory memory;
  guint8 *data;
  gboolean maps;
} OtherMemory;

typedef struct {
  GstAllocator parent;
} OtherAllocator;

typedef struct {
  GstAllocatorClass parent;
} OtherAllocatorClass;

GType other_allocator_get_type (void);
G_DEFINE_TYPE (OtherAllocator, other_allocator, GST_TYPE_ALLOCATOR)

static gpointer
other_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  OtherMemory *self = (OtherMemory *) memory;

  (void) maxsize;
  (void) flags;
  return self->maps ? self->data : NULL;
}

static void
other_unmap (GstMemory *memory)
{
  (void) memory;
}

static void
other_free (GstAllocator *allocator, GstMemory *memory)
{
  (void) allocator;
  g_free (((OtherMemory *) memory)->data);
  g_free (memory);
}

static void
other_allocator_class_init (OtherAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->free = other_free;
}

static void
other_allocator_init (OtherAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = "OtherMemory";
  allocator->mem_map = other_map;
  allocator->mem_unmap = other_unmap;
  GST_OBJECT_FLAG_SET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

/* Ends where its block does. */
static GstMemory *
new_other (input *in, gsize size)
{
  static GstAllocator *allocator;
  OtherMemory *memory = g_new0 (OtherMemory, 1);
  const gsize lead = take_byte (in) % 5;

  if (allocator == NULL)
    allocator =
        gst_object_ref_sink (g_object_new (other_allocator_get_type (), NULL));
  memory->data = g_malloc (lead + size + (size == 0));
  memset (memory->data, (int) take_byte (in), lead + size);
  memory->maps = take_byte (in) < 240;
  gst_memory_init (GST_MEMORY_CAST (memory), GST_MEMORY_FLAG_NO_SHARE,
      allocator, NULL, lead + size, 0, lead, size);
  return GST_MEMORY_CAST (memory);
}

static GstMemory *
new_wrapped (input *in, gsize size)
{
  guint8 *data = g_malloc (size + (size == 0));

  memset (data, (int) take_byte (in), size);
  return gst_memory_new_wrapped (
      GST_MEMORY_FLAG_READONLY, data, size, 0, size, data, g_free);
}

static GstMemory *
new_memory (Bench *bench, gsize size)
{
  input *in = bench->in;
  const gint kind = take_index (in, 6);
  GstMemory *memory = NULL;

  if (kind == 0)
    return new_other (in, size);
  if (kind >= 3 && bench->offered != NULL) {
    GstAllocationParams params;
    gst_allocation_params_init (&params);
    params.align = ((gsize) 1 << take_index (in, 10)) - 1;
    params.prefix = take_byte (in) % 70;
    memory = gst_allocator_alloc (bench->offered, size, &params);
    if (memory != NULL && kind == 5) { /* a share ends before its root does */
      GstMemory *share =
          gst_memory_share (memory, 0, (gssize) (size - size / 4));
      gst_memory_unref (memory);
      return share;
    }
  }
  return memory != NULL ? memory : new_wrapped (in, size);
}

/* metas that map by themselves */

/* What the map function of a buffer's meta does with a plane. */
typedef struct {
  guint8 *block; /* the plane's bytes; NULL: there are none */
  gboolean told; /* what is mapped; else only the address is */
  gsize size;
  gssize offset; /* from what is told as data to the plane */
  gint stride;
  GstMemory *memory; /* told */
  gboolean fails;
} Plane;

typedef struct {
  Plane plane[GST_VIDEO_MAX_PLANES];
  GstBuffer *memories; /* owns those told */
} Planes;

static GQuark planes_quark;

static void
free_planes (gpointer data)
{
  Planes *planes = data;

  for (guint p = 0; p < GST_VIDEO_MAX_PLANES; p++)
    g_free (planes->plane[p].block);
  gst_clear_buffer (&planes->memories);
  g_free (planes);
}

static gboolean
map_plane (GstVideoMeta *meta, guint p, GstMapInfo *info, gpointer *data,
    gint *stride, GstMapFlags flags)
{
  const Planes *planes = gst_mini_object_get_qdata (
      GST_MINI_OBJECT_CAST (meta->buffer), planes_quark);
  const Plane *plane = &planes->plane[p];

  if (plane->fails)
    return FALSE;
  info->flags = flags;
  info->memory = plane->memory;
  if (plane->told) {
    info->data = plane->block;
    info->size = plane->size;
  }
  /* Only so far from the block that the sum is an address. */
  *data = plane->block != NULL
      ? (gpointer) ((guintptr) plane->block + (guintptr) plane->offset)
      : NULL;
  *stride = plane->stride;
  return TRUE;
}

static gboolean
unmap_plane (GstVideoMeta *meta, guint p, GstMapInfo *info)
{
  (void) meta;
  (void) p;
  (void) info;
  return TRUE;
}

/* What nobody can check is true: a plane whose size is not told is whole. */
static void
take_plane (Bench *bench, const GstVideoInfo *frame, guint p, Plane *plane)
{
  input *in = bench->in;
  const gsize offset = GST_VIDEO_INFO_PLANE_OFFSET (frame, p);
  const gsize end = p + 1 < GST_VIDEO_INFO_N_PLANES (frame)
      ? GST_VIDEO_INFO_PLANE_OFFSET (frame, p + 1)
      : GST_VIDEO_INFO_SIZE (frame);
  gsize size = end > offset ? end - offset : GST_VIDEO_INFO_SIZE (frame);

  plane->stride = GST_VIDEO_INFO_PLANE_STRIDE (frame, p);
  plane->fails = take_byte (in) > 250;
  plane->told = take_bool (in);
  if (plane->told) {
    if (take_bool (in))
      plane->stride = take_int (in);
    if (take_bool (in))
      plane->offset = take_bool (in) ? take_int (in) : (gssize) take_byte (in);
    if (take_bool (in))
      size = take_word (in) % MAX_BYTES;
    plane->size = size;
  }
  if (take_byte (in) < 250) {
    plane->block = g_malloc (size + (size == 0));
    memset (plane->block, (int) take_byte (in), size);
  }
}

static void
map_by_itself (Bench *bench, GstBuffer *buffer, GstVideoMeta *meta)
{
  Planes *planes = g_new0 (Planes, 1);
  GstVideoInfo frame;

  /* The meta's frame may be larger than the caps'. */
  if (meta->width > 100 || meta->height > 100 || meta->n_planes > 4 ||
      !gst_video_info_set_format (&frame, GST_VIDEO_INFO_FORMAT (&bench->info),
          MAX (meta->width, 1), MAX (meta->height, 1)))
    frame = bench->info;
  planes->memories = gst_buffer_new ();
  for (guint p = 0; p < GST_VIDEO_MAX_PLANES; p++) {
    if (p < GST_VIDEO_INFO_N_PLANES (&frame))
      take_plane (bench, &frame, p, &planes->plane[p]);
    if (take_bool (bench->in)) {
      GstMemory *memory = new_memory (bench, 64);
      gst_buffer_append_memory (planes->memories, memory);
      planes->plane[p].memory = memory;
    }
  }
  meta->map = take_byte (bench->in) < 250 ? map_plane : NULL;
  meta->unmap = unmap_plane;
  gst_mini_object_set_qdata (
      GST_MINI_OBJECT_CAST (buffer), planes_quark, planes, free_planes);
}

/* frames */

static void
take_video_meta (Bench *bench, GstBuffer *buffer)
{
  input *in = bench->in;
  const GstVideoInfo *info = &bench->info;
  GstVideoMeta *meta =
      gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
          GST_VIDEO_INFO_FORMAT (info), (guint) GST_VIDEO_INFO_WIDTH (info),
          (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
          (gsize *) info->offset, (gint *) info->stride);

  if (take_byte (in) < 60) {
    meta->width += (guint) take_index (in, 9);
    meta->height += (guint) take_index (in, 9);
  }
  for (gint n = take_index (in, 3); n > 0; n--) {
    const gint plane = take_index (in, GST_VIDEO_MAX_PLANES);
    if (take_bool (in))
      meta->offset[plane] = (gsize) (gssize) take_int (in);
    else
      meta->stride[plane] = take_int (in);
  }
  if (take_bool (in))
    map_by_itself (bench, buffer, meta);
}

static void
take_other_metas (Bench *bench, GstBuffer *buffer)
{
  input *in = bench->in;

  if (take_byte (in) < 40) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = (guint) take_mostly (in, 0, 16);
    crop->y = (guint) take_mostly (in, 0, 16);
    crop->width = (guint) take_mostly (in, 1, 24);
    crop->height = (guint) take_mostly (in, 1, 24);
  }
  if (take_byte (in) < 40) {
    GstBuffer *parent = gst_buffer_new ();
    gst_buffer_append_memory (parent, new_memory (bench, 16));
    gst_buffer_add_parent_buffer_meta (buffer, parent);
    gst_buffer_unref (parent);
  }
  if (take_byte (in) < 40) {
    GstStructure *structure = gst_custom_meta_get_structure (
        gst_buffer_add_custom_meta (buffer, "GstCudaPreprocMeta"));
    gst_structure_set (structure, "width", G_TYPE_STRING, "much", NULL);
  }
}

/* As many as detectors find, or several tensors full, anywhere. */
static void
take_regions (Bench *bench, GstBuffer *buffer)
{
  static const gchar *const types[] = { "face", "car", "" };
  input *in = bench->in;
  const guint kind = take_byte (in);
  const guint n = kind < 250 ? kind % 8 : 300;

  for (guint i = 0; i < n; i++) {
    GstVideoRegionOfInterestMeta *meta =
        gst_buffer_add_video_region_of_interest_meta (buffer,
            types[take_index (in, LENGTH (types))],
            (guint) take_mostly (in, -8, 48), (guint) take_mostly (in, -8, 48),
            (guint) take_mostly (in, 0, 48), (guint) take_mostly (in, 0, 48));
    meta->id = take_int (in);
    meta->parent_id = -1;
    if (i == 7)
      meta->roi_type = 0; /* no name */
  }
}

static GstBuffer *
take_frame (Bench *bench)
{
  input *in = bench->in;
  gsize left = bench->info.size;
  GstBuffer *buffer = NULL;

  if (take_byte (in) < 60 && bench->offered_pool != NULL &&
      gst_buffer_pool_acquire_buffer (bench->offered_pool, &buffer, NULL) !=
          GST_FLOW_OK)
    buffer = NULL;
  if (buffer != NULL) {
    gst_buffer_memset (buffer, 0, (guint8) take_byte (in), G_MAXSIZE);
  } else {
    buffer = gst_buffer_new ();
    if (take_byte (in) < 40)
      left = take_word (in) % MAX_BYTES;
    for (gint pieces = take_index (in, 3); pieces > 0; pieces--) {
      const gsize piece = left > 0 ? take_word (in) % left : 0;
      gst_buffer_append_memory (buffer, new_memory (bench, piece));
      left -= piece;
    }
    gst_buffer_append_memory (buffer, new_memory (bench, left));
  }
  if (take_bool (in) && gst_buffer_get_video_meta (buffer) == NULL)
    take_video_meta (bench, buffer);
  take_other_metas (bench, buffer);
  if (bench->regions)
    take_regions (bench, buffer);
  GST_BUFFER_PTS (buffer) = take_bool (in) ? take_word (in) : G_MAXUINT64;
  return buffer;
}

/* downstream */

static void
write_all (GstBuffer *tensor, guint8 value)
{
  GstMapInfo map;

  if (!gst_buffer_map (tensor, &map, GST_MAP_WRITE))
    return;
  memset (map.data, value, map.size);
  gst_buffer_unmap (tensor, &map);
}

static void
read_all (GstBuffer *tensor)
{
  GstMapInfo map;
  guint sum = 0;

  if (!gst_buffer_map (tensor, &map, GST_MAP_READ))
    return;
  for (gsize i = 0; i < map.size; i++)
    sum += map.data[i];
  MUST (sum <= 255 * map.size, "the sum is %u", sum);
  gst_buffer_unmap (tensor, &map);
}

/* Takes memory; the buffer may deny that it has another now. */
static void
replace (input *in, GstBuffer *tensor, GstMemory *memory)
{
  gst_buffer_replace_all_memory (tensor, memory);
  if (take_bool (in))
    GST_BUFFER_FLAG_UNSET (tensor, GST_BUFFER_FLAG_TAG_MEMORY);
}

/* The memory of a tensor that is kept, or of this one. */
static GstMemory *
any_memory (Bench *bench, GstBuffer *tensor)
{
  GstBuffer *kept = bench->kept[take_index (bench->in, MAX_KEPT)];
  GstMemory *memory = kept != NULL && gst_buffer_n_memory (kept) > 0
      ? gst_buffer_peek_memory (kept, 0)
      : NULL;

  return memory != NULL && !GST_MEMORY_IS_NO_SHARE (memory)
      ? memory
      : gst_buffer_peek_memory (tensor, 0);
}

static void
misuse (Bench *bench, GstBuffer *tensor)
{
  input *in = bench->in;
  GstMemory *memory = gst_buffer_peek_memory (tensor, 0);
  gsize size;

  switch (take_index (in, 8)) {
    case 0:
      write_all (tensor, (guint8) take_byte (in));
      break;
    case 1: /* as far as the memory goes */
      gst_memory_get_sizes (memory, NULL, &size);
      gst_memory_resize (memory, -(gssize) memory->offset, size);
      write_all (tensor, (guint8) take_byte (in));
      break;
    case 2:
      size = gst_buffer_get_size (tensor);
      gst_buffer_resize (tensor, (gssize) (size / 3), (gssize) (size / 3));
      break;
    case 3:
      replace (in, tensor, new_memory (bench, take_word (in) % 512));
      break;
    case 4:
      replace (
          in, tensor, gst_memory_share (any_memory (bench, tensor), 0, -1));
      break;
    case 5:
      replace (in, tensor, gst_memory_ref (any_memory (bench, tensor)));
      break;
    case 6:
      gst_buffer_append_memory (tensor, new_memory (bench, 8));
      if (take_bool (in))
        GST_BUFFER_FLAG_UNSET (tensor, GST_BUFFER_FLAG_TAG_MEMORY);
      break;
    default:
      gst_buffer_remove_all_memory (tensor);
      GST_BUFFER_FLAG_UNSET (tensor, GST_BUFFER_FLAG_TAG_MEMORY);
      break;
  }
}

static GstFlowReturn
on_tensor (GstPad *pad, GstObject *parent, GstBuffer *tensor)
{
  static const GstFlowReturn flows[] = { GST_FLOW_OK, GST_FLOW_OK, GST_FLOW_OK,
    GST_FLOW_OK, GST_FLOW_CUSTOM_SUCCESS, GST_FLOW_EOS,
    GST_FLOW_NOT_NEGOTIATED };
  Bench *bench = gst_pad_get_element_private (pad);
  input *in = bench->in;
  GstBuffer **kept = &bench->kept[take_index (in, MAX_KEPT)];

  (void) parent;
  MUST (gst_buffer_n_memory (tensor) == 1 &&
          gst_buffer_get_size (tensor) == bench->tensor_size,
      "%zu bytes, not %zu", gst_buffer_get_size (tensor), bench->tensor_size);
  MUST (gst_buffer_is_all_memory_writable (tensor), "a tensor is shared");
  read_all (tensor);
  gst_object_replace (
      (GstObject **) &bench->pool, GST_OBJECT_CAST (tensor->pool));
  if (take_byte (in) < 60)
    misuse (bench, tensor);
  if (take_byte (in) < 60) {
    gst_clear_buffer (kept);
    *kept = tensor;
  } else {
    gst_buffer_unref (tensor);
  }
  return flows[take_byte (in) < 200 ? 0 : take_index (in, LENGTH (flows))];
}

static gboolean
on_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  Bench *bench = gst_pad_get_element_private (pad);
  input *in = bench->in;
  GstAllocationParams params;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default (pad, parent, query);
  take_params (in, &params);
  gst_query_add_allocation_param (query, NULL, &params);
  if (take_bool (in))
    gst_query_add_allocation_pool (
        query, NULL, take_word (in), take_word (in), take_word (in));
  return TRUE;
}

static gboolean
on_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Bench *bench = gst_pad_get_element_private (pad);
  static const struct {
    const gchar *type;
    gsize size;
  } types[] = { { "float32", 4 }, { "float16", 2 }, { "uint8", 1 },
    { "int8", 1 } };
  GstCaps *caps;
  gint side[4] = { 0 };

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    const GstStructure *structure = gst_caps_get_structure (caps, 0);
    const gchar *type = gst_structure_get_string (structure, "types");
    MUST (sscanf (gst_structure_get_string (structure, "dimensions"),
              "%d:%d:%d:%d", &side[0], &side[1], &side[2], &side[3]) == 4,
        "caps without a size");
    for (gint t = 0; t < LENGTH (types); t++)
      if (strcmp (type, types[t].type) == 0)
        bench->tensor_size = types[t].size * (gsize) side[0] * (gsize) side[1] *
            (gsize) side[2] * (gsize) side[3];
  }
  return gst_pad_event_default (pad, parent, event);
}

/* What who holds a tensor does to its pool. */
static void
change_pool (Bench *bench)
{
  input *in = bench->in;
  GstAllocationParams params;

  if (bench->pool == NULL || !gst_buffer_pool_set_active (bench->pool, FALSE) ||
      take_byte (in) < 30)
    return;
  GstStructure *config = gst_buffer_pool_get_config (bench->pool);
  gst_buffer_pool_config_set_params (
      config, NULL, take_word (in) % 4096, take_byte (in) % 4, 0);
  take_params (in, &params);
  gst_buffer_pool_config_set_allocator (config, NULL, &params);
  gst_buffer_pool_set_config (bench->pool, config);
  gst_buffer_pool_set_active (bench->pool, TRUE);
}

/* upstream */

static void
forget_offer (Bench *bench)
{
  if (bench->offered_pool != NULL)
    gst_buffer_pool_set_active (bench->offered_pool, FALSE);
  gst_clear_object (&bench->offered_pool);
  gst_clear_object (&bench->offered);
}

static void
ask_for_memory (Bench *bench)
{
  GstCaps *caps = gst_video_info_to_caps (&bench->info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  forget_offer (bench);
  if (gst_pad_peer_query (bench->upstream, query)) {
    if (gst_query_get_n_allocation_params (query) > 0)
      gst_query_parse_nth_allocation_param (query, 0, &bench->offered, NULL);
    if (gst_query_get_n_allocation_pools (query) > 0)
      gst_query_parse_nth_allocation_pool (
          query, 0, &bench->offered_pool, NULL, NULL, NULL);
    if (bench->offered_pool != NULL)
      gst_buffer_pool_set_active (bench->offered_pool, TRUE);
  }
  gst_query_unref (query);
  gst_caps_unref (caps);
}

static void
begin_stream (Bench *bench)
{
  GstCaps *caps = gst_video_info_to_caps (&bench->info);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (bench->upstream, gst_event_new_stream_start ("memory"));
  gst_pad_push_event (bench->upstream, gst_event_new_caps (caps));
  gst_pad_push_event (bench->upstream, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

static void
push_frame (Bench *bench)
{
  const GstFlowReturn flow = gst_pad_push (bench->upstream, take_frame (bench));
  GstMessage *error = gst_bus_pop_filtered (bench->bus, GST_MESSAGE_ERROR);

  bench->told = bench->told || error != NULL;
  if (error != NULL)
    gst_message_unref (error);
  /* The consumer returns neither. */
  MUST ((flow != GST_FLOW_FLUSHING && flow != GST_FLOW_ERROR) || bench->told,
      "%s, and nobody was told", gst_flow_get_name (flow));
}

static void
step (Bench *bench)
{
  const guint kind = take_byte (bench->in);

  if (kind < 170) {
    push_frame (bench);
  } else if (kind < 190) {
    change_pool (bench);
  } else if (kind < 210) {
    ask_for_memory (bench);
  } else if (kind < 225) {
    gst_pad_mark_reconfigure (
        GST_BASE_TRANSFORM_SRC_PAD (GST_BASE_TRANSFORM (bench->element)));
  } else if (kind < 240) {
    GstSegment segment;
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (bench->upstream, gst_event_new_flush_start ());
    gst_pad_push_event (bench->upstream, gst_event_new_flush_stop (TRUE));
    bench->told = FALSE;
    gst_pad_push_event (bench->upstream, gst_event_new_segment (&segment));
  } else {
    gst_pad_push_event (bench->upstream, gst_event_new_gap (0, 1));
  }
}

/* the bench */

static GstPad *
new_pad (Bench *bench, const gchar *other, GstPadDirection direction)
{
  GstPad *pad = gst_pad_new (NULL, direction);
  GstPad *peer = gst_element_get_static_pad (bench->element, other);

  gst_pad_set_element_private (pad, bench);
  if (direction == GST_PAD_SINK) {
    gst_pad_set_chain_function (pad, on_tensor);
    gst_pad_set_event_function (pad, on_event);
    gst_pad_set_query_function (pad, on_query);
    gst_pad_link (peer, pad);
  } else {
    gst_pad_link (pad, peer);
  }
  gst_pad_set_active (pad, TRUE);
  gst_object_unref (peer);
  return pad;
}

static gboolean
take_info (input *in, GstVideoInfo *info)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGRx,
    GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_P010_10LE,
    GST_VIDEO_FORMAT_A420, GST_VIDEO_FORMAT_GBR_10LE, GST_VIDEO_FORMAT_IYU2 };

  gst_video_info_init (info);
  return gst_video_info_set_format (info,
      formats[take_index (in, LENGTH (formats))],
      (guint) (1 + take_index (in, 48)), (guint) (1 + take_index (in, 48)));
}

static void
open_bench (Bench *bench)
{
  input *in = bench->in;

  bench->element = gst_object_ref_sink (g_object_new (GST_TYPE_CUDA_PREPROC,
      "backend", PP_BACKEND_CPU, "streams", 1 + take_index (in, 2),
      "async-depth", take_index (in, 4), "width", 1 + take_index (in, 20),
      "height", 1 + take_index (in, 20), "type", take_index (in, PP_N_TYPES),
      "layout", take_index (in, PP_N_LAYOUTS), "method",
      take_index (in, PP_N_METHODS), "fit", take_index (in, PP_N_FITS),
      "denoise", take_index (in, PP_N_DENOISES), NULL));
  /* One byte, as it was before there were regions: inputs that are kept stay what
   * they are. */
  const guint batch = take_byte (in);
  bench->regions = batch >= 192;
  g_object_set (bench->element, "batch-size", batch % 6, "regions",
      bench->regions, "region-types", batch >= 240 ? "face" : "", NULL);
  bench->bus = gst_bus_new ();
  gst_element_set_bus (bench->element, bench->bus);
  bench->upstream = new_pad (bench, "sink", GST_PAD_SRC);
  bench->downstream = new_pad (bench, "src", GST_PAD_SINK);
  MUST (gst_element_set_state (bench->element, GST_STATE_PLAYING) !=
          GST_STATE_CHANGE_FAILURE,
      "it does not start");
}

static void
close_bench (Bench *bench)
{
  gst_element_set_state (bench->element, GST_STATE_NULL);
  gst_pad_set_active (bench->upstream, FALSE);
  gst_pad_set_active (bench->downstream, FALSE);
  for (gint k = 0; k < MAX_KEPT; k++) {
    if (bench->kept[k] != NULL)
      read_all (bench->kept[k]);
    gst_clear_buffer (&bench->kept[k]);
  }
  gst_clear_object (&bench->pool);
  forget_offer (bench);
  gst_bus_set_flushing (bench->bus, TRUE);
  gst_element_set_bus (bench->element, NULL);
  gst_object_unref (bench->bus);
  gst_object_unref (bench->upstream);
  gst_object_unref (bench->downstream);
  gst_object_unref (bench->element);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  input in = { data, size };
  Bench bench = { .in = &in };

  planes_quark = g_quark_from_static_string ("fuzz-planes");
  if (!take_info (&in, &bench.info))
    return 0;
  open_bench (&bench);
  begin_stream (&bench);
  if (take_bool (&in))
    ask_for_memory (&bench);
  for (gint n = 0; n < MAX_STEPS && in.size > 0; n++)
    step (&bench);
  close_bench (&bench);
  return 0;
}
