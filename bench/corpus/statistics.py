"""Statistics of one axis used with the full tensor again, along another axis: where a full tensor need not be kept."""

from corpus.norms import normalize
from corpus.softmaxes import softmax
from corpus.writer import FLOAT


def column_stats_then_row(fd):
    "Columns are standardised, then each row goes through a softmax."
    x = fd.f32(fd.tensor([16384, 2048]))
    fd.output(fd.bf16(softmax(fd, normalize(fd, x, [0], 2)[0], 1)))


def row_then_column_then_all(fd):
    "RMS norm of rows, less the mean of each column."
    x = fd.f32(fd.tensor([16384, 2048]))
    h = x * fd.ops.rsqrt(fd.ops.mean(x * x, dims=[1], keepdim=True) + 1e-6)
    fd.output(fd.bf16(h - fd.ops.mean(h, dims=[0], keepdim=True)))


def scans(fd):
    "Running sums along both axes of a softmax of rows."
    s = softmax(fd, fd.tensor([4096, 2048], FLOAT), 1)
    fd.output(fd.ops.cumsum(s, dim=1))
    fd.output(fd.ops.cumsum(s, dim=0))


def double_centred(fd):
    "A kernel matrix less the means of its rows and columns, plus the mean of all."
    x = fd.tensor([4096, 4096], FLOAT)
    rows, columns = fd.ops.mean(x, dims=[1], keepdim=True), fd.ops.mean(x, dims=[0], keepdim=True)
    fd.output(x - rows - columns + fd.ops.mean(x, dims=[0, 1], keepdim=True))


def sinkhorn_3(fd):
    "Three rounds of Sinkhorn's normalization: rows, columns, rows, columns in turn."
    x = fd.ops.exp(fd.tensor([4096, 2048], FLOAT))
    for _ in range(3):
        x = x / fd.ops.sum(x, dims=[1], keepdim=True)
        x = x / fd.ops.sum(x, dims=[0], keepdim=True)
    fd.output(x)


def column_summary(fd):
    "Means, variances, the smallest and the largest of each column, and of the whole."
    x = fd.f32(fd.tensor([16384, 2048]))
    _, mean, invstd = normalize(fd, x, [0], 2)
    for result in (mean, invstd, fd.ops.min(x, dims=[0]), fd.ops.max(x, dims=[0]), fd.ops.sum(x * x, dims=[0, 1])):
        fd.output(result)


GRAPHS = [column_stats_then_row, row_then_column_then_all, scans, double_centred, sinkhorn_3, column_summary]
