# Outputs that only re-index an input move no bytes; one that is expanded is written as it is before.
def views(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    transposed = fd.ops.permute(x, dims=[1, 0])
    flat = fd.ops.reshape(fd.ops.slice(x, start_indices=[1, 0], end_indices=[3, 4]), new_shape=[8])
    copied = fd.ops.reshape(transposed, new_shape=[20])
    wide = fd.ops.broadcast_in_dim(fd.ops.sum(x, dims=[1]), shape=[5, 3], broadcast_dims=[0])
    fd.add_output(transposed)
    fd.add_output(flat)
    fd.add_output(copied)
    fd.add_output(wide)

inputs = [torch.randn((5, 4), dtype=torch.float32)]

# ---- expect
# segment seg0 -> copied, tv5
#
# segment  ops  reads  writes  passes  runs as  recomputed
# seg0     13   80 B   100 B   1       kernel   0
#
# seg0: copied, tv5 <- x
#
# transposed is a view of x: no bytes moved for it
# flat is a view of x: no bytes moved for it
# wide is a view of tv5: no bytes moved for it
#
# 180 B moved, 180 B compulsory, traffic ratio 1.000
# peak memory 100 B, inputs not counted
# model: 2.0 us, within 0.1 % of a bound for every cut
