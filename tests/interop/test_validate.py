# SPDX-License-Identifier: LGPL-2.1-or-later
"""gst-validate's scenarios, with the element and with videobalance in its place.

Both must come to the same end, with the same actions and the same issues. The
program gst-validate-1.0 is that of GSTREAMER_PREFIX, or on the PATH. Run by meson
test; exits with 77 where it is missing.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

PATIENCE = 90
SCENARIOS = ("seek_forward", "seek_backward", "pause_resume",
             "scrub_forward_seeking", "scrub_backward_seeking",
             "change_state_intensive", "fast_forward", "reverse_playback",
             "seek_with_stop")
# The last action of fast_forward is due 9 ms before the end, so that the end may
# come first with either element.
TRIES = 3
# Ten seconds; each frame is a key frame. A file, since videotestsrc's num-buffers
# counts the frames that a seek discards: where these run out, gst-validate seeks
# for ever, also with videobalance and a queue.
CLIP = ("videotestsrc num-buffers=250 ! "
        "video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! "
        "jpegenc ! matroskamux ! filesink location={}")
PIPELINE = "filesrc location={} ! matroskademux ! jpegdec ! {} ! fakesink sync=true"
ELEMENT, OTHER = "cudapreproc width=64 height=64 fit=letterbox", "videobalance"


def find_environment():
    """That of gst-validate-1.0, and why there is none."""
    environment = dict(os.environ)
    prefix = os.environ.get("GSTREAMER_PREFIX")
    if prefix:
        folder = pathlib.Path(prefix).resolve()
        # Sources and builds may lie in the prefix, too.
        libraries = [path.parent for path in folder.glob(
            "lib*/**/libgstreamer-1.0.so.0")]
        if not libraries:
            return None, f"GSTREAMER_PREFIX={prefix} has no GStreamer"
        library = str(libraries[0])
        environment.update(
            PATH=f"{folder / 'bin'}:{environment['PATH']}",
            LD_LIBRARY_PATH=library,
            GST_PLUGIN_SYSTEM_PATH_1_0=os.path.join(library, "gstreamer-1.0"))
        for scanner in folder.glob("lib*/**/gst-plugin-scanner"):
            environment["GST_PLUGIN_SCANNER_1_0"] = str(scanner)
    if shutil.which("gst-validate-1.0", path=environment["PATH"]) is None:
        return None, "no gst-validate-1.0"
    return environment, None


class Validate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        ENVIRONMENT["GST_REGISTRY"] = str(cls.scratch / "registry")
        for element in ("jpegenc", "matroskamux", "matroskademux", "jpegdec",
                        "videobalance"):
            if cls.run_program("gst-inspect-1.0", element).returncode != 0:
                raise unittest.SkipTest(f"GStreamer has no {element} here")
        cls.clip = cls.scratch / "clip.mkv"
        made = cls.run_program("gst-launch-1.0", "-q",
                               *CLIP.format(cls.clip).split())
        assert made.returncode == 0, made.stdout

    @staticmethod
    def run_program(*command):
        return subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True,
                              timeout=PATIENCE)

    def play(self, scenario, element):
        """Exit status, actions with their results, issues; and all of the text."""
        played = self.run_program(
            "gst-validate-1.0", f"--set-scenario={scenario}",
            *PIPELINE.format(self.clip, element).split())
        text = re.sub("\x1b\\[[0-9;]*m", "", played.stdout)
        actions = re.findall(r"Action `([\w-]+)` at (\S+) done '(\w+)'", text)
        count = re.search(r"Issues found: (\d+)", text)
        self.assertIsNotNone(count, text)
        issues = re.findall(r"(?m)^ *(?:issue|warning|critical|error) : (.*)$",
                            text)
        self.assertGreater(len(actions), 0, text)
        return (played.returncode, tuple(actions), int(count[1]),
                tuple(sorted(issues))), text


def add_test(scenario):
    def test(self):
        ours, theirs = set(), set()
        for _ in range(TRIES):
            with ThreadPoolExecutor() as pool:
                (one, text), (other, other_text) = pool.map(
                    lambda element: self.play(scenario, element),
                    (ELEMENT, OTHER))
            ours.add(one)
            theirs.add(other)
            if ours & theirs:
                return
        self.assertEqual(one, other, f"{text}\n{OTHER}:\n{other_text}")
    setattr(Validate, f"test_{scenario}", test)


for name in SCENARIOS:
    add_test(name)

if __name__ == "__main__":
    ENVIRONMENT, reason = find_environment()
    if ENVIRONMENT is None:
        print("SKIP:", reason)
        sys.exit(77)
    unittest.main(verbosity=2)
