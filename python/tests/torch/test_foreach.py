"""Ops on lists of tensors beside eager: each overload that is taken apart, by what its schema asks for."""

import pytest
import torch

import ferrofuse.torch
from ferrofuse.torch import backend, foreach

TABLE = {str(op): op for op in foreach.table()}
# An argument by its type; those by name are options, whose defaults would hide that they are lost.
BY_TYPE = {
    "List[Tensor]": lambda: [torch.rand(3, 4) * 0.8 + 0.1 for _ in range(2)],
    "Tensor": lambda: torch.tensor(1.5),
    "number": lambda: 0.5,
    "List[number]": lambda: [0.25, 0.75],
}
BY_NAME = {"alpha": 3, "value": 3, "ord": 1, "dtype": torch.float64, "non_blocking": True}


def given(op, options):
    """Arguments and keywords of an op: without what has a default, or with all of it."""
    positional, keywords = [], {}
    for argument in op._schema.arguments:
        value = BY_NAME[argument.name] if argument.has_default_value() else BY_TYPE[str(argument.type)]()
        if options or not argument.has_default_value():
            positional += [] if argument.kwarg_only else [value]
            keywords.update({argument.name: value} if argument.kwarg_only else {})
    return positional, keywords


@pytest.mark.parametrize("options", [False, True])
@pytest.mark.parametrize("name", TABLE)
def test_each_overload_gives_what_eager_gives(name, options):
    op = TABLE[name]
    torch.manual_seed(0)
    positional, keywords = given(op, options)
    made, expected = foreach.table()[op](*positional, **keywords), op(*positional, **keywords)
    torch.testing.assert_close(list(made), list(expected))


@pytest.mark.parametrize("bound", [1.0, [1.0, 2.0]])
@pytest.mark.parametrize("op", [torch._foreach_maximum, torch._foreach_minimum])
def test_the_larger_and_the_smaller_of_tensors_and_numbers_are_fused(op, bound):
    given = [torch.tensor([0.5, float("nan"), 3.0]), torch.tensor([5.0, -1.0, 1.5])]
    report = ferrofuse.torch.explain(lambda *xs: [x * 2 for x in op(xs, bound)], *given)
    [graph] = report.graphs
    assert len(graph.regions) == 1 and not graph.eager
    made = torch.compile(lambda *xs: op(xs, bound), backend=backend)(*given)
    torch.testing.assert_close(list(made), list(op(given, bound)), equal_nan=True)


def test_asgd_of_lists_compiles():
    steps = []
    for run in (lambda optimizer: optimizer.step, lambda optimizer: torch.compile(optimizer.step, backend=backend)):
        parameters = [torch.nn.Parameter(torch.linspace(-1, 1, 6).reshape(2, 3)), torch.nn.Parameter(torch.ones(4))]
        optimizer = torch.optim.ASGD(parameters, foreach=True, capturable=len(steps) == 1)  # eager: on GPUs alone
        for parameter in parameters:
            parameter.grad = parameter.detach() * 0.5 + 1
        run(optimizer)()
        steps.append([parameter.detach() for parameter in parameters])
    torch.testing.assert_close(*steps)
