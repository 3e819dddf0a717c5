/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keeps threads from calling CUDA while the process exits. Programs may exit
 * with pipelines that still run. The driver then unloads itself, and a thread
 * that is in one of its calls would crash. All calls of CUDA go through this
 * gate; it closes when the process exits.
 */
#ifndef PP_EXIT_GATE_H
#define PP_EXIT_GATE_H

#include <stdbool.h>

/* Registers the handler that closes the gate when the process exits. Handlers
 * run in reverse order, so call this after the driver has started and
 * registered its own. Further calls do nothing. Any thread. */
void pp_exit_gate_install (void);

/* Enter before a call of CUDA, leave after it. If enter returns false, the
 * process is exiting: make no call, and do not leave. Any thread. */
bool pp_exit_gate_enter (void);
void pp_exit_gate_leave (void);

/* Closes the gate and waits until no thread is inside, at most a second. The
 * handler calls it; tests do, too. */
void pp_exit_gate_close (void);

#endif
