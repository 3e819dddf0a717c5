/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "goldencase.h"

#include <string.h>

#include "gst/caps/inputformat.h"
#include "gst/settings/enums.h"

#include "tests/common/elementspec.h"

static const gchar *const column_names[] = { "case", "library", "input",
  "format", "width", "height", "colorimetry", "chroma_site", "properties",
  "expected", "dims", "type", "max_abs", "mean_abs", "reason", NULL };

gchar **
golden_read (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, &error)) {
    g_printerr ("%s\n", error->message);
    return NULL;
  }

  gchar *rest = strchr (text, '\n');

  if (rest != NULL)
    *rest++ = '\0';

  g_auto (GStrv) header = g_strsplit (text, "\t", -1);

  if (rest == NULL ||
      !g_strv_equal ((const gchar *const *) header, column_names)) {
    g_printerr ("%s: the first line does not name the columns\n", path);
    return NULL;
  }
  return g_strsplit (g_strchomp (rest), "\n", -1);
}

static gboolean
parse_info (gchar **columns, GstVideoInfo *info)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (text,
      "video/x-raw,format=%s,width=%s,height=%s,framerate=1/1", columns[FORMAT],
      columns[WIDTH], columns[HEIGHT]);
  if (!g_str_equal (columns[COLORIMETRY], "-"))
    g_string_append_printf (text, ",colorimetry=%s", columns[COLORIMETRY]);
  if (!g_str_equal (columns[CHROMA_SITE], "-"))
    g_string_append_printf (text, ",chroma-site=%s", columns[CHROMA_SITE]);

  g_autoptr (GstCaps) caps = gst_caps_from_string (text->str);

  if (caps && gst_pp_video_info_from_caps (info, caps))
    return TRUE;
  g_print ("%s: caps are refused: %s\n", columns[NAME], text->str);
  return FALSE;
}

gchar *
golden_load (const GoldenCase *golden, const gchar *name, gsize size)
{
  g_autofree gchar *path = g_build_filename (golden->folder, name, NULL);
  g_autoptr (GError) error = NULL;
  gchar *data;
  gsize length;

  if (!g_file_get_contents (path, &data, &length, &error)) {
    g_print ("%s: %s\n", golden->columns[NAME], error->message);
    return NULL;
  }
  if (length == size)
    return data;
  g_print ("%s: %s has %zu bytes, expected %zu\n", golden->columns[NAME], path,
      length, size);
  g_free (data);
  return NULL;
}

/* The file's dimensions must be the spec's: a tensor of the same number of
 * elements in another layout would only look like wrong numbers. */
static gboolean
check_dims (gchar **columns, const pp_spec *spec)
{
  const int n = pp_channels_count (spec->channels);
  g_autofree gchar *dims = spec->layout == PP_LAYOUT_NCHW
      ? g_strdup_printf ("%d:%d:%d:1", spec->width, spec->height, n)
      : g_strdup_printf ("%d:%d:%d:1", n, spec->width, spec->height);

  const gchar *type = gst_pp_enum_nick (gst_pp_types, (gint) spec->type);

  if (g_str_equal (dims, columns[DIMS]) && g_str_equal (type, columns[TYPE]))
    return TRUE;
  g_print ("%s: the file is %s %s, the properties say %s %s\n", columns[NAME],
      columns[TYPE], columns[DIMS], type, dims);
  return FALSE;
}

static gboolean
map_frame (GoldenCase *golden, const GstVideoInfo *info)
{
  const gsize size = GST_VIDEO_INFO_SIZE (info);
  gchar *input = golden_load (golden, golden->columns[INPUT], size);
  g_autofree gchar *reason = NULL;

  if (input == NULL)
    return FALSE;
  golden->mapped = gst_pp_input_map (
      &golden->frame, info, gst_buffer_new_wrapped (input, size), &reason);
  if (!golden->mapped)
    g_print ("%s: %s\n", golden->columns[NAME], reason);
  return golden->mapped;
}

gboolean
golden_case_init (GoldenCase *golden, const gchar *line, const gchar *folder)
{
  gchar **columns = g_strsplit (line, "\t", -1);
  g_autofree gchar *reason = NULL;
  GstVideoInfo info;

  *golden = (GoldenCase){ .columns = columns, .folder = folder };
  if (g_strv_length (columns) != N_COLUMNS ||
      !g_ascii_islower (columns[NAME][0])) {
    g_print ("%s: not a case of %d columns\n", line, N_COLUMNS);
    return FALSE;
  }
  if (!test_spec_from_properties (
          columns[PROPERTIES], &golden->spec, &reason)) {
    g_print ("%s: %s\n", columns[NAME], reason);
    return FALSE;
  }
  if (!check_dims (columns, &golden->spec) || !parse_info (columns, &info))
    return FALSE;
  if (!gst_pp_format_from_video_info (&info, &golden->format, &reason)) {
    g_print ("%s: no format: %s\n", columns[NAME], reason);
    return FALSE;
  }
  return map_frame (golden, &info);
}

void
golden_case_clear (GoldenCase *golden)
{
  if (golden->mapped)
    gst_pp_input_clear (&golden->frame);
  g_clear_pointer (&golden->columns, g_strfreev);
}
