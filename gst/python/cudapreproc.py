# SPDX-License-Identifier: LGPL-2.1-or-later
"""Video frames as normalized tensors, made by the GStreamer element cudapreproc.

    import cudapreproc

    for tensor in cudapreproc.open("film.mp4", preset="yolo", width=640, height=640):
        array = tensor.numpy()                    # (1, 3, 640, 640), float32
        boxes = network(array)                    # n x 4: x0, y0, x1, y1
        print(tensor.pts, tensor.pictures[0].boxes_to_frame(boxes))

open() runs a pipeline of its own, tensors() reads behind an appsink of yours.
Arrays are not copies: each keeps the memory that it shows, also when tensor and
stream are gone, and gives it back to the pipeline when the last array goes.

A Picture says where its frame lies in the tensor; a Frame, with
attach_frame=True, is that frame itself.

Needs PyGObject and, for arrays, NumPy; both are imported when they are first
needed. GStreamer does not survive a fork: start processes with spawn.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import re
import stat
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple, Union

if TYPE_CHECKING:
    import numpy

__all__ = ["DeviceArray", "Error", "Frame", "Picture", "Region", "Stream",
           "Tensor", "open", "tensors"]

_ELEMENTS = ("cudapreproc", "cudapreprocmux")
_META = b"GstCudaPreprocMeta"
_NONE = 2**64 - 1  # GST_CLOCK_TIME_NONE and GST_BUFFER_OFFSET_NONE
_SECOND = 10**9
# How long a wait for a tensor may overlook an error, an end or Ctrl-C.
_SLICE = 0.1
# An element posts why a tensor failed at about the time when mapping it fails.
_PATIENCE = 1.0
_READ, _WRITE, _CUDA = 1, 2, 1 << 17  # GstMapFlags; the last is GST_MAP_CUDA
_JITTER = 100  # ms that a camera's network may delay packets
_TYPES = {"float32": "<f4", "float16": "<f2", "uint8": "|u1", "int8": "|i1"}


class Error(RuntimeError):
    """What an element of the pipeline said when it failed.

    message: its text; element: its name, "" for an error of this module;
    debug: where in the code, and more for developers.
    """

    def __init__(self, message: str, element: str = "", debug: str = ""):
        # The first line names a place in the element's source.
        details = debug.partition("\n")[2].strip()
        super().__init__(f"{element}: " * bool(element) + message +
                         f" ({details})" * bool(details))
        self.message = message
        self.element = element
        self.debug = debug

    def __reduce__(self) -> Any:
        return Error, (self.message, self.element, self.debug)


# GStreamer, through ctypes: PyGObject maps buffers by copying them and cannot
# walk through a buffer's metas.

class _MiniObject(ctypes.Structure):
    _fields_ = [("type", ctypes.c_size_t), ("refcount", ctypes.c_int),
                ("lockstate", ctypes.c_int), ("flags", ctypes.c_uint),
                ("copy", ctypes.c_void_p), ("dispose", ctypes.c_void_p),
                ("free", ctypes.c_void_p), ("priv_uint", ctypes.c_uint),
                ("priv_pointer", ctypes.c_void_p)]


class _Buffer(ctypes.Structure):
    _fields_ = [("mini_object", _MiniObject), ("pool", ctypes.c_void_p),
                ("pts", ctypes.c_uint64), ("dts", ctypes.c_uint64),
                ("duration", ctypes.c_uint64), ("offset", ctypes.c_uint64),
                ("offset_end", ctypes.c_uint64)]


class _MapInfo(ctypes.Structure):
    _fields_ = [("memory", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("data", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("maxsize", ctypes.c_size_t),
                ("user_data", ctypes.c_void_p * 4),
                ("reserved", ctypes.c_void_p * 4)]


class _MetaInfo(ctypes.Structure):
    _fields_ = [("api", ctypes.c_size_t)]  # and more


class _Meta(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_int), ("info", ctypes.c_void_p)]


class _ParentMeta(ctypes.Structure):
    _fields_ = [("meta", _Meta), ("buffer", ctypes.c_void_p)]


class _VideoMeta(ctypes.Structure):
    _fields_ = [("meta", _Meta), ("buffer", ctypes.c_void_p),
                ("flags", ctypes.c_int), ("format", ctypes.c_int),
                ("id", ctypes.c_int), ("width", ctypes.c_uint),
                ("height", ctypes.c_uint), ("n_planes", ctypes.c_uint),
                ("offset", ctypes.c_size_t * 4),
                ("stride", ctypes.c_int * 4)]  # and more


# Name, result and arguments: pointer, boolean, int, unsigned, 64 bit, text.
_FUNCTIONS = """
app_sink_is_eos b p
app_sink_try_pull_preroll p pq
app_sink_try_pull_sample p pq
buffer_get_size q p
buffer_get_video_meta p p
buffer_iterate_meta_filtered p ppq
buffer_map b ppi
buffer_n_memory u p
buffer_peek_memory p pu
buffer_unmap - pp
caps_features_contains b pt
caps_get_features p pu
caps_get_structure p pu
custom_meta_get_structure p p
memory_map b ppi
memory_unmap - pp
meta_get_info p t
meta_info_is_custom b p
mini_object_ref p p
mini_object_unref - p
parent_buffer_meta_api_get_type q -
sample_get_buffer p p
sample_get_caps p p
structure_get_double b ptp
structure_get_int b ptp
structure_get_int64 b ptp
structure_get_string t pt
structure_get_uint b ptp
structure_get_uint64 b ptp
"""


class _Library:
    """The functions above. Calls let other Python threads run."""

    def __init__(self) -> None:
        kinds = {"p": ctypes.c_void_p, "b": ctypes.c_int, "i": ctypes.c_int,
                 "u": ctypes.c_uint, "q": ctypes.c_uint64,
                 "t": ctypes.c_char_p, "-": None}
        libraries = [ctypes.CDLL(f"lib{name}-1.0.so.0")
                     for name in ("gstreamer", "gstapp", "gstvideo")]
        for line in _FUNCTIONS.split("\n")[1:-1]:
            name, result, arguments = line.split()
            function = next(getattr(library, "gst_" + name)
                            for library in libraries
                            if hasattr(library, "gst_" + name))
            function.restype = kinds[result]
            function.argtypes = [kinds[kind] for kind in
                                 arguments.replace("-", "")]
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def integer(self, structure: int, field: bytes, otherwise: int) -> int:
        """A field of any of the integer types."""
        for kind, get in ((ctypes.c_int, self.structure_get_int),
                          (ctypes.c_uint64, self.structure_get_uint64),
                          (ctypes.c_uint, self.structure_get_uint),
                          (ctypes.c_int64, self.structure_get_int64)):
            value = kind()
            if get(structure, field, ctypes.byref(value)):
                return value.value
        return otherwise

    def number(self, structure: int, field: bytes, otherwise: float) -> float:
        value = ctypes.c_double()
        found = self.structure_get_double(structure, field,
                                          ctypes.byref(value))
        return value.value if found else otherwise

    def string(self, structure: int, field: bytes) -> str:
        return (self.structure_get_string(structure, field) or b"").decode()

    def metas(self, buffer: int, api: int) -> List[int]:
        """The metas of a buffer that have that type."""
        found = []
        state = ctypes.c_void_p()
        while meta := self.buffer_iterate_meta_filtered(
                buffer, ctypes.byref(state), api):
            found.append(meta)
        return found

    def picture_metas(self, buffer: int) -> List[int]:
        info = self.meta_get_info(_META)
        # Another plugin may have taken the name for a meta of its own.
        if not info or not self.meta_info_is_custom(info):
            return []
        return self.metas(buffer, _MetaInfo.from_address(info).api)

    def parents(self, buffer: int) -> List[int]:
        """The frames that the element attached. A copy of a tensor's buffer also
        has the tensor's as a parent."""
        buffers = (_ParentMeta.from_address(meta).buffer for meta in
                   self.metas(buffer, self.parent_buffer_meta_api_get_type()))
        return [parent for parent in buffers if not self.picture_metas(parent)]


