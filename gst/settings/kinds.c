/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kinds of properties: what a field holds, and how it is set, read, parsed,
 * copied and compared.
 */

#include <gst/video/video.h>

#include "enums.h"
#include "presets.h"
#include "properties.h"
#include "settings.h"
#include "unchecked_param.h"

static void
clear_nothing (gpointer field)
{
  (void) field;
}

static const GEnumValue *
values_of (const GstPpProperty *property)
{
  return property->values != NULL ? property->values : gst_pp_preset_values ();
}

/* gint: enumerations, integers, booleans */

static void
reset_int (const GstPpProperty *property, gpointer field)
{
  *(gint *) field = (gint) property->standard;
}

static void
copy_int (gpointer to, gconstpointer from)
{
  *(gint *) to = *(const gint *) from;
}

static gboolean
equal_int (gconstpointer a, gconstpointer b)
{
  return *(const gint *) a == *(const gint *) b;
}

/* The plugin's elements share the enumerations. */
static GParamSpec *
make_enum (const GstPpProperty *property, GParamFlags flags)
{
  GType type = g_type_from_name (property->type_name);

  if (type == 0)
    type = g_enum_register_static (property->type_name, values_of (property));
  return g_param_spec_enum (property->name, property->name, property->blurb,
      type, (gint) property->standard, flags);
}

static void
set_enum (const GstPpProperty *property, gpointer field, const GValue *value)
{
  *(gint *) field = g_value_get_enum (value);
}

static void
get_enum (gconstpointer field, GValue *value)
{
  g_value_set_enum (value, *(const gint *) field);
}

static gboolean
parse_enum (const GstPpProperty *property, gpointer field, const gchar *text)
{
  return gst_pp_enum_from_nick (values_of (property), text, field);
}

const GstPpKind gst_pp_kind_enum = { make_enum, reset_int, clear_nothing,
  set_enum, get_enum, parse_enum, copy_int, equal_int, NULL };

/* The property of GstVideoDirection: of GStreamer's type. */
static GParamSpec *
make_direction (const GstPpProperty *property, GParamFlags flags)
{
  return g_param_spec_enum (property->name, property->name, property->blurb,
      GST_TYPE_VIDEO_ORIENTATION_METHOD, (gint) property->standard, flags);
}

const GstPpKind gst_pp_kind_direction = { make_direction, reset_int,
  clear_nothing, set_enum, get_enum, parse_enum, copy_int, equal_int, NULL };

static GParamSpec *
make_int (const GstPpProperty *property, GParamFlags flags)
{
  return gst_pp_unchecked_param_int (property->name, property->blurb,
      (gint) property->min, (gint) property->max, (gint) property->standard,
      flags);
}

static void
set_int (const GstPpProperty *property, gpointer field, const GValue *value)
{
  *(gint *) field = g_value_get_int (value);
}

static void
get_int (gconstpointer field, GValue *value)
{
  g_value_set_int (value, *(const gint *) field);
}

static gboolean
parse_int (const GstPpProperty *property, gpointer field, const gchar *text)
{
  gint64 value;

  if (!g_ascii_string_to_signed (text, 10, (gint64) property->min,
          (gint64) property->max, &value, NULL))
    return FALSE;
  *(gint *) field = (gint) value;
  return TRUE;
}

static gdouble
number_of_int (gconstpointer field)
{
  return *(const gint *) field;
}

const GstPpKind gst_pp_kind_int = { make_int, reset_int, clear_nothing, set_int,
  get_int, parse_int, copy_int, equal_int, number_of_int };

static GParamSpec *
make_boolean (const GstPpProperty *property, GParamFlags flags)
{
  return g_param_spec_boolean (property->name, property->name, property->blurb,
      property->standard != 0, flags);
}

static void
set_boolean (const GstPpProperty *property, gpointer field, const GValue *value)
{
  *(gboolean *) field = g_value_get_boolean (value);
}

static void
get_boolean (gconstpointer field, GValue *value)
{
  g_value_set_boolean (value, *(const gboolean *) field);
}

static gboolean
parse_boolean (const GstPpProperty *property, gpointer field, const gchar *text)
{
  *(gboolean *) field = g_strcmp0 (text, "true") == 0;
  return *(gboolean *) field || g_strcmp0 (text, "false") == 0;
}

const GstPpKind gst_pp_kind_boolean = { make_boolean, reset_int, clear_nothing,
  set_boolean, get_boolean, parse_boolean, copy_int, equal_int, NULL };

/* gdouble */

static GParamSpec *
make_double (const GstPpProperty *property, GParamFlags flags)
{
  return gst_pp_unchecked_param_double (property->name, property->blurb,
      property->min, property->max, property->standard, flags);
}

static void
reset_double (const GstPpProperty *property, gpointer field)
{
  *(gdouble *) field = property->standard;
}

