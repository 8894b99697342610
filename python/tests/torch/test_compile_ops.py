"""Ops of torch in regions: what the table lowers gives eager's values, dtypes and strides, and leaves nothing to eager."""

import pytest
import torch
import torch.nn.functional as F

import ferrofuse.torch
from ferrofuse.torch import backend

X = torch.linspace(-2, 2, 24).reshape(4, 6)
INTS = torch.arange(-12, 12).reshape(4, 6)
IMAGE = torch.linspace(-1, 1, 120).reshape(2, 3, 4, 5)
COLUMNS, ROWS = torch.tensor([0, -1]), torch.tensor([3, 0, 1, -2])
CASES = {
    "unary": (lambda x: x.abs().sqrt() + x.sigmoid() * x.tanh() - torch.erf(x).exp2() + F.silu(x), X),
    "rounding": (lambda x: x.round() + x.floor() * 10 + x.ceil() * 100 + x.trunc() * 1000 + x.sign(), X),
    "comparisons": (lambda x: (x > 0) & (x < 1) | (x == -2) ^ ~(x != 2), X),
    "clamps": (lambda x: x.clamp(-1, 1) + x.clamp(min=0) + x.clamp(max=x.mean()) + x.relu(), X),
    "powers": (lambda x: x**2 + x.abs() ** 0.5 + 2.0**x + x.abs() ** 1.5, X),
    "powers of integers": (lambda x: x**2.0 - (x * 90000) ** 3.0 + (x > 0) ** 2.0 + x**3, INTS),
    "powers by products": (lambda x: x**3 + x**1.0 + x**-1 + x**-2.0 + x.abs() ** -0.5, X),
    "clamps of integers": (lambda x: x.clamp(min=0.5) + x.clamp(-3, 7) + (x > 0).clamp(0, 1) + x.clamp(max=-1.5), INTS),
    "alpha": (lambda x: torch.add(x, x, alpha=2) - torch.sub(x, x, alpha=3) + (1 - x), X),
    "alpha of sizes": (lambda x: torch.add(x, x, alpha=len(x)) - torch.sub(1, x, alpha=len(x)), X),
    "powers of sizes": (lambda x: x ** len(x) + (x > 0) ** len(x), X),
    "where": (lambda x: torch.where(x > 0, x, 0.5) + x.masked_fill(x < -1, 7), X),
    "of integers": (lambda x: x // 3 + x % 3 + torch.div(x, 2, rounding_mode="trunc") + (x & 6) - (x ^ 5), INTS),
    "floored quotients": (lambda x: x // 0.3 + torch.div(x, -0.7, rounding_mode="floor") - x.double() // x.max(), X),
    "shifts": (lambda x: (x << 3) - (x >> 1) + (x << x % 40) + torch.bitwise_right_shift(x, x % 70) + (3 << x % 5), INTS),
    "promotion": (lambda x: x * 2.5 + x / 2 + x.to(torch.float64), INTS),
    "to bool": (lambda x: x.bool().to(torch.int32) + x.to(torch.int64), X),
    "mixed ranks": (lambda x: x.bfloat16() + x.mean() * torch.ones((), dtype=torch.float64), X),
    "sums": (lambda x: x.sum() + x.sum(0) - x.sum(1, keepdim=True) + x.mean((0, 1)) + x.prod(0), X),
    "sums of integers": (lambda x: x.sum(0) + x.sum() + (x > 0).sum(0) + x.sum(1, dtype=torch.int32).sum(), INTS),
    "of no axes": (lambda x: x.sum([]) + x.amax(()) + (x > 1).any([]) + (x - 2).all(()) + x.flip([]) + x[:1].squeeze(()), X),
    "extremes": (lambda x: x.amax(0) + x.amin(1, keepdim=True) + x.max() - x.min(), X),
    "extremes and places": (lambda x: x.max(1).values + x.min(1).indices + x.argmax() + x.argmin(1), X),
    "any and all": (lambda x: (x > 1).any() | (x > -3).all(0) | (x > 0).any(1, keepdim=True), X),
    "variances": (lambda x: x.var() + x.std(0) + torch.var_mean(x, 1, correction=0)[0].sum() + x.std(1).sum(), X),
    "variances of no axes": (lambda x: torch.stack(variances(x.sum()) + variances(x.sum() * torch.nan)), X),
    "scans": (lambda x: x.cumsum(0) + x.cumsum(1).cumprod(1), X),
    "scans of no axes": (lambda x: x.sum().cumsum(-1).sin() + x.max().cumprod(0) * (x[0, 0] > 3).cumsum(0), X),
    "scans of integers": (lambda x: x.cumsum(1) + (x > 0).cumsum(0), INTS),
    "softmax": (lambda x: x.softmax(0) + x.log_softmax(1) + x.logsumexp(1, keepdim=True), X),
    "norms": (lambda x: F.layer_norm(x, (6,)) + F.rms_norm(x, (6,)) + F.normalize(x, dim=0), X),
    "group norm": (lambda x: F.group_norm(x, 3) * 2, IMAGE),
    "views": (lambda x: (x.t().reshape(3, 8) + 1)[None].expand(2, 3, 8).sum(0).unsqueeze(1).squeeze() * 2, X),
    "slices": (lambda x: x[-3:-1, 1:] * x[:2, :5] + x[-1, :5] + x[:, 2][:2, None], X),
    "slices of one": (lambda x: x * x[:1] + x[:, -1:].exp() - x[2:3].t().sum(0) + x[:1].squeeze(0), X),
    "slices beyond the ends": (lambda x: x[-100:100] + x[-3:100].sum() + x[50:].sum() + x[:-50].sum(), X),
    "slices with steps": (lambda x: x[::2] * x[1::2] + x[::3] - x[1:4:2, :] + x[:, 1::5].sum(), X),
    "slices with steps of some": (lambda x: x[..., ::2] * x[..., ::2].cos() + x[..., 2::3].sum() + x[..., 1::4].sum(), IMAGE),
    "written steps": (lambda x: written_steps(x.clone()) * 2, X),
    "splits": (lambda x: sum(x.chunk(3, 1)) + x.split([2, 4], 1)[0] + torch.stack(x.unbind(0)[:2]).sum(0)[:2], X),
    "joins": (lambda x: torch.cat([x, x * 2, x[:1]]) + F.pad(x, (0, 0, 2, 3), value=0.5), X),
    "padded integers": (lambda x: F.pad(x, (1, 0), value=-100.0) * 2 + F.pad(x, (0, 1), value=2.5), INTS),
    "padded bools": (lambda x: F.pad(x > 0, (1, 2)) & F.pad(x > 0, (0, 3), value=2) ^ F.pad(x < 1, (3, 0), value=0.5), X),
    "written slices": (lambda x: written(x.clone()) * 2, X),
    "rolls": (lambda x: x.roll((1, 2), (0, -1)) * 2, IMAGE.permute(0, 2, 3, 1)),
    "rolls of spectra": (lambda x: torch.fft.fftshift(x, 1) * 2, IMAGE.contiguous(memory_format=torch.channels_last)),
    "flips": (lambda x: x.flip(0, 1) + x.roll(2, 1), X),
    "triangles": (lambda x: x.tril(1) * 2 - x.triu(), X),
    "look-ups": (lambda x: x[:, COLUMNS] + x[ROWS][:, :2], X),
    "look-ups of pairs": (lambda x: x[:, :, ROWS[1:], ROWS[1:]] + x[:, 2, ROWS[1:] - 1, ROWS[1:]][:, None], IMAGE),
    "look-ups of axes apart": (lambda x: x[COLUMNS, :, ROWS[:2]] * 2 + x[0, :, ROWS[:2, None], COLUMNS].sum(), IMAGE),
    "look-ups in rectangles": (lambda x: x[:, :, ROWS[:, None], COLUMNS] + x[COLUMNS[:, None], COLUMNS].sum(), IMAGE),
    "average pools": (lambda x: pools(x) + x, IMAGE),
    "average pools channels last": (lambda x: pools(x) + x, IMAGE.contiguous(memory_format=torch.channels_last)),
    "gradients of average pools": (lambda x: pools_backward(x) + x, IMAGE),
    "upsampled": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest") * 2, IMAGE),
    "gathers": (lambda x: x.gather(1, (x.abs() * 2).long()) + x.index_select(0, ROWS.abs()), X),
    "embeddings": (lambda x: F.embedding(x.abs() % 5, X.reshape(6, 4)) * 2 + 1, INTS),
    "one hot": (lambda x: torch.zeros(4, 6).scatter(1, x[:, :1].abs() % 6, 2.0) + 1, INTS),
    "constants": (lambda x: torch.full((6,), 2.0) * torch.arange(6) + torch.zeros_like(x) - torch.ones(4, 1), X),
    "ranges": (lambda x: x * torch.arange(0.5, 11.9, 2.5, dtype=torch.int64) + torch.arange(0.5, 3, 0.5), X[:, :1]),
    "numbers over halves": (lambda x: (0.1 // x.bfloat16()) * 4 + 0.1 // x.half(), X),
    "thresholds of integers": (lambda x: F.threshold(x + 2**24, 2**24 + 1.9, 0.5) * 3, INTS),
    "gradients of dropout": (lambda x: torch.ops.aten.native_dropout_backward(x, x > 0, 2.0) + 1, IMAGE.transpose(0, 3)),
    "channels last": (lambda x: (x * 2 + 1).abs(), IMAGE.contiguous(memory_format=torch.channels_last)),
    "permuted": (lambda x: (x * 2 + 1).permute(2, 0, 1, 3), IMAGE.permute(0, 2, 1, 3)),
    "contiguous": (lambda x: (x.abs() + 1).contiguous(), X.t()),
    "scalars": (lambda x: (x * 2).sum() + x.mean() - x.max(), torch.tensor(2.0)),
    "no elements": (lambda x: x * 2 + 1, X[:0]),
    "views without elements": (lambda x: (x * 2).reshape(0, x.shape[1]) + x.reshape(-1).sin()[:, None], X[:0]),
    "look-ups without elements": (lambda x: x[:, ROWS[1:], ROWS[1:]] * 2 + x[:, ROWS[1:], :, COLUMNS[0]].sum(), IMAGE[:0]),
    "expanded": (lambda x: x * 2 + 1, X[:1].expand(3, 6)),
    "folds of one expanded": (lambda x: x.sum(0) + 1, X[0, 0].expand(4, 6)),
    "every other": (lambda x: x * 2 + 1, X[::2, ::3]),
    "f64": (lambda x: x.sin() * x.exp() + 1, X.double()),
}


def variances(x):
    found = [x.var(), x.var(0, correction=0), x.std(-1, keepdim=True, correction=0), *torch.var_mean(x, correction=0)]
    return [one.nan_to_num(7.0) for one in found]


def written_steps(x):
    x[1::2, ::4] = 0.5
    x[:, 1::3] += 1
    return x


def written(x):
    x[1:3] = 0.5
    x[:, -1] += 1
    return x


def pools(x):
    counted = F.avg_pool2d(x, 3, 1, 1) + F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
    cubes = F.avg_pool3d(x, (1, 2, 2), 1, (0, 1, 1), count_include_pad=False)
    counted = counted + F.avg_pool2d(x, (3,), (1,), (1,))
    return counted + F.avg_pool2d(x, (1, 5), 1, (0, 2), divisor_override=7) + cubes[..., 1:, :-1]


def pools_backward(x):
    backward = torch.ops.aten.avg_pool2d_backward
    counted = backward(x, x, [3, 3], [1, 1], [1, 1], False, False, None)
    larger = F.pad(x, (0, 0, 1, 1))
    return counted + backward(x, larger, [3, 3], [1, 1], [0, 1], False, True, None)[:, :, 1:-1]


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", CASES)
def test_ops_give_what_eager_gives(name, dynamic):
    function, x = CASES[name]
    run = torch.compile(function, backend=backend, dynamic=dynamic, options={"min_ops": 1})
    got, expected = run(x), function(x)
    torch.testing.assert_close(got, expected, rtol=2e-6, atol=2e-6)
    assert got.stride() == expected.stride() and got.data_ptr() != x.data_ptr() or not x.numel()


@pytest.mark.parametrize("name", CASES)
def test_ops_are_fused(name):
    function, x = CASES[name]
    report = ferrofuse.torch.explain(function, x, options={"min_ops": 1})
    assert report.counts()[0] > 0 and not any(graph.eager for graph in report.graphs), report


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.stack([x <= 0.3, x > 0.7, x == 0.3, x != 3.3, x < 2049, x == torch.tensor(0.3)]),
        lambda x: torch.stack([x - 0.3, 0.3 - x, x % 0.3, 0.3 % x, torch.fmod(x, 0.7), x * 0.3]),
        lambda x: F.hardshrink(x, 0.3),
    ],
    ids=["comparisons", "sums and remainders", "hardshrink"],
)
def test_numbers_are_rounded_to_half_types(function, dtype):
    x = torch.tensor([0.1, 0.3, 0.7, 3.3, -0.1, 2048], dtype=dtype)
    got = torch.compile(function, backend=backend, options={"min_ops": 1})(x)
    torch.testing.assert_close(got, function(x), rtol=0, atol=0, equal_nan=True)


def test_sums_of_bools_take_terms_by_the_truth_of_their_factor():
    x, y = torch.tensor([True, True, False]), torch.tensor([True, False, False])
    for alpha in (-1, 0, 1):
        function = lambda x, y: torch.add(x, y, alpha=alpha)  # noqa: B023, E731
        assert torch.equal(torch.compile(function, backend=backend, options={"min_ops": 1})(x, y), function(x, y))


def test_special_values_are_eagers():
    special = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e-40, 1.5, -2.5, 0.5, 3e38])
    unary = "sign relu round trunc sqrt rsqrt exp log sin tanh sigmoid isnan isinf reciprocal expm1 frac exp2".split()
    binary = "maximum minimum fmod remainder atan2 pow hypot eq lt logical_and copysign".split()

    def all_of(x, y):
        folds = [x.amax(), x.amin(), x.argmax(), x.argmin(), x.max(0).indices, x.cumsum(0), x.clamp(-1, 1)]
        folds.append(torch.div(x[:, None], x, rounding_mode="floor"))
        return [getattr(torch, op)(x) for op in unary] + [getattr(torch, op)(x, y) for op in binary] + folds

    got = torch.compile(all_of, backend=backend)(special, special.flip(0))
    torch.testing.assert_close(got, all_of(special, special.flip(0)), rtol=2e-6, atol=1e-38, equal_nan=True)


