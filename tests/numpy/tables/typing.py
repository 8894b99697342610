"""The typing rules of scalar ops, as the language defines them: what is computed in, and what comes out."""

import numpy as np

import dtypes

FLOAT = "float"  # f32, or f64 for f64: integers and halves too
PLAIN = "plain"  # the dtype of the operand
ARITHMETIC = "arithmetic"  # the promoted dtype, f32 for halves
BOOL = "bool"
BITWISE = "bitwise"  # the promoted dtype

_ORDER = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "f16", "f32", "f64", "c64", "c128")


def promoted(shorts):
    """The dtype that all operands go to; two halves, or fp8 formats, that differ meet in f32."""
    distinct = set(shorts)
    if len(distinct) == 1:
        return shorts[0]
    if "u64" in distinct and distinct <= {"u64", "i32", "i64"}:
        return "i64" if distinct != {"u64"} else "u64"
    if all(dtypes.ALL[short].numpy.kind in "iu" for short in distinct):
        return dtypes.of(np.zeros(0, np.result_type(*(dtypes.ALL[short].numpy for short in distinct)))).short
    floats = {short for short in distinct if dtypes.ALL[short].is_half}
    if floats:
        others = {short for short in distinct - floats if dtypes.ALL[short].is_float or dtypes.ALL[short].is_complex}
        if not others and len(floats) == 1:
            return floats.pop()
        distinct = others | {"f32"}
    return max((short for short in distinct if short != "u64"), key=_ORDER.index)


def types(rule, shorts):
    """The dtypes of arithmetic and of the result."""
    together = promoted(shorts)
    kind = dtypes.ALL[together]
    single = "f32" if kind.is_half else together
    if rule == FLOAT:
        # Without fractions of their own, numbers are computed in f32.
        single = single if kind.is_float or kind.is_complex else "f32"
        return single, single
    if rule == PLAIN:
        return single, together
    if rule == BOOL:
        return single, "bool"
    if rule == BITWISE:
        return together, together
    return single, single


def brought(values, short):
    """Operands as arithmetic sees them: rounded to its dtype, then as wide as NumPy computes."""
    dtype = dtypes.ALL[short]
    with np.errstate(all="ignore"):
        values = values.astype(dtype.numpy)
    if not dtype.is_float:
        return values
    return values.astype(np.longdouble if short == "f64" else np.float64)
