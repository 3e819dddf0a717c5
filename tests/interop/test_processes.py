# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors that cross from one process to another, as over a network.

A process of gst-launch-1.0 makes and sends them, one of Python receives them. What
arrives is compared with what a pipeline in one process gives: caps and bytes
always, times and metas where the transport carries them.

Run by meson test; exits with 77 where PyGObject or NumPy is missing. With
--receive and a pipeline it is a receiver.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import Gst, GstApp  # noqa: F401
    import numpy  # noqa: F401: the module's
except (ImportError, ValueError) as missing:
    print("SKIP:", missing)
    sys.exit(77)

import cudapreproc

FRAMES = 20
PATIENCE = 30
# The ball moves: no two tensors are alike. Regular times, but not from 0.
SOURCE = ("videotestsrc pattern=ball num-buffers={} timestamp-offset=5000000000 "
          "{} ! video/x-raw,format=I420,width=322,height=242,framerate=30/1 ! "
          "cudapreproc fit=letterbox width=64 height=80 type=float16 "
          "async-depth=0")
TENSORS = ("other/tensors,format=static,num_tensors=1,types=float16,"
           "dimensions=64:80:3:1,framerate=30/1")
# Two frames in each tensor.
BATCHES = SOURCE + " batch-size=2"
UNIXFD = "unixfdsink wait-for-connection=true socket-path={}"


def receive(line, count):
    """Prints a line of JSON for each tensor that the pipeline gives."""
    Gst.init([])
    pipeline = Gst.parse_launch(
        line + " ! appsink name=sink sync=false enable-last-sample=false")
    sink = pipeline.get_by_name("sink")
    stream = cudapreproc.tensors(sink)
    pipeline.set_state(Gst.State.PLAYING)
    print("ready", flush=True)
    for _ in range(count):
        tensor = stream.pull(PATIENCE)
        if tensor is None:
            break
        caps = sink.get_static_pad("sink").get_current_caps()
        print(json.dumps({
            "caps": caps.to_string(), "pts": tensor.pts,
            "duration": tensor.duration,
            "bytes": hashlib.sha256(tensor.numpy().tobytes()).hexdigest(),
            "pictures": [dataclasses.asdict(p) for p in tensor.pictures],
        }), flush=True)
    stream = tensor = None
    pipeline.set_state(Gst.State.NULL)


