/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What element-messages.c brings about, and which message must come of it.
 */
#ifndef MESSAGEROWS_H
#define MESSAGEROWS_H

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* What kinds there are: as gst/report/error.c has them. */
typedef struct {
  GQuark (*domain) (void);
  gint code;
  const gchar *remedy;
  GstFlowReturn flow;     /* of each frame */
  gboolean is_warning;    /* the stream goes on */
  gboolean is_told_again; /* where the next start meets it, too */
} Kind;

extern const Kind message_input, message_no_memory, message_forked;

/* What a frame of RGB 32x24, 2304 bytes, has that is wrong. */
typedef struct {
  gsize missing; /* bytes at the end; all: it has no memory either */
  /* GstVideoMeta; width 0: none */
  GstVideoFormat format;
  guint width;
  gint stride;
  gsize offset;
  /* GstVideoCropMeta: x, y, width, height; NULL: none */
  const guint *crop;
} Spoilt;

/* At least one row for each text in the sources, however it can come about. */
typedef struct Row Row;
struct Row {
  const gchar *cause; /* properties */
  const Kind *kind;
  const gchar *words;
  const gchar *downstream; /* caps that it takes; NULL: any */
  const gchar *video;      /* caps that are sent; NULL: of RGB 32x24 */
  const Spoilt *spoilt;    /* each frame but the last; NULL: they are good */
  const gchar *unsaid;     /* what the text must not have; NULL: any */
  /* instead of gst_harness_push */
  GstFlowReturn (*push) (GstHarness *h, GstBuffer *frame);
  /* instead of send_frames, which it calls */
  void (*send) (GstElement *element, const Row *row);
};

extern const Row message_rows[];
extern const guint message_n_rows;

/* Of element-messages.c, for Row.send. */
void send_without_room_for_tensors (GstElement *element, const Row *row);
void send_without_room_for_frames (GstElement *element, const Row *row);

#endif
