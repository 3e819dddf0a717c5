#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Example: a detector over a film, and a second model for what it found.

    python3 second_model.py FILM DETECTOR.onnx CLASSIFIER.onnx

The detector takes one image, 1 x 3 x h x w, and gives boxes (n x 4: left, top,
right, bottom in its image's pixels) and scores (n). The classifier takes a batch of
images, N x 3 x h x w, and gives scores, N x classes. Both images are RGB in 0...1.
Prints each frame's time, and of each thing its class and where it is in the frame.
"""

import sys

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: F401
import numpy
import onnxruntime

import cudapreproc

SINK = "sync=false enable-last-sample=false"
COPY_ALL = (Gst.BufferCopyFlags.FLAGS | Gst.BufferCopyFlags.TIMESTAMPS |
            Gst.BufferCopyFlags.META | Gst.BufferCopyFlags.MEMORY)


def open_model(path):
    """The model, the name of its input, and that one's shape."""
    session = onnxruntime.InferenceSession(
        path, providers=["CPUExecutionProvider"])
    (image,) = session.get_inputs()
    return session, image.name, image.shape


class Detector:
    """Frames of a film, each with the boxes that the model finds in it."""

    def __init__(self, film, model):
        self.session, self.input, (_, _, height, width) = open_model(model)
        # The frames wait for the tensors, of which some are under way.
        self.pipeline = Gst.parse_launch(
            f'filesrc location="{film}" ! decodebin ! tee name=t '
            f"t. ! queue ! cudapreproc width={width} height={height} "
            f"fit=letterbox ! appsink name=tensors max-buffers=4 {SINK} "
            "t. ! queue max-size-buffers=100 max-size-bytes=0 max-size-time=0 "
            f"! appsink name=frames max-buffers=1 {SINK}")

    def __iter__(self):
        """Of each frame a sample, its size, and boxes in it."""
        frames = self.pipeline.get_by_name("frames")
        tensors = cudapreproc.tensors(self.pipeline.get_by_name("tensors"))
        self.pipeline.set_state(Gst.State.PLAYING)
        try:
            for tensor in tensors:
                (picture,) = tensor.pictures
                boxes, scores = self.session.run(
                    None, {self.input: tensor.numpy()})
                yield (frames.pull_sample(), picture.src[2:],
                       picture.boxes_to_frame(boxes[scores > 0.5]))
        finally:
            self.pipeline.set_state(Gst.State.NULL)


class Classifier:
    """Classes of regions of frames, as many at once as the model takes."""

    def __init__(self, model):
        self.session, self.input, shape = open_model(model)
        # Where the model takes any number, eight.
        batch = shape[0] if isinstance(shape[0], int) else 8
        self.pipeline = Gst.parse_launch(
            "appsrc name=frames format=time ! cudapreproc regions=meta "
            f"batch-size={batch} width={shape[3]} height={shape[2]} "
            f"! appsink name=tensors {SINK}")
        self.frames = self.pipeline.get_by_name("frames")
        self.tensors = cudapreproc.tensors(
            self.pipeline.get_by_name("tensors"))
        self.pipeline.set_state(Gst.State.PLAYING)

    def classify(self, sample, boxes):
        """The class of each box, which is in the frame and not empty."""
        # Another buffer with the same memory, which metas can be added to.
        # PyGObject's copy() would be the same buffer.
        buffer = sample.get_buffer()
        frame = buffer.copy_region(COPY_ALL, 0, buffer.get_size())
        for number, box in enumerate(boxes):
            left, top, right, bottom = (int(edge) for edge in box)
            region = GstVideo.buffer_add_video_region_of_interest_meta(
                frame, "thing", left, top, right - left, bottom - top)
            region.id = number
        self.frames.push_sample(
            Gst.Sample.new(frame, sample.get_caps(), None, None))
        classes = {}
        while len(classes) < len(boxes):
            tensor = self.tensors.pull()
            (scores,) = self.session.run(None, {self.input: tensor.numpy()})
            for picture in tensor.pictures:
                classes[picture.region.id] = scores[picture.index].argmax()
        return [classes[number] for number in range(len(boxes))]

    def close(self):
        self.pipeline.set_state(Gst.State.NULL)


def cut(boxes, size):
    """In whole pixels of the frame, without those outside."""
    boxes = numpy.concatenate(
        (numpy.floor(boxes[:, :2]), numpy.ceil(boxes[:, 2:])), axis=1)
    boxes = boxes.clip(0, [*size, *size])
    return boxes[(boxes[:, 2:] > boxes[:, :2]).all(axis=1)]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    Gst.init([])
    film, detector, model = sys.argv[1:]
    classifier = Classifier(model)
    for sample, size, boxes in Detector(film, detector):
        boxes = cut(boxes, size)
        classes = classifier.classify(sample, boxes) if len(boxes) > 0 else []
        print(sample.get_buffer().pts, *(
            f"{what}:{','.join(str(int(edge)) for edge in box)}"
            for what, box in zip(classes, boxes)), flush=True)
    classifier.close()


if __name__ == "__main__":
    main()
