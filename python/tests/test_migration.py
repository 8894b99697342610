"""What scripts of nvFuser's use besides definitions: a meaning, or an error that says why there is none."""

import functools

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 once it is imported
import numpy as np
import pytest

import ferrofuse
from ferrofuse import DataType, FusionDefinition, FusionExecutorCache, ParallelType, pytorch_utils, schedule


def scaled():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        unused = fd.ops.exp(x)
        unused_size = fd.ops.mul(x.size(0), 2)
        fd.add_output(fd.ops.mul(x, fd.define_scalar(2.0)))
        fd.x, fd.unused = x, (unused, unused_size)
    return fd


def test_dtypes_by_the_names_of_torch_and_of_python():
    of = pytorch_utils.torch_dtype_to_nvfuser_dtype
    assert [of(kind) for kind in (bool, int, float, complex)] == [
        DataType.Bool,
        DataType.Int,
        DataType.Double,
        DataType.ComplexDouble,
    ]
    assert of(np.float32) == of(np.dtype("float32")) == DataType.Float
    assert of("torch.bfloat16") == DataType.BFloat16
    assert [of(kind) for kind in (np.uint8, np.int8, np.int16, np.uint16, np.uint32)] == [
        DataType.Byte,
        DataType.Char,
        DataType.Short,
        DataType.UInt16,
        DataType.UInt32,
    ]
    with pytest.raises(TypeError, match="the dtype longdouble is not supported; known are bool, int8"):
        of(np.longdouble)
    scalars = [True, 1, 1.0, 1j]
    assert [pytorch_utils.python_scalar_to_nvfuser_dtype(scalar) for scalar in scalars] == [
        of(type(scalar)) for scalar in scalars
    ]
    with pytest.raises(TypeError, match="expected a bool, int, float or complex, got str"):
        pytorch_utils.python_scalar_to_nvfuser_dtype("1")


def test_a_test_that_runs_out_of_memory_is_tried_again_and_then_skipped():
    calls = []

    @pytorch_utils.retry_on_oom_or_skip_test
    def hungry(times):
        calls.append(times)
        if len(calls) <= times:
            raise MemoryError("no more")
        return "fed"

    assert hungry(1) == "fed" and calls == [1, 1]
    calls.clear()
    with pytest.raises(pytest.skip.Exception, match="memory ran out: no more"):
        hungry(5)


def test_math_is_printed_of_outputs_or_of_all():
    fusion = scaled().fusion
    assert "exp" not in fusion.print_math() and "fd.ops.size" not in fusion.print_math()
    assert "tv1 = fd.ops.mul(tv0, 2.0)" in fusion.print_math()
    every = fusion.print_math(from_outputs_only=False)
    assert every == repr(fusion) and "tv1 = fd.ops.exp(tv0)" in every and "fd.ops.size" in every
    with FusionDefinition() as fd:
        fd.ops.neg(fd.define_tensor(shape=[-1]))
    assert "fd.ops.neg" in fd.fusion.print_math(False) and "fd.ops.neg" not in fd.fusion.print_math()


def test_kernels_are_printed():
    fd, inputs = scaled(), [np.ones((4, 8), np.float32)]
    assert "__global__" in fd.fusion.print_kernel()
    cache = FusionExecutorCache(fd.fusion)
    assert not cache.is_compiled(inputs)
    assert "__global__" in cache.get_cuda_kernel(inputs)
    assert cache.get_scheduled_ir(inputs).startswith("# seg0")
    assert not cache.is_compiled(inputs)
    fd.execute(inputs)
    assert fd.fec.is_compiled(inputs) and "__global__" in fd.fec.get_cuda_kernel(inputs)
    with pytest.raises(ValueError, match="expected 2 axes, got 1"):
        cache.get_cuda_kernel([np.ones(8, np.float32)])
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.argsort(fd.define_tensor(shape=[-1], contiguity=True), 0))
    with pytest.raises(NotImplementedError, match="argsort, which a library computes"):
        fd.fusion.print_kernel()


