"""`repro_script_for`: scripts that are laid out as nvFuser's, run by themselves, and need what their inputs are of."""

import gc
import sys
import types
import weakref

import ml_dtypes
import numpy as np
import pytest

import ferrofuse
from ferrofuse import DataType, FusionDefinition, compat

BODY = """\
def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    tv1 = fd.ops.neg(tv0)
    fd.add_output(tv1)
with FusionDefinition() as fd:
    nvfuser_fusion(fd)
"""
VERSION = f"# ferrofuse version: {ferrofuse.__version__}\n"


def negated():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)))
    return fd


def test_a_script_without_inputs():
    assert negated().repro_script_for() == f"{VERSION}from ferrofuse import FusionDefinition, DataType\n{BODY}"


def test_the_whole_script_of_a_call_on_numpys_arrays():
    array = np.zeros((2, 6), np.float32)
    script = negated().repro_script_for([array, array[:, ::2]])
    assert script == (
        f"{VERSION}# numpy version: {np.__version__}\nimport numpy\nfrom ferrofuse import FusionDefinition, DataType\n{BODY}"
        "\ninputs = [\n"
        "    numpy.random.randn(12).astype(numpy.float32).reshape((2, 6)),\n"
        "    numpy.lib.stride_tricks.as_strided(numpy.random.randn(11).astype(numpy.float32), (2, 3), (24, 8)),\n"
        "]\nfd.execute(inputs)\n"
    )
    assert "inputs = [\n    2.0,\n    3,\n]" in negated().repro_script_for([2.0, np.int64(3)])


def test_a_script_needs_what_its_inputs_are_of():
    kinds = [(np.float32, DataType.Float), (np.int32, DataType.Int32), (np.bool_, DataType.Bool)]
    kinds += [(ml_dtypes.bfloat16, DataType.BFloat16), (np.complex64, DataType.ComplexFloat)]
    with FusionDefinition() as fd:
        for _, dtype in kinds:
            fd.add_output(fd.ops.set(fd.define_tensor(shape=[-1, -1], contiguity=False, dtype=dtype)))
        scalars = [fd.define_scalar(dtype) for dtype in (DataType.Double, DataType.ComplexDouble, DataType.Int)]
        for scalar in scalars:
            fd.add_output(fd.ops.full([1], scalar, scalar.dtype()))
    arrays = [np.zeros((2, 3), dtype) if n % 2 else np.zeros((3, 2), dtype).T for n, (dtype, _) in enumerate(kinds)]
    script = fd.repro_script_for([*arrays, float("-inf"), complex(1, float("nan")), np.int64(3)])
    assert "torch" not in script and '    float("-inf"),' in script and "    3,\n" in script
    assert f"# ml_dtypes version: {ml_dtypes.__version__}\n# numpy version: " in script
    names = {}
    exec(script, names)
    assert [(a.dtype, a.strides) for a in names["inputs"][: len(kinds)]] == [(a.dtype, a.strides) for a in arrays]


class Sizes(tuple):
    """As `torch.Size`, which prints its name."""

    def __repr__(self):
        return f"Sizes({list(self)})"


def test_lists_and_sizes_among_the_inputs_are_flattened():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        rows, columns = fd.define_vector(2)
        fd.add_output(x + fd.ops.full([rows, columns], 1.0, DataType.Float))
    array = np.zeros((2, 3), np.float32)
    for sizes in ([2, 3], Sizes((2, 3))):
        fd.execute([array, sizes], save_repro_inputs=True)
        assert "\n    2,\n    3,\n]" in fd.last_repro_script() and fd.fake_inputs[1:] == [2, 3]


def test_an_axis_that_runs_backward_runs_forward_in_a_script():
    backward = np.arange(6, dtype=np.float32).reshape(2, 3)[::-1, ::-1]
    assert ".reshape((2, 3))" in negated().repro_script_for([backward])