_library = None  # type: Optional[_Library]
_forked = False


def _after_fork() -> None:
    global _forked
    # What was imported and not yet used has no threads that could be missing.
    gst = sys.modules.get("gi.repository.Gst")
    _forked = _forked or _library is not None or (
        gst is not None and gst.is_initialized())


os.register_at_fork(after_in_child=_after_fork)


def _check_process() -> None:
    if _forked:
        raise Error("GStreamer runs in another process, which this one was "
                    "forked from, and does not work here. Start processes with "
                    "multiprocessing.get_context('spawn')")


def _load() -> Any:
    """PyGObject's Gst, initialised, and _library."""
    global _library
    _check_process()
    try:
        import gi
        for name in ("Gst", "GstApp", "GstVideo"):
            gi.require_version(name, "1.0")
        from gi.repository import Gst, GstApp  # noqa: F401: appsink's class
    except (ImportError, ValueError) as error:
        raise ImportError(
            f"{error}. {sys.executable} lacks Debian's python3-gi or "
            "gir1.2-gst-plugins-base-1.0: install them and use /usr/bin/python3, "
            "or a venv made from it with --system-site-packages") from None
    if not Gst.is_initialized():
        Gst.init([])
    if _library is None:
        _library = _Library()
    return Gst


def _get_library() -> Any:
    """What _load loaded: there are tensors only after that."""
    _check_process()
    return _library


