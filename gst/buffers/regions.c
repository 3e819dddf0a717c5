/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "regions.h"

#include <gst/video/video.h>
#include <string.h>

GArray *
gst_pp_regions_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (GstPpRegion));
}

/* Whether type is one of types, of which spaces around it do not count. */
static gboolean
is_listed (const gchar *types, const gchar *type)
{
  const gsize length = strlen (type);

  if (types == NULL || *types == '\0')
    return TRUE;
  for (const gchar *at = types; at != NULL;) {
    while (g_ascii_isspace (*at))
      at++;
    gsize n = strcspn (at, ",");
    const gchar *next = at[n] == ',' ? at + n + 1 : NULL;

    while (n > 0 && g_ascii_isspace (at[n - 1]))
      n--;
    if (n == length && strncmp (at, type, n) == 0)
      return TRUE;
    at = next;
  }
  return FALSE;
}

/* Along one axis: [start, start + length) inside of [low, low + size). FALSE: there
 * is nothing left. */
static gboolean
cut (gint64 start, gint64 length, gint low, gint size, gint *from, gint *count)
{
  const gint64 begin = MAX (start, low);
  const gint64 end = MIN (start + length, (gint64) low + size);

  if (end <= begin)
    return FALSE;
  *from = (gint) begin;
  *count = (gint) (end - begin);
  return TRUE;
}

void
gst_pp_regions_find (GArray *regions, GstBuffer *frame, const gchar *types,
    const pp_rect *picture)
{
  gpointer state = NULL;
  GstMeta *meta;

  g_array_set_size (regions, 0);
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != NULL) {
    const GstVideoRegionOfInterestMeta *roi =
        (const GstVideoRegionOfInterestMeta *) meta;
    const gchar *type = g_quark_to_string (roi->roi_type);
    GstPpRegion region = {
      .id = roi->id, .parent = roi->parent_id, .type = type != NULL ? type : ""
    };

    /* Detectors write negative coordinates into the unsigned fields. */
    if (is_listed (types, region.type) &&
        cut ((gint32) roi->x, roi->w, picture->x, picture->width,
            &region.rect.x, &region.rect.width) &&
        cut ((gint32) roi->y, roi->h, picture->y, picture->height,
            &region.rect.y, &region.rect.height))
      g_array_append_val (regions, region);
  }
}
