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
 * A turn lasts as long as a job's calls to the backend. Nobody who has a frame
 * waits for one: a device that finds the turn taken is listed, and when the turn
 * comes, a thread of the GPU's tracks queues its job. That thread calls nobody
 * back. It waits in the driver, and for the track's jobs where it needs memory that
 * nobody reserved, but for no other job. So few threads are inside the driver at a
 * time, which lets only one go on: where each made itself another track when it
 * found all of them taken, 40 were inside, queueing a job took 1200 us instead of
 * 17, and 64 elements were 1 to 5 % slower.
 *
 * Not for unified backends: there a track is a worker thread, and a device's own.
 */
#ifndef PP_TRACKS_H
#define PP_TRACKS_H

#include "arena.h"

#include <pthread.h>
#include <stdbool.h>

/* Devices share tracks when there are as many. */
#define PP_SHARED_TRACKS 4

/* Linked by next_for_turn; last means nothing where first is NULL. */
struct pp_device_list {
  pp_device *first, *last;
};

typedef struct pp_track {
  /* Under the lock of tracks.c. */
  struct pp_track *next;
  int users; /* devices */
  /* Keeps the context that the stream belongs to. */
  pp_arena *arena;
  /* The turn, under the lock of its tracks: nothing may come between a job's
   * stages, which leave their results in the buffers. */
  bool taken;
  int reserving; /* threads that wait for it */
  bool given;    /* to one of them, which is not there yet */
  bool reserved; /* taken by one of them: who is listed comes next */
  struct pp_device_list waiting;
  /* Of whoever has the turn. */
  pp_stream *stream;
  void *source, *medians,
      *tensor; /* on the device; NULL on a unified backend */
  size_t source_size, medians_size, tensor_size;
  /* What a job in two bands takes beside; NULL on a unified backend. */
  pp_stream *upper;
  pp_event *upper_uploaded, *upper_done;
  bool apart; /* upper may use the buffers still: the stream has to wait */
} pp_track;

/* Those of one GPU, or of one device on a unified backend. */
typedef struct pp_tracks {
  /* Under the lock of tracks.c. */
  struct pp_tracks *next;
  const pp_backend *backend;
  int index; /* of the GPU */
  pid_t process;
  int devices;
  pp_track *first; /* oldest first */
  /* Made with the second device: one alone finds every turn free. */
  bool has_thread;
  pthread_t thread;
  /* Of turns. Held for no call; taken with a device's lock held. */
  pthread_mutex_t lock;
  pthread_cond_t turn_given;        /* to a thread that reserves */
  pthread_cond_t work;              /* for the thread, or quit */
  struct pp_device_list for_thread; /* they have a turn each */
  bool quit;
} pp_tracks;

/* Takes n tracks of the GPU, those with the fewest devices first, making what is
 * missing. Between enter and leave of arena's context. On a failure some may be
 * taken, and the others are NULL; they are to be given back all the same. */
pp_status pp_tracks_take (pp_tracks **tracks, pp_track **track, int n,
    pp_arena *arena, const pp_backend *backend, int index, pp_error *error);

/* Gives them back, in the process that took them; the device has no jobs. Returns
 * what no device has any more, linked by next: first unmake, between enter and
 * leave of arena's context; where that cannot be entered, what they hold is lost
 * with it. Then free, after leave. */
pp_track *pp_tracks_give_back (pp_tracks **tracks, pp_track **track, int n);
void pp_tracks_unmake (const pp_backend *backend, pp_track *unused);
void pp_tracks_free (pp_track *unused);

/* Turns: turns.c. For device's next job. True: the turn is the caller's, who
 * queues the job and gives the turn. False: device is listed, and the thread will
 * do both. */
bool pp_turn_take_or_list (
    pp_tracks *tracks, pp_track *track, pp_device *device);
/* Leaves both to the thread, now or when the turn comes. */
void pp_turn_leave (pp_tracks *tracks, pp_track *track, pp_device *device);
/* For what is not a job: waits for the turn, which jobs and such threads get one
 * after the other where both want it. */
void pp_turn_wait (pp_tracks *tracks, pp_track *track);
void pp_turn_give (pp_tracks *tracks, pp_track *track);
/* The thread, unless it is there. Stop: no device is left. */
pp_status pp_turns_start (pp_tracks *tracks, pp_error *error);
void pp_turns_stop (pp_tracks *tracks);

#endif
