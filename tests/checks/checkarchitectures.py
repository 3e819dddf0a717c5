#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which GPUs a plugin has code for: every one from Turing on that nvcc knows, and
PTX of the newest for what comes. Arguments: the plugin and what nvcc listed when
the build was configured (nvcc --list-gpu-code)."""

import re
import struct
import sys

TURING = 75
# A fat binary, one for each .cu file: magic, version, bytes of this header, bytes
# that follow. Then entries: kind, bytes of their header and of their code; the
# architecture is at byte 28. As nvcc 11 to 13 write them; NVIDIA does not
# document it, but it is what cuobjdump --list-elf and --list-ptx show.
FAT_HEADER = struct.Struct("<IHHQ")
MAGIC, VERSION = 0xBA55ED50, 1
ENTRY = struct.Struct("<HxxIQ12xI")
PTX, ELF = 1, 2


def entries(data, start, end):
    """Kind and architecture of each entry."""
    while start < end:
        kind, header, size, architecture = ENTRY.unpack_from(data, start)
        yield kind, architecture
        start += header + size


def fat_binaries(data):
    """The entries of each."""
    magic = struct.pack("<IH", MAGIC, VERSION)
    at = data.find(magic)
    while at >= 0:
        _, _, header, size = FAT_HEADER.unpack_from(data, at)
        yield list(entries(data, at + header, at + header + size))
        at = data.find(magic, at + header + size)


def main():
    with open(sys.argv[1], "rb") as file:
        found = list(fat_binaries(file.read()))
    # Names with a letter are variants.
    numbers = [re.fullmatch(r"sm_(\d+)", code) for code in sys.argv[2:]]
    known = {int(n[1]) for n in numbers if n and int(n[1]) >= TURING}
    print("nvcc knows", sorted(known))
    failed = not found or not known
    for binary in found:
        code = {architecture for kind, architecture in binary if kind == ELF}
        ptx = {architecture for kind, architecture in binary if kind == PTX}
        print("code for", sorted(code), "PTX of", sorted(ptx))
        failed = failed or code != known or ptx != {max(known)}
    return failed


if __name__ == "__main__":
    sys.exit(main())
