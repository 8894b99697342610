"""Calls on arrays of a GPU, on the stand-in: what runs late there shows every missing wait."""

import ctypes
import os
import subprocess
import sys
import textwrap
import threading

import numpy
import pytest

import stand_in
import ferrofuse
from ferrofuse import DataType, FusionDefinition, GpuArray, to_gpu


def softmax(dtype=DataType.Float):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=dtype)
        exponentials = fd.ops.exp(x - fd.ops.max(x, dims=[1], keepdim=True))
        fd.add_output(exponentials / fd.ops.sum(exponentials, dims=[1], keepdim=True))
    return fd


def of_two(define):
    """A definition of two matrices."""
    with FusionDefinition() as fd:
        matrices = [fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float) for _ in range(2)]
        define(fd, *matrices)
    return fd


def drawn(*shape):
    return numpy.random.default_rng(7).standard_normal(shape).astype(numpy.float32)


def test_outputs_are_where_inputs_are():
    x, fd = drawn(9, 130), softmax()
    (made,) = fd.execute([to_gpu(x)])
    assert isinstance(made, GpuArray) and (made.device, made.shape, made.ndim) == ("cuda:0", (9, 130), 2)
    assert (made.dtype, made.stride()) == (DataType.Float, (130, 1))
    assert repr(made) == "GpuArray(shape=[9, 130], dtype=float32, device='cuda:0')"
    (host,) = fd.execute([x])
    numpy.testing.assert_allclose(made.numpy(), host, rtol=1e-5)
    numpy.testing.assert_array_equal(numpy.asarray(made, dtype=numpy.float64), made.numpy().astype(numpy.float64))
    with FusionDefinition() as like:
        like.add_output(like.from_array(made) + 1.0)
    numpy.testing.assert_array_equal(like.execute([made])[0].numpy(), made.numpy() + 1)
    # What a call made goes into the next one at once.
    (again,) = fd.execute([made])
    numpy.testing.assert_allclose(again.numpy(), fd.execute([host])[0], rtol=1e-5)


def test_the_truth_of_an_array_is_that_of_its_element():
    assert bool(to_gpu(numpy.ones((1, 1)))) and not to_gpu(numpy.zeros(1))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(to_gpu(drawn(2, 3)))


def test_an_empty_array_may_be_written():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
        fd.add_output(x + 1.0, x)
        fd.add_output(x * 2.0)
    # NumPy's empty arrays have strides of 0.
    x, twice = (to_gpu(numpy.zeros((0, 3), numpy.float32)) for _ in range(2))
    assert [made.shape for made in fd.execute([x], out=[twice])] == [(0, 3)]


def test_small_intermediates_of_a_call_are_allocated_at_once():
    with FusionDefinition() as fd:
        y = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
        for _ in range(10):
            y = fd.ops.segment_set(y + 1.0)
        fd.add_output(y)
    for rows, expected in [(3, 2), (1000, 10)]:  # a block and the output; beyond the size of a block each by itself
        x = drawn(rows, 1000)
        given = to_gpu(x)
        launches, taken = map(stand_in.count, ("launches", "taken"))
        (made,) = fd.execute([given])
        assert stand_in.count("taken") - taken == expected
        numpy.testing.assert_allclose(made.numpy(), x + 10, rtol=1e-5)
        assert stand_in.count("launches") - launches == 10


def test_bfloat16():
    import ml_dtypes

    x = drawn(5, 64).astype(ml_dtypes.bfloat16)
    with FusionDefinition() as fd:
        given = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
        fd.add_output(fd.ops.cast(fd.ops.cast(given, DataType.Float) * 2.0, DataType.BFloat16))
    (made,) = fd.execute([to_gpu(x)])
    numpy.testing.assert_array_equal(made.numpy(), x * 2)
    with pytest.raises(AttributeError, match="has no type for bf16"):
        made.__cuda_array_interface__


