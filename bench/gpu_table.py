"""The rows of `ferrofuse bench --json` in results/bench and results/sweep, as a table: gpu_table.py RESULTS"""

import json
import pathlib
import sys

HEADER = ["workload", "size", "ms", "GB/s", "beside", "fraction", "kernels", "traffic", "first ms", "call us"]


def rows(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.startswith("{")]


def cells(row):
    copy = row.get("copy_gbps")
    beside = f"copy {copy:.0f}" if copy else f"read {row['read_gbps']:.0f}"
    size, numbers = f"{row['rows']}x{row['columns']}", [f"{row['ms']:.4f}", f"{row['gbps']:.0f}", beside]
    rest = [f"{row['fraction']:.3f}", row["kernels"], f"{row['traffic_ratio']:.3f}"]
    return [row["workload"], size, *numbers, *rest, f"{row['first_call_ms']:.0f}", f"{row['call_us']:.1f}"]


def main():
    folder = pathlib.Path(sys.argv[1])
    measured = [row for part in ("bench", "sweep") for row in rows(folder / part)]
    if measured:
        print("\n".join("| " + " | ".join(map(str, line)) + " |" for line in [HEADER, ["---"] * 10, *map(cells, measured)]))


main()
