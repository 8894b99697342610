"""Groups, patterns and lambdas take part in decisions, and `explain` shows them."""

import pytest

from ferrofuse import DataType, FusionDefinition

EACH = "each state is a fold of its own: "
WHOLE = "the lambda combines: "


def lines(fd, kind):
    """What the explanation says of tasks of a kind."""
    return [line for line in str(fd.explain()).splitlines() if line.startswith(kind)]


def segments(fd):
    return [segment["outputs"][0]["name"] for segment in fd.explain().to_dict()["segments"]]


def branches(**asked):
    """Rows that are rescaled, and sums of columns of them; a group is around all that comes behind the rows."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.Float)
        y = fd.ops.exp(x)
        with fd.group("tail", **asked):
            fd.add_output(fd.ops.sum(y, dims=[0]))
            fd.add_output(fd.ops.sum(fd.ops.mul(y, y), dims=[1]))
    return fd


def test_a_group_for_a_device_or_a_stream_has_segments_of_its_own():
    assert len(segments(branches())) == 1 and lines(branches(), "group") == ["group tail: in seg0"]
    for asked, said in (({"device": "cuda:1"}, "device cuda:1"), ({"stream": 3}, "stream 3")):
        fd = branches(**asked)
        assert len(segments(fd)) > 1
        [line] = lines(fd, "group")
        assert line.startswith(f"group tail ({said}): in seg1")
        [reason] = {edge["reason"] for edge in fd.explain().to_dict()["edges"] if edge["from"] == "seg0"}
        assert said.split()[-1] in reason


def cast_once(stay):
    """A cast that two segments need, which computing it twice moves fewer bytes than keeping."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
        with fd.group("once", stay=stay):
            y = fd.ops.cast(x, dtype=DataType.Float)
        rows = fd.ops.sum(y, dims=[1], keepdim=True)
        columns = fd.ops.sum(fd.ops.div(y, rows), dims=[0], keepdim=True)
        fd.add_output(fd.ops.mul(y, columns))
    return fd


def test_a_group_that_stays_is_computed_by_one_segment():
    assert lines(cast_once(stay=False), "group") == ["group once: in seg0, seg1"]
    assert lines(cast_once(stay=True), "group") == ["group once (stays in one segment): in seg0"]


def product(features):
    with FusionDefinition() as fd:
        x, w = (fd.define_tensor(shape=[-1, features], contiguity=True, dtype=DataType.Float) for _ in range(2))
        fd.add_output(fd.ops.relu(fd.ops.linear(x, w)))
    return fd


@pytest.mark.parametrize(
    "features, who",
    [(8, "a kernel multiplies: "), (768, "a library multiplies: only shallow products are taken apart")],
)
def test_a_pattern_is_multiplied_by_a_kernel_or_a_library(features, who):
    fd = product(features)
    [line] = lines(fd, "pattern linear")
    assert line.startswith("pattern linear -> tv2: in seg0") and "; " + who in line
    by_library = [segment for segment in fd.explain().to_dict()["segments"] if "library" in segment]
    assert len(by_library) == (features == 768)


def log_sum_exp(columns, combine, rows=4096):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[rows, columns], contiguity=True, dtype=DataType.Float)
        ones = fd.ops.full(shape=[rows, columns], fill_value=1.0, dtype=DataType.Float)
        largest, total = fd.ops.fold(
            [x, ones], lambda a, s, b, t: combine(fd, a, s, b, t), init=[-3e38, 0.0], dims=[1]
        )
        fd.add_output(largest + fd.ops.log(total))
    return fd


def both(fd, a, s, b, t):
    m = fd.ops.maximum(a, b)
    return [m, s * fd.ops.exp(a - m) + t * fd.ops.exp(b - m)]


def smaller(fd, a, s, b, t):
    larger, rest = fd.ops.where(a > b, s, t), fd.ops.where(a > b, t, s)
    return [fd.ops.maximum(a, b), larger + rest * fd.ops.exp(fd.ops.minimum(a, b) - fd.ops.maximum(a, b))]


def guarded(fd, a, s, b, t):
    m = fd.ops.maximum(a, b)
    factors = [fd.ops.where(x == m, 1.0, fd.ops.exp(x - m)) for x in (a, b)]
    return [m, s * factors[0] + t * factors[1]]


@pytest.mark.parametrize("combine", [both, smaller, guarded])
def test_a_lambda_is_a_fold_for_each_state_where_rows_stay_in_a_cache(combine):
    [line] = lines(log_sum_exp(4096, combine), "lambda of fold")
    assert "in seg0; " + EACH in line


def test_a_lambda_that_needs_one_exponential_combines_where_rows_are_read_twice_from_memory():
    [line] = lines(log_sum_exp(1 << 26, smaller, rows=8), "lambda of fold")
    assert "in seg0; " + WHOLE in line


def test_a_lambda_that_rescales_nothing_is_left_whole():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.Float)
        largest, total = fd.ops.fold(
            [x, x], lambda a, s, b, t: [fd.ops.maximum(a, b), s + t], init=[-3e38, 0.0], dims=[1]
        )
        fd.add_output(largest + total)
    [line] = lines(fd, "lambda of fold")
    assert line.endswith(": in seg0")
