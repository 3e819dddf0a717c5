# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes docs/tensor.png: a frame, its letterboxed tensor, and a box in both.

Needs what cudapreproc.py needs, a decoder for H.264, and GStreamer's rsvgoverlay.
Argument: the PNG. In this project's folder, with PYTHONPATH and GST_PLUGIN_PATH as
the README has them:

    python3 docs/make_tensor.py docs/tensor.png
"""

import pathlib
import struct
import sys
import zlib

import numpy

import cudapreproc

CLIP = (pathlib.Path(__file__).parents[1] / "tests" / "media" /
        "bunny_360p_bt709_full.mkv")
NTH = 6
SIZE = 360  # of the tensor: as high as the frame
BOX = [57, 97, 182, 263]  # the rabbit, in the tensor
MARGIN, GAP, LABELS = 16, 92, 64
COLOURS = 256


def convert():
    """The frame and the tensor as arrays of RGB, and the box in the frame."""
    source = (f'filesrc location="{CLIP}" ! decodebin ! videoconvert ! '
              "video/x-raw,format=RGB")
    with cudapreproc.open(source, preset="yolo", width=SIZE, height=SIZE,
                          layout="nhwc", attach_frame=True) as stream:
        for _ in range(NTH):
            next(stream)
        tensor = next(stream)
        picture, = tensor.pictures
        pixels = numpy.rint(tensor.numpy()[0] * 255).astype(numpy.uint8)
        return (tensor.frames[0].planes[0], pixels,
                picture.boxes_to_frame(BOX).round().astype(int))


def describe(x, y, box, name, title, text):
    """A box and what is written below a picture at (x, y), as SVG."""
    left, top, right, bottom = box
    below = MARGIN + SIZE
    return f"""
      <rect x="{x + left}" y="{y + top}" width="{right - left}"
        height="{bottom - top}" fill="none" stroke="#e8590c" stroke-width="3"/>
      <text x="{x + left + 5}" y="{y + top - 8}" fill="white" stroke="#212529"
        stroke-width="3" paint-order="stroke" font-weight="bold">{name}</text>
      <text x="{x}" y="{below + 24}" font-weight="bold">{title}</text>
      <text x="{x}" y="{below + 46}" fill="#495057">{text}</text>"""


def draw(frame, pixels, box):
    """Both side by side on white, with labels: an array of RGB."""
    height, width = frame.shape[:2]
    right = MARGIN + width + GAP
    canvas = numpy.full((SIZE + MARGIN + LABELS, right + SIZE + MARGIN, 4), 255,
                        numpy.uint8)
    canvas[MARGIN:MARGIN + height, MARGIN:MARGIN + width, 2::-1] = frame
    canvas[MARGIN:MARGIN + SIZE, right:right + SIZE, 2::-1] = pixels
    from_, to = MARGIN + width + 12, right - 12
    arrows = "".join(
        f"""<path d="M{a} {y}H{b}m{tip} -6l{-tip} 6 {tip} 6" fill="none" stroke="#212529"
          stroke-width="2"/>
        <text x="{(a + b) / 2}" y="{y - 10}" text-anchor="middle"
          font-size="13">{text}</text>"""
        for a, b, tip, y, text in ((from_, to, -8, 150, "letterbox"),
                                   (to, from_, 8, 250, "map box")))
    svg = f"""<svg xmlns="http://www.w3.org/2000/svg" font-size="16"
      width="{canvas.shape[1]}" height="{canvas.shape[0]}" fill="#212529"
      font-family="DejaVu Sans, sans-serif">
      {describe(MARGIN, MARGIN, box, "mapped back",
                f"Frame, {width}×{height}",
                "box " + ", ".join(map(str, box)))}
      {describe(right, MARGIN, BOX, "found",
                f"Tensor, 1×3×{SIZE}×{SIZE}",
                "box " + ", ".join(map(str, BOX)) + " of the network")}
      {arrows}</svg>"""
    return overlay(canvas, svg)


def overlay(canvas, svg):
    """The canvas, BGRA, with the drawing on it, as RGB."""
    from gi.repository import Gst
    height, width = canvas.shape[:2]
    pipeline = Gst.parse_launch(
        "appsrc name=source format=time ! rsvgoverlay name=overlay ! "
        "videoconvert ! video/x-raw,format=RGBA ! appsink name=sink sync=false")
    source, sink = (pipeline.get_by_name(name) for name in ("source", "sink"))
    source.set_property("caps", Gst.Caps.from_string(
        f"video/x-raw,format=BGRA,width={width},height={height},"
        "framerate=1/1"))
    pipeline.get_by_name("overlay").set_property("data", svg)
    pipeline.set_state(Gst.State.PLAYING)
    buffer = Gst.Buffer.new_wrapped(canvas.tobytes())
    buffer.pts = 0
    source.push_buffer(buffer)
    source.end_of_stream()
    sample = sink.try_pull_sample(20 * Gst.SECOND)
    pipeline.set_state(Gst.State.NULL)
    if sample is None:
        sys.exit("no picture came out of rsvgoverlay")
    buffer = sample.get_buffer()
    return numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()),
                            numpy.uint8).reshape(height, width, 4)[:, :, :3]


def choose_palette(pixels):
    """By k-means, from a seed, so that the file is the same each time."""
    numbers = numpy.random.default_rng(1)
    sample = numbers.choice(pixels, 20000, replace=False)
    palette = numbers.choice(numpy.unique(sample, axis=0), COLOURS, replace=False)
    for _ in range(12):
        nearest = find_nearest(sample, palette)
        counts = numpy.bincount(nearest, minlength=COLOURS)[:, None]
        sums = numpy.stack([numpy.bincount(nearest, sample[:, c], COLOURS)
                            for c in range(3)], axis=1)
        palette = numpy.where(counts > 0, sums / numpy.maximum(counts, 1),
                              palette)
    palette = palette.round()
    palette[0] = 255  # the ground
    return palette


def find_nearest(pixels, palette):
    """Of each pixel the index of its colour."""
    norms = (palette ** 2).sum(axis=1)
    return numpy.concatenate([
        (norms - 2 * part @ palette.T).argmin(axis=1)
        for part in numpy.array_split(pixels, 1 + len(pixels) // 20000)])


def write_png(path, image):
    """With a palette: a third of the size."""
    height, width = image.shape[:2]
    pixels = image.reshape(-1, 3).astype(numpy.float32)
    palette = choose_palette(pixels).astype(numpy.float32)
    rows = numpy.zeros((height, width + 1), numpy.uint8)  # filter 0
    rows[:, 1:] = find_nearest(pixels, palette).reshape(height, width)

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))

    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" +
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
        chunk(b"PLTE", palette.astype(numpy.uint8).tobytes()) +
        chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PNG")
    write_png(pathlib.Path(sys.argv[1]), draw(*convert()))
