/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Registers the elements, whatever devices there are: the registry caches what
 * happens here, and a driver may be installed later.
 */

#include "buffers/meta.h"
#include "cudapreproc.h"
#include "cudapreprocmux.h"

/* GStreamer 1.28 has it. Weak, so that a plugin built with older headers calls it
 * too where it is there; NULL where it is not. */
gboolean gst_meta_factory_register (
    GstPlugin *plugin, const GstMetaInfo *meta_info) __attribute__ ((weak));

static gboolean
plugin_init (GstPlugin *plugin)
{
  /* A process that receives tensors from another one has no element, and finds
   * the meta by its name in the registry; before 1.28, once it has loaded the
   * plugin. */
  const GstMetaInfo *meta = gst_pp_meta_register ();

  if (meta != NULL && gst_meta_factory_register != NULL)
    gst_meta_factory_register (plugin, meta);
  return gst_element_register (
             plugin, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC) &&
      gst_element_register (
          plugin, "cudapreprocmux", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC_MUX);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudapreproc,
    "Turns video frames into normalized tensors on CUDA streams or CPU threads",
    plugin_init, VERSION, "LGPL", PACKAGE, PACKAGE_ORIGIN)