def test_views_share_memory_and_in_place_outputs_are_written():
    def define(fd, x, y):
        fd.add_output(fd.ops.permute(y, [1, 0]))
        fd.add_output(x + y, x)

    x, y = to_gpu(drawn(4, 6)), to_gpu(numpy.ones((4, 6), numpy.float32))
    (view,) = of_two(define).execute([x, y])
    assert view.__cuda_array_interface__["data"] == y.__cuda_array_interface__["data"]
    assert (view.shape, view.stride()) == ((6, 4), (1, 6))
    numpy.testing.assert_array_equal(x.numpy(), drawn(4, 6) + 1)
    (copied,) = softmax().execute([view])  # strides of its own
    numpy.testing.assert_allclose(copied.numpy(), numpy.full((6, 4), 0.25))


def test_a_view_of_what_is_written_shows_what_was_there():
    def define(fd, x, y):
        fd.add_output(fd.ops.permute(x, [1, 0]))
        fd.add_output(x + y, x)

    x, y = to_gpu(drawn(4, 6)), to_gpu(numpy.ones((4, 6), numpy.float32))
    (before,) = of_two(define).execute([x, y])
    numpy.testing.assert_array_equal(before.numpy(), drawn(4, 6).T)
    numpy.testing.assert_array_equal(x.numpy(), drawn(4, 6) + 1)


def test_out():
    x, y = to_gpu(drawn(4, 6)), to_gpu(numpy.ones((4, 6), numpy.float32))
    out = to_gpu(numpy.zeros((4, 6), numpy.float32))
    fd = of_two(lambda fd, x, y: fd.add_output(x + y))
    assert fd.execute([x, y], out=[out]) == [out]
    numpy.testing.assert_array_equal(out.numpy(), drawn(4, 6) + 1)
    with pytest.raises(ferrofuse.InputError, match=r"out\[0\] lies on the CPU, the inputs on cuda:0"):
        fd.execute([x, y], out=[numpy.zeros((4, 6), numpy.float32)])
    with pytest.raises(ferrofuse.InputError, match=r"out\[0\]: its memory overlaps that of input 0"):
        fd.execute([x, y], out=[x])


def test_outputs_are_compared_with_the_evaluator():
    x, y = to_gpu(drawn(4, 6)), to_gpu(numpy.ones((4, 6), numpy.float32))
    (made,) = softmax().validate([to_gpu(drawn(5, 96))])
    assert made.device == "cuda:0"
    assert type(softmax().validate([drawn(5, 96)], device="cuda")[0]) is numpy.ndarray
    written = of_two(lambda fd, x, y: fd.add_output(x + y, x))
    written.validate([x, y])
    numpy.testing.assert_array_equal(x.numpy(), drawn(4, 6))
    with pytest.raises(AssertionError, match="output 0"):
        of_two(lambda fd, x, y: fd.add_output(x + y)).validate([x, y], [numpy.zeros((4, 6), numpy.float32)])


def test_device_of_a_call():
    x, fd = drawn(3, 64), softmax()
    (made,) = fd.execute([x], device="cuda")
    assert type(made) is numpy.ndarray
    numpy.testing.assert_allclose(made, fd.execute([x])[0], rtol=1e-5)
    with FusionDefinition() as full:
        number = full.define_scalar(dtype=DataType.Double)
        full.add_output(full.ops.full([4], number, dtype=DataType.Float))
    (made,) = full.execute([2.5], device="cuda:1")
    assert made.device == "cuda:1"
    numpy.testing.assert_array_equal(made.numpy(), numpy.full(4, 2.5, numpy.float32))
    assert type(full.execute([2.5])[0]) is numpy.ndarray


def test_numbers_and_arrays_without_axes_come_from_the_host():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        scale = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float, is_cpu=True)
        fd.add_output(x * scale * fd.define_scalar(dtype=DataType.Double))
    (made,) = fd.execute([to_gpu(numpy.arange(5, dtype=numpy.float32)), numpy.array(3, numpy.float32), 2.0])
    numpy.testing.assert_array_equal(made.numpy(), numpy.arange(5) * 6)


