# The place of the largest element, the first of equal ones, by a lambda of elements and places.
def argmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    place = fd.ops.iota(columns, 0, 1, dtype=DataType.Int)
    places = fd.ops.broadcast_in_dim(place, shape=[rows, columns], broadcast_dims=[1])
    largest, place = fd.ops.fold(
        [x, places],
        lambda a, i, b, j: [
            fd.ops.where(fd.ops.logical_or(b > a, fd.ops.logical_and(b == a, j < i)), b, a),
            fd.ops.where(fd.ops.logical_or(b > a, fd.ops.logical_and(b == a, j < i)), j, i),
        ],
        init=[float("-inf"), 9223372036854775807],
        dims=[1],
    )
    fd.add_output(place)

inputs = [torch.randn(32, 1000)]
