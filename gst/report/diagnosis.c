/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rules. The first one that applies gives the word.
 *
 * 1. none: there are fewer than MIN_FRAMES frames.
 * 2. one-stream: only one stream is used, it always has a job and another job
 *    waits, and a second stream would find something idle.
 * 3. upload-bound, kernel-bound, download-bound: the stage is full. On a GPU a
 *    stage is full when some job is in it all the time, because there is one
 *    copy engine for each direction and one kernel fills the device; a job that
 *    queues for the stage counts as being in it. On the CPU the kernel is full
 *    when all streams, which are threads, work all the time and more than one
 *    job is there.
 * 4. Otherwise the device has time left, and the word depends on where the
 *    streaming thread spent most of its own time:
 *    - here, and at least half of the input was copied to pinned memory:
 *      pageable-input;
 *    - here, with other input: the thread waited for the device. The word is
 *      that of the longest stage, or none if that stage is short, too;
 *    - upstream: source-too-slow; downstream: consumer-too-slow. But if readers
 *      waited for tensors in maps for at least half of that time, frames go one
 *      by one and nothing can overlap: consumer-waits.
 */

#include "diagnosis.h"

#define MIN_FRAMES 8
/* From this share of the time on, something counts as always busy. */
#define FULL 0.85
/* From this share of the time on, something counts as the main part. */
#define MAIN 0.5
/* With this many unfinished jobs on average, jobs queue: they are not waited for
 * one by one. */
#define SEVERAL 1.25

static const gchar *const names[] = {
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
G_STATIC_ASSERT (G_N_ELEMENTS (names) == GST_PP_N_BOTTLENECKS);

static const GstPpBottleneck stage_words[] = {
  [GST_PP_STAGE_UPLOAD] = GST_PP_BOTTLENECK_UPLOAD,
  [GST_PP_STAGE_KERNEL] = GST_PP_BOTTLENECK_KERNEL,
  [GST_PP_STAGE_DOWNLOAD] = GST_PP_BOTTLENECK_DOWNLOAD,
};
G_STATIC_ASSERT (G_N_ELEMENTS (stage_words) == GST_PP_N_STAGES);

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

/* The share of the time in which the stage is full; above 1 only by rounding. */
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
    return fullness (load, fullest) >= MAIN ? stage_words[fullest]
                                            : GST_PP_BOTTLENECK_NONE;
  }
  if (load->waited >= MAIN * load->place[place])
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
