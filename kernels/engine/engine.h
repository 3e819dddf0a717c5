/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine's files share: engine.c (devices and submission), staging.c
 * (pageable input, and the order of queueing), turns.c (devices that share a
 * GPU), streams.c (which stream a job takes), stages.c (what is queued for a
 * job), completion.c and job.c (a job's life).
 */
#ifndef PP_ENGINE_H
#define PP_ENGINE_H

#include "arena.h"
#include "process.h"
#include "shared_streams.h"

#include <pthread.h>

/* So that a stream always has the next job behind the one it works on. */
#define PP_JOBS_PER_STREAM 2
/* So that a staging thread copies one while the one before is on a stream. */
#define PP_JOBS_PER_STAGING_THREAD 2
#define PP_MAX_UNFINISHED                                                      \
  (PP_MAX_STREAMS > PP_MAX_STAGING_THREADS                                     \
          ? PP_JOBS_PER_STREAM * PP_MAX_STREAMS                                \
          : PP_JOBS_PER_STAGING_THREAD * PP_MAX_STAGING_THREADS)

enum pp_stage {
  PP_STAGE_START,
  PP_STAGE_UPLOADED,
  PP_STAGE_COMPUTED,
  PP_STAGE_DONE,
  PP_STAGES
};

/* The events of one job and the pinned memory that pageable planes go through.
 * There is one slot more than there can be unfinished jobs: the events of the
 * job before the oldest unfinished one stay readable, which stage times need. */
struct pp_slot {
  pp_event *event[PP_STAGES];
  void *staging;
  size_t staging_size;
};

/* A device's part of a track: tables follow from its plans. On the device; NULL
 * on a unified backend. */
struct pp_lane {
  void *tables;
  size_t tables_size;
  uint64_t tables_of; /* id of the plan whose tables are there */
};

/* A job goes from thread to thread: pp_submit's caller makes it, a staging thread
 * copies it, whoever has the turn queues it, the completion thread ends it. */
enum pp_job_state {
  PP_JOB_PAGEABLE, /* a staging thread's, now or later */
  PP_JOB_READY,    /* its queuer's */
  PP_JOB_QUEUED    /* the completion thread's */
};

struct pp_job {
  int32_t references; /* atomic */
  pid_t process;
  const pp_device *device; /* to compare only: jobs outlive their device */
  /* Under the device's lock. */
  enum pp_job_state state;
  pp_job *next; /* in the device's list */
  /* Of the thread that the job belongs to. */
  pp_plan *plan;
  pp_task task;
  pp_view source; /* the plan's rectangles: of the view, or where staged */
  bool input_released;
  bool in_two;    /* queued in two bands */
  bool queued;    /* all of it */
  pp_error error; /* of staging or queueing; then of the job */
  pp_job_info info;
  int slot;
  /* The end of the job. */
  bool worth_polling; /* waking a sleeping waiter would be felt */
  pthread_mutex_t lock;
  pthread_cond_t cond;
  bool ended; /* atomic for those without the lock */
  struct orphan {
    pp_arena *arena;
    void *block;
    size_t size;
  } orphan; /* freed when the job ends */
};

/* The threads that stage: staging.c. All but thread and started, which belong to
 * pp_submit's caller, under the device's lock. */
struct pp_staging {
  int n_threads; /* wanted; 0 on a unified backend */
  int started;
  pthread_t thread[PP_MAX_STAGING_THREADS];
  pthread_cond_t work; /* a pageable job came, quit */
  pp_job *next;        /* the oldest that no thread has taken */
  bool quit;
};

/* Which stream a job takes, and what that is decided by: streams.c. */
struct pp_streams {
  /* Under the device's lock. */
  int in_use, next;
  bool decided; /* in_use, by stage times */
  /* The completion thread's, or pp_device_reserve's when no job is there. */
  bool automatic;
  int most;                   /* that have room for the plan */
  int measured;               /* jobs */
  double shortest[PP_STAGES]; /* of them, by the event that ends the stage */
};

struct pp_device {
  const pp_backend *backend;
  pp_arena *arena;
  pp_context *context; /* the arena's */
  pid_t process;
  int index; /* of the GPU; 0 on the CPU */
  char name[128];
  int n_streams, n_slots;
  pp_tracks *tracks;                   /* the GPU's, or its own */
  pp_track *track[PP_MAX_STREAMS];     /* a stream each */
  struct pp_lane lane[PP_MAX_STREAMS]; /* of the thread that queues */
  struct pp_slot slot[PP_MAX_UNFINISHED + 1];
  uint64_t sequence;
  bool worth_polling; /* see job.c */
  struct pp_staging staging;
  struct pp_streams streams;

  pthread_t thread;
  bool thread_started;
  bool thread_entered; /* the context, or failed; under the lock */
  double last_start;   /* of the last job whose times are known; microseconds */
  int last_slot;       /* whose events hold it; -1: none */

  pthread_mutex_t lock;
  pthread_cond_t changed;   /* thread_entered, a job queued or ended, quit */
  pp_job *first, *last;     /* unfinished jobs, oldest first */
  pp_job *next_to_queue;    /* the oldest that is not queued */
  bool queueing;            /* a thread is at it, or will be */
  pp_device *next_for_turn; /* under the lock of its tracks: see turns.c */
  int unfinished;
  pp_error error; /* sticky */
  bool quit;
};

/* As pp_device_open, on a backend that need not be the library's. */
pp_device *pp_device_open_backend (const pp_backend *backend, int index,
    const pp_device_options *options, pp_error *error);

/* The completion thread; stop lets it end all jobs first. */
pp_status pp_completion_start (pp_device *device, pp_error *error);
void pp_completion_stop (pp_device *device);

/* Makes the threads, unless they are there. By pp_submit's caller. */
pp_status pp_staging_start (pp_device *device, pp_error *error);
/* Hands a pageable job to the threads. With the device's lock held. */
void pp_staging_add (pp_device *device, pp_job *job);
/* Joins the threads; no job is left. */
void pp_staging_stop (pp_device *device);
/* Queues the jobs that are ready and have none before them that is not. With the
 * device's lock held, which is given up meanwhile. */
void pp_queue_ready (pp_device *device);
/* Queues the next job, which is ready and whose turn the device has. By the thread
 * of its tracks, with no lock held. */
void pp_queue_left (pp_device *device);

/* Streams in use: most of them, until enough jobs are measured. No job is there.
 */
void pp_streams_reset (pp_device *device, int most);
/* The next job's stream. With the device's lock held. */
void pp_streams_take (pp_device *device, pp_job_info *info);
/* By the completion thread, with a job that ended well. */
void pp_streams_measure (pp_device *device, const pp_times *times);
/* The rule: how many of at most most streams stages of these lengths fill. */
int pp_streams_choose (const double length[PP_STAGES], int most);

/* Whether the job, which has not ended, is the only such one of the device. */
bool pp_job_is_alone (pp_device *device, const pp_job *job);

/* One reference; NULL when memory is exhausted. */
pp_job *pp_job_new (const pp_device *device, const pp_task *task);
/* Calls input_done, once. By the thread that the job belongs to. */
void pp_job_release_input (pp_job *job);
/* Calls back, gives up what the job held but the job itself. */
void pp_job_call_back (pp_job *job, const pp_error *error);
/* Marks the job ended, with error or NULL for success. */
void pp_job_end (pp_job *job, const pp_error *error);

/* Makes room for plan's tables on lane s, which has no jobs under way. Not for
 * unified backends. */
pp_status pp_tables_reserve (
    pp_device *device, int s, const pp_plan *plan, pp_error *error);
/* Makes room for plan on track and lane s, waiting for all work on the track
 * where that takes new memory. By whoever has the track's turn. Not for unified
 * backends. */
pp_status pp_lane_reserve (
    pp_device *device, int s, const pp_plan *plan, pp_error *error);
/* Whether any plane of the job must be staged. */
bool pp_job_is_pageable (const pp_device *device, const pp_job *job);
/* Whether any plane of the job is read where the caller has it. */
bool pp_job_reads_input (const pp_device *device, const pp_job *job);
/* Writes the tensor's padding, unless it is there. By pp_submit's caller, since
 * it is the padding record's. */
void pp_job_fill_padding (pp_job *job);
/* Copies the planes that the device cannot reach into the slot's pinned memory
 * and points source at the copies. */
pp_status pp_stage_planes (
    pp_device *device, pp_job *job, pp_view *source, pp_error *error);
/* Queues all stages of the job on its lane. By whoever has the turn there, in the
 * jobs' order. A job of another device that it comes after has ended. */
pp_status pp_queue_stages (pp_device *device, pp_job *job, pp_error *error);

#endif
