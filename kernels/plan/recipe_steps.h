/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the files that make recipes share: recipe.c has the beginning and the end
 * of every recipe and the steps of one picture, recipe_pictures.c those of
 * several.
 */
#ifndef PP_RECIPE_STEPS_H
#define PP_RECIPE_STEPS_H

#include "recipe.h"

/* A recipe that is being made. */
struct pp_recipe_maker {
  pp_recipe *recipe;
  const pp_pictures *pictures;
  const pp_plan *plan;    /* the first picture's */
  pp_image_layout layout; /* of one picture */
};

static inline pp_place
pp_place_at (int base, size_t offset)
{
  return (pp_place){ .base = base, .offset = offset };
}

static inline pp_place
pp_place_beyond (pp_place place, size_t offset)
{
  place.offset += offset;
  return place;
}

/* Append a step, on the second stream or on the job's. */
pp_step *pp_add_step (struct pp_recipe_maker *maker, pp_op op, bool second);
void pp_add_mark (
    struct pp_recipe_maker *maker, pp_op op, pp_mark mark, bool second);
void pp_add_record (struct pp_recipe_maker *maker, pp_mark mark);
/* Append what ends an upload, if there is one, and what comes between the launch
 * and the download, if there is one. */
void pp_add_uploaded (struct pp_recipe_maker *maker);
void pp_add_computed (struct pp_recipe_maker *maker);
/* Appends the step that makes padding, if any is to be made so. */
void pp_add_pad (struct pp_recipe_maker *maker);
/* A copy of rows of width bytes, from_row and to_row bytes apart. */
void pp_add_upload (struct pp_recipe_maker *maker, pp_place from,
    size_t from_row, pp_place to, size_t to_row, size_t width, size_t rows);
/* Downloads a band of the plan's content; in a planar layout, of each channel. from, to: where the tensor starts on the device and on the host. */
void pp_add_download (struct pp_recipe_maker *maker, const pp_plan *plan,
    const pp_band *band, size_t from, size_t to, bool second);

/* recipe_pictures.c: places several pictures and adds their steps between START
 * and DONE. */
void pp_add_pictures (struct pp_recipe_maker *maker);

#endif
