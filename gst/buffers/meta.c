/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "meta.h"

#include <string.h>

#include "gst/cudapreproc/cudapreproc.h"

/* The fields, in the order in which they are in the structure. */
enum {
  WIDTH,
  HEIGHT,
  SRC_X,
  SRC_Y,
  SRC_WIDTH,
  SRC_HEIGHT,
  DST_X,
  DST_Y,
  DST_WIDTH,
  DST_HEIGHT,
  M0,
  INDEX = M0 + 6,
  PTS,
  DURATION,
  OFFSET,
  PAD,
  REGION,
  REGIONS,
  REGION_ID,
  REGION_PARENT,
  REGION_TYPE,
  N_FIELDS
};

static const struct {
  const gchar *name;
  GType type;
} fields[] = {
  [WIDTH] = { "width", G_TYPE_INT },
  [HEIGHT] = { "height", G_TYPE_INT },
  [SRC_X] = { "src-x", G_TYPE_INT },
  [SRC_Y] = { "src-y", G_TYPE_INT },
  [SRC_WIDTH] = { "src-width", G_TYPE_INT },
  [SRC_HEIGHT] = { "src-height", G_TYPE_INT },
  [DST_X] = { "dst-x", G_TYPE_INT },
  [DST_Y] = { "dst-y", G_TYPE_INT },
  [DST_WIDTH] = { "dst-width", G_TYPE_INT },
  [DST_HEIGHT] = { "dst-height", G_TYPE_INT },
  [M0] = { "m0", G_TYPE_DOUBLE },
  [M0 + 1] = { "m1", G_TYPE_DOUBLE },
  [M0 + 2] = { "m2", G_TYPE_DOUBLE },
  [M0 + 3] = { "m3", G_TYPE_DOUBLE },
  [M0 + 4] = { "m4", G_TYPE_DOUBLE },
  [M0 + 5] = { "m5", G_TYPE_DOUBLE },
  [INDEX] = { "index", G_TYPE_INT },
  [PTS] = { "pts", G_TYPE_UINT64 },
  [DURATION] = { "duration", G_TYPE_UINT64 },
  [OFFSET] = { "offset", G_TYPE_UINT64 },
  [PAD] = { "pad", G_TYPE_STRING },
  [REGION] = { "region", G_TYPE_INT },
  [REGIONS] = { "regions", G_TYPE_INT },
  [REGION_ID] = { "region-id", G_TYPE_INT },
  [REGION_PARENT] = { "region-parent", G_TYPE_INT },
  [REGION_TYPE] = { "region-type", G_TYPE_STRING },
};
G_STATIC_ASSERT (G_N_ELEMENTS (fields) == N_FIELDS);

/* A field's value, of the type that the table says. */
typedef union {
  gint integer;
  gdouble real;
  guint64 number;
  const gchar *string;
} Value;

/* Filling the fields of one structure. */
typedef struct {
  const Value *values;
  guint n; /* fields seen */
} Filling;

/* Looking through the metas of one buffer for those of some pictures. */
typedef struct {
  const GstPpPicture *pictures;
  guint n, filled; /* pictures; the first ones have a meta */
  guint before;    /* metas that stay in front of them */
  gboolean last;   /* all behind them are removed */
} Search;

/* NULL and 0 where something else of the process has taken the name. */
static const GstMetaInfo *own_info;
static GType api;

/* Field names as structures have them, and whether one is the ith: looked at for
 * each field of each frame. */
#if GST_CHECK_VERSION(1, 26, 0)
typedef const GstIdStr *FieldName;
#define map_fields gst_structure_map_in_place_id_str
#define is_field(name, i) gst_id_str_is_equal_to_str (name, fields[i].name)
#else
typedef GQuark FieldName;
static GQuark quarks[N_FIELDS];
#define map_fields gst_structure_map_in_place
#define is_field(name, i) ((name) == quarks[i])
#endif

const GstMetaInfo *
gst_pp_meta_register (void)
{
  /* No tags: nothing that downstream does to a buffer makes it untrue. */
  static const gchar *tags[] = { NULL };
  static gsize registered;

  if (g_once_init_enter (&registered)) {
    const GstMetaInfo *info = gst_meta_get_info (GST_CUDA_PREPROC_META_NAME);
    /* Another copy of the plugin in the process may have been first. */
    if (info == NULL)
      info = gst_meta_register_custom (
          GST_CUDA_PREPROC_META_NAME, tags, NULL, NULL, NULL);
    if (info != NULL && gst_meta_info_is_custom (info)) {
      own_info = info;
      api = info->api;
    }
#if !GST_CHECK_VERSION(1, 26, 0)
    for (guint i = 0; i < N_FIELDS; i++)
      quarks[i] = g_quark_from_static_string (fields[i].name);
#endif
    g_once_init_leave (&registered, 1);
  }
  return own_info;
}

gboolean
gst_pp_meta_is_registered (void)
{
  return api != 0;
}

/* Of the field's type. g_value_set_int and the like would look at it again, for 26
 * fields a frame: 2650 of about 12 500 instructions that GStreamer and the element
 * take for one, 1970 without. */
