/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "elementclass.h"

#include "buffers/meta.h"
#include "convertcontext.h"
#include "debug.h"

static G_DEFINE_QUARK (gst - pp - converter - offset, converter_offset);

static GstPpConverter *
get_converter (gpointer element)
{
  gpointer offset =
      g_type_get_qdata (G_OBJECT_TYPE (element), converter_offset_quark ());

  return G_STRUCT_MEMBER_P (element, GPOINTER_TO_SIZE (offset));
}

/* The base class; types are final. */
static gpointer
get_parent_class (gpointer element)
{
  return g_type_class_peek_parent (G_OBJECT_GET_CLASS (element));
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  gst_pp_converter_set_property (get_converter (object), id, value, pspec);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  gst_pp_converter_get_property (get_converter (object), id, value);
}

/* Comes once after all properties of one g_object_set. */
static void
dispatch_properties_changed (
    GObject *object, guint n_pspecs, GParamSpec **pspecs)
{
  gst_pp_live_settings_dispatch (
      &get_converter (object)->settings, n_pspecs, pspecs);
  G_OBJECT_CLASS (get_parent_class (object))
      ->dispatch_properties_changed (object, n_pspecs, pspecs);
}

GstStateChangeReturn
gst_pp_element_change_state (GstElement *element, GstStateChange transition)
{
  GstPpConverter *converter = get_converter (element);

  if (!gst_pp_converter_before_state (converter, transition))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS (get_parent_class (element))
          ->change_state (element, transition);
  gst_pp_converter_after_state (converter, transition, result);
  return result;
}

static void
set_context (GstElement *element, GstContext *context)
{
  gst_pp_converter_set_context (get_converter (element), context);
  GST_ELEMENT_CLASS (get_parent_class (element))
      ->set_context (element, context);
}

gboolean
gst_pp_element_answers_context (GstElement *element, GstQuery *query)
{
  return GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT &&
      gst_pp_open_device_answer_context (
          &get_converter (element)->opened, query);
}

void
gst_pp_element_allocation_failed (
    GstPpConverter *converter, GstPad *pad, const pp_error *error)
{
  if (gst_pad_is_active (pad))
    gst_pp_error_gate_try_post (&converter->errors, converter->element,
        gst_pp_fault_from_status (error->status), error->text);
}

void
gst_pp_element_class_init (
    GstElementClass *klass, gsize converter, const gchar *const *without)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  gst_pp_debug_init ();
  gst_pp_meta_register ();
  g_type_set_qdata (G_TYPE_FROM_CLASS (klass), converter_offset_quark (),
      GSIZE_TO_POINTER (converter));
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->dispatch_properties_changed = dispatch_properties_changed;
  klass->change_state = gst_pp_element_change_state;
  klass->set_context = set_context;
  gst_pp_converter_install_properties (object_class, without);
}
