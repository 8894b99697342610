"""A process that installed and uninstalled beside one that never did: the same modules, attributes and behaviour."""

import json
import subprocess
import sys

import pytest

PLAIN = """
import json, sys, tempfile, types

import torch
import thunder, thunder.examine, thunder.executors.nvfuserex, thunder.core.rematerialization


def use():
    jitted = thunder.jit(lambda x: torch.exp(x) + torch.sin(x))
    x = torch.ones(4, 4)
    torch.testing.assert_close(jitted(x), torch.exp(x) + torch.sin(x))
    return "nvFusion" in str(thunder.last_traces(jitted)[-1])


def shown(value):
    \"\"\"What an attribute is, in words that are the same in every process.\"\"\"
    kind = type(value).__qualname__
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return f"{kind} {value.__module__}.{value.__qualname__}"
    return f"{kind} {value!r}" if isinstance(value, bool) else kind


def report(fused):
    ours = ("ferrofuse", "numpy", "ml_dtypes", "__main__", "__mp_main__")
    table = {name: module for name, module in list(sys.modules.items()) if name.split(".")[0] not in ours}
    attributes = {}
    for name, module in table.items():
        if name.split(".")[0] in ("torch", "thunder") and isinstance(module, types.ModuleType):
            attributes.update({f"{name}.{key}": shown(value) for key, value in list(vars(module).items())})
    found = {"modules": sorted(table), "attributes": attributes, "fused": fused}
    found["executors"] = [executor.name for executor in thunder.extend.get_default_executors()]
    found["known"] = sorted(map(str, thunder.extend._executor_map))
    found["finders"] = [getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path]
    found["path"] = [folder for folder in sys.path if not folder.startswith(tempfile.gettempdir() + "/tmp")]
    found["version"] = str(thunder.executors.nvfuserex.nvfuser_version())
    found["executor"] = str(thunder.nvfuser_executor)
    print(json.dumps(found))
"""

UNINSTALLED = """
import ferrofuse.compat

ferrofuse.compat.install(device="cpu")
import nvfuser_direct
""" + PLAIN + """
assert use()
ferrofuse.compat.uninstall()
try:
    import nvfuser_direct
except ModuleNotFoundError as error:
    assert str(error) == "No module named 'nvfuser_direct'"
else:
    raise AssertionError("nvfuser_direct is found")
"""


def reported(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def plain():
    return reported(PLAIN + "report(use())")


def test_after_uninstall_a_process_is_as_one_that_never_installed(plain):
    after = reported(UNINSTALLED + "report(use())")
    assert plain["fused"] is False and "nvfuser" not in plain["executors"]
    for what in ("fused", "executors", "known", "finders", "path", "version", "executor", "modules"):
        assert after[what] == plain[what], what
    before, now = plain["attributes"], after["attributes"]
    assert [name for name in {*before, *now} if before.get(name) != now.get(name)] == []
