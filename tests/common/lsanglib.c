/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tells the leak checker of the address sanitizer about the table of GLib's
 * quarks. GLib makes it when it is loaded, and when it is full, makes another and
 * keeps the first, which threads may be reading, without a pointer to it. A
 * suppression cannot name it: that needs complete stacks, which take five to ten
 * times as long, since libraries have no frame pointers.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of the sanitizer; gcc has no header with the first two. */
int __sanitizer_get_ownership (const volatile void *block);
size_t __sanitizer_get_allocated_size (const volatile void *block);
void __lsan_ignore_object (const void *block);

/* Bytes of the first table. */
#define TABLE_SIZE (2048 * sizeof (void *))

/* Ignores blocks of that size that variables of GLib's point to. */
static int
ignore_tables (struct dl_phdr_info *object, size_t size, void *data)
{
  (void) size;
  (void) data;
  if (strstr (object->dlpi_name, "/libglib-2.0.so") == NULL)
    return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW (Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_W) == 0)
      continue;
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    const uintptr_t end = begin + part->p_memsz - sizeof (void *);
    for (uintptr_t at = (begin + 7) / 8 * 8; at <= end; at += 8) {
      const void *block = *(void *const *) at;
      if (__sanitizer_get_ownership (block) &&
          __sanitizer_get_allocated_size (block) == TABLE_SIZE)
        __lsan_ignore_object (block);
    }
  }
  return 1;
}

/* GLib's own constructors have run, but no code that adds quarks. */
static void __attribute__ ((constructor)) ignore_glib (void)
{
  dl_iterate_phdr (ignore_tables, NULL);
}