@pytest.mark.parametrize(
    "function, op, reason",
    [
        (lambda x: x[::2] * 2 + 1, "", ""),
        (lambda x: F.avg_pool2d(x[None], 2) + 1, "aten.avg_pool2d.default", "windows more than one step apart"),
        (lambda x: x.var(0, correction=0.5) + 1, "aten.var.correction", "a correction that is no whole number"),
        (lambda x: torch.var_mean(x, 0, correction=0.5)[0] + 1, "aten.var_mean.correction", "a correction that is no whole number"),
        (lambda x: x.max().gather(0, ROWS[1] + 0) + 1, "aten.gather.default", "an axis of a tensor without axes"),
        (lambda x: x.bfloat16().nextafter(x.bfloat16()) + 1, "aten.nextafter.default", "numbers of a half type, computed as floats"),
        (lambda x: x.as_strided((4, 3), (6, 2)) + 1, "", ""),  # a view that eager makes
        (lambda x: x.abs().to(torch.uint16).float() + 1, "prims.convert_element_type.default", "the dtype torch.uint16"),
        (lambda x: torch.digamma(x.abs() + 1) + 1, "aten.digamma.default", "no row in the table of ops"),
    ],
)
def test_ops_left_to_eager_say_why(function, op, reason):
    report = ferrofuse.torch.explain(function, X, options={"min_ops": 1})
    left = {what for graph in report.graphs for what in graph.eager}
    assert ((op, reason) in left) if op else not left, report
    torch.testing.assert_close(torch.compile(function, backend=backend)(X), function(X))


