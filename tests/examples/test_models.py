# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples with models: what they print about films whose content is known.

Networks are made here: a detector that finds the first and last pixel of each
colour, and a classifier that tells colours apart. Exits with 77 where a package is
missing. With --networks and a folder it only writes them there.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    import numpy
    import onnx
    import onnxruntime  # noqa: F401
except (ImportError, ValueError) as missing:
    print("SKIP:", missing)
    sys.exit(77)

FOLDER = pathlib.Path(__file__).resolve().parent
PATIENCE = 100
WIDTH, HEIGHT = 320, 240
FRAMES = 12
FRAME_TIME = 40_000_000
# The film's 320x240 become 160x120 of it.
DETECTOR_SIDE = 160
CLASSIFIER_SIDE = 16
COLOURS = ("red", "green", "blue")


def save(path, nodes, inputs, outputs, tensors=()):
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "test",
        [value(name, onnx.TensorProto.FLOAT, shape) for name, shape in inputs],
        [value(name, onnx.TensorProto.FLOAT, shape)
         for name, shape in outputs], list(tensors))
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def constant(name, values, kind=numpy.float32):
    return onnx.numpy_helper.from_array(numpy.array(values, kind), name)


def make_detector(path):
    """For each channel, the box around the pixels that are above their mean of all
    channels there by 0.3, which gray ones never are; the score is 1 if there are
    any."""
    node = onnx.helper.make_node
    nodes = [
        node("ReduceMean", ["image"], ["mean"], axes=[1]),
        node("Sub", ["image", "mean"], ["excess"]),
        node("Greater", ["excess", "least"], ["is"]),
        node("Cast", ["is"], ["mask"], to=onnx.TensorProto.FLOAT),
        node("ReduceMax", ["mask"], ["columns"], axes=[0, 2], keepdims=0),
        node("ReduceMax", ["mask"], ["rows"], axes=[0, 3], keepdims=0),
        node("ReduceMax", ["columns"], ["scores"], axes=[1], keepdims=0),
    ]
    for edge, of, last in (("left", "columns", 0), ("top", "rows", 0),
                           ("right", "columns", 1), ("bottom", "rows", 1)):
        nodes += [node("ArgMax", [of], [edge + "_at"], axis=1,
                       select_last_index=last),
                  node("Cast", [edge + "_at"], [edge + "_pixel"],
                       to=onnx.TensorProto.FLOAT),
                  node("Add", [edge + "_pixel", "one" if last else "zero"],
                       [edge])]
    nodes.append(node("Concat", ["left", "top", "right", "bottom"], ["boxes"],
                      axis=1))
    save(path, nodes, [("image", [1, 3, DETECTOR_SIDE, DETECTOR_SIDE])],
         [("boxes", [3, 4]), ("scores", [3])],
         [constant("least", 0.3), constant("zero", 0), constant("one", 1)])


def make_classifier(path, side):
    """The scores are the means of the channels."""
    node = onnx.helper.make_node
    save(path, [node("GlobalAveragePool", ["images"], ["means"]),
                node("Flatten", ["means"], ["scores"])],
         [("images", ["n", 3, side, side])], [("scores", ["n", 3])])


def box_of(colour, number):
    """Where it is in a frame, which is not everywhere the same; None: nowhere."""
    if (number + colour) % 4 == 3:
        return None
    left, top = 16 + 24 * number % 120 + 80 * colour, 8 + 60 * colour
    return left, top, left + 40 + 4 * colour, top + 32


def make_film(path, paint):
    """Frames of JPEG in AVI, painted by a function of their number."""
    pipeline = Gst.parse_launch(
        "appsrc name=source format=time caps=video/x-raw,format=RGB,"
        f"width={WIDTH},height={HEIGHT},framerate=25/1 ! jpegenc quality=100 "
        f'! avimux ! filesink location="{path}"')
    source = pipeline.get_by_name("source")
    pipeline.set_state(Gst.State.PLAYING)
    for number in range(FRAMES):
        frame = numpy.full((HEIGHT, WIDTH, 3), 60, numpy.uint8)
        paint(frame, number)
        buffer = Gst.Buffer.new_wrapped(frame.tobytes())
        buffer.pts, buffer.duration = number * FRAME_TIME, FRAME_TIME
        source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    message = pipeline.get_bus().timed_pop_filtered(
        PATIENCE * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message is not None and message.type == Gst.MessageType.EOS


def paint_boxes(frame, number):
    for colour in range(3):
        box = box_of(colour, number)
        if box is not None:
            left, top, right, bottom = box
            frame[top:bottom, left:right] = 0
            frame[top:bottom, left:right, colour] = 255


def run(example, *arguments):
    """The lines that it prints, in words."""
    done = subprocess.run(
        [sys.executable, FOLDER / example, *map(str, arguments)],
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{example}: {done.returncode}\n{done.stderr}")
    return [line.split() for line in done.stdout.splitlines()]


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_second_model(self):
        make_detector(self.folder / "detector.onnx")
        make_classifier(self.folder / "classifier.onnx", CLASSIFIER_SIDE)
        make_film(self.folder / "film.avi", paint_boxes)
        lines = run("second_model.py", self.folder / "film.avi",
                    self.folder / "detector.onnx",
                    self.folder / "classifier.onnx")
        self.assertEqual(len(lines), FRAMES)
        # A pixel of the detector is this many of the frame.
        step = WIDTH / DETECTOR_SIDE
        for number, (pts, *things) in enumerate(lines):
            self.assertEqual(int(pts), number * FRAME_TIME)
            expected = {colour: box_of(colour, number) for colour in range(3)}
            expected = {colour: box for colour, box in expected.items() if box}
            found = {}
            for thing in things:
                colour, box = thing.split(":")
                found[int(colour)] = [int(edge) for edge in box.split(",")]
            self.assertEqual(len(things), len(expected), things)
            self.assertEqual(found.keys(), expected.keys())
            for colour, box in found.items():
                difference = numpy.abs(numpy.subtract(box, expected[colour]))
                self.assertLessEqual(difference.max(), step + 1,
                                     f"frame {number}, {COLOURS[colour]}")

    def test_four_files(self):
        make_classifier(self.folder / "model.onnx", 32)
        files = []
        for file in range(4):
            files.append(self.folder / f"{file}.avi")
            # A colour of its own in each frame of each file.
            make_film(files[-1], lambda frame, number: frame[
                :, :, (number + file) % 3].fill(255))
        lines = run("four_files.py", self.folder / "model.onnx", *files)
        self.assertEqual(len(lines), FRAMES)
        for number, line in enumerate(lines):
            self.assertEqual(line, [
                f"{file}:{number * FRAME_TIME}:{(number + file) % 3}"
                for file in range(4)])


if __name__ == "__main__":
    Gst.init([])
    if sys.argv[1:2] == ["--networks"]:
        folder = pathlib.Path(sys.argv[2])
        make_detector(folder / "detector.onnx")
        make_classifier(folder / "classifier.onnx", CLASSIFIER_SIDE)
        make_classifier(folder / "model.onnx", 32)
    else:
        unittest.main(verbosity=2)
