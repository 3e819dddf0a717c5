/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The errors that elements post. A table says for each kind its domain, its code
 * and what the user can do about it.
 */
#ifndef GST_PP_ERROR_H
#define GST_PP_ERROR_H

#include <gst/gst.h>

#include "fork_lock.h"
#include "kernels/preproc.h"

G_BEGIN_DECLS

typedef enum {
  GST_PP_FAULT_SETTINGS,    /* a property's value */
  GST_PP_FAULT_NEGOTIATION, /* caps that contradict properties or each other */
  GST_PP_FAULT_VIDEO,       /* caps of frames that cannot be converted */
  GST_PP_FAULT_INPUT,       /* a buffer that its caps do not describe */
  GST_PP_FAULT_OUTPUT,    /* what downstream asks of buffers or does to them */
  GST_PP_FAULT_NO_DEVICE, /* no device, driver or toolkit */
  GST_PP_FAULT_NO_MEMORY, /* of the host or the device */
  GST_PP_FAULT_DEVICE,    /* a call of the device failed */
  GST_PP_FAULT_CONTEXT, /* frames in CUDA memory that this device cannot read */
  GST_PP_FAULT_FORK,    /* the device was opened before a fork */
  GST_PP_FAULT_FILE,    /* a file that cannot be written */
  GST_PP_N_FAULTS
} GstPpFault;

/* Posts an error message. Its text names what was wrong and the value; bytes of it
 * that are not UTF-8 are replaced. Any thread. */
void gst_pp_error_post (GstElement *element, GstPpFault fault,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* Lets only the first error since the start through: later ones follow from it.
 * Any thread, also in a forked child. */
typedef struct {
  GstPpForkLock lock; /* held while an error is posted */
  gboolean posted;
} GstPpErrorGate;

void gst_pp_error_gate_init (GstPpErrorGate *gate);
void gst_pp_error_gate_clear (GstPpErrorGate *gate);
/* Posts text if it is the first. Returns after the first was posted, whoever did
 * it: errors that other elements post because of it come later. */
void gst_pp_error_gate_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text);
/* The same for callers that hold locks of others. If another thread is posting an
 * error, that one is the first, and this returns without waiting for it. */
void gst_pp_error_gate_try_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text);
gboolean gst_pp_error_gate_has_posted (GstPpErrorGate *gate);
/* Lets the next error through. */
void gst_pp_error_gate_open (GstPpErrorGate *gate);

/* The fault for a status of the engine; not for PP_OK. */
GstPpFault gst_pp_fault_from_status (pp_status status);

G_END_DECLS

#endif
