/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "device_memory.h"

#include "cuda_memory.h"
#include "gst/debug.h"

void
gst_pp_device_block_init (GstPpDeviceBlock *block, pp_arena *arena,
    pp_arena *host, gpointer data, gsize size)
{
  *block = (GstPpDeviceBlock){
    .arena = arena, .host = pp_arena_ref (host), .data = data, .size = size
  };
  g_mutex_init (&block->lock);
}

void
gst_pp_device_block_clear (GstPpDeviceBlock *block)
{
  pp_arena_free (block->host, block->copy, block->size);
  pp_arena_unref (&block->host);
  g_mutex_clear (&block->lock);
}

void
gst_pp_device_block_forget_copy (GstPpDeviceBlock *block)
{
  g_mutex_lock (&block->lock);
  block->current = FALSE;
  block->lost = FALSE;
  g_mutex_unlock (&block->lock);
}

/* With the lock held. */
static gboolean
download (GstPpDeviceBlock *block, pp_error *error)
{
  if (block->copy == NULL)
    block->copy = pp_arena_alloc (block->host, block->size, error);
  if (block->copy == NULL ||
      pp_arena_download (
          block->arena, block->data, block->copy, block->size, error) != PP_OK)
    return FALSE;
  block->current = block->writers == 0;
  return TRUE;
}

gpointer
gst_pp_device_block_map (GstPpDeviceBlock *block, GstMapFlags flags)
{
  gpointer data = NULL;
  pp_error error;

  g_mutex_lock (&block->lock);
  if (block->lost) {
    GST_WARNING ("what was written to the tensor did not get to the device");
  } else if (flags & GST_PP_MAP_CUDA) {
    data = block->data;
    if (flags & GST_MAP_WRITE) {
      block->current = FALSE;
      block->writers++;
    }
  } else if (block->current || download (block, &error)) {
    data = block->copy;
  } else {
    GST_WARNING ("tensor was not downloaded: %s", error.text);
  }
  g_mutex_unlock (&block->lock);
  return data;
}

void
gst_pp_device_block_unmap (GstPpDeviceBlock *block, GstMapFlags flags)
{
  pp_error error;

  if ((flags & GST_MAP_WRITE) == 0)
    return;
  g_mutex_lock (&block->lock);
  if (flags & GST_PP_MAP_CUDA) {
    block->current = FALSE;
    block->writers--;
  } else if (pp_arena_upload (block->arena, block->data, block->copy,
                 block->size, &error) != PP_OK) {
    GST_WARNING ("tensor was not uploaded: %s", error.text);
    block->lost = TRUE;
  }
  g_mutex_unlock (&block->lock);
}
