/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which stream a job takes: round robin over those in use, and how many these
 * are. The result of a job does not depend on it.
 */

#include "engine.h"

/* From the end of a stage until the next one begins, microseconds: on an H200
 * one stream took 113.7 a frame with stages of 43.0, 5.1 and 52.8. */
#define GAP 4
/* One stream overlaps nothing. */
#define FEWEST_STREAMS 2

/* With n streams at most n jobs are under way. Each takes the sum of its stages
 * and what is between them, so n / sum jobs end in a microsecond, but not more
 * than 1 / longest, since the longest stage takes one job at a time: n = sum /
 * longest streams are enough where nothing else takes time. A quarter more,
 * because uploads and downloads share the bus and slow each other down. Streams
 * beyond that only add to the time that each frame takes. */
int
pp_stream_choice_rule (const double length[PP_N_STAGES], int most)
{
  double sum = 0, longest = 0;
  int n = most < FEWEST_STREAMS ? most : FEWEST_STREAMS;

  for (int s = 0; s < PP_N_STAGES; s++) {
    sum += length[s] + GAP;
    if (length[s] > longest)
      longest = length[s];
  }
  while (n < most && n * longest < 1.25 * sum)
    n++;
  return n;
}

void
pp_stream_choice_reset (pp_device *device, int most)
{
  struct pp_stream_choice *choice = &device->choice;

  choice->measured = 0;
  device->timed_until = device->sequence + PP_MEASURED_JOBS;
  choice->most = most;
  pthread_mutex_lock (&device->lock);
  choice->in_use = most;
  choice->decided = false;
  pthread_mutex_unlock (&device->lock);
}

void
pp_stream_choice_take (pp_device *device, pp_job_info *info)
{
  struct pp_stream_choice *choice = &device->choice;

  if (choice->next >= choice->in_use)
    choice->next = 0;
  info->stream = choice->next++;
  info->streams_in_use = choice->in_use;
  info->streams_decided = choice->decided;
}

/* On streams that are all busy a stage's time is mostly waiting for the other
 * streams. Its shortest time is what it takes when nobody is in its way, as for
 * the first job it was; means would make every stage look alike. */
void
pp_stream_choice_measure (pp_device *device, const pp_times *times)
{
  struct pp_stream_choice *choice = &device->choice;
  const double length[PP_N_STAGES] = {
    [PP_STAGE_UPLOAD] = times->uploaded - times->start,
    [PP_STAGE_KERNEL] = times->computed - times->uploaded,
    [PP_STAGE_DOWNLOAD] = times->done - times->computed,
  };

  if (!choice->automatic || choice->measured == PP_MEASURED_JOBS)
    return;
  for (int s = 0; s < PP_N_STAGES; s++)
    if (choice->measured == 0 || length[s] < choice->shortest[s])
      choice->shortest[s] = length[s];
  if (++choice->measured < PP_MEASURED_JOBS)
    return;

  const int chosen = pp_stream_choice_rule (choice->shortest, choice->most);
  pthread_mutex_lock (&device->lock);
  choice->in_use = chosen;
  choice->decided = true;
  pthread_mutex_unlock (&device->lock);
}

int
pp_device_streams_in_use (pp_device *device)
{
  if (pp_is_forked (device->process))
    return device->n_streams;
  pthread_mutex_lock (&device->lock);
  const int in_use = device->choice.in_use;
  pthread_mutex_unlock (&device->lock);
  return in_use;
}
