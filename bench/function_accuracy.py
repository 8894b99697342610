"""The largest errors of functions of f64 on the CPU, in units in the last place, against mpmath (`pip install mpmath`).

    python bench/function_accuracy.py [FUNCTION…]

Points are drawn over the ranges below; half of the arguments of sin, cos and tan lie next to multiples of pi/2, up to 2^36.
lgamma below -2 cancels near its zeros: an error there is in units of the larger of the result and 1.
"""

import argparse

import mpmath
import numpy as np
from mpmath import mp, mpf

from ferrofuse import DataType, FusionDefinition

mp.prec = 400
DRAWS = np.random.default_rng(0)
POINTS = 5000


def uniform(low, high, count=POINTS):
    return DRAWS.uniform(low, high, count)


def powers(low, high, count=POINTS):
    return 10.0 ** uniform(low, high, count)


def angles():
    multiples = DRAWS.integers(1, 43_000_000_000, POINTS)
    return np.concatenate([[float(int(k) * mp.pi / 2) for k in multiples], powers(0, 10.8)])


def erfcinv(y):
    with mp.workprec(1400 if y < 1e-100 else mp.prec):
        return mpmath.erfinv(1 - y)


def lgamma(x):
    return mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x)


# The exact function and the points.
FUNCTIONS = {
    "sin": (mp.sin, angles),
    "cos": (mp.cos, angles),
    "tan": (mp.tan, angles),
    "erfinv": (mp.erfinv, lambda: np.concatenate([uniform(-1, 1), 1 - powers(-15, 0)])),
    "erfcinv": (erfcinv, lambda: np.concatenate([uniform(0, 2), powers(-15, 0), powers(-290, -15, 60)])),
    "lgamma": (lgamma, lambda: np.concatenate([uniform(0, 10), powers(-300, 15), *(k + uniform(-1e-3, 1e-3) for k in (1, 2))])),
    "lgamma below 0": (lgamma, lambda: uniform(-12, 0)),
}


def fused(function, points):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Double)
        fd.add_output(getattr(fd.ops, function)(x))
    return np.asarray(fd.execute([points])[0])


def error(function, exact, x, got):
    expected = exact(mpf(float(x)))
    magnitude = max(abs(float(expected)), 1.0) if function == "lgamma" and x < -2 else abs(float(expected))
    return abs(float((mpf(float(got)) - expected) / mpf(float(np.spacing(magnitude)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", metavar="FUNCTION")
    print("| function | points | largest error | at |\n|---|---|---|---|")
    for name in parser.parse_args().functions or FUNCTIONS:
        exact, drawn = FUNCTIONS[name]
        points, function = drawn(), name.split()[0]
        errors = [error(function, exact, x, got) for x, got in zip(points, fused(function, points))]
        worst = int(np.argmax(errors))
        print(f"| {name} | {len(points)} | {errors[worst]:.2f} | {float(points[worst])!r} |", flush=True)


if __name__ == "__main__":
    main()