def test_arrays_of_two_devices_are_rejected():
    fd = of_two(lambda fd, x, y: fd.add_output(x + y))
    x, y = to_gpu(drawn(2, 2)), to_gpu(drawn(2, 2), "cuda:1")

    def rejected(inputs, **options):
        with pytest.raises((ferrofuse.InputError, ferrofuse.ArgumentError, ValueError, NotImplementedError)) as error:
            fd.execute(inputs, **options)
        return str(error.value).split(" (test_gpu.py:")[0] + str(error.value).partition(")")[2]

    assert rejected([x, y]) == "input 1 lies on cuda:1, input 0 (test_gpu.py:29) on cuda:0: bring all arrays to one device"
    assert rejected([drawn(2, 2), x]).startswith("input 0 lies on the CPU, input 1 (test_gpu.py:")
    assert rejected([x, x], device="cpu") == 'input 0 lies on cuda:0, and device="cpu" is asked for'
    assert rejected([x, x], device="cuda:1") == 'input 0 lies on cuda:0, and device="cuda:1" is asked for'
    assert rejected([x, x], device=1) == 'input 0 lies on cuda:0, and device="1" is asked for'
    assert rejected([x, x], device="mps") == "device: `mps` is no device; known are cpu, cuda, cuda:0, cuda:1, …"
    assert rejected([x, x], like="numpy").startswith("like='numpy' asks for arrays of the host")
    with pytest.raises(RuntimeError, match="cuda:7"):
        to_gpu(drawn(2, 2), "cuda:7")
    fd.segment()
    assert rejected([x, y]).startswith("input 1 lies on cuda:1, input 0 (test_gpu.py:")
    assert rejected([x, x], device="cpu") == 'input 0 lies on cuda:0, and device="cpu" is asked for'


def test_arrays_by_dlpack_wait_for_their_library():
    asked = []

    class Exported:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, *, stream, max_version=None):
            asked.append(stream)
            return self.array.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = to_gpu(drawn(3, 8))
    (made,) = softmax().execute([Exported(x)])
    assert isinstance(made, GpuArray) and asked == [x.__cuda_array_interface__["stream"]]
    numpy.testing.assert_allclose(made.numpy(), softmax().execute([drawn(3, 8)])[0], rtol=1e-5)
    for options in [{"copy": True}, {"dl_device": (1, 0)}]:
        with pytest.raises(BufferError, match="stays on cuda:0"):
            x.__dlpack__(**options)


def test_arrays_of_other_kinds_of_devices_are_rejected():
    """By the names of dlpack.h: a ROCm build of torch or CuPy, for one, has numbers that are no GPU of NVIDIA's."""

    class Elsewhere:
        def __init__(self, kind, number=1):
            self.device = (kind, number)

        def __dlpack_device__(self):
            return self.device

        def __dlpack__(self, **options):
            capsule = numpy.zeros((2, 2), numpy.float32).__dlpack__()
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            # The device is behind the pointer to the elements.
            (ctypes.c_int32 * 2).from_address(pointer(capsule, b"dltensor") + 8)[:] = self.device
            return capsule

    missing = r"input 0 \(test_gpu.py:20\): there is no device cuda:7: this machine has cuda:0 to cuda:1"
    with pytest.raises(ferrofuse.InputError, match=missing):
        softmax().execute([Elsewhere(2, 7)])
    for kind, name in [(10, "ROCm:1"), (8, "Metal:1"), (14, "oneAPI:1"), (99, "device 1 of DLPack's type 99")]:
        told = f"lies on {name}, and only the CPU and NVIDIA's GPUs are supported"
        with pytest.raises(ferrofuse.InputError, match=told):
            softmax().execute([Elsewhere(kind)])
        with pytest.raises(ferrofuse.InputError, match=told):
            to_gpu(Elsewhere(kind))


def test_an_array_stays_on_its_gpu():
    x = to_gpu(drawn(2, 3), "cuda:1")
    for device in (None, "cuda", "cuda:1"):
        assert to_gpu(x, device).__cuda_array_interface__["data"] == x.__cuda_array_interface__["data"]
    with pytest.raises(ferrofuse.InputError, match="lies on cuda:1, and is not brought from there to cuda:0"):
        to_gpu(x, "cuda:0")
    for array in (x, drawn(2, 3)):
        with pytest.raises(TypeError, match='expected "cuda" or "cuda:N"'):
            to_gpu(array, "cpu")


