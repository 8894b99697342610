# Rows of a table, those that are longer than a limit shortened to it: by Euclid's length, by sums, by the largest element.
def embeddings(fd):
    table = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    limit = fd.define_scalar(dtype=DataType.Double)
    order = fd.define_scalar(dtype=DataType.Double)
    fd.add_output(fd.ops.embedding_fwd(index, table, None, limit))
    fd.add_output(fd.ops.embedding_fwd(index, table, max_norm=limit, norm_type=order))
    fd.add_output(fd.ops.embedding_fwd(index, table, max_norm=0.5, norm_type=float("inf")))


inputs = [
    torch.arange(6).to(torch.float32).as_strided((3, 2), (2, 1)),
    torch.arange(3),
    2.5,
    1.0,
]

# ---- expect
# f32[3, 2] = 0.0, 1.0, 1.3867505, 2.0801258, 1.5617375, 1.9521719
# f32[3, 2] = 0.0, 1.0, 1.0, 1.5, 1.1111112, 1.388889
# f32[3, 2] = 0.0, 0.49999994, 0.33333334, 0.5, 0.4, 0.5
