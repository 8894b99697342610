"""What this machine's GPU does, beside the goals and the predictions of gpu_predicted.py: a table in Markdown.

    gpu_measured.py [NAME…] [--quick]

A fraction is the time of a copy of as many bytes (of a read, for what writes next to nothing, where CuPy is there to
compile one) over that of a call. The copy is the driver's, of as many bytes or 32 KiB more, whichever is faster: which
way it takes depends on the exact size, and within a graph it may be the slow one. Calls and reads are graphs of those
on sets of inputs that together exceed the GPU's last cache four times. All run in turn, and times are medians by the
GPU's clock. Outputs are filled with NaN, integers with -1, before they are checked to have none. Ends with 1 if a call
failed or left some.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import sys

import torch
from gpu_predicted import COLUMNS, ONCE, ROWS, TABLE
from peer_workloads import in_memory
from peers import definition

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 9
# The cell of what has no number.
FAILED = "failed"
# Bytes more than the half of what a call moves.
COPIES = {"copy": 0, "copy of more": 1 << 15}
# What writes next to nothing.
READERS = {"sum_inner_f32", "sum_outer_f32", "cross_entropy"}
READ = r"""
extern "C" __global__ void read_words(const uint4* from, unsigned* to, long long words) {
  unsigned sum = 0;
  #pragma unroll 4
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < words; at += gridDim.x * (long long)blockDim.x) {
    const uint4 word = from[at];
    sum |= word.x | word.y | word.z | word.w;
  }
  if (sum != 0) *to = sum;
}
"""


def inputs_of(file, size=None):
    """The inputs that a definition file lists, on the GPU; of rows and columns of this size instead of the file's."""
    listed = (ROOT / file).read_text().split("\ninputs = ")[1].split("\nfd.execute")[0]
    if size is not None:
        rows, columns = re.search(r"\((\d+), (\d+)\)", listed).groups()
        of_size = {f"{rows}, {columns}": "{}, {}", f"{rows}, 1": "{}, 1", f"{columns},": "{1},", f"{rows},": "{},"}
        shapes = "|".join(re.escape(shape) for shape in of_size)
        listed = re.sub(rf"(?<=\()({shapes})(?=\))", lambda shape: of_size[shape[0]].format(*size), listed)
    with torch.device("cuda"):
        return eval(listed, {"torch": torch})  # noqa: S307, the project's own files


def read_kernel():
    """A function that reads a tensor; none without CuPy."""
    try:
        import cupy
    except ImportError:
        return None
    kernel = cupy.RawKernel(READ, "read_words")
    sink = torch.zeros(1, dtype=torch.int32, device="cuda")
    blocks = 4 * torch.cuda.get_device_properties(0).multi_processor_count

    def read(tensor):
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            words = tensor.numel() * tensor.element_size() // 16
            kernel((blocks,), (512,), (tensor.data_ptr(), sink.data_ptr(), cupy.int64(words)))

    return read


def repeated(runs, is_captured=True):
    """A function that makes all these calls: by a graph of them, where they may be captured."""
    runs[0]()
    torch.cuda.synchronize()
    if not is_captured:
        return lambda: [run() for run in runs]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for run in runs:
            run()
    return graph.replay


def may_be_captured(fd, inputs):
    """Whether a call neither checks indices nor draws random numbers."""
    try:
        fd.capture(inputs)
    except ValueError:
        return False
    return True


def seconds(run):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def check(name, fd, inputs, outputs):
    """That all elements are written, wherever outputs lie. A bool cannot tell."""
    out = [torch.full_like(output, math.nan if output.is_floating_point() else -1) for output in outputs]
    fd.execute(inputs, out=out)
    told = [output for output in out if output.dtype != torch.bool]
    left = [output.isnan() if output.is_floating_point() else output == -1 for output in told]
    assert not any(unwritten.any().item() for unwritten in left), f"{name}: an element was not written"


def copies(size, count):
    """Pairs of what is copied and where to."""
    pairs = [[torch.empty(max(size, 16), dtype=torch.uint8, device="cuda") for _ in range(2)] for _ in range(count)]
    for source, _ in pairs:
        source.zero_()
    return pairs


def measure(file, size):
    """Microseconds of a call, of a copy of as many bytes, and of a read."""
    name = pathlib.Path(file).stem
    fd, first = definition(str(file).removesuffix(".py")), inputs_of(file, size)
    versions = [x._version for x in first]
    outputs = fd.execute(first)
    written = [x for x, version in zip(first, versions) if x._version > version]
    check(name, fd, first, outputs)
    moved = sum(map(in_memory, [*first, *written, *outputs]))
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    count = min(max(math.ceil(4 * cache / moved), 1), 32)
    sets = [first, *(inputs_of(file, size) for _ in range(count - 1))]
    made = [fd.execute(inputs) for inputs in sets]
    halves = {name: copies(moved // 2 + more, count) for name, more in COPIES.items()}
    calls = [lambda inputs=inputs, out=out: fd.execute(inputs, out=out) for inputs, out in zip(sets, made)]
    runs = {"ours": repeated(calls, may_be_captured(fd, first))}
    for each, pairs in halves.items():
        runs[each] = repeated([lambda pair=pair: pair[1].copy_(pair[0]) for pair in pairs], is_captured=False)
    read = read_kernel() if name in READERS else None
    if read is not None:
        runs["read"] = repeated([lambda pair=pair: [read(half) for half in pair] for pair in halves["copy"]])
    times = {name: [] for name in runs}
    for call in range(ROUNDS + 1):
        for each, run in runs.items():
            took = seconds(run)
            if call > 0:
                times[each].append(1e6 * took / count)
    medians = {each: statistics.median(taken) for each, taken in times.items()}
    copy = min(medians.pop(each) for each in COPIES)
    return {"bytes": moved, "sets": count, **medians, "copy": copy}


def row(file, size):
    found = {"name": pathlib.Path(file).stem, "size": size, **measure(file, size)}
    found["fraction"] = found.get("read", found["copy"]) / found["ours"]
    print(json.dumps(found), flush=True)
    torch.cuda.empty_cache()
    return found["fraction"]


def cell(fraction, goal):
    return f"{fraction:.2f}" if fraction >= goal else f"**{fraction:.2f}** (goal {goal})"


def tried(file, size, goal):
    """The cell of a definition, or why there is no number."""
    try:
        return cell(row(file, size), goal)
    except Exception as failed:  # the table goes on
        print(f"{file} {size}: FAILED: {failed}", flush=True)
        torch.cuda.empty_cache()
        return FAILED


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="next to no data: says nothing about speed")
    options = parser.parse_args()
    rows = 64 if options.quick else ROWS
    lines = []
    for file, goals in TABLE.items():
        if options.names and pathlib.Path(file).stem not in options.names:
            continue
        chosen = list(COLUMNS.items())[: 1 if options.quick else None]
        cells = [tried(file, (rows, columns), goals[at]) for columns, at in chosen]
        lines.append(f"| {pathlib.Path(file).stem} | " + " | ".join(cells) + " |")
    once = []
    for file, goal in ONCE.items():
        if not options.quick and (not options.names or pathlib.Path(file).stem in options.names):
            once.append(f"| {pathlib.Path(file).stem} | {tried(file, None, goal)} |")
    print(f"\n| {rows} rows | " + " | ".join(f"{columns} columns" for columns in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    print("\n".join(lines))
    print("\n| at its own sizes | fraction |\n|---|---|")
    print("\n".join(once))
    sys.exit(1 if any(FAILED in line for line in [*lines, *once]) else 0)


if __name__ == "__main__":
    main()
