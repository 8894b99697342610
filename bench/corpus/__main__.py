"""Writes the definitions of the corpus, or those that are named, into a folder; with an executable, plans each and prints
how it is cut: ops, segments, MiB moved, MiB over those that no plan can avoid, how much faster the bound says a plan might
be at most in percent, seconds of the whole process; and in the end the mean of these gaps. Plans are for a machine with
AVX-512, or for `--target`; with FERROFUSE_FACTS=none for the default one of its kind."""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

from corpus import GRAPHS
from corpus.writer import Writer


def write(graph, folder):
    """The definition file of a graph."""
    writer = Writer(graph.__name__, graph.__doc__.strip().splitlines()[0])
    graph(writer)
    path = folder / f"{graph.__name__}.py"
    path.write_text(writer.text())
    return path


def plan(path, executable, target):
    """A row, how a definition is cut; and the gap in percent."""
    start = time.perf_counter()
    command = [executable, "explain", path, "--json", "--target", target]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, explained = time.perf_counter() - start, json.loads(done.stdout)
    segments, gap = explained["segments"], 100 * explained["gap"]
    ops, mib = sum(segment["ops"] for segment in segments), explained["bytes"] / 2**20
    row = f"{path.stem:28}{ops:7}{len(segments):9}{mib:10.0f}{explained['traffic_ratio']:9.3f}{gap:7.1f}{seconds:9.2f}"
    return row, gap


def chosen(parser, names):
    """The graphs of these names, or all."""
    known = {graph.__name__: graph for graph in GRAPHS}
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no graph is named {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in names or known]


def main():
    parser = argparse.ArgumentParser(prog="python3 -m corpus", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--plan", metavar="FERROFUSE", help="the executable that plans each")
    parser.add_argument("--target", default="avx512", help="the machine to plan for, as of `ferrofuse explain`")
    options = parser.parse_args()
    graphs = chosen(parser, options.names)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.plan:
        print(f"{'graph':28}{'ops':>7}{'segments':>9}{'MiB':>10}{'ratio':>9}{'gap':>7}{'s':>9}")
    gaps = []
    for graph in graphs:
        path = write(graph, options.folder)
        if options.plan:
            row, gap = plan(path, options.plan, options.target)
            print(row, flush=True)
            gaps.append(gap)
    if gaps:
        print(f"mean gap {statistics.mean(gaps):.2f} %, {sum(gap < 0.1 for gap in gaps)} of {len(gaps)} below 0.1 %")


if __name__ == "__main__":
    main()
