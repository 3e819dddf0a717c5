/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables with one row for each value of an enumeration, indexed by the value.
 */
#ifndef PP_TABLE_H
#define PP_TABLE_H

/* Rows of an array. */
#define PP_LENGTH(array) (sizeof (array) / sizeof *(array))

/* Stops the compiler when an enumeration of count values has grown and the
 * table has not. The table must be an array whose length is not given. */
#define PP_CHECK_TABLE(table, count)                                           \
  _Static_assert(PP_LENGTH (table) == (count),                                 \
      #table " needs one row for each value of the enumeration, " #count)

#endif
