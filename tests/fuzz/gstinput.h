/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What targets that use GStreamer have in common.
 */
#ifndef GSTINPUT_H
#define GSTINPUT_H

#include <gst/gst.h>
#include <signal.h>

#include "input.h"

/* GLib traps where it complains, and libFuzzer keeps no input for that. */
static void
on_trap (int number)
{
  (void) number;
  abort ();
}

/* Whoever makes GLib or GStreamer complain is at fault. Plugins are not looked
 * for: none is used. */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  (void) argc;
  (void) argv;
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  /* Threads of pools stay: what one that is ending still has would be a leak. */
  g_thread_pool_set_max_unused_threads (-1);
  g_thread_pool_set_max_idle_time (0);
  signal (SIGTRAP, on_trap);
  g_log_set_always_fatal (
      (GLogLevelFlags) (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
  return 0;
}

/* The bytes up to the next end of a line, as a string; free it. */
static inline gchar *
take_line (input *in)
{
  const size_t left = in->size;
  const uint8_t *end = left > 0 ? memchr (in->data, '\n', left) : NULL;
  const size_t length = end != NULL ? (size_t) (end - in->data) : left;
  gchar *line = g_strndup (left > 0 ? (const gchar *) in->data : "", length);

  in->data += end != NULL ? length + 1 : length;
  in->size -= end != NULL ? length + 1 : length;
  return line;
}

/* Caps of a line, or NULL. GStreamer's parser complains by itself. */
static inline GstCaps *
parse_caps (const gchar *line)
{
  const GLogLevelFlags fatal = g_log_set_always_fatal ((GLogLevelFlags) 0);
  GstCaps *caps = gst_caps_from_string (line);

  g_log_set_always_fatal (fatal);
  return caps;
}

/* A refusal says why. */
static inline void
must_be_reason (gchar *reason)
{
  MUST (reason != NULL && *reason != '\0', "no reason");
  g_free (reason);
}

#endif
