"""Whether the cost model orders segmentations as the clock does: for definition files, the compiler's segmentation and some
that keep more values, which are drawn, each with the model's time and the measured one. Prints a row for each pair."""

import argparse
import itertools
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

CLEAR = 1.3  # times between which the clock is sure of an order


def planned(executable, file, segmentation):
    """What `explain` says of a segmentation, or None where segments would wait for each other."""
    chosen = [] if segmentation is None else ["--segmentation", segmentation]
    done = subprocess.run([executable, "explain", file, "--json", *chosen], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def measured(executable, file, segmentation, runs):
    """Milliseconds of a call: the median of so many processes, each of which gives the best of its calls."""
    command = [executable, "run", file, "--segmentation", segmentation, "--time", "--json"]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(runs)]
    return statistics.median(json.loads(one.stdout)["call_ms"] for one in done)


def with_more_kept(lines, explained, draw):
    """A segmentation's lines with a segment of its own for some values that one segment computes and does not keep."""
    number = draw.randrange(len(lines))
    made = set(lines[number].split("->")[1].replace(" ", "").strip().split(","))
    operations = explained["segments"][number]["operations"]
    names = [operation.split(" = ")[0].strip() for operation in operations if " = " in operation]
    names = [name for name in names if name.isidentifier() and name not in made]
    kept = draw.sample(names, min(len(names), draw.randint(1, 2)))
    return [*lines[:number], *(f"segment kept -> {name}\n" for name in sorted(kept)), *lines[number:]] if kept else None


def segmentations(executable, file, count, draw, folder):
    """The compiler's segmentation and drawn ones, as files, each with the model's microseconds."""
    emitted = subprocess.run([executable, "emit", file, "--stage", "segments"], capture_output=True, text=True, check=True)
    lines = [line for line in emitted.stdout.splitlines(keepends=True) if line.startswith("segment ")]
    explained, found = planned(executable, file, None), {}
    for number, tried in enumerate(itertools.repeat(lines, 20 * count)):
        chosen = tried if number == 0 else with_more_kept(tried, explained, draw)
        text = "".join(chosen or [])
        if text in found or not text:
            continue
        path = folder / f"{number}.txt"
        path.write_text(text)
        told = planned(executable, file, path)
        if told and "cost_us" in told:
            found[text] = (path, told["cost_us"])
        if len(found) == count:
            break
    return list(found.values())


def compare(executable, file, count, runs, draw):
    """Rows of the pairs of a file: its name, and both milliseconds of the model and of the clock."""
    with tempfile.TemporaryDirectory() as folder:
        cuts = segmentations(executable, file, count, draw, pathlib.Path(folder))
        timed = [(cost / 1e3, measured(executable, file, path, runs)) for path, cost in cuts]
    return [(file.stem, *first, *second) for first, second in itertools.combinations(timed, 2)]


def summary(rows):
    """How many of the pairs that differ clearly the model orders as the clock does, and how far it is off."""
    clear = [row for row in rows if max(row[2], row[4]) > CLEAR * min(row[2], row[4])]
    ordered = [row for row in clear if (row[1] < row[3]) == (row[2] < row[4])]
    off = [max(model / clock, clock / model) for row in rows for model, clock in (row[1:3], row[3:5])]
    print(f"{len(rows)} pairs; of {len(clear)} that differ by more than {CLEAR} the model orders {len(ordered)}")
    print(f"model over clock or clock over model: median {statistics.median(off):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("executable")
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--cuts", type=int, default=3, help="segmentations of each file")
    parser.add_argument("--runs", type=int, default=3, help="processes that measure each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw, rows = random.Random(options.seed), []
    print(f"{'graph':28}{'model ms':>10}{'ms':>10}{'model ms':>10}{'ms':>10}")
    for file in options.files:
        for row in compare(options.executable, file, options.cuts, options.runs, draw):
            rows.append(row)
            print(f"{row[0]:28}" + "".join(f"{value:10.2f}" for value in row[1:]), flush=True)
    summary(rows)


if __name__ == "__main__":
    main()
