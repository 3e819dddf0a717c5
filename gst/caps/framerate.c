/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "framerate.h"

static gboolean
is_any (const GValue *value)
{
  static const gint full[] = { 0, 1, G_MAXINT, 1 };

  if (!GST_VALUE_HOLDS_FRACTION_RANGE (value))
    return FALSE;
  const GValue *min = gst_value_get_fraction_range_min (value);
  const GValue *max = gst_value_get_fraction_range_max (value);
  return gst_value_get_fraction_numerator (min) == full[0] &&
      gst_value_get_fraction_denominator (min) == full[1] &&
      gst_value_get_fraction_numerator (max) == full[2] &&
      gst_value_get_fraction_denominator (max) == full[3];
}

/* Tensor caps always have a framerate, but video caps may have none. So "any
 * framerate" and 0/1, which means unknown, must not become a field of the video's
 * caps. */
gboolean
gst_pp_framerate_is_open (const GValue *framerate)
{
  if (GST_VALUE_HOLDS_LIST (framerate))
    for (guint i = 0; i < gst_value_list_get_size (framerate); i++)
      if (gst_pp_framerate_is_open (gst_value_list_get_value (framerate, i)))
        return TRUE;
  return is_any (framerate) ||
      (GST_VALUE_HOLDS_FRACTION (framerate) &&
          gst_value_get_fraction_numerator (framerate) == 0);
}

static void
scale_fraction (GValue *scaled, const GValue *fraction, gint n, gint d)
{
  gint num, den;

  g_value_init (scaled, GST_TYPE_FRACTION);
  if (gst_util_fraction_multiply (gst_value_get_fraction_numerator (fraction),
          gst_value_get_fraction_denominator (fraction), n, d, &num, &den))
    gst_value_set_fraction (scaled, num, den);
  else if (n > d)
    gst_value_set_fraction (scaled, G_MAXINT, 1);
  else
    gst_value_set_fraction (scaled, 1, G_MAXINT);
}

static void
scale_range (GValue *scaled, const GValue *range, gint n, gint d)
{
  GValue min = G_VALUE_INIT, max = G_VALUE_INIT;

  scale_fraction (&min, gst_value_get_fraction_range_min (range), n, d);
  scale_fraction (&max, gst_value_get_fraction_range_max (range), n, d);
  if (gst_value_compare (&min, &max) == GST_VALUE_LESS_THAN) {
    g_value_init (scaled, GST_TYPE_FRACTION_RANGE);
    gst_value_set_fraction_range (scaled, &min, &max);
  } else { /* both out of range */
    g_value_init (scaled, GST_TYPE_FRACTION);
    g_value_copy (&max, scaled);
  }
  g_value_unset (&min);
  g_value_unset (&max);
}

/* Items that are no framerates are left out, and all others beside one that is any
 * framerate: GStreamer would not take the list for a part of the template's range. */
static gboolean
scale_list (GValue *scaled, const GValue *list, gint n, gint d)
{
  g_value_init (scaled, GST_TYPE_LIST);
  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    const GValue *framerate = gst_value_list_get_value (list, i);
    GValue item = G_VALUE_INIT;

    if (is_any (framerate)) {
      g_value_unset (scaled);
      g_value_init (scaled, GST_TYPE_FRACTION_RANGE);
      g_value_copy (framerate, scaled);
      return TRUE;
    }
    if (gst_pp_framerate_scale (&item, framerate, n, d))
      gst_value_list_append_and_take_value (scaled, &item);
  }
  if (gst_value_list_get_size (scaled) > 0)
    return TRUE;
  g_value_unset (scaled);
  return FALSE;
}

gboolean
gst_pp_framerate_scale (GValue *scaled, const GValue *framerate, gint n, gint d)
{
  if (GST_VALUE_HOLDS_LIST (framerate))
    return scale_list (scaled, framerate, n, d);
  if (GST_VALUE_HOLDS_FRACTION_RANGE (framerate))
    scale_range (scaled, framerate, n, d);
  else if (GST_VALUE_HOLDS_FRACTION (framerate))
    scale_fraction (scaled, framerate, n, d);
  else
    return FALSE;
  return TRUE;
}

void
gst_pp_framerate_restrict (GstStructure *structure, const GValue *framerate)
{
  const GValue *possible = gst_structure_get_value (structure, "framerate");
  GValue common = G_VALUE_INIT;

  if (possible == NULL) {
    gst_structure_set_value (structure, "framerate", framerate);
  } else if (gst_value_intersect (&common, framerate, possible)) {
    gst_structure_set_value (structure, "framerate", &common);
    g_value_unset (&common);
  }
}
