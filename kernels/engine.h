/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine's files share: engine.c (devices and completion), job.c (a
 * job's life) and stages.c (what is queued for a job).
 */
#ifndef PP_ENGINE_H
#define PP_ENGINE_H

#include "arena.h"

#include <pthread.h>

/* So that a stream always has the next job behind the one it works on. */
#define PP_JOBS_PER_STREAM 2
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

struct pp_lane {
  pp_stream *stream;
  /* On the device; NULL on a unified backend. */
  void *source, *tensor, *tables;
  size_t source_size, tensor_size, tables_size;
  uint64_t tables_of; /* id of the plan whose tables are there */
};

struct pp_job {
  int32_t references;      /* atomic */
  pp_job *next;            /* in the device's list */
  const pp_device *device; /* to compare only: jobs outlive their device */
  /* Used by pp_submit and then by the completion thread alone. */
  pp_plan *plan;
  pp_task task;
  bool input_released;
  pp_error error; /* of queueing; then of the job */
  pp_job_info info;
  int slot;
  /* The end of the job. */
  pthread_mutex_t lock;
  pthread_cond_t cond;
  bool ended;
  struct orphan {
    pp_arena *arena;
    void *block;
    size_t size;
  } orphan; /* freed when the job ends */
};

struct pp_device {
  const pp_backend *backend;
  pp_arena *arena;
  pp_context *context; /* the arena's */
  char name[128];
  int n_streams, n_slots;
  struct pp_lane lane[PP_MAX_STREAMS];
  struct pp_slot slot[PP_JOBS_PER_STREAM * PP_MAX_STREAMS + 1];
  uint64_t sequence;

  pthread_t thread;
  bool thread_started;
  double last_start; /* of the last job whose times are known; microseconds */
  int last_slot;     /* whose events hold it; -1: none */

  pthread_mutex_t lock;
  pthread_cond_t changed; /* a job came, a job ended, quit */
  pp_job *first, *last;   /* unfinished jobs, oldest first */
  int unfinished;
  pp_error error; /* sticky */
  bool quit;
};

/* One reference; NULL when memory is exhausted. */
pp_job *pp_job_new (const pp_device *device, const pp_task *task);
/* Calls input_done, once. By the thread that the job belongs to. */
void pp_job_release_input (pp_job *job);
/* Calls back, marks the job ended, gives up what it held but the job itself. */
void pp_job_end (pp_job *job);

/* Makes room for plan on the lane; the caller has waited for its stream. Not
 * for unified backends. */
pp_status pp_lane_reserve (pp_device *device, struct pp_lane *lane,
    const pp_plan *plan, pp_error *error);
/* Whether any plane of the job is read where the caller has it. */
bool pp_job_reads_input (const pp_device *device, const pp_job *job);
/* Queues all stages of the job on its lane. */
pp_status pp_queue_stages (pp_device *device, pp_job *job, pp_error *error);

#endif