@pytest.mark.parametrize(
    "function, index",
    [
        (lambda table, index: F.embedding(index, table) * 2 + 1, [4]),
        (lambda table, index: table[ROWS[0], index] * 2 + 1, [6]),
        (lambda table, index: table.abs().scatter(1, index[:, None].expand(4, 1), 2.0) + 1, [6]),
        (lambda table, index: table.abs().scatter(1, index[:, None].expand(4, 1), 2.0) + 1, [-1]),
        (lambda table, index: table[ROWS[:2], index] * 2 + 1, [0, -7]),
        (lambda table, index: table[ROWS[:2, None], index] * 2 + 1, [0, 6]),
    ],
)
def test_an_index_out_of_range_is_an_error(function, index):
    run = torch.compile(function, backend=backend)
    with pytest.raises(IndexError, match="index"):
        run(X, torch.tensor(index))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[ROWS[1:]] * 2,
        lambda x: x[:, ROWS[1:]].exp() + x[ROWS[1:], ROWS[1:]].sum(),
        lambda x: x[ROWS[1:, None], COLUMNS].exp() + x.gather(1, ROWS[None, 1:].abs().expand(4, 3))[:3, :2],
        lambda x: F.interpolate(x[None, None], scale_factor=3, mode="nearest").sin(),
        lambda x: x[None][:0, ROWS[1:], ROWS[1:]].sin() + x[ROWS[1], ROWS[1]],
        lambda x: x[:, ::2] * x[:, 1::2],
    ],
)
def test_gradients_of_look_ups_are_eagers(function):
    x = X.clone().requires_grad_()
    gradients = [torch.autograd.grad(run(x).square().sum(), x) for run in (torch.compile(function, backend=backend), function)]
    torch.testing.assert_close(*gradients, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    "x, widths",
    [
        (IMAGE[0], (2, 4)),
        (IMAGE, (-1, 4, 1, -2)),
        (IMAGE.contiguous(memory_format=torch.channels_last), (1, 2, 2, 1)),
        (IMAGE[None], (1, 2, 0, 3, 2, 0)),
    ],
)
def test_gradients_of_reflections_are_eagers(x, widths, dynamic):
    def padded(x):
        return (F.pad(x, widths, mode="reflect") * 2).square().sum()

    x = x.clone().requires_grad_()
    run = torch.compile(padded, backend=backend, dynamic=dynamic)
    [got], [expected] = (torch.autograd.grad(function(x), x) for function in (run, padded))
    torch.testing.assert_close(got, expected)
    assert got.stride() == expected.stride()


