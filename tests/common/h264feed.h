/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * H.264 from memory: a clip's access units, which an appsrc repeats as often as
 * wanted, so that files and parsing cost nothing. No test library.
 */
#ifndef H264FEED_H
#define H264FEED_H

#include <gst/gst.h>

/* Access units in decoding order, from the first IDR on, as byte stream; each IDR
 * has its parameter sets. */
typedef struct H264Clip H264Clip;

/* demuxer: what is between the file and the parser: "qtdemux !" for an MP4, "" for a
 * byte stream. NULL, and why in reason (g_free it), where the file cannot be read or
 * GStreamer's elements for it are missing. */
H264Clip *h264_clip_read (
    const gchar *path, const gchar *demuxer, gchar **reason);
void h264_clip_free (H264Clip *clip);
/* Frames of one pass. */
guint h264_clip_length (const H264Clip *clip);

/* Before it plays: makes source, an appsrc, send so many frames and then EOS; -1:
 * until h264_feed_end. From pass to pass the times go on. clip must outlive the
 * source. */
void h264_feed (GstElement *source, H264Clip *clip, gint frames);
/* EOS comes instead of the next frame. Any thread. */
void h264_feed_end (GstElement *source);

#endif
