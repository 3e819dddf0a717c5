/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames of random pictures whose samples tests read and write, and what
 * becomes of them.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "kernels/plan/plan.h"

#include "tests/checkkern/checkcases.h"

#define LENGTH(array) ((int) (sizeof (array) / sizeof *(array)))

/* Of values in 0...255: what rounded weights and sums may be off by. */
#define TOLERANCE 4e-3
/* Cases a property. */
#define CASES 400

/* A frame in memory of its own. */
struct frame {
  check_case check; /* format and planes */
  pp_view view;
  uint8_t *plane[PP_MAX_PLANES];
};

/* What one frame became. */
struct result {
  pp_numbers numbers;
  size_t size;
  uint8_t *tensor;
};

/* Random bytes in all planes, packed. */
struct frame make_frame (const pp_format *format, check_random *random);
void clear_frame (struct frame *frame);

/* Samples of a component. */
int columns_of (const pp_format *format, int c);
int rows_of (const pp_format *format, int c);
int get (const struct frame *frame, int c, int x, int y);
/* The bits around the value stay. */
void put (struct frame *frame, int c, int x, int y, int value);
/* All samples of to, from those dx, dy pixels further in from. */
void copy_samples (struct frame *to, const struct frame *from, int dx, int dy);

/* By the reference. Ends the program where there is no plan. */
struct result convert (
    const pp_spec *spec, const struct frame *frame, const pp_rect *source);
void clear_result (struct result *result);
/* Element (x, y) of the content; float32. */
double value_at (const struct result *result, int c, int x, int y);
/* The largest difference between contents of the same size, b flipped or not.
 */
double difference (
    const struct result *a, const struct result *b, bool flip_x, bool flip_y);

/* A random case in float32 that gives the pixels' own values; of that format,
 * or NULL for any. The same seed and number make the same case. */
check_random make_case (
    check_case *check, const char *name, uint64_t seed, int number);
/* argv's seed, or the time; says which. */
uint64_t choose_seed (int argc, char **argv);

/* EXPECT (expect.h), and what case it was. */
#define HOLDS(condition, check, ...)                                           \
  do {                                                                         \
    const bool holds = (condition);                                            \
                                                                               \
    EXPECT (holds, __VA_ARGS__);                                               \
    if (!holds)                                                                \
      check_case_print (check, stdout);                                        \
  } while (0)

#endif
