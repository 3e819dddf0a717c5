/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keeps threads that are still at work out of a library that the end of the
 * process takes away: programs end without stopping what they started, and a
 * driver's own handlers then pull it from under whoever is in a call.
 */
#ifndef PP_EXIT_GATE_H
#define PP_EXIT_GATE_H

#include <stdbool.h>

/* From now on the gate closes when the process exits, before what was registered
 * earlier: so call it when the library is up. Once a process is enough; any
 * thread. */
void pp_exit_gate_install (void);

/* Around every call. False: the process is ending, do not make it, and do not
 * leave. Any thread. */
bool pp_exit_gate_enter (void);
void pp_exit_gate_leave (void);

/* What the handler does: keeps everyone out and waits for those inside, but not
 * for long. */
void pp_exit_gate_close (void);

#endif
