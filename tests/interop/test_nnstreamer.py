# SPDX-License-Identifier: LGPL-2.1-or-later
"""The element's tensors in NNStreamer's elements, compared byte by byte.

NNStreamer is where the system has it, or where NNSTREAMER_PREFIX says. Run by meson
test; exits with 77 where it is missing.
"""

import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

PREFIX = os.environ.get("NNSTREAMER_PREFIX")
if PREFIX and "PP_NNSTREAMER" not in os.environ:
    # The dynamic linker reads its variables only once.
    found = list(pathlib.Path(PREFIX).resolve().glob("lib*/**/libnnstreamer.so"))
    if not found:
        sys.exit(f"NNSTREAMER_PREFIX={PREFIX} has no libnnstreamer.so")
    # There is a link to it beside the plugins.
    library = min(found, key=lambda path: len(path.parts)).parent
    for name, folder in (("LD_LIBRARY_PATH", library),
                         ("GST_PLUGIN_PATH_1_0", library / "gstreamer-1.0"),
                         ("PKG_CONFIG_PATH", library / "pkgconfig")):
        others = os.environ.get(name)
        os.environ[name] = str(folder) + (f":{others}" if others else "")
    os.environ["GST_REGISTRY"] = os.environ.get("GST_REGISTRY", "") + ".nnstreamer"
    os.environ["PP_NNSTREAMER"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.argv])

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import Gst, GstApp  # noqa: F401
    import numpy
except (ImportError, ValueError) as missing:
    print("SKIP:", missing)
    sys.exit(77)

PATIENCE = 20 * Gst.SECOND
FRAMES = 8
HERE = pathlib.Path(__file__).parent
# The ball moves: no two tensors are alike.
SOURCE = (f"videotestsrc pattern=ball num-buffers={FRAMES} ! "
          "video/x-raw,format=NV12,width=100,height=60,framerate=30/1 ! "
          "cudapreproc fit=letterbox ")
