/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of making a plan, in the order in which plan.c calls them; a file
 * for each. Pure functions; any thread. Where one returns a status, error names
 * the field that is wrong and its value.
 */
#ifndef PP_PLAN_PARTS_H
#define PP_PLAN_PARTS_H

#include "plan.h"

/* spec.c: checks what pp_plan_new was given, once. All that follows relies on
 * it. Texts name fields of the spec as the element's properties. The source
 * rectangle must have pixels and be inside the format's frame. */
pp_status pp_spec_check (const pp_spec *spec, pp_error *error);
pp_status pp_format_check (const pp_format *format, pp_error *error);
pp_status pp_source_check (
    const pp_rect *source, const pp_format *format, pp_error *error);

/* geometry.c: where the picture is in the tensor. PP_BAD_ARGUMENT where it
 * would be resized to more than tap tables can count. */
pp_status pp_geometry_init (pp_geometry *geometry, const pp_spec *spec,
    const pp_format *format, const pp_rect *source, pp_error *error);

/* How a direction turns the stored frame. */
typedef struct pp_turn {
  bool swapped; /* the frame's rows become the tensor's columns */
  /* Along the frame's rows, and down its columns: outputs that ascend read
   * samples that descend. */
  bool mirrored_x, mirrored_y;
} pp_turn;

pp_turn pp_turn_of (pp_direction direction);

/* A rectangle of the tensor as the kernels count it, who take x along the
 * frame's rows and y down its columns; and back. */
static inline pp_rect
pp_turned_rect (pp_rect rect, pp_turn turn)
{
  return turn.swapped ? (pp_rect){ rect.y, rect.x, rect.height, rect.width }
                      : rect;
}

/* The name of a fit that shows the whole picture; NULL for a fit that crops it
 * and honours resize and crop_fraction. */
const char *pp_fit_uncropped (pp_fit fit);

/* colour.c: how samples of the format become R'G'B' in 0...255. Fills matrix,
 * to_gray and gray. PP_BAD_ARGUMENT where a factor is not finite as a float. */
pp_status pp_colour_init (pp_numbers *numbers, const pp_format *format,
    pp_channels channels, pp_error *error);
/* Components of a format: 1 or 3. */
int pp_model_components (pp_model model);
/* Whether components 1 and 2 are chroma, which may be subsampled. */
bool pp_model_has_chroma (pp_model model);

/* output.c: normalisation, type, layout and padding. Fills numbers from mul on,
 * except the content. PP_BAD_ARGUMENT where a constant is not finite as a float
 * or the type has no such zero point. */
pp_status pp_output_init (
    pp_numbers *numbers, const pp_spec *spec, pp_error *error);

/* elements.c: whether the type is an integer. If so, sets its limits. */
bool pp_type_limits (pp_type type, int *low, int *high);

/* denoise.c: checks denoise_size; PP_BAD_ARGUMENT. */
pp_status pp_denoise_check (const pp_spec *spec, pp_error *error);
/* The size of the kernel that is convolved into the taps: 1 where there is
 * none. The size of the median: 0 where there is none. */
int pp_denoise_kernel_size (const pp_spec *spec);
int pp_denoise_median_size (const pp_spec *spec);

/* median_groups.c: groups the components whose medians are computed together.
 * size: 3 or 5. Reads the sources in numbers. */
void pp_median_groups_init (
    pp_median *median, const pp_numbers *numbers, int size);

/* touched_rows.c: decides which rows of each plane are uploaded. Sets rows and
 * device_index. False if memory is exhausted. */
bool pp_rows_init (pp_plan *plan);
/* The same in memory of the caller's: device_index has room for index and all
 * rows of the extents, touched for the rows of the highest extent, and above for
 * one more. */
void pp_rows_fill (pp_plan *plan, bool *touched, int *above);
/* A plane with more touched rows than this many of ten is uploaded whole: one
 * copy without gaps is faster then. */
#define PP_MAX_LISTED_TENTHS 9
/* Divides the listed rows, of which rows has the count, in few groups, if there
 * is a way. */
void pp_rows_group (const int32_t *list, pp_plane_rows *rows);
/* Whether each plane is read with one y table only. */
bool pp_rows_one_table_a_plane (const pp_numbers *n);

/* plan.c: fills a plan of a pool, see plan_pool.h. PP_NO_MEMORY where its cache
 * has no room; the caller gives the plan back after an error. */
pp_status pp_plan_fill_region (pp_plan *plan, const pp_spec *spec,
    const pp_format *format, const pp_rect *source, pp_error *error);

/* bands.c: splits the content in two bands. Reads rows. mirrored: down the
 * frame's columns, see pp_turn. */
void pp_bands_init (pp_plan *plan, bool mirrored);

#endif
