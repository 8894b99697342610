"""The standard workloads on a GPU by Liger and Quack, whose kernels are written by hand, and JAX, where installed.

A library that lacks a function, or fails on the first set, is told on stderr and left out. What Liger and Quack leave
in another type, or do not give back at all, they do not move: their times are of their own results.
"""

import os
import sys
import time

# Calls of JAX that are timed together, by the host's clock: its stream is not torch's.
JAX_CALLS = 8


def liger():
    """Functions of Liger's, by workload."""
    from liger_kernel.transformers import functional

    return {
        "silu_mul_bf16": functional.liger_swiglu,
        "softmax_f32": functional.liger_softmax,
        "softmax_bf16": functional.liger_softmax,
        "layer_norm_bf16": lambda x, weight, bias: functional.liger_layer_norm(x, weight, bias, 1e-5),
        "rms_norm_bf16": lambda x, weight: functional.liger_rms_norm(x, weight, 1e-6),
        "cross_entropy_bf16": functional.liger_cross_entropy,
    }


def quack():
    """Functions of Quack's, by workload."""
    from quack.cross_entropy import cross_entropy
    from quack.rmsnorm import layernorm_fwd, rmsnorm
    from quack.softmax import softmax

    return {
        "softmax_f32": softmax,
        "softmax_bf16": softmax,
        # Its weights are of f32; these are widened before the clock runs.
        "layer_norm_bf16": lambda x, weight, bias: layernorm_fwd(x, weight, bias, 1e-5, True, True),
        "rms_norm_bf16": rmsnorm,
        "cross_entropy_bf16": cross_entropy,
    }


def jitted(workload, sets):
    """JAX's function of a set's number."""
    # Else it takes three quarters of the GPU's memory.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    from peer_workloads import jax_names

    names = jax_names()
    function = jax.jit(lambda *inputs: workload.formula(names, *inputs))
    theirs = [[jax.device_put(jax.dlpack.from_dlpack(x.contiguous())) for x in inputs] for inputs in sets]
    return lambda place: function(*theirs[place])


def jax_seconds(run, places):
    """The time of one of several calls in a row, each on the next set."""
    import jax

    start = time.perf_counter()
    for _ in range(JAX_CALLS):
        out = run(next(places))
    jax.block_until_ready(out)
    return (time.perf_counter() - start) / JAX_CALLS


def widened(name, workload, inputs):
    if (name, workload.id) == ("quack", "layer_norm_bf16"):
        return [inputs[0], *(x.float() for x in inputs[1:])]
    return inputs


def of_library(name, functions, workload, sets):
    """The function of a set's number; none where the library has none for the workload."""
    function = functions().get(workload.id)
    if function is None:
        return None
    theirs = [widened(name, workload, inputs) for inputs in sets]
    return lambda place: function(*theirs[place])


def contenders(workload, sets):
    """For each library that is installed and has the workload, a function from the number of a set to outputs."""
    made = {
        "liger": lambda: of_library("liger", liger, workload, sets),
        "quack": lambda: of_library("quack", quack, workload, sets),
        "jax": lambda: jitted(workload, sets),
    }
    found = {}
    for name, make in made.items():
        try:
            run = make()
            if run is not None:
                run(0)
                found[name] = run
        except ModuleNotFoundError:
            continue
        except Exception as failed:  # whatever a library of another version does
            print(f"no {name} for {workload.id}: {failed}", file=sys.stderr)
    return found
