"""What `install(device="cpu")` changes in Thunder and torch, and that `uninstall` leaves none of it."""

import importlib
import sys
import types

import ferrofuse.compat
import pytest
import thunder
import torch
from ferrofuse.compat import thunder as of_thunder
from ferrofuse.compat.patches import Insertion


@pytest.fixture
def as_it_was():
    ferrofuse.compat.uninstall()
    yield
    ferrofuse.compat.install(device="cpu")


def attributes():
    """The attributes of all modules of Thunder, torch and ours, and of Thunder's classes."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("thunder", "torch", "ferrofuse") and isinstance(module, types.ModuleType):
            found[name] = dict(vars(module))
            for one in list(vars(module).values()):
                if isinstance(one, type) and one.__module__.split(".")[0] == "thunder":
                    found[f"{one.__module__}.{one.__qualname__}"] = dict(vars(one))
    return {(owner, name): id(value) for owner, items in found.items() for name, value in items.items()}


def patched():
    """What stands in Thunder where `install` puts something else, but for what comes with the executor."""
    patches = [one for one in (*of_thunder.DETECTION, *of_thunder.EXECUTION) if not isinstance(one, Insertion)]
    wanted = [one for one in patches if one.module != of_thunder.EXECUTOR]
    return {(one.module, one.name): one.current() for one in wanted}


def registries():
    from thunder import extend

    return (
        [executor.name for executor in extend._default_executors],
        sorted(map(str, extend._executor_map)),
        [executor.name for executor in extend._always_executors],
    )


def fused(x):
    return torch.exp(x) + torch.sin(x)


def test_nothing_is_left(as_it_was):
    modules, before, known = dict(sys.modules), attributes(), registries()
    ferrofuse.compat.install(device="cpu")
    assert "nvfuser" in registries()[0] and registries()[0].index("nvfuser") >= 0
    assert of_thunder.EXECUTOR in sys.modules and "nvfuser_direct" in sys.modules
    ferrofuse.compat.uninstall()
    assert dict(sys.modules) == modules
    assert attributes() == before
    assert registries() == known and "nvfuser" not in known[0]


def test_nothing_is_left_after_use_either(as_it_was):
    before = patched()
    ferrofuse.compat.install(device="cpu")
    during = patched()
    assert [name for name in before if before[name] is during[name]] == []
    jitted = thunder.jit(fused)
    x = torch.randn(4, 4)
    torch.testing.assert_close(jitted(x), fused(x))
    assert "nvFusion0" in str(thunder.last_traces(jitted)[-1])
    ferrofuse.compat.uninstall()
    after = patched()
    assert [name for name in before if before[name] is not after[name]] == []
    assert not [name for name in sys.modules if name.split(".")[0] in ("nvfuser", "nvfuser_direct")]
    assert of_thunder.EXECUTOR not in sys.modules
    plain = thunder.jit(fused)
    torch.testing.assert_close(plain(x), fused(x))
    assert "nvFusion" not in str(thunder.last_traces(plain)[-1])


def test_registrations_of_others_stay(as_it_was):
    from thunder import extend
    from thunder.core.prims import PrimIDs
    from thunder.executors import torchex

    ferrofuse.compat.install(device="cpu")
    other = extend.OperatorExecutor("another_one")
    extend.register_executor(other)
    extend.add_default_executor(other)
    torchex.ex._implmap["another_op"] = implementation = object()
    ferrofuse.compat.uninstall()
    assert extend.get_default_executors()[0] is other and "nvfuser" not in registries()[0]
    assert torchex.ex._implmap.pop("another_op") is implementation
    assert PrimIDs.GET_AND_UPDATE_RNG_STATE in torchex.ex._implmap
    extend.remove_default_executor(other)
    extend.deregister_executor(other)


def test_a_name_that_has_moved_is_told(as_it_was, monkeypatch):
    import thunder.examine

    monkeypatch.delattr(thunder.examine, "warn_fusions")
    modules, known = dict(sys.modules), registries()
    with pytest.raises(RuntimeError) as error:
        ferrofuse.compat.install(device="cpu")
    assert str(error.value) == (
        "ferrofuse.compat does not know this version: there is no thunder.examine.warn_fusions"
    )
    assert dict(sys.modules) == modules and registries() == known
    monkeypatch.undo()


def test_an_executor_that_cannot_be_imported_is_told(as_it_was, monkeypatch):
    import thunder.core.prims  # noqa: F401

    monkeypatch.delattr(importlib.import_module("thunder.executors.passes"), "update_fusion_call_ctx")
    with pytest.raises(RuntimeError, match="does not know this version of Thunder: .*nvfuserex_impl: cannot import name"):
        ferrofuse.compat.install(device="cpu")
    monkeypatch.undo()
