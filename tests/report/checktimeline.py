# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks a file of timeline-location with parsers that are not ours.

Arguments: the file, how many frames it has, of how many in the run, the most
streams, the most microseconds that the run took. Prints what is wrong and exits
with 1.
"""
import json
import sys
import xml.etree.ElementTree as xml

STAGES = ["upload", "kernel", "download"]


def need(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def refuse(text):
    need(False, "not JSON:", text)


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def check_json(path, recorded, frames, streams, longest):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file, parse_constant=refuse)
    need(trace["displayTimeUnit"] in ("ms", "ns"), "displayTimeUnit")
    need(trace["otherData"]["frames"] == frames, "frames", trace["otherData"])
    need(trace["otherData"]["recorded"] == recorded, trace["otherData"])

    names, spans = {}, {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                names[event["tid"]] = event["args"]["name"]
            continue
        need(event["ph"] == "X", "unknown event", event)
        stage, args = event["cat"], event["args"]
        key = args["frame"], stage
        need(key not in spans, "twice:", key)
        need(0 <= args["stream"] < streams, "stream", event)
        need(names[event["tid"]] == "stream %d %s" % (args["stream"], stage),
             "on the wrong track:", event)
        begin = nanoseconds(event["ts"])
        end = begin + nanoseconds(event["dur"])
        need(0 <= begin <= end <= nanoseconds(longest), "not in the run", event)
        spans[key] = begin, end, args["stream"]
    need(len(names) == len(set(names.values())), "tracks", names)

    need(len(spans) == len(STAGES) * recorded, len(spans), "spans")
    until = {}
    for frame in range(frames - recorded, frames):
        for stage in STAGES:
            begin, end, stream = spans[frame, stage]
            need(begin >= until.get(stream, 0), "overlap in stream", stream,
                 "frame", frame, stage)
            until[stream] = end


def check_svg(path, recorded, frames, streams, longest):
    tag = "{http://www.w3.org/2000/svg}"
    root = xml.parse(path).getroot()
    need(root.tag == tag + "svg", root.tag)
    width, height = (float(root.get(name)) for name in ("width", "height"))
    for box in root.iter(tag + "rect"):
        x, y, w, h = (float(box.get(name))
                      for name in ("x", "y", "width", "height"))
        need(x >= 0 and y >= 0 and w >= 0 and h >= 0 and x + w <= width and
             y + h <= height, "box outside:", box.attrib)
    words = []
    for text in root.iter(tag + "text"):
        content = "".join(text.itertext())
        # An average sans serif character is 0.6 times its size wide at most.
        length = 0.6 * float(text.get("font-size")) * len(content)
        x = float(text.get("x"))
        if text.get("text-anchor") == "middle":
            x -= length / 2
        need(0 <= x and x + length <= width and
             0 < float(text.get("y")) < height, "clipped:", content)
        words.append(content)
    content = " ".join(words)
    for word in ("upload", "kernel", "download", "overlap", "time in", "bottleneck"):
        need(word in content, "not in it:", word)
    need("of %d" % frames in content or frames == 0, "frames:", content)
    lanes = sum(word.startswith("stream ") for word in words)
    need(1 <= lanes <= streams, "lanes:", lanes)


path, numbers = sys.argv[1], [int(number) for number in sys.argv[2:]]
(check_json if path.endswith(".json") else check_svg)(path, *numbers)
