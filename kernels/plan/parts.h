/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of making a plan, one function a file; plan.c calls them in this
 * order. Pure functions on the host; any thread. Those that return a status
 * name the field and its value in error.
 */
#ifndef PP_PLAN_PARTS_H
#define PP_PLAN_PARTS_H

#include "plan.h"

/* spec.c: what must hold of a spec, a format and a source rectangle. Checked
 * once, at the door of pp_plan_new; everything behind it trusts them. Fields of
 * the spec are named as the element's properties are. The rectangle must have
 * pixels and lie in the format's frame. */
pp_status pp_spec_check (const pp_spec *spec, pp_error *error);
pp_status pp_format_check (const pp_format *format, pp_error *error);
pp_status pp_source_check (
    const pp_rect *source, const pp_format *format, pp_error *error);

/* geometry.c: how the picture is fitted into the tensor. PP_BAD_ARGUMENT where
 * it would be resized beyond what tap tables can count. */
pp_status pp_geometry_init (pp_geometry *geometry, const pp_spec *spec,
    const pp_format *format, const pp_rect *source, pp_error *error);

/* The name of a fit that shows the whole picture, so that it can be resized to
 * no other size than the tensor's; else NULL. */
const char *pp_fit_uncropped (pp_fit fit);

/* colour.c: a format's samples to R'G'B' in 0...255. Fills matrix, to_gray and
 * gray. PP_BAD_ARGUMENT where a factor is not finite in float. */
pp_status pp_colour_init (pp_numbers *numbers, const pp_format *format,
    pp_channels channels, pp_error *error);
/* Components of a format: 1 or 3. */
int pp_model_components (pp_model model);
/* Whether components 1 and 2 are chroma, which may be subsampled. */
bool pp_model_has_chroma (pp_model model);

/* output.c: normalisation, type, layout and padding. Fills what numbers holds
 * from mul on, except the content. PP_BAD_ARGUMENT where a constant is not
 * finite in float or the zero point is not of the type. */
pp_status pp_output_init (
    pp_numbers *numbers, const pp_spec *spec, pp_error *error);

/* elements.c: whether the type is an integer; low and high are then its limits.
 */
bool pp_type_limits (pp_type type, int *low, int *high);

/* denoise.c: PP_BAD_ARGUMENT where there is no such size. */
pp_status pp_denoise_check (const pp_spec *spec, pp_error *error);
/* Samples of the kernel that is convolved into the taps: 1 where there is none.
 * Samples of the median's side: 0 where there is none. */
int pp_denoise_kernel_size (const pp_spec *spec);
int pp_denoise_median_size (const pp_spec *spec);

/* median_groups.c: which components a median is taken of together. size: 3 or
 * 5. Reads numbers' source. */
void pp_median_groups_init (
    pp_median *median, const pp_numbers *numbers, int size);

/* touched_rows.c: which rows of each plane a device with memory of its own
 * gets. Sets rows and device_index. False when memory is exhausted. */
bool pp_rows_init (pp_plan *plan);

/* bands.c: the two bands that a frame can be made in. Reads rows. */
void pp_bands_init (pp_plan *plan);

#endif
