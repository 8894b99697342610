"""Every op on torch's tensors of every dtype and layout: against NumPy, and against torch where torch has the op."""

import json
import warnings
from concurrent.futures import ThreadPoolExecutor

import dtypes
import numpy as np
import running
import tables
import torch
import torch_language

from ferrofuse import _native

warnings.simplefilter("ignore")
OPS = {entry["name"]: entry for entry in json.loads(_native.describe_ops())}
CASES = [case for case in tables.cases(OPS) if case.op in OPS]

# Ops whose partial cases torch leaves open or decides otherwise; NumPy's formulas hold ours there.
DIFFERS = {
    "bitwise_left_shift": "shifts beyond the width",
    "bitwise_right_shift": "shifts beyond the width",
    "cast": "floats beyond the integers, and beyond the floats of a byte",
    "div": "an integer over zero",
    "fmod": "an integer modulo zero",
    "gcd": "the sign beside the smallest integer",
    "gelu": "infinities",
    "hardswish": "infinities",
    "maximum": "which of two zeros",
    "minimum": "which of two zeros",
    "mod": "an integer modulo zero",
    "pow": "an integer to a negative power",
    "relu": "the sign of zero",
    "relu6": "the sign of zero",
    "remainder": "an integer modulo zero; infinities",
    "sign": "NaN",
    "signbit": "NaN",
}


def tensor_of(array):
    """A tensor on the memory of an array, with its strides."""
    dtype = dtypes.of(array)
    words = array.view(f"u{array.itemsize}") if not dtype.is_complex and dtype.short != "bool" else array
    writable = words if words.flags.writeable else words.copy()
    return torch.from_numpy(writable).view(getattr(torch, dtype.torch))


def array_of(tensor):
    """NumPy's array of a tensor, of any dtype."""
    assert isinstance(tensor, torch.Tensor)
    dtype = next(dtype for dtype in dtypes.ALL.values() if getattr(torch, dtype.torch) == tensor.dtype)
    if dtype.short == "bool" or dtype.is_complex:
        return tensor.numpy()
    return tensor.view(getattr(torch, f"uint{8 * dtype.numpy.itemsize}")).numpy().view(dtype.numpy)


def test_every_op_on_tensors_of_torch():
    batches = running.batches(sorted(CASES, key=lambda case: [operand.dtype.short for operand in case.operands]))
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda batch: running.run(batch, tensor_of, array_of), batches)
        diagnostics = [diagnostic for batch in found for diagnostic in batch]
    assert not diagnostics, "\n".join(diagnostics[:20])


def test_torch_says_the_same():
    """torch's results against those that the test above holds ours to."""
    diagnostics, compared = [], set()
    for case in CASES:
        if case.op not in torch_language.OPS or case.op in DIFFERS:
            continue
        operands = [wide(tensor_of(running.array_of(operand))) for operand in case.operands]
        try:
            results = running.called(case, torch_language.FD, operands, torch_language.DATA_TYPES)
        except (RuntimeError, TypeError, IndexError):  # torch has the op not for this dtype
            continue
        compared.add(case.op)
        for result, said in zip(case.results, results):
            beyond = result.dtype == "f8e4m3" and np.any(np.abs(wide_numbers(result)) > 448)  # torch saturates, we give NaN
            if said is not None and not beyond and (diagnostic := differing(case, result, said)):
                diagnostics.append(f"{case.label}: {diagnostic}")
    assert not diagnostics, f"{len(diagnostics)}\n" + "\n".join(diagnostics[:60])
    assert len(compared) > 120, sorted(set(torch_language.OPS) - compared)


def wide(tensor):
    """Half types and floats of a byte as f32, which arithmetic is done in."""
    return tensor.float() if tensor.is_floating_point() and tensor.element_size() < 4 else tensor


def wide_numbers(result):
    return np.nan_to_num(np.asarray(result.values, np.float64), nan=0.0, posinf=0.0, neginf=0.0)


def differing(case, result, said):
    dtype = dtypes.ALL[result.dtype]
    said = array_of(said.to(getattr(torch, dtype.torch)).resolve_conj())
    # torch's own functions are a few units off, and sums in another order.
    loose = type(result)(result.dtype, result.values, 4 * result.ulps + 32, 4 * np.asarray(result.absolute) + 1e-30)
    exact = not (dtype.is_float or dtype.is_complex) or (result.ulps == 0 and not np.any(result.absolute))
    return running.compare(result if exact else loose, said)
