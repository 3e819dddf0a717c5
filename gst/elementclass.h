/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the classes of all elements with a converter have in common, whatever
 * their base class.
 */
#ifndef GST_PP_ELEMENT_CLASS_H
#define GST_PP_ELEMENT_CLASS_H

#include "converter.h"

G_BEGIN_DECLS

/* In class_init of a final type: properties and their methods, changes of state, the
 * debug category, the meta. converter: offset of the GstPpConverter in an instance.
 * without: names of properties that the element does not have, NULL at the end. */
void gst_pp_element_class_init (
    GstElementClass *klass, gsize converter, const gchar *const *without);

/* The change of state that class_init sets, for an element with its own to call. */
GstStateChangeReturn gst_pp_element_change_state (
    GstElement *element, GstStateChange transition);

/* What a GstPpAllocatorFailed does: upstream wanted memory for a frame. It may hold
 * locks, need not report the failure itself, and may be shutting down; pad is
 * inactive then. */
void gst_pp_element_allocation_failed (
    GstPpConverter *converter, GstPad *pad, const pp_error *error);

G_END_DECLS

#endif