def _address(gobject: Any) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object,
                                                  ctypes.c_char_p]
    return get(gobject.__gpointer__, None)


def _known(value: int) -> Optional[int]:
    return None if value == _NONE else value


# pictures

def _check_shape(name: str, array: Any, last: int) -> None:
    if array.shape[-1:] != (last,):
        raise ValueError(
            f"{name}: expected shape (..., {last}), got {array.shape}")


@dataclasses.dataclass(frozen=True)
class Region:
    """The region of interest of the frame that a picture shows.

    id, type and parent are those of its GstVideoRegionOfInterestMeta; it is the
    index-th of count regions of its frame that became pictures.
    """
    id: int
    type: str
    parent: int
    index: int
    count: int


@dataclasses.dataclass(frozen=True)
class Picture:
    """One picture of a tensor: a frame, or a region of one.

    index: which slice of the tensor it fills, array[index]
    pts, duration: of its frame in nanoseconds, None where unknown
    offset: its frame's number, None where unknown
    pad: the pad that its frame came from where there are several, else ""
    region: None where it is the whole frame
    size: width and height of the tensor in pixels
    src: x, y, width and height of the picture in the frame, before it was
        turned, pixels
    dst: the same of the picture in the tensor; larger where it was cropped
    matrix: m0...m5: the tensor's (x, y) is the frame's
        (m0 x + m1 y + m2, m3 x + m4 y + m5)

    Coordinates are pixel edges: sample i covers [i, i + 1).
    """
    index: int
    pts: Optional[int]
    duration: Optional[int]
    offset: Optional[int]
    pad: str
    region: Optional[Region]
    size: Tuple[int, int]
    src: Tuple[int, int, int, int]
    dst: Tuple[int, int, int, int]
    matrix: Tuple[float, float, float, float, float, float]

    def to_frame(self, points: Any) -> numpy.ndarray:
        """Where points of the tensor lie in the frame.

        points: array-like of shape (..., 2), x and y in pixels, or []. Returns
        a new float64 array of the same shape, (0, 2) for []. Not clipped to the
        frame: padding lies outside.
        """
        import numpy
        m = self.matrix
        points = numpy.asarray(points, numpy.float64)
        if points.shape == (0,):
            points = points.reshape(0, 2)
        _check_shape("points", points, 2)
        return points @ [[m[0], m[3]], [m[1], m[4]]] + [m[2], m[5]]

    def boxes_to_frame(self, boxes: Any) -> numpy.ndarray:
        """Where boxes of the tensor lie in the frame.

        boxes: array-like of shape (..., 4): left, top, right and bottom edge in
        pixels, or []. Returns a new float64 array of the same shape, (0, 4) for
        [], also with left before right and top before bottom where the frame was
        turned. Not clipped.
        """
        import numpy
        boxes = numpy.asarray(boxes, numpy.float64)
        if boxes.shape == (0,):  # of [], where nothing was found
            boxes = boxes.reshape(0, 4)
        _check_shape("boxes", boxes, 4)
        corners = self.to_frame(boxes.reshape(boxes.shape[:-1] + (2, 2)))
        return numpy.concatenate(
            (corners.min(axis=-2), corners.max(axis=-2)), axis=-1)


def _read_picture(library: Any, structure: int, buffer: _Buffer) -> Picture:
    def integer(field: bytes, otherwise: int = 0) -> int:
        return library.integer(structure, field, otherwise)

    def rectangle(prefix: bytes) -> Any:
        return tuple(integer(prefix + side) for side in
                     (b"-x", b"-y", b"-width", b"-height"))

    region = None
    if integer(b"region", -1) >= 0:
        region = Region(integer(b"region-id", -1),
                        library.string(structure, b"region-type"),
                        integer(b"region-parent", -1), integer(b"region"),
                        integer(b"regions"))
    return Picture(
        index=integer(b"index"),
        pts=_known(integer(b"pts", buffer.pts)),
        duration=_known(integer(b"duration", buffer.duration)),
        offset=_known(integer(b"offset", buffer.offset)),
        pad=library.string(structure, b"pad"), region=region,
        size=(integer(b"width"), integer(b"height")),
        src=rectangle(b"src"), dst=rectangle(b"dst"),
        matrix=tuple(  # type: ignore[arg-type]
            library.number(structure, b"m%d" % i, (1, 0, 0, 0, 1, 0)[i])
            for i in range(6)))


