/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ALLOCATION queries: upstream is offered pinned memory for its frames, and
 * tensors come from a pool of ours, laid out as downstream asks.
 */
#ifndef GST_PP_ALLOCATION_H
#define GST_PP_ALLOCATION_H

#include <gst/gst.h>

#include "gst/caps/tensorcaps.h"
#include "gst/report/error.h"

G_BEGIN_DECLS

/* Offers upstream a pool for a device with this number of streams, and the
 * allocator; for frames in CUDA memory a pool of context, which may be NULL. FALSE
 * when the query's caps are not video. */
gboolean gst_pp_propose_allocation (GstQuery *query, GstAllocator *allocator,
    GstObject *context, guint streams);

/* Replaces downstream's pools by one of the device's memory, active, with at least
 * min_buffers buffers. gpu: the device's number. FALSE with *fault and *reason, which is to be freed: memory
 * is exhausted, or no pool can give such tensors. */
gboolean gst_pp_decide_allocation (GstQuery *query, pp_device *device, gint gpu,
    const GstPpTensor *tensor, guint min_buffers, GstPpFault *fault,
    gchar **reason);

/* Writes to the debug log of element what is done with the query's first pool, which
 * may have none. */
void gst_pp_log_allocation (GstElement *element, const pp_device *device,
    const gchar *what, GstQuery *query);

G_END_DECLS

#endif
