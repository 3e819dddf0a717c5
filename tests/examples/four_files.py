#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Example: a frame of each of several files in one call of a model.

    python3 four_files.py MODEL.onnx FILE FILE FILE FILE

The model takes a batch of images, N x 3 x h x w, RGB in 0...1, and gives scores,
N x classes. Prints of each call the files that had a frame, its time in the file,
and its class. Files that are over leave their place in the batch empty.
"""

import sys

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: F401
import onnxruntime

import cudapreproc


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    Gst.init([])
    files = sys.argv[2:]
    session = onnxruntime.InferenceSession(
        sys.argv[1], providers=["CPUExecutionProvider"])
    (image,) = session.get_inputs()
    _, _, height, width = image.shape
    pipeline = Gst.parse_launch(
        f"cudapreprocmux name=mux batch-size={len(files)} width={width} "
        f"height={height} fit=letterbox ! queue "
        "! appsink name=tensors sync=false enable-last-sample=false " +
        " ".join(f'filesrc location="{file}" ! decodebin ! queue ! '
                 f"mux.sink_{number}" for number, file in enumerate(files)))
    tensors = cudapreproc.tensors(pipeline.get_by_name("tensors"))
    pipeline.set_state(Gst.State.PLAYING)
    try:
        for tensor in tensors:
            (scores,) = session.run(None, {image.name: tensor.numpy()})
            print(*(f"{picture.index}:{picture.pts}:"
                    f"{scores[picture.index].argmax()}"
                    for picture in tensor.pictures), flush=True)
    finally:
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