static void
set_value (GValue *value, guint i, Value to)
{
  if (fields[i].type == G_TYPE_INT)
    value->data[0].v_int = to.integer;
  else if (fields[i].type == G_TYPE_DOUBLE)
    value->data[0].v_double = to.real;
  else if (fields[i].type == G_TYPE_UINT64)
    value->data[0].v_uint64 = to.number;
  else if (g_strcmp0 (value->data[0].v_pointer, to.string) != 0)
    g_value_set_string (value, to.string);
}

static gboolean
fill_field (FieldName name, GValue *value, gpointer data)
{
  Filling *filling = data;
  const guint i = filling->n++;

  if (i >= N_FIELDS || !is_field (name, i) ||
      G_VALUE_TYPE (value) != fields[i].type)
    return FALSE;
  set_value (value, i, filling->values[i]);
  return TRUE;
}

/* FALSE: somebody changed what fields it has. */
static gboolean
fill (GstCustomMeta *meta, const Value *values)
{
  Filling filling = { values, 0 };

  return gst_custom_meta_has_name (meta, GST_CUDA_PREPROC_META_NAME) &&
      map_fields (gst_custom_meta_get_structure (meta), fill_field, &filling) &&
      filling.n == N_FIELDS;
}

static void
list_values (const GstPpPicture *picture, Value values[N_FIELDS])
{
  const pp_geometry *geometry = &picture->geometry;
  const pp_rect *source = &geometry->source, *target = &geometry->target;
  const GstPpRegion *region = picture->region;

  values[WIDTH].integer = picture->width;
  values[HEIGHT].integer = picture->height;
  values[SRC_X].integer = source->x;
  values[SRC_Y].integer = source->y;
  values[SRC_WIDTH].integer = source->width;
  values[SRC_HEIGHT].integer = source->height;
  values[DST_X].integer = target->x;
  values[DST_Y].integer = target->y;
  values[DST_WIDTH].integer = target->width;
  values[DST_HEIGHT].integer = target->height;
  for (guint i = 0; i < G_N_ELEMENTS (geometry->matrix); i++)
    values[M0 + i].real = geometry->matrix[i];
  values[INDEX].integer = picture->index;
  values[PTS].number = picture->pts;
  values[DURATION].number = picture->duration;
  values[OFFSET].number = picture->offset;
  values[PAD].string = picture->pad != NULL ? picture->pad : "";
  /* The whole frame is no region. */
  values[REGION].integer = region != NULL ? picture->nth_region : -1;
  values[REGIONS].integer = region != NULL ? picture->n_regions : 0;
  values[REGION_ID].integer = region != NULL ? region->id : -1;
  values[REGION_PARENT].integer = region != NULL ? region->parent : -1;
  values[REGION_TYPE].string = region != NULL ? region->type : "";
}

/* Fills the next one, or removes it where it cannot be filled or is one too
 * many. */
static gboolean
visit (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Search *search = data;
  Value values[N_FIELDS];
  gboolean filled = FALSE;

  if ((*meta)->info->api != api)
    return TRUE;
  if (search->before > 0) {
    search->before--;
    return TRUE;
  }
  GST_META_FLAG_UNSET (*meta, GST_META_FLAG_POOLED);
  if (search->filled < search->n) {
    list_values (&search->pictures[search->filled], values);
    filled = fill ((GstCustomMeta *) *meta, values);
  }
  if (filled)
    search->filled++;
  else
    *meta = NULL;
  return search->last || search->filled < search->n;
}

static void
add (GstBuffer *buffer, const Value *values)
{
  GstStructure *structure = gst_custom_meta_get_structure (
      gst_buffer_add_custom_meta (buffer, GST_CUDA_PREPROC_META_NAME));

  for (guint i = 0; i < N_FIELDS; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, fields[i].type);
    set_value (&value, i, values[i]);
    gst_structure_take_value (structure, fields[i].name, &value);
  }
}

void
gst_pp_meta_set (GstBuffer *buffer, guint first, guint n, gboolean last,
    const GstPpPicture *pictures)
{
  Search search = { pictures, n, 0, first, last };
  Value values[N_FIELDS];

  if (!gst_pp_meta_is_registered ())
    return;
  gst_buffer_foreach_meta (buffer, visit, &search);
  for (guint i = search.filled; i < n; i++) {
    list_values (&pictures[i], values);
    add (buffer, values);
  }
}

void
gst_pp_meta_truncate (GstBuffer *buffer, guint n)
{
  Search search = { .before = n, .last = TRUE };

  if (gst_pp_meta_is_registered ())
    gst_buffer_foreach_meta (buffer, visit, &search);
}

/* A locked one could not be removed from the next frame's tensor. */
void
gst_pp_meta_keep (GstBuffer *buffer)
{
  gpointer state = NULL;
  GstMeta *meta;

  while (api != 0 &&
      (meta = gst_buffer_iterate_meta_filtered (buffer, &state, api)) != NULL) {
    GST_META_FLAG_UNSET (meta, GST_META_FLAG_LOCKED);
    GST_META_FLAG_SET (meta, GST_META_FLAG_POOLED);
  }
}