def has(*elements):
    return all(Gst.ElementFactory.find(name) is not None for name in elements)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what):
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"{what} did not come")
        time.sleep(0.02)


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.expected = cls.read(cls.start_receiver(SOURCE.format(FRAMES, "")))
        assert len(cls.expected) == FRAMES, cls.expected
        assert len({tensor["bytes"] for tensor in cls.expected}) == FRAMES
        assert cls.expected[0]["pictures"][0]["matrix"][0] != 1

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @staticmethod
    def start_receiver(line, count=FRAMES, environment=None):
        """Once it plays."""
        receiver = subprocess.Popen(
            [sys.executable, __file__, "--receive", line, str(count)],
            stdout=subprocess.PIPE, text=True, env=environment)
        assert receiver.stdout.readline() == "ready\n"
        return receiver

    @staticmethod
    def read(receiver):
        """What it printed after "ready", once it has ended."""
        watch = threading.Timer(PATIENCE, receiver.kill)
        watch.start()
        with receiver.stdout:
            found = [json.loads(line) for line in receiver.stdout]
        watch.cancel()
        assert receiver.wait() == 0
        return found

    def start_sender(self, sink, source=None):
        sender = subprocess.Popen(
            ["gst-launch-1.0", "-q",
             *(source or SOURCE.format(FRAMES, "")).split(), "!", *sink.split()])
        self.addCleanup(sender.wait)
        self.addCleanup(sender.kill)
        return sender

    def need(self, *elements):
        for name in elements:
            if not has(name):
                self.skipTest(f"GStreamer has no {name} here")

    def path(self):
        """A path that does not exist yet, short enough for a socket."""
        return os.path.join(self.folder, self.id().rsplit(".", 1)[-1])

    def compare(self, found, *fields, expected=None):
        self.assertEqual(len(found), FRAMES)
        for n, (one, other) in enumerate(zip(found, expected or self.expected)):
            for field in fields:
                self.assertEqual(one[field], other[field], f"{field} of {n}")
            self.assertTrue(Gst.Caps.from_string(one["caps"]).is_equal(
                Gst.Caps.from_string(other["caps"])), one["caps"])

    def check_path(self, sink, source, *fields, environment=None, sent=SOURCE,
                   expected=None):
        """sink and source meet at a socket in the file system, the sender's.

        The sender would go on: shmsink's last buffers may get lost if it ends.
        """
        path = self.path()
        sender = self.start_sender(sink.format(path) + " sync=false",
                                   sent.format(-1, ""))
        wait_for(lambda: os.path.exists(path), "the socket")
        found = self.read(self.start_receiver(source.format(path),
                                              environment=environment))
        self.assertIsNone(sender.poll())
        self.compare(found, *fields, expected=expected)
        return found

    def test_shared_memory(self):
        """Bytes alone: whoever receives says what they are."""
        self.need("shmsink", "shmsrc")
        found = self.check_path("shmsink socket-path={}",
                                "shmsrc socket-path={} ! " + TENSORS, "bytes")
        self.assertEqual(found[0]["pictures"], [])

    def test_gdp_in_shared_memory(self):
        self.need("shmsink", "shmsrc", "gdppay", "gdpdepay")
        found = self.check_path("gdppay ! shmsink socket-path={}",
                                "shmsrc socket-path={} ! gdpdepay", "bytes",
                                "pts", "duration")
        self.assertEqual(found[0]["pictures"], [])

    def test_gdp_to_a_server(self):
        """The receiver listens: nothing is lost, whoever is slow."""
        self.need("tcpserversrc", "tcpclientsink", "gdppay", "gdpdepay")
        port = free_port()
        receiver = self.start_receiver(
            f"tcpserversrc host=127.0.0.1 port={port} ! gdpdepay")
        sender = self.start_sender(
            f"gdppay ! tcpclientsink host=127.0.0.1 port={port} sync=false")
        found = self.read(receiver)
        self.assertEqual(sender.wait(PATIENCE), 0)
        self.compare(found, "bytes", "pts", "duration")

    def test_gdp_from_a_server(self):
        """The sender listens: a camera that whoever joins sees from then on."""
        self.need("tcpserversink", "tcpclientsrc", "gdppay", "gdpdepay")
        port = free_port()
        sender = self.start_sender(
            f"gdppay ! tcpserversink host=127.0.0.1 port={port}",
            SOURCE.format(-1, "is-live=true"))

        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        wait_for(listens, "the server")
        for _ in range(2):
            found = self.read(self.start_receiver(
                f"tcpclientsrc host=127.0.0.1 port={port} ! gdpdepay", 5))
            self.assertEqual(len(found), 5)
            self.assertEqual(len({tensor["bytes"] for tensor in found}), 5)
            self.assertEqual({tensor["caps"] for tensor in found},
                             {self.expected[0]["caps"]})
            for one, other in zip(found, found[1:]):
                self.assertGreater(other["pts"], one["pts"])
        self.assertIsNone(sender.poll())

    def need_unixfd(self):
        self.need("unixfdsink", "unixfdsrc")
        if Gst.version() < (1, 27):
            self.skipTest("unixfdsink of this version takes no memory without "
                          "a file descriptor")

    def test_file_descriptors(self):
        """With metas; times are those of the receiver's clock."""
        self.need_unixfd()
        found = self.check_path(UNIXFD, "unixfdsrc socket-path={}", "bytes",
                                "duration", "pictures")
        for n, tensor in enumerate(found):
            self.assertEqual(tensor["pictures"][0]["pts"],
                             self.expected[n]["pts"])

    def test_batches_as_file_descriptors(self):
        """A meta for each picture, in their order."""
        self.need_unixfd()
        expected = self.read(self.start_receiver(BATCHES.format(2 * FRAMES, "")))
        found = self.check_path(UNIXFD, "unixfdsrc socket-path={}", "bytes",
                                "duration", "pictures", sent=BATCHES,
                                expected=expected)
        self.assertEqual([picture["index"] for picture in found[-1]["pictures"]],
                         [0, 1])

    def test_file_descriptors_without_the_plugin(self):
        """Whoever has no plugin gets tensors without metas."""
        self.need_unixfd()
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("GST_PLUGIN_PATH")}
        environment["GST_REGISTRY"] = os.path.join(self.folder, "registry")
        found = self.check_path(UNIXFD, "unixfdsrc socket-path={}", "bytes",
                                "duration", environment=environment)
        self.assertEqual(found[0]["pictures"], [])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--receive"]:
        receive(sys.argv[2], int(sys.argv[3]))
        sys.exit()
    Gst.init([])
    unittest.main(verbosity=2)
