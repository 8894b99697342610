# test: target=sm_90
# Each half of a row has as many threads as it has vectors, and a block takes as many rows as it has room for.
def rotated(fd):
    x = fd.define_tensor(shape=[-1, -1, 128], contiguity=True, dtype=DataType.BFloat16)
    rows = fd.define_tensor(shape=[-1, 128], contiguity=True, dtype=DataType.BFloat16)
    batch, tokens, _ = fd.ops.shape(x)
    first = fd.ops.slice(x, start_indices=[0, 0, 0], end_indices=[batch, tokens, 64])
    second = fd.ops.slice(x, start_indices=[0, 0, 64], end_indices=[batch, tokens, 128])
    wide = fd.ops.broadcast_in_dim(rows, shape=[batch, tokens, 128], broadcast_dims=[1, 2])
    fd.add_output(fd.ops.mul(fd.ops.cat([fd.ops.cast(fd.ops.neg(second), dtype=DataType.BFloat16), first], dim=2), wide))

inputs = [torch.randn((32, 8192, 128), dtype=torch.bfloat16), torch.randn((8192, 128), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# schedule lanes 8
# block x0 by 1
# block x1 by 1
# inner x5
# lane x5
# width 8
# partition x5
# teams 32
