/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of properties, one row each, and what the rows' kinds can do. Only for
 * the files of this folder; the others use settings.h.
 */
#ifndef GST_PP_PROPERTIES_H
#define GST_PP_PROPERTIES_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstPpProperty GstPpProperty;

/* A kind of property: what its field of GstPpSettings holds. None of these can
 * fail but parse. */
typedef struct {
  GParamSpec *(*make_param) (const GstPpProperty *property, GParamFlags flags);
  /* The default, into a field that is zero or was set before. */
  void (*reset) (const GstPpProperty *property, gpointer field);
  /* Frees what the field owns. */
  void (*clear) (gpointer field);
  void (*set) (
      const GstPpProperty *property, gpointer field, const GValue *value);
  void (*get) (gconstpointer field, GValue *value);
  /* From text as on a gst-launch-1.0 line, whatever the locale. FALSE: it is no
   * value of the kind, and the field may hold anything that can be cleared. */
  gboolean (*parse) (
      const GstPpProperty *property, gpointer field, const gchar *text);
  void (*copy) (gpointer to, gconstpointer from);
  gboolean (*equal) (gconstpointer a, gconstpointer b);
  /* The field as a number, for the row's range; NULL: the kind has none. */
  gdouble (*number) (gconstpointer field);
} GstPpKind;

extern const GstPpKind gst_pp_kind_enum, gst_pp_kind_direction, gst_pp_kind_int,
    gst_pp_kind_boolean, gst_pp_kind_double, gst_pp_kind_string,
    gst_pp_kind_list;

/* When a property may change, and what follows from it. */
typedef enum {
  GST_PP_UNTIL_READY,     /* the stream's caps or its device depend on it */
  GST_PP_CHANGES_PLANS,   /* while PLAYING: from then on, other plans */
  GST_PP_CHANGES_PICTURE, /* while PLAYING: the same plans serve that picture */
  GST_PP_CHANGES_REPORTS  /* while PLAYING: nothing of a frame depends on it */
} GstPpChange;

struct _GstPpProperty {
  const gchar *name;
  const GstPpKind *kind;
  gsize offset; /* of the field in GstPpSettings */
  GstPpChange change;
  gdouble standard; /* the default of a number */
  gdouble min, max; /* inclusive; max G_MAXDOUBLE: any finite number */
  const gchar *standard_text; /* the default of a string or list, or NULL */
  const GEnumValue *values;   /* of an enumeration; NULL: the presets */
  const gchar *type_name;     /* of an enumeration */
  const gchar *blurb;
};

/* All rows, in the order of the property ids, which begin with 1. */
const GstPpProperty *gst_pp_properties (guint *n);
/* NULL: there is none of that name, or with its field there. */
const GstPpProperty *gst_pp_property_find (const gchar *name);
const GstPpProperty *gst_pp_property_at (gsize offset);
/* Its bit in GstPpSettings.set. */
guint64 gst_pp_property_bit (const GstPpProperty *property);

G_END_DECLS

#endif
