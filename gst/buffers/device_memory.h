/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a memory on the device has besides its block there: a copy in host memory,
 * for maps that do not ask for a device pointer.
 */
#ifndef GST_PP_DEVICE_MEMORY_H
#define GST_PP_DEVICE_MEMORY_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

typedef struct {
  pp_arena *arena;  /* of the device's memory; not owned, as data */
  pp_arena *host;   /* of host memory; owned */
  gpointer data;    /* on the device */
  gsize size;       /* bytes of both */
  GMutex lock;      /* guards the rest */
  gpointer copy;    /* NULL: none was needed yet */
  gboolean current; /* copy is what is on the device */
  guint writers;    /* maps that may be changing what is there */
  gboolean lost;    /* what was written to copy did not get to the device */
} GstPpDeviceBlock;

void gst_pp_device_block_init (GstPpDeviceBlock *block, pp_arena *arena,
    pp_arena *host, gpointer data, gsize size);
void gst_pp_device_block_clear (GstPpDeviceBlock *block);
/* What is on the device has changed, or is about to. */
void gst_pp_device_block_forget_copy (GstPpDeviceBlock *block);

/* As GstAllocator's functions; no job may be writing to the block. With
 * GST_MAP_CUDA the address is one on the device. Else it is that of the copy, which
 * is downloaded unless it is current, and after writing is uploaded by unmap. NULL:
 * a call failed. Any thread. */
gpointer gst_pp_device_block_map (GstPpDeviceBlock *block, GstMapFlags flags);
void gst_pp_device_block_unmap (GstPpDeviceBlock *block, GstMapFlags flags);

G_END_DECLS

#endif
