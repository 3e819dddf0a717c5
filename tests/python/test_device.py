# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors on a GPU in PyTorch, in a Python without PyGObject.

devicetensors.c runs the pipelines. The module's DeviceArray makes of an address
what torch.as_tensor takes without a copy.

    test_device.py libdevicetensors.so

Run by meson test; exits with 77 where PyTorch, a GPU or plugins are missing.
"""

import ctypes
import gc
import os
import pathlib
import re
import sys
import unittest
import weakref

# Also where it is installed.
sys.modules["gi"] = None  # type: ignore[assignment]
import cudapreproc  # noqa: E402

LIBRARY = ctypes.CDLL(sys.argv.pop(1))
ELEMENT = "cudapreproc name=preproc backend=cuda"
SINK = "appsink name=sink sync=false enable-last-sample=false"
ON_DEVICE = " ! other/tensors(memory:CUDAMemory) ! " + SINK
ON_HOST = " ! other/tensors ! " + SINK
FOLDERS = [os.environ.get("PP_MEDIA"),
           pathlib.Path(__file__).parents[2] / ".." / "shared" / "media",
           pathlib.Path(__file__).parents[1] / "media"]
CLIP = "bunny_1080p_bt709.mp4"


def skip(why):
    print("SKIP:", why)
    sys.exit(77)


try:
    import numpy  # noqa: F401: PyTorch needs it to read the interface
    import torch
except ImportError as missing:
    skip(missing)
if not torch.cuda.is_available():
    skip("PyTorch finds no GPU")

TYPES = {"float32": ("<f4", torch.float32), "float16": ("<f2", torch.float16),
         "uint8": ("|u1", torch.uint8), "int8": ("|i1", torch.int8)}
SETTINGS = ("width=640 height=640 fit=letterbox",
            "width=224 height=200 fit=crop type=float16 batch-size=2",
            "width=97 height=61 type=uint8 layout=nhwc",
            "width=64 height=48 type=int8 quant-zero-point=-128")


class Place(ctypes.Structure):
    """GstCudaPreprocDeviceTensor."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("data", ctypes.c_uint64),
                ("size", ctypes.c_size_t), ("context", ctypes.c_void_p),
                ("device", ctypes.c_int), ("n_events", ctypes.c_uint),
                ("events", ctypes.c_void_p * 64)]


