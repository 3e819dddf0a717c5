/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "meta.h"

#include "cudapreproc.h"

void
gst_pp_meta_register (void)
{
  /* No tags: nothing that downstream does to a buffer makes it untrue. */
  static const gchar *tags[] = { NULL };
  static gsize registered;

  if (g_once_init_enter (&registered)) {
    /* Another copy of the plugin in the process may have been first. */
    if (gst_meta_get_info (GST_CUDA_PREPROC_META_NAME) == NULL)
      gst_meta_register_custom (
          GST_CUDA_PREPROC_META_NAME, tags, NULL, NULL, NULL);
    g_once_init_leave (&registered, 1);
  }
}

void
gst_pp_meta_add (
    GstBuffer *buffer, gint width, gint height, const pp_geometry *geometry)
{
  GstCustomMeta *meta =
      gst_buffer_add_custom_meta (buffer, GST_CUDA_PREPROC_META_NAME);
  const pp_rect *source = &geometry->source, *target = &geometry->target;
  const gdouble *m = geometry->matrix;

  gst_structure_set (gst_custom_meta_get_structure (meta), "width", G_TYPE_INT,
      width, "height", G_TYPE_INT, height, "src-x", G_TYPE_INT, source->x,
      "src-y", G_TYPE_INT, source->y, "src-width", G_TYPE_INT, source->width,
      "src-height", G_TYPE_INT, source->height, "dst-x", G_TYPE_INT, target->x,
      "dst-y", G_TYPE_INT, target->y, "dst-width", G_TYPE_INT, target->width,
      "dst-height", G_TYPE_INT, target->height, "m0", G_TYPE_DOUBLE, m[0], "m1",
      G_TYPE_DOUBLE, m[1], "m2", G_TYPE_DOUBLE, m[2], "m3", G_TYPE_DOUBLE, m[3],
      "m4", G_TYPE_DOUBLE, m[4], "m5", G_TYPE_DOUBLE, m[5], NULL);
}
