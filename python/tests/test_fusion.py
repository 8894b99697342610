"""Fusions as objects, caches, descriptors, explanations."""

import asyncio
import copy
import threading

import numpy as np
import pytest

import ferrofuse
from ferrofuse import (
    DataType,
    FusionDefinition,
    FusionExecutorCache,
    compute_tensor_descriptor,
)


def softmax(width=-1):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, width], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.softmax(x, dim=1))
    return fd


def test_fusions_are_equal_by_what_they_compute():
    assert softmax().fusion == softmax().fusion
    assert softmax().fusion != softmax(8).fusion
    assert len({softmax().fusion, softmax().fusion}) == 1
    assert len(softmax().fusion.inputs()) == len(softmax().fusion.outputs()) == 1
    assert repr(softmax().fusion) == repr(softmax()) and repr(FusionDefinition().fusion) == "Fusion()"


def test_the_executor_cache_runs_a_fusion():
    executor = FusionExecutorCache(softmax().fusion)
    [output] = executor.execute([np.zeros((2, 4), np.float32)])
    np.testing.assert_allclose(output, 0.25)


# Sizes, strides, and what nvFuser's function of the same name gives for them.
DESCRIPTORS = [
    ((2, 3), (3, 1), [True, True], [1, 0]),
    ((2, 3), (1, 2), [True, True], [0, 1]),
    ((2, 3), (4, 1), [False, True], [1, 0]),
    ((2, 1, 3), (3, 3, 1), [True, None, True], [2, 1, 0]),
    ((2, 3), (0, 1), [None, True], [1, 0]),
    ((2, 3, 4), (12, 0, 3), [True, None, False], [2, 1, 0]),
    ((), (), [], []),
]


@pytest.mark.parametrize("sizes, strides, contiguity, order", DESCRIPTORS)
def test_descriptors(sizes, strides, contiguity, order):
    assert compute_tensor_descriptor(sizes, strides) == (contiguity, order)


def test_descriptors_reject_what_cannot_be():
    with pytest.raises(ValueError, match="not be negative"):
        compute_tensor_descriptor([2], [-1])
    with pytest.raises(ValueError, match="must have one length, but have 1 and 0"):
        compute_tensor_descriptor([2], [])


def test_explanations_are_text_and_data():
    fd = softmax()
    explained = fd.explain([np.zeros((4, 8), np.float32)])
    assert "seg0" in str(explained)
    data = explained.to_dict()
    assert data["compulsory_bytes"] == 2 * 4 * 8 * 4
    assert data["segments"][0]["name"] == "seg0"


def test_a_fusion_without_a_definition_around_it():
    fusion = ferrofuse.Fusion()
    with ferrofuse.FusionGuard(fusion):
        x = ferrofuse.define_tensor(shape=[-1], contiguity=True)
        factor = ferrofuse.define_scalar(DataType.Double)
        fusion.add_input(x)
        with pytest.raises(ValueError, match="only what define_tensor or define_scalar declared is an input"):
            fusion.add_input(ferrofuse.ops.neg(x))
        with pytest.raises(ValueError, match="in the order in which they are defined: this is input 0, not 1"):
            fusion.add_input(x)
        fusion.add_input(factor)
        fusion.add_output(ferrofuse.ops.mul(x, factor))
    assert FusionExecutorCache(fusion).execute([np.ones(2, np.float32), 3.0])[0].tolist() == [3, 3]


@pytest.mark.parametrize("remade", [lambda fd: copy.copy(fd), lambda fd: fd.segment()[0].definition])
def test_inputs_are_added_to_copies_too(remade):
    fusion = remade(softmax()).fusion
    fusion.add_input(fusion.inputs()[0])
    with pytest.raises(ValueError, match="this is input 0, not 1"):
        fusion.add_input(fusion.inputs()[0])


def test_inputs_by_example():
    array = np.zeros((2, 3), np.float32).T
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.from_pytorch(tensor=array)))
    assert "stride_order=[0, 1]" in repr(fd)
    [output] = fd.execute([array])
    assert output.shape == (3, 2)
    backward = np.arange(6, dtype=np.float32).reshape(2, 3)[::-1, ::-1]
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.from_array(backward)))
    np.testing.assert_array_equal(fd.execute([backward])[0], -backward)
    assert ".reshape((2, 3))" in fd.repro_script_for([backward])
    with pytest.raises(TypeError, match="expected an array, got list"):
        with FusionDefinition() as fd:
            fd.from_array([1.0])


def test_each_asynchronous_task_has_its_current_fusion():
    async def defined(number):
        with FusionDefinition() as fd:
            await asyncio.sleep(0)
            x = ferrofuse.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
            await asyncio.sleep(0.01 * (2 - number))
            ferrofuse.current().add_output(ferrofuse.ops.add(x, float(number)))
        return fd

    async def all_defined():
        return await asyncio.gather(*(defined(number) for number in (1, 2)))

    for number, fd in zip((1, 2), asyncio.run(all_defined())):
        assert fd.execute([np.zeros(3, np.float32)])[0].tolist() == [number] * 3


def test_a_block_may_end_in_another_thread():
    fd = FusionDefinition()
    fd.__enter__()
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(x + 1.0)
    thread = threading.Thread(target=fd.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    assert fd.execute([np.zeros(3, np.float32)])[0].tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="there is no current fusion"):
        ferrofuse.current()
