"""Random numbers: the words of Philox to the bit, and what is made of them, in NumPy."""

import numpy as np

import dtypes
from cases import ROWS, Case, Result, laid_out

LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
# Sizes of what is drawn: odd, one, none, and more than one block.
SHAPES = ((5, 7), (1,), (0, 3), (3, 1001))


def words(seed, offset, numbers):
    """Philox 4x32-10 (Salmon and others, 2011): word i % 4 for the counter (offset, i / 4) under the key `seed`."""
    numbers = np.asarray(numbers, np.uint64)
    block = numbers >> np.uint64(2)
    halves = lambda x: [np.uint64(x % 2**64) & LOW, np.uint64(x % 2**64) >> HALF]
    words = [*[np.full_like(block, half) for half in halves(offset)], block & LOW, block >> HALF]
    key = halves(seed)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [b >> HALF ^ words[1] ^ key[0], b & LOW, a >> HALF ^ words[3] ^ key[1], a & LOW]
        key = [key[0] + np.uint64(0x9E3779B9) & LOW, key[1] + np.uint64(0xBB67AE85) & LOW]
    return np.choose((numbers & np.uint64(3)).astype(np.int64), words)


def units(seed, offset, numbers, short):
    """Numbers in (0, 1]: of one word in f32, of two in f64."""
    if short != "f64":
        return words(seed, offset, numbers).astype(np.float32) * np.float32(2.0**-32) + np.float32(2.0**-33)
    low, high = (words(seed, offset, 2 * numbers + np.uint64(k)) for k in (0, 1))
    return (low ^ high << np.uint64(21)).astype(np.float64) * 2.0**-53 + 2.0**-54


def uniform(seed, offset, shape, short, low, high):
    """Numbers from `low` on and below `high`: where rounding made one the upper end, it is the lower end."""
    unit = units(seed, offset, np.arange(np.prod(shape), dtype=np.uint64), short).reshape(shape)
    if short in ("f16", "bf16"):
        rounded = (unit * np.float32(high - low) + np.float32(low)).astype(dtypes.ALL[short].numpy).astype(np.float64)
        return np.where(rounded == high, low, rounded)
    exact = np.longdouble if short == "f64" else np.float64
    return np.where(unit == 1, 0, unit).astype(exact) * (high - low) + low


def normal(seed, offset, shape, short):
    """Of a pair of unit numbers (u, v): sqrt(-2 log u) times the sine and the cosine of 2 pi v."""
    number = np.arange(np.prod(shape), dtype=np.uint64)
    even = number & ~np.uint64(1)
    u, v = (units(seed, offset, pair, short).astype(np.longdouble) for pair in (even, even | np.uint64(1)))
    angle = 2 * np.pi * v
    trigonometric = np.where(number == even, np.sin(angle), np.cos(angle))
    return (np.sqrt(-2 * np.log(u)) * trigonometric).reshape(shape)


def cases(ops):
    number = laid_out("i64", ROWS)
    for seed, offset in ((0, 0), (7, 3), (-1, 2**40)):
        expected = words(seed, offset, number.values.astype(np.uint64)).astype(np.int64)
        yield Case("philox", f"fd.ops.philox({seed}, {offset}, {{0}})", [number], [Result("i64", expected)])
        for shape in SHAPES:
            yield from draws(seed, offset, shape)
    for short in ("f16", "bf16", "f32", "f64"):
        yield from alike(laid_out(short, ROWS))


def draws(seed, offset, shape):
    named = f"shape={list(shape)}, rng_seed={seed}, rng_offset={offset}"
    for short, dtype in (("f16", "Half"), ("bf16", "BFloat16"), ("f32", "Float"), ("f64", "Double")):
        rest = f"{named}, dtype=DataType.{dtype}"
        result = Result(short, uniform(seed, offset, shape, short, -1, 3), 2, 1e-15 if short == "f64" else 1e-6)
        yield Case("uniform", f"fd.ops.uniform(-1.0, 3.0, {rest})", [], [result])
        result = Result(short, 1 + 2 * normal(seed, offset, shape, short), 8, 1e-13 if short == "f64" else 4e-6)
        yield Case("normal", f"fd.ops.normal(1.0, 2.0, {rest})", [], [result])


def alike(operand):
    """The call's own draws: in range, and no two the same."""
    ones = np.ones(operand.values.shape, np.bool_)
    within = "fd.ops.logical_and(fd.ops.ge(fd.ops.rand_like({0}), 0.0), fd.ops.lt(fd.ops.rand_like({0}), 1.0))"
    yield Case("rand_like", within, [operand], [Result("bool", ones)])
    yield Case("randn_like", "fd.ops.lt(fd.ops.abs(fd.ops.randn_like({0})), 7.0)", [operand], [Result("bool", ones)])
