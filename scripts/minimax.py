#!/usr/bin/env python3
"""Derives polynomials of crates/codegen/src/cpu/emit/math: for each table its largest weighted error and coefficients.

    scripts/minimax.py [NAME…]    needs mpmath (`pip install mpmath`)

A table is the polynomial of its length with the smallest deviation from a function on an interval, by Remez's exchange (E. Remez,
1934) in 200 bits, with the error relative to the function that is computed from it. Coefficients stand the highest power first.
"""

import sys

from mpmath import asin, atan, cos, erf, erfc, erfinv, euler, exp, expm1, log, loggamma, lu_solve, matrix, mp, mpf, pi
from mpmath import polyval, sin, sqrt, workprec

mp.prec = 200
GRID = 800  # points at which the error is looked at


def remez(function, weight, low, high, count):
    """`count` coefficients, the lowest power first, and the largest error: |function - polynomial| times weight."""
    grid = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / GRID) for i in range(GRID + 1)]
    values, weights = [function(x) for x in grid], [weight(x) for x in grid]
    peaks = [round(GRID * (i + 0.5) / (count + 1)) for i in range(count + 1)]
    for _ in range(40):
        rows = [[grid[at] ** j for j in range(count)] + [(-1) ** i / weights[at]] for i, at in enumerate(peaks)]
        solution = lu_solve(matrix(rows), matrix([values[at] for at in peaks]))
        coefficients = list(solution)[:count]
        errors = [(v - polyval(coefficients[::-1], x)) * w for x, v, w in zip(grid, values, weights)]
        peaks = alternating(errors, count + 1)
        sizes = [abs(errors[at]) for at in peaks]
        if max(sizes) <= 1.01 * min(sizes):
            break
    return coefficients, max(sizes)


def alternating(errors, count):
    """Where the error is largest between its changes of sign, without what is too much at the ends."""
    runs = [[0]]
    for at in range(1, len(errors)):
        if (errors[at] > 0) == (errors[runs[-1][0]] > 0):
            runs[-1].append(at)
        else:
            runs.append([at])
    peaks = [max(run, key=lambda at: abs(errors[at])) for run in runs]
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks


def odd(function, second, third):
    """(f(s) - s) / s^3 as a function of u = s^2, and the weight that makes its error relative to f. Near zero by the series."""
    near = mpf(10) ** -15

    def quotient(u):
        return second + third * u if u < near else (function(sqrt(u)) / sqrt(u) - 1) / u

    return quotient, lambda u: max(u, mpf(10) ** -3) * sqrt(u) / function(sqrt(u)) if u > 0 else mpf(10) ** -3


def relative(function):
    return function, lambda u: 1 / function(u)


def root(function, at_zero):
    """f(sqrt(u))."""
    return lambda u: function(sqrt(u)) if u > mpf(10) ** -30 else mpf(at_zero)


@workprec(420)  # as x is within 2^-150 of 1
def inverse_erf_ratio(depth):
    """erfinv(x) / x, where `depth` is -log(1 - x^2)."""
    x = sqrt(-expm1(-depth))
    return erfinv(x) / x if depth > 0 else sqrt(pi) / 2


def inverse_erf_less_root(centre):
    """erfinv(x) / x - sqrt(w) as a function of sqrt(w) - centre, with its error relative to the first term."""

    def ratio(shifted):
        return inverse_erf_ratio((shifted + centre) ** 2)

    return lambda t: ratio(t) - t - centre, lambda t: 1 / ratio(t)


def lgamma_over_zeros(centred):
    """lgamma(x) / ((x - 1) (x - 2)) where `centred` is x - 3 / 2."""
    x = centred + mpf(3) / 2
    for zero, slope in ((1, euler), (2, 1 - euler)):
        if abs(x - zero) < mpf(10) ** -20:
            return +slope
    return loggamma(x) / ((x - 1) * (x - 2))


def stirling():
    """x times what Stirling's formula lacks, as a function of u = 1 / x^2, with its error relative to lgamma."""

    def lacking(u):
        x = 1 / sqrt(u)
        return x * (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2)

    near = mpf(10) ** -8
    return (
        lambda u: mpf(1) / 12 - u / 360 + u**2 / 1260 if u < near else lacking(u),
        lambda u: near if u < near else sqrt(u) / loggamma(1 / sqrt(u)),
    )


def exp_beyond_one():
    """(exp(r) - 1 - r) / r^2, and the weight that makes its error relative to exp. Near zero by the series."""
    near = mpf(10) ** -15

    def quotient(r):
        return mpf(1) / 2 + r / 6 if abs(r) < near else (expm1(r) - r) / r**2

    return quotient, lambda r: max(abs(r), mpf(10) ** -3) ** 2 / exp(r)


def exp_slope():
    """(exp(r) - 1) / r, and the weight that makes its error relative to exp. Near zero by the series."""
    near = mpf(10) ** -15

    def quotient(r):
        return 1 + r / 2 if abs(r) < near else expm1(r) / r

    return quotient, lambda r: max(abs(r), mpf(10) ** -3) / exp(r)


def exp2_slope():
    """(2^r - 1) / r, and the weight that makes its error relative to exp2."""
    near = mpf(10) ** -15

    def quotient(r):
        return log(2) if abs(r) < near else (2**r - 1) / r

    return quotient, lambda r: max(abs(r), mpf(10) ** -3) / 2**r


