/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine's files share, in the order in which a job passes through
 * them: device.c opens and closes devices; submit.c checks a task and makes the
 * job; stager.c copies pageable planes, on threads that also queue several
 * pictures; order.c queues jobs in the order of submission; queue.c runs a job's
 * recipe on its stream; completion.c ends jobs. job.c has what all of them need
 * of a job, room.c the device memory, tables.c the plans' tables,
 * stream_choice.c how many streams are used.
 *
 * Locks. device->lock guards the device's list of jobs, the jobs' states and the
 * sticky error. job->lock guards the end of a job. A shared stream's lock is
 * held while one job is queued (shared_streams.h). No thread takes one of them
 * while it holds another, or calls back while it holds one, and only the shared
 * stream's is held across calls of the backend. The one exception is pp_job_event:
 * it takes the device's lock while it holds the job's, so that the job does not
 * end, and the device not close, meanwhile.
 */
#ifndef PP_ENGINE_H
#define PP_ENGINE_H

#include <pthread.h>

#include "arena.h"
#include "forked.h"
#include "kernels/plan/recipe.h"
#include "shared_streams.h"

/* So that a stream always has the next job behind the one it works on. */
#define PP_JOBS_PER_STREAM 2
/* So that a staging thread copies one while the one before is on a stream. */
#define PP_JOBS_PER_STAGING_THREAD 2
#define PP_MAX_UNFINISHED                                                      \
  (PP_MAX_STREAMS > PP_MAX_STAGING_THREADS                                     \
          ? PP_JOBS_PER_STREAM * PP_MAX_STREAMS                                \
          : PP_JOBS_PER_STAGING_THREAD * PP_MAX_STAGING_THREADS)
/* Plans whose tables, and facts whose recipes, a device keeps. */
#define PP_MAX_KEPT_TABLES 8
#define PP_MAX_KEPT_RECIPES 16
/* One each unfinished job, those that are kept, and one that is new. */
#define PP_MAX_PINNED_TABLES (PP_MAX_UNFINISHED + PP_MAX_KEPT_TABLES + 1)

/* The stages of a job, each between two of its timed marks. */
typedef enum pp_stage {
  PP_STAGE_UPLOAD,
  PP_STAGE_KERNEL,
  PP_STAGE_DOWNLOAD,
  PP_N_STAGES
} pp_stage;

/* The events of one job and the pinned memory that its pageable planes go
 * through. There is one set more than there can be unfinished jobs, so that the
 * start of the last timed job stays readable, which stage times need. */
struct pp_job_resources {
  pp_event *event[PP_N_JOB_MARKS];
  /* Bit m: event m belongs to the job that was asked for it (pp_job_event). It is
   * replaced before the next job is queued. Under the device's lock, or with no
   * job that has these resources. */
  unsigned lent;
  pp_buffer staging; /* pinned */
};

/* The tables of a job's plans in pinned memory, as recipe.h lays them out.
 * Counted; the device keeps those of the last jobs, a job those that it
 * uploads. */
typedef struct pp_pinned_tables {
  int32_t references; /* atomic; 0: it is free */
  uint64_t id;        /* unique in the device, never 0 */
  int n;              /* plans */
  bool all_rows;
  uint64_t plan[PP_MAX_PICTURES]; /* their ids */
  pp_arena *arena;                /* not owned: each holder has the device's */
  pp_buffer block;
} pp_pinned_tables;

/* A device's tables on one of its streams; of the thread that queues. */
struct pp_stream_tables {
  pp_buffer block;
  uint64_t tables; /* id of those that are there, or 0 */
};

/* Each state belongs to one thread or kind of thread. */
enum pp_job_state {
  PP_JOB_STAGING, /* a staging thread has it, now or later */
  PP_JOB_READY,   /* it can be queued, after the jobs before it */
  PP_JOB_QUEUED   /* the completion thread waits for it */
};

struct pp_job {
  int32_t references; /* atomic */
  pid_t process;
  const pp_backend *backend;
  pp_device *device; /* only compared once the job has ended: it may outlive the
                      * device */
  /* Under the device's lock. */
  enum pp_job_state state;
  pp_job *next; /* in the device's list */
  /* Of the thread that the state names. */
  pp_task task;    /* its pictures are those below */
  unsigned staged; /* planes; bit p: plane p */
  bool padding;    /* the launch makes it */
  uint64_t pad;    /* pictures on the device whose padding the job makes */
  bool input_released;
  bool in_two_bands;
  bool queued; /* all of it */
  /* see pp_recipe */
  pp_mark input_mark, done_mark, uploaded_mark, computed_mark;
  pp_pinned_tables *tables; /* that it uploads, or NULL */
  pp_error error;           /* of staging or queueing; then of the job */
  pp_job_info info;
  int resources; /* index */
  /* The end of the job. */
  bool worth_polling; /* waking a sleeping waiter would be felt */
  pthread_mutex_t lock;
  pthread_cond_t cond;
  bool ended; /* atomic for those without the lock */
  struct pp_orphan {
    pp_arena *arena;
    void *block;
    size_t size;
  } orphan; /* freed when the job ends */
  /* Under the lock: the event that was asked for, and the arena that keeps its
   * context; or NULL. Destroyed with the job. */
  pp_event *event;
  pp_arena *event_arena;
  pp_picture picture[]; /* each with a reference to its plan */
};

