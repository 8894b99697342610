"""Slices and indices that count from the end, by numbers that are not known; memory that begins elsewhere."""

import pytest
import torch
from torch import nn

import ferrofuse.torch


def compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, backend=ferrofuse.torch.backend, **options)


def written(y, n):
    y = y * 2
    y[-n:] = 0
    return y + 1


def replaced(y, n):
    y = y * 2
    y[-n] = 0
    return y + 1


FROM_END = {
    "the last": lambda x, n: (x * 2)[-n:] + 1,
    "one of the last": lambda x, n: (x * 2)[-n] * 3 + 1,
    "some before the last": lambda x, n: (x * 2)[-n - 5 : -n] + 1,
    "of rows": lambda x, n: (x.reshape(2, -1) * 2)[..., -n - 1 : -n] + 1,
    "by a difference": lambda x, n: (x * 2)[n - x.shape[0]] + 1,
    "without the last": lambda x, n: (x * 2)[:-n] + 1,
    "written": written,
    "one written": replaced,
    "scattered": lambda x, n: torch.slice_scatter(x * 2, torch.zeros(3), 0, -n - 3, -n) + 1,
    "one scattered": lambda x, n: torch.select_scatter(x * 2, torch.zeros(()), 0, -n) + 1,
}


@pytest.mark.parametrize("name", FROM_END)
@pytest.mark.parametrize("dynamic", [None, True])
def test_starts_count_from_the_end(name, dynamic):
    function, x = FROM_END[name], torch.arange(20.0)
    run = compiled(function, dynamic=dynamic, fullgraph=True)
    for n in (2, 3, 5):
        assert torch.equal(run(x, n), function(x, n)), n


def test_a_cache_is_written_at_its_end():
    def step(cache, new):
        cache[-new.shape[0] :] = new * 2
        return cache.sum() + 1

    run = compiled(step)
    for length in (2, 3, 4):
        caches = [torch.arange(8.0), torch.arange(8.0)]
        new = torch.randn(length)
        torch.testing.assert_close(run(caches[0], new), step(caches[1], new))
        assert torch.equal(*caches)


def test_gradients_of_the_last_columns():
    def loss(x, n):
        return (x[:, -n:].sin() * 2).sum()

    run = compiled(loss)
    for n in (2, 3, 4):
        x = torch.randn(3, 6, requires_grad=True)
        [got], [expected] = torch.autograd.grad(run(x, n), x), torch.autograd.grad(loss(x, n), x)
        torch.testing.assert_close(got, expected)


@torch._dynamo.config.patch(capture_scalar_outputs=True)
def test_an_index_that_only_the_data_tell_may_be_negative():
    def function(x, index):
        number = index.item()
        torch._check(number > -5)
        torch._check(number < 5)
        return (x * 2)[number] * 3 + 1

    run, x = compiled(function), torch.arange(10.0)
    for number in (2, -2):
        assert run(x, torch.tensor(number)) == function(x, torch.tensor(number))


@torch._dynamo.config.patch(capture_scalar_outputs=True)
def test_a_stride_that_only_the_data_tell():
    def function(x):
        number = x.sum().item()
        torch._check(number >= 2)
        torch._check(number < 100)
        return (torch.ones(4, number) * 2)[:, 0] * 2 + 1

    assert compiled(function)(torch.tensor([1, 2])).tolist() == [5.0] * 4


@pytest.mark.parametrize("offset", [0, 4])
def test_memory_may_begin_elsewhere(offset):
    def function(x):
        return torch.as_strided(x, (2, 2), (2, 1), offset) * 2 + 1

    run, memory = compiled(function), torch.arange(8.0)
    for x in (memory[:4], memory[4:], memory[:4]):
        assert torch.equal(run(x), function(x))


def test_shuffled_images_keep_their_layout():
    x = torch.randn(2, 4, 3, 3)
    for image in (x, x.to(memory_format=torch.channels_last)):
        got = compiled(lambda x: nn.functional.channel_shuffle(x, 2) + 1)(image)
        expected = nn.functional.channel_shuffle(image, 2) + 1
        assert torch.equal(got, expected) and got.stride() == expected.stride()


@pytest.mark.parametrize("training", [False, True])
def test_eager_draws_in_the_layout_of_eager(training):
    convolution = nn.Conv2d(4, 8, 3, groups=4).requires_grad_(training)

    def function(x):
        return nn.functional.dropout(nn.functional.relu(convolution(x)), 0.5) * 2

    run, x = compiled(function, options={"fallback_random": True}), torch.randn(2, 4, 7, 7)
    results = []
    for each in (run, function):
        torch.manual_seed(7)
        results.append(each(x))
    torch.testing.assert_close(*results)