# tensors

def _unmap(library: Any, unmap: Any, mapped: int, info: _MapInfo,
           keep: int) -> None:
    # In a forked child, a lock of the memory may be held for ever.
    if not _forked:
        unmap(mapped, ctypes.byref(info))
        library.mini_object_unref(keep)


def _unref(library: Any, sample: int) -> None:
    if not _forked:
        library.mini_object_unref(sample)


class _Mapping:
    """A buffer's memory, mapped until the last one who holds this lets go.

    keep: the buffer or its sample, which stays as long. interface: shape and type
    of the array; without it, bytes.
    """

    def __init__(self, library: Any, buffer: int, keep: int, flags: int,
                 interface: Optional[dict] = None) -> None:
        info = _MapInfo()
        mapped = buffer
        map_, unmap = library.buffer_map, library.buffer_unmap
        if flags & _WRITE:
            # An appsink keeps the last sample that it gave away, so that the
            # buffer would count as somebody else's, too.
            mapped = library.buffer_peek_memory(mapped, 0)
            map_, unmap = library.memory_map, library.memory_unmap
        if not map_(mapped, ctypes.byref(info), flags):
            raise Error("The tensor could not be computed" if interface else
                        "The frame cannot be mapped")
        library.mini_object_ref(keep)
        weakref.finalize(self, _unmap, library, unmap, mapped, info,
                         keep).atexit = False
        self.pointer: int = info.data
        self.writable = bool(flags & _WRITE)
        self.__array_interface__ = dict(
            interface or {"shape": (info.size,), "typestr": "|u1"},
            data=(info.data, not self.writable), version=3)


class DeviceArray:
    """An array on a CUDA device, for torch.as_tensor, cupy.asarray and others.

    provider: has the address as `pointer`, and keeps what lies there as long as
    it lives itself; the array holds it. shape: of the array, C order; typestr:
    NumPy's, as "<f4". A reader need not synchronise first.
    """

    def __init__(self, provider: Any, shape: Tuple[int, ...],
                 typestr: str) -> None:
        self._provider = provider
        # Not read-only: consumers refuse what is. No stream: some ignore it.
        self.__cuda_array_interface__ = {
            "shape": tuple(shape), "typestr": typestr, "strides": None,
            "data": (provider.pointer, False), "stream": None, "version": 3}