/* The staging threads. thread, started and pictures belong to pp_submit's caller,
 * the rest is under the device's lock. */
struct pp_stager {
  /* Wanted, or as many as could be made; 0 on a unified backend. */
  int n_threads;
  int started;
  bool pictures; /* they have queued several pictures */
  pthread_t thread[PP_MAX_STAGING_THREADS];
  pthread_cond_t work; /* a job came, quit */
  pp_job *next;        /* the oldest that no thread has taken */
  bool quit;
};

/* Which stream a job takes, and what decides how many are used. */
struct pp_stream_choice {
  /* Under the device's lock. */
  int in_use, next;
  bool decided; /* in_use, by stage times */
  /* The completion thread's, or pp_device_reserve's when no job is there. */
  bool automatic;
  int most;     /* that have room for the plan */
  int measured; /* jobs */
  double shortest[PP_N_STAGES];
};

/* Recipes by their facts; of the thread that queues. */
struct pp_recipes {
  pp_recipe *kept[PP_MAX_KEPT_RECIPES]; /* owned, last used first */
  pp_recipe *pictures; /* owned; that of the last job of several pictures */
};

struct pp_device {
  const pp_backend *backend;
  pp_arena *arena;  /* pinned memory */
  pp_arena *memory; /* on the device; NULL on a unified backend */
  /* That the device works in, of the arena in_context. */
  pp_context *context;
  pp_arena *in_context;
  void *handle; /* of that context */
  uint64_t id;  /* unique in the process */
  pid_t process;
  char name[128];
  int n_streams, n_resources;
  pp_shared_streams *shared;
  pp_shared_stream *stream[PP_MAX_STREAMS];
  int n_cores; /* that this process may use */

  /* Of pp_submit's caller. */
  uint64_t sequence;
  uint64_t timed_until; /* all jobs before this one are timed */
  bool time_all;
  struct pp_stager stager;

  /* Of the thread that queues, see order.c. */
  struct pp_stream_tables tables[PP_MAX_STREAMS];
  pp_pinned_tables *kept_tables[PP_MAX_KEPT_TABLES]; /* last used first */
  struct pp_recipes recipes;

  pp_pinned_tables pinned_tables[PP_MAX_PINNED_TABLES];
  uint64_t last_tables;      /* id; atomic */
  size_t pinned_tables_size; /* of each block; only grows; atomic */

  struct pp_job_resources resources[PP_MAX_UNFINISHED + 1];
  struct pp_stream_choice choice;

  /* Of the completion thread. */
  pthread_t thread;
  double last_start;  /* of the last timed job, microseconds */
  int last_resources; /* whose events hold it; -1: none */

  pthread_mutex_t lock;
  pthread_cond_t changed; /* thread_entered, a job queued or ended, quit */
  bool thread_started;
  bool thread_entered;   /* the context, or failed to */
  pp_job *first, *last;  /* unfinished jobs, oldest first */
  pp_job *next_to_queue; /* the oldest that is not queued */
  bool queueing;         /* a thread is queueing a job */
  int unfinished;
  pp_error error; /* sticky */
  bool quit;
};

/* ---- device.c */

/* As pp_device_open, on a backend that need not be the library's. */
pp_device *pp_device_open_backend (const pp_backend *backend, int index,
    const pp_device_options *options, pp_error *error);

/* How many jobs may be unfinished. By pp_submit's caller. */
int pp_device_most_jobs (const pp_device *device);

/* ---- job.c */

/* Counts a device whose jobs may be polled for: +1 when it opens, -1 when it
 * closes. */
void pp_jobs_count_device (const pp_device *device, int change);
/* The pictures of a job for plan/. */
void pp_job_get_pictures (const pp_job *job, pp_pictures *pictures);
/* The strides of the planes that are read where the caller has them; else 0. */
void pp_job_get_strides (const pp_job *job, size_t stride[PP_MAX_PLANES]);
/* One reference; NULL when memory is exhausted. */
pp_job *pp_job_new (pp_device *device, const pp_task *task);
/* Writes the tensors' padding where it is missing, or leaves it to the job. By
 * pp_submit's caller, since the record of it is the caller's. */
