# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python module: what it gives, who owns it, and how it fails.

Run by meson test; exits with 77 where PyGObject or NumPy is missing.
"""

import ctypes
import gc
import multiprocessing
import os
import pathlib
import pydoc
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

import cudapreproc

# Before anything has used it.
IMPORTED_EARLY = [name for name in ("gi", "numpy") if name in sys.modules]

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import GLib, Gst, GstApp, GstVideo
    import numpy
except (ImportError, ValueError) as missing:
    print("SKIP:", missing)
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

MEDIA = pathlib.Path(__file__).parents[1] / "media"
CLIP = MEDIA / "bunny_480_mjpeg420.avi"  # which every GStreamer decodes
FRAMES = 12
# A camera that is connected and sends nothing.
SILENT = "appsrc caps=video/x-raw,format=RGB,width=8,height=8,framerate=1/1"
GRADIENT = ("videotestsrc num-buffers={} pattern=ball ! "
            "video/x-raw,format=RGB,width=64,height=48,framerate=30/1")


def reference(size):
    """The tensors as the README's plain PyGObject makes them: copies."""
    pipeline = Gst.parse_launch(
        f'filesrc location="{CLIP}" ! decodebin ! cudapreproc width={size} '
        f"height={size} fit=letterbox ! appsink name=sink sync=false")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    found = []
    while (sample := sink.try_pull_sample(10 * Gst.SECOND)) is not None:
        buffer = sample.get_buffer()
        data = buffer.extract_dup(0, buffer.get_size())
        found.append((buffer.pts, numpy.frombuffer(data, numpy.float32)))
    pipeline.set_state(Gst.State.NULL)
    return found


def address(array):
    return array.__array_interface__["data"][0]


def call(name, result, *arguments):
    """A function of GStreamer that takes pointers, text and numbers."""
    library = "video" if "_video_" in name else "reamer"
    function = getattr(ctypes.CDLL(f"libgst{library}-1.0.so.0"), name)
    function.restype = result
    return function(*(ctypes.c_void_p(a) if isinstance(a, int) else a
                      for a in arguments))


def add_meta(buffer, fields):
    """PyGObject can add a custom meta, and only change a copy of its fields."""
    structure = call("gst_custom_meta_get_structure", ctypes.c_void_p,
                     call("gst_buffer_add_custom_meta", ctypes.c_void_p,
                          hash(buffer), b"GstCudaPreprocMeta"))
    given = call("gst_structure_from_string", ctypes.c_void_p,
                 f"x, {fields};".encode(), None)
    for i in range(call("gst_structure_n_fields", ctypes.c_int, given)):
        name = call("gst_structure_nth_field_name", ctypes.c_char_p, given, i)
        call("gst_structure_set_value", None, structure, name,
             call("gst_structure_get_value", ctypes.c_void_p, given, name))


def mean_in_child(queue):
    """In a spawned process."""
    with cudapreproc.open(CLIP, width=32, height=32) as stream:
        queue.put(float(next(stream).numpy().mean()))


