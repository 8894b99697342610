"""The table of `peers.py` as a chart: a row per workload, the time of each peer as a multiple of ferrofuse's.

    peer_chart.py [TABLE [SVG]] [--allocator kept|default]

TABLE is a file with what `peers.py` printed among other lines, bench/RESULTS.md unless named; SVG is docs/peers.svg unless
named. Measures nothing.
"""

import argparse
import math
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = {"inductor": "torch.compile (Inductor)", "eager": "torch eager", "jax": "JAX"}
ROW = re.compile(r"(\w+) +(\d+x\d+) +(default|kept) +[\d.]+ +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +[\d.]+")
STYLE = (
    "text{font:12px sans-serif;fill:#1b2430}line{stroke:#c3ccd8}.one{stroke:#1b2430;stroke-width:2}"
    ".inductor{fill:#d1600a}.eager{fill:#6b7f99}.jax{fill:#2b8a57}"
    "@media (prefers-color-scheme:dark){text{fill:#e8edf3}line{stroke:#3d4a5a}.one{stroke:#e8edf3}"
    ".inductor{fill:#ff9a4d}.eager{fill:#9fb2cc}.jax{fill:#62c991}}"
)
LEFT, TOP, STEP, OCTAVE = 270, 62, 24, 72


def rows(text, allocator):
    """Of each row of that allocator the name of the workload, and the time of each peer over ours."""
    found = [match.groups() for match in map(ROW.fullmatch, text.splitlines()) if match]
    return [
        (name, {peer: float(theirs) / float(ours) for peer, theirs in zip(PEERS, times, strict=True)})
        for name, _, kept, ours, *times in found
        if kept == allocator
    ]


def mark(peer, x, y):
    """What stands for a peer: a circle, a square, a triangle."""
    if peer == "inductor":
        return f'<circle class="{peer}" cx="{x:.1f}" cy="{y}" r="5"/>'
    if peer == "eager":
        return f'<rect class="{peer}" x="{x - 4.5:.1f}" y="{y - 4.5}" width="9" height="9"/>'
    return f'<path class="{peer}" d="M{x:.1f} {y - 6}l6 10.5h-12z"/>'


def svg(rows):
    """The chart, over a logarithmic axis that begins at 1 or below the fastest peer."""
    times = [time for _, times in rows for time in times.values()]
    first, last = math.floor(math.log2(min(1, *times))), math.ceil(math.log2(max(times)))
    bottom, right = TOP + STEP * len(rows), LEFT + OCTAVE * (last - first)

    def across(time):
        return LEFT + OCTAVE * (math.log2(time) - first)

    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right + 24}" height="{bottom + 12}" '
        f'viewBox="0 0 {right + 24} {bottom + 12}" role="img" aria-label="time over ferrofuse\'s">\n<style>{STYLE}</style>'
    )
    yield f'<text x="{LEFT}" y="16">time over ferrofuse\'s (1: as fast, right: slower)</text>'
    for place, (peer, name) in enumerate(PEERS.items()):
        y = 14 + 18 * place
        yield f'{mark(peer, 12, y)}<text x="24" y="{y + 4}">{name}</text>'
    for power in range(first, last + 1):
        x, label = LEFT + OCTAVE * (power - first), f"{2.0**power:g}"
        kind = ' class="one"' if power == 0 else ""
        yield f'<line{kind} x1="{x}" y1="{TOP - 12}" x2="{x}" y2="{bottom}"/>'
        yield f'<text x="{x}" y="{TOP - 18}" text-anchor="middle">{label}</text>'
    for place, (name, times) in enumerate(rows):
        y = TOP + STEP * place + STEP // 2
        yield f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{name}</text>'
        yield "".join(mark(peer, across(time), y) for peer, time in times.items())
    yield "</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", type=pathlib.Path, default=ROOT / "bench" / "RESULTS.md", metavar="TABLE")
    parser.add_argument("svg", nargs="?", type=pathlib.Path, default=ROOT / "docs" / "peers.svg", metavar="SVG")
    parser.add_argument("--allocator", choices=["default", "kept"], default="kept")
    options = parser.parse_args()
    found = rows(options.table.read_text(), options.allocator)
    if not found:
        parser.error(f"{options.table} has no row of peers.py for the allocator `{options.allocator}`")
    options.svg.write_text("\n".join(svg(found)))


if __name__ == "__main__":
    main()
