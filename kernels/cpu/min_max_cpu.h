/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PP_MIN_MAX_CPU_H
#define PP_MIN_MAX_CPU_H

static inline int
max_int (int a, int b)
{
  return a > b ? a : b;
}

static inline int
min_int (int a, int b)
{
  return a < b ? a : b;
}

#endif
