"""Tests run in a random order, which the header tells: `--order SEED` runs them in that order again."""

import random


def pytest_addoption(parser):
    parser.addoption("--order", type=int, default=None, help="the seed of the order of tests")


def pytest_configure(config):
    if config.getoption("order") is None:
        config.option.order = random.randrange(10**6)


def pytest_report_header(config):
    return f"order of tests: --order {config.getoption('order')}"


def pytest_collection_modifyitems(config, items):
    random.Random(config.getoption("order")).shuffle(items)
