/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A golden case (golden/README.md), for the programs that run all of them. Caps,
 * buffers and properties are read by the element's own functions.
 */
#ifndef GOLDENCASE_H
#define GOLDENCASE_H

#include "gst/buffers/input.h"

/* The columns of cases.tsv, in order. */
enum column {
  NAME,
  LIBRARY,
  INPUT,
  FORMAT,
  WIDTH,
  HEIGHT,
  COLORIMETRY,
  CHROMA_SITE,
  PROPERTIES,
  EXPECTED,
  DIMS,
  TYPE,
  MAX_ABS,
  MEAN_ABS,
  REASON,
  N_COLUMNS
};

typedef struct {
  gchar **columns;
  const gchar *folder; /* of cases.tsv */
  pp_spec spec;
  pp_format format;
  GstPpInput frame; /* mapped */
  gboolean mapped;
} GoldenCase;

/* The lines of cases.tsv without the header; g_strfreev. NULL after printing what
 * is wrong with it. */
gchar **golden_read (const gchar *path);

/* Reads a line; folder outlives the case. FALSE after printing what is wrong. Clear
 * it in either case. */
gboolean golden_case_init (
    GoldenCase *golden, const gchar *line, const gchar *folder);
void golden_case_clear (GoldenCase *golden);

/* A file of exactly size bytes, beside cases.tsv; free it. NULL after printing what
 * is wrong. */
gchar *golden_load (const GoldenCase *golden, const gchar *name, gsize size);

#endif
