"""What `explain` predicts of a GPU that is not there, beside the goals: a table in Markdown.

    python bench/gpu_predicted.py [--gpu h200] [--ferrofuse target/release/ferrofuse]

A fraction is the time of a copy of as many bytes (of a read, for what writes next to nothing) over that of the
kernels. A kernel takes a launch and the longest of `times_us`: its bytes at the memory's speed, what it reads by as
many bytes as are in flight, its instructions. Registers, and with them bytes in flight, are NVRTC's:
FERROFUSE_LIBNVRTC, or where the loader looks.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Goals of 16384 rows of so many columns.
COLUMNS = {1024: 0, 4096: 1, 16384: 2, 65536: 3}
ROWS = 16384
POINTWISE, ROW_NORMS, SUMS = (0.95, 0.95, 0.95, 0.95), (0.88, 0.95, 0.95, 0.95), (0.92, 0.95, 0.95, 0.95)
SOFTMAX_BACKWARD, BACKWARD = (0.85, 0.93, 0.93, 0.90), (0.80, 0.88, 0.88, 0.70)
TABLE = {
    "examples/silu_mul.py": POINTWISE,
    "examples/gelu_bias.py": POINTWISE,
    "bench/workloads/add_mul_f32.py": POINTWISE,
    "examples/softmax.py": ROW_NORMS,
    "bench/workloads/softmax_f32.py": ROW_NORMS,
    "bench/workloads/softmax_backward.py": SOFTMAX_BACKWARD,
    "examples/layer_norm.py": ROW_NORMS,
    "examples/rms_norm.py": ROW_NORMS,
    "examples/layer_norm_backward.py": BACKWARD,
    "examples/rms_norm_backward.py": BACKWARD,
    "bench/workloads/sum_inner_f32.py": SUMS,
    "bench/workloads/sum_outer_f32.py": SUMS,
}
# Goals at a definition's own sizes.
ONCE = {
    "examples/cross_entropy.py": 0.93,
    "examples/adam_step.py": 0.90,
    "examples/rope.py": 0.92,
    "examples/rope_backward.py": 0.88,
    "examples/transpose_add.py": 0.88,
    "examples/group_norm.py": 0.85,
    "examples/batch_norm.py": 0.75,
    "examples/dropout_layer_norm.py": 0.85,
    "examples/modulated_layer_norm_backward.py": 0.80,
}


def explained(options, file, sizes):
    sizes = [word for symbol, value in sizes.items() for word in ("--size", f"{symbol}={value}")]
    command = [options.ferrofuse, "explain", str(ROOT / file), "--target", options.gpu, "--json", *sizes]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def has_room(kernel):
    """Whether a multiprocessor has room for a block of the kernel."""
    return kernel.get("blocks_per_multiprocessor") != 0


def predicted(explanation):
    """The fraction, and what bounds the segment that takes longest; no fraction where a kernel cannot be launched."""
    if not all(has_room(kernel) for segment in explanation["segments"] for kernel in segment["kernels"]):
        return 0.0, "cannot be launched"
    total, longest, bound = 0.0, 0.0, ""
    for segment in explanation["segments"]:
        times = dict(segment["kernels"][0]["times_us"])
        launch = times.pop("launch")
        slowest = max(times, key=times.get)
        time = times[slowest] + launch * len(segment["kernels"])
        total += time
        if time > longest:
            longest, bound = time, slowest
    us_of_a_byte = times["bandwidth"] / segment["bytes"]
    return (explanation["compulsory_bytes"] * us_of_a_byte + launch) / total, bound


def cell(options, file, sizes, goal):
    fraction, bound = predicted(explained(options, file, sizes))
    words = [f"{fraction:.2f}"] if fraction else []
    text = " ".join(words if bound == "bandwidth" else [*words, bound])
    return text if fraction >= goal else f"**{text}** (goal {goal})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--ferrofuse", default=str(ROOT / "target/release/ferrofuse"))
    options = parser.parse_args()
    print(f"| {ROWS} rows | " + " | ".join(f"{columns} columns" for columns in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for file, goals in TABLE.items():
        cells = [cell(options, file, {"i0": ROWS, "i1": columns}, goals[at]) for columns, at in COLUMNS.items()]
        print(f"| {pathlib.Path(file).stem} | " + " | ".join(cells) + " |", flush=True)
    print("\n| at its own sizes | fraction |\n|---|---|")
    for file, goal in ONCE.items():
        print(f"| {pathlib.Path(file).stem} | {cell(options, file, {}, goal)} |", flush=True)


if __name__ == "__main__":
    main()