def test_arrays_by_the_interface():
    x = to_gpu(drawn(3, 8))

    class Named:
        __cuda_array_interface__ = x.__cuda_array_interface__

    expected = softmax().execute([drawn(3, 8)])[0]
    numpy.testing.assert_allclose(softmax().execute([Named()])[0].numpy(), expected, rtol=1e-5)

    def with_entry(key, value):
        class Broken:
            __cuda_array_interface__ = {**x.__cuda_array_interface__, key: value}

        with pytest.raises((ferrofuse.InputError, RuntimeError)) as error:
            softmax().execute([Broken()])
        return str(error.value)

    # Without elements there may be no address.
    class Empty:
        __cuda_array_interface__ = {**x.__cuda_array_interface__, "shape": (0, 8), "data": (0, False)}

    assert softmax().execute([Empty()])[0].shape == (0, 8)

    assert "has the type <m8, which is not supported" in with_entry("typestr", "<m8")
    assert "has strides [30, 4], which are no whole elements of 4 bytes" in with_entry("strides", (30, 4))
    assert "has a mask" in with_entry("mask", x)
    told = with_entry("data", (numpy.zeros(4).ctypes.data, False))
    assert told.startswith("input 0 (test_gpu.py:20): its __cuda_array_interface__ names 0x"), told
    assert "which is in no GPU's memory (cuPointerGetAttribute: CUDA_ERROR_INVALID_VALUE" in told, told


def test_a_library_with_streams_keeps_its_order_and_its_memory():
    with stand_in.cupy() as cupy:
        x = cupy.array(drawn(7, 64))
        (made,) = softmax().execute([x])
        assert type(made) is cupy.ndarray and made.data.stream == cupy.current
        expected = softmax().execute([drawn(7, 64)])[0]
        numpy.testing.assert_allclose(made.numpy(), expected, rtol=1e-5)
        # Beside arrays of another stream, and from one stream to the next.
        cupy.current = stand_in.new_stream()
        add = of_two(lambda fd, x, y: (fd.add_output(x + y), fd.add_output(fd.ops.permute(x, [1, 0]))))
        total, view = add.execute([cupy.array(drawn(7, 64)), to_gpu(numpy.ones((7, 64), numpy.float32))])
        numpy.testing.assert_array_equal(total.numpy(), drawn(7, 64) + 1)
        assert type(view) is cupy.ndarray and view.strides == (4, 256)
        (mine,) = softmax().execute([to_gpu(drawn(7, 64))], like="cupy")
        numpy.testing.assert_allclose(mine.numpy(), expected, rtol=1e-5)


def test_memory_may_go_when_the_call_returns():
    """The device has the inputs' memory still in use then, as the stand-in runs late."""
    fd = of_two(lambda fd, x, y: fd.add_output(fd.ops.sum(x * y, dims=[1])))
    results = [fd.execute([to_gpu(drawn(64, 64)), to_gpu(drawn(64, 64))])[0] for _ in range(20)]
    expected = (drawn(64, 64) ** 2).sum(1)
    for result in results:
        numpy.testing.assert_allclose(result.numpy(), expected, rtol=1e-4)


def test_calls_leave_nothing():
    x, fd = to_gpu(drawn(8, 64)), softmax()

    def call():
        (made,) = fd.execute([x])
        made.synchronize()

    for _ in range(20):  # what other tests left goes meanwhile
        call()
    before = [stand_in.count(key) for key in ("allocations", "bytes", "streams", "events", "modules")]
    for _ in range(300):
        call()
    assert [stand_in.count(key) for key in ("allocations", "bytes", "streams", "events", "modules")] == before


def test_an_index_out_of_range():
    with FusionDefinition() as fd:
        table = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.index_select(table, index, 0))
    def wrong():
        return fd.execute([to_gpu(drawn(4, 4)), to_gpu(numpy.array([1, 9]))])[0]

    # The call does not wait. Who waits for it hears of it, else the next call once it is done; in either case once.
    told = r"of an earlier call on cuda:0: test_gpu.py:\d+: `index_select`: index 9 is out of range for axis 0 of size 4"
    for wait in (GpuArray.numpy, GpuArray.synchronize):
        with pytest.raises(ferrofuse.OutOfRangeError, match=told):
            wait(wrong())
    stand_in.finish(wrong())
    with pytest.raises(ferrofuse.OutOfRangeError, match=told) as error:
        fd.execute([to_gpu(drawn(4, 4)), to_gpu(numpy.array([1, 3]))])
    assert (error.value.op, error.value.given) == ("index_select", "9")
    (made,) = fd.execute([to_gpu(drawn(4, 4)), to_gpu(numpy.array([1, 3]))])
    numpy.testing.assert_array_equal(made.numpy(), drawn(4, 4)[[1, 3]])


