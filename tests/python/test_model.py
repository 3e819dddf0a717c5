# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model gives the same answer behind the element as behind its training code.

For each preset: the frames of a film, once through the element and once through
Pillow or OpenCV as training code does it, into one network run by ONNX Runtime.
Exits with 77 where one of these is missing.
"""

import pathlib
import sys
import unittest

try:
    import cv2
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import Gst, GstApp
    import numpy
    import onnx
    import onnxruntime
    import PIL.Image
except (ImportError, ValueError) as missing:
    print("SKIP:", missing)
    sys.exit(77)

import cudapreproc

# Odd sizes: nothing fits by chance.
FILM = pathlib.Path(__file__).parents[1] / "media" / "bunny_641x361_vp9.webm"
WIDTH, HEIGHT = 224, 192
CLASSES = 10


def numbers(*values):
    """One number a channel of an image of shape (h, w, 3)."""
    return numpy.array(values, numpy.float32)


def normalise(image, scale, mean, std):
    """An image of shape (h, w, 3) as the tensor of shape (1, 3, h, w)."""
    image = (image.astype(numpy.float32) * scale - mean) / std
    return image.transpose(2, 0, 1)[None]


def resize(image, width, height):
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)


def short_side(image, short, method):
    """torchvision's Resize(short) and CenterCrop, of a Pillow image."""
    height, width = image.shape[:2]
    least = min(width, height)
    width, height = short * width // least, short * height // least
    resized = PIL.Image.fromarray(image).resize((width, height), method)
    left, top = round((width - WIDTH) / 2), round((height - HEIGHT) / 2)
    return numpy.asarray(resized.crop((left, top, left + WIDTH, top + HEIGHT)))


def letterbox(image):
    """Ultralytics' LetterBox with auto=False, in its integers."""
    height, width = image.shape[:2]
    ratio = min(HEIGHT / height, WIDTH / width)
    new = round(width * ratio), round(height * ratio)
    x, y = (WIDTH - new[0]) / 2, (HEIGHT - new[1]) / 2
    return cv2.copyMakeBorder(
        resize(image, *new), round(y - 0.1), round(y + 0.1), round(x - 0.1),
        round(x + 0.1), cv2.BORDER_CONSTANT, value=(114, 114, 114))


def as_unit(image):
    return normalise(resize(image, WIDTH, HEIGHT), 1 / 255, 0, 1)


def as_signed(image):
    return normalise(resize(image, WIDTH, HEIGHT), 1 / 255, 0.5, 0.5)


def as_imagenet(image):
    # 224 of 256 is 0.875: so is what the shorter side, 192, is cut from.
    return normalise(
        short_side(image, int(HEIGHT / 0.875), PIL.Image.BILINEAR), 1 / 255,
        numbers(0.485, 0.456, 0.406), numbers(0.229, 0.224, 0.225))


def as_clip(image):
    return normalise(
        short_side(image, HEIGHT, PIL.Image.BICUBIC), 1 / 255,
        numbers(0.48145466, 0.4578275, 0.40821073),
        numbers(0.26862954, 0.26130258, 0.27577711))


def as_yolo(image):
    return normalise(letterbox(image), 1 / 255, 0, 1)


def as_caffe(image):
    return cv2.dnn.blobFromImage(image[:, :, ::-1].copy(), 1, (WIDTH, HEIGHT),
                                 (104, 117, 123), swapRB=False)


# Preset, its training code, and what golden's README allows for that library's
# 8-bit arithmetic: the most and the mean, in steps of an 8-bit code; and how
# many units of the tensor the largest channel has for a step.
PRESETS = (
    ("unit", as_unit, 0.85, 0.3, 1 / 255),
    ("signed", as_signed, 0.85, 0.3, 2 / 255),
    ("imagenet", as_imagenet, 1.01, 0.33, 1 / 255 / 0.224),
    # Pillow cuts off what bicubic overshoots between its two passes.
    ("clip", as_clip, 4.5, 0.35, 1 / 255 / 0.26130258),
    ("yolo", as_yolo, 0.85, 0.3, 1 / 255),
    ("caffe", as_caffe, 0.85, 0.3, 1),
)


