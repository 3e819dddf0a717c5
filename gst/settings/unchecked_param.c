/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "unchecked_param.h"

static gboolean
change_nothing (GParamSpec *pspec, GValue *value)
{
  return FALSE;
}

static void
init_class (gpointer klass, gpointer data)
{
  ((GParamSpecClass *) klass)->value_validate = change_nothing;
}

static GType
derive (GType parent, const gchar *name)
{
  GTypeQuery size;

  g_type_query (parent, &size);
  const GTypeInfo info = {
    .class_size = (guint16) size.class_size,
    .class_init = init_class,
    .instance_size = (guint16) size.instance_size,
  };
  return g_type_register_static (parent, name, &info, 0);
}

GParamSpec *
gst_pp_unchecked_param_int (const gchar *name, const gchar *blurb, gint min,
    gint max, gint standard, GParamFlags flags)
{
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, derive (G_TYPE_PARAM_INT, "GstPpUncheckedParamInt"));

  GParamSpecInt *pspec = g_param_spec_internal (type, name, name, blurb, flags);
  pspec->minimum = min;
  pspec->maximum = max;
  pspec->default_value = standard;
  return &pspec->parent_instance;
}

GParamSpec *
gst_pp_unchecked_param_double (const gchar *name, const gchar *blurb,
    gdouble min, gdouble max, gdouble standard, GParamFlags flags)
{
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, derive (G_TYPE_PARAM_DOUBLE, "GstPpUncheckedParamDouble"));

  GParamSpecDouble *pspec =
      g_param_spec_internal (type, name, name, blurb, flags);
  pspec->minimum = min;
  pspec->maximum = max;
  pspec->default_value = standard;
  return &pspec->parent_instance;
}
