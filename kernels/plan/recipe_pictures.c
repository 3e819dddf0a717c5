/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steps of several pictures that come together: what they need of the frame
 * goes up as one, one step launches them all, and tensors that lie side by side
 * come down as one.
 *
 * Measured on an H200, 16 regions of a 1080p NV12 frame to 112x112 float32, us a
 * job: 56 this way, 120 with a copy for each picture's plane, 290 to 332 as 16
 * jobs.
 */
#include "recipe_steps.h"

/* Several pictures that are being placed. */
struct pictures {
  struct pp_recipe_maker *maker;
  const pp_pictures *all;
  pp_pictures_layout layout;
  int order[PP_MAX_PICTURES]; /* by the address of their tensors */
};

/* Where a rectangle of the plane starts in the frame. */
static pp_place
frame_place (const struct pictures *pictures, int plane, const pp_rect *rect)
{
  const pp_facts *facts = &pictures->maker->recipe->facts;

  return pp_place_at (PP_BASE_PLANE + plane,
      (size_t) rect->y * facts->stride[plane] + (size_t) rect->x);
}

/* ---- places --------------------------------------------------------------- */

/* Insertion sort: they mostly are in order. */
static void
sort (struct pictures *pictures)
{
  const size_t *slice = pictures->all->slice;

  for (int i = 0; i < pictures->all->n; i++) {
    int at = i;

    for (; at > 0 && slice[pictures->order[at - 1]] > slice[i]; at--)
      pictures->order[at] = pictures->order[at - 1];
    pictures->order[at] = i;
  }
}

static void
place_picture (const struct pictures *pictures, int i, pp_picture_step *picture)
{
  const pp_facts *facts = &pictures->maker->recipe->facts;
  const pp_plan *plan = pictures->all->plan[i];
  const pp_picture_layout *image = &pictures->layout.picture[i];
  const pp_picture_layout *medians = &pictures->layout.medians[i];

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (plan->extent[p].height == 0)
      continue;
    if (facts->source_in_place) {
      picture->source[p] = frame_place (pictures, p, &plan->extent[p]);
      picture->stride[p] = facts->stride[p];
    } else {
      picture->source[p] = pp_place_at (PP_BASE_IMAGE, image->offset[p]);
      picture->stride[p] = image->stride[p];
    }
    picture->medians[p] = pp_place_at (PP_BASE_MEDIANS, medians->offset[p]);
    picture->medians_stride[p] = medians->stride[p];
  }
}

/* In the stream's buffer, tensors lie side by side in the order that they have in
 * the output. */
static void
place_launches (const struct pictures *pictures)
{
  const pp_facts *facts = &pictures->maker->recipe->facts;
  const pp_pictures *all = pictures->all;
  size_t tables = 0, next_tables;

  for (int i = 0; i < all->n; i++, tables = next_tables) {
    pp_picture_step *picture = &pictures->maker->recipe->picture[i];

    next_tables = pp_tables_next (all->plan[i], tables);
    *picture = (pp_picture_step){
      .index = pp_place_at (PP_BASE_INDEX, tables),
      .weight = pp_place_at (
          PP_BASE_INDEX, tables + pp_tables_weight_offset (all->plan[i])),
      .tensor = pp_place_at (PP_BASE_OUTPUT, all->slice[i]),
    };
    place_picture (pictures, i, picture);
  }
  if (facts->tensor_in_place)
    return;
  for (int rank = 0; rank < all->n; rank++)
    pictures->maker->recipe->picture[pictures->order[rank]].tensor =
        pp_place_at (PP_BASE_TENSOR, (size_t) rank * all->plan[0]->tensor_size);
}

/* ---- up ------------------------------------------------------------------- */

/* What bounds the pictures: a copy a plane. */
static void
upload_bound (const struct pictures *pictures, int plane)
{
  const pp_rect *bound = &pictures->layout.bound[plane];
  const pp_image_layout *frame = &pictures->layout.frame;
  const size_t stride = pictures->maker->recipe->facts.stride[plane];
  const size_t width = (size_t) bound->width, rows = (size_t) bound->height;
  const size_t piece = (rows - 1) * stride + width;
  const pp_place from = frame_place (pictures, plane, bound);
  const pp_place to = pp_place_at (PP_BASE_IMAGE, frame->offset[plane]);

  if (frame->joined[plane])
    pp_add_upload (pictures->maker, from, piece, to, piece, piece, 1);
  else
    pp_add_upload (
        pictures->maker, from, stride, to, frame->stride[plane], width, rows);
}

/* The listed rows of a picture's plane. */
static void
gather_plane (const struct pictures *pictures, int i, int plane)
{
  pp_recipe *recipe = pictures->maker->recipe;
  const pp_plan *plan = pictures->all->plan[i];
  const pp_picture_step *picture = &recipe->picture[i];
  const pp_rect *extent = &plan->extent[plane];
  const size_t listed =
      (size_t) plan->rows[plane].first * sizeof *plan->device_index;

  recipe->gather[recipe->n_gathers++] =
      (pp_gather_step){ .from = frame_place (pictures, plane, extent),
        .to = picture->source[plane],
        .rows = pp_place_beyond (picture->index, listed),
        .shape = { .from_row = recipe->facts.stride[plane],
            .to_row = picture->stride[plane],
            .width = (size_t) extent->width,
            .n_rows = plan->rows[plane].count } };
  recipe->bytes_up += (size_t) extent->width * (size_t) plan->rows[plane].count;
}