def declare():
    for name, result, arguments in (
            ("has", ctypes.c_int, [ctypes.c_char_p]),
            ("open", ctypes.c_void_p, [ctypes.c_char_p]),
            ("pull", ctypes.c_void_p, [ctypes.c_void_p]),
            ("close", ctypes.c_int, [ctypes.c_void_p]),
            ("caps", None, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
            ("describe", ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
            ("wait", ctypes.c_int, [ctypes.c_void_p]),
            ("read", ctypes.c_size_t,
             [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]),
            ("release", None, [ctypes.c_void_p]),
            ("held", ctypes.c_int, [])):
        function = getattr(LIBRARY, "device_tensors_" + name)
        function.restype, function.argtypes = result, arguments


declare()
DRIVER = ctypes.CDLL("libcuda.so.1")
DRIVER.cuStreamWaitEvent.argtypes = [ctypes.c_void_p, ctypes.c_void_p,
                                     ctypes.c_uint]


class Tensor:
    """A tensor of a pipeline, as DeviceArray wants its provider."""

    def __init__(self, sample):
        text = ctypes.create_string_buffer(1024)
        LIBRARY.device_tensors_caps(sample, text, len(text))
        caps = text.value.decode()
        self.type = re.search(r"types=\(string\)(\w+)", caps)[1]
        dimensions = re.search(r"dimensions=\(string\)([\d:]+)", caps)[1]
        self.shape = tuple(int(n) for n in reversed(dimensions.split(":")))
        self.sample = sample
        self.place = Place()
        self.on_device = bool(LIBRARY.device_tensors_describe(
            sample, ctypes.byref(self.place)))
        self.pointer = self.place.data
        weakref.finalize(self, LIBRARY.device_tensors_release, sample)

    def host(self):
        """A copy in host memory."""
        data = bytearray(self.place.size or 1 << 26)
        size = LIBRARY.device_tensors_read(
            self.sample, (ctypes.c_char * len(data)).from_buffer(data),
            len(data))
        return torch.frombuffer(data[:size],
                                dtype=TYPES[self.type][1]).reshape(self.shape)

    def torch(self):
        array = cudapreproc.DeviceArray(self, self.shape, TYPES[self.type][0])
        return torch.as_tensor(array, device="cuda")


class Pipeline:
    """Its tensors; a with block ends it."""

    def __init__(self, line):
        self.run = LIBRARY.device_tensors_open(line.encode())
        assert self.run, line

    def __iter__(self):
        while sample := LIBRARY.device_tensors_pull(self.run):
            yield Tensor(sample)

    def close(self):
        assert LIBRARY.device_tensors_close(self.run), "something is left"


def tensors(line):
    pipeline = Pipeline(line)
    found = list(pipeline)
    pipeline.close()
    return found


def sources():
    """Frames in CUDA memory, and the same in host memory."""
    found = {}
    pattern = ("videotestsrc num-buffers=5 ! video/x-raw,format=NV12,"
               "width=640,height=360,framerate=30/1 ! ")
    if LIBRARY.device_tensors_has(b"cudaupload"):
        found["cudaupload"] = pattern + "cudaupload ! ", pattern
    clips = [pathlib.Path(folder) / CLIP for folder in FOLDERS
             if folder and (pathlib.Path(folder) / CLIP).is_file()]
    if clips and LIBRARY.device_tensors_has(b"nvh264dec"):
        decode = (f'filesrc location="{clips[0]}" ! qtdemux ! h264parse ! '
                  "nvh264dec ! ")
        found["nvh264dec"] = (decode + "video/x-raw(memory:CUDAMemory) ! ",
                              decode + "video/x-raw ! ")
    return found


SOURCES = sources()
if not SOURCES:
    skip("GStreamer has neither cudaupload nor nvh264dec")
print("frames of", ", ".join(SOURCES))


class Device(unittest.TestCase):

    def tearDown(self):
        gc.collect()
        self.assertEqual(LIBRARY.device_tensors_held(), 0)

    def assert_same(self, got, expected):
        self.assertEqual(got.dtype, expected.dtype)
        self.assertEqual(got.shape, expected.shape)
        self.assertTrue(torch.equal(got.cpu(), expected))

    def test_no_pygobject(self):
        with self.assertRaisesRegex(ImportError, "gi"):
            cudapreproc.open("videotestsrc")

    def test_shared(self):
        """The address is the tensor's, and what is there is what the pipeline
        through host memory gives."""
        for name, (device, host) in SOURCES.items():
            for settings in SETTINGS:
                with self.subTest(name, settings=settings):
                    expected = tensors(f"{host}{ELEMENT} {settings}{ON_HOST}")
                    got = tensors(f"{device}{ELEMENT} {settings}{ON_DEVICE}")
                    self.assertEqual(len(got), len(expected))
                    self.assertGreater(len(got), 2)
                    for tensor, other in zip(got, expected):
                        self.assertTrue(tensor.on_device)
                        self.assertFalse(other.on_device)
                        self.assertTrue(
                            LIBRARY.device_tensors_wait(tensor.sample))
                        array = tensor.torch()
                        self.assertEqual(array.data_ptr(), tensor.pointer)
                        self.assertEqual(array.device.index,
                                         tensor.place.device)
                        self.assertEqual(
                            array.numel() * array.element_size(),
                            tensor.place.size)
                        self.assert_same(array, other.host())
                        self.assert_same(array, tensor.host())
                    del tensor, other, array, got, expected

    def test_written(self):
        """Torch and the pipeline's memory are one: each sees what the other
        wrote."""
        device, _ = next(iter(SOURCES.values()))
        tensor = tensors(f"{device}{ELEMENT} {SETTINGS[0]}{ON_DEVICE}")[0]
        self.assertTrue(LIBRARY.device_tensors_wait(tensor.sample))
        tensor.torch().fill_(0.25)
        torch.cuda.synchronize()
        self.assertTrue(bool((tensor.host() == 0.25).all()))

    def test_outlives(self):
        """An array keeps its memory, and nothing else, when tensor, element and
        pipeline are gone."""
        device, host = next(iter(SOURCES.values()))
        expected = [tensor.host() for tensor in
                    tensors(f"{host}{ELEMENT} {SETTINGS[0]}{ON_HOST}")]
        pipeline = Pipeline(f"{device}{ELEMENT} {SETTINGS[0]}{ON_DEVICE}")
        arrays = []
        for tensor in pipeline:
            self.assertTrue(LIBRARY.device_tensors_wait(tensor.sample))
            arrays.append(tensor.torch())
            self.assert_same(arrays[-1], expected[len(arrays) - 1])
        del tensor
        pipeline.close()  # fails unless both are finalized
        gc.collect()
        self.assertEqual(LIBRARY.device_tensors_held(), len(arrays))
        # Others get no memory that is in use.
        other = tensors(f"{device}{ELEMENT} {SETTINGS[0]} pad-value=3{ON_DEVICE}")
        for array, values in zip(arrays, expected):
            self.assert_same(array, values)
        slices = [array[:, :, 100:200] for array in arrays]
        del arrays, array, other
        gc.collect()
        for part, values in zip(slices, expected):
            self.assert_same(part, values[:, :, 100:200])
        self.assertEqual(LIBRARY.device_tensors_held(), len(slices))
        del slices, part

    def test_stream_waits(self):
        """A stream of torch's waits for the events, the host for nothing."""
        settings = "width=1080 height=1080 denoise=median denoise-size=5"
        with_events = 0
        for name, (device, host) in SOURCES.items():
            with self.subTest(name):
                expected = tensors(f"{host}{ELEMENT} {settings}{ON_HOST}")
                pipeline = Pipeline(f"{device}{ELEMENT} {settings}{ON_DEVICE}")
                stream = torch.cuda.Stream()
                copies = []
                for tensor in pipeline:
                    with_events += tensor.place.n_events > 0
                    for event in tensor.place.events[:tensor.place.n_events]:
                        self.assertEqual(DRIVER.cuStreamWaitEvent(
                            stream.cuda_stream, event, 0), 0)
                    with torch.cuda.stream(stream):
                        copies.append((tensor.torch().clone(), tensor))
                stream.synchronize()
                pipeline.close()
                self.assertEqual(len(copies), len(expected))
                for (copy, _), other in zip(copies, expected):
                    self.assert_same(copy, other.host())
                del copies, copy, _, other, expected, tensor
        self.assertGreater(with_events, 0)


if __name__ == "__main__":
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    unittest.main(verbosity=2)
