"""Writes the definitions of the corpus, or those that are named, into a folder; with an executable, plans each and prints
how it is cut: ops, segments, MiB moved, MiB over those that no plan can avoid, seconds of the whole process."""

import argparse
import json
import pathlib
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


def plan(path, executable):
    """A row: how a definition is cut."""
    start = time.perf_counter()
    done = subprocess.run([executable, "explain", path, "--json"], capture_output=True, text=True, check=True)
    seconds, explained = time.perf_counter() - start, json.loads(done.stdout)
    segments = explained["segments"]
    ops = sum(segment["ops"] for segment in segments)
    return f"{path.stem:28}{ops:7}{len(segments):9}{explained['bytes'] / 2**20:10.0f}{explained['traffic_ratio']:9.3f}{seconds:9.2f}"


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
    options = parser.parse_args()
    graphs = chosen(parser, options.names)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.plan:
        print(f"{'graph':28}{'ops':>7}{'segments':>9}{'MiB':>10}{'ratio':>9}{'s':>9}")
    for graph in graphs:
        path = write(graph, options.folder)
        if options.plan:
            print(plan(path, options.plan), flush=True)


if __name__ == "__main__":
    main()
