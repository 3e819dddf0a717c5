/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ALLOCATION queries: frames in pinned memory from upstream, tensors from a pool
 * of ours.
 */
#ifndef GST_PP_ALLOCATION_H
#define GST_PP_ALLOCATION_H

#include <gst/gst.h>

#include "gst/caps/tensorcaps.h"

G_BEGIN_DECLS

/* Offers upstream a pool for a device of so many streams, and the allocator.
 * FALSE when the query's caps are not video. */
gboolean gst_pp_propose_allocation (
    GstQuery *query, GstAllocator *allocator, guint streams);

/* Replaces downstream's pools by one of the device's memory, active, with
 * min_buffers more than downstream asks for. FALSE with PP_NO_MEMORY,
 * or PP_BAD_ARGUMENT for a tensor that no pool can give. */
gboolean gst_pp_decide_allocation (GstQuery *query, pp_device *device,
    const GstPpTensor *tensor, guint min_buffers, pp_error *error);

G_END_DECLS

#endif