static void
set_double (const GstPpProperty *property, gpointer field, const GValue *value)
{
  *(gdouble *) field = g_value_get_double (value);
}

static void
get_double (gconstpointer field, GValue *value)
{
  g_value_set_double (value, *(const gdouble *) field);
}

static gboolean
parse_double (const GstPpProperty *property, gpointer field, const gchar *text)
{
  gchar *end = NULL;
  const gdouble value = g_ascii_strtod (text, &end);

  *(gdouble *) field = value;
  return end != text && *end == '\0' && value >= property->min &&
      value <= property->max;
}

static void
copy_double (gpointer to, gconstpointer from)
{
  *(gdouble *) to = *(const gdouble *) from;
}

/* NaN is not equal to itself: setting it again is a change, and as wrong. */
static gboolean
equal_double (gconstpointer a, gconstpointer b)
{
  return *(const gdouble *) a == *(const gdouble *) b;
}

static gdouble
number_of_double (gconstpointer field)
{
  return *(const gdouble *) field;
}

const GstPpKind gst_pp_kind_double = { make_double, reset_double, clear_nothing,
  set_double, get_double, parse_double, copy_double, equal_double,
  number_of_double };

/* text */

static GParamSpec *
make_string (const GstPpProperty *property, GParamFlags flags)
{
  return g_param_spec_string (property->name, property->name, property->blurb,
      property->standard_text, flags);
}

static void
set_text (gpointer field, const gchar *text)
{
  gchar **string = field;

  g_free (*string);
  *string = g_strdup (text);
}

static void
reset_string (const GstPpProperty *property, gpointer field)
{
  set_text (field, property->standard_text);
}

static void
clear_string (gpointer field)
{
  set_text (field, NULL);
}

static void
set_string (const GstPpProperty *property, gpointer field, const GValue *value)
{
  const gchar *text = g_value_get_string (value);

  /* Empty is none where the default is none: programs that take settings from
   * a file or a command line have no other way to say none. */
  if (text != NULL && *text == '\0' && property->standard_text == NULL)
    text = NULL;
  set_text (field, text);
}

static void
get_string (gconstpointer field, GValue *value)
{
  g_value_set_string (value, *(gchar *const *) field);
}

static gboolean
parse_string (const GstPpProperty *property, gpointer field, const gchar *text)
{
  set_text (field, text);
  return TRUE;
}

static void
copy_string (gpointer to, gconstpointer from)
{
  set_text (to, *(gchar *const *) from);
}

static gboolean
equal_string (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(gchar *const *) a, *(gchar *const *) b) == 0;
}

const GstPpKind gst_pp_kind_string = { make_string, reset_string, clear_string,
  set_string, get_string, parse_string, copy_string, equal_string, NULL };

/* lists of numbers, which are strings to everybody else */

/* Numbers with commas between them, whatever the locale. */
static void
set_list (GstPpList *list, const gchar *text)
{
  set_text (&list->text, text);
  list->length = 0;
  if (text == NULL)
    return;

  for (const gchar *rest = text;; rest++) {
    gchar *end = NULL;
    const gdouble value = g_ascii_strtod (rest, &end);

    if (end == rest || list->length == GST_PP_LIST_MAX) {
      list->length = -1;
      return;
    }
    list->value[list->length++] = value;
    while (g_ascii_isspace (*end))
      end++;
    if (*end == '\0')
      return;
    if (*end != ',') {
      list->length = -1;
      return;
    }
    rest = end;
  }
}

static void
reset_list (const GstPpProperty *property, gpointer field)
{
  set_list (field, property->standard_text);
}

static void
clear_list (gpointer field)
{
  set_list (field, NULL);
}

/* Unset is the default. */
static void
set_list_value (
    const GstPpProperty *property, gpointer field, const GValue *value)
{
  const gchar *text = g_value_get_string (value);

  set_list (field, text != NULL ? text : property->standard_text);
}

static void
get_list (gconstpointer field, GValue *value)
{
  g_value_set_string (value, ((const GstPpList *) field)->text);
}

static gboolean
parse_list (const GstPpProperty *property, gpointer field, const gchar *text)
{
  set_list (field, text);
  return ((const GstPpList *) field)->length > 0;
}

static void
copy_list (gpointer to, gconstpointer from)
{
  GstPpList *list = to;
  gchar *text = list->text;

  *list = *(const GstPpList *) from;
  list->text = text;
  set_text (&list->text, ((const GstPpList *) from)->text);
}

static gboolean
equal_list (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (
             ((const GstPpList *) a)->text, ((const GstPpList *) b)->text) == 0;
}

const GstPpKind gst_pp_kind_list = { make_string, reset_list, clear_list,
  set_list_value, get_list, parse_list, copy_list, equal_list, NULL };
