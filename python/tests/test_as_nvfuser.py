"""Behaviour and texts that nvFuser's users know: what is printed, what is said of mistakes, and what shares memory."""

import re

import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition, FusionExecutorCache, pytorch_utils

MATRIX = {"shape": [-1, -1], "contiguity": True}


def line_of(op, build, **declared):
    """The printed call of an op on a matrix."""
    with FusionDefinition() as fd:
        build(fd, fd.define_tensor(**{**MATRIX, **declared}))
    return next(line.strip() for line in repr(fd).splitlines() if f"fd.ops.{op}(" in line)


def give(fd, *outputs):
    for output in outputs:
        fd.add_output(output)


PRINTED = {
    "tv1 = fd.ops.linear(tv0, tv0)": lambda fd, x: give(fd, fd.ops.linear(x, x)),
    "tv1 = fd.ops.matmul(tv0, tv0)": lambda fd, x: give(fd, fd.ops.matmul(x, x)),
    "tv1 = fd.ops.sum(tv0, dims=[1], dtype=DataType.Float)": lambda fd, x: give(
        fd, fd.ops.sum(x, [-1], False, DataType.Float)
    ),
    "tv1 = fd.ops.max(tv0, dims=[1])": lambda fd, x: give(fd, fd.ops.max(x, -1)),
    "tv1, tv2 = fd.ops.var_mean(tv0, dims=[0, 1])": lambda fd, x: give(fd, *fd.ops.var_mean(x, [-2, -1])),
    "tv1 = fd.ops.permute(tv0, dims=[1, 0])": lambda fd, x: give(fd, fd.ops.permute(x, [-1, -2])),
    "tv1 = fd.ops.cat([tv0, tv0], dim=1)": lambda fd, x: give(fd, fd.ops.cat([x, x], -1)),
    "tv1 = fd.ops.cumsum(tv0, dim=1)": lambda fd, x: give(fd, fd.ops.cumsum(x, -1)),
    "tv1 = fd.ops.broadcast_in_dim(tv0, shape=[2, 3, 4], broadcast_dims=[1, 2])": lambda fd, x: give(
        fd, fd.ops.broadcast_in_dim(x, [2, 3, 4], [-2, -1])
    ),
    "tv1 = fd.ops.iota(length=3, dtype=DataType.Int)": lambda fd, x: give(fd, fd.ops.iota(3, dtype=DataType.Int)),
    "tv1 = fd.ops.iota(length=3)": lambda fd, x: give(fd, fd.ops.iota(3)),
}


@pytest.mark.parametrize("line", PRINTED)
def test_calls_are_printed_as_nvfuser_prints_them(line):
    op = re.search(r"fd\.ops\.(\w+)", line)[1]
    assert line_of(op, PRINTED[line]) == line


@pytest.mark.parametrize("dtype", [DataType.ComplexFloat, DataType.ComplexDouble])
def test_complex_constants_are_printed_with_their_dtype(dtype):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.ComplexDouble)
        fd.add_output(fd.ops.mul(x, fd.define_scalar(1 + 2j, dtype=dtype)))
    assert f"c0 = fd.define_scalar(1.0+2.0j, dtype={dtype})\n    tv1 = fd.ops.mul(tv0, c0)" in repr(fd)
    with FusionDefinition() as again:
        exec(repr(fd), names := {"FusionDefinition": FusionDefinition, "DataType": DataType})
        names["nvfuser_fusion"](again)
    assert again.fusion == fd.fusion


SLICES = [
    ([-1, -2], [5, 5], [7, 7], "Slice operation start_indices must be greater than or equal to 0. .*"),
    ([3, 4], [1, 2], [1, 1], "Slice operation end_indices must be greater than or equal to start_indices. .*"),
    ([0, 0], [5, 5], [5, 5], "nvFuser Limitation: All slice operation strides must be of const size 1.*"),
    ([0, 0, 0], [4, 4, 4], [1, 1, 1], "Number of tensor dimensions does not match slice dimensions! .*"),
    ([0, 0, 0], [4, 4], [1, 1], "Slice start_indices and strides don't match! .*"),
    ([0, 0], [4, 4, 4], [1, 1], "Slice indexing attribute dimensions don't match! .*"),
    ([0, 0], [4, 4], [1, 1, 1], "Slice start_indices and strides don't match! .*"),
]


@pytest.mark.parametrize("starts, ends, strides, known", SLICES)
def test_slices_are_rejected_in_words_of_nvfuser_too(starts, ends, strides, known):
    with FusionDefinition() as fd:
        x = fd.define_tensor(**MATRIX)
        with pytest.raises(RuntimeError, match=known) as error:
            fd.ops.slice(x, start_indices=starts, end_indices=ends, strides=strides)
    assert ": `slice`: argument `" in str(error.value)


