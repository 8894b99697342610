"""Checks of outputs against the evaluator's, and against arrays of the user's."""

from typing import Any, Dict, Sequence

import numpy

from .arrays.array_types import dtype_name

# The allowed difference between two computations in a dtype, relative to an element and to the largest one of the reference.
TOLERANCES = {"float64": 1e-7, "complex128": 1e-7, "float32": 1e-5, "complex64": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
TOLERANCE_OF_FLOAT8 = 0.25


def require_matches(compared: Sequence[Dict[str, Any]]) -> None:
    """Checks the comparisons of outputs with the evaluator's.

    Raises:
        AssertionError: for the first output that is beyond its error bound.
    """
    for place, found in enumerate(compared):
        if found["mismatches"]:
            raise AssertionError(
                f"output {place} at {found['at']} is {found['got']}, the evaluator says {found['expected']}: "
                f"{found['worst_ratio']:.3g} times the error bound ({found['mismatches']} elements are beyond it)"
            )


def compare_with_references(outputs: Sequence[Any], references: Sequence[Any]) -> None:
    """Compares each output with an array of the user's.

    Raises:
        AssertionError: for other sizes, and for the first output that is beyond the tolerance of its dtype.
    """
    if len(outputs) != len(references):
        raise AssertionError(f"there are {len(outputs)} outputs, but {len(references)} reference_outputs")
    for place, (output, reference) in enumerate(zip(outputs, references)):
        name = dtype_name(output.dtype)
        got, expected = _wide(output), _wide(reference)
        if got.shape != expected.shape:
            raise AssertionError(f"output {place} has sizes {got.shape}, its reference {expected.shape}")
        relative = TOLERANCES.get(name, TOLERANCE_OF_FLOAT8 if name.startswith("float8") else 0.0)
        finite = numpy.abs(expected[numpy.isfinite(expected)])
        absolute = relative * max(1.0, float(finite.max(initial=0.0)))
        close = numpy.isclose(got, expected, rtol=relative, atol=absolute, equal_nan=True)
        if not close.all():
            at = tuple(int(k) for k in numpy.argwhere(~close)[0])
            raise AssertionError(
                f"output {place} at {list(at)} is {got[at]}, its reference {expected[at]}: "
                f"more than {absolute:.3g} apart ({int((~close).sum())} elements are)"
            )


def _wide(array: Any) -> Any:
    """The elements as an array of NumPy, with floats as doubles."""
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError("reference_outputs: masked arrays are not supported: give filled(…) of it, or its data")
    if hasattr(array, "detach"):  # torch, which NumPy does not know the small floats of
        import torch

        array = array.detach().resolve_conj().resolve_neg()
        if array.is_complex():
            return array.numpy()
        return array.to(torch.float64).numpy() if array.is_floating_point() else array.numpy()
    array = numpy.asarray(array)
    return array if array.dtype.kind in "biuc" else array.astype(numpy.float64)