def make_network():
    """Convolutions, a pooling and a dense layer, and its session.

    The weights of each output sum to 1 in magnitude, and rectifier and pooling
    enlarge no difference: inputs that differ by d give answers that differ by d
    at most.
    """
    random = numpy.random.default_rng(7)
    tensors = []

    def weights(name, *shape):
        values = random.standard_normal(shape).astype(numpy.float32)
        values /= numpy.abs(values).reshape(shape[0], -1).sum(axis=1).reshape(
            (-1,) + (1,) * (len(shape) - 1))
        tensors.append(onnx.numpy_helper.from_array(values, name))
        return name

    node = onnx.helper.make_node
    nodes = [
        node("Conv", ["image", weights("w1", 16, 3, 3, 3)], ["c1"],
             strides=[2, 2]),
        node("Relu", ["c1"], ["r1"]),
        node("Conv", ["r1", weights("w2", 32, 16, 3, 3)], ["c2"],
             strides=[2, 2]),
        node("GlobalAveragePool", ["c2"], ["pooled"]),
        node("Flatten", ["pooled"], ["flat"]),
        node("Gemm", ["flat", weights("w3", CLASSES, 32)], ["classes"],
             transB=1),
    ]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "test",
        [value("image", onnx.TensorProto.FLOAT, [1, 3, HEIGHT, WIDTH])],
        [value("classes", onnx.TensorProto.FLOAT, [1, CLASSES]),
         value("c2", onnx.TensorProto.FLOAT,
               [1, 32, None, None])], tensors)
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"])


def read_frame(sample):
    """The RGB image of a sample, (h, w, 3)."""
    buffer, caps = sample.get_buffer(), sample.get_caps().get_structure(0)
    width, height = caps.get_value("width"), caps.get_value("height")
    data = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()),
                            numpy.uint8)
    rows = data.reshape(height, -1)  # padded to four bytes
    return numpy.ascontiguousarray(
        rows[:, :width * 3].reshape(height, width, 3))


def pairs(preset):
    """Each frame of the film, and its tensor."""
    pipeline = Gst.parse_launch(
        f'filesrc location="{FILM}" ! decodebin ! videoconvert ! '
        "video/x-raw,format=RGB ! tee name=t "
        "t. ! queue ! appsink name=frames sync=false "
        f"t. ! queue ! cudapreproc preset={preset} width={WIDTH} "
        f"height={HEIGHT} ignore-pixel-aspect-ratio=true ! "
        "appsink name=tensors sync=false")
    frames = pipeline.get_by_name("frames")
    stream = cudapreproc.tensors(pipeline.get_by_name("tensors"))
    pipeline.set_state(Gst.State.PLAYING)
    try:
        for tensor in stream:
            yield read_frame(frames.pull_sample()), tensor.numpy()
    finally:
        pipeline.set_state(Gst.State.NULL)


class Model(unittest.TestCase):
    def check(self, preset, train, most, mean, step):
        session = make_network()

        def answer(tensor):
            return session.run(None, {"image": tensor})

        count = 0
        for frame, tensor in pairs(preset):
            expected = train(frame)
            self.assertEqual(tensor.shape, expected.shape)
            difference = numpy.abs(tensor - expected)
            self.assertLessEqual(difference.max(), most * step)
            self.assertLessEqual(difference.mean(), mean * step)
            # float32 sums, in whatever order
            bound = most * step + 1e-5 * numpy.abs(expected).max()
            wanted = answer(expected)
            for ours, theirs in zip(answer(tensor), wanted):
                self.assertLessEqual(numpy.abs(ours - theirs).max(), bound)
            self.assertEqual(answer(tensor)[0].argmax(), wanted[0].argmax())
            # A wrong order of channels is a wrong answer.
            wrong = answer(numpy.ascontiguousarray(tensor[:, ::-1]))[1]
            self.assertGreater(numpy.abs(wrong - wanted[1]).max(), bound)
            count += 1
        self.assertGreater(count, 5)

    def test_presets(self):
        for preset, train, most, mean, step in PRESETS:
            with self.subTest(preset=preset):
                self.check(preset, train, most, mean, step)

    def test_all_presets_are_here(self):
        element = Gst.ElementFactory.make("cudapreproc")
        nicks = {value.value_nick for value in element.find_property(
            "preset").enum_class.__enum_values__.values()}
        self.assertEqual(nicks, {"none"} | {p[0] for p in PRESETS})


if __name__ == "__main__":
    Gst.init([])
    unittest.main(verbosity=2)
