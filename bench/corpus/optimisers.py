"""Steps of optimisers on many tensors, in place: independent groups of like ops."""

from corpus.writer import FLOAT


def sizes(count):
    """Sizes of the tensors of a network, large and small in turn."""
    return [[262144, 1024, 65536, 4096][number % 4] for number in range(count)]


def adam(fd, param, grad, mean, square):
    """One tensor's step."""
    new_mean = mean * 0.9 + grad * 0.1
    new_square = square * 0.999 + grad * grad * 0.001
    fd.output(param - new_mean / (fd.ops.sqrt(new_square) + 1e-8) * 0.001, param)
    fd.output(new_mean, mean)
    fd.output(new_square, square)


def adam_20(fd):
    "Adam on 20 tensors."
    for size in sizes(20):
        adam(fd, *(fd.tensor([size], FLOAT) for _ in range(4)))


def adam_100(fd):
    "Adam on 100 tensors."
    for size in sizes(100):
        adam(fd, *(fd.tensor([size], FLOAT) for _ in range(4)))


def sgd_clipped_20(fd):
    "Gradient descent on 20 tensors, clipped by the norm of all gradients."
    tensors = [(fd.tensor([size], FLOAT), fd.tensor([size], FLOAT)) for size in sizes(20)]
    total = None
    for _, grad in tensors:
        square = fd.ops.sum(grad * grad, dims=[0])
        total = square if total is None else total + square
    factor = fd.ops.minimum(fd.ops.rsqrt(total + 1e-12), 1.0)
    for param, grad in tensors:
        fd.output(param - grad * factor * 0.01, param)


def lamb(fd):
    "LAMB on one matrix: Adam's step scaled by the norms of the weight and of the step."
    param, grad, mean, square = (fd.tensor([4096, 1024], FLOAT) for _ in range(4))
    new_mean, new_square = mean * 0.9 + grad * 0.1, square * 0.999 + grad * grad * 0.001
    step = new_mean / (fd.ops.sqrt(new_square) + 1e-6) + param * 0.01
    norm = lambda x: fd.ops.sqrt(fd.ops.sum(x * x, dims=[0, 1]))
    fd.output(param - step * (norm(param) / (norm(step) + 1e-12)) * 0.001, param)
    fd.output(new_mean, mean)
    fd.output(new_square, square)


GRAPHS = [adam_20, adam_100, sgd_clipped_20, lamb]
