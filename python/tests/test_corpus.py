"""The corpus of `bench/corpus`: every graph is a definition, and drawn graphs are the same at each writing."""

import subprocess
import sys
from pathlib import Path

import pytest

import ferrofuse

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from corpus import GRAPHS  # noqa: E402
from corpus.writer import Writer  # noqa: E402

LONG = 3000  # lines: longer definitions are read by `python3 -m corpus FOLDER --plan`


def written(graph):
    writer = Writer(graph.__name__, graph.__doc__.strip().splitlines()[0])
    graph(writer)
    return writer.text()


def test_there_are_at_least_forty_graphs_of_different_names():
    names = [graph.__name__ for graph in GRAPHS]
    assert len(names) >= 40 and len(set(names)) == len(names)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_every_graph_is_a_definition_with_as_many_inputs_as_it_lists(graph):
    text = written(graph)
    assert text == written(graph)
    if text.count("\n") > LONG:
        pytest.skip("long")
    names = {"DataType": ferrofuse.DataType, "FusionDefinition": ferrofuse.FusionDefinition}
    exec(text.partition("\n\ninputs = [")[0], names)
    with ferrofuse.FusionDefinition() as fd:
        names[graph.__name__](fd)
    listed = text.partition("inputs = [")[2].strip().count("\n")
    assert listed == str(fd).count("define_tensor")


def test_an_unknown_name_is_rejected(tmp_path):
    command = [sys.executable, "-m", "corpus", tmp_path, "no_such_graph"]
    done = subprocess.run(command, cwd=ROOT / "bench", capture_output=True, text=True)
    assert done.returncode == 2
    assert "no graph is named no_such_graph; there are layer_norm, " in done.stderr
    assert not list(tmp_path.iterdir())