SCHEDULES = (
    "loops are chosen by the compiler: fd.explain() tells how it chose; fd.segments[0].schedule and `ferrofuse run --schedule "
    "SEGMENT=FILE` take a schedule by hand, as text"
)
LOOPS = SCHEDULES + "; sizes are tv.shape() and tv.size(dim)"
LAUNCHES = (
    "CUDA kernels are not launched one by one: fd.execute(inputs) compiles and launches them, and fd.cuda_code(inputs) "
    "returns their CUDA C++"
)
DEVICES = "a call runs on one device"
VALIDATE = "fd.validate(inputs, reference_outputs) compares, within error bounds of each element"
USES = "print(fd) tells which call made a value, and which calls use it"
REJECTED = {
    "fd.sched.inline_most": (lambda fd: fd.sched.inline_most(), SCHEDULES),
    "fd.sched.schedule": (lambda fd: fd.sched.schedule(fd.fusion, None, []), SCHEDULES),
    "fd.sched.compute_heuristics": (lambda fd: fd.sched.compute_heuristics(fd.fusion, None, []), SCHEDULES),
    "fd.manual_execute": (lambda fd: fd.manual_execute([]), SCHEDULES),
    "fd.manual_validate": (lambda fd: fd.manual_validate([]), SCHEDULES),
    "schedule.schedule": (lambda fd: schedule.schedule(fd.fusion, None, []), SCHEDULES),
    "ParallelType.grid_x": (lambda fd: ParallelType.grid_x, SCHEDULES),
    "SchedulerType.pointwise": (lambda fd: ferrofuse.SchedulerType.pointwise, SCHEDULES),
    "MemoryType.shared": (lambda fd: ferrofuse.MemoryType.shared, SCHEDULES),
    "PointwiseParams": (lambda fd: ferrofuse.PointwiseParams(), SCHEDULES),
    "idm.IdModel": (lambda fd: ferrofuse.idm.IdModel(fd.fusion), SCHEDULES),
    "FusionExecutorCache(auto_schedule=False)": (lambda fd: FusionExecutorCache(fd.fusion, 0, False), SCHEDULES),
    **{
        f"TensorView.{name}": (lambda fd, name=name: getattr(fd.x, name)(0, 4), LOOPS)
        for name in """domain axis has_root get_logical_domain get_loop_domain get_root_domain split inner_split outer_split merge
        reorder swizzle swizzle1d rfactor cache_after cache_before set_memory_type""".split()
    },
    "TensorView.set_allocation_domain": (
        lambda fd: fd.x.set_allocation_domain([], True),
        "fd.ops.stride_order(tv, stride_order) sets the order of an output in memory",
    ),
    "LaunchParams": (lambda fd: ferrofuse.LaunchParams(1, 1, 1, 128, 1, 1), LAUNCHES),
    "CompileParams": (lambda fd: ferrofuse.CompileParams(maxrregcount=64), LAUNCHES),
    "KernelExecutor": (lambda fd: ferrofuse.KernelExecutor(), LAUNCHES),
    "TensorView.set_device_mesh": (lambda fd: fd.x.set_device_mesh(None), DEVICES),
    "multidevice.Communicator": (lambda fd: ferrofuse.multidevice.Communicator, DEVICES),
    "execute_with_dtensors": (lambda fd: ferrofuse.execute_with_dtensors(fd, []), DEVICES),
    "get_output_shardings": (lambda fd: FusionExecutorCache(fd.fusion).get_output_shardings(), DEVICES),
    "get_val_tolerances": (lambda fd: ferrofuse.get_val_tolerances(fd.fusion, []), VALIDATE),
    "Val.definition": (lambda fd: fd.x.definition(), USES),
    "Val.uses": (lambda fd: fd.x.uses(), USES),
    "Split": (lambda fd: ferrofuse.Split(), "print(fd) tells the calls"),
    "nvf_cutlass.grouped_mm": (
        lambda fd: ferrofuse.nvf_cutlass.grouped_mm(),
        "ferrofuse writes no kernels in CUTLASS",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_absent_names_say_why(name):
    use, why = REJECTED[name]
    with pytest.raises(NotImplementedError) as error:
        use(scaled())
    assert str(error.value) == f"`{name}` is not supported: {why}"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'ferrofuse' has no attribute 'ParalelType'"):
        ferrofuse.ParalelType
    with pytest.raises(NotImplementedError, match="inputs are not kept"):
        FusionExecutorCache(scaled().fusion).get_most_recent_scheduled_ir()
    with pytest.raises(NotImplementedError, match="`ferrofuse doctor` describes the GPUs"):
        pytorch_utils.get_device_properties()
    assert pytorch_utils.DEVICE_PROPERTIES is None and "which is not supported" in repr(ParallelType)
    assert functools.partial(ferrofuse.KernelExecutor) is not None  # may be handed on, not called


def test_axes_are_named_as_the_tensor_has_them():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True)
        with pytest.raises(ValueError, match="`dim` must be an axis, 0 or -1, as the tensor has one, but is the number 1"):
            fd.ops.cat([x, x], 1)
        with pytest.raises(ValueError, match="`arg` must be a tensor of at least two axes, but is one of rank 1"):
            fd.ops.triu(x)
        with pytest.raises(ValueError, match="argument `start` must be a finite number, but is the number float"):
            fd.ops.iota(4, float("inf"), 1.0, DataType.Float)


def test_a_bias_has_as_many_elements_as_there_are_features():
    with FusionDefinition() as fd:
        x, weight, bias = (fd.define_tensor(shape=shape, contiguity=True) for shape in ([-1, -1], [1, -1], [-1]))
        fd.add_output(fd.ops.linear(x, weight, bias))
    ones = np.ones((3, 4), np.float32)
    assert fd.execute([ones, ones[:1], ones[0, :1]])[0].shape == (3, 1)
    with pytest.raises(ValueError, match=r"axis 0: expected size 1 .*`linear` at test_migration.py:\d+ needs it.*, got 4"):
        fd.execute([ones, ones[:1], ones[0]])


def test_sizes_are_computed_of_scalars():
    """As nvFuser's tests reshape by what is left of 192 elements."""
    with FusionDefinition() as fd:
        rows = fd.define_scalar(None, dtype=DataType.Int)
        x = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.Float)
        product = fd.ops.mul(fd.define_scalar(1, dtype=DataType.Int), rows)
        negative = fd.ops.ne(fd.ops.signbit(product), fd.define_scalar(False, dtype=DataType.Bool))
        left = fd.ops.cast(fd.ops.fmod(fd.define_scalar(192, dtype=DataType.Int), product), dtype=DataType.Int)
        uneven = fd.ops.bitwise_and(negative, fd.ops.ne(left, fd.define_scalar(0, dtype=DataType.Int)))
        columns = fd.ops.mul(fd.define_scalar(192, dtype=DataType.Int), fd.ops.reciprocal(product))
        columns = fd.ops.sub(columns, fd.ops.cast(uneven, dtype=DataType.Int))
        fd.add_output(fd.ops.sum(fd.ops.reshape(x, new_shape=[rows, columns]), dims=[1]))
    values = np.arange(192, dtype=np.float32).reshape(4, 8, 6)
    for rows in (32, 6, 48, 1, 3):
        [sums] = fd.validate([rows, values])
        np.testing.assert_array_equal(sums, values.reshape(rows, -1).sum(axis=1))
    with pytest.raises(ValueError, match=r"a size comes out as .*, which is no whole number; `reshape` at test_migration.py:\d+ needs it"):
        fd.execute([36, values])
    with FusionDefinition() as again:
        exec(repr(fd), names := {"FusionDefinition": FusionDefinition, "DataType": DataType})
        names["nvfuser_fusion"](again)
    assert again.fusion == fd.fusion and again.execute([32, values])[0].shape == (32,)


def test_flags_may_be_zero_and_one():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, 4], contiguity=True)
        left = fd.ops.slice(x, start_indices=[0, 0], end_indices=[2, 2], strides=[1, 1], manual_normalization=0)
        right = fd.ops.slice(x, start_indices=[0, 2], end_indices=[2, 4], strides=[1, 1], manual_normalization=1)
        fd.add_output(fd.ops.cat([right, left], dim=-1, manual_padding=0))
        with pytest.raises(TypeError, match="`keepdim` must be True or False, but is the number 2"):
            fd.ops.sum(x, dims=[0], keepdim=2)
    assert "manual_normalization=True" in repr(fd)
    assert fd.execute([np.arange(8, dtype=np.float32).reshape(2, 4)])[0][0].tolist() == [2, 3, 0, 1]
