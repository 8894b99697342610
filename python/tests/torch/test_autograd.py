"""In-place outputs and torch: what autograd is told, what it forbids, and tensors that hold no plain elements."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.flop_counter import FlopCounterMode

from ferrofuse import DataType, FusionDefinition, InputError, fuse


class ByCapsules(torch.Tensor):
    """Tensors of a library without DLPack's table of C functions."""

    __dlpack_c_exchange_api__ = None


KINDS = pytest.mark.parametrize("kind", [torch.Tensor, ByCapsules])


def incremented(rank=1, dtype=DataType.Float):
    """x + 1 written to x."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=False, dtype=dtype)
        fd.add_output(fd.ops.cast(x + 1.0, dtype), x)
    return fd


def doubled():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=False, dtype=DataType.Float)
        fd.add_output(x + x)
    return fd


def transposed():
    """A view of x."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=False, dtype=DataType.Float)
        fd.add_output(fd.ops.permute(x, [1, 0]))
    return fd


# ------------------------------------------------------------------------------------------------ versions
@KINDS
def test_a_write_changes_the_version_of_the_tensor_and_its_base(kind):
    base = torch.zeros(4, 3).as_subclass(kind)
    view, sibling = base[1], base[2:]
    before = base._version
    incremented().execute([view])
    assert base._version == view._version == sibling._version == before + 1
    assert base.sum() == 3


def test_only_what_is_written_changes_its_version():
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) for _ in "xy")
        fd.add_output(x + y, x)
    x, y = torch.ones(3), torch.ones(3)
    versions = x._version, y._version
    fd.execute([x, y])
    assert (x._version, y._version) == (versions[0] + 1, versions[1])
    fd.validate([x, y])
    assert (x._version, y._version) == (versions[0] + 1, versions[1])


@KINDS
def test_backward_sees_that_a_saved_tensor_was_written(kind):
    weight = torch.tensor([2.0]).as_subclass(kind)
    x = torch.tensor([3.0], requires_grad=True)
    y = x * weight
    incremented().execute([weight])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@KINDS
def test_views_that_are_given_back_share_the_version_of_their_input(kind):
    tensor = torch.arange(6.0).reshape(2, 3).as_subclass(kind)
    [view] = transposed().execute([tensor[:, 1:]])
    assert type(view) is torch.Tensor and view.tolist() == [[1, 4], [2, 5]] and view.stride() == (1, 3)
    before = tensor._version
    view.add_(1)
    assert tensor._version == before + 1 and tensor.tolist() == [[0, 2, 3], [3, 5, 6]]
    incremented(2).execute([tensor])
    assert view._version == before + 2 and view.tolist() == [[3, 6], [4, 7]]


def test_views_without_elements_are_given_back():
    tensor = torch.zeros(8, 3)[2:2]
    [view] = transposed().execute([tensor])
    assert view.shape == (3, 0)


def test_views_of_leaves_have_no_gradient():
    [view] = transposed().execute([torch.ones(2, 3, requires_grad=True)])
    assert not view.requires_grad


# ------------------------------------------------------------------------------------------------ gradients
@KINDS
def test_leaves_that_require_grad_are_rejected_as_by_torch(kind):
    leaf = torch.ones(3).as_subclass(kind).requires_grad_()
    with pytest.raises(RuntimeError):
        leaf.add_(1)
    with pytest.raises(RuntimeError, match=r"^input 0 \(\S+:\d+\) is written to, but it is a leaf that requires grad"):
        incremented().execute([leaf])
    assert leaf.tolist() == [1, 1, 1] and leaf._version == 0
    with torch.no_grad():
        incremented().execute([leaf])
    assert leaf.tolist() == [2, 2, 2] and leaf._version == 1
    with torch.inference_mode():
        incremented().execute([leaf])
    assert leaf.tolist() == [3, 3, 3] and leaf._version == 2
    incremented().execute([leaf.detach()])
    assert leaf.tolist() == [4, 4, 4] and leaf._version == 3


def test_in_place_outputs_that_require_grad_are_rejected():
    leaf = torch.ones(3, requires_grad=True)
    for tensor in (leaf[:2], leaf * 2):
        with pytest.raises(RuntimeError, match="is written to, but it requires grad"):
            incremented().execute([tensor])
    parameter = torch.nn.Parameter(torch.ones(3))
    with pytest.raises(RuntimeError, match="is a leaf that requires grad"):
        incremented().execute([parameter])
    assert leaf.sum() == parameter.sum() == 3


def test_inference_tensors_are_written_in_inference_mode_alone():
    with torch.inference_mode():
        tensor = torch.ones(3)
        incremented().execute([tensor])
    with pytest.raises(RuntimeError, match="it is an inference tensor"):
        incremented().execute([tensor])
    assert tensor.tolist() == [2, 2, 2]
    assert doubled().execute([tensor])[0].tolist() == [4, 4, 4]