def test_the_whole_text_of_a_rejected_slice():
    with FusionDefinition() as fd:
        with pytest.raises(ValueError) as error:
            fd.ops.slice(fd.define_tensor(**MATRIX), [0, 0], [5, 5], [5, 5])
    assert re.sub(r"^\S+:\d+: ", "", str(error.value)) == (
        "`slice`: argument `strides` must be a list of ones, but is [5, 5]; in nvFuser's words: nvFuser Limitation: All "
        "slice operation strides must be of const size 1. Given: [5, 5]"
    )


def scaled():
    """The definition that nvFuser's test of mismatched inputs has."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False, stride_order=[0])
        fd.add_output(fd.ops.mul(x, fd.define_scalar()))
    return fd


ONES = np.ones(15, np.float32)
MISMATCHED = [
    ([2.0, 2.0], TypeError, "Expected input 0, T0_g_float[iS0{i0}], to be an at::Tensor but got scalar 2"),
    ([ONES, ONES], TypeError, "Expected input 1, d2, to be a scalar but got float tensor of rank 1"),
    (
        [ONES.astype(np.float16), 2.0],
        ValueError,
        "Expected input 0, T0_g_float[iS0{i0}], to be bound to a tensor of dtype float, but got a tensor of dtype __half",
    ),
    (
        [ONES.reshape(3, 5), 2.0],
        ValueError,
        "Expected input 0, T0_g_float[iS0{i0}], to be bound to a tensor of rank 1, but got a tensor of rank 2",
    ),
    ([ONES, 2.0 + 1j], TypeError, "Scalar value (2,1) is not compatible with the expected data type: double."),
]


@pytest.mark.parametrize("inputs, kind, words", MISMATCHED)
def test_mismatched_inputs_are_told_in_nvfusers_words_too(inputs, kind, words):
    fd = scaled()
    for call in (fd.execute, fd.validate, fd.explain, FusionExecutorCache(fd.fusion).get_scheduled_ir):
        with pytest.raises(RuntimeError) as error:
            call(inputs)
        ours, theirs = str(error.value).split("; in nvFuser's words: ")
        assert theirs == words and isinstance(error.value, kind)
        assert re.match(r"input [01] \(test_as_nvfuser\.py:\d+\): expected .*, got .", ours)


def test_inputs_are_numbered_as_nvfuser_numbers_them():
    """Sizes first, then what all axes share: where they begin, and the size 1."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, 1, 4], contiguity=[True, None, True], dtype=DataType.Half)
        y = fd.define_tensor(shape=[-1, 5], contiguity=[True, None], dtype=DataType.ComplexFloat)
        scalars = [fd.define_scalar(None, dtype=dtype) for dtype in (DataType.Int32, DataType.Bool, DataType.ComplexFloat)]
        fd.add_output(fd.ops.neg(x))
        fd.add_output(fd.ops.mul(y, scalars[2]))
        fd.add_output(fd.ops.where(scalars[1], x, scalars[0]))
    given = [np.ones((2, 1, 4), np.float16), np.ones((3, 5), np.complex64), 1, True, 1j]
    fd.execute(given)
    names = ["T0_g___half[iS0{i0}, bS1{1}, iS2{4}]", "T1_g_std::complex<float>[iS3{i4}, bS4{1 ex 5}]", "i6", "b7", "c8"]
    for place, name in enumerate(names):
        wrong = [*given[:place], np.ones((1, 1, 1, 1)), *given[place + 1 :]]
        with pytest.raises(RuntimeError) as error:
            fd.execute(wrong)
        assert f"Expected input {place}, {name}, to be " in str(error.value)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_as_many_inputs_as_are_declared(count):
    fd = scaled()
    for call in (fd.execute, fd.validate, fd.explain, FusionExecutorCache(fd.fusion).get_scheduled_ir):
        with pytest.raises(ValueError) as error:
            call([ONES] * count)
        assert str(error.value) == f"expected 2 inputs, got {count}"


def test_complex_tensors_are_padded_with_complex_numbers():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.ComplexFloat)
        for value in (1.0, 1, True, x.size(0)):
            with pytest.raises(ValueError, match="argument `value` must be a complex number, as the tensor is complex"):
                fd.ops.pad(x, [1, 0], value)
        with pytest.raises(ValueError) as error:
            fd.ops.pad(x, [1, 0], 1.0)
        fd.add_output(fd.ops.pad(x, [1, 0], 1j))
        fd.add_output(fd.ops.pad(x, [1, 0]))
    assert re.sub(r"^\S+:\d+: ", "", str(error.value)) == (
        "`pad`: argument `value` must be a complex number, as the tensor is complex, but is the number 1.0"
    )
    padded, with_zero = fd.validate([np.ones(1, np.complex64)])
    assert padded.tolist() == [1j, 1] and with_zero.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_indices_may_be_floats_that_hold_integers(dtype):
    with FusionDefinition() as fd:
        x = fd.define_tensor(**MATRIX)
        index = fd.from_array(np.zeros((2, 1), dtype))
        fd.add_output(fd.ops.take_along_axis(x, index, dim=1))
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    [taken] = fd.validate([values, np.array([[2], [0]], dtype)])
    assert taken.tolist() == [[2], [3]]
    with pytest.raises(IndexError, match="3"):
        fd.execute([values, np.array([[3], [0]], dtype)])