def test_a_call_is_captured_in_a_graph():
    graphs, fd = [], of_two(lambda fd, x, y: fd.add_output(fd.ops.sum(x * y, dims=[1])))
    with stand_in.cupy() as cupy:
        x, y, out = cupy.array(drawn(4, 64)), cupy.array(drawn(4, 64)), cupy.array(numpy.zeros(4, numpy.float32))
        fd.execute([x, y], out=[out])  # compiles
        with stand_in.capture(cupy.current, graphs):
            fd.execute([x, y], out=[out])
        cupy.copy(x, 2 * drawn(4, 64))
        stand_in.launch(graphs[0], cupy.current)
        numpy.testing.assert_allclose(out.numpy(), 2 * (drawn(4, 64) ** 2).sum(1), rtol=1e-4)
        with FusionDefinition() as checked:
            table = checked.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
            index = checked.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
            checked.add_output(checked.ops.index_select(table, index, 0))
        index = numpy.array([1, 3])
        given, made = [x, cupy.array(index)], cupy.array(numpy.zeros((2, 64), numpy.float32))
        checked.execute(given)
        with stand_in.capture(cupy.current, graphs):
            checked.execute(given, out=[made])
        # The graph's kernels report like those of calls, each time that it is launched.
        for wrong in (7, 5):
            cupy.copy(given[1], numpy.array([1, wrong]))
            stand_in.launch(graphs[1], cupy.current)
            made.numpy()
            with pytest.raises(ferrofuse.OutOfRangeError, match=f"index {wrong} is out of range for axis 0 of size 4"):
                checked.execute(given)
        cupy.copy(given[1], index)
        stand_in.launch(graphs[1], cupy.current)
        numpy.testing.assert_array_equal(made.numpy(), 2 * drawn(4, 64)[index])
        checked.execute(given)


def test_a_capture_waits_for_no_other_stream():
    graphs, fd = [], of_two(lambda fd, x, y: fd.add_output(x + y))
    with stand_in.cupy() as cupy:
        x, y = to_gpu(drawn(4, 6)), cupy.array(drawn(4, 6))
        out = cupy.array(numpy.zeros((4, 6), numpy.float32))
        fd.execute([x, y])
        told = r"input 0 \(test_gpu.py:29\) is made by another stream than the one that is captured"
        with stand_in.capture(cupy.current, graphs):
            with pytest.raises(ferrofuse.InputError, match=told):
                fd.execute([x, y], out=[out])
            fd.execute([y, y], out=[out])  # the capture goes on
        stand_in.launch(graphs[0], cupy.current)
        numpy.testing.assert_array_equal(out.numpy(), 2 * drawn(4, 6))


def test_random_numbers_are_those_of_the_cpu():
    with FusionDefinition() as fd:
        zero, one = fd.define_scalar(0.0), fd.define_scalar(1.0)
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x + fd.ops.uniform(zero, one, [8, 64], dtype=DataType.Float))
    x = numpy.zeros((8, 64), numpy.float32)
    ferrofuse.manual_seed(11)
    (host,) = fd.execute([x])
    ferrofuse.manual_seed(11)
    numpy.testing.assert_array_equal(fd.execute([to_gpu(x)])[0].numpy(), host)


def test_no_memory_is_an_error_after_which_calls_work():
    x, fd = to_gpu(drawn(8, 64)), softmax()
    fd.execute([x])
    held = to_gpu(numpy.zeros(2**28, numpy.float32))
    with stand_in.setting("memory", 2**30 + 2**20):
        with pytest.raises(MemoryError, match="memory"):
            to_gpu(numpy.zeros(2**26, numpy.float32))  # more than earlier tests left in the pool
    del held
    numpy.testing.assert_allclose(fd.execute([x])[0].numpy().sum(1), numpy.ones(8), rtol=1e-5)


def test_threads_on_two_devices():
    fd, expected, failures = softmax(), softmax().execute([drawn(8, 64)])[0], []

    def work(device):
        try:
            for _ in range(10):
                (made,) = fd.execute([to_gpu(drawn(8, 64), device)])
                assert made.device == device
                numpy.testing.assert_allclose(made.numpy(), expected, rtol=1e-5)
        except BaseException as error:  # told to the test's thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"cuda:{number % 2}",)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