class Tensors(unittest.TestCase):
    def test_nothing_is_imported_early(self):
        self.assertEqual(IMPORTED_EARLY, [])

    def test_arrays_are_what_the_element_made(self):
        expected = reference(96)
        self.assertEqual(len(expected), FRAMES)
        count = 0
        for tensor in cudapreproc.open(CLIP, preset="yolo", width=96,
                                       height=96):
            pts, elements = expected[count]
            array = tensor.numpy()
            self.assertEqual(array.shape, (1, 3, 96, 96))
            self.assertEqual(array.shape, tensor.shape)
            self.assertEqual(array.dtype, numpy.float32)
            self.assertEqual(tensor.pts, pts)
            self.assertEqual(tensor.duration, 40_000_000)
            self.assertEqual(tensor.device, "cpu")
            numpy.testing.assert_array_equal(array.ravel(), elements)
            count += 1
        self.assertEqual(count, FRAMES)

    def test_sources(self):
        for source in (CLIP, str(CLIP), CLIP.as_uri(),
                       f'filesrc location="{CLIP}" ! decodebin',
                       f'filesrc location="{CLIP}" ! decodebin ! '
                       "cudapreproc width=8"):
            with cudapreproc.open(source, width=16, height=16) as stream:
                shapes = [tensor.shape for tensor in stream]
            self.assertEqual(shapes, [(1, 3, 16, 16)] * FRAMES, source)
            self.assertIsNone(stream.pull(0))

    def test_types_and_layouts(self):
        for name in ("float32", "float16", "uint8", "int8"):
            with cudapreproc.open(GRADIENT.format(1), type=name, width=20,
                                  height=10, layout="nhwc",
                                  channels="gray") as stream:
                tensor = next(stream)
                self.assertEqual(tensor.dtype, name)
                self.assertEqual(tensor.numpy().dtype, numpy.dtype(name))
                self.assertEqual(tensor.numpy().shape, (1, 10, 20, 1))

    def test_properties(self):
        with cudapreproc.open(GRADIENT.format(1), mean=(0.1, 0.2, 0.3),
                              std=numpy.array([1.0, 2, 4]), pad_value=7,
                              antialias=True, fit="letterbox",
                              scale=0.5) as stream:
            element = stream.element
            self.assertEqual(element.get_property("mean"),
                             "0.10000000000000001,0.20000000000000001,"
                             "0.29999999999999999")
            self.assertEqual(element.get_property("std"), "1,2,4")
            self.assertEqual(element.get_property("pad-value"), "7")
            self.assertEqual(element.get_property("antialias"), True)
            self.assertEqual(element.get_property("fit").value_nick,
                             "letterbox")

    def test_usb_cameras(self):
        """What v4l2src sends: YUY2, and JPEG behind a decoder."""
        for source in (
                "videotestsrc is-live=true num-buffers=15 ! "
                "video/x-raw,format=YUY2,width=322,height=240",
                "videotestsrc is-live=true num-buffers=15 ! jpegenc ! "
                "decodebin"):
            with cudapreproc.open(source, preset="yolo", width=32,
                                  height=32) as stream:
                times = [tensor.pts for tensor in stream
                         if tensor.numpy().max() <= 1]
            self.assertEqual(len(times), 15, source)
            self.assertEqual(times, sorted(times))

    def test_ended(self):
        with cudapreproc.open(GRADIENT.format(2), width=8,
                              height=8) as stream:
            self.assertFalse(stream.ended)
            self.assertIsNotNone(stream.pull(20))
            self.assertFalse(stream.ended)
            self.assertIsNotNone(stream.pull(20))
            self.assertIsNone(stream.pull(20))
            self.assertTrue(stream.ended)
        with cudapreproc.open(SILENT, width=8, height=8) as stream:
            self.assertIsNone(stream.pull(0.3))
            self.assertFalse(stream.ended)
            stream.close()
            self.assertTrue(stream.ended)

    def test_several_streams(self):
        """cudapreprocmux, which has no place at the end of the line."""
        source = GRADIENT.format(3)
        for line in (f"{source} ! m. {source} ! m. cudapreprocmux name=m",
                     f"cudapreprocmux name=m {source} ! m.sink_0 "
                     f"{source} ! queue ! m.sink_1",
                     f"cudapreprocmux name=m ! queue {source} ! m. "
                     f"{source} ! m.sink_1"):
            with cudapreproc.open(line, width=16, height=8) as stream:
                self.assertEqual([tensor.shape for tensor in stream],
                                 [(2, 3, 8, 16)] * 3, line)
                self.assertEqual(stream.element.get_property("width"), 16)
        with self.assertRaisesRegex(cudapreproc.Error, "output is left"):
            cudapreproc.open(f"cudapreprocmux name=m ! fakesink {source} ! m.")
        with self.assertRaisesRegex(TypeError, "mux has no property 'async"):
            cudapreproc.open(f"{source} ! cudapreprocmux", async_depth=3)

    def test_latest(self):
        with cudapreproc.open("videotestsrc is-live=true do-timestamp=true",
                              latest=True, width=8, height=8) as stream:
            first = next(stream).pts
            time.sleep(0.5)
            next(stream)  # may have been there before
            second = next(stream).pts
        self.assertGreater(second - first, 300_000_000)


