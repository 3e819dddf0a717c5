# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every example of the README is run, as it is written there.

What only some machines have, such as a camera, has a stand-in in the tables below.
A block that no table knows is a failure, and so is a stand-in that replaces
nothing. Arguments: README.md, the build folder, Meson. Run by meson test.
"""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PATIENCE = 100
# The film of the README, and one that needs fewer decoders.
FILMS = ("bunny_360p_bt709_full.mp4", "bunny_480_mjpeg420.avi")

# Blocks of commands by how they begin: what is replaced, and by what. {source} is
# the source folder. .ci/run runs the first two blocks without a stand-in.
COMMANDS = {
    "$(command -v sudo) sh -c 'apt-get": [
        (r"\$\(command -v sudo\) sh -c '[^']*'", "true"),
        (r"meson setup build", "test -e build/build.ninja"),
        (r"meson test -C build",
         "meson test -C build --no-rebuild --logbase readme geometry"),
    ],
    "export GST_PLUGIN_PATH": [],
    "meson configure build": [
        (r"meson configure build",
         "meson setup fresh {source} -Dauto_features=disabled"),
        (r"meson install -C build",
         "meson introspect fresh --installed | grep -F "
         '\\"$(pkg-config --variable=pluginsdir gstreamer-1.0)/'
         'libgstcudapreproc.so\\"'),
    ],
    "# a file": [
        (r"v4l2src", "videotestsrc num-buffers=30 ! video/x-raw,format=YUY2"),
        (r"rtspsrc location=\S+ latency=100",
         "videotestsrc num-buffers=30 ! jpegenc"),
        (r"tensor_filter framework=onnxruntime model=\S+",
         "other/tensors,types=float32,dimensions=640:640:3:1"),
    ],
    "gst-launch-1.0 -v videotestsrc": [],
    "gst-launch-1.0 -v cudapreprocmux": [],
    "gst-launch-1.0 videotestsrc": [],
    # The port is one that is free.
    "# on the machine with the model": [
        (r"host=0\.0\.0\.0", "host=127.0.0.1"),
        (r"host=model\.local", "host=127.0.0.1"),
        (r"port=5000", "port={port}"),
    ],
    "python3 tests/examples/four_files.py": [(r"python3", "{python}")],
    "python3 tests/examples/second_model.py": [(r"python3", "{python}")],
    "gcc -o boxes": [],
    "gcc -o static": [],
}
# The C program is built by this command of the text, and the pictures' loop, which
# is an indented block, becomes part of it.
BUILD = r"`(gcc -o tensors tensors\.c [^`]*)`"
LOOP = "GstCudaPreprocPicture picture;"


def read_blocks(text):
    """Of each block its kind, "" if it is indented, and its text."""
    fenced = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    rest = re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.M | re.S)
    indented = re.findall(r"(?<=\n\n)((?: {4}.*\n)+)", rest)
    return fenced + [("", re.sub(r"^ {4}", "", block, flags=re.M))
                     for block in indented]


def shell(block):
    """Its commands."""
    return [line for line in block.splitlines()
            if line and not line.startswith("#")]


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = README.read_text(encoding="utf-8")
        cls.blocks = read_blocks(cls.text)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            cls.port = probe.getsockname()[1]
        cls.scratch = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.environment = dict(os.environ,
                               GST_REGISTRY=str(cls.scratch / "registry"))
        (cls.scratch / "build").symlink_to(BUILD_FOLDER)
        (cls.scratch / "tests").symlink_to(README.parent / "tests")
        for film in FILMS:
            path = README.parent / "tests" / "media" / film
            if cls.run_in_shell(f"gst-launch-1.0 -q filesrc location={path} ! "
                                "decodebin ! video/x-raw ! fakesink")[0] == 0:
                (cls.scratch / "film.mp4").symlink_to(path)
                break
        cls.install()

    @classmethod
    def install(cls):
        """What was built, into a folder; pkg-config finds it there."""
        root = cls.scratch / "root"
        subprocess.run([MESON, "install", "-C", BUILD_FOLDER, "--no-rebuild",
                        "--quiet"], check=True, env=dict(
                            os.environ, DESTDIR=str(root)))
        (cls.config,) = root.glob("**/gstcudapreproc-1.0.pc")
        cls.config.write_text(re.sub("(?m)^prefix=", f"prefix={root}",
                                     cls.config.read_text()))
        path = os.environ.get("PKG_CONFIG_PATH")
        cls.environment["PKG_CONFIG_PATH"] = (
            str(cls.config.parent) + (f":{path}" if path else ""))

    @classmethod
    def run_in_shell(cls, command):
        """Exit status and output."""
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=cls.scratch, env=cls.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True)
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return "too slow", output
        return process.returncode, output

    def check(self, command):
        status, output = self.run_in_shell(command)
        self.assertEqual(status, 0, f"{command}\n{output}")
        return output

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"no {program}")

    def need_film(self):
        self.need("gst-launch-1.0")
        if not (self.scratch / "film.mp4").exists():
            self.skipTest("GStreamer decodes none of " + ", ".join(FILMS))

    def find(self, begin):
        """The commands of a block, with their stand-ins."""
        (text,) = [text for kind, text in self.blocks
                   if kind == "sh" and text.startswith(begin)]
        text = "\n".join(shell(text))
        for pattern, stand_in in COMMANDS[begin]:
            self.assertRegex(text, pattern)
            stand_in = stand_in.format(source=README.parent, port=self.port,
                                       python=sys.executable)
            text = re.sub(pattern, lambda match: stand_in, text)
        return text.splitlines()

    def find_one(self, kind, word=""):
        (text,) = [text for other, text in self.blocks
                   if kind == other and word in text]
        return text

    def test_tables_know_all(self):
        unknown = [(kind, text) for kind, text in self.blocks if not (
            kind == "sh" and any(map(text.startswith, COMMANDS)) or
            kind in ("c", "python") or kind == "" and LOOP in text)]
        self.assertEqual(unknown, [], "name it in COMMANDS and run it in a test")
        kinds = [kind for kind, text in self.blocks]
        for kind, count in {"c": 1, "python": 2, "": 1,
                            "sh": len(COMMANDS)}.items():
            self.assertEqual(kinds.count(kind), count, kind)

    def test_build(self):
        self.need("meson")
        self.need_film()
        for command in self.find("$(command -v sudo) sh -c 'apt-get"):
            self.check(command)
        self.assertGreater((BUILD_FOLDER / "demo.png").stat().st_size, 1000)

    def test_installation(self):
        self.need("meson", "pkg-config")
        for command in self.find("meson configure build"):
            self.check(command)

    def test_pipelines(self):
        self.need_film()
        for command in self.find("# a file"):
            self.check(command)

    def test_batches(self):
        self.need("gst-launch-1.0")
        (command,) = self.find("gst-launch-1.0 -v videotestsrc")
        output = self.check(command)
        self.assertRegex(output, r"dimensions=\(string\)224:224:3:8")
        self.assertRegex(output, r"framerate=\(fraction\)15/4")

    def test_several_streams(self):
        self.need("gst-launch-1.0")
        command = " ".join(self.find("gst-launch-1.0 -v cudapreprocmux"))
        output = self.check(command.replace("\\", ""))
        self.assertRegex(output, r"dimensions=\(string\)640:640:3:2")

    def test_picture(self):
        self.need("gst-launch-1.0")
        (command,) = self.find("gst-launch-1.0 videotestsrc")
        self.check(command)
        picture = (self.scratch / "picture.png").read_bytes()
        # The sizes in a PNG's first chunk.
        self.assertEqual(picture[16:24].hex(), "0000028000000280")

    def test_two_machines(self):
        self.need_film()
        receive, send = self.find("# on the machine with the model")
        results = []
        receiver = threading.Thread(
            target=lambda: results.append(self.run_in_shell(receive)))
        receiver.start()
        until = time.monotonic() + PATIENCE
        # Who connects too early is refused, as the text warns.
        while (sent := self.run_in_shell(send))[0] != 0:
            self.assertRegex(sent[1], "(?i)connect")
            self.assertLess(time.monotonic(), until, sent[1])
        receiver.join()
        self.assertEqual(results[0][0], 0, results[0][1])
        self.assertIn("EOS", results[0][1])

    def test_python(self):
        self.need_film()
        for word in ("tensor.numpy()", "tensor.frames"):
            (self.scratch / "example.py").write_text(
                self.find_one("python", word))
            output = self.check(f"{sys.executable} example.py")
            self.assertGreater(len(output.splitlines()), 2)

    def check_models(self, begin):
        """The lines that a program with models prints."""
        self.need_film()
        status, output = self.run_in_shell(
            f"{sys.executable} tests/examples/test_models.py --networks .")
        if status == 77:
            self.skipTest(output)
        self.assertEqual(status, 0, output)
        (command,) = self.find(begin)
        return self.check(command).splitlines()

    def test_four_files(self):
        lines = self.check_models("python3 tests/examples/four_files.py")
        self.assertGreater(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^0:(\d+:\d) 1:\1 2:\1 3:\1$")

    def test_second_model(self):
        lines = self.check_models("python3 tests/examples/second_model.py")
        self.assertGreater(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^\d+( \d:\d+,\d+,\d+,\d+)*$")

    def test_c(self):
        self.need("gcc", "pkg-config")
        self.need_film()
        build = re.search(BUILD, self.text)[1].replace("gcc", "gcc -Wall -Werror")
        program = self.find_one("c")
        source = self.scratch / "tensors.c"
        source.write_text(program)
        self.check(build)
        self.assertGreater(len(self.check("./tensors").splitlines()), 2)
        # With the loop for each tensor.
        place = "    if (gst_buffer_map ("
        self.assertIn(place, program)
        source.write_text(
            "#include <gst/cudapreproc/cudapreproc.h>\n" + program.replace(
                place, self.find_one("", LOOP).replace(
                    "&picture, box, in_frame);",
                    "&picture, box, in_frame);\n"
                    'g_print ("box %g\\n", in_frame[0]);') + place))
        self.check(build.replace("gstreamer-app-1.0",
                                 "gstreamer-app-1.0 gstcudapreproc-1.0"))
        self.assertRegex(self.check("./tensors"), r"(?m)^box \d")

    def test_not_installed(self):
        """Plugin, module and header, with what the folder of the source sets."""
        self.need("gcc", "pkg-config", "gst-inspect-1.0")
        (setting,) = self.find("export GST_PLUGIN_PATH")
        (build,) = self.find("gcc -o boxes")
        try:
            (self.scratch / "gst").symlink_to(README.parent / "gst")
            self.check("unset GST_PLUGIN_PATH_1_0 PYTHONPATH; " + setting +
                       f"; {build} -fsyntax-only && "
                       "gst-inspect-1.0 cudapreproc >/dev/null && "
                       f"{sys.executable} -c 'import cudapreproc'")
        finally:
            (self.scratch / "gst").unlink()

    def test_tensor_picture(self):
        """The program that made it."""
        self.need_film()
        film = README.parent / "tests" / "media" / "bunny_360p_bt709_full.mkv"
        if self.run_in_shell(
                f"gst-inspect-1.0 --exists rsvgoverlay && gst-launch-1.0 -q "
                f"filesrc location={film} ! decodebin ! fakesink")[0] != 0:
            self.skipTest("GStreamer has no rsvgoverlay or no H.264 decoder")
        self.check(f"{sys.executable} {README.parent}/docs/make_tensor.py "
                   "tensor.png")
        made, kept = (path.read_bytes() for path in (
            self.scratch / "tensor.png", README.parent / "docs" / "tensor.png"))
        self.assertEqual(made[:29], kept[:29])  # with width and height
        self.assertLess(len(kept), 300000)

    def test_boxes(self):
        self.need("gcc", "pkg-config")
        self.need_film()
        for command in self.find("gcc -o boxes"):
            self.check(command)
        self.assertGreater(len(self.check("./boxes film.mp4").splitlines()), 1)

    def test_static(self):
        self.need("gcc", "pkg-config")
        if not list(self.scratch.glob("root/**/libgstcudapreproc.a")):
            self.skipTest("built without -Ddefault_library=both or static")
        for command in self.find("gcc -o static"):
            self.check(command)
        self.check("./static")


if __name__ == "__main__":
    README = pathlib.Path(sys.argv.pop(1)).resolve()
    BUILD_FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()
    MESON = sys.argv.pop(1)
    os.environ["PATH"] = (os.path.dirname(MESON) + os.pathsep +
                          os.environ["PATH"])
    unittest.main(verbosity=2)
