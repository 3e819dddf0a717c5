/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The regions of a frame that become pictures: GstVideoRegionOfInterestMeta ->
 * rectangles.
 */
#ifndef GST_PP_REGIONS_H
#define GST_PP_REGIONS_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

typedef struct {
  pp_rect rect; /* in the stored frame, inside of its picture */
  gint id, parent;
  const gchar *type; /* "" where there is none; a static string */
} GstPpRegion;

/* For arrays of regions, which keep their memory from frame to frame. */
GArray *gst_pp_regions_new (void);

/* Lists the regions of frame in the order of its metas: those of the types, which
 * have commas between them, or all if types is NULL or empty. picture is the part
 * of the stored frame that is converted: what is outside of it is cut off, and a
 * region that has no pixel left is not listed. */
void gst_pp_regions_find (GArray *regions, GstBuffer *frame, const gchar *types,
    const pp_rect *picture);

G_END_DECLS

#endif
