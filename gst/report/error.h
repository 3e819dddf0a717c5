/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every error that the element posts: one table of domains, codes and what the
 * user can do.
 */
#ifndef GST_PP_ERROR_H
#define GST_PP_ERROR_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

typedef enum {
  GST_PP_FAULT_SETTINGS,    /* a property's value */
  GST_PP_FAULT_NEGOTIATION, /* caps that contradict properties or each other */
  GST_PP_FAULT_VIDEO,       /* caps of frames that cannot be taken */
  GST_PP_FAULT_INPUT,       /* a buffer that is not what its caps say */
  GST_PP_FAULT_NO_DEVICE,
  GST_PP_FAULT_NO_MEMORY,
  GST_PP_FAULT_DEVICE,
  GST_PP_FAULT_FORK, /* a device that is another process' */
  GST_PP_FAULT_FILE, /* that cannot be written */
  GST_PP_N_FAULTS
} GstPpFault;

/* Posts an error message whose text names what was wrong and with which value.
 * Any thread. */
void gst_pp_error_post (GstElement *element, GstPpFault fault,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* The first error of an element since its start is the one that the user sees;
 * what follows from it is not posted. Any thread. */
typedef struct {
  GRecMutex lock; /* held while an error is posted */
  gboolean posted;
} GstPpErrorGate;

void gst_pp_error_gate_init (GstPpErrorGate *gate);
void gst_pp_error_gate_clear (GstPpErrorGate *gate);
/* Posts text, unless there was one. Returns when the first is posted: what other
 * elements post because of it comes later. */
void gst_pp_error_gate_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text);
/* The same for a caller with locks of others: does not wait for another error's
 * being posted, which is the first one then, whatever its handlers wait for. */
void gst_pp_error_gate_try_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text);
gboolean gst_pp_error_gate_has_posted (GstPpErrorGate *gate);
/* The next error is a first one again. */
void gst_pp_error_gate_open (GstPpErrorGate *gate);

/* The fault that a status of the engine, not PP_OK, stands for. */
GstPpFault gst_pp_fault_from_status (pp_status status);

G_END_DECLS

#endif
