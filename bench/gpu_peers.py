"""ferrofuse beside torch eager, torch.compile, Liger, Quack and JAX on a GPU, on the standard workloads.

    gpu_peers.py [ID…] [--quick] [--device cuda]

Contenders run in turn, on inputs that rotate among sets which together exceed the GPU's last cache four times; times
are medians of the GPU's own clock, JAX's those of the host. `replay` is the call captured as a CUDA graph, `copy` a
copy that moves as many bytes. Before that, ours are compared with the formula in f64, in output memory that is filled
with NaN. One line of JSON a workload, a table at the end. Libraries that are not installed have no column
(gpu_libraries.py).
With `--device cpu` all of it runs on the CPU, where there are no graphs.
"""

import argparse
import itertools
import json
import math
import statistics
import sys
import time

import gpu_libraries
import torch
from peer_workloads import WORKLOADS, Torch, in_memory
from peers import agree, definition, listed

# Calls that are not timed, in which contenders compile and tune.
WARM = 3


class Wide(Torch):
    """torch's names, computing in f64."""

    wide = staticmethod(torch.Tensor.double)

    @staticmethod
    def layer_norm(x, weight, bias):
        x, weight, bias = x.double(), weight.double(), bias.double()
        out, mean, invstd = torch.native_layer_norm(x, [x.shape[-1]], weight, bias, 1e-5)
        return out.bfloat16(), mean.float(), invstd.float()


def widened(tensor):
    return tensor.double() if tensor.dtype == torch.float32 else tensor


def last_cache(device):
    return torch.cuda.get_device_properties(device).L2_cache_size if device == "cuda" else 32 << 20


def seconds(name, run, places, device):
    """The time of one call on the next set, by the GPU's clock."""
    if name == "jax":
        return gpu_libraries.jax_seconds(run, places)
    place = next(places)
    if device != "cuda":
        start = time.perf_counter()
        run(place)
        return time.perf_counter() - start
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run(place)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def captured(fd, sets):
    """A graph of the call on each set; none of a call that checks indices."""
    try:
        return [fd.capture(inputs) for inputs in sets]
    except ValueError as rejected:
        print(f"no replay: {rejected}", file=sys.stderr)
        return []


def contenders(workload, fd, sets, moved, device):
    """For each a function from the number of a set to outputs."""

    def compiled(**options):
        made = torch.compile(lambda *inputs: workload.formula(Torch, *inputs), dynamic=False, **options)
        return lambda place: made(*sets[place])

    source = torch.empty(moved // 2, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    runs = {
        "ferrofuse": lambda place: fd.execute(sets[place]),
        "eager": lambda place: workload.formula(Torch, *sets[place]),
        "inductor": compiled(),
        "copy": lambda _: target.copy_(source),
        **gpu_libraries.contenders(workload, sets),
    }
    if device == "cuda":
        graphs = captured(fd, sets)
        if graphs:
            runs["replay"] = lambda place: graphs[place].replay()
        runs["max-autotune"] = compiled(mode="max-autotune")
    return runs


def checked(workload, fd, inputs):
    """That outputs are right, wherever they are written."""
    expected = listed(workload.formula(Wide, *map(widened, inputs)))
    ours = fd.execute(inputs)
    nan = [torch.full_like(output, math.nan if output.is_floating_point() else -1) for output in ours]
    fd.execute(inputs, out=nan)
    for outputs in (ours, nan):
        agree(workload.id, outputs, [output.to(ours[place].dtype) for place, output in enumerate(expected)])


def measured(workload, options):
    """The medians of a workload, in milliseconds."""
    torch.manual_seed(0)
    rows, columns = (16, 128) if options.quick else (workload.rows, workload.columns)

    def made():
        return [x.to(options.device) for x in workload.inputs(rows, columns)]

    first, fd = made(), definition(workload.file)
    checked(workload, fd, first)
    moved = sum(map(in_memory, [*first, *fd.execute(first)]))
    count = 2 if options.quick else min(max(math.ceil(4 * last_cache(options.device) / moved), 2), 32)
    runs = contenders(workload, fd, [first, *(made() for _ in range(count - 1))], moved, options.device)
    times, places = {name: [] for name in runs}, itertools.cycle(range(count))
    for call in range(WARM + options.calls):
        for name, run in runs.items():
            took = seconds(name, run, places, options.device)
            if call >= WARM:
                times[name].append(took)
    torch.compiler.reset()
    ms = {name: 1e3 * statistics.median(taken) for name, taken in times.items()}
    return {"workload": workload.id, "rows": rows, "columns": columns, "bytes": moved, "ms": ms}


# What is no peer.
OURS = ("ferrofuse", "replay", "copy")


def table(rows):
    """Lines: the time of each, and for each peer how many times as long as the better of ours it takes."""
    names = list(dict.fromkeys(name for row in rows for name in row["ms"]))
    yield "| " + " | ".join(["workload", "size", *names]) + " |"
    yield "|---" * (len(names) + 2) + "|"
    ratios = {name: {} for name in names if name not in OURS}
    for row in rows:
        ms = row["ms"]
        ours = min(ms["ferrofuse"], ms.get("replay", math.inf))
        for name in set(ratios) & set(ms):
            ratios[name][row["workload"]] = ms[name] / ours
        numbers = [f"{ms[name]:.4f}" if name in ms else "" for name in names]
        yield "| " + " | ".join([row["workload"], f"{row['rows']}x{row['columns']}", *numbers]) + " |"
    yield ""
    for name, by_workload in ratios.items():
        mean, worst = statistics.geometric_mean(by_workload.values()), min(by_workload, key=by_workload.get)
        yield f"* {name} takes {mean:.2f} times as long in the geometric mean, {by_workload[worst]:.2f} for {worst}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--quick", action="store_true", help="next to no data: says nothing about speed")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()
    known = {workload.id: workload for workload in WORKLOADS}
    unknown = [name for name in options.ids if name not in known]
    if unknown:
        sys.exit(f"there is no workload {unknown[0]}; there are {', '.join(known)}")
    rows = []
    for name in options.ids or known:
        rows.append(measured(known[name], options))
        print(json.dumps(rows[-1]), flush=True)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
