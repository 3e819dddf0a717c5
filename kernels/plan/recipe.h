/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recipe: what a job does on its streams, as an array of steps. It is made
 * from facts alone, so equal facts give equal recipes, and it has no addresses:
 * a place is a base, which the engine knows for each job, and an offset.
 * engine/queue.c runs it. Pure functions; any thread.
 */
#ifndef PP_RECIPE_H
#define PP_RECIPE_H

#include "image.h"
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
  PP_BASE_OUTPUT, /* the task's tensor; of several the one at the lowest
                   * address */
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

/* Whether a job's event has a timestamp. */
static inline bool
pp_mark_is_timed (pp_mark mark)
{
  return mark < PP_MARK_INPUT_READ;
}

typedef enum pp_op {
  PP_OP_COPY,
  PP_OP_GATHER,
  PP_OP_LAUNCH,          /* rows of the only picture's content */
  PP_OP_LAUNCH_PICTURES, /* several whole pictures */
  PP_OP_PAD,             /* the padding of pictures on the device */
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
  /* GATHER: the recipe's gathers [first, last). LAUNCH: rows of the content.
   * LAUNCH_PICTURES: pictures. */
  int32_t first, last;
} pp_step;

typedef struct pp_gather_step {
  pp_place from, to, rows;
  pp_gather_plane shape; /* all but the addresses */
} pp_gather_step;

/* All that the recipe of one picture depends on; for several, the pictures come
 * on top. */
typedef struct pp_facts {
  uint64_t plan; /* the id of the first picture's plan */
  /* The device works on the host's memory, the plan's own tables included, and
   * has scratch memory of its own; both of the next are set. */
  bool unified;
  bool source_in_place; /* kernels read the planes where they are */
  bool tensor_in_place; /* and write the tensors where they stay */
  /* There is no source: the tensors become padding from end to end. In place. */
  bool padding_only;
  unsigned staged; /* bit p: plane p is staged; the others are uploaded */
  bool
      two_bands; /* only one picture, if no plane is staged, nothing is in place
                    * and plan->can_be_two */
  /* several pictures: launches make the padding, and whole slices are
   * downloaded */
  bool padding;
  /* Bit i: the padding of picture i is made by a step of its own. In place. */
  uint64_t pad;
  bool after; /* the stream waits for another job first */
  bool timed;
  size_t stride[PP_MAX_PLANES]; /* of the task's planes; 0 where not read */
} pp_facts;

_Static_assert(PP_MAX_PICTURES <= 64, "a bit of pp_facts.pad each");

/* The most copies that a band's upload takes. */
#define PP_MAX_UPLOAD_COPIES (PP_MAX_PLANES * PP_MAX_ROW_GROUPS)
/* A timed job in two bands has the most. Besides the copies of its uploads, it
 * has the copy of the tables, 9 steps that record or wait for events, and in
 * each band a gather, a launch and a download. */
#define PP_MAX_STEPS (2 * (PP_MAX_UPLOAD_COPIES + 8))
/* Several pictures take fewer copies up, and at most a launch and a download
 * each. */
#define PP_MAX_PICTURE_STEPS 2

/* What a picture's launch reads and writes. */
typedef struct pp_picture_step {
  pp_place source[PP_MAX_PLANES], medians[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES], medians_stride[PP_MAX_PLANES];
  pp_place tensor;
  pp_place index, weight; /* its tables */
} pp_picture_step;

/* Owns its arrays: pp_recipe_new makes them, free frees recipe and arrays. */
typedef struct pp_recipe {
  pp_facts facts;
  int32_t max_pictures; /* that there is room for */
  int32_t n_pictures, n_steps, n_gathers;
  pp_step *step;
  pp_gather_step *gather;
  pp_picture_step *picture;
  bool all_rows;               /* tables are for an image of all rows */
  size_t bytes_up, bytes_down; /* without the tables */
  /* what the bases must have room for, bytes */
  size_t image_size, medians_size, tensor_size, tables_size;
  /* The events after which the input has been read, and the job is done. */
  pp_mark input_mark, done_mark;
  /* A timed job's edges: START where nothing is uploaded, and DONE where nothing
   * is downloaded. */
  pp_mark uploaded_mark, computed_mark;
} pp_recipe;

bool pp_facts_equal (const pp_facts *a, const pp_facts *b);

/* Room for a recipe of up to n pictures, in one piece of memory; NULL without
 * memory. Free it with free. */
pp_recipe *pp_recipe_new (int n);

/* facts->plan is the first plan's id. */
void pp_recipe_init (
    pp_recipe *recipe, const pp_pictures *pictures, const pp_facts *facts);

/* A plan's tables in one block: device_index at 0, weight at the offset. Sizes
 * in bytes. */
size_t pp_tables_weight_offset (const pp_plan *plan);
size_t pp_tables_size (const pp_plan *plan);
/* all_rows: for an image of all rows, in place of those that are listed. */
void pp_tables_write (const pp_plan *plan, bool all_rows, void *block);
/* The blocks of several plans lie one behind the other: where the one behind
 * the plan's starts, if the plan's starts at offset. */
size_t pp_tables_next (const pp_plan *plan, size_t offset);
/* The size of the tables of all pictures. */
size_t pp_tables_size_of_all (const pp_pictures *pictures);

/* One line a step, for people and tests; at most size bytes, NUL included. */
void pp_recipe_describe (const pp_recipe *recipe, char *text, size_t size);

#endif
