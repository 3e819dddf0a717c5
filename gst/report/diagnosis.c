/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rules, in this order.
 *
 * 1. Fewer than MIN_FRAMES say nothing: none.
 * 2. One stream is never without a job, more than one job is there to be worked
 *    on, and a second stream could do something meanwhile: one-stream.
 * 3. A stage fills the time: that stage's word. On a GPU a stage is full when
 *    some job is in it all the time, since there is one copy engine for each
 *    direction and a kernel fills the device; jobs that queue for it count as
 *    in it. On the CPU it is full when all streams, which are threads, are, and
 *    more than one job is there.
 * 4. Else the device has time left, and where the streaming thread spent most
 *    of its own says who does not use it: in the element with input that has
 *    to be copied to pinned memory first: pageable-input; with other input, the
 *    thread waits for the device, whose longest stage is the word, or none
 *    where that is short, too; upstream: source-too-slow; downstream:
 *    consumer-too-slow. But if a consumer waited in maps for tensors during at
 *    least half of that time, frames go one by one, each waited for before the
 *    next is there to overlap with: consumer-waits.
 */

#include "diagnosis.h"

#define MIN_FRAMES 8
/* Share of the time from which something counts as busy all the time. */
#define FULL 0.85
/* Share of the time from which one stage is the main part. */
#define MOST 0.5
/* Unfinished jobs on average, from which they are not waited for one by one. */
#define SEVERAL 1.25

static const gchar *const names[GST_PP_N_BOTTLENECKS] = {
  [GST_PP_BOTTLENECK_NONE] = "none",
  [GST_PP_BOTTLENECK_ONE_STREAM] = "one-stream",
  [GST_PP_BOTTLENECK_UPLOAD] = "upload-bound",
  [GST_PP_BOTTLENECK_KERNEL] = "kernel-bound",
  [GST_PP_BOTTLENECK_DOWNLOAD] = "download-bound",
  [GST_PP_BOTTLENECK_PAGEABLE_INPUT] = "pageable-input",
  [GST_PP_BOTTLENECK_SOURCE_TOO_SLOW] = "source-too-slow",
  [GST_PP_BOTTLENECK_CONSUMER_TOO_SLOW] = "consumer-too-slow",
  [GST_PP_BOTTLENECK_CONSUMER_WAITS] = "consumer-waits",
};

static const GstPpBottleneck stage_words[GST_PP_N_STAGES] = {
  [GST_PP_STAGE_UPLOAD] = GST_PP_BOTTLENECK_UPLOAD,
  [GST_PP_STAGE_KERNEL] = GST_PP_BOTTLENECK_KERNEL,
  [GST_PP_STAGE_DOWNLOAD] = GST_PP_BOTTLENECK_DOWNLOAD,
};

const gchar *
gst_pp_bottleneck_name (GstPpBottleneck bottleneck)
{
  return names[bottleneck];
}

void
gst_pp_load_add (GstPpLoad *sum, const GstPpLoad *load)
{
  sum->frames += load->frames;
  sum->bytes_up += load->bytes_up;
  sum->bytes_staged += load->bytes_staged;
  sum->streams |= load->streams;
  sum->processors = load->processors;
  sum->wall += load->wall;
  sum->busy += load->busy;
  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    sum->total[s] += load->total[s];
    sum->covered[s] += load->covered[s];
  }
  sum->latency += load->latency;
  for (gint p = 0; p < GST_PP_N_PLACES; p++)
    sum->place[p] += load->place[p];
  sum->waited += load->waited;
}

static guint
count_streams (const GstPpLoad *load)
{
  guint n = 0;

  for (guint streams = load->streams; streams != 0; streams >>= 1)
    n += streams & 1;
  return MAX (n, 1);
}

/* How full a stage is, 1 at most but for rounding. */
static gdouble
fullness (const GstPpLoad *load, GstPpStage stage)
{
  if (load->processors == 0)
    return load->covered[stage] / load->wall;
  if (stage != GST_PP_STAGE_KERNEL)
    return 0;
  return load->total[stage] /
      (load->wall * MIN (count_streams (load), load->processors));
}

static GstPpStage
fullest_stage (const GstPpLoad *load)
{
  GstPpStage fullest = GST_PP_STAGE_UPLOAD;

  for (gint s = 1; s < GST_PP_N_STAGES; s++)
    if (fullness (load, (GstPpStage) s) > fullness (load, fullest))
      fullest = (GstPpStage) s;
  return fullest;
}

static GstPpPlace
longest_place (const GstPpLoad *load)
{
  GstPpPlace longest = GST_PP_PLACE_SOURCE;

  for (gint p = 1; p < GST_PP_N_PLACES; p++)
    if (load->place[p] > load->place[longest])
      longest = (GstPpPlace) p;
  return longest;
}

/* Rule 4. */
static GstPpBottleneck
diagnose_host (const GstPpLoad *load, GstPpStage fullest)
{
  const GstPpPlace place = longest_place (load);

  if (place == GST_PP_PLACE_ELEMENT) {
    if (load->bytes_staged > 0 && load->bytes_staged >= load->bytes_up / 2)
      return GST_PP_BOTTLENECK_PAGEABLE_INPUT;
    return fullness (load, fullest) >= MOST ? stage_words[fullest]
                                            : GST_PP_BOTTLENECK_NONE;
  }
  if (load->waited >= MOST * load->place[place])
    return GST_PP_BOTTLENECK_CONSUMER_WAITS;
  return place == GST_PP_PLACE_SOURCE ? GST_PP_BOTTLENECK_SOURCE_TOO_SLOW
                                      : GST_PP_BOTTLENECK_CONSUMER_TOO_SLOW;
}

GstPpBottleneck
gst_pp_diagnose (const GstPpLoad *load)
{
  if (load->frames < MIN_FRAMES || load->wall <= 0)
    return GST_PP_BOTTLENECK_NONE;

  const GstPpStage fullest = fullest_stage (load);
  const gboolean several = load->latency >= SEVERAL * load->wall;
  const gboolean full =
      fullness (load, fullest) >= FULL && (load->processors == 0 || several);
  if (count_streams (load) == 1 && load->busy >= FULL * load->wall && several &&
      (load->processors > 1 || !full))
    return GST_PP_BOTTLENECK_ONE_STREAM;
  return full ? stage_words[fullest] : diagnose_host (load, fullest);
}