def test_gradients_of_reflections_are_fused():
    x = IMAGE.clone().requires_grad_()
    report = ferrofuse.torch.explain(lambda x: F.pad(x, (3, 0, 1, 2), mode="reflect").sin(), x, options={"min_ops": 1})
    assert len(report.graphs) == 2 and not any(graph.eager for graph in report.graphs), report


def test_a_gradient_of_zeros_is_scattered_in_place_and_an_input_is_not():
    def scattered(x):
        zeros = torch.zeros(4, 6)
        return zeros.index_put((ROWS,), x * 2, accumulate=True), x.index_put((ROWS[1:],), x[:3] + 1)

    (run := torch.compile(scattered, backend=backend))(X)
    before = X.clone()
    torch.testing.assert_close(run(X), scattered(X))
    assert torch.equal(X, before)


def test_expanded_tensors_are_not_scattered_in_place():
    def scattered(x):
        repeated = torch.zeros(()).expand(4, 6)
        return repeated.index_put((ROWS,), x * 2), repeated.index_add(0, ROWS[:1].abs(), x[:1] + 1)

    torch.testing.assert_close(torch.compile(scattered, backend=backend)(X), scattered(X))


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.t(), lambda x: x[1:].view(-1)])
def test_outputs_written_to_inputs_are_the_inputs(view):
    def written(x):
        return view(x.add_(1)), x.mul_(2).sum(0)

    given, expected = X.clone(), X.clone()
    got, other = torch.compile(written, backend=backend)(given), written(expected)
    torch.testing.assert_close([*got, given], [*other, expected])
    assert got[0].untyped_storage().data_ptr() == given.untyped_storage().data_ptr()