# ------------------------------------------------------------------------------------------------ lazy flags
@KINDS
def test_lazy_conjugates_and_signs_are_not_written(kind):
    z = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64).as_subclass(kind)
    for tensor, dtype in ((z.conj(), DataType.ComplexFloat), (z.conj().imag, DataType.Float)):
        with pytest.raises(InputError, match=r"is written to, but its conjugation or sign is not carried out yet"):
            incremented(dtype=dtype).execute([tensor])
    assert z.tolist() == [1 + 2j, 3 - 4j]
    incremented().execute([z.imag])
    assert z.tolist() == [1 + 3j, 3 - 3j]


def test_references_may_be_lazy():
    z = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex128)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fd.define_tensor(shape=[-1], contiguity=False, dtype=DataType.Double)))
    fd.validate([z.conj().imag], [z.conj().imag])


# ------------------------------------------------------------------------------------- tensors without plain elements
def fake():
    with FakeTensorMode():
        return torch.ones(3)


UNUSUAL = {
    "sparse": (lambda: torch.ones(3).to_sparse(), "is a tensor of layout torch.sparse_coo"),
    "compressed": (lambda: torch.ones(3, 3).to_sparse_csr(), "is a tensor of layout torch.sparse_csr"),
    "mkldnn": (lambda: torch.ones(3).to_mkldnn(), "is a tensor of layout torch._mkldnn"),
    "quantized": (lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "is a quantized tensor"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(3)] * 2), "is a nested tensor"),
    "jagged": (lambda: torch.nested.nested_tensor([torch.ones(3)] * 2, layout=torch.jagged), "NestedTensor have a"),
    "meta": (lambda: torch.ones(3, device="meta"), "is a meta tensor, which has sizes and no elements"),
    "fake": (fake, "fake tensor, which has sizes and no elements"),
    "functional": (lambda: torch._to_functional_tensor(torch.ones(3)), "is a functional tensor"),
    "zeros": (lambda: torch._efficientzerotensor(3), "is a tensor of zeros without memory"),
    "empty-functional": (lambda: torch._to_functional_tensor(torch.ones(0)), "is a functional tensor"),
    "uninitialized": (lambda: torch.nn.UninitializedParameter(), "UninitializedParameter have a meaning"),
    "masked": (lambda: torch.masked.as_masked_tensor(torch.ones(3), torch.ones(3) > 0), "MaskedTensor have a meaning"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UNUSUAL)
def test_tensors_without_plain_elements_are_rejected_by_name(name):
    make, message = UNUSUAL[name]
    for run in (incremented().execute, doubled().execute, doubled().validate):
        with pytest.raises(InputError, match=rf"^input 0 \(\S+:\d+\):? .*{message}"):
            run([make()])


def test_tensors_within_transforms_are_rejected_by_name():
    message = r"^input 0 \(\S+:\d+\) is within a torch.func transform"
    with pytest.raises(InputError, match=message):
        torch.func.vmap(lambda x: doubled().execute([x])[0])(torch.ones(2, 3))
    with pytest.raises(InputError, match=message):
        torch.func.grad(lambda x: doubled().execute([x])[0].sum())(torch.ones(3))


def trace_of_jit(function):
    return torch.jit.trace(function, (torch.ones(3),))


def trace_of_fx(function):
    return make_fx(function)(torch.ones(3))


@pytest.mark.parametrize("name, trace", [("torch.jit.trace", trace_of_jit), ("make_fx", trace_of_fx)])
def test_calls_within_a_trace_are_rejected(name, trace):
    message = rf"is traced by {name}, which would take outputs for constants: call outside of it"
    with pytest.raises(InputError, match=rf"^input 0 \(\S+:\d+\) {message}"):
        trace(lambda x: doubled().execute([x])[0])
    with pytest.raises(InputError, match=rf"^input 0 \(x\) {message}"):
        trace(lambda x: fuse(lambda x: x * 2.0)(x))
    assert trace(lambda x: x * 2.0)(torch.ones(3)).tolist() == [2, 2, 2]


def test_modes_that_trace_nothing_are_no_obstacle():
    with FlopCounterMode(display=False):
        assert doubled().execute([torch.ones(3)])[0].tolist() == [2, 2, 2]


def test_tensors_with_tangents_are_rejected():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(3), torch.ones(3))
        with pytest.raises(InputError, match=r"^input 0 \(\S+:\d+\) has a tangent, and outputs would have none"):
            doubled().execute([dual])
        for plain in (dual.detach(), torch.ones(3)):
            assert doubled().execute([plain])[0].tolist() == [2, 2, 2]


def test_subclasses_with_functions_of_their_own_are_rejected():
    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return super().__torch_function__(function, types, args, kwargs or {})

    tensor = torch.ones(3).as_subclass(Logged)
    with pytest.raises(InputError, match=r"Logged have a meaning of their own \(__torch_function__\)"):
        doubled().execute([tensor])
    assert doubled().execute([tensor.as_subclass(torch.Tensor)])[0].tolist() == [2, 2, 2]


def test_buffers_and_parameters_are_taken():
    for tensor in (torch.nn.Parameter(torch.ones(3)), torch.nn.Buffer(torch.ones(3))):
        assert doubled().execute([tensor])[0].tolist() == [2, 2, 2]