static void
gather_each (const struct pictures *pictures)
{
  pp_recipe *recipe = pictures->maker->recipe;
  const unsigned staged = recipe->facts.staged;

  for (int i = 0; i < pictures->all->n; i++)
    for (int p = 0; p < PP_MAX_PLANES; p++)
      if (pictures->all->plan[i]->rows[p].count > 0 &&
          (staged & (1u << p)) == 0)
        gather_plane (pictures, i, p);
  for (int first = 0; first < recipe->n_gathers; first += PP_MAX_GATHERED) {
    const int rest = recipe->n_gathers - first;
    pp_step *step = pp_add_step (pictures->maker, PP_OP_GATHER, false);

    step->first = first;
    step->last = first + (rest < PP_MAX_GATHERED ? rest : PP_MAX_GATHERED);
  }
}

/* Staged planes are uploaded as one piece. */
static void
upload (const struct pictures *pictures)
{
  const pp_pictures_layout *layout = &pictures->layout;
  const unsigned staged = pictures->maker->recipe->facts.staged;
  const size_t size = layout->staged_size;

  if (size > 0)
    pp_add_upload (pictures->maker, pp_place_at (PP_BASE_STAGING, 0), size,
        pp_place_at (PP_BASE_IMAGE, 0), size, size, 1);
  if (!layout->together) {
    gather_each (pictures);
    return;
  }
  for (int p = 0; p < PP_MAX_PLANES; p++)
    if (layout->bound[p].height > 0 && (staged & (1u << p)) == 0)
      upload_bound (pictures, p);
}

/* ---- down ----------------------------------------------------------------- */

/* Whether the tensor is made from end to end. */
static bool
is_whole (const struct pictures *pictures, int rank)
{
  const pp_plan *plan = pictures->all->plan[pictures->order[rank]];

  return !plan->gaps &&
      (pictures->maker->recipe->facts.padding || !pp_plan_has_padding (plan));
}

static size_t
slice_at (const struct pictures *pictures, int rank)
{
  return pictures->all->slice[pictures->order[rank]];
}

/* Tensors from rank first on that are side by side and downloaded whole. */
static int
count_side_by_side (const struct pictures *pictures, int first)
{
  const size_t size = pictures->all->plan[0]->tensor_size;
  int n = 1;

  while (first + n < pictures->all->n && is_whole (pictures, first + n) &&
      slice_at (pictures, first + n) ==
          slice_at (pictures, first) + (size_t) n * size)
    n++;
  return n;
}

static void
download (const struct pictures *pictures)
{
  const size_t size = pictures->all->plan[0]->tensor_size;
  int n;

  for (int first = 0; first < pictures->all->n; first += n) {
    const size_t from = (size_t) first * size;
    const size_t to = slice_at (pictures, first);

    n = 1;
    if (!is_whole (pictures, first)) {
      const pp_plan *plan = pictures->all->plan[pictures->order[first]];

      pp_add_download (pictures->maker, plan, &plan->whole, from, to, false);
      continue;
    }
    n = count_side_by_side (pictures, first);

    pp_step *step = pp_add_step (pictures->maker, PP_OP_COPY, false);

    step->from = pp_place_at (PP_BASE_TENSOR, from);
    step->to = pp_place_at (PP_BASE_OUTPUT, to);
    step->shape = pp_copy_bytes (NULL, NULL, (size_t) n * size, false);
    pictures->maker->recipe->bytes_down += (size_t) n * size;
  }
}

/* ---- the whole ------------------------------------------------------------ */

/* Medians of one image are made in the same memory, one picture after the
 * other. */
static void
launch (const struct pictures *pictures)
{
  const int n = pictures->all->n;
  const bool one_by_one =
      pictures->layout.together && pictures->layout.medians_size > 0;

  for (int first = 0; first < n;) {
    pp_step *step = pp_add_step (pictures->maker, PP_OP_LAUNCH_PICTURES, false);

    step->first = first;
    step->last = first = one_by_one ? first + 1 : n;
  }
}

void
pp_add_pictures (struct pp_recipe_maker *maker)
{
  const pp_facts *facts = &maker->recipe->facts;
  struct pictures pictures;

  pictures.maker = maker;
  pictures.all = maker->pictures;
  sort (&pictures);
  if (facts->unified)
    pictures.layout = (pp_pictures_layout){ .together = false };
  else if (facts->source_in_place)
    pp_pictures_layout_init_in_place (&pictures.layout, pictures.all);
  else
    pp_pictures_layout_init (
        &pictures.layout, pictures.all, facts->staged, facts->stride);
  maker->recipe->all_rows = pictures.layout.together || facts->unified;
  maker->recipe->image_size = pictures.layout.size;
  maker->recipe->medians_size = pictures.layout.medians_size;
  place_launches (&pictures);
  if (!facts->source_in_place)
    upload (&pictures);
  pp_add_uploaded (maker);
  pp_add_pad (maker);
  launch (&pictures);
  pp_add_computed (maker);
  if (!facts->tensor_in_place)
    download (&pictures);
}
