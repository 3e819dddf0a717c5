/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For programs that the element is linked into, on the fake device and with the
 * fake driver in front.
 */
#include "gst/cudapreproc.h"
#include "gst/cudapreprocmux.h"

#include "tests/common/cudaframes.h"

#include <gst/cuda/gstcudaloader.h>

gboolean
test_cuda_ready (void)
{
  if (!gst_cuda_load_library ()) {
    g_print (
        "SKIP: this GStreamer asks more of a driver than the fake one has\n");
    return FALSE;
  }
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  gst_element_register (
      NULL, "cudapreprocmux", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC_MUX);
  return TRUE;
}
