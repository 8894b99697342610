"""What the cost model predicts of a GPU that is not there, beside the goals: a table in Markdown.

    python bench/gpu_predicted.py [--gpu h200] [--ferrofuse target/release/ferrofuse]

A fraction is the time of a copy of as many bytes (of a read, for what writes next to nothing) over that of the kernels. A
kernel takes the longest of: its bytes at the memory's speed, what it reads at the speed of the bytes that are in flight, and its
instructions; and a launch. Registers, and with them bytes in flight, are NVRTC's: FERROFUSE_LIBNVRTC, or where the loader looks.
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
BACKWARD = (0.80, 0.88, 0.88, 0.70)
TABLE = {
    "examples/silu_mul.py": POINTWISE,
    "examples/gelu_bias.py": POINTWISE,
    "bench/workloads/add_mul_f32.py": POINTWISE,
    "examples/softmax.py": ROW_NORMS,
    "bench/workloads/softmax_f32.py": ROW_NORMS,
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
# Seconds that memory takes to answer under load, and of each GPU multiprocessors and bytes a second, as in
# crates/scheduler/src/target/gpus.rs.
LATENCY = 1.4e-6
GPUS = {
    "a100": (108, 1.8e12),
    "a10": (72, 0.54e12),
    "l40s": (142, 0.78e12),
    "h100": (132, 3e12),
    "h200": (132, 4.3e12),
    "b200": (148, 7.2e12),
}


def explained(options, file, sizes):
    sizes = [word for symbol, value in sizes.items() for word in ("--size", f"{symbol}={value}")]
    command = [options.ferrofuse, "explain", str(ROOT / file), "--target", options.gpu, "--json", *sizes]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def predicted(explanation, gpu):
    """The fraction, and what bounds the segment that takes longest."""
    multiprocessors, bandwidth = GPUS[gpu]
    total, longest, bound = 0.0, 0.0, ""
    for segment in explanation["segments"]:
        cost, kernels = segment["cost_us"], segment["kernels"]
        read = sum(tensor["bytes"] for tensor in segment["inputs"]) * segment["passes"]
        in_flight = kernels[0]["in_flight_bytes"] * min(kernels[0]["blocks"], multiprocessors)
        latency = 1e6 * LATENCY * read / in_flight if in_flight else 0.0
        # With partial results, and what is read with a stride of 0 once; the cost model knows neither.
        memory = 1e6 * segment["bytes"] / bandwidth / min(1, kernels[0]["blocks"] / multiprocessors)
        terms = {"bandwidth": memory, "latency": latency, "instructions": cost["computing"]}
        slowest = max(terms, key=terms.get)
        time = terms[slowest] + cost["launch"] * len(kernels)
        total += time
        if time > longest:
            longest, bound = time, slowest
    launch = explanation["segments"][0]["cost_us"]["launch"]
    copy = 1e6 * explanation["compulsory_bytes"] / bandwidth + launch
    return copy / total, bound


def cell(options, file, sizes, goal):
    fraction, bound = predicted(explained(options, file, sizes), options.gpu)
    text = f"{fraction:.2f}" + ("" if bound == "bandwidth" else f" {bound}")
    return text if fraction >= goal else f"**{text}** (goal {goal})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpu", default="h200", choices=GPUS)
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
