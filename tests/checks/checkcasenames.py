#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the tests that README.md names for each case are there: `file: name` is
test_name in file.c, as is each name that follows with a comma. Argument: the
folder of the tests."""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
sources = {path.name: path for path in folder.rglob("*") if path.suffix in (".c", ".py")}
named, missing = 0, []


def expect(name, there):
    global named
    named += 1
    if not there:
        missing.append(name)


cases = (folder / "README.md").read_text().split("\n## Cases\n")[1]
for line in re.findall(r"^\|.*", cases, re.MULTILINE):
    for part in line.rpartition(" | ")[2].split(";"):
        program = None
        for code in re.findall("`([^`]+)`", part):
            match = re.fullmatch(r"(?:((?:element|test)-\w+): )?(\w+)", code)
            if match and (match[1] or program):
                program = match[1] or program
                source = sources.get(f"{program}.c")
                there = source and re.search(
                    rf"^(GST_START_TEST \()?test_{match[2]}\b",
                    source.read_text(),
                    re.MULTILINE,
                )
                expect(f"{program}: {match[2]}", there)
            elif re.fullmatch(r"[\w/-]+\.(c|py)", code):
                expect(code, code in sources or (folder / code).exists())

for name in missing:
    print(f"{name}: named in README.md, not there")
print(f"{named - len(missing)} passed, {len(missing)} failed")
sys.exit(bool(missing) or named == 0)
