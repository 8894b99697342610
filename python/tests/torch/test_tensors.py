"""Tensors of torch and arrays of JAX in and out: dtypes, strides, flags, in-place outputs, lifetimes, wrong arguments."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from ferrofuse import DataType, FusionDefinition, InputError

DTYPES = {
    torch.bool: DataType.Bool,
    torch.int32: DataType.Int32,
    torch.int64: DataType.Int,
    torch.uint64: DataType.UInt64,
    torch.float8_e4m3fn: DataType.Float8_e4m3fn,
    torch.float8_e5m2: DataType.Float8_e5m2,
    torch.float8_e8m0fnu: DataType.Float8_e8m0fnu,
    torch.float16: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
    torch.float32: DataType.Float,
    torch.float64: DataType.Double,
    torch.complex64: DataType.ComplexFloat,
    torch.complex128: DataType.ComplexDouble,
}
LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.permute(2, 0, 1),
    "stepped": lambda x: x[::2, :, ::3],
    "expanded": lambda x: x[:, :1].expand_as(x),
    "empty": lambda x: x[:, :0],
    "0-d": lambda x: x[1, 2, 3],
    "offset": lambda x: x.reshape(-1)[5:],
}


class ByCapsules(torch.Tensor):
    """Tensors of a library without DLPack's table of C functions."""

    __dlpack_c_exchange_api__ = None


def copied(rank, dtype):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=False, dtype=dtype)
        fd.add_output(fd.ops.set(x))
    return fd


def doubled(rank=1):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=False, dtype=DataType.Float)
        fd.add_output(x + x)
    return fd


@pytest.mark.parametrize("kind", [torch.Tensor, ByCapsules])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_layout(dtype, layout, kind):
    tensor = LAYOUTS[layout](torch.arange(1, 4 * 5 * 6 + 1).reshape(4, 5, 6).remainder(16).to(dtype))
    tensor = tensor.as_subclass(kind)
    [output] = copied(tensor.ndim, DTYPES[dtype]).execute([tensor])
    assert isinstance(output, torch.Tensor) and output.dtype == dtype and output.shape == tensor.shape
    assert torch.equal(output.to(torch.complex128), tensor.to(torch.complex128))


def test_tensors_that_want_gradients_are_taken_as_they_are():
    [output] = doubled().execute([torch.ones(3, requires_grad=True)])
    assert output.tolist() == [2, 2, 2] and not output.requires_grad
    [output] = doubled().execute([torch.nn.Parameter(torch.ones(3))])
    assert isinstance(output, torch.Tensor)


@pytest.mark.parametrize("kind", [torch.Tensor, ByCapsules])
def test_lazy_conjugates_and_signs_are_carried_out(kind):
    z = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64).as_subclass(kind)
    [output] = copied(1, DataType.ComplexFloat).execute([z.conj()])
    assert torch.equal(output, z.conj())
    imaginary = z.conj().imag
    assert imaginary.is_neg()
    [output] = doubled().execute([imaginary])
    assert output.tolist() == [-4, 8]


def test_outputs_are_written_into_tensors():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
        total = fd.define_tensor(shape=[], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.cast(x * 2.0, DataType.BFloat16), x)
        fd.add_output(total + 1.0, total)
    tensor, count = torch.ones(4, dtype=torch.bfloat16), torch.tensor(5.0)
    assert fd.execute([tensor, count]) == []
    assert tensor.tolist() == [2, 2, 2, 2] and count.item() == 6


def test_tensors_are_given_back_and_outputs_outlive_everything():
    fd = doubled()
    tensor = torch.ones(1000)
    gone = weakref.ref(tensor)
    [output] = fd.execute([tensor])
    del tensor, fd
    gc.collect()
    assert gone() is None
    output += 1
    assert output.sum() == 3000


@pytest.mark.parametrize("kind", [torch.Tensor, ByCapsules])
def test_views_of_tensors_keep_the_elements_that_they_see(kind):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.permute(x, [1, 0]))
    tensor = torch.arange(6.0).reshape(2, 3).as_subclass(kind)
    [seen] = fd.execute([tensor])
    assert seen.data_ptr() == tensor.data_ptr()
    tensor.set_(torch.zeros(2, 3))
    del tensor
    gc.collect()
    torch.full((6,), 7.0)  # takes the memory, were it free
    assert seen.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_scalars_of_torch():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x * fd.define_scalar(DataType.Double))
    assert fd.execute([torch.ones(2), torch.tensor(3.0)])[0].tolist() == [3, 3]


def test_from_pytorch():
    tensor = torch.zeros(3, 4).t()
    with FusionDefinition() as fd:
        fd.add_output(fd.from_pytorch(tensor) + 1.0)
    assert "stride_order=[0, 1]" in repr(fd)
    assert torch.equal(fd.execute([tensor])[0], torch.ones(4, 3))
    fd.validate([tensor], [torch.ones(4, 3)])
    with pytest.raises(AssertionError, match=r"output 0 at \[0, 0\] is 1.0, its reference 0.0"):
        fd.validate([tensor], [tensor])


def test_reproducers_run(tmp_path):
    fd = doubled(2)
    fd.execute([torch.ones(3, 8)[:, ::2]], save_repro_inputs=True)
    names = {}
    exec(fd.last_repro_script(), names)
    assert names["inputs"][0].stride() == (8, 2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reproducers_run_on_every_dtype(dtype):
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DTYPES[dtype])))
    names = {}
    exec(fd.repro_script_for([torch.zeros(3, 4).to(dtype)]), names)
    (given,) = names["inputs"]
    assert given.dtype == dtype and given.shape == (3, 4)


def test_wrong_tensors_are_rejected():
    fd = doubled()
    with pytest.raises(ValueError, match="expected dtype f32, got bf16"):
        fd.execute([torch.ones(2, dtype=torch.bfloat16)])
    with pytest.raises(ValueError, match="expected dtype f32, got i8"):
        fd.execute([torch.ones(2, dtype=torch.int8)])
    with pytest.raises(InputError, match="expected 1 axes, got 2"):
        fd.execute([torch.ones(2, 2)])
    with pytest.raises(TypeError, match="inputs must be a list or tuple, got Tensor"):
        fd.execute(torch.ones(2))
    with pytest.raises(ValueError, match="device: `mps` is no device"):
        fd.execute([torch.ones(2)], device=torch.device("mps"))
    assert fd.execute([torch.ones(2)], device=torch.device("cpu"))[0].tolist() == [2, 2]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "bool", "float8_e4m3fn", "complex64"])
def test_arrays_of_jax(dtype):
    array = jnp.arange(6).reshape(2, 3).astype(dtype)
    names = {str(torch_dtype).split(".")[1]: known for torch_dtype, known in DTYPES.items()}
    [output] = copied(2, names[dtype]).execute([array.T.T])
    assert isinstance(output, jax.Array) and output.dtype == array.dtype
    assert (np.asarray(output) == np.asarray(array)).all()


def test_arrays_of_jax_are_never_written():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x + 1.0, x)
    with pytest.raises(ValueError, match="reading only"):
        fd.execute([jnp.ones(3)])


def test_the_first_array_decides():
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) for _ in "xy")
        fd.add_output(x + y)
    one, two = torch.ones(2), np.ones(2, np.float32)
    assert isinstance(fd.execute([one, two])[0], torch.Tensor)
    assert isinstance(fd.execute([two, one])[0], np.ndarray)