void pp_job_fill_padding (pp_job *job);
/* The planes that the device cannot reach; bit p: plane p. */
unsigned pp_job_pageable_planes (const pp_device *device, const pp_job *job);
/* Whether any plane is read where the caller has it. */
bool pp_job_reads_input (const pp_job *job);
/* Whether the job, which has not ended, is the only such one of the device. */
bool pp_job_is_alone (pp_device *device, const pp_job *job);
/* Calls input_done, once. By the thread that the job belongs to. */
void pp_job_release_input (pp_job *job);
/* Calls back, gives up what the job held except the job itself. */
void pp_job_call_back (pp_job *job, const pp_error *error);
/* Marks the job ended, with error or NULL for success. */
void pp_job_end (pp_job *job, const pp_error *error);

/* ---- stager.c */

/* Creates threads until n are there. Fails if there is none. By pp_submit's
 * caller. */
pp_status pp_stager_start (pp_device *device, int n, pp_error *error);
/* Hands a job to the threads. With the device's lock held. */
void pp_stager_add (pp_device *device, pp_job *job);
/* Joins the threads; no job is left. */
void pp_stager_stop (pp_device *device);

/* ---- order.c */

/* Queues the ready jobs, oldest first, up to the first that is not ready. If
 * another thread is queueing, it leaves them to that thread. Called with the
 * device's lock held, which it releases while it queues a job. */
void pp_order_queue_ready (pp_device *device);

/* ---- queue.c */

/* What a recipe is run with. */
typedef struct pp_bindings {
  const pp_plan *const *plan; /* of each picture */
  uint8_t *base[PP_N_BASES];
  pp_stream *stream[2]; /* the job's and the second one */
  pp_team team;
  pp_event *event[PP_N_MARKS];
  bool tables_there;
} pp_bindings;

/* The one loop: calls the backend for each step. Stops at the first that
 * fails. */
pp_status pp_recipe_run (const pp_recipe *recipe, const pp_backend *backend,
    const pp_bindings *bindings, pp_error *error);

/* The launch of picture i, of all rows of the content. */
pp_launch pp_recipe_launch (
    const pp_recipe *recipe, int i, const pp_bindings *bindings);

/* Queues the job on its stream. Not between enter and leave. */
pp_status pp_queue_job (pp_device *device, pp_job *job, pp_error *error);
/* Makes room for the recipe of n pictures, n above 1. */
pp_status pp_recipes_reserve (
    struct pp_recipes *recipes, int n, pp_error *error);
void pp_recipes_clear (struct pp_recipes *recipes);

/* ---- room.c: device memory. Not for unified backends. Between enter and
 * leave, with no lock held. */

/* Sizes, bytes. */
struct pp_room {
  size_t buffer[PP_N_BUFFERS], tables;
};

/* What jobs of plan need, or jobs of n pictures of its frames. */
struct pp_room pp_room_for (
    const pp_plan *plan, int n, bool on_device, bool tensors_on_device);
struct pp_room pp_room_for_recipe (const pp_recipe *recipe);
/* Makes that room on stream s: in the device's tables and in the shared
 * buffers. If it replaces memory, it waits for the work on the stream. Called
 * by the thread that queues, or while there are no jobs. */
pp_status pp_room_reserve (
    pp_device *device, int s, const struct pp_room *room, pp_error *error);
/* Whether there is that room; with the shared stream's lock held. */
bool pp_room_is_there (
    const pp_device *device, int s, const struct pp_room *room);

/* ---- tables.c */

/* Allocates pinned memory for tables of size bytes and more, for as many jobs as
 * the device keeps them of. Without jobs. */
pp_status pp_pinned_tables_reserve (
    pp_device *device, size_t size, pp_error *error);
/* The tables of the pictures' plans in pinned memory. all_rows: as in recipe.h.
 * One reference; NULL with an error. Any thread. */
pp_pinned_tables *pp_pinned_tables_new (pp_device *device,
    const pp_pictures *pictures, bool all_rows, pp_error *error);
/* The same; the device keeps them for the next jobs, unless the plans are for one
 * frame. By the thread that queues, or without jobs. */
pp_pinned_tables *pp_pinned_tables_get (pp_device *device,
    const pp_pictures *pictures, bool all_rows, pp_error *error);
/* Any thread. */
void pp_pinned_tables_unref (pp_pinned_tables **tables);
void pp_pinned_tables_clear (pp_device *device);

/* ---- stream_choice.c */

/* Uses most streams, until enough jobs are measured. No job is there. */
void pp_stream_choice_reset (pp_device *device, int most);
/* The next job's stream. With the device's lock held. */
void pp_stream_choice_take (pp_device *device, pp_job_info *info);
/* By the completion thread, with a timed job that ended well. */
void pp_stream_choice_measure (pp_device *device, const pp_times *times);
/* The rule: how many of at most most streams stages of these lengths fill;
 * microseconds. */
int pp_stream_choice_rule (const double length[PP_N_STAGES], int most);
/* Jobs that are measured before automatic streams are decided. */
#define PP_MEASURED_JOBS 64

/* ---- completion.c: the completion thread. Stop lets it end all jobs first. */

pp_status pp_completion_start (pp_device *device, pp_error *error);
void pp_completion_stop (pp_device *device);

#endif
