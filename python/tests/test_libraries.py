"""Which library outputs are of: what comes in says it, or `like`."""

import sys
import types

import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition, FusionExecutorCache, compat


def counted():
    with FusionDefinition() as fd:
        n = fd.define_scalar(None, dtype=DataType.Int)
        fd.add_output(fd.ops.iota(n, dtype=DataType.Int))
    return fd


def test_calls_without_arrays_give_numpys_unless_told():
    fd = counted()
    assert type(fd.execute([3])[0]) is np.ndarray
    assert type(fd.execute([3], like="numpy")[0]) is np.ndarray
    assert type(fd.validate([3], like="numpy")[0]) is np.ndarray
    assert type(fd.fec.execute([3], like="numpy")[0]) is np.ndarray


@pytest.mark.parametrize("like", ["tensorflow", "", "Torch"])
def test_like_names_a_library(like):
    for call in (counted().execute, counted().validate):
        with pytest.raises(ValueError) as error:
            call([3], like=like)
        assert str(error.value) == f"like must be 'numpy', 'torch', 'jax' or 'cupy', but is '{like}'"


@pytest.mark.parametrize("like, given", [(3, "3"), (b"numpy", "b'numpy'"), (["torch"], "['torch']")])
def test_like_is_a_name(like, given):
    for call in (counted().execute, counted().validate, FusionExecutorCache(counted().fusion).execute):
        with pytest.raises(TypeError) as error:
            call([3], like=like)
        assert str(error.value) == f"like must be 'numpy', 'torch', 'jax' or 'cupy', but is {given}"


@pytest.fixture
def without(monkeypatch):
    """Makes the import of a library fail, whether it is installed or not."""
    return lambda library: monkeypatch.setitem(sys.modules, library, None)


@pytest.mark.parametrize("like", ["torch", "jax", "cupy"])
def test_a_library_that_is_not_installed(like, without):
    without(like)
    fd, given = counted(), [3]
    for call in (fd.execute, fd.validate, FusionExecutorCache(fd.fusion).execute):
        with pytest.raises(ImportError) as error:
            call(given, like=like)
        reason = f"import of {like} halted; None in sys.modules"
        assert str(error.value) == f"like='{like}' asks for arrays of {like}, which cannot be imported ({reason})"
        assert isinstance(error.value.__cause__, ModuleNotFoundError)
    assert fd.execute(given, like="numpy")[0].tolist() == [0, 1, 2]


def test_calls_without_arrays_that_ask_for_a_torch_that_is_not_installed(without):
    without("torch")
    text = (
        "a call without arrays, with device= given or ferrofuse.compat installed, asks for arrays of torch, which cannot be "
        "imported (import of torch halted; None in sys.modules)"
    )
    fd = counted()
    with pytest.raises(ImportError) as error:
        fd.execute([3], device="cpu")
    assert str(error.value) == text
    compat.install()
    try:
        with pytest.raises(ImportError) as error:
            fd.execute([3])
    finally:
        compat.uninstall()
    assert str(error.value) == text


def stand_in(module):
    """The part of a library that outputs are made by: a class of arrays, and what takes memory over DLPack."""

    class Array:
        def __init__(self, memory):
            self.numpy = np.from_dlpack(memory)

    Array.__module__ = module
    return Array


@pytest.fixture(params=["cupy", "jax"])
def library(request, monkeypatch):
    """The name of a library and the class of its arrays."""
    name = request.param
    array = stand_in("cupy._core" if name == "cupy" else "jaxlib._jax")
    module = types.ModuleType(name)
    module.ndarray = module.Array = module.from_dlpack = array
    module.dlpack = types.ModuleType("jax.dlpack")
    module.dlpack.from_dlpack = array
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, f"{name}.dlpack", module.dlpack)
    return name, array


def test_outputs_are_handed_to_a_library(library):
    name, kind = library
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.neg(x))
        fd.add_output(fd.ops.permute(x, [1, 0]))
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for call in (fd.execute, fd.validate, FusionExecutorCache(fd.fusion).execute):
        negated, permuted = call([array], like=name)
        assert type(negated) is type(permuted) is kind
        np.testing.assert_array_equal(negated.numpy, -array)
        np.testing.assert_array_equal(permuted.numpy, array.T)


def test_outputs_of_calls_without_arrays_are_handed_to_a_library(library):
    name, kind = library
    fd = counted()
    for call in (fd.execute, fd.validate, FusionExecutorCache(fd.fusion).execute):
        for others in ({}, {"device": "cpu"}):
            [out] = call([3], like=name, **others)
            assert type(out) is kind and out.numpy.tolist() == [0, 1, 2]
    compat.install()
    try:
        assert type(fd.execute([3], like=name)[0]) is kind
    finally:
        compat.uninstall()