def test_outputs_that_are_written_to_an_input_as_well_share_its_memory():
    with FusionDefinition() as fd:
        x = fd.define_tensor(**MATRIX)
        y = fd.ops.add(x, 1.0)
        fd.add_output(y, alias_input=x)
        fd.add_output(y)
        fd.add_output(fd.ops.mul(y, 2.0))
    given = np.zeros((3, 4), np.float32)
    returned, doubled = fd.execute([given])
    assert np.shares_memory(returned, given) and returned.shape == (3, 4)
    assert (given == 1).all() and (returned == 1).all() and (doubled == 2).all()
    given[0, 0] = 7
    assert returned[0, 0] == 7
    strided = np.zeros((4, 3), np.float32).T
    returned, _ = fd.execute([strided])
    assert np.shares_memory(returned, strided) and returned.strides == strided.strides and (strided == 1).all()
    assert [out.tolist() for out in fd.validate([np.zeros((1, 1), np.float32)])] == [[[1]], [[1]], [[2]]]


@pytest.mark.parametrize("shape", [[], [-1], [4, -1]])
def test_declared_inputs_may_lie_on_the_cpu(shape):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=shape, contiguity=[True] * len(shape), dtype=DataType.Float, is_cpu=True)
        fd.add_output(fd.ops.neg(x))
    assert "is_cpu=True" in repr(fd)
    array = np.ones([4] * len(shape), np.float32)
    np.testing.assert_array_equal(fd.execute([array])[0], -array)


DTYPES = """Double Float Half Int Int32 UInt64 Index Bool BFloat16 Float8_e4m3fn Float8_e5m2 Float8_e8m0fnu Float4_e2m1fn
Float4_e2m1fn_x2 ComplexFloat ComplexDouble Null""".split()
# Those that nvFuser has in C++ alone.
NARROW = "Char Short Byte UInt16 UInt32".split()


def test_all_dtypes_of_nvfuser_have_their_names():
    members = {name: getattr(DataType, name) for name in DTYPES}
    assert {*DTYPES, *NARROW} == {name for name, one in vars(DataType).items() if isinstance(one, DataType)}
    assert members.pop("Index") == DataType.Int  # as wide as sizes are
    assert all(repr(one) == f"DataType.{name}" for name, one in members.items())
    assert len({one: name for name, one in members.items()}) == len(members)


class OfFourBits:
    """What is asked of a tensor of torch's."""

    shape, dtype = (2,), "torch.float4_e2m1fn_x2"

    def stride(self):
        return (1,)


USES_OF_DTYPES = {
    "define_tensor": lambda fd, x, dtype: fd.define_tensor(shape=[-1], contiguity=True, dtype=dtype),
    "define_tensor of strides": lambda fd, x, dtype: fd.define_tensor(sizes=[4], strides=[1], dtype=dtype),
    "define_scalar": lambda fd, x, dtype: fd.define_scalar(dtype),
    "define_scalar of a constant": lambda fd, x, dtype: fd.define_scalar(1.0, dtype=dtype),
    "cast": lambda fd, x, dtype: fd.ops.cast(x, dtype),
    "sum": lambda fd, x, dtype: fd.ops.sum(x, [0], False, dtype),
    "full": lambda fd, x, dtype: fd.ops.full([2], 1.0, dtype),
    "iota": lambda fd, x, dtype: fd.ops.iota(4, dtype=dtype),
    "uniform": lambda fd, x, dtype: fd.ops.uniform(0.0, 1.0, [2], dtype=dtype),
    "normal": lambda fd, x, dtype: fd.ops.normal(0.0, 1.0, [2], dtype=dtype),
}


@pytest.mark.parametrize("name", ["Float4_e2m1fn", "Float4_e2m1fn_x2"])
def test_floats_of_four_bits_have_a_name_and_no_use(name):
    dtype = getattr(DataType, name)
    text = f"DataType.{name} is not supported: only nvFuser's block-scaled matmuls take floats of four bits"
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True)
        for use in USES_OF_DTYPES.values():
            with pytest.raises(NotImplementedError) as error:
                use(fd, x, dtype)
            assert str(error.value) == text
        fd.add_output(fd.ops.neg(x))
    assert len(fd.fusion.inputs()) == 1  # what is rejected leaves nothing


def test_tensors_of_four_bits_are_known_and_rejected():
    assert pytorch_utils.torch_dtype_to_nvfuser_dtype("torch.float4_e2m1fn_x2") == DataType.Float4_e2m1fn_x2
    with FusionDefinition() as fd:
        with pytest.raises(NotImplementedError, match="^DataType.Float4_e2m1fn_x2 is not supported: only nvFuser's block"):
            fd.from_pytorch(OfFourBits())
