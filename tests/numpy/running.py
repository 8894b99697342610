"""Runs many cases in one definition: compiled and on the evaluator, then every output against its result."""

import numpy as np

import dtypes
from cases import STORAGE, first
from ferrofuse import DataType, FusionDefinition

MOST = 120  # cases of one definition


def batches(cases):
    """Neighbouring cases together."""
    return [cases[place : place + MOST] for place in range(0, len(cases), MOST)]


def run(cases, taken=np.asarray, given=np.asarray):
    """What is wrong with these cases, as a list of sentences.

    `taken` makes the arrays that are run on of NumPy's, keeping their strides; `given` makes NumPy's of the outputs.
    """
    operands = list({id(operand): operand for case in cases for operand in case.operands}.values())
    try:
        fd = defined(cases, operands)
        outputs = [given(output) for output in fd.validate([taken(array_of(operand)) for operand in operands])]
    except (AssertionError, RuntimeError) as diagnostic:
        return apart(cases, diagnostic, taken, given)
    wanted = [(case, result) for case in cases for result in case.results]
    diagnostics = []
    for (case, result), output in zip(wanted, outputs, strict=True):
        if diagnostic := compare(result, output):
            diagnostics.append(f"{case.label}: {diagnostic}")
    return diagnostics


def apart(cases, diagnostic, taken, given):
    """A batch that does not run, halved until the cases that do not run stand alone."""
    if len(cases) == 1:
        return [f"{cases[0].label}: {diagnostic}"]
    half = len(cases) // 2
    return run(cases[:half], taken, given) + run(cases[half:], taken, given)


def defined(cases, operands):
    """A definition with the calls of all cases, whose outputs are their results."""
    with FusionDefinition() as fd:
        tensors = {}
        for operand in operands:
            shape, dtype = [-1] * operand.values.ndim, getattr(DataType, operand.dtype.language)
            tensors[id(operand)] = fd.define_tensor(shape=shape, contiguity=False, dtype=dtype)
        for case in cases:
            x = [tensors[id(operand)] for operand in case.operands]
            results = called(case, fd, x, DataType)
            assert len(results) == len(case.results), f"{case.label} gives {len(results)} results"
            for result in results:
                fd.add_output(result)
    return fd


def called(case, fd, x, DataType):
    """The results of the call of a case, as a list, in any language that has `fd.ops` and `DataType`."""
    call = case.call.format(*[f"x[{place}]" for place in range(len(x))])
    results = eval(call, {"fd": fd, "x": x, "DataType": DataType})
    return list(results) if isinstance(results, tuple) else [results]


def array_of(operand):
    """The array of an operand, with the strides of its layout."""
    layout = operand.layout
    if layout is None:
        return operand.values
    dtype = operand.dtype.numpy
    flat = (first(operand.dtype.short) + np.arange(STORAGE) / 16).astype(dtype)
    # NumPy takes strides of its own dtypes only, so what is strided are words of the same size.
    words = flat.view(f"u{dtype.itemsize}") if dtype.itemsize <= 8 else flat
    strides = [stride * dtype.itemsize for stride in layout.strides]
    return np.lib.stride_tricks.as_strided(words, layout.sizes, strides).view(dtype)


# ----------------------------------------------------------------------------------------------------- the comparison
def compare(result, got):
    """What is wrong with an output, if anything is."""
    expected = np.asarray(result.values)
    if dtypes.of(got).short != result.dtype:
        return f"the dtype is {dtypes.of(got).short}, not {result.dtype}"
    if got.shape != expected.shape:
        return f"the shape is {got.shape}, NumPy's is {expected.shape}"
    dtype = dtypes.ALL[result.dtype]
    absolute = np.broadcast_to(result.absolute, expected.shape)
    if dtype.is_complex:
        part = dtypes.ALL[{"c64": "f32", "c128": "f64"}[result.dtype]]
        good = np.logical_and(
            close(part, got.real, expected.real, result.ulps, absolute),
            close(part, got.imag, expected.imag, result.ulps, absolute),
        )
    elif dtype.is_float:
        good = close(dtype, got, expected, result.ulps, absolute)
    else:
        good = got == expected
    if np.all(good):
        return None
    at = tuple(int(k) for k in np.argwhere(~good)[0])
    return f"at {list(at)} it gives {got[at]!r}, NumPy says {expected[at]!r} ({np.sum(~good)} of {good.size} differ)"


def close(dtype, got, expected, ulps, absolute):
    """Where floats are what they should be: the rounded number, or one within the bound of the exact one."""
    with np.errstate(all="ignore"):
        rounded = dtype.rounded(expected).astype(np.longdouble)
        got, expected = got.astype(np.longdouble), expected.astype(np.longdouble)
        bound = ulps * dtype.arithmetic.spacing(expected) + dtype.spacing(expected) / 2 + absolute
        if ulps > 0 and dtype.short in ("f16", "bf16"):
            # Cheaper forms of exp and reciprocals, where all that comes of them is rounded to a half type.
            bound = bound + dtype.spacing(expected) / 16
        equal = got == rounded
        if ulps == 0 and not np.any(absolute):
            equal &= (got != 0) | (np.signbit(got) == np.signbit(rounded))
        near = np.abs(got - expected) <= bound
        # The largest number and infinity are neighbours.
        spilt = np.isinf(got) & np.isfinite(expected) & (np.abs(expected) + bound >= dtype.largest)
        spilt &= np.signbit(got) == np.signbit(expected)
        return equal | (np.isnan(got) & np.isnan(rounded)) | (near & (ulps + absolute > 0)) | spilt