def test_decisions_are_those_of_the_gpu():
    x, fd = to_gpu(drawn(64, 4096)), softmax()
    assert "__global__" in fd.cuda_code() and "__global__" in fd.cuda_code([x])
    assert str(fd.explain([x])) != str(fd.explain([drawn(64, 4096)])), "their models differ"


def test_a_forked_child_says_why_not():
    to_gpu(drawn(2, 2))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            to_gpu(drawn(2, 2))
        except RuntimeError as error:
            os.write(write, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000).decode().startswith("GPUs do not go on in a process that was forked")


def test_without_a_driver():
    program = """
        import numpy, ferrofuse
        try:
            ferrofuse.to_gpu(numpy.zeros(3))
        except RuntimeError as error:
            print(error)
    """
    environment = {**os.environ, "FERROFUSE_LIBCUDA": "/nowhere/libcuda.so"}
    program = [sys.executable, "-c", textwrap.dedent(program)]
    told = subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout
    assert told.startswith("libcuda") and "/nowhere/libcuda.so" in told


def of_segments():
    """A definition of three segments, one of them a library's, with a view and an output that is written to an input."""

    def define(fd, x, y):
        once = fd.ops.segment_set(fd.ops.exp(x))
        product = fd.ops.matmul(once, y)
        fd.add_output(product * 2.0 + once)
        fd.add_output(fd.ops.permute(y, [1, 0]))
        fd.add_output(x + fd.ops.sum(product, dims=[1], keepdim=True), x)
        fd.add_output(once)

    return of_two(define)


def test_segments_run_on_a_gpu():
    given, whole = [drawn(6, 6), drawn(6, 6) + 1], of_segments()
    expected_inputs = [to_gpu(array) for array in given]
    expected = [array.numpy() for array in whole.execute(expected_inputs)]
    fd = of_segments()
    assert len(fd.segment()) >= 3
    for device in (None, "cuda", "cuda:1"):
        inputs = [to_gpu(array, device or "cuda") for array in given]
        made = fd.execute(inputs, device=device)
        assert all(isinstance(array, GpuArray) for array in made)
        assert {array.device for array in made} == {"cuda:1" if device == "cuda:1" else "cuda:0"}
        # The view is one of the input's memory.
        assert made[1].__cuda_array_interface__["data"] == inputs[1].__cuda_array_interface__["data"]
        for array, right in zip(made, expected):
            numpy.testing.assert_allclose(array.numpy(), right, rtol=1e-5)
        numpy.testing.assert_allclose(inputs[0].numpy(), expected_inputs[0].numpy(), rtol=1e-5)
    out = [to_gpu(numpy.full((6, 6), numpy.nan, numpy.float32)) for _ in range(3)]
    assert fd.execute([to_gpu(array) for array in given], out=out) == out
    for array, right in zip(out, expected):
        numpy.testing.assert_allclose(array.numpy(), right, rtol=1e-5)
    # Arrays of the host are brought there, segment by segment.
    for array, right in zip(fd.execute([array.copy() for array in given], device="cuda"), expected):
        numpy.testing.assert_allclose(array, right, rtol=1e-5)


def test_a_number_of_the_host_is_an_output_of_segments():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        t = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float, is_cpu=True)
        fd.add_output(fd.ops.segment_set(x * 2.0) + t)
        fd.add_output(t)
    fd.segment()
    total, number = fd.execute([to_gpu(numpy.arange(4, dtype=numpy.float32)), numpy.array(3, numpy.float32)])
    numpy.testing.assert_array_equal(total.numpy(), numpy.arange(4) * 2 + 3)
    assert number.numpy() == 3


def test_segments_of_a_library_with_streams_give_it_its_arrays():
    with stand_in.cupy() as cupy:
        fd = of_segments()
        fd.segment()
        x, y = cupy.array(drawn(6, 6)), cupy.array(drawn(6, 6))
        made = fd.execute([x, y])
        assert [type(array) for array in made] == [cupy.ndarray] * 3
        (right, *_) = of_segments().execute([drawn(6, 6), drawn(6, 6)])
        numpy.testing.assert_allclose(made[0].numpy(), right, rtol=1e-5)