def cos_beyond_two():
    """(cos(r) - 1 + r^2 / 2) / r^4 as a function of u = r^2, with its error relative to cos. Near zero by the series."""
    near = mpf(10) ** -12

    def quotient(u):
        return mpf(1) / 24 - u / 720 if u < near else (cos(sqrt(u)) - 1 + u / 2) / u**2

    return quotient, lambda u: max(u, mpf(10) ** -3) ** 2 / cos(sqrt(u))


def erf_beyond_one():
    """(erf(x) - x) / x as a function of u = x^2, with its error relative to erf."""
    ratio = root(lambda x: erf(x) / x, 2 / sqrt(pi))
    return lambda u: ratio(u) - 1, lambda u: 1 / ratio(u)


def erfc_scaled(centre):
    """exp(x^2) erfc(x) / t where t = 2 / (2 + x), as a function of t - centre."""

    def scaled(shifted):
        t = shifted + centre
        x = 2 / t - 2
        return exp(x * x) * erfc(x) / t

    return relative(scaled)


def log_beyond_three():
    """(3/2 log((1 + s) / (1 - s)) / s - 3 - s^2) / s^4 as a function of u = s^2, with its error relative to the logarithm."""
    near = mpf(10) ** -10

    def quotient(u):
        s = sqrt(u)
        return mpf(3) / 5 + u * 3 / 7 if u < near else (mpf(3) / 2 * log((1 + s) / (1 - s)) / s - 3 - u) / u**2

    return quotient, lambda u: max(u, mpf(10) ** -4) ** 2 / 3


def expm1_beyond_one():
    """The function of `exp_beyond_one`, with the weight that makes its error relative to expm1."""
    near = mpf(10) ** -3
    return exp_beyond_one()[0], lambda r: r**2 / abs(expm1(r)) if abs(r) > near else near


HALF_LN_2 = log(2) / 2 * mpf("1.0005")  # past what rounding leaves of half a power of two
EIGHTH = (pi / 4) ** 2 * mpf("1.0001")  # past what reduction by pi/2 leaves, squared
CENTRE = mpf(13) / 32  # of t for x from 5/8 to 27.5
LARGEST_S = (sqrt(2) - 1) / (sqrt(2) + 1)  # f / (2 + f) for 1 + f up to sqrt(2)
# Name: the function and its weight, the interval, the number of coefficients.
TABLES = {
    "exp": (exp_beyond_one(), -HALF_LN_2, HALF_LN_2, 5),
    "exp_term": (exp_slope(), -HALF_LN_2, HALF_LN_2, 5),
    "exp_double": (exp_beyond_one(), -HALF_LN_2, HALF_LN_2, 10),
    "expm1_double": (expm1_beyond_one(), -HALF_LN_2, HALF_LN_2, 11),
    "exp2_double": (exp2_slope(), mpf("-0.5005"), mpf("0.5005"), 11),
    "exp2_half": (exp2_slope(), mpf("-0.5"), mpf("0.5"), 4),
    "exp2_bf16": (exp2_slope(), mpf("-0.5"), mpf("0.5"), 3),
    "asin": (odd(asin, mpf(1) / 6, mpf(3) / 40), 0, mpf("0.3026"), 6),
    "asin_double": (odd(asin, mpf(1) / 6, mpf(3) / 40), 0, mpf("0.3026"), 13),
    "atan": (odd(atan, -mpf(1) / 3, mpf(1) / 5), 0, 1, 9),
    "atan_double": (odd(atan, -mpf(1) / 3, mpf(1) / 5), 0, 1, 20),
    "sin_double": (odd(sin, -mpf(1) / 6, mpf(1) / 120), 0, EIGHTH, 6),
    "cos_double": (cos_beyond_two(), 0, EIGHTH, 6),
    "erf_double": (erf_beyond_one(), 0, 1, 12),
    "erfc_double": (erfc_scaled(CENTRE), 2 / mpf("29.5") - CENTRE, 2 / mpf("2.62") - CENTRE, 23),
    "pow_double": (log_beyond_three(), 0, LARGEST_S**2 * mpf("1.001"), 8),
    "sin_ratio": (relative(root(lambda r: sin(r) / r, 1)), 0, EIGHTH, 5),
    "cos_wide": (relative(root(cos, 1)), 0, EIGHTH, 5),
    "erfinv_middle": (relative(inverse_erf_ratio), 0, 5, 10),
    "erfinv_tail": (relative(lambda t: inverse_erf_ratio((t + 3) ** 2)), mpf("-0.78"), mpf("1.01"), 10),
    "erfcinv_far": (inverse_erf_less_root(7), -3, mpf("3.2"), 10),
    "lgamma": (relative(lgamma_over_zeros), mpf("-0.7"), 1, 28),
    "lgamma_stirling": (stirling(), 0, mpf(1) / 64, 6),
    "sin_pi": (relative(root(lambda r: sin(pi * r) / r, pi)), 0, mpf(1) / 4, 9),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        (function, weight), low, high, count = TABLES[name]
        coefficients, error = remez(function, weight, mpf(low), mpf(high), count)
        print(f"{name}: error 2^{float(log(error, 2)):.1f}")
        for coefficient in reversed(coefficients):
            print(f"    {float(coefficient)!r}")