def test_inputs_are_kept_without_their_memory():
    fd, array = negated(), np.zeros((2, 6), np.float32)
    with pytest.raises(AssertionError) as error:
        fd.last_repro_script()
    assert str(error.value) == "no inputs are kept: call execute(..., save_repro_inputs=True) first"
    assert fd.fake_inputs is None
    fd.execute([array], save_repro_inputs=True)
    assert fd.last_repro_script() == fd.repro_script_for([array]) == fd.repro_script_for(fd.fake_inputs)
    gone = weakref.ref(array)
    del array
    gc.collect()
    assert gone() is None
    fd.execute([np.zeros((3, 4), np.float32)[:, ::2]])
    assert "(2, 6)" in fd.last_repro_script()


class Torch(types.ModuleType):
    """What is asked of torch: its versions, its devices, and of a tensor its place and layout."""

    __version__ = "2.9.1"
    version = types.SimpleNamespace(cuda="12.8")
    cuda = types.SimpleNamespace(device_count=lambda: 2, get_device_name=lambda number: f"NVIDIA H{number}00")

    class Tensor:
        device = "cuda:0"

        def __init__(self, shape, strides, dtype):
            self.shape, self.strides, self.dtype = shape, strides, f"torch.{dtype}"

        def stride(self):
            return self.strides

        def is_contiguous(self):
            return self.strides == (self.shape[1], 1)


@pytest.fixture
def torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", Torch("torch"))
    return Torch


def test_the_whole_script_of_a_call_on_torchs_tensors(torch):
    given = [((2, 3), (3, 1), "bfloat16"), ((2, 3), (1, 2), "float32"), ((4, 2), (1, 4), "int64"), ((2, 2), (0, 1), "bool")]
    given += [((2, 3), (3, 1), "float8_e8m0fnu"), ((2, 3), (3, 1), "float8_e5m2"), ((2, 3), (1, 2), "float8_e5m2")]
    given += [((2, 3), (1, 2), "complex64"), ((0, 3), (1, 2), "float64")]
    script = negated().repro_script_for([*(torch.Tensor(*one) for one in given), 2.5])
    assert script == (
        f"{VERSION}# CUDA devices:\n#  0: NVIDIA H000\n#  1: NVIDIA H100\n# torch version: 2.9.1\n# cuda version: 12.8\n"
        f"import torch\nfrom ferrofuse import FusionDefinition, DataType\n{BODY}"
        "\ninputs = [\n"
        "    torch.testing.make_tensor((2, 3), dtype=torch.bfloat16, device='cuda:0'),\n"
        "    torch.randn(6, dtype=torch.float32, device='cuda:0').as_strided((2, 3), (1, 2)),\n"
        "    torch.randint(0, 10, (8,), dtype=torch.int64, device='cuda:0').as_strided((4, 2), (1, 4)),\n"
        "    torch.randint(0, 2, (2,), dtype=torch.bool, device='cuda:0').as_strided((2, 2), (0, 1)),\n"
        "    torch.randn(6, device='cuda:0').to(torch.float8_e8m0fnu).as_strided((2, 3), (3, 1)),\n"
        "    torch.testing.make_tensor((2, 3), dtype=torch.float8_e5m2, device='cuda:0'),\n"
        "    torch.randn(6, device='cuda:0').to(torch.float8_e5m2).as_strided((2, 3), (1, 2)),\n"
        "    torch.randn(6, dtype=torch.complex64, device='cuda:0').as_strided((2, 3), (1, 2)),\n"
        "    torch.randn(0, dtype=torch.float64, device='cuda:0').as_strided((0, 3), (1, 2)),\n"
        "    2.5,\n"
        "]\nfd.execute(inputs)\n"
    )


def test_by_nvfusers_name_scripts_import_that_and_torch(torch):
    head = f"{VERSION}# CUDA devices:\n#  0: NVIDIA H000\n#  1: NVIDIA H100\n# torch version: 2.9.1\n# cuda version: 12.8\n"
    compat.install()
    try:
        script = negated().repro_script_for()
        numbers = negated().repro_script_for([2.0])
    finally:
        compat.uninstall()
    assert script == f"{head}import torch\nfrom nvfuser_direct import FusionDefinition, DataType\n{BODY}"
    assert numbers.startswith(f"{head}import torch\nfrom nvfuser_direct")