def test_segments_are_validated_and_profiled_on_a_gpu():
    fd, inputs = of_segments(), [to_gpu(drawn(6, 6)), to_gpu(drawn(6, 6))]
    segments = fd.segment()
    fd.validate(inputs)
    numpy.testing.assert_array_equal(inputs[0].numpy(), drawn(6, 6))
    with ferrofuse.PythonProfiler() as profiler:
        fd.execute(inputs)
    steps = [kernel.name for kernel in profiler.profile.kernel_profiles]
    # One segment of views alone takes no step.
    own = {name.split(".")[0] for name in steps} - {"copy"}
    assert own < {segment.name for segment in segments} and len(own) == len(segments) - 1
    with pytest.raises(NotImplementedError, match="a call that runs fd.segments cannot be captured"):
        fd.capture(inputs)


def test_the_last_segment_writes_to_inputs():
    def profiled(made_last, *inputs):
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) for _ in range(2))
            t = fd.ops.segment_set(fd.ops.exp(x))
            fd.add_output(y + t * 2.0 if made_last else t, y)
            fd.add_output(t + 1.0)
        fd.segment()
        with ferrofuse.PythonProfiler() as profiler:
            fd.execute(inputs)
        return [kernel.name for kernel in profiler.profile.kernel_profiles]

    given = numpy.arange(5, dtype=numpy.float32)
    x, y = to_gpu(given), to_gpu(given)
    assert "copy" not in profiled(True, x, y)
    numpy.testing.assert_allclose(y.numpy(), given + 2 * numpy.exp(given), rtol=1e-6)
    # Requesting memory for the outputs of later segments may fail.
    assert profiled(False, x, y)[-1] == "copy"
    numpy.testing.assert_allclose(y.numpy(), numpy.exp(given), rtol=1e-6)
    # Of two views of one array one would read what the other writes.
    assert profiled(True, x, x)[-1] == "copy"
    numpy.testing.assert_allclose(x.numpy(), given + 2 * numpy.exp(given), rtol=1e-6)


@pytest.mark.parametrize("place", [lambda array: array, to_gpu], ids=["host", "gpu"])
def test_a_value_of_segments_is_written_to_an_input_and_returned(place):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        t = fd.ops.exp(x)
        fd.add_output(t, x)
        fd.add_output(t)
    fd.segment()
    expected = numpy.exp(numpy.arange(5, dtype=numpy.float32))
    for out in (None, [place(numpy.zeros(5, numpy.float32))]):
        array = place(numpy.arange(5, dtype=numpy.float32))
        (made,) = fd.execute([array], out=out)
        for given in (array, made):
            numpy.testing.assert_allclose(given.numpy() if place is to_gpu else given, expected, rtol=1e-6)


@pytest.mark.parametrize("place", [lambda array: array, to_gpu], ids=["host", "gpu"])
def test_inputs_of_segments_stay_when_memory_for_outputs_is_rejected(place):
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) for _ in range(2))
        t = fd.ops.segment_set(fd.ops.exp(y))
        fd.add_output(t, x)
        fd.add_output(fd.ops.segment_set(t + 1.0) * 2.0)
    fd.segment()
    given, other = place(numpy.zeros(4, numpy.float32)), place(numpy.ones(4, numpy.float32))
    for out in ([place(numpy.zeros(3, numpy.float32))], [other], []):
        with pytest.raises(ferrofuse.InputError):
            fd.execute([given, other], out=out)
        assert not (given.numpy() if place is to_gpu else given).any()


def test_an_index_out_of_range_in_a_segment_is_told():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.take_along_axis(fd.ops.segment_set(x * 2.0), index, dim=0))
    fd.segment()
    inputs = [to_gpu(numpy.arange(4, dtype=numpy.float32)), to_gpu(numpy.array([1, 9]))]
    with pytest.raises(Exception, match="index 9 is out of range"):
        fd.execute(inputs)[0].numpy()


