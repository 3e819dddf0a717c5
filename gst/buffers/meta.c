/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "meta.h"

#include <string.h>

#include "gst/cudapreproc.h"

#define INTEGERS 10
#define FIELDS 16

/* In the order in which they are in the structure: integers, then doubles. */
static const gchar *const names[FIELDS] = { "width", "height", "src-x", "src-y",
  "src-width", "src-height", "dst-x", "dst-y", "dst-width", "dst-height", "m0",
  "m1", "m2", "m3", "m4", "m5" };

typedef struct {
  gint integer[INTEGERS];
  gdouble number[FIELDS - INTEGERS];
} Values;

/* How far a structure is what it should be. */
typedef struct {
  const Values *values;
  guint n;
} Comparison;

/* Whether one of a buffer's metas is what it should be. */
typedef struct {
  const Values *values;
  gboolean found;
} Search;

/* 0 where something else of the process has taken the name. */
static GType api;

/* Field names as structures have them, and whether one is the ith: looked at for
 * each field of each frame. */
#if GST_CHECK_VERSION(1, 26, 0)
typedef const GstIdStr *FieldName;
#define foreach_field gst_structure_foreach_id_str
#define is_field(name, i) gst_id_str_is_equal_to_str (name, names[i])
#else
typedef GQuark FieldName;
static GQuark quarks[FIELDS];
#define foreach_field gst_structure_foreach
#define is_field(name, i) ((name) == quarks[i])
#endif

void
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
    api = info != NULL ? info->api : 0;
#if !GST_CHECK_VERSION(1, 26, 0)
    for (guint i = 0; i < FIELDS; i++)
      quarks[i] = g_quark_from_static_string (names[i]);
#endif
    g_once_init_leave (&registered, 1);
  }
}

static gboolean
compare_field (FieldName name, const GValue *value, gpointer data)
{
  Comparison *comparison = data;
  const Values *values = comparison->values;
  const guint i = comparison->n++;

  if (i >= FIELDS || !is_field (name, i))
    return FALSE;
  if (i < INTEGERS)
    return G_VALUE_HOLDS_INT (value) &&
        g_value_get_int (value) == values->integer[i];
  return G_VALUE_HOLDS_DOUBLE (value) &&
      g_value_get_double (value) == values->number[i - INTEGERS];
}

static gboolean
holds (GstCustomMeta *meta, const Values *values)
{
  Comparison comparison = { values, 0 };

  return gst_custom_meta_has_name (meta, GST_CUDA_PREPROC_META_NAME) &&
      foreach_field (
          gst_custom_meta_get_structure (meta), compare_field, &comparison) &&
      comparison.n == FIELDS;
}

/* Leaves one that is what it should be: others may have come with the frame. */
static gboolean
keep_one (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Search *search = data;

  (void) buffer;
  if ((*meta)->info->api != api)
    return TRUE;
  GST_META_FLAG_UNSET (*meta, GST_META_FLAG_POOLED);
  if (!search->found && holds ((GstCustomMeta *) *meta, search->values))
    search->found = TRUE;
  else
    *meta = NULL;
  return TRUE;
}

static void
add (GstBuffer *buffer, const Values *values)
{
  GstStructure *structure = gst_custom_meta_get_structure (
      gst_buffer_add_custom_meta (buffer, GST_CUDA_PREPROC_META_NAME));

  for (guint i = 0; i < INTEGERS; i++)
    gst_structure_set (
        structure, names[i], G_TYPE_INT, values->integer[i], NULL);
  for (guint i = INTEGERS; i < FIELDS; i++)
    gst_structure_set (
        structure, names[i], G_TYPE_DOUBLE, values->number[i - INTEGERS], NULL);
}

void
gst_pp_meta_set (
    GstBuffer *buffer, gint width, gint height, const pp_geometry *geometry)
{
  const pp_rect *source = &geometry->source, *target = &geometry->target;
  Values values = { { width, height, source->x, source->y, source->width,
                        source->height, target->x, target->y, target->width,
                        target->height },
    { 0 } };
  Search search = { &values, FALSE };

  if (api == 0)
    return;
  memcpy (values.number, geometry->matrix, sizeof values.number);
  gst_buffer_foreach_meta (buffer, keep_one, &search);
  if (!search.found)
    add (buffer, &values);
}

/* A locked one could not be removed from the next frame's tensor. */
void
gst_pp_meta_keep (GstBuffer *buffer)
{
  GstMeta *meta = api != 0 ? gst_buffer_get_meta (buffer, api) : NULL;

  if (meta == NULL)
    return;
  GST_META_FLAG_UNSET (meta, GST_META_FLAG_LOCKED);
  GST_META_FLAG_SET (meta, GST_META_FLAG_POOLED);
}
