#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The CPU backend beside OpenCV on one thread, in turns, best of the rounds:
whole frames, and 16 regions of a frame in one batch.

Usage: bench_opencv.py BENCH [ROUNDS]    BENCH: the program built from bench.c
Needs cv2 and numpy (Debian: python3-opencv).
"""
import subprocess
import sys
import time

import cv2
import numpy

MEAN = numpy.float32([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1)
STD = numpy.float32([0.229, 0.224, 0.225]).reshape(1, 3, 1, 1)
SIZE = 640
FRAMES = 60
REGION_SIZE = 112
REGIONS = 16


def place(picture, side, fit, interpolation):
    """Resizes a picture to a square."""
    height, width = picture.shape[:2]
    if fit == "stretch":
        return cv2.resize(picture, (side, side), interpolation=interpolation)
    ratio = min(side / height, side / width)
    size = round(width * ratio), round(height * ratio)
    picture = cv2.resize(picture, size, interpolation=interpolation)
    x, y = side - size[0], side - size[1]
    return cv2.copyMakeBorder(picture, y // 2, y - y // 2, x // 2, x - x // 2,
                              cv2.BORDER_CONSTANT, value=(114, 114, 114))


def convert(frame, nv12, fit, method):
    """What people write: the tensor of one frame."""
    if nv12:
        frame = cv2.cvtColor(frame, cv2.COLOR_YUV2RGB_NV12)
    interpolation = cv2.INTER_AREA if method == "area" else cv2.INTER_LINEAR
    blob = cv2.dnn.blobFromImage(place(frame, SIZE, fit, interpolation), 1 / 255.0)
    blob -= MEAN
    blob /= STD
    return blob


def pick_regions(random):
    """As the program's, but at chroma samples, which OpenCV needs."""
    for _ in range(REGIONS):
        width = int(random.integers(60, 241)) & ~1
        height = int(random.integers(120, 361)) & ~1
        yield (int(random.integers(0, 1921 - width)) & ~1,
               int(random.integers(0, 1081 - height)) & ~1, width, height)


def convert_regions(frame, regions, fit):
    """One batch of regions of a frame; without mean and std, which ours have."""
    luma, chroma = frame[:1080], frame[1080:].reshape(540, 960, 2)
    crops = []
    for x, y, width, height in regions:
        crop = cv2.cvtColorTwoPlane(
            luma[y:y + height, x:x + width],
            chroma[y // 2:(y + height) // 2, x // 2:(x + width) // 2],
            cv2.COLOR_YUV2RGB_NV12)
        crops.append(place(crop, REGION_SIZE, fit, cv2.INTER_LINEAR))
    return cv2.dnn.blobFromImages(crops, 1 / 255.0)


def time_opencv(nv12, fit, method):
    random = numpy.random.default_rng(1)
    shape = (1620, 1920) if nv12 else (1080, 1920, 3)
    frames = [random.integers(0, 256, shape, numpy.uint8) for _ in range(8)]
    regions = [list(pick_regions(random)) for _ in range(FRAMES)]

    def run(i):
        if method == "regions":
            convert_regions(frames[i % 8], regions[i], fit)
        else:
            convert(frames[i % 8], nv12, fit, method)

    for i in range(8):
        run(i)
    start = time.perf_counter()
    for i in range(FRAMES):
        run(i)
    return (time.perf_counter() - start) / FRAMES * 1e6


def main():
    bench, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    cv2.setNumThreads(1)
    best = {}
    for _ in range(rounds):
        output = subprocess.run(
            [bench, "--backend", "cpu", "--frames", str(FRAMES), "--sets", "opencv"],
            check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            words = line.split()
            if len(words) != 5 or words[0] not in ("RGB", "NV12"):
                continue
            job = tuple(words[:3])
            times = float(words[3]), float(words[4]), time_opencv(
                job[0] == "NV12", job[1], job[2])
            best[job] = [min(pair) for pair in zip(times, best.get(job, times))]
    print(f"OpenCV {cv2.__version__}, one thread; 1080p -> {SIZE} float32, mean and std; "
          f"{REGIONS} regions -> {REGION_SIZE} float32; microseconds a frame, "
          f"best of {rounds}")
    print(f"{'':28}{'1 worker':>10}{'2 workers':>10}{'OpenCV':>10}{'OpenCV/1':>10}{'1/2':>8}")
    for job, (one, two, opencv) in best.items():
        print(f"{' '.join(job):28}{one:10.0f}{two:10.0f}{opencv:10.0f}"
              f"{opencv / one:10.2f}{one / two:8.2f}")


main()
