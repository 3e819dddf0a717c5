/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Recipes as text.
 */
#include <stdarg.h>
#include <stdio.h>

#include "kernels/table.h"
#include "recipe.h"

static const char *const bases[] = {
  [PP_BASE_PLANE] = "plane0",
  [PP_BASE_PLANE + 1] = "plane1",
  [PP_BASE_PLANE + 2] = "plane2",
  [PP_BASE_PLANE + 3] = "plane3",
  [PP_BASE_STAGING] = "staging",
  [PP_BASE_PINNED_TABLES] = "pinned-tables",
  [PP_BASE_INDEX] = "index",
  [PP_BASE_WEIGHT] = "weight",
  [PP_BASE_IMAGE] = "image",
  [PP_BASE_MEDIANS] = "medians",
  [PP_BASE_TENSOR] = "tensor",
  [PP_BASE_OUTPUT] = "output",
};
_Static_assert(sizeof bases / sizeof bases[0] == PP_N_BASES, "a name a base");

static const char *const marks[] = {
  [PP_MARK_START] = "start",
  [PP_MARK_UPLOADED] = "uploaded",
  [PP_MARK_COMPUTED] = "computed",
  [PP_MARK_DONE] = "done",
  [PP_MARK_INPUT_READ] = "input-read",
  [PP_MARK_END] = "end",
  [PP_MARK_UPPER_UPLOADED] = "upper-uploaded",
  [PP_MARK_UPPER_DONE] = "upper-done",
  [PP_MARK_AFTER] = "after",
};
_Static_assert(sizeof marks / sizeof marks[0] == PP_N_MARKS, "a name a mark");

struct text {
  char *to;
  size_t length, size;
};

__attribute__ ((format (printf, 2, 3))) static void
add (struct text *text, const char *format, ...)
{
  va_list arguments;

  if (text->length + 1 >= text->size)
    return;
  va_start (arguments, format);
  const int n = vsnprintf (
      text->to + text->length, text->size - text->length, format, arguments);
  va_end (arguments);
  if (n > 0)
    text->length += (size_t) n;
}

static void
add_copy (struct text *text, const pp_step *step)
{
  const pp_copy *c = &step->shape;

  add (text, "copy %s+%zu -> %s+%zu: %zu", bases[step->from.base],
      step->from.offset, bases[step->to.base], step->to.offset, c->width);
  if (c->rows > 1)
    add (text, " x %zu rows (%zu -> %zu)", c->rows, c->from_row, c->to_row);
  if (c->boxes > 1)
    add (text, " x %zu boxes (%zu -> %zu)", c->boxes, c->from_box, c->to_box);
  add (text, "%s\n", step->tables ? ", unless there" : "");
}

static void
add_gathers (struct text *text, const pp_recipe *recipe, const pp_step *step)
{
  for (int i = step->first; i < step->last; i++) {
    const pp_gather_step *g = &recipe->gather[i];
    add (text, "%s %s+%zu -> %s+%zu: %zu x %d rows (%zu -> %zu) of %s+%zu",
        i == step->first ? "gather" : ",", bases[g->from.base], g->from.offset,
        bases[g->to.base], g->to.offset, g->shape.width, (int) g->shape.n_rows,
        g->shape.from_row, g->shape.to_row, bases[g->rows.base],
        g->rows.offset);
  }
  add (text, "\n");
}

static void
add_pad (struct text *text, const pp_facts *facts)
{
  add (text, facts->padding_only ? "fill pictures" : "pad pictures");
  for (int i = 0; i < PP_MAX_PICTURES; i++)
    if ((facts->pad >> i & 1) != 0)
      add (text, " %d", i);
  add (text, "\n");
}

void
pp_recipe_describe (const pp_recipe *recipe, char *to, size_t size)
{
  struct text text = { .to = to, .size = size };

  if (size > 0)
    to[0] = '\0';
  for (int i = 0; i < recipe->n_steps; i++) {
    const pp_step *step = &recipe->step[i];
    add (&text, "%s", step->second ? "second: " : "");
    switch (step->op) {
      case PP_OP_COPY:
        add_copy (&text, step);
        break;
      case PP_OP_GATHER:
        add_gathers (&text, recipe, step);
        break;
      case PP_OP_LAUNCH:
        add (&text, "launch rows %d to %d\n", (int) step->first,
            (int) step->last);
        break;
      case PP_OP_LAUNCH_PICTURES:
        add (&text, "launch pictures %d to %d%s\n", (int) step->first,
            (int) step->last, recipe->facts.padding ? " with padding" : "");
        break;
      case PP_OP_PAD:
        add_pad (&text, &recipe->facts);
        break;
      case PP_OP_RECORD:
        add (&text, "record %s\n", marks[step->mark]);
        break;
      case PP_OP_WAIT:
        add (&text, "wait for %s\n", marks[step->mark]);
        break;
      case PP_N_OPS:
        break;
    }
  }
}