def test_a_captured_call_is_replayed():
    def define(fd, x, y):
        fd.add_output(fd.ops.segment_set(fd.ops.exp(x)) * 2.0)
        fd.add_output(x + y, x)

    fd = of_two(define)
    x, y = to_gpu(numpy.zeros((4, 6), numpy.float32)), to_gpu(numpy.ones((4, 6), numpy.float32))
    graph = fd.capture([x, y])
    assert graph.inputs == [x, y] and len(graph.outputs) == 1
    for step in range(3):
        graph.replay()
        numpy.testing.assert_allclose(graph.outputs[0].numpy(), numpy.full((4, 6), 2 * numpy.exp(float(step))), rtol=1e-6)
        numpy.testing.assert_array_equal(x.numpy(), numpy.full((4, 6), step + 1))
    out = to_gpu(numpy.zeros((9, 130), numpy.float32))
    graph = softmax().capture([to_gpu(drawn(9, 130))], out=[out])
    assert graph.outputs[0] is out
    graph.replay()
    numpy.testing.assert_allclose(out.numpy(), softmax().execute([drawn(9, 130)])[0], rtol=1e-5)


def test_a_library_with_streams_replays_on_its_own():
    with stand_in.cupy() as cupy:
        x = cupy.array(drawn(9, 130))
        graph = softmax().capture([x])
        (made,) = graph.outputs
        assert type(made) is cupy.ndarray
        # The next values are brought by the same stream, which the replay comes behind.
        cupy.copy(x, 2 * drawn(9, 130))
        graph.replay()
        numpy.testing.assert_allclose(made.numpy(), softmax().execute([2 * drawn(9, 130)])[0], rtol=1e-5)


def test_calls_that_cannot_be_captured_say_why():
    fd = softmax()
    with pytest.raises(ferrofuse.ArgumentError, match="a call is captured on arrays of a GPU: bring them there, as `to_gpu` does"):
        fd.capture([drawn(4, 4)])
    with FusionDefinition() as sorts:
        sorts.add_output(sorts.ops.argsort(sorts.define_tensor(shape=[-1], dtype=DataType.Float), dim=0))
    with pytest.raises(ValueError, match=r"the host has a part in the call \(argsort\), which a graph"):
        sorts.capture([to_gpu(drawn(4))])


def test_scripts_make_arrays_of_the_host_for_ours():
    fd = softmax()
    fd.execute([to_gpu(drawn(4, 4))], save_repro_inputs=True)
    assert fd.last_repro_script() == fd.repro_script_for([drawn(4, 4)])


def test_profiles_name_the_gpu_for_arrays_of_the_host_too():
    fd, x = softmax(), drawn(4, 96)
    for given, device in [(x, "cuda:0"), (to_gpu(x), "cuda:0"), (x, "cpu")]:
        with ferrofuse.PythonProfiler() as profiler:
            fd.execute([given], device="cuda" if device != "cpu" and given is x else None)
        assert {kernel.device for kernel in profiler.profile.kernel_profiles} == {device}


def test_profiles_have_the_times_of_the_gpu():
    fd, x = of_two(lambda fd, x, y: fd.add_output(fd.ops.matmul(fd.ops.segment_set(x + 1.0), y))), to_gpu(drawn(8, 8))
    with ferrofuse.PythonProfiler() as profiler:
        (made,) = fd.execute([x, x])
    numpy.testing.assert_allclose(made.numpy(), (drawn(8, 8) + 1) @ drawn(8, 8), rtol=1e-4, atol=1e-5)
    profile = profiler.profile
    assert [kernel.name for kernel in profile.kernel_profiles] == ["seg0", "seg1"]
    assert all(kernel.time_ms > 0 for kernel in profile.kernel_profiles) and profile.compile_time_ms > 0
    assert profile.input_bytes == 2 * 256 and profile.output_bytes == 256


def test_the_last_segment_writes_its_outputs_where_they_go():
    fd, x, out = softmax(), to_gpu(drawn(9, 130)), to_gpu(numpy.zeros((9, 130), numpy.float32))
    (right,) = fd.execute([x])
    assert len(fd.segment()) == 1
    fd.execute([x], out=[out])
    launches, taken = map(stand_in.count, ("launches", "taken"))
    fd.execute([x], out=[out])
    # Neither a copy nor memory for it.
    assert (stand_in.count("launches") - launches, stand_in.count("taken") - taken) == (1, 0)
    numpy.testing.assert_array_equal(out.numpy(), right.numpy())
    with pytest.raises(ferrofuse.InputError, match="its memory overlaps that of input 0"):
        fd.execute([x], out=[x])
