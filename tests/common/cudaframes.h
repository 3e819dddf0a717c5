/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in CUDA memory and tensors on the device. For programs that run on a GPU
 * with the plugin, and without one on the fake device and the fake driver.
 */
#ifndef CUDAFRAMES_H
#define CUDAFRAMES_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/video/video.h>

#include "gst/cudapreproc/cudapreproc.h"

/* As test_harness takes it. */
#define CUDA_BACKEND 1

/* In cudaready_fake.c and in cudaready_device.c: whether there is a device; else says
 * SKIP, and why. */
gboolean test_cuda_ready (void);
/* test_main where there is a device, else 77. */
int test_cuda_main (
    int argc, char **argv, const gchar *name, void (*add) (TCase *tcase));

/* Copies size bytes of tensor to memory, as a program does that uses CUDA's runtime in
 * the GPU's primary context, on a stream that waits for the tensor's events. FALSE:
 * the tensor is in another context, or a call failed. With the fake driver there is
 * no runtime, and the context is the fake device's. */
gboolean test_cuda_read_in_primary (
    const GstCudaPreprocDeviceTensor *tensor, gpointer memory, gsize size);

/* Fails unless all contexts, blocks, streams and events are given back: those of the
 * fake device, since a GPU does not tell. */
void test_cuda_expect_nothing_left (void);

/* A context of its own on that GPU; NULL: there is no such GPU. Unref it. */
GstCudaContext *test_cuda_context (guint gpu);
/* The context that the harness' element has; unref it. */
GstCudaContext *test_cuda_context_of (GstHarness *h);
/* A pool of frames of info; max 0: any number. Active. */
GstBufferPool *test_cuda_pool (
    GstCudaContext *context, const GstVideoInfo *info, guint max);
GstBuffer *test_cuda_acquire (GstBufferPool *pool);
/* A frame with the samples that test_paint_noise gives. */
GstBuffer *test_cuda_noise (
    GstCudaContext *context, const GstVideoInfo *info, guint32 seed);
/* One like test_numbered_frame. */
GstBuffer *test_cuda_number (
    GstCudaContext *context, const GstVideoInfo *info, guint number);

/* Caps of info, in CUDA memory or not. */
GstCaps *test_cuda_caps (const GstVideoInfo *info, gboolean cuda);
/* Negotiates them. */
void test_cuda_send_caps (
    GstHarness *h, const GstVideoInfo *info, gboolean cuda);
/* A harness whose downstream takes tensors on the device only, or none there. */
GstHarness *test_cuda_harness (const gchar *properties, gboolean tensors);

#endif