class Lifetime(unittest.TestCase):
    def test_arrays_are_not_copies(self):
        with cudapreproc.open(GRADIENT.format(1), width=8,
                              height=8) as stream:
            tensor = next(stream)
            array = tensor.numpy()
            self.assertEqual(address(array), address(tensor.numpy()))
            self.assertFalse(array.flags.owndata)

    def test_arrays_outlive_everything(self):
        expected = [elements for _, elements in reference(48)]
        arrays = []
        stream = cudapreproc.open(CLIP, preset="yolo", width=48, height=48)
        for tensor in stream:
            arrays.append(tensor.numpy()[0])
        stream.close()
        del stream, tensor
        gc.collect()
        self.assertEqual(len({address(array) for array in arrays}), FRAMES)
        for array, elements in zip(arrays, expected):
            numpy.testing.assert_array_equal(array.ravel(), elements)

    def test_tensors_outlive_their_stream(self):
        stream = cudapreproc.open(GRADIENT.format(3), width=8, height=8)
        tensor = next(stream)
        stream.close()
        del stream
        self.assertEqual(tensor.numpy().shape, (1, 3, 8, 8))
        self.assertEqual(len(tensor.pictures), 1)

    def test_memory_goes_back(self):
        addresses = set()
        for tensor in cudapreproc.open(GRADIENT.format(300), width=8,
                                       height=8):
            addresses.add(address(tensor.numpy()))
        self.assertLess(len(addresses), 30)

    def test_a_slice_keeps_the_memory(self):
        kept = []
        with cudapreproc.open(GRADIENT.format(60), width=8,
                              height=8) as stream:
            for tensor in stream:
                if len(kept) < 20:
                    part = tensor.numpy()[0, 1, 2:5]
                    kept.append((part, part.copy()))
                del tensor
        for part, copy in kept:
            numpy.testing.assert_array_equal(part, copy)

    def test_writing(self):
        # Padding is what a write could spoil for later frames.
        with cudapreproc.open(GRADIENT.format(100), width=32, height=32,
                              fit="letterbox") as stream:
            for tensor in stream:
                array = tensor.numpy(writable=True)
                numpy.testing.assert_allclose(array[0, :, :4], 114 / 255,
                                              rtol=1e-6)
                array[:] = -1
                read_only = tensor.numpy()
                self.assertEqual(address(read_only), address(array))
                self.assertEqual(read_only.max(), -1)
                self.assertFalse(read_only.flags.writeable)

    def test_read_only(self):
        with cudapreproc.open(GRADIENT.format(1), width=8,
                              height=8) as stream:
            tensor = next(stream)
            array = tensor.numpy()
            with self.assertRaises(ValueError):
                array[:] = 0
            with self.assertRaises(ValueError):
                array.flags.writeable = True
            with self.assertRaisesRegex(BufferError, "read-only arrays"):
                tensor.numpy(writable=True)
            del array
            tensor.numpy(writable=True)[:] = 5
            self.assertEqual(tensor.numpy().min(), 5)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch(self):
        stream = cudapreproc.open(CLIP, preset="yolo", width=48, height=48)
        expected = reference(48)
        kept = [torch.from_numpy(tensor.numpy(writable=True))
                for tensor in stream]
        stream.close()
        del stream
        gc.collect()
        self.assertEqual(len({tensor.data_ptr() for tensor in kept}), FRAMES)
        for tensor, (_, elements) in zip(kept, expected):
            numpy.testing.assert_array_equal(tensor.numpy().ravel(), elements)

    def test_leaving_early(self):
        for _ in range(20):
            for tensor in cudapreproc.open("videotestsrc", width=8, height=8):
                break
        self.assertEqual(tensor.numpy().shape, (1, 3, 8, 8))

    def test_end_of_the_program(self):
        program = ("import cudapreproc\n"
                   "stream = cudapreproc.open('videotestsrc', width=8)\n"
                   "tensor = next(stream)\n"
                   "array = tensor.numpy()\n")
        done = subprocess.run([sys.executable, "-c", program], timeout=60,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Pictures(unittest.TestCase):
    def test_of_a_frame(self):
        with cudapreproc.open("videotestsrc ! video/x-raw,width=640,height=360",
                              width=320, height=320,
                              fit="letterbox") as stream:
            tensor = next(stream)
        picture, = tensor.pictures
        self.assertEqual(picture.index, 0)
        self.assertEqual(picture.pts, tensor.pts)
        self.assertEqual(picture.duration, tensor.duration)
        self.assertIsNone(picture.region)
        self.assertEqual(picture.pad, "")
        self.assertEqual(picture.size, (320, 320))
        self.assertEqual(picture.src, (0, 0, 640, 360))
        self.assertEqual(picture.dst, (0, 70, 320, 180))
        numpy.testing.assert_allclose(
            picture.to_frame([(0, 70), (320, 250), (160, 160)]),
            [(0, 0), (640, 360), (320, 180)], atol=1e-9)
        numpy.testing.assert_allclose(picture.to_frame((0.5, 70.5)), (1, 1))
        numpy.testing.assert_allclose(
            picture.boxes_to_frame([[[80, 115, 240, 205]]]),
            [[[160, 90, 480, 270]]])
        for nothing in (numpy.empty((0, 4)), []):
            self.assertEqual(picture.boxes_to_frame(nothing).shape, (0, 4))
        self.assertEqual(picture.to_frame([]).shape, (0, 2))
        for wrong, words in (([[1, 2, 3, 4, 0.5]], r"got \(1, 5\)"),
                             (7, r"got \(\)"), ([[]], r"got \(1, 0\)")):
            with self.assertRaisesRegex(
                    ValueError, r"boxes: expected shape \(..., 4\), " + words):
                picture.boxes_to_frame(wrong)
        with self.assertRaisesRegex(ValueError, "points: expected shape"):
            picture.to_frame([1, 2, 3])

    def test_of_a_turned_frame(self):
        picture = cudapreproc.Picture(
            index=0, pts=None, duration=None, offset=None, pad="", region=None,
            size=(100, 200), src=(0, 0, 200, 100), dst=(0, 0, 100, 200),
            matrix=(0, 1, 0, -1, 0, 100))
        numpy.testing.assert_allclose(picture.boxes_to_frame([10, 20, 30, 60]),
                                      [20, 70, 60, 90])

    def test_turned_by_the_element(self):
        with cudapreproc.open("videotestsrc ! video/x-raw,width=640,height=360",
                              width=320, height=320, fit="letterbox",
                              video_direction="90r") as stream:
            picture, = next(stream).pictures
        self.assertEqual(picture.src, (0, 0, 640, 360))
        self.assertEqual(picture.dst, (70, 0, 180, 320))
        # The upper right corner of the picture is the frame's upper left one.
        numpy.testing.assert_allclose(
            picture.to_frame([(250, 0), (70, 0), (70, 320)]),
            [(0, 0), (0, 360), (640, 360)], atol=1e-9)
        numpy.testing.assert_allclose(
            picture.boxes_to_frame([80, 10, 120, 40]), [20, 260, 80, 340])

    def test_batches(self):
        """Consecutive frames; the last batch is not full."""
        with cudapreproc.open(GRADIENT.format(10), width=8, height=8,
                              batch_size=4) as stream:
            single = [tensor.numpy().copy() for tensor in cudapreproc.open(
                GRADIENT.format(10), width=8, height=8)]
            n = 0
            for tensor in stream:
                array = tensor.numpy()
                self.assertEqual(array.shape, (4, 3, 8, 8))
                self.assertEqual([p.index for p in tensor.pictures],
                                 list(range(min(4, 10 - n))))
                self.assertEqual(tensor.pts, tensor.pictures[0].pts)
                for picture in tensor.pictures:
                    numpy.testing.assert_array_equal(
                        array[picture.index], single[n][0])
                    self.assertEqual(picture.pts // 1000000, n * 1000 // 30)
                    n += 1
                numpy.testing.assert_allclose(
                    array[len(tensor.pictures):], 114 / 255, rtol=1e-6)
            self.assertEqual(n, 10)

    def test_several(self):
        """Metas as batches and regions have them."""
        Gst.ElementFactory.make("cudapreproc")  # registers the meta
        pipeline = Gst.parse_launch(
            "appsrc name=source format=time caps=other/tensors,format=static,"
            "num_tensors=1,types=uint8,dimensions=4:2:1:2,framerate=0/1 ! "
            "appsink name=sink sync=false")
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        stream = cudapreproc.tensors(pipeline.get_by_name("sink"))
        pipeline.set_state(Gst.State.PLAYING)
        buffer = Gst.Buffer.new_wrapped(bytes(range(16)))
        buffer.pts = 11
        add_meta(buffer, "index=(int)0")
        add_meta(buffer, "index=(int)1, pts=(guint64)18446744073709551615, "
                 "duration=(guint64)7, offset=(guint64)9, pad=(string)sink_3, "
                 "regions=(int)2, region=(int)1, region-id=(int)-4, "
                 "region-parent=(int)5, "
                 "region-type=(string)face, width=(int)8, src-x=(int)-1, m2=(double)3")
        pipeline.get_by_name("source").push_buffer(buffer)
        tensor = stream.pull(20)
        numpy.testing.assert_array_equal(
            tensor.numpy(), numpy.arange(16).reshape(2, 1, 2, 4))
        self.assertEqual(tensor.pictures[0].pts, 11)
        self.assertEqual([p.index for p in tensor.pictures], [0, 1])
        picture = tensor.pictures[1]
        self.assertEqual(
            (picture.pts, picture.duration, picture.offset, picture.pad),
            (None, 7, 9, "sink_3"))
        self.assertEqual(picture.region, cudapreproc.Region(
            id=-4, type="face", parent=5, index=1, count=2))
        self.assertEqual((picture.size, picture.src),
                         ((8, 0), (-1, 0, 0, 0)))
        self.assertEqual(picture.matrix, (1, 0, 3, 0, 1, 0))


class Frames(unittest.TestCase):
    def frames(self, line, **properties):
        with cudapreproc.open(line, attach_frame=True, width=16, height=8,
                              **properties) as stream:
            return [tensor.frames for tensor in stream]

    def plain(self, caps):
        """The bytes of a frame of videotestsrc, without the element."""
        pipeline = Gst.parse_launch("videotestsrc num-buffers=1 ! " + caps +
                                    " ! appsink name=sink sync=false")
        pipeline.set_state(Gst.State.PLAYING)
        sample = pipeline.get_by_name("sink").pull_sample()
        buffer = sample.get_buffer()
        data = buffer.extract_dup(0, buffer.get_size())
        pipeline.set_state(Gst.State.NULL)
        return data

    def test_formats(self):
        """All samples, in GStreamer's order of planes and rows without padding."""
        shapes = {
            "RGB": [(24, 32, 3)], "BGR": [(24, 32, 3)], "RGBA": [(24, 32, 4)],
            "GRAY8": [(24, 32)], "GRAY16_BE": [(24, 32)],
            "NV12": [(24, 32), (12, 16, 2)],
            "I420": [(24, 32), (12, 16), (12, 16)],
            "I420_10LE": [(24, 32), (12, 16), (12, 16)],
            "YUY2": [(24, 32, 2)], "GBR": [(24, 32)] * 3,
            "AYUV64": [(24, 32, 4)],
        }
        for name, expected in shapes.items():
            caps = f"video/x-raw,format={name},width=32,height=24"
            (frame,), = self.frames(f"videotestsrc num-buffers=1 ! {caps}")
            self.assertEqual((frame.format, frame.width, frame.height),
                             (name, 32, 24))
            self.assertEqual([p.shape for p in frame.planes], expected, name)
            self.assertEqual(b"".join(p.tobytes() for p in frame.planes),
                             self.plain(caps), name)
            kind = {"GRAY16_BE": ">u2", "I420_10LE": "<u2",
                    "AYUV64": "<u2"}.get(name, "|u1")
            self.assertEqual({p.dtype.str for p in frame.planes}, {kind}, name)

    def test_odd_sizes(self):
        """Chroma is rounded up, and rows are padded."""
        (frame,), = self.frames("videotestsrc num-buffers=1 pattern=white ! "
                                "video/x-raw,format=NV12,width=33,height=21")
        self.assertEqual([p.shape for p in frame.planes],
                         [(21, 33), (11, 17, 2)])
        self.assertTrue((frame.planes[0] == 235).all())
        self.assertTrue((frame.planes[1] == 128).all())

    def test_not_copies(self):
        """They keep their frame when tensor and stream are gone."""
        kept = []
        with cudapreproc.open(GRADIENT.format(60), attach_frame=True, width=16,
                              height=8) as stream:
            for tensor in stream:
                if len(kept) == 12:
                    continue
                frame, = tensor.frames
                plane, = frame.planes
                self.assertEqual(address(plane), address(frame.planes[0]))
                self.assertFalse(plane.flags.owndata)
                self.assertFalse(plane.flags.writeable)
                kept.append((plane, plane.copy()))
        del stream, tensor, frame, plane
        gc.collect()
        self.assertEqual(len({address(plane) for plane, _ in kept}), 12)
        self.assertEqual(len({copy.tobytes() for _, copy in kept}), 12)
        for plane, copy in kept:
            numpy.testing.assert_array_equal(plane, copy)

    def test_one_for_each_picture(self):
        (tensor, rest) = self.frames(GRADIENT.format(5), batch_size=3)
        self.assertEqual((len(tensor), len(rest)), (3, 2))
        self.assertEqual(len({frame.planes[0].tobytes()
                              for frame in tensor + rest}), 5)
        red, blue = self.frames(
            "cudapreprocmux name=m ! queue "
            "videotestsrc num-buffers=1 pattern=red ! "
            "video/x-raw,format=RGB,width=8,height=6 ! m.sink_0 "
            "videotestsrc num-buffers=1 pattern=blue ! "
            "video/x-raw,format=BGR,width=4,height=2 ! m.sink_1")[0]
        self.assertEqual((red.width, red.format), (8, "RGB"))
        self.assertEqual((blue.width, blue.format), (4, "BGR"))
        self.assertTrue((red.planes[0] == (255, 0, 0)).all())
        self.assertTrue((blue.planes[0] == (255, 0, 0)).all())

    def test_without_meta(self):
        """Caps say what a buffer without GstVideoMeta holds, while they last."""
        with cudapreproc.open(
                "appsrc name=source format=time "
                "caps=video/x-raw,format=RGB,width=8,height=6,framerate=1/1",
                attach_frame=True, async_depth=0) as stream:
            source = stream.pipeline.get_by_name("source")
            source.push_buffer(Gst.Buffer.new_wrapped(bytes(range(144))))
            tensor = stream.pull(20)
            frame, = tensor.frames
            self.assertEqual(frame.planes[0].tobytes(), bytes(range(144)))
        with self.assertRaisesRegex(cudapreproc.Error, "no GstVideoMeta"):
            tensor.frames
        self.assertEqual(frame.planes[0].tobytes(), bytes(range(144)))

    def test_regions(self):
        """All pictures are of one frame."""
        with cudapreproc.open(
                "videotestsrc num-buffers=1 name=source ! "
                "video/x-raw,format=RGB,width=64,height=48", regions="meta",
                batch_size=4, attach_frame=True, width=8, height=8) as stream:
            stream.close()
            pipeline = stream.pipeline
            stream = cudapreproc.tensors(stream.appsink)

            def add_regions(pad, info):
                for x in (0, 8, 16):
                    call("gst_buffer_add_video_region_of_interest_meta",
                         ctypes.c_void_p, hash(info.get_buffer()), b"face",
                         x, 4, 8, 8)
                return Gst.PadProbeReturn.OK

            pipeline.get_by_name("source").get_static_pad("src").add_probe(
                Gst.PadProbeType.BUFFER, add_regions)
            pipeline.set_state(Gst.State.PLAYING)
            tensor = stream.pull(20)
            pipeline.set_state(Gst.State.NULL)
        self.assertEqual(len(tensor.pictures), 3)
        self.assertEqual(len(tensor.frames), 3)
        self.assertEqual({frame.width for frame in tensor.frames}, {64})

    def test_parents_of_copies(self):
        """GStreamer 1.28 gives a copy of a tensor the tensor as a parent, too."""
        Gst.ElementFactory.make("cudapreproc")  # registers the meta
        pipeline = Gst.parse_launch(
            "appsrc name=source format=time caps=other/tensors,format=static,"
            "num_tensors=1,types=uint8,dimensions=2:2:1:1,framerate=0/1 ! "
            "appsink name=sink sync=false")
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        stream = cudapreproc.tensors(pipeline.get_by_name("sink"))
        pipeline.set_state(Gst.State.PLAYING)
        tensor, copy = (Gst.Buffer.new_wrapped(bytes(4)) for _ in range(2))
        frame = Gst.Buffer.new_wrapped(bytes(range(16)))
        GstVideo.buffer_add_video_meta(
            frame, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.RGB, 2, 2)
        for buffer in (tensor, copy):
            add_meta(buffer, "index=(int)0")
        for parent in (tensor, frame):
            call("gst_buffer_add_parent_buffer_meta", ctypes.c_void_p,
                 hash(copy), hash(parent))
        pipeline.get_by_name("source").push_buffer(copy)
        found, = stream.pull(20).frames
        self.assertEqual((found.format, found.width, found.height),
                         ("RGB", 2, 2))
        # Rows are padded to 8 bytes.
        self.assertEqual(found.planes[0].tobytes(), bytes(range(6)) +
                         bytes(range(8, 14)))

    def test_not_attached(self):
        with cudapreproc.open(GRADIENT.format(1), width=8,
                              height=8) as stream:
            self.assertEqual(next(stream).frames, ())


class OwnAppsink(unittest.TestCase):
    def setUp(self):
        self.pipeline = Gst.parse_launch(
            GRADIENT.format(30) + " ! identity name=identity ! cudapreproc "
            "width=8 height=8 ! appsink name=sink sync=false")
        self.sink = self.pipeline.get_by_name("sink")
        self.addCleanup(self.pipeline.set_state, Gst.State.NULL)

    def test_tensors(self):
        stream = cudapreproc.tensors(self.sink)
        self.pipeline.set_state(Gst.State.PLAYING)
        count = sum(tensor.numpy().shape == (1, 3, 8, 8) for tensor in stream)
        self.assertEqual(count, 30)
        self.assertEqual(stream.element.get_factory().get_name(),
                         "cudapreproc")
        # The bus still has its messages, and the pipeline goes on.
        message = self.pipeline.get_bus().timed_pop_filtered(
            10 * Gst.SECOND, Gst.MessageType.EOS)
        self.assertIsNotNone(message)
        stream.close()
        self.assertEqual(self.pipeline.get_state(0).state, Gst.State.PLAYING)

    def test_error_stays_on_the_bus(self):
        self.pipeline.get_by_name("identity").set_property("error-after", 5)
        stream = cudapreproc.tensors(self.sink)
        self.pipeline.set_state(Gst.State.PLAYING)
        with self.assertRaisesRegex(cudapreproc.Error, "identity: Failed"):
            for tensor in stream:
                pass
        self.assertIsNotNone(self.pipeline.get_bus().timed_pop_filtered(
            10 * Gst.SECOND, Gst.MessageType.ERROR))

    def test_in_a_callback(self):
        stream = cudapreproc.tensors(self.sink)
        means, loop = [], GLib.MainLoop()

        def on_sample(sink):
            means.append(stream.pull(0).numpy().mean())
            return Gst.FlowReturn.OK

        self.sink.set_property("emit-signals", True)
        self.sink.connect("new-sample", on_sample)
        self.sink.connect("eos", lambda sink: loop.quit())
        self.pipeline.set_state(Gst.State.PLAYING)
        GLib.timeout_add_seconds(20, loop.quit)
        loop.run()
        self.assertEqual(len(means), 30)

    def test_others_have_the_tensor(self):
        pipeline = Gst.parse_launch(GRADIENT.format(1) + " ! cudapreproc "
                                    "width=8 height=8 ! appsink name=sink")
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        stream = cudapreproc.tensors(pipeline.get_by_name("sink"))
        pipeline.set_state(Gst.State.PLAYING)
        tensor = next(stream)
        with self.assertRaisesRegex(BufferError, "Others hold"):
            tensor.numpy(writable=True)  # the appsink's last sample
        self.assertEqual(tensor.numpy().shape, (1, 3, 8, 8))

    def test_another_buffer_has_the_memory(self):
        self.sink.set_property("enable-last-sample", False)
        stream = cudapreproc.tensors(self.sink)
        self.pipeline.set_state(Gst.State.PLAYING)
        tensor = next(stream)
        copy = call("gst_mini_object_copy", ctypes.c_void_p, tensor._buffer)
        # From GStreamer 1.28 on the copy has a reference to the buffer, too.
        with self.assertRaisesRegex(BufferError, "Others hold this tensor"):
            tensor.numpy(writable=True)
        call("gst_mini_object_unref", None, copy)
        tensor.numpy(writable=True)[:] = 3

    def test_stopped_elsewhere(self):
        pipeline = Gst.parse_launch(
            SILENT + " ! cudapreproc ! appsink name=sink")
        stream = cudapreproc.tensors(pipeline.get_by_name("sink"))
        pipeline.set_state(Gst.State.PLAYING)
        stopper = threading.Timer(0.3, pipeline.set_state, (Gst.State.NULL,))
        stopper.start()
        self.assertEqual(list(stream), [])
        stopper.join()

    def test_without_a_pipeline(self):
        with self.assertRaisesRegex(ValueError, "no pipeline"):
            cudapreproc.tensors(Gst.ElementFactory.make("appsink"))

    def test_what_is_no_tensor(self):
        pipeline = Gst.parse_launch("videotestsrc ! appsink name=sink")
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        stream = cudapreproc.tensors(pipeline.get_by_name("sink"))
        pipeline.set_state(Gst.State.PLAYING)
        with self.assertRaisesRegex(cudapreproc.Error, "not a tensor"):
            next(stream)


class Errors(unittest.TestCase):
    def expect(self, words, source, kind=cudapreproc.Error, **properties):
        with self.assertRaisesRegex(kind, words) as caught:
            for _ in cudapreproc.open(source, **properties):
                pass
        return caught.exception

    def test_settings(self):
        self.expect("no property 'nonsense'", CLIP, TypeError, nonsense=1)
        self.expect("fit='letterbx': must be one of stretch, letterbox, crop$",
                    CLIP, TypeError, fit="letterbx")
        self.expect("video-direction='custom'.* ur-ll, auto$", CLIP, TypeError,
                    video_direction="custom")
        self.expect("width='x'", CLIP, TypeError, width="x")
        self.expect("antialias='no'", CLIP, TypeError, antialias="no")
        error = self.expect("width is -3", CLIP, width=-3)
        self.assertIn("width is -3", error.message)
        self.assertTrue(error.element.startswith("cudapreproc"))
        self.expect("mean=1,2 has 2 values", CLIP, mean=(1, 2))

    def test_sources(self):
        self.expect("no file, URI or pipeline", "none.mp4", FileNotFoundError)
        self.expect("/none.mp4", "file:///none.mp4")
        self.expect('no element "nosuch"', "videotestsrc ! nosuch")
        self.expect("v4l2src ! decodebin", 0, ValueError)
        self.expect("v4l2src device=/dev/null ! decodebin", "/dev/null",
                    ValueError)
        self.expect("text file", MEDIA / "README.md")
        self.expect("could not link", "fakesrc ! audio/x-raw")

    def test_in_mid_stream(self):
        count = 0
        with self.assertRaisesRegex(cudapreproc.Error, "identity0: Failed"):
            for tensor in cudapreproc.open(
                    GRADIENT.format(30) + " ! identity error-after=10",
                    width=8, height=8, async_depth=0):
                count += 1
        self.assertEqual(count, 9)

    def test_stream_goes_after_an_error(self):
        """At once, and not with the next garbage collection."""
        gc.disable()
        self.addCleanup(gc.enable)
        stream = cudapreproc.open(GRADIENT.format(9) + " ! identity "
                                  "error-after=2", width=8, height=8)
        gone = weakref.ref(stream)
        try:  # assertRaises would clear the frames
            list(stream)
        except cudapreproc.Error:
            pass
        del stream
        self.assertIsNone(gone())

    def test_text_of_a_failed_tensor(self):
        """A memory that somebody writes to cannot be mapped for reading."""
        with cudapreproc.open(GRADIENT.format(1), width=8,
                              height=8) as stream:
            tensor = next(stream)
            memory = call("gst_buffer_peek_memory", ctypes.c_void_p,
                          tensor._buffer, 0)
            writing = int(Gst.LockFlags.WRITE)
            call("gst_mini_object_lock", ctypes.c_int, memory, writing)
            with self.assertRaisesRegex(cudapreproc.Error,
                                        "could not be computed"):
                tensor.numpy()
            stream.element.post_message(Gst.Message.new_error(
                stream.element, GLib.Error.new_literal(
                    Gst.stream_error_quark(), "the GPU is gone", 1), ""))
            with self.assertRaisesRegex(cudapreproc.Error, "the GPU is gone"):
                tensor.numpy()
            call("gst_mini_object_unlock", None, memory, writing)
            self.assertEqual(tensor.numpy().shape, (1, 3, 8, 8))

    def test_timeout(self):
        with cudapreproc.open(SILENT, width=8, height=8) as stream:
            start = time.monotonic()
            self.assertIsNone(stream.pull(0))
            self.assertIsNone(stream.pull(0.3))
            self.assertLess(time.monotonic() - start, 5)

    def test_camera_that_is_away(self):
        """latest waits for packets as camera.c does. The error comes with the
        first tensor."""
        for latest, expected in ((False, 2000), (True, 100)):
            with cudapreproc.open("rtsp://127.0.0.1:1/x", latest=latest,
                                  width=8) as stream:
                found = stream.pipeline.iterate_all_by_element_factory_name(
                    "rtspsrc").next()[1]
                if found is None:
                    self.skipTest("no rtspsrc")
                self.assertEqual(found.get_property("latency"), expected)
                with self.assertRaisesRegex(cudapreproc.Error, "(?i)connect"):
                    next(stream)

    def test_without_gobject(self):
        """The Python that runs it, and what to use instead."""
        program = ("import sys, cudapreproc\n"
                   "sys.modules['gi'] = None\n"
                   "cudapreproc.open('videotestsrc')\n")
        done = subprocess.run([sys.executable, "-c", program], timeout=60,
                              capture_output=True, text=True)
        self.assertRegex(done.stderr, "ImportError: .*" + sys.executable +
                         ".*python3-gi.*--system-site-packages")

    def test_gstreamer_is_initialised(self):
        """PyGObject refuses None as Gst.init's arguments since GStreamer 1.28."""
        program = ("import gi\n"
                   "gi.require_version('Gst', '1.0')\n"
                   "from gi.repository import Gst\n"
                   "init = Gst.init\n"
                   "Gst.init = lambda arguments: init([*arguments])\n"
                   "import cudapreproc\n"
                   "next(cudapreproc.open('videotestsrc', width=8))\n")
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

    def test_interrupt(self):
        with cudapreproc.open(SILENT, width=8, height=8) as stream:
            timer = threading.Timer(0.3, os.kill,
                                    (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                next(stream)
            timer.join()


class Help(unittest.TestCase):
    def test_only_what_is_public(self):
        """pydoc takes a class with _fields for a named tuple and shows it all."""
        text = re.sub(".\b", "", pydoc.render_doc(cudapreproc))
        self.assertEqual(re.findall(r"(?m)^ +\|  (_[a-z]\w*)", text), [])
        # What only the module makes has no constructor.
        self.assertEqual(re.findall(r"(?m)^ +\|  ((?:Stream|Tensor|Frame)\(.*)",
                                    text), [])


class Processes(unittest.TestCase):
    def test_forked(self):
        stream = cudapreproc.open(GRADIENT.format(30), width=8, height=8)
        tensor = next(stream)
        array = tensor.numpy()
        child = os.fork()
        if child == 0:
            wrong = 0
            for call in (lambda: next(stream), tensor.numpy,
                         lambda: tensor.pictures, stream.close,
                         lambda: cudapreproc.open(CLIP)):
                try:
                    call()
                    wrong += 1
                except cudapreproc.Error as error:
                    wrong += "spawn" not in str(error)
            wrong += bool(numpy.any(numpy.isnan(array)))
            del stream, tensor, array
            gc.collect()
            os._exit(wrong)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(sum(1 for _ in stream), 29)

    def test_forked_before_use(self):
        """Importing the module alone takes nothing from a child."""
        program = ("import os, cudapreproc\n"
                   "child = os.fork()\n"
                   "n = sum(1 for _ in cudapreproc.open("
                   "'videotestsrc num-buffers=4', width=8))\n"
                   "assert n == 4\n"
                   "if child: assert os.waitpid(child, 0)[1] == 0\n")
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

    def test_spawned(self):
        expected = float(next(cudapreproc.open(CLIP, width=32, height=32))
                         .numpy().mean())
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        child = context.Process(target=mean_in_child, args=(queue,))
        child.start()
        self.assertEqual(queue.get(timeout=60), expected)
        child.join()
        self.assertEqual(child.exitcode, 0)


class OnDevice(unittest.TestCase):
    def test_interface(self):
        class Provider:
            pointer = 0x7000

        array = cudapreproc.DeviceArray(Provider(), (1, 3, 4, 5), "<f2")
        interface = array.__cuda_array_interface__
        self.assertEqual(interface["shape"], (1, 3, 4, 5))
        self.assertEqual(interface["typestr"], "<f2")
        self.assertEqual(interface["data"], (0x7000, False))
        self.assertEqual(interface["version"], 3)
        self.assertIsNone(interface["stream"])
        self.assertIsNone(interface["strides"])

    def test_host_tensors_have_none(self):
        with cudapreproc.open(GRADIENT.format(1), width=8,
                              height=8) as stream:
            tensor = next(stream)
        self.assertFalse(hasattr(tensor, "__cuda_array_interface__"))

    def test_open(self):
        with self.assertRaisesRegex(ValueError, "device='gpu'"):
            cudapreproc.open(CLIP, device="gpu")
        with self.assertRaisesRegex(cudapreproc.Error, "on cpu"):
            cudapreproc.open(CLIP, device="cuda", backend="cpu")

    def test_on_a_gpu(self):
        settings = {"width": 32, "height": 40, "fit": "letterbox"}
        try:
            stream = cudapreproc.open(CLIP, device="cuda", backend="cuda",
                                      **settings)
        except cudapreproc.Error as error:
            self.skipTest(str(error))
        tensor = next(stream)
        interface = tensor.__cuda_array_interface__
        self.assertEqual(interface["shape"], (1, 3, 40, 32))
        self.assertFalse(interface["data"][1])
        host = next(cudapreproc.open(CLIP, **settings)).numpy()
        self.assertTrue((tensor.numpy() == host).all())
        try:
            import torch
        except ImportError:
            return
        array = torch.as_tensor(tensor, device="cuda")
        self.assertEqual(array.data_ptr(), interface["data"][0])
        del tensor, stream
        self.assertTrue((array.cpu().numpy() == host).all())

    def test_device_tensor(self):
        """Caps that say so, on memory that takes GST_MAP_CUDA for a plain map."""
        pipeline = Gst.parse_launch(
            GRADIENT.format(2) + " ! cudapreproc width=8 height=4 name=p ! "
            "appsink name=sink enable-last-sample=false")
        stream = cudapreproc.tensors(pipeline.get_by_name("sink"))
        pipeline.set_state(Gst.State.PLAYING)
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        tensor = next(stream)
        data = address(tensor.numpy())
        tensor.device = "cuda"
        interface = tensor.__cuda_array_interface__
        self.assertEqual(interface["data"], (data, False))
        self.assertEqual(interface["shape"], (1, 3, 4, 8))
        self.assertEqual(interface["typestr"], "<f4")
        self.assertIs(tensor.__cuda_array_interface__, interface)


if __name__ == "__main__":
    unittest.main(verbosity=2)
