/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "debug.h"

GST_DEBUG_CATEGORY (gst_cuda_preproc_debug);

void
gst_pp_debug_init (void)
{
  static gsize done;

  if (!g_once_init_enter (&done))
    return;
  GST_DEBUG_CATEGORY_INIT (gst_cuda_preproc_debug, "cudapreproc", 0,
      "video frames to normalized tensors");
  g_once_init_leave (&done, 1);
}