def test_inputs_whose_sign_is_not_carried_out_are_written_to():
    run = torch.compile(lambda x: x.mul_(2).add_(1), backend=backend)
    for view, expected in ((lambda z: z.imag, 5j), (lambda z: z.conj().imag, 3j)):
        z = torch.full((3,), 2j)
        run(view(z))
        assert torch.equal(z, torch.full((3,), expected))


def test_outputs_copied_to_permuted_inputs_have_their_own_strides():
    def written(x):
        y = x.contiguous().sin()
        x.copy_(y)
        return y, torch.sort(y.view(-1)).values

    given, expected = X.clone().t(), X.clone().t()
    got, eager = torch.compile(written, backend=backend)(given), written(expected)
    torch.testing.assert_close([*got, given], [*eager, expected])
    assert got[0].stride() == eager[0].stride() and given.stride() == expected.stride()


def test_equal_calls_of_as_strided_may_begin_elsewhere():
    memory = torch.arange(20.0)
    for start in (4, 0, 8):
        torch._dynamo.reset()
        run = torch.compile(lambda x: torch.as_strided(x, (4,), (1,), 4) * 2 + 1, backend=backend)
        torch.testing.assert_close(run(memory[start : start + 4]), memory[4:8] * 2 + 1)


def test_floats_of_integers_have_the_default_dtype():
    def of_integers(n):
        return n.exp() * 1, n.sqrt(), n / 7, n + 0.1, torch.where(n > 2, 0.1, n)

    torch.set_default_dtype(torch.float64)
    try:
        n = torch.arange(1, 5)
        got = torch.compile(of_integers, backend=backend, options={"min_ops": 1})(n)
        torch.testing.assert_close(got, of_integers(n), rtol=1e-14, atol=0)
    finally:
        torch.set_default_dtype(torch.float32)


