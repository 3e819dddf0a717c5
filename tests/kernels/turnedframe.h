/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that were turned before, sample by sample.
 */
#ifndef TURNED_FRAME_H
#define TURNED_FRAME_H

#include "kernels/preproc.h"

/* A frame of the turned size, each component in a plane of its own. */
struct turned_frame {
  pp_format format;
  pp_view view;
  uint8_t *plane[PP_MAX_COMPONENTS];
};

/* A direction, axis by axis: the frame's rows become columns; outputs along the
 * frame's rows, and down its columns, are read from the other end. */
struct turned_axes {
  bool swapped, mirrored_x, mirrored_y;
};

struct turned_axes turned_axes_of (pp_direction direction);

/* Whether frames of that format can be turned before: chroma then is where a
 * format can say that it is. Mirrored, cosited chroma is sited on the other end
 * of its pixels, and a sample that covers pixels beyond the frame's end would
 * cover some before its start. */
bool can_turn_before (const pp_format *format, pp_direction direction);
/* source becomes the same rectangle in the turned frame. */
void turned_frame_init (struct turned_frame *turned, const pp_format *format,
    const pp_view *view, pp_direction direction, pp_rect *source);
void turned_frame_clear (struct turned_frame *turned);

#endif