# What the model asks for, and the properties that give the same tensor. The last
# number of a shape is the batch's.
MODELS = (
    ("float32", "64:48:3:1", "type=float32 layout=nchw width=64 height=48"),
    ("float16", "48:64:3:1", "type=float16 layout=nchw width=48 height=64"),
    ("uint8", "3:64:48:1", "type=uint8 layout=nhwc width=64 height=48"),
    ("int8", "3:31:17:1", "type=int8 layout=nhwc width=31 height=17"),
    ("float32", "1:64:48:1", "layout=nhwc channels=gray width=64 height=48"),
    ("uint8", "33:20:1:1",
     "type=uint8 layout=nchw channels=gray width=33 height=20"),
    ("float32", "64:48:3:4", "type=float32 layout=nchw width=64 height=48"),
    ("uint8", "3:64:48:8", "type=uint8 layout=nhwc width=64 height=48"),
    # NNStreamer leaves out ones at the end.
    ("float32", "64:48:3", "type=float32 layout=nchw width=64 height=48"),
)
TYPES = {"float32": "f4", "float16": "f2", "uint8": "u1", "int8": "i1"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def read_memory(memory):
    mapped, info = memory.map(Gst.MapFlags.READ)
    assert mapped
    data = bytes(info.data)
    memory.unmap(info)
    return data


def read_memories(buffer):
    return [read_memory(buffer.get_memory(i)) for i in range(buffer.n_memory())]


def run(line, *sinks):
    """What arrives at each appsink, which is named sink where none is named: for
    each buffer the bytes of its memories. And the caps of the last sink."""
    pipeline = Gst.parse_launch(line)
    pipeline.set_state(Gst.State.PLAYING)
    results = []
    for name in sinks or ["sink"]:
        sink, buffers = pipeline.get_by_name(name), []
        while (sample := sink.try_pull_sample(PATIENCE)) is not None:
            buffers.append(read_memories(sample.get_buffer()))
            caps = sample.get_caps().to_string()
        results.append(buffers)
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message is None, message.parse_error()
    assert all(results), "nothing arrived"
    return (*results, caps)


def tensors(properties, kind="float32"):
    """The element's alone, as arrays of one dimension."""
    buffers, _ = run(SOURCE + properties + " ! appsink name=sink sync=false")
    assert len(buffers) == FRAMES
    assert len({data for data, in buffers}) == FRAMES
    return [numpy.frombuffer(data, TYPES[kind]) for data, in buffers]


class NNStreamer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)

    def compare(self, found, expected):
        """found: for each buffer its memories; expected: arrays."""
        self.assertEqual(len(found), len(expected))
        for n, (memories, array) in enumerate(zip(found, expected)):
            self.assertEqual(len(memories), 1)
            self.assertEqual(memories[0], array.tobytes(), f"buffer {n}")

    def build_model(self):
        model = self.scratch / "nnsmodel.so"
        if not model.exists():
            compiler = shlex.split(os.environ.get("CC", "cc"))
            flags = subprocess.run(
                ["pkg-config", "--cflags", "--libs", "nnstreamer", "gstreamer-1.0"],
                stdout=subprocess.PIPE, text=True)
            if flags.returncode != 0 or shutil.which(compiler[0]) is None:
                self.skipTest("no compiler, or NNStreamer has no headers")
            subprocess.run(
                [*compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o",
                 str(model), str(HERE / "nnsmodel.c"),
                 *shlex.split(flags.stdout)], check=True)
        return model

    def test_filter_decides(self):
        """Size, layout, channels and type are the model's."""
        model = self.build_model()
        for kind, shape, properties in MODELS:
            with self.subTest(kind=kind, shape=shape):
                found, caps = run(
                    f"{SOURCE} ! tensor_filter framework=custom model={model} "
                    f"custom={kind},{shape} ! appsink name=sink sync=false")
                self.assertIn(f"(string){kind}", caps)
                arrays = tensors(properties, kind)
                n = int((shape.split(":") + ["1"])[3])
                self.compare(found, [numpy.concatenate(arrays[i:i + n])
                                     for i in range(0, FRAMES, n)])

    def test_arithmetic(self):
        found, _ = run(
            SOURCE + "width=64 height=48 type=uint8 ! tensor_transform "
            "mode=arithmetic option=typecast:float32,add:-127.5,div:127.5 ! "
            "appsink name=sink sync=false")
        half = numpy.float32(127.5)
        self.compare(found, [
            (array.astype("f4") - half) / half
            for array in tensors("width=64 height=48 type=uint8", "uint8")])

    def test_transpose(self):
        """nchw transposed is nhwc."""
        size = "width=64 height=48"
        found, _ = run(
            SOURCE + size + " layout=nchw ! tensor_transform mode=transpose "
            "option=2:0:1:3 ! other/tensors,dimensions=3:64:48:1 ! "
            "appsink name=sink sync=false")
        self.compare(found, tensors(size + " layout=nhwc"))

    def two(self, element, rest):
        """Two elements' tensors joined by one; the second's are gray."""
        return (f"{element} name=join ! {rest} "
                f"{SOURCE} width=64 height=48 ! queue ! join. "
                f"{SOURCE} width=64 height=48 channels=gray ! queue ! join. ")

    def expected_of_two(self):
        return (tensors("width=64 height=48"),
                tensors("width=64 height=48 channels=gray"))

    def test_mux_and_demux(self):
        """As memories of one buffer, and apart again."""
        found, _ = run(self.two("tensor_mux", "appsink name=sink sync=false"))
        color, gray = self.expected_of_two()
        self.compare([memories[:1] for memories in found], color)
        self.compare([memories[1:] for memories in found], gray)
        first, second, _ = run(
            self.two("tensor_mux", "tensor_demux name=demux") +
            "demux.src_0 ! queue ! appsink name=first sync=false "
            "demux.src_1 ! queue ! appsink name=second sync=false",
            "first", "second")
        self.compare(first, color)
        self.compare(second, gray)

    def test_merge(self):
        """Four channels of three and one."""
        found, caps = run(self.two("tensor_merge mode=linear option=2",
                                   "appsink name=sink sync=false"))
        self.assertIn("64:48:4:1", caps)
        self.compare(found, [numpy.concatenate(pair)
                             for pair in zip(*self.expected_of_two())])

    def test_aggregator(self):
        """Batches of four."""
        found, caps = run(
            SOURCE + "width=64 height=48 ! tensor_aggregator frames-in=1 "
            "frames-out=4 frames-flush=4 frames-dim=3 concat=true ! "
            "appsink name=sink sync=false")
        self.assertIn("64:48:3:4", caps)
        arrays = tensors("width=64 height=48")
        self.compare(found, [numpy.concatenate(arrays[:4]),
                             numpy.concatenate(arrays[4:])])

    def test_sink(self):
        pipeline = Gst.parse_launch(
            SOURCE + "width=64 height=48 ! tensor_sink name=sink sync=false")
        found = []
        pipeline.get_by_name("sink").connect(
            "new-data", lambda sink, buffer: found.append(read_memories(buffer)))
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(
            PATIENCE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(message.type, Gst.MessageType.EOS)
        self.compare(found, tensors("width=64 height=48"))

    def test_decoder(self):
        """Back to a picture: of the tensor's size, with its bytes."""
        properties = "width=64 height=48 type=uint8 layout=nhwc"
        found, caps = run(
            SOURCE + properties + " ! tensor_decoder mode=direct_video ! "
            "video/x-raw,format=RGB ! appsink name=sink sync=false")
        self.assertIn("width=(int)64", caps)
        self.compare(found, tensors(properties, "uint8"))

    def test_query(self):
        """Frames go to a server, which answers each with a tensor. The client's
        id is a meta, which must pass the element. The server tells its caps
        before the first frame, so they are stated."""
        if Gst.ElementFactory.find("tensor_query_client") is None:
            self.skipTest("NNStreamer was built without nnstreamer-edge")
        properties = "width=64 height=48 type=uint8"
        frames, element = SOURCE.split(" ! cudapreproc")
        video = frames.split(" ! ")[1]
        tensor = ("other/tensors,format=static,num_tensors=1,types=uint8,"
                  "dimensions=64:48:3:1,framerate=30/1")
        port = free_port()
        server = Gst.parse_launch(
            f"tensor_query_serversrc host=127.0.0.1 port={port} ! {video} ! "
            f"cudapreproc{element} ! {tensor} ! "
            "tensor_query_serversink async=false sync=false")
        server.set_state(Gst.State.PLAYING)
        self.addCleanup(server.set_state, Gst.State.NULL)
        found, caps = run(
            f"{frames} ! tensor_query_client host=127.0.0.1 port=0 "
            f"dest-host=127.0.0.1 dest-port={port} max-request=0 timeout=10000 "
            "! appsink name=sink sync=false")
        self.assertIn("dimensions=(string)64:48:3:1", caps)
        self.compare(found, tensors(properties, "uint8"))


if __name__ == "__main__":
    Gst.init([])
    if Gst.ElementFactory.find("tensor_filter") is None:
        print("SKIP: no NNStreamer; NNSTREAMER_PREFIX says where it is")
        sys.exit(77)
    unittest.main(verbosity=2)