def test_definitions_are_shared_by_values_of_equal_dtypes_alone():
    def within(n):
        return (n / 7 * 3).floor().to(torch.int64)

    n = torch.arange(1, 2000) * 999983
    try:
        for dtype in (torch.float32, torch.float64):
            torch.set_default_dtype(dtype)
            torch._dynamo.reset()
            assert torch.equal(torch.compile(within, backend=backend)(n), within(n))
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("x", [X[:, :4], X[:, :4].t(), X[0, :1].expand(4, 4)])
def test_sums_at_pairs_of_indices_have_eagers_strides(x):
    def summed(x, values):
        return x.index_put((ROWS, ROWS.flip(0)), values, accumulate=True)

    got, expected = torch.compile(summed, backend=backend)(x, X[1, :4]), summed(x, X[1, :4])
    torch.testing.assert_close(got, expected)
    assert got.stride() == expected.stride()


def test_sums_at_pairs_of_indices_know_their_range():
    def summed(x, index):
        return torch.zeros(4, 6).index_put((ROWS, index), x * 2, accumulate=True)

    run = torch.compile(summed, backend=backend)
    pairs = torch.tensor([0, -6, 5, 0])
    torch.testing.assert_close(run(X[0, :4], pairs), summed(X[0, :4], pairs))
    with pytest.raises((IndexError, RuntimeError), match="index"):
        run(X[0, :4], torch.tensor([0, 6, 0, 0]))
