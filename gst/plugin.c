/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Registers the elements, whatever devices there are: the registry caches what
 * happens here, and a driver may be installed later.
 */

#include "cudapreproc.h"
#include "cudapreprocmux.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return gst_element_register (
             plugin, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC) &&
      gst_element_register (
          plugin, "cudapreprocmux", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC_MUX);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudapreproc,
    "Turns video frames into normalized tensors on CUDA streams or CPU threads",
    plugin_init, VERSION, "LGPL", PACKAGE, PACKAGE_ORIGIN)
