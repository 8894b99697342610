"""ferrofuse beside torch.compile (Inductor), torch eager and JAX on the standard workloads.

    peers.py [ID…] [--sweep] [--target avx2] [--threads N] [--calls N] [--runs N] [--json FILE]

All run in one process, in turn, on inputs that rotate among sets which together exceed the last-level cache four
times: each call, whoever makes it, takes the set that has rested the longest, since a contender that reads what
another has just read finds some of it in the cache. Outputs are held as long, and are checked to be equal. Before each
round all rest until no thread of the process runs any more: threads of OpenMP look for work for some milliseconds after
theirs, JAX frees arrays for up to a tenth of a second, and the next would share its processors with them. A round
begins with a call on other inputs that is not timed, which wakes the contender's own threads. Each workload is
measured twice: with the C library's allocator as it is, and told to keep memory (MALLOC_MMAP_THRESHOLD_,
MALLOC_TRIM_THRESHOLD_). Times are medians; `best` is the fastest peer. Of several runs, each in processes of its own,
the table has the medians of times and, beside them, of ratios. With `--target` all are kept to an older CPU's vectors.
"""

import argparse
import collections
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEEP = {"MALLOC_MMAP_THRESHOLD_": "8589934592", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "67108864"}
PEERS = ["inductor", "eager", "jax"]
# How the contenders are told to use no more than a target's instructions; Inductor by an option.
VECTORS = {
    "avx2": {"FERROFUSE_TARGET": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
}
INDUCTOR_BITS = {"avx2": 256}
XLA_ISA = {"avx2": "--xla_cpu_max_isa=AVX2"}
# Shorter calls are timed several at a time.
MIN_SECONDS = 2e-3
# Threads of the process rest if all together run for less than a part of such a while; no wait is longer than the limit.
REST_SECONDS = 10e-3
REST_PART = 0.02
REST_LIMIT_SECONDS = 1.0


def last_level_cache():
    sizes = pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    return max((int(size.read_text().strip().rstrip("K")) << 10 for size in sizes), default=32 << 20)


def definition(file):
    """The function of a definition file, made executable."""
    import ferrofuse

    text = (ROOT / f"{file}.py").read_text()
    lines = [line for line in text.split("\ninputs = ")[0].split("\nwith ")[0].splitlines() if "import" not in line]
    names = {"FusionDefinition": ferrofuse.FusionDefinition, "DataType": ferrofuse.DataType}
    exec("\n".join(lines), names)
    (define,) = (value for name, value in names.items() if callable(value) and getattr(value, "__code__", None))
    with ferrofuse.FusionDefinition() as fd:
        define(fd)
    return fd


def runners(workload, sets):
    """For each contender a function from the number of a set to outputs."""
    import jax
    import torch

    from peer_workloads import Torch, jax_names

    fd = definition(workload.file)
    compiled = torch.compile(lambda *inputs: workload.formula(Torch, *inputs), dynamic=False)
    names = jax_names()
    jitted = jax.jit(lambda *inputs: workload.formula(names, *inputs))
    theirs = [[jax.device_put(jax.dlpack.from_dlpack(x.contiguous())) for x in inputs] for inputs in sets]
    return {
        "ferrofuse": lambda place: fd.execute(sets[place]),
        "inductor": lambda place: compiled(*sets[place]),
        "eager": lambda place: workload.formula(Torch, *sets[place]),
        "jax": lambda place: jax.block_until_ready(jitted(*theirs[place])),
    }


def listed(outputs):
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def agree(name, ours, theirs):
    """Whether two lists of outputs are equal but for rounding and the order of sums."""
    import torch

    assert len(ours) == len(theirs), f"{name}: {len(ours)} outputs, {len(theirs)} expected"
    # torch rounds statistics of bf16 to bf16, too.
    coarse = any(getattr(x, "dtype", None) == torch.bfloat16 for x in theirs)
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        a, b = (torch.from_dlpack(x).float().flatten() for x in (a, b))
        scale = b.abs().max().clamp(min=1e-30)
        # What is small beside the largest is a sum in which much cancels.
        worst = ((a - b).abs() / (b.abs() + 0.1 * scale)).max().item()
        # Inductor leaves out roundings to bf16 between operations.
        assert worst < (0.04 if coarse else 1e-3), f"{name}: output {place} is off by {worst}"


def seconds(run, places, calls, held):
    start = time.perf_counter()
    for _ in range(calls):
        outputs = run(next(places))
    took = (time.perf_counter() - start) / calls
    held.append(outputs)
    return took


def rest():
    """Waits until no thread of the process runs any more."""
    limit = time.perf_counter() + REST_LIMIT_SECONDS
    while time.perf_counter() < limit:
        ran = time.process_time()
        time.sleep(REST_SECONDS)
        if time.process_time() - ran < REST_PART * REST_SECONDS:
            return


def measure(workload, rows, columns, calls):
    """Median milliseconds of each contender."""
    import torch

    from peer_workloads import in_memory

    torch.manual_seed(0)
    first = workload.inputs(rows, columns)
    outputs = listed(workload.formula(__import__("peer_workloads").Torch, *first))
    moved = sum(map(in_memory, [*first, *outputs]))
    count = min(max(math.ceil(4 * last_level_cache() / moved), 2), 32)
    sets = [first, *(workload.inputs(rows, columns) for _ in range(count - 1))]
    runs = runners(workload, sets)
    several, places = {}, itertools.cycle(range(count))
    for name, run in runs.items():
        agree(f"{workload.id}, {name}", listed(run(0)), outputs)
        took = min(seconds(run, places, 1, []) for _ in range(3))
        several[name] = max(1, int(MIN_SECONDS / took))
    held = {name: collections.deque(maxlen=count) for name in runs}
    times = {name: [] for name in runs}
    for call in range(count + calls):
        for name, run in runs.items():
            rest()
            held[name].append(run(next(places)))
            took = seconds(run, places, several[name], held[name])
            if call >= count:
                times[name].append(took)
    medians = {name: 1e3 * statistics.median(taken) for name, taken in times.items()}
    return {"workload": workload.id, "rows": rows, "columns": columns, "bytes": moved, "ms": medians}


def cases(options):
    from peer_workloads import SWEEP_IDS, SWEEP_SIZES, WORKLOADS

    known = {workload.id: workload for workload in WORKLOADS}
    unknown = [name for name in options.ids if name not in known]
    if unknown:
        sys.exit(f"there is no workload {unknown[0]}; there are {', '.join(known)}")
    if options.sweep:
        return [(known[name], *size) for name in options.ids or SWEEP_IDS for size in SWEEP_SIZES]
    return [(known[name], known[name].rows, known[name].columns) for name in options.ids or known]


def work(options):
    """The worker: one line of JSON a case."""
    import torch

    torch.set_num_threads(options.threads)
    if options.target:
        import torch._inductor.config

        torch._inductor.config.cpp.simdlen = INDUCTOR_BITS[options.target]
    for workload, rows, columns in cases(options):
        print(f"{workload.id} {rows}x{columns} ({options.allocator}) …", file=sys.stderr)
        row = measure(workload, rows, columns, options.calls)
        print(json.dumps({**row, "allocator": options.allocator}), flush=True)
        torch.compiler.reset()
    # Threads of other libraries that still run when the process ends have ended it with an abort.
    os._exit(0)


def worker_rows(options, allocator):
    """Runs a worker under an allocator and gives its rows, all that came, and its exit status."""
    threads = str(options.threads)
    kept = KEEP if allocator == "kept" else {}
    isa = XLA_ISA.get(options.target, "")
    flags = f"--xla_force_host_platform_device_count=1 {isa} {os.environ.get('XLA_FLAGS', '')}"
    environment = {
        **os.environ,
        **kept,
        **VECTORS.get(options.target, {}),
        "OMP_NUM_THREADS": threads,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": flags,
    }
    command = [sys.executable, __file__, "--worker", allocator, *sys.argv[1:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        rows = [json.loads(line) for line in worker.stdout]
    return rows, worker.returncode


def table(rows):
    """Lines: milliseconds of each, and the fastest peer's time over ours, for both allocators."""
    yield f"{'workload':36}{'size':>12}{'allocator':>11}{'GB/s':>7}" + "".join(
        f"{name:>11}" for name in ["ferrofuse", *PEERS, "best/ours"]
    )
    ratios = collections.defaultdict(list)
    runs = collections.defaultdict(list)
    for row in rows:
        runs[row["workload"], row["rows"], row["columns"], row["allocator"]].append(row)
    for (workload, height, width, allocator), same in sorted(runs.items()):
        ms = {name: statistics.median(row["ms"][name] for row in same) for name in ["ferrofuse", *PEERS]}
        ratio = statistics.median(min(row["ms"][peer] for peer in PEERS) / row["ms"]["ferrofuse"] for row in same)
        ratios[allocator].append(ratio)
        size = f"{height}x{width}"
        speed = same[0]["bytes"] / ms["ferrofuse"] / 1e6
        yield f"{workload:36}{size:>12}{allocator:>11}{speed:7.1f}" + "".join(
            f"{number:11.3f}" for number in [*ms.values(), ratio]
        )
    for allocator, some in ratios.items():
        yield f"{allocator}: geometric mean {statistics.geometric_mean(some):.2f}, smallest {min(some):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--sweep", action="store_true", help="four workloads by six sizes")
    parser.add_argument("--target", choices=VECTORS, help="use no newer instructions than this")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--runs", type=int, default=1, help="how often all is measured")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows there, one object a line")
    parser.add_argument("--worker", dest="allocator", choices=["default", "kept"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.allocator:
        work(options)
        return
    runs = [worker_rows(options, allocator) for _ in range(options.runs) for allocator in ["default", "kept"]]
    rows = [row for rows, _ in runs for row in rows]
    if options.json:
        options.json.write_text("".join(json.dumps(row) + "\n" for row in rows))
    print("\n".join(table(rows)))
    sys.exit(next((failed for _, failed in runs if failed), 0))


if __name__ == "__main__":
    main()
