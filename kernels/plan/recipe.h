/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recipe: what a job does on its streams, as an array of steps. It is made
 * from facts alone, so equal facts give equal recipes, and it has no addresses:
 * a place is a base, which the engine knows for each job, and an offset.
 * engine/queue.c runs it. Pure functions; any thread.
 */
#ifndef PP_RECIPE_H
#define PP_RECIPE_H

#include "operations.h"

/* What a place counts from. */
typedef enum pp_base {
  PP_BASE_PLANE, /* + p: where the task's plane p starts, p < PP_MAX_PLANES */
  PP_BASE_STAGING = PP_MAX_PLANES, /* pinned copies of the staged planes */
  PP_BASE_PINNED_TABLES,           /* the plan's tables in pinned memory */
  PP_BASE_INDEX,                   /* the tables where the kernel reads them */
  PP_BASE_WEIGHT,
  /* the stream's buffers on the device */
  PP_BASE_IMAGE,
  PP_BASE_MEDIANS,
  PP_BASE_TENSOR,
  PP_BASE_OUTPUT, /* the task's tensor */
  PP_N_BASES
} pp_base;

typedef struct pp_place {
  int32_t base;
  size_t offset; /* bytes */
} pp_place;

/* The events that steps record and wait for. Those of a job are read by the
 * completion thread. Not every job is timed: on a GPU, a timestamp costs
 * more than the event itself. */
typedef enum pp_mark {
  /* a timed job's: the edges of its stages */
  PP_MARK_START,
  PP_MARK_UPLOADED,
  PP_MARK_COMPUTED,
  PP_MARK_DONE,
  /* any other job's, without timestamps */
  PP_MARK_INPUT_READ, /* as UPLOADED */
  PP_MARK_END,        /* as DONE */
  PP_N_JOB_MARKS,
  /* a stream's, for jobs in two bands */
  PP_MARK_UPPER_UPLOADED = PP_N_JOB_MARKS,
  PP_MARK_UPPER_DONE,
  /* the end of the job that this one comes after */
  PP_MARK_AFTER,
  PP_N_MARKS
} pp_mark;

typedef enum pp_op {
  PP_OP_COPY,
  PP_OP_GATHER,
  PP_OP_LAUNCH,
  PP_OP_RECORD,
  PP_OP_WAIT,
  PP_N_OPS
} pp_op;

typedef struct pp_step {
  pp_op op;
  bool second;       /* on the second stream, else on the job's */
  bool tables;       /* skipped where the plan's tables are there already */
  pp_mark mark;      /* RECORD, WAIT */
  pp_place from, to; /* COPY */
  pp_copy shape;     /* COPY: all but the addresses */
  /* GATHER: the recipe's gathers [first, last). LAUNCH: rows of the content. */
  int32_t first, last;
} pp_step;

typedef struct pp_gather_step {
  pp_place from, to, rows;
  pp_gather_plane shape; /* all but the addresses */
} pp_gather_step;

/* All that a recipe depends on. */
typedef struct pp_facts {
  uint64_t plan; /* the plan's id */
  /* The planes and the tensor are where the kernel can work on them: on a
   * unified backend. Nothing is copied. */
  bool in_place;
  unsigned staged; /* bit p: plane p is staged; the others are uploaded */
  bool two_bands;  /* only if no plane is staged and plan->can_be_two */
  bool after;      /* the stream waits for another job first */
  bool timed;
  size_t stride[PP_MAX_PLANES]; /* of the task's planes; 0 where not read */
} pp_facts;

/* The most copies that a band's upload takes. */
#define PP_MAX_UPLOAD_COPIES (PP_MAX_PLANES * PP_MAX_ROW_GROUPS)
/* A timed job in two bands has the most. Besides the copies of its uploads, it
 * has the copy of the tables, 9 steps that record or wait for events, and in
 * each band a gather, a launch and a download. */
#define PP_MAX_STEPS (2 * (PP_MAX_UPLOAD_COPIES + 8))

typedef struct pp_recipe {
  pp_facts facts;
  int32_t n_steps, n_gathers;
  pp_step step[PP_MAX_STEPS];
  pp_gather_step gather[2 * PP_MAX_PLANES];
  /* of every launch */
  pp_place source[PP_MAX_PLANES], medians[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES]; /* of source and medians */
  pp_place tensor;
  size_t bytes_up, bytes_down; /* without the tables */
  /* The events after which the input has been read, and the job is done. */
  pp_mark input_mark, done_mark;
} pp_recipe;

bool pp_facts_equal (const pp_facts *a, const pp_facts *b);

/* facts->plan is the plan's id. */
void pp_recipe_init (
    pp_recipe *recipe, const pp_plan *plan, const pp_facts *facts);

/* The plan's tables in one block: device_index at 0, weight at the offset. Sizes
 * in bytes. */
size_t pp_tables_weight_offset (const pp_plan *plan);
size_t pp_tables_size (const pp_plan *plan);

/* One line a step, for people and tests; at most size bytes, NUL included. */
void pp_recipe_describe (const pp_recipe *recipe, char *text, size_t size);

#endif