class Frame:
    """A frame that tensors were made of, as it came to the element.

    format: of its pixels, GStreamer's name: "RGB", "NV12", "I420", ...
    width, height: in pixels
    """

    format: str
    width: int
    height: int

    @classmethod
    def _new(cls, library: Any, buffer: int, pad: Any) -> Frame:
        """pad: where it came in, or None."""
        from gi.repository import GstVideo
        self = cls()
        library.mini_object_ref(buffer)
        weakref.finalize(self, _unref, library, buffer).atexit = False
        self._buffer = buffer
        self._mapping: Any = None  # weak: the arrays' last one
        address = library.buffer_get_video_meta(buffer)
        if address:
            meta: Any = _VideoMeta.from_address(address)
            number = meta.format
            self._format = GstVideo.VideoFormat.get_info(
                GstVideo.VideoFormat(number))
        else:
            caps = pad and pad.get_current_caps()
            meta = caps and GstVideo.VideoInfo.new_from_caps(caps)
            if not meta or meta.size != library.buffer_get_size(buffer):
                raise Error("The frame has no GstVideoMeta, and the caps that it "
                            "came with are gone")
            self._format = meta.finfo
        self._little = GstVideo.VideoFormatFlags.LE
        self.format = self._format.name
        self.width, self.height = meta.width, meta.height
        self._layout = tuple(zip(meta.offset, meta.stride))
        return self

    def __repr__(self) -> str:
        return f"<cudapreproc.Frame {self.format} {self.width}x{self.height}>"

    @property
    def planes(self) -> Tuple[numpy.ndarray, ...]:
        """The pixels, a numpy.ndarray for each plane, read-only.

        Of shape (height, width) or, where samples alternate, (height, width, n):
        RGB has one plane with n = 3, NV12 has Y and half the size UV with n = 2,
        I420 has Y, U and V; YUY2 has Y and one of U and V. Samples of more than
        8 bits are uint16. Not copies: each keeps the frame, which upstream gets
        back when frame and arrays are gone.
        """
        import numpy
        library = _get_library()
        mapping = self._mapping and self._mapping()
        if mapping is None:
            mapping = _Mapping(library, self._buffer, self._buffer, _READ)
            self._mapping = weakref.ref(mapping)
        pixels = numpy.asarray(mapping)
        info = self._format
        planes = []
        for plane in range(info.n_planes):
            c = list(info.plane)[:info.n_components].index(plane)
            size = 1 if info.bits <= 8 else 2
            little = size == 1 or info.flags & self._little
            step = info.pixel_stride[c]
            offset, stride = self._layout[plane]
            array = numpy.ndarray(
                (-(-self.height >> info.h_sub[c]), -(-self.width >> info.w_sub[c]),
                 step // size), ("<" if little else ">") + f"u{size}", pixels,
                offset, (stride, step, size))
            planes.append(array if step > size else array[:, :, 0])
        return tuple(planes)


class Tensor:
    """What one buffer holds: n pictures as one array.

    shape: C order, outermost first: (n, c, h, w), or (n, h, w, c) with
        layout=nhwc
    dtype: "float32", "float16", "uint8" or "int8"
    device: "cuda" where it stayed on the device, else "cpu"
    pts, duration: of the buffer in nanoseconds, None where unknown

    A tensor may come before it is computed; numpy() waits for it. It refers to
    a buffer of the pipeline, which it gives back when it goes and no array over
    it is left. One thread at a time.
    """

    shape: Tuple[int, ...]
    dtype: str
    device: str

    @classmethod
    def _new(cls, library: Any, sample: int, stream: Stream) -> Tensor:
        self = cls()
        self._sample = sample  # takes the reference
        weakref.finalize(self, _unref, library, sample).atexit = False
        self._buffer = library.sample_get_buffer(sample)
        self._errors = stream._errors
        self._element = stream.element
        self._mapping: Any = None  # weak: the arrays' last one
        self._on_device: Optional[DeviceArray] = None
        caps = library.sample_get_caps(sample)
        structure = library.caps_get_structure(caps, 0)
        dimensions = library.string(structure, b"dimensions")
        self.dtype = library.string(structure, b"types")
        if self.dtype not in _TYPES or not re.fullmatch(r"\d+(:\d+)*",
                                                        dimensions):
            raise Error("What comes is not a tensor of cudapreproc: "
                        f"types={self.dtype!r}, dimensions={dimensions!r}")
        self.shape = tuple(int(n) for n in reversed(dimensions.split(":")))
        features = library.caps_get_features(caps, 0)
        self.device = "cuda" if library.caps_features_contains(
            features, b"memory:CUDAMemory") else "cpu"
        return self

    def __repr__(self) -> str:
        return (f"<cudapreproc.Tensor {self.dtype} {self.shape} on "
                f"{self.device}, pts {self.pts}>")

    @property
    def _header(self) -> _Buffer:
        return _Buffer.from_address(self._buffer)

    @property
    def pts(self) -> Optional[int]:
        return _known(self._header.pts)

    @property
    def duration(self) -> Optional[int]:
        return _known(self._header.duration)

    @property
    def pictures(self) -> Tuple[Picture, ...]:
        """The pictures in it, in the order of their index. Does not wait."""
        library = _get_library()
        return tuple(
            _read_picture(library, library.custom_meta_get_structure(meta),
                          self._header)
            for meta in library.picture_metas(self._buffer))

    @property
    def frames(self) -> Tuple[Frame, ...]:
        """The frame of each picture, where attach_frame=True was set; else ().

        frames[i] is what pictures[i] shows; pictures of one frame's regions have
        the same Frame. Does not wait.
        """
        library = _get_library()
        buffers = library.parents(self._buffer)
        pictures = self.pictures
        found: List[Frame] = []
        for picture, buffer in zip(pictures, buffers):
            found.append(Frame._new(library, buffer, self._element and
                                    self._element.get_static_pad(
                                        picture.pad or "sink")))
        return tuple(found * len(pictures) if len(found) == 1 else found)

    def numpy(self, writable: bool = False) -> numpy.ndarray:
        """The elements as a numpy.ndarray of shape and dtype, without a copy.

        Waits until they are computed, outside of Python's lock. The array is
        read-only unless it is asked for as writable; it and all arrays and
        torch tensors made of it keep the memory. A tensor on the device is
        copied down once.

        Raises Error with the element's text where the tensor could not be
        computed, and BufferError where it is to be written to while somebody
        else reads it: an array of it, a tee, or an appsink's last sample (set
        enable-last-sample=false).
        """
        import numpy
        _check_process()
        mapping = self._mapping and self._mapping()
        if mapping is None:
            mapping = self._map(_READ | (_WRITE if writable else 0))
            self._mapping = weakref.ref(mapping)
        elif writable and not mapping.writable:
            raise BufferError("There are read-only arrays of this tensor")
        array = numpy.asarray(mapping)
        if not writable:
            array.flags.writeable = False
        return array

    @property
    def __cuda_array_interface__(self) -> dict:
        """Only where device is "cuda". Waits on the host until it is computed.

        torch.as_tensor(tensor, device="cuda") shares its memory and keeps it.
        """
        if self.device != "cuda":
            raise AttributeError("The tensor is in host memory: use numpy()")
        if self._on_device is None:
            try:
                mapping = self._map(_READ | _WRITE | _CUDA, 0)
            except BufferError:
                mapping = self._map(_READ | _CUDA)
            self._on_device = DeviceArray(mapping, self.shape,
                                          _TYPES[self.dtype])
        return self._on_device.__cuda_array_interface__

    def _wait_for_others(self, seconds: float) -> bool:
        """Whether nobody else has the buffer.

        The thread that delivered it lets go of it a moment after it is here.
        """
        until = time.monotonic() + seconds
        while self._header.mini_object.refcount > 1:
            if time.monotonic() >= until:
                return False
            time.sleep(0.0005)
        return True

    def _map(self, flags: int, patience: float = _PATIENCE) -> _Mapping:
        library = _get_library()
        if flags & _WRITE and not (self._wait_for_others(patience) and
                                   library.buffer_n_memory(self._buffer) == 1):
            raise BufferError("Others hold this tensor, too")
        try:
            return _Mapping(library, self._buffer, self._sample, flags, {
                "shape": self.shape, "typestr": _TYPES[self.dtype]})
        except Error:
            if flags & _WRITE:
                self._map(flags & ~_WRITE)
                raise BufferError("Others hold this tensor's memory") from None
            self._errors.check(_PATIENCE)
            raise


# streams

class _Errors:
    """The first error of a pipeline. Takes no message from its bus."""

    def __init__(self, bus: Any) -> None:
        self.first: Optional[Error] = None
        self._posted = threading.Event()
        self._bus = bus
        bus.enable_sync_message_emission()
        self._handler = bus.connect("sync-message::error", _on_error,
                                    weakref.ref(self))

    def check(self, seconds: float = 0) -> None:
        """Raises the first error, if it comes in time.

        A new one each time, which no variable refers to: an error that was
        raised holds the frames that it passed, and so would hold the stream.
        """
        self._posted.wait(seconds)
        if self.first is not None:
            raise Error(self.first.message, self.first.element,
                        self.first.debug)

    def post(self, error: Error) -> None:
        self.first = self.first or error
        self._posted.set()

    def disconnect(self) -> None:
        self._bus.disconnect(self._handler)
        self._bus.disable_sync_message_emission()


def _on_error(bus: Any, message: Any, reference: Any) -> None:
    """In the thread that posts it, so that it is here before the end is."""
    errors = reference()
    if errors is not None:
        error, debug = message.parse_error()
        name = message.src.get_name() if message.src is not None else ""
        errors.post(Error(error.message, name, debug or ""))


def _end(pipeline: Any, errors: _Errors) -> None:
    if _forked:
        return
    errors.disconnect()
    if pipeline is not None:
        from gi.repository import Gst
        pipeline.set_state(Gst.State.NULL)


class Stream:
    """Iterates over the tensors of a pipeline; open and tensors make one.

    Ends at the end of the stream. Raises Error, with the element's text, where
    the pipeline fails, after the tensors that were ready. Leaving a `with`
    block, close() or losing the last reference stops a pipeline that open made;
    its tensors stay valid. One thread at a time.

    pipeline: the Gst.Pipeline; element: the cudapreproc or cudapreprocmux in it,
    whose properties can be read and set; appsink: where the tensors arrive.
    """

    @classmethod
    def _new(cls, appsink: Any, pipeline: Any, element: Any, errors: _Errors,
             owned: bool) -> Stream:
        self = cls()
        self.appsink = appsink
        self.pipeline = pipeline
        self.element = element
        self._errors = errors
        self._address = _address(appsink)
        self._end = weakref.finalize(self, _end, pipeline if owned else None,
                                     errors)
        return self

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Stops the pipeline that open made; nothing where tensors did."""
        _check_process()
        self._end()

    def __iter__(self) -> Iterator[Tensor]:
        return self

    def __next__(self) -> Tensor:
        tensor = self.pull()
        if tensor is None:
            raise StopIteration
        return tensor

    @property
    def ended(self) -> bool:
        """Whether no tensor is left and none will come: after the end of the
        stream, close(), or while a pipeline of yours is stopped. Tells why pull()
        returned None."""
        library = _get_library()
        return not self._end.alive or bool(
            library.app_sink_is_eos(self._address))

    def pull(self, timeout: Optional[float] = None) -> Optional[Tensor]:
        """The next tensor; None at the end, and where none came in time.

        timeout: seconds; None: as long as it takes. `ended` tells one from the
        other: after the end, None comes at once.
        """
        library = _get_library()
        until = None if timeout is None else time.monotonic() + timeout
        while self._end.alive:
            left = _SLICE if until is None else min(
                _SLICE, max(until - time.monotonic(), 0))
            sample = library.app_sink_try_pull_sample(
                self._address, int(left * _SECOND))
            if sample:
                self._drop_preroll(library)
                return Tensor._new(library, sample, self)
            self._errors.check()
            if self.ended or (
                    until is not None and time.monotonic() >= until):
                return None
        return None

    def _drop_preroll(self, library: Any) -> None:
        """Takes the first tensor from those that the appsink keeps."""
        preroll = library.app_sink_try_pull_preroll(self._address, 0)
        if preroll:
            library.mini_object_unref(preroll)


def _set_property(element: Any, name: str, value: Any) -> None:
    """As keyword arguments have it: pad_value=114, mean=(0.4, 0.5, 0.6)."""
    property_name = name.replace("_", "-")
    pspec = element.find_property(property_name)
    if pspec is None:
        raise TypeError(f"{element.get_factory().get_name()} has no property "
                        f"{property_name!r}")
    if pspec.value_type.name == "gchararray" and not isinstance(value, str):
        numbers = value if hasattr(value, "__iter__") else (value,)
        value = ",".join(format(number, ".17g") for number in numbers)
    if pspec.value_type.name == "gboolean" and not isinstance(value, bool):
        raise TypeError(f"{property_name}={value!r}: must be True or False")
    if isinstance(value, str) and hasattr(pspec, "enum_class"):
        nicks = [v.value_nick for v in pspec.enum_class.__enum_values__.values()
                 if v.value_nick != "custom"]
        if value not in nicks:
            raise TypeError(f"{property_name}={value!r}: must be one of " +
                            ", ".join(nicks))
    try:
        element.set_property(property_name, value)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{property_name}={value!r}: {error}") from None


def _describe(Gst: Any, source: Any) -> Tuple[str, Optional[str]]:
    """The launch line of a source, and the URI that its first element takes."""
    if isinstance(source, int) or _is_device(source):
        device = "" if isinstance(source, int) else f" device={source}"
        raise ValueError(f"source is {source!r}: a camera that is a device is "
                         f"\"v4l2src{device} ! decodebin\"")
    source = os.fsdecode(source)
    uri = None
    if os.path.exists(source):
        uri = Gst.filename_to_uri(os.path.abspath(source))
    elif Gst.uri_is_valid(source):
        uri = source
    elif "!" not in source and Gst.ElementFactory.find(
            (source.split() or [""])[0]) is None:
        raise FileNotFoundError(f"{source!r} is no file, URI or pipeline: looked "
                                f"in {os.getcwd()}")
    if uri is not None:
        # videoconvert does nothing but for the few formats that we do not take.
        source = ("uridecodebin name=cudapreproc-source expose-all-streams=false "
                  "caps=video/x-raw(ANY) ! videoconvert")
    return source, uri


def _is_device(path: Any) -> bool:
    try:
        return stat.S_ISCHR(os.stat(path).st_mode)
    except (OSError, TypeError, ValueError):
        return False


def _find_element(Gst: Any, pipeline: Any) -> Any:
    for name in _ELEMENTS:
        iterator = pipeline.iterate_all_by_element_factory_name(name)
        result, element = iterator.next()
        if result == Gst.IteratorResult.OK:
            return element
    return None


def _launch(Gst: Any, line: str, latest: bool, device: str) -> Any:
    """The pipeline of a line that need not have the element and never has the
    appsink."""
    sink = ("appsink name=cudapreproc-sink sync=false enable-last-sample=false "
            "max-buffers=" + ("1 drop=true" if latest else "4"))
    if device == "cuda":
        sink += ' caps="other/tensors(memory:CUDAMemory)"'
    plain = re.sub(r'"[^"]*"', "", line)
    if not re.search(rf"(^|[!\s])({'|'.join(_ELEMENTS)})(\s|$)", plain):
        line += " ! cudapreproc"
    if not re.search(r"!\s*[\w-]+\.\S*\s*$", plain):
        return Gst.parse_launch(f"{line} ! {sink}")
    # It ends in a pad that it links, "src ! mux.", so not in the element.
    pipeline = Gst.parse_launch(f"{line} {sink}")
    pad = pipeline.find_unlinked_pad(Gst.PadDirection.SRC)
    if pad is None or pad.link(pipeline.get_by_name(
            "cudapreproc-sink").get_static_pad("sink")) != Gst.PadLinkReturn.OK:
        raise Error("No element's output is left for the tensors")
    return pipeline


def _on_source(decodebin: Any, source: Any) -> None:
    """Two seconds is what rtspsrc takes by itself."""
    if source.find_property("latency") is not None:
        source.set_property("latency", _JITTER)


def open(source: Union[str, "os.PathLike[str]"], *, latest: bool = False,
         device: str = "cpu", **properties: Any) -> Stream:
    """Starts a pipeline and returns its tensors.

    source: a file, a URI such as rtsp://camera/stream, or a pipeline as
        gst-launch-1.0 takes it, up to the element: "v4l2src ! decodebin".
        Where the pipeline has a cudapreproc or cudapreprocmux of its own, it is
        that one.
    latest: for cameras: keep only the newest tensor while Python is busy, and of
        a URI wait for late packets of the network 100 ms only
    device: "cuda": tensors stay on the GPU, for torch.as_tensor and others;
        "cpu": they are in host memory, wherever they are computed
    properties: those of the element, with _ for -; lists as sequences:
        preset="imagenet", width=224, height=224, pad_value=0

    Raises Error where it cannot start, FileNotFoundError, ValueError for what is
    no source or no device, and TypeError for a property that does not exist or does not take
    the value. What is found out only while it starts, such as a camera that does
    not answer, raises Error at the first tensor. One that answers and sends
    nothing raises nothing: pull() has a timeout.
    """
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r}: must be 'cpu' or 'cuda'")
    Gst = _load()
    if Gst.ElementFactory.find("cudapreproc") is None:
        raise Error("GStreamer does not find cudapreproc: set GST_PLUGIN_PATH "
                    "to the folder with libgstcudapreproc.so")
    from gi.repository import GLib
    line, uri = _describe(Gst, source)
    try:
        pipeline = _launch(Gst, line, latest, device)
    except GLib.Error as error:
        raise Error(error.message) from None
    element = _find_element(Gst, pipeline)
    for name, value in properties.items():
        _set_property(element, name, value)
    if uri is not None:
        decodebin = pipeline.get_by_name("cudapreproc-source")
        decodebin.set_property("uri", uri)
        if latest:
            decodebin.connect("source-setup", _on_source)
    stream = Stream._new(pipeline.get_by_name("cudapreproc-sink"), pipeline,
                         element, _Errors(pipeline.get_bus()), owned=True)
    if pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
        stream._errors.check(_PATIENCE)
        raise Error("The pipeline does not start")
    name = element.get_property("device-name") or ""
    if device == "cuda" and not name.startswith("cuda"):
        stream.close()
        raise Error("Tensors cannot stay on the GPU: they are computed on "
                    f"{name}", element.get_name())
    return stream


def tensors(appsink: Any) -> Stream:
    """The tensors that arrive at a GstApp.AppSink of yours.

    Call it once the appsink is in its pipeline, and before that plays: errors
    posted earlier are not seen. Starts and stops nothing and takes no message
    from the bus. Set enable-last-sample=false to write to tensors.
    """
    Gst = _load()
    pipeline = appsink
    while pipeline.get_parent() is not None:
        pipeline = pipeline.get_parent()
    bus = pipeline.get_bus()
    if bus is None:
        raise ValueError("The appsink is in no pipeline yet")
    element = _find_element(Gst, pipeline)
    return Stream._new(appsink, pipeline, element, _Errors(bus), owned=False)
