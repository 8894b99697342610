"""Scripts that reproduce calls on torch's tensors: they run, on tensors of the same dtypes, sizes and strides."""

import pytest
import torch

import ferrofuse
from ferrofuse import FusionDefinition

DTYPES = """bool int32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128 float8_e4m3fn float8_e5m2
float8_e8m0fnu""".split()
LAYOUTS = [((2, 3), (3, 1)), ((2, 3), (1, 2)), ((2, 3), (0, 1)), ((3, 2), (5, 2)), ((), ()), ((0, 3), (3, 1)), ((4, 1), (1, 1))]


def copied(tensor):
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fd.from_pytorch(tensor)))
    return fd


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes, strides", LAYOUTS)
def test_scripts_run_on_tensors_of_one_layout(dtype, sizes, strides):
    given = torch.zeros(64).to(getattr(torch, dtype)).as_strided(sizes, strides)
    script = copied(given).repro_script_for([given])
    if dtype.startswith("float8"):  # which torch 2.9 gives no other library
        script = script.replace("fd.execute(inputs)\n", "")
    exec(script, names := {})
    [again] = names["inputs"]
    assert (again.dtype, again.shape, again.stride()) == (given.dtype, given.shape, given.stride())
    assert ("torch.testing.make_tensor(" in script) == (given.is_contiguous() and dtype != "float8_e8m0fnu")


def test_the_head_tells_versions():
    head = copied(torch.zeros(2)).repro_script_for([torch.zeros(2)]).split("import torch\n")[0].splitlines()
    assert head[:2] == [f"# ferrofuse version: {ferrofuse.__version__}", "# CUDA devices:"]
    assert head[-2:] == [f"# torch version: {torch.__version__}", f"# cuda version: {torch.version.cuda}"]
    assert len(head) == 4 + torch.cuda.device_count()


def test_kept_inputs_are_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensor

    fd, given = copied(torch.zeros(2, 3)), torch.ones(2, 3)
    assert fd.fake_inputs is None
    fd.execute([given], save_repro_inputs=True)
    assert fd.last_repro_script() == fd.repro_script_for([given])
    [kept] = fd.fake_inputs
    assert isinstance(kept, FakeTensor) and kept.shape == given.shape and kept.device == given.device
