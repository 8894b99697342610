"""Tests run in a random order, which the header tells: `--order SEED` runs them in that order again."""

import os
import random

import pytest


def pytest_addoption(parser):
    parser.addoption("--order", type=int, default=None, help="the seed of the order of tests")


def pytest_configure(config):
    os.environ.setdefault("FERROFUSE_FACTS", "none")  # what was measured of this machine changes what is decided
    if config.getoption("order") is None:
        # Processes that share the tests (`-n 2`) have one order.
        of_all = getattr(config, "workerinput", {})
        config.option.order = of_all.get("order", random.randrange(10**6))


# Called by pytest-xdist, where that is installed.
@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["order"] = node.config.getoption("order")


def pytest_report_header(config):
    return f"order of tests: --order {config.getoption('order')}"


def pytest_collection_modifyitems(config, items):
    random.Random(config.getoption("order")).shuffle(items)
