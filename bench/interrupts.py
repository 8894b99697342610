"""How long Ctrl-C takes: from the moment at which a signal comes to the one at which what its handler raises has ended the call.

    python bench/interrupts.py                    # every case
    python bench/interrupts.py --points 20 sort   # those whose name has a word, at more moments

Each case is interrupted at moments spread over its duration, and must give the same afterwards as before.
"""

import argparse
import os
import signal
import time

import numpy as np

from ferrofuse import DataType, FusionDefinition

NUMBERS = np.random.default_rng(1)


class Alarm(Exception):
    """What the handler raises."""


def definition(build, dtype=DataType.Float, in_place=False):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=False, dtype=dtype)
        fd.add_output(build(fd, x), *([x] if in_place else []))
    return fd


def chain(count):
    """Means along different axes in turn, no two alike, of which no cache has the code."""

    def build(fd, x):
        for number, factor in enumerate(NUMBERS.random(count)):
            x = x - fd.ops.mean(fd.ops.exp(x) * float(factor), dims=[number % 2], keepdim=True)
        return x

    return build


def array(*sizes, dtype=np.float32):
    return NUMBERS.random(sizes, np.float32).astype(dtype)


def unaligned(*sizes):
    memory = np.zeros(4 * int(np.prod(sizes)) + 1, np.uint8)
    return memory[1:].view(np.float32).reshape(sizes)


def compiling():
    values = array(30, 20)
    return lambda: definition(chain(150)).execute([values])


def planning():
    return lambda: definition(chain(400)).explain()


def text():
    fd = definition(chain(100))
    return lambda: fd._make_executable().emit("asm")


def called(build, values, **options):
    """A call of what is compiled."""
    fd = definition(build, **options)
    fd.execute([values])
    return lambda: fd.execute([values])


def validated(build, values, **options):
    fd = definition(build, **options)
    fd.execute([values])
    return lambda: fd.validate([values])


def matmul(fd, x):
    return fd.ops.matmul(x, fd.ops.permute(x, [1, 0]))


def argsort(fd, x):
    return fd.ops.argsort(x, 1)


def cumsum(fd, x):
    return fd.ops.cumsum(x, 1)


def map_of_three(fd, x):
    return fd.ops.sin(fd.ops.exp(fd.ops.tanh(x)))


def lgamma(fd, x):
    return fd.ops.lgamma(x)


def softmax(fd, x):
    return fd.ops.softmax(x, dim=1)


def lambda_fold(fd, x):
    return fd.ops.fold(x, lambda a, b: a + b, init=0.0, dims=[1])


def padded(fd, x):
    return fd.ops.pad(x, [1, 1, 1, 1])


def plus_one(fd, x):
    return x + 1.0


CASES = {
    "compiling 150 kernels": compiling,
    "planning 400 kernels": planning,
    "text of 100 kernels": text,
    "call: map": lambda: called(map_of_three, array(12_000, 12_000)),
    "call: lgamma": lambda: called(lgamma, array(4_000, 4_000)),
    "call: softmax of one row": lambda: called(softmax, array(1, 200_000_000)),
    "call: scan of one line": lambda: called(cumsum, array(1, 200_000_000)),
    "call: product, f32": lambda: called(matmul, array(3_000, 3_000)),
    "call: product of one tile, f32": lambda: called(matmul, array(256, 400_000)),
    "call: product of one tile, f64": lambda: called(matmul, array(256, 400_000, dtype=np.float64), dtype=DataType.Double),
    "call: sort of one line": lambda: called(argsort, array(1, 10_000_000)),
    "call: sort of lines": lambda: called(argsort, array(3_000, 3_000)),
    "call: input copied": lambda: called(plus_one, unaligned(15_000, 20_000)),
    "validate: map": lambda: validated(map_of_three, array(4_000, 4_000)),
    "validate: product": lambda: validated(matmul, array(1_500, 1_500)),
    "validate: product of one tile": lambda: validated(matmul, array(64, 200_000)),
    "validate: sort of one line": lambda: validated(argsort, array(1, 2_000_000)),
    "validate: scan of one line": lambda: validated(cumsum, array(1, 5_000_000)),
    "validate: fold of one line by a lambda": lambda: validated(lambda_fold, array(1, 300_000)),
    "validate: pad": lambda: validated(padded, array(6_000, 6_000)),
}


def interrupted(work, delay):
    """Seconds from the signal to the end of the work; nothing where the work was done before."""

    def handler(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGALRM, handler)
    due = time.perf_counter() + delay
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        work()
        return None
    except Alarm:
        return time.perf_counter() - due
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def duration(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("words", nargs="*")
    options.add_argument("--points", type=int, default=10)
    options = options.parse_args()
    os.environ["FERROFUSE_CACHE"] = "none"
    print(f"{'seconds':40} {'whole':>8} {'median':>8} {'worst':>8}")
    for name, case in CASES.items():
        if options.words and not any(word in name for word in options.words):
            continue
        work = case()
        whole = duration(work)
        moments = [whole * (point + 0.5) / options.points for point in range(options.points)]
        seconds = sorted(second for second in (interrupted(work, moment) for moment in moments) if second is not None)
        worst, median = (seconds[-1], seconds[len(seconds) // 2]) if seconds else (float("nan"),) * 2
        print(f"{name:40} {whole:8.2f} {median:8.3f} {worst:8.3f}", flush=True)


if __name__ == "__main__":
    main()
