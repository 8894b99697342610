"""What gpu.sh left in a folder as results/RESULTS-GPU.md, and the table of `ferrofuse bench` on the way.

    gpu_table.py RESULTS
"""

import json
import pathlib
import sys

HEADER = ["workload", "size", "ms", "GB/s", "beside", "fraction", "kernels", "traffic", "first ms", "call us", "model/ms"]
# Parts whose lines stand as they are.
TOLD = {
    "facts": "Machine and versions",
    "check": "Examples beside the evaluator",
    "checks": "The Python face and torch.compile",
    "measured": "Beside copies of as many bytes",
    "peers": "Beside peers, in ms",
    "fuzz": "Fuzzer",
    "counters": "Counters of ncu",
    "sanitize": "compute-sanitizer",
}


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def cells(row):
    peer = row.get("peer") or ("copy" if row.get("copy_gbps") else "read")
    beside = f"{peer} {row[peer + '_gbps']:.0f}"
    size, numbers = f"{row['rows']}x{row['columns']}", [f"{row['ms']:.4f}", f"{row['gbps']:.0f}", beside]
    rest = [f"{row['fraction']:.3f}", row["kernels"], f"{row['traffic_ratio']:.3f}"]
    predicted = f"{row['model_us'] / row['ms'] / 1e3:.2f}"
    return [row["workload"], size, *numbers, *rest, f"{row['first_call_ms']:.0f}", f"{row['call_us']:.1f}", predicted]


def table(folder):
    """Lines: a row for each workload that was measured."""
    told = [line for part in ("bench", "sweep") for line in lines(folder / part)]
    measured = [json.loads(line) for line in told if line.startswith("{")]
    if not measured:
        return []
    return ["| " + " | ".join(map(str, line)) + " |" for line in [HEADER, ["---"] * len(HEADER), *map(cells, measured)]]


def page(folder, measured):
    """Lines of the page: the table, and what the other parts said."""
    yield "# ferrofuse on a GPU"
    yield ""
    yield "By `bench/gpu.sh`. `model/ms`: the time that the cost model predicts over the measured one."
    for title, body in [("Workloads", measured), *((TOLD[part], lines(folder / part)) for part in TOLD)]:
        body = [line for line in body if not line.startswith("{")]
        if body:
            is_table = any(line.startswith("|") for line in body)
            yield from ["", f"## {title}", "", *(body if is_table else ["```", *body, "```"])]


def main():
    folder = pathlib.Path(sys.argv[1])
    measured = table(folder)
    (folder / "RESULTS-GPU.md").write_text("\n".join(page(folder, measured)) + "\n")
    if measured:
        print("\n".join(measured))


main()
