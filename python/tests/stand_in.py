"""The stand-in for NVIDIA's libraries (docs/internals/stand-in.md), and a library of arrays on it with streams of its own.

Import it before the first call on a GPU: it says where the libraries are.
"""

import contextlib
import ctypes
import os
import pathlib
import sys
import types

import numpy

import ferrofuse

ROOT = pathlib.Path(__file__).parents[2]
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
BUILT = [TARGET / profile / "deps" / "libferrofuse_emulator.so" for profile in ("debug", "release")]
PATH = next((path for path in BUILT if path.exists()), None)
assert PATH is not None, "the stand-in is not built: cargo build --package ferrofuse-emulator"
for library in ("LIBCUDA", "LIBNVRTC", "LIBCUBLASLT"):
    os.environ[f"FERROFUSE_{library}"] = str(PATH)

_library = ctypes.CDLL(str(PATH))
_library.ferrofuse_stand_in_get.restype = ctypes.c_uint64
_library.ferrofuse_stand_in_set.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
_library.cuInit(0)


def count(key: str) -> int:
    """How many of something there are."""
    return _library.ferrofuse_stand_in_get(key.encode())


@contextlib.contextmanager
def setting(key: str, value: int):
    """Something set for a while."""
    assert _library.ferrofuse_stand_in_set(key.encode(), value) == 0
    try:
        yield
    finally:
        _library.ferrofuse_stand_in_set(b"reset", 0)


def _call(name, *arguments):
    assert getattr(_library, name)(*arguments) == 0, name


@contextlib.contextmanager
def _device(ordinal):
    context = ctypes.c_void_p()
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
    _call("cuCtxPushCurrent_v2", context)
    try:
        yield
    finally:
        _call("cuCtxPopCurrent_v2", ctypes.byref(context))


def new_stream(ordinal=0) -> int:
    """A stream of a device, as a number."""
    stream = ctypes.c_void_p()
    with _device(ordinal):
        _call("cuStreamCreate", ctypes.byref(stream), 1)
    return stream.value


def finish(array):
    """Waits for the stream that makes an array, without ferrofuse."""
    with _device(0):
        _call("cuStreamSynchronize", ctypes.c_void_p(array.__cuda_array_interface__["stream"]))


@contextlib.contextmanager
def capture(stream, graphs):
    """Records the work of a stream as a graph, which is appended to `graphs` to be launched."""
    stream, graph, executable = ctypes.c_void_p(stream), ctypes.c_void_p(), ctypes.c_void_p()
    with _device(0):
        _call("cuStreamBeginCapture_v2", stream, 1)  # other calls of this thread are checked
    try:
        yield
    finally:
        with _device(0):
            _call("cuStreamEndCapture", stream, ctypes.byref(graph))
            _call("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
    graphs.append(executable)


def launch(graph, stream):
    """Gives the work of a graph to a stream."""
    with _device(0):
        _call("cuGraphLaunch", graph, ctypes.c_void_p(stream))


class _Memory:
    def __init__(self, size, stream):
        self.stream, address = stream, ctypes.c_uint64()
        with _device(0):
            _call("cuMemAllocAsync", ctypes.byref(address), ctypes.c_size_t(max(size, 1)), ctypes.c_void_p(stream))
        self.ptr = address.value

    def __del__(self):
        with _device(0):
            _library.cuMemFreeAsync(ctypes.c_uint64(self.ptr), ctypes.c_void_p(self.stream))


class _Named:
    """An array by the interface alone."""

    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


class FakeCuPy(types.ModuleType):
    """As much of CuPy as calls ask for, with a current stream."""

    def __init__(self):
        super().__init__("cupy")
        self.cuda = types.SimpleNamespace(
            Device=lambda ordinal: contextlib.nullcontext(),
            get_current_stream=lambda: types.SimpleNamespace(ptr=self.current),
            alloc=lambda size: _Memory(size, self.current),
        )
        self.current, self.ndarray = new_stream(), _ndarray(self)

    def from_dlpack(self, array):
        array.__dlpack__(stream=self.current)
        told = array.__cuda_array_interface__
        memory = types.SimpleNamespace(ptr=told["data"][0], owner=array)
        return self.ndarray(told["shape"], numpy.dtype(told["typestr"]).name, memory, told["strides"])

    def array(self, values):
        """The values, brought to the device by work of the current stream."""
        values = numpy.ascontiguousarray(values)
        made = self.ndarray(values.shape, values.dtype.name, self.cuda.alloc(values.nbytes), values.strides)
        self.copy(made, values)
        return made

    def copy(self, array, values):
        """Brings other values to an array without gaps, by work of the current stream."""
        source, size = ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes)
        with _device(0):
            _call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(array.data.ptr), source, size, ctypes.c_void_p(self.current))


def _ndarray(library):
    class ndarray:
        def __init__(self, shape, dtype, memory, strides):
            self.shape, self.dtype, self.data, self.strides = tuple(shape), numpy.dtype(dtype), memory, tuple(strides)

        def _interface(self):
            data, kind = (self.data.ptr, False), self.dtype.str
            return {"version": 3, "shape": self.shape, "typestr": kind, "data": data, "strides": self.strides}

        def __dlpack__(self, *, stream=None, **options):
            assert stream == -1, "a library with streams is not asked to wait"
            return ferrofuse.to_gpu(_Named(self._interface())).__dlpack__(stream=-1)

        def __dlpack_device__(self):
            return (2, 0)

        def numpy(self):
            """The elements, once the work of the current stream is done; arrays without gaps alone."""
            made = numpy.empty(self.shape, self.dtype)
            target, size = ctypes.c_void_p(made.ctypes.data), ctypes.c_size_t(made.nbytes)
            with _device(0):
                _call("cuMemcpyDtoHAsync_v2", target, ctypes.c_uint64(self.data.ptr), size, ctypes.c_void_p(library.current))
                _call("cuStreamSynchronize", ctypes.c_void_p(library.current))
            return made

    ndarray.__module__ = "cupy"
    return ndarray


@contextlib.contextmanager
def cupy():
    """The fake CuPy in CuPy's place."""
    before = sys.modules.get("cupy")
    sys.modules["cupy"] = library = FakeCuPy()
    try:
        yield library
    finally:
        sys.modules.pop("cupy")
        if before is not None:
            sys.modules["cupy"] = before
