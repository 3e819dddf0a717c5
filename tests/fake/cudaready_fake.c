/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For programs that the element is linked into, on the fake device and with the
 * fake driver in front.
 */
#include "gst/cudapreproc.h"
#include "gst/cudapreprocmux.h"

#include "tests/common/cudaframes.h"

#include <string.h>

#include <gst/cuda/gstcudaloader.h>

#include "backend_fake.h"
#include "kernels/cpu/host_stream.h"

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

/* The device's memory is the host's; fake events are waited for on the host. */
gboolean
test_cuda_read_in_primary (
    const GstCudaPreprocDeviceTensor *tensor, gpointer memory, gsize size)
{
  for (guint i = 0; i < tensor->n_events; i++)
    if (pp_host_event_wait (tensor->events[i], NULL) != PP_OK)
      return FALSE;
  memcpy (memory, (gconstpointer) (guintptr) tensor->data, size);
  return TRUE;
}

/* Threads of GStreamer's may be about to let go. */
void
test_cuda_expect_nothing_left (void)
{
  gchar text[128];
  gint live = fake_live (text, sizeof text);

  for (gint waited = 0; live != 0 && waited < 2000; waited++) {
    g_usleep (1000);
    live = fake_live (text, sizeof text);
  }
  fail_unless (live == 0, "there are %s", text);
}
