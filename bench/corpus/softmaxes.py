"""Softmax and cross entropy: two folds along an axis, the second over what needs the first."""

from corpus.writer import FLOAT, INT


def softmax(fd, x, axis):
    """The softmax of f32 along an axis."""
    powers = fd.ops.exp(x - fd.ops.max(x, dims=[axis], keepdim=True))
    return powers / fd.ops.sum(powers, dims=[axis], keepdim=True)


def softmax_rows(fd):
    "Softmax of rows."
    fd.output(fd.bf16(softmax(fd, fd.f32(fd.tensor([16384, 2048])), 1)))


def softmax_columns(fd):
    "Softmax along axis 0."
    fd.output(fd.bf16(softmax(fd, fd.f32(fd.tensor([16384, 2048])), 0)))


def softmax_backward(fd):
    "The gradient of a softmax of rows."
    grad, y = fd.f32(fd.tensor([16384, 2048])), fd.f32(fd.tensor([16384, 2048]))
    fd.output(fd.bf16((grad - fd.ops.sum(grad * y, dims=[1], keepdim=True)) * y))


def softmax_both_axes(fd):
    "The softmaxes of one tensor along both of its axes."
    x = fd.tensor([4096, 4096], FLOAT)
    fd.output(softmax(fd, x, 0))
    fd.output(softmax(fd, x, 1))


def softmax_and_row_sums(fd):
    "A softmax along axis 0 beside the sums along axis 1: a fold that goes on and one that leaves."
    x = fd.tensor([4096, 4096], FLOAT)
    fd.output(softmax(fd, x, 0))
    fd.output(fd.ops.sum(x, dims=[1]))


def softmax_split(fd):
    "Softmax of rows, whose two halves are multiplied."
    x = fd.tensor([8192, 4096], static=(1,))
    rows, probabilities = fd.ops.size(x, 0), softmax(fd, fd.f32(x), 1)
    first = fd.ops.slice(probabilities, [0, 0], [rows, 2048])
    fd.output(fd.bf16(first * fd.ops.slice(probabilities, [0, 2048], [rows, 4096])))


def log_softmax_kl(fd):
    "The divergence of two distributions given by logits, a row each."
    x, y = fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([8192, 4096]))

    def log_softmax(x):
        shifted = x - fd.ops.max(x, dims=[1], keepdim=True)
        return shifted - fd.ops.log(fd.ops.sum(fd.ops.exp(shifted), dims=[1], keepdim=True))

    p, q = log_softmax(x), log_softmax(y)
    fd.output(fd.ops.sum(fd.ops.exp(p) * (p - q), dims=[1]))


def cross_entropy(fd):
    "The cross entropy of rows of logits with labels."
    logits, labels = fd.f32(fd.tensor([4096, 32000])), fd.tensor([4096], INT, high=32000)
    largest = fd.ops.max(logits, dims=[1], keepdim=True)
    total = fd.ops.log(fd.ops.sum(fd.ops.exp(logits - largest), dims=[1], keepdim=True))
    fd.output(total + largest - fd.ops.take_along_axis(logits, fd.along(labels, 2, 0), dim=1))


def cross_entropy_both(fd):
    "The mean cross entropy with an ignored label, and the gradient of the logits, in one definition."
    logits, labels = fd.f32(fd.tensor([4096, 32000], static=(1,))), fd.tensor([4096], INT, high=32000)
    largest = fd.ops.max(logits, dims=[1], keepdim=True)
    powers = fd.ops.exp(logits - largest)
    total = fd.ops.sum(powers, dims=[1], keepdim=True)
    label = fd.along(labels, 2, 0)
    counted = fd.ops.ne(label, 7)
    count = fd.ops.sum(fd.f32(counted), dims=[0, 1])
    chosen = fd.ops.take_along_axis(logits, label, dim=1)
    loss = fd.ops.where(counted, fd.ops.log(total) + largest - chosen, 0.0)
    fd.output(fd.ops.sum(loss, dims=[0, 1]) / count)
    columns = fd.along(fd.ops.iota(32000), 2, 1)
    gradient = powers / total - fd.f32(fd.ops.eq(columns, label))
    fd.output(fd.bf16(fd.ops.where(counted, gradient, 0.0) / count))


GRAPHS = [
    softmax_rows, softmax_columns, softmax_backward, softmax_both_axes, softmax_and_row_sums, softmax_split, log_softmax_kl,
    cross_entropy, cross_entropy_both,
]
