/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What any element of the plugin has, whatever its base class: properties, the
 * device, errors, statistics and caps. What was negotiated is each pad's own.
 * convert.h has a frame's way.
 */
#ifndef GST_PP_CONVERTER_H
#define GST_PP_CONVERTER_H

#include <gst/gst.h>
#include <sys/types.h>

#include "buffers/frame.h"
#include "buffers/arena_memory.h"
#include "buffers/negotiated.h"
#include "opendevice.h"
#include "report/error.h"
#include "report/monitor.h"
#include "settings/livesettings.h"

G_BEGIN_DECLS

typedef struct {
  GstElement *element; /* whose it is; not a reference */
  GstPpAllocatorFailed allocation_failed;

  /* Any thread. */
  GstPpLiveSettings settings;
  GstPpErrorGate errors;
  GstPpMonitor *monitor;

  /* From NULL->READY to READY->NULL. */
  GstPpOpenDevice opened;
  GstAllocator *allocator; /* of frames, for upstream */
  pid_t opened_process;    /* the one that opened the device */

  /* The streaming thread's. */
  guint64 n_jobs;               /* submitted to device: the next one's number */
  GstAtomicQueue *spare_frames; /* GstPpFrame, for the next ones; any thread */
  gboolean warned; /* of settings that lose something, since the start */
} GstPpConverter;

/* GObject: in class_init, init, finalize and the methods of these names. without:
 * names of properties that the element does not have, NULL at the end.
 * allocation_failed is called with element, see gst_pp_allocator_new. */
void gst_pp_converter_install_properties (
    GObjectClass *klass, const gchar *const *without);
void gst_pp_converter_init (GstPpConverter *self, GstElement *element,
    GstPpAllocatorFailed allocation_failed);
void gst_pp_converter_clear (GstPpConverter *self);
void gst_pp_converter_set_property (
    GstPpConverter *self, guint id, const GValue *value, GParamSpec *pspec);
void gst_pp_converter_get_property (
    GstPpConverter *self, guint id, GValue *value);

/* Post an error, if it is the first since the start. Any thread. post_reason takes
 * reason. */
void gst_pp_converter_post (
    GstPpConverter *self, GstPpFault fault, const gchar *text);
void gst_pp_converter_post_reason (
    GstPpConverter *self, GstPpFault fault, gchar *reason);
void gst_pp_converter_post_error (GstPpConverter *self, const pp_error *error);

/* Before and after the base class' change of state. before: from NULL to READY and
 * from READY to PAUSED it judges the settings, and opens the device unless the one
 * that is there will do, since data may come before start. FALSE after posting why:
 * the change has failed then, without after. after: settings are stored and not
 * judged again in READY, and the device is closed in NULL. */
gboolean gst_pp_converter_before_state (
    GstPpConverter *self, GstStateChange transition);
void gst_pp_converter_after_state (GstPpConverter *self,
    GstStateChange transition, GstStateChangeReturn result);
/* After a device was opened: what belongs to each one. */
void gst_pp_converter_begin_device (GstPpConverter *self);
/* Begins and ends a run of frames. start is FALSE after posting why. */
gboolean gst_pp_converter_start (GstPpConverter *self);
void gst_pp_converter_stop (GstPpConverter *self);

/* What properties ask of tensors. Any thread. */
GstPpTensorConstraints gst_pp_converter_tensor_constraints (
    GstPpConverter *self);
/* Reads frames' caps. FALSE after posting that they are none. */
gboolean gst_pp_converter_read_video (
    GstPpConverter *self, const GstCaps *video, GstVideoInfo *info);
/* Fixates tensor caps for frames with the caps video, or NULL where they are of
 * several streams; batch is the number of
 * pictures where neither properties nor tensors say it. Empty caps after posting
 * why there are none. */
GstCaps *gst_pp_converter_fixate (
    GstPpConverter *self, GstCaps *tensors, GstCaps *video, gint batch);
/* In the following functions negotiated belongs to the pad that frames come on. */

/* As gst_pp_converter_post_reason. Where there are several pads, the text begins with
 * the name of this one. */
void gst_pp_converter_post_of_pad (GstPpConverter *self,
    const GstPpNegotiated *negotiated, GstPpFault fault, gchar *reason);
/* How often statistics are posted, by settings. */
void gst_pp_converter_set_stats_interval (
    GstPpConverter *self, const GstPpSettings *settings);

/* Negotiates: all that frames will need is there afterwards. FALSE after posting
 * why not. */
gboolean gst_pp_converter_set_caps (GstPpConverter *self,
    GstPpNegotiated *negotiated, const GstCaps *video, const GstCaps *tensor);

/* STREAM_START and TAG events: what tags say of the stream's orientation counts
 * from the next frame on. The second returns the event that goes on (transfer
 * full, both). */
void gst_pp_converter_start_stream (
    GstPpConverter *self, GstPpNegotiated *negotiated, GstEvent *event);
GstEvent *gst_pp_converter_take_tags (
    GstPpConverter *self, GstPpNegotiated *negotiated, GstEvent *event);
/* At the end of a run. */
void gst_pp_converter_forget_tags (
    GstPpConverter *self, GstPpNegotiated *negotiated);
/* Whether properties leave the size of tensors open, so that it may be the
 * frame's, and the next frame is turned otherwise: caps must be negotiated anew.
 * TRUE once for each such turn. */
gboolean gst_pp_converter_turns (
    GstPpConverter *self, GstPpNegotiated *negotiated);

/* Waits for all jobs, at the end of the stream. Whether it ended well. */
gboolean gst_pp_converter_end_stream (GstPpConverter *self);

G_END_DECLS

#endif
