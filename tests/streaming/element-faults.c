/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element on a device whose every call fails once: the first time, the
 * second and so on until nothing is left that fails; once, and from then on. One
 * error, with the call's name; the frames before it are delivered, no EOS comes
 * after it, nothing is left behind, and READY -> PLAYING works when the fault is
 * gone. Prints a row for each call.
 *
 * This program has the element linked in, and opens its device itself.
 */

#include "faultrun.h"

#include "gst/cudapreproc.h"
#include "gst/cudapreprocmux.h"

#include "tests/common/elementutil.h"

static const FaultStream streams[] = {
  { "harness",
      "width=32 height=18 type=uint8 streams=2 staging-threads=2 async-depth=2",
      120, 68, 8, 1, 1 },
  /* Each tensor is waited for: a frame that is alone goes in two bands. */
  { "urgent",
      "width=640 height=640 type=uint8 streams=2 staging-threads=2 "
      "async-depth=0",
      640, 640, FAULT_HELD_FRAMES, 2, 1 },
  /* The last one is not full. */
  { "batches",
      "width=32 height=18 type=uint8 streams=2 staging-threads=2 async-depth=1 "
      "batch-size=3",
      120, 68, 8, 1, 3 },
  { "regions",
      "width=32 height=18 type=uint8 streams=2 staging-threads=2 async-depth=1 "
      "regions=meta batch-size=2",
      120, 68, 6, 1, 1, 2 },
  { "device",
      "width=32 height=18 type=uint8 streams=2 staging-threads=2 async-depth=1 "
      "batch-size=3",
      120, 68, 8, 1, 3, 0, TRUE },
};

static const FaultPipeline pipelines[] = {
  { "pipeline",
      "videotestsrc num-buffers=8 ! video/x-raw,format=NV12,width=120,height=68 "
      "! queue ! cudapreproc name=pp width=32 height=18 streams=2 "
      "staging-threads=2 async-depth=2 ! queue ! fakesink name=out sync=false",
      8 },
  { "mux",
      "cudapreprocmux name=pp width=32 height=18 streams=2 staging-threads=2 "
      "! queue ! fakesink name=out sync=false "
      "videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=120,height=68 "
      "! queue ! pp. "
      "videotestsrc num-buffers=4 ! video/x-raw,format=RGB,width=40,height=34 "
      "! queue ! pp.",
      4 },
  { "device",
      "videotestsrc num-buffers=8 ! video/x-raw,format=NV12,width=120,height=68 "
      "! queue ! cudapreproc name=pp width=32 height=18 fit=letterbox streams=2 "
      "batch-size=3 ! other/tensors(memory:CUDAMemory) ! queue "
      "! fakesink name=out sync=false",
      3 },
};

/* Every kind of call is one that frames, or what they need, make. */
GST_START_TEST (test_stream_with_a_fault) {
  guint runs = 0;

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    runs += fault_run_stream ((fake_call) __i__, &streams[i]);
  /* Streams are waited for only where something else has failed; frames and
   * tensors here are in host memory. */
  fail_unless (runs > 0 || __i__ == FAKE_STREAM_SYNC ||
          __i__ == FAKE_TRANSFER || __i__ == FAKE_PAD,
      "%s: never called", fault_call_name ((fake_call) __i__));
}
GST_END_TEST

GST_START_TEST (test_pipeline_with_a_fault) {
  for (guint i = 0; i < G_N_ELEMENTS (pipelines); i++)
    fault_run_pipeline ((fake_call) __i__, &pipelines[i]);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  gst_element_register (
      NULL, "cudapreprocmux", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC_MUX);
  tcase_add_loop_test (
      tcase, test_stream_with_a_fault, 0, (int) FAKE_MALLOC + 1);
  tcase_add_loop_test (
      tcase, test_pipeline_with_a_fault, 0, (int) FAKE_MALLOC + 1);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-faults", add_tests);
}
