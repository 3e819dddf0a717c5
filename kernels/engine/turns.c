/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Turns on tracks, and the thread that queues for devices which found one taken.
 * Devices get turns in the order of coming. Where threads want one to reserve, it
 * is one of them and a device by turns: neither keep the others waiting for long.
 */

#include "engine.h"

#include <string.h>

/* Under the lock, as all that follow. */
static void
append (struct pp_device_list *list, pp_device *device)
{
  device->next_for_turn = NULL;
  if (list->first == NULL)
    list->first = device;
  else
    list->last->next_for_turn = device;
  list->last = device;
}

/* NULL: there is none. */
static pp_device *
take_first (struct pp_device_list *list)
{
  pp_device *device = list->first;

  if (device != NULL)
    list->first = device->next_for_turn;
  return device;
}

/* device has a turn. */
static void
leave_to_thread (pp_tracks *tracks, pp_device *device)
{
  append (&tracks->for_thread, device);
  pthread_cond_signal (&tracks->work);
}

static bool
take_or_list (pp_track *track, pp_device *device)
{
  if (track->taken) {
    append (&track->waiting, device);
    return false;
  }
  track->taken = true;
  return true;
}

bool
pp_turn_take_or_list (pp_tracks *tracks, pp_track *track, pp_device *device)
{
  pthread_mutex_lock (&tracks->lock);
  const bool taken = take_or_list (track, device);
  pthread_mutex_unlock (&tracks->lock);
  return taken;
}

void
pp_turn_leave (pp_tracks *tracks, pp_track *track, pp_device *device)
{
  pthread_mutex_lock (&tracks->lock);
  if (take_or_list (track, device))
    leave_to_thread (tracks, device);
  pthread_mutex_unlock (&tracks->lock);
}

void
pp_turn_wait (pp_tracks *tracks, pp_track *track)
{
  pthread_mutex_lock (&tracks->lock);
  if (track->taken) {
    track->reserving++;
    while (!track->given)
      pthread_cond_wait (&tracks->turn_given, &tracks->lock);
    track->given = false;
  }
  track->taken = track->reserved = true;
  pthread_mutex_unlock (&tracks->lock);
}

void
pp_turn_give (pp_tracks *tracks, pp_track *track)
{
  pp_device *next = NULL;

  pthread_mutex_lock (&tracks->lock);
  const bool jobs_first = track->reserved && track->waiting.first != NULL;
  track->reserved = false;
  if (track->reserving > 0 && !jobs_first) {
    track->reserving--;
    track->given = true;
    pthread_cond_broadcast (&tracks->turn_given);
  } else if ((next = take_first (&track->waiting)) != NULL) {
    leave_to_thread (tracks, next);
  } else {
    track->taken = false;
  }
  pthread_mutex_unlock (&tracks->lock);
}

static void *
queueing_thread (void *data)
{
  pp_tracks *tracks = data;

  pthread_mutex_lock (&tracks->lock);
  for (;;) {
    while (tracks->for_thread.first == NULL && !tracks->quit)
      pthread_cond_wait (&tracks->work, &tracks->lock);
    pp_device *device = take_first (&tracks->for_thread);
    if (device == NULL)
      break;
    pthread_mutex_unlock (&tracks->lock);
    pp_queue_left (device);
    pthread_mutex_lock (&tracks->lock);
  }
  pthread_mutex_unlock (&tracks->lock);
  return NULL;
}

pp_status
pp_turns_start (pp_tracks *tracks, pp_error *error)
{
  if (tracks->has_thread)
    return PP_OK;
  const int code =
      pthread_create (&tracks->thread, NULL, queueing_thread, tracks);
  if (code != 0)
    return pp_fail (error, PP_NO_MEMORY, "pthread_create: %s", strerror (code));
  tracks->has_thread = true;
  return PP_OK;
}

void
pp_turns_stop (pp_tracks *tracks)
{
  if (!tracks->has_thread)
    return;
  pthread_mutex_lock (&tracks->lock);
  tracks->quit = true;
  pthread_cond_signal (&tracks->work);
  pthread_mutex_unlock (&tracks->lock);
  pthread_join (tracks->thread, NULL);
}
