"""`import nvfuser_direct` on ferrofuse, and how all of it is undone."""

import importlib.util
import sys
import types

import ferrofuse
import ferrofuse.pytorch_utils  # loaded before modules are compared
import numpy as np
import pytest
from ferrofuse import compat
from ferrofuse.compat import patches
from ferrofuse.nvfuser import options
from ferrofuse.nvfuser_direct_version import NvfuserVersion


@pytest.fixture
def installed():
    compat.install()
    yield
    compat.uninstall()


def globals_of_python():
    """Everything that `install` may change: modules, what finds them, and the attributes of our own."""
    ours = {name: dict(vars(module)) for name, module in sys.modules.items() if name.split(".")[0] == "ferrofuse"}
    return dict(sys.modules), list(sys.meta_path), list(sys.path), dict(sys.path_importer_cache), ours


def test_scripts_find_ferrofuse_by_the_name_of_nvfuser(installed):
    script = """
import nvfuser_direct
from nvfuser_direct import DataType, FusionDefinition, LRUCache, LruFusionCache, compute_tensor_descriptor
from nvfuser_direct import ParallelType, PythonProfiler, SchedulerType, execute_with_dtensors, multidevice
from nvfuser_direct.pytorch_utils import torch_dtype_to_nvfuser_dtype
from nvfuser_direct.nvfuser_direct_version import Version
from nvfuser import compute_tensor_descriptor as of_the_older_module

with FusionDefinition() as fd:
    x = fd.from_pytorch(ones)
    fd.add_output(fd.ops.sum(x, [1]))
sums = fd.execute([ones])[0]
"""
    names = {"ones": np.ones((2, 3), np.float32)}
    exec(script, names)
    assert names["sums"].tolist() == [3, 3]
    module = names["nvfuser_direct"]
    assert module.version() == module.__version__ == "0.2.36" and module.FusionDefinition is ferrofuse.FusionDefinition
    assert importlib.util.find_spec("nvfuser_direct").origin.endswith("packages/nvfuser_direct/__init__.py")
    assert names["of_the_older_module"] is ferrofuse.compute_tensor_descriptor
    with pytest.raises(NotImplementedError, match="`ParallelType.mesh_x` is not supported"):
        names["ParallelType"].mesh_x


def test_uninstall_leaves_nothing_changed():
    before = globals_of_python()
    compat.install()
    import nvfuser  # noqa: F401
    import nvfuser_direct.pytorch_utils

    first = sys.modules["nvfuser_direct"]
    assert options.without_arrays == "torch" and globals_of_python() != before
    compat.uninstall()
    for mine, theirs in zip(globals_of_python(), before):
        assert mine == theirs
    assert importlib.util.find_spec("nvfuser_direct") is None
    with pytest.raises(ImportError):
        import nvfuser_direct  # noqa: F811
    compat.install()
    import nvfuser_direct  # noqa: F811

    assert nvfuser_direct is not first
    compat.uninstall()


def test_install_once_and_uninstall_after_it(installed):
    with pytest.raises(RuntimeError) as error:
        compat.install()
    assert str(error.value) == "ferrofuse.compat is installed already: call uninstall() before another install()"


def test_uninstall_without_install():
    with pytest.raises(RuntimeError) as error:
        compat.uninstall()
    assert str(error.value) == "ferrofuse.compat is not installed: there is nothing to undo"


def test_other_devices_are_rejected():
    before = globals_of_python()
    with pytest.raises(NotImplementedError) as error:
        compat.install(device="cuda:0")
    assert str(error.value) == "device must be None or 'cpu', but is 'cuda:0': Thunder on GPUs is not supported yet"
    assert globals_of_python() == before


@pytest.mark.parametrize("name", ["nvfuser_direct", "nvfuser"])
def test_another_nvfuser_that_is_imported_already(name, monkeypatch):
    real = types.ModuleType(name)
    real.__file__ = f"/site-packages/{name}/__init__.py"
    monkeypatch.setitem(sys.modules, name, real)
    before = globals_of_python()
    with pytest.raises(RuntimeError) as error:
        compat.install()
    assert str(error.value) == (
        f"install() must come before `import {name}`: another is imported already, "
        f"from /site-packages/{name}/__init__.py"
    )
    assert globals_of_python() == before


@pytest.mark.skipif(importlib.util.find_spec("thunder") is not None, reason="Thunder is there")
def test_without_thunder_there_is_nothing_to_run_on_the_cpu():
    before = globals_of_python()[1:]
    with pytest.raises(ImportError) as error:
        compat.install(device="cpu")
    assert str(error.value) == (
        'install(device="cpu") is for Lightning Thunder, which cannot be imported (No module named \'thunder\'): '
        "install() alone serves programs that import nvfuser_direct"
    )
    assert not [name for name in sys.modules if name.split(".")[0] in ("nvfuser", "nvfuser_direct", "thunder")]
    assert globals_of_python()[1:4] == before[:3]


def test_names_that_have_moved_are_all_told_before_any_is_replaced(monkeypatch):
    module = types.ModuleType("moved")
    module.here = old = object()
    monkeypatch.setitem(sys.modules, "moved", module)
    undo = []
    wanted = [patches.Attribute("moved", name, lambda: 1) for name in ("here", "gone", "Class.gone")]
    with pytest.raises(RuntimeError) as error:
        patches.apply(wanted, undo)
    assert str(error.value) == (
        "ferrofuse.compat does not know this version: there is no moved.gone, no moved.Class.gone"
    )
    assert module.here is old and undo == []
    patches.apply(wanted[:1], undo)
    assert module.here == 1
    patches.undo(undo)
    assert module.here is old and undo == []


def test_versions_are_ordered_by_their_numbers():
    version = NvfuserVersion("0.2.36+gitabc1234")
    assert version == "0.2.36" and version > "0.2.9" and version >= "0.2.36" and version != "0.2.35"
    assert version < NvfuserVersion("1.0.0") and version <= "0.3" and not version < "0.2.36.0"
    assert hash(version) == hash(NvfuserVersion("0.2.36")) and isinstance(version, str)
