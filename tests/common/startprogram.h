/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STARTPROGRAM_H
#define STARTPROGRAM_H

/* For sh -c, with sh, a program of this machine and its arguments behind it. The
 * kernel can start the program by itself only where the tests are not emulated; for
 * others Meson names the emulator. */
#define START_PROGRAM "exec $MESON_EXE_WRAPPER \"$@\""

#endif
