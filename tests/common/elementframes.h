/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames to send through the element and tensors that come out.
 */
#ifndef ELEMENTFRAMES_H
#define ELEMENTFRAMES_H

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* frames */

/* How the planes lie in a buffer, in bytes. All zero: as GstVideoInfo has it.
 */
typedef struct {
  gsize before;       /* before the first plane */
  gsize extra_stride; /* more from row to row, in every plane */
  gsize between;      /* after each plane */
  guint8 poison;      /* what is in every byte that is not a sample */
} TestLayout;

/* The names of all formats in the sink pad's template; g_strfreev. */
gchar **test_formats (void);
/* 30 frames a second, square pixels, progressive. */
void test_video_info (
    GstVideoInfo *info, const gchar *format, gint width, gint height);

/* A frame full of poison in system memory; layout NULL: zeros, and without
 * GstVideoMeta, which it has else. */
GstBuffer *test_frame (const GstVideoInfo *info, const TestLayout *layout);
/* Writes the samples, and nothing but samples, with GStreamer's own pack
 * function: random, but the same for the same seed; or the given R'G'B' or
 * Y'CbCr in every pixel. */
void test_paint_noise (
    GstBuffer *frame, const GstVideoInfo *info, guint32 seed);
void test_paint (
    GstBuffer *frame, const GstVideoInfo *info, const guint8 colour[3]);

/* Paints an RGB frame in one colour, which encodes the number; below 65536. */
void test_paint_number (
    GstBuffer *frame, const GstVideoInfo *info, guint number);
/* Such a frame, in system memory. */
GstBuffer *test_numbered_frame (const GstVideoInfo *info, guint number);

/* Negotiates caps (transfer full), where they are not already: the same caps again
 * would make a new pool, and nothing be recycled. */
void test_take_caps (GstHarness *h, GstCaps *caps);
/* Negotiates info, where it is not already; pushes frame (transfer full) and
 * pulls what comes out. */
void test_send_caps (GstHarness *h, const GstVideoInfo *info);
GstBuffer *test_convert (
    GstHarness *h, const GstVideoInfo *info, GstBuffer *frame);

/* A harness with small RGB frames and uint8 tensors, negotiated. */
GstHarness *test_rgb_harness (
    gint backend, const gchar *properties, GstVideoInfo *info);
/* The stats of the harness' element, whose name is cudapreproc; free them. */
GstStructure *test_stats (GstHarness *h);
/* A number of them that is a guint64. */
guint64 test_stats_count (GstHarness *h, const gchar *name);
/* Pushes the first frame of a stream and takes its tensor, which leaves at once
 * whatever async-depth is; later ones are held back. */
void test_start (GstHarness *h, const GstVideoInfo *info);
/* Pushes a numbered frame; pulls a tensor, which must be that frame's. */
void test_push_number (GstHarness *h, const GstVideoInfo *info, guint number);
void test_pull_number (GstHarness *h, guint number);

/* tensors */

/* Checks that a uint8 nchw tensor is that of a numbered frame; which. */
guint test_number_of (GstBuffer *tensor);
/* Fails at the first different byte; what is for the text. */
void test_expect_equal (GstBuffer *a, GstBuffer *b, const gchar *what);
/* Checks that a float32 tensor has this in every element, within 1e-4. */
void test_expect_float (GstBuffer *tensor, gfloat value);
/* An integer of the tensor's GstCudaPreprocMeta. */
gint test_meta_int (GstBuffer *tensor, const gchar *field);

#endif
