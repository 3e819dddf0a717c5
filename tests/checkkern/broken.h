/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels that are broken on purpose, one fault each, to prove that checkkern
 * can fail. Without a fault it is one more, slow, spelling of the operation.
 */
#ifndef BROKEN_H
#define BROKEN_H

#include "kernels/plan/plan.h"

typedef enum broken_fault {
  BROKEN_NONE,
  BROKEN_HALF_PIXEL,        /* the picture lies half a sample to the left */
  BROKEN_BORDER,            /* the last column reads one sample too far */
  BROKEN_MISSING_TAP,       /* the last horizontal tap is forgotten */
  BROKEN_DESCENDING,        /* taps are added from the last to the first */
  BROKEN_HORIZONTAL_FIRST,  /* the axes in the other order */
  BROKEN_FUSED,             /* multiply and add without rounding between */
  BROKEN_STRIDE,            /* rows are taken to be packed */
  BROKEN_WRAPPED_COLUMN,    /* columns are counted in 12 bits */
  BROKEN_BYTE_ORDER,        /* 2-byte samples are little endian */
  BROKEN_GARBAGE_BITS,      /* bits outside the value count */
  BROKEN_MEDIAN_BORDER,     /* the median's border is reflected */
  BROKEN_MEDIAN_NEIGHBOUR,  /* the median misses the last neighbour */
  BROKEN_SWAPPED_CHROMA,    /* Cb is Cr */
  BROKEN_MISSING_CLAMP,     /* colours leave 0...255 */
  BROKEN_WRONG_MEAN,        /* each channel takes the next one's mean */
  BROKEN_TRUNCATED_FLOAT16, /* float16 rounds towards zero */
  BROKEN_HALF_UP,           /* integers round half up */
  BROKEN_UNSATURATED,       /* integers wrap around */
  BROKEN_FOURTH,            /* a pixel's fourth byte is 0 */
  BROKEN_LAYOUT,            /* nchw is nhwc */
  BROKEN_TURN,              /* the tensor's axes are not swapped */
  BROKEN_MIRROR,            /* mirrored the other way along the frame's rows */
  BROKEN_PADDING,           /* padding is not written */
  BROKEN_PAST_END,          /* one element is written behind the tensor */
  BROKEN_BEFORE_START,      /* one element is written before the tensor */
  BROKEN_INPUT,             /* the source is written to */
  N_BROKEN
} broken_fault;

/* For people: "half pixel". */
const char *broken_name (broken_fault fault);

/* As pp_apply_c. */
void broken_apply (const pp_plan *plan, const pp_view *source, void *tensor,
    broken_fault fault);
/* As pp_apply_cpu: rows [first_row, last_row) of the content and nothing else.
 * Faults from BROKEN_PADDING on are none of it. */
void broken_apply_rows (const pp_plan *plan, const pp_view *source,
    void *tensor, int first_row, int last_row, broken_fault fault);

#endif
