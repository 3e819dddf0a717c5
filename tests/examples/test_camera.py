# SPDX-License-Identifier: LGPL-2.1-or-later
"""The camera examples beside an RTSP server that changes its size, falls silent,
dies and returns.

Arguments: the program, camera.c's or camera.py. Exits with 77 where
gst-rtsp-server is missing. With --serve, KIND and PORT it is the server itself.
"""

import pathlib
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer
except (ImportError, ValueError) as missing:
    print("SKIP:", missing)
    sys.exit(77)

PATIENCE = 40
CLIP = pathlib.Path(__file__).parents[1] / "media" / "bunny_480_mjpeg420.avi"
SIZES = ("320x240", "480x272")
# Encoder, in order of preference, and payloader.
KINDS = {
    "h264": (("x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15",
              "openh264enc gop-size=15 complexity=low"),
             "h264parse ! rtph264pay config-interval=-1 name=pay0 pt=96"),
    "mjpeg": (("jpegenc",), "rtpjpegpay name=pay0 pt=26"),
}


def find_encoder(kind):
    for encoder in KINDS[kind][0]:
        if Gst.ElementFactory.find(encoder.split()[0]) is not None:
            return encoder
    return None


def serve(kind, port):
    """Changes the size every three seconds."""
    caps = ["video/x-raw,format=I420,framerate=30/1,width={},height={}".format(
        *size.split("x")) for size in SIZES]
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        f"( videotestsrc is-live=true ! capsfilter name=size caps={caps[0]} ! "
        f"{find_encoder(kind)} ! {KINDS[kind][1]} )")

    def change(size, n):
        size.set_property("caps", Gst.Caps.from_string(caps[n % 2]))
        GLib.timeout_add_seconds(3, change, size, n + 1)

    def on_configure(factory, media):
        size = media.get_element().get_by_name("size")
        GLib.timeout_add_seconds(3, change, size, 1)

    factory.connect("media-configure", on_configure)
    server = GstRtspServer.RTSPServer()
    server.set_service(str(port))
    server.set_address("127.0.0.1")
    server.get_mount_points().add_factory("/camera", factory)
    server.attach(None)
    print("ready", flush=True)
    GLib.MainLoop().run()


class Camera(unittest.TestCase):
    def setUp(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.server = None
        self.addCleanup(self.stop_server)

    def start_server(self, kind):
        self.server = subprocess.Popen(
            [sys.executable, __file__, "--serve", kind, str(self.port)],
            stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.server.stdout.readline(), "ready\n")

    def stop_server(self):
        if self.server is not None:
            self.server.kill()
            self.server.wait()
            self.server.stdout.close()
            self.server = None

    def start_camera(self, uri=None):
        self.camera = subprocess.Popen(
            [*PROGRAM, uri or f"rtsp://127.0.0.1:{self.port}/camera"],
            stdout=subprocess.PIPE, text=True)
        self.lines, self.said = queue.Queue(), []
        reader = threading.Thread(target=self.read)
        reader.start()
        self.addCleanup(reader.join)
        self.addCleanup(self.camera.wait)
        self.addCleanup(self.camera.kill)  # first: the reader waits for its end

    def read(self):
        with self.camera.stdout as lines:
            for line in lines:
                self.lines.put(line)

    def wait_for(self, *words):
        """Until a line has one of the words; the line."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                line = self.lines.get(timeout=1)
            except queue.Empty:
                continue
            self.said.append(line)
            if any(word in line for word in words):
                return line
        self.fail(f"never said {words}, but:\n{''.join(self.said)}")

    def check(self, kind):
        if find_encoder(kind) is None:
            self.skipTest(f"no encoder for {kind}")
        # No camera yet; later attempts wait longer.
        self.start_camera()
        self.wait_for("again in 1 s")
        self.wait_for("again in 2 s")
        self.start_server(kind)
        self.wait_for("frames of " + SIZES[0])
        self.wait_for("tensors")
        # Its size changes, and back.
        self.wait_for("frames of " + SIZES[1])
        self.wait_for("tensors")
        self.wait_for("frames of " + SIZES[0])
        # It dies and comes back; twice, since the first time might be luck.
        for _ in range(2):
            self.stop_server()
            self.wait_for("again in 0.5 s")
            self.start_server(kind)
            line = self.wait_for("tensors")
            if " ms after" in line:
                self.assertLess(float(line.split()[4]), 2000)
        # It is connected and silent. A server that is stopped keeps connections.
        self.server.send_signal(signal.SIGSTOP)
        self.wait_for("no tensor for 5 s")
        self.wait_for("again in 0.5 s")
        self.server.send_signal(signal.SIGCONT)
        self.wait_for("tensors")
        # Ctrl-C ends it, also while it plays.
        self.camera.send_signal(signal.SIGINT)
        self.assertEqual(self.camera.wait(PATIENCE), 0)

    def test_h264(self):
        self.check("h264")

    def test_mjpeg(self):
        self.check("mjpeg")

    def test_end(self):
        """A film ends, which is no error."""
        self.start_camera(CLIP.as_uri())
        self.wait_for("the stream ended")
        self.wait_for("again in 0.5 s")

    def test_interrupt_while_waiting(self):
        self.start_camera()
        self.wait_for("again in 2 s")
        start = time.monotonic()
        self.camera.send_signal(signal.SIGINT)
        self.assertEqual(self.camera.wait(PATIENCE), 0)
        self.assertLess(time.monotonic() - start, 1.5)


if __name__ == "__main__":
    Gst.init([])
    if sys.argv[1] == "--serve":
        serve(sys.argv[2], sys.argv[3])
    else:
        PROGRAM = [sys.argv.pop(1)]
        if PROGRAM[0].endswith(".py"):
            PROGRAM.insert(0, sys.executable)
        unittest.main(verbosity=2)
