# SPDX-License-Identifier: LGPL-2.1-or-later
"""Example: a camera's tensors, for as long as you like. camera.c in Python.

The camera may go away and come back, fall silent, change its size, and send more
than the network takes: then old frames are dropped. Ctrl-C ends it.
Argument: rtsp://..., or what else cudapreproc.open takes.
"""
import sys
import time

import cudapreproc

SILENCE = 5      # s, then the camera counts as gone
FIRST_WAIT = 0.5  # s before another attempt, doubled
LONGEST_WAIT = 8


def infer(tensor, picture):
    """Yours: the network, on the array of 1 x 3 x 640 x 640. A box that it finds
    is mapped back to the frame with picture.boxes_to_frame."""


def watch(source):
    """Until the camera is gone; whether it was there at all."""
    seen, count, reported, size = False, 0, time.monotonic(), None
    try:
        with cudapreproc.open(source, latest=True, preset="yolo", width=640,
                              height=640) as stream:
            while (tensor := stream.pull(SILENCE)) is not None:
                picture = tensor.pictures[0]
                infer(tensor.numpy(), picture)
                seen, count = True, count + 1
                if picture.src[2:] != size:
                    size = picture.src[2:]
                    print("frames of {}x{}".format(*size), flush=True)
                if time.monotonic() >= reported + 1:
                    print(count, "tensors", flush=True)
                    count, reported = 0, time.monotonic()
            print("the stream ended" if stream.ended else
                  f"no tensor for {SILENCE} s", flush=True)
    except cudapreproc.Error as error:
        print(error, flush=True)
    return seen


def main():
    wait = FIRST_WAIT
    while True:
        wait = FIRST_WAIT if watch(sys.argv[1]) else min(wait * 2, LONGEST_WAIT)
        print(f"again in {wait:g} s", flush=True)
        time.sleep(wait)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} URI")
    try:
        main()
    except KeyboardInterrupt:
        pass
