/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A stream of a GPU with the buffers that its jobs work in: a track. The devices
 * of a process that are on one GPU take turns on the same few tracks. What many
 * streams have under way at once does not fit into a GPU's cache: on an H200,
 * 64 elements with streams and buffers of their own reached 88 % of the rate of
 * one, and one element whose four streams took turns on more buffers fell alike.
 * Buffers grow to what the largest job wanted; they are given back with the track,
 * when the last device that has it closes.
 *
 * Not for unified backends: there a track is a worker thread, and a device's own.
 */
#ifndef PP_TRACKS_H
#define PP_TRACKS_H

#include "arena.h"

#include <pthread.h>

/* Devices share tracks when there are as many. */
#define PP_SHARED_TRACKS 4

typedef struct pp_track {
  /* The pool's, under its lock. */
  struct pp_track *next;
  const pp_backend *backend;
  int index; /* of the GPU */
  pid_t process;
  int users; /* devices */
  /* Keeps the context that the stream belongs to. */
  pp_arena *arena;
  /* Held by whoever queues a job: nothing may come between its stages, which
   * leave their results in the buffers. */
  pthread_mutex_t turn;
  /* Of whoever has the turn. */
  pp_stream *stream;
  void *source, *medians,
      *tensor; /* on the device; NULL on a unified backend */
  size_t source_size, medians_size, tensor_size;
  /* What a job in two bands takes beside; NULL on a unified backend. */
  pp_stream *upper;
  pp_event *upper_uploaded, *upper_done;
  bool
      apart; /* upper may still use the buffers: the stream has to wait for it */
} pp_track;

/* Takes n tracks of the GPU, those with the fewest devices first, making what is
 * missing. Between enter and leave of arena's context. On a failure some may be
 * taken, and the others are NULL. */
pp_status pp_tracks_take (pp_track **track, int n, pp_arena *arena,
    const pp_backend *backend, int index, pp_error *error);

/* Gives them back; destroys those that no device has. Between enter and leave of
 * arena's context, in the process that took them; the device has no jobs. What
 * must come after leave is left to pp_tracks_forget. */
void pp_tracks_give_back (pp_track **track, int n);
void pp_tracks_forget (pp_track **track, int n);
/* Instead of both, where the context cannot be entered: of those that no device
 * has, what the context holds is lost with it. */
void pp_tracks_lose (pp_track **track, int n);

#endif
