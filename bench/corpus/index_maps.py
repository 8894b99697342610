"""Chains of slices, pads, cats and gathers: index maps that are recomputed or materialised."""

from corpus.writer import FLOAT, INT


def shifted(fd, x, by):
    """A row moved by one, zero behind."""
    return fd.ops.pad(x, [by, -by], 0.0)


def stencil_16(fd):
    "Sixteen sums of both neighbours in turn."
    x = fd.tensor([1024, 8192], FLOAT)
    for _ in range(16):
        x = shifted(fd, x, 1) + shifted(fd, x, -1)
    fd.output(x)


def stencil_100(fd):
    "A hundred sums of both neighbours in turn."
    x = fd.tensor([1024, 8192], FLOAT)
    for _ in range(100):
        x = shifted(fd, x, 1) + shifted(fd, x, -1)
    fd.output(x)


def convolution_3x3(fd):
    "A convolution of one channel by nine shifted products."
    x, weight = fd.tensor([64, 512, 512], FLOAT, static=(1, 2)), fd.tensor([9], FLOAT, static=(0,))
    batch, total = fd.ops.size(x, 0), None
    padded = fd.ops.pad(x, [1, 1, 1, 1, 0, 0], 0.0)
    for row in range(3):
        for column in range(3):
            place = 3 * row + column
            factor = fd.along(fd.ops.slice(weight, [place], [place + 1]), 3, 0)
            part = fd.ops.slice(padded, [0, row, column], [batch, row + 512, column + 512]) * factor
            total = part if total is None else total + part
    fd.output(fd.ops.relu(total))


def gathers_60(fd):
    "Sixty permutations of rows by an index, one after the other."
    x, place = fd.tensor([4096, 256], FLOAT), fd.tensor([4096], INT, high=4096)
    for _ in range(60):
        x = fd.ops.index_select(x, place, dim=0) + 1.0
    fd.output(x)


def rolls_12(fd):
    "Twelve rolls of rows, each added to what it rolls."
    x = fd.tensor([4096, 1024], FLOAT, static=(1,))
    rows = fd.ops.size(x, 0)
    for distance in range(1, 13):
        ends = [fd.ops.slice(x, [0, distance], [rows, 1024]), fd.ops.slice(x, [0, 0], [rows, distance])]
        x = x + fd.ops.cat(ends, dim=1)
    fd.output(x)


def cat_of(fd, count):
    """Tensors side by side, each scaled."""
    width = 16384 // count
    fd.output(fd.ops.cat([fd.tensor([1024, width], FLOAT, static=(1,)) * (number + 0.5) for number in range(count)], dim=1))


def cat_9(fd):
    "A cat of 9 tensors."
    cat_of(fd, 9)


def cat_26(fd):
    "A cat of 26 tensors."
    cat_of(fd, 26)


def cat_128(fd):
    "A cat of 128 tensors."
    cat_of(fd, 128)


def transposed_sums(fd):
    "A tensor plus another's transpose, and the sums of rows and columns of the result."
    total = fd.tensor([4096, 4096], FLOAT) + fd.ops.permute(fd.tensor([4096, 4096], FLOAT), dims=[1, 0])
    fd.output(total)
    fd.output(fd.ops.sum(total, dims=[0]))
    fd.output(fd.ops.sum(total, dims=[1]))


GRAPHS = [stencil_16, stencil_100, convolution_3x3, gathers_60, rolls_12, cat_9, cat_26, cat_128, transposed_sums]
