#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The layers, from the symbols of the object files: no circle of files that use
each other, neither in the engine nor in the element; and the element uses only
functions of the engine that its public header declares.

Usage: checkobjects.py NM HEADER ENGINE ELEMENT...
       checkobjects.py --self-test
NM lists symbols; HEADER is kernels/preproc.h; ENGINE is an archive, ELEMENT are
archives and object files."""

import collections
import pathlib
import re
import subprocess
import sys

# What nm calls symbols that exactly one object defines: text, data, zeroed,
# read-only, small and common ones, and functions chosen when they are loaded.
# Weak ones, such as C++'s inline functions, are in each object that uses them.
DEFINED = set("TDBRGSCi")
UNDEFINED = "U"

Object = collections.namedtuple("Object", "defines uses")


def read_symbols(listing):
    """Object files by name, from what nm -A -P -g prints: archive[object]: or
    object:, then name, type, value and size."""
    objects = {}
    for line in listing.splitlines():
        where, _, symbol = line.partition(": ")
        name, kind = symbol.split()[:2]
        inside = re.search(r"\[(.*)\]$", where)
        file = pathlib.PurePath(inside[1] if inside else where).name
        found = objects.setdefault(file.removesuffix(".o"), Object(set(), set()))
        if kind in DEFINED:
            found.defines.add(name)
        elif kind == UNDEFINED:
            found.uses.add(name)
    return objects


def make_graph(objects):
    """For each object the others that it uses, and by which symbols."""
    home = {s: file for file, found in objects.items() for s in found.defines}
    graph = {file: {} for file in objects}
    for file, found in objects.items():
        for symbol in sorted(found.uses & home.keys()):
            if home[symbol] != file:
                graph[file].setdefault(home[symbol], []).append(symbol)
    return graph


def shortest_way(graph, start, end):
    """The files from start to end, both included; None: there is no way."""
    before, queue = {start: None}, collections.deque([start])
    while queue:
        file = queue.popleft()
        if file == end:
            way = [file]
            while before[way[-1]] is not None:
                way.append(before[way[-1]])
            return way[::-1]
        for other in graph[file]:
            if other not in before:
                before[other] = file
                queue.append(other)
    return None


def find_circles(graph):
    """For each use that is part of a circle, the shortest one it is part of; each
    circle once, shortest first, as the files in order of use."""
    circles = set()
    for file, used in graph.items():
        for other in used:
            way = shortest_way(graph, other, file)
            if way:
                first = way.index(min(way))
                circles.add(tuple(way[first:] + way[:first]))
    return sorted(circles, key=lambda circle: (len(circle), circle))


def describe_circle(graph, circle):
    lines = [f"circle of {len(circle)}: " + " -> ".join([*circle, circle[0]])]
    for file, other in zip(circle, circle[1:] + circle[:1]):
        lines.append(f"  {file} uses {', '.join(graph[file][other])} of {other}")
    return "\n".join(lines)


def read_declared(header):
    """Every name in a C header but those in comments."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header, flags=re.DOTALL)
    return set(re.findall(r"\b[A-Za-z_]\w*\b", code))


def find_undeclared(element, engine, declared):
    """(object of the element, symbol, object of the engine), where the header does
    not declare the symbol; and how many symbols of the engine are used."""
    home = {s: file for file, found in engine.items() for s in found.defines}
    uses = [
        (file, symbol, home[symbol])
        for file, found in sorted(element.items())
        for symbol in sorted(found.uses & home.keys())
    ]
    return [use for use in uses if use[1] not in declared], len(uses)


def check(engine, element, header):
    """What is wrong, as lines; none: nothing."""
    wrong = []
    for layer, objects in (("engine", engine), ("element", element)):
        graph = make_graph(objects)
        n_uses = sum(len(used) for used in graph.values())
        print(f"{layer}: {len(objects)} objects, {n_uses} uses of each other")
        # Nothing found would be no proof of anything.
        if n_uses == 0:
            wrong.append(f"{layer}: no object uses another: no symbols were read")
        circles = find_circles(graph)
        wrong += [describe_circle(graph, circle) for circle in circles]
    undeclared, n_uses = find_undeclared(element, engine, read_declared(header))
    print(f"{n_uses} uses of the engine by the element")
    if n_uses == 0:
        wrong.append("the element uses nothing of the engine: no symbols were read")
    for file, symbol, home in undeclared:
        wrong.append(f"{file} uses {symbol} of {home}, which the header lacks")
    return wrong


# --self-test: layers without a fault, then one with each.

ENGINE = """
lib.a[plan.o]: pp_plan T 0 10
lib.a[plan.o]: pp_taps U
lib.a[plan.o]: memcpy U
lib.a[taps.o]: pp_taps T 0 10
lib.a[taps.o]: pp_inline W 0 10
lib.a[job.o]: pp_job T 0 10
lib.a[job.o]: pp_plan U
lib.a[job.o]: pp_inline W 0 10
lib.a[job.o]: pp_chosen U
lib.a[clones.o]: pp_chosen i 0 10
"""
ELEMENT = """
libelement.a[frame.o]: gst_frame T 0 10
libelement.a[frame.o]: pp_plan U
element/plugin.o: gst_frame U
element/plugin.o: gst_plugin R 0 10
"""
HEADER = """
pp_job *pp_plan (void); /* made of pp_taps */
// and pp_chosen
"""
FAULTS = [
    # what is added to engine and element, and the words that must be said
    ("lib.a[taps.o]: pp_plan U", "", "circle of 2: plan -> taps -> plan"),
    ("lib.a[taps.o]: pp_job U", "", "circle of 3: job -> plan -> taps -> job"),
    ("lib.a[clones.o]: pp_job U", "", "clones uses pp_job of job"),
    ("", "lib.a[frame.o]: gst_plugin U", "circle of 2: frame -> plugin -> frame"),
    ("", "lib.a[frame.o]: pp_taps U", "frame uses pp_taps of taps, which"),
    ("", "a/plugin.o: pp_chosen U", "plugin uses pp_chosen of clones, which"),
]


def self_test():
    wrong = check(
        *(read_symbols(text.strip()) for text in (ENGINE, ELEMENT)), HEADER
    )
    failed = [f"without a fault: {line}" for line in wrong]
    for engine, element, words in FAULTS:
        wrong = check(
            read_symbols((ENGINE + engine).strip()),
            read_symbols((ELEMENT + element).strip()),
            HEADER,
        )
        if len(wrong) != 1 or words not in wrong[0]:
            failed.append(f"{engine or element}: {wrong}, not {words}")
    if len(check({}, {}, "")) != 3:
        failed.append("no symbols were taken for no fault")
    return failed


def list_symbols(nm, files):
    command = [nm, "-A", "-P", "-g", *files]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    return read_symbols(listed.stdout)


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
    else:
        nm, header, engine, *element = sys.argv[1:]
        wrong = check(
            list_symbols(nm, [engine]),
            list_symbols(nm, element),
            pathlib.Path(header).read_text(),
        )
    print(*wrong, sep="\n")
    print(f"{len(wrong)} found")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
