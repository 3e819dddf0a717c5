/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs the element on the fake device while one of its calls fails: the first time,
 * the second and so on until nothing is left that fails; once, and from then on. The
 * element must post one error, which names the call. The tensors of the frames before
 * it come, no EOS comes after it, nothing is left behind, and READY -> PLAYING works
 * when the fault is gone. Fails the running test where that does not hold.
 *
 * Programs link the element in, with fakedevice.c and fakelibc.c.
 */
#ifndef FAULTRUN_H
#define FAULTRUN_H

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "tests/fake/backend_fake.h"

/* While the first of them are pushed, the device stands still: which is behind
 * another is no matter of luck then. */
#define FAULT_HELD_FRAMES 3

/* What is streamed with a harness. */
typedef struct {
  const gchar *name, *properties;
  gint width, height; /* of the RGB frames */
  guint frames;
  guint first_launches; /* of the first frame; the others have one */
  guint batch;          /* frames of a tensor */
  guint regions;        /* of a frame, each of which is all of it */
  gboolean on_device;   /* tensors stay there */
  gboolean opened;      /* no call fails before the device is open */
  const gchar *memory;  /* a feature of the frames' caps; NULL: none */
  /* A frame of that number, for an element that plays. NULL: in the memory that the
   * element offers, and in ordinary memory, in turns. */
  GstBuffer *(*make_frame) (
      GstHarness *h, const GstVideoInfo *info, guint number);
} FaultStream;

/* Frames go through it with threads before and behind the element. */
typedef struct {
  const gchar *name, *line; /* its sink is called out */
  guint tensors;
  gboolean opened; /* no call fails before the device is open */
  /* Called before each start, in READY. May be NULL. */
  void (*feed) (GstElement *pipeline);
} FaultPipeline;

/* How many runs there were in which the call failed. Print a row. */
guint fault_run_stream (fake_call call, const FaultStream *stream);
guint fault_run_pipeline (fake_call call, const FaultPipeline *pipeline);
/* For texts. */
const gchar *fault_call_name (fake_call call);

#endif
