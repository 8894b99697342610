# A view in no group goes with its readers, and so does a permutation that the order of an input in memory asks for.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, stride_order=[0, 1])
    w = fd.define_tensor(shape=[-1, -1], contiguity=True)
    transposed = fd.ops.permute(w, [1, 0])
    with fd.group("far", device="cuda:1"):
        y = fd.ops.mul(fd.ops.exp(x), transposed)
    fd.add_output(y)

inputs = [torch.rand((64, 32)).t(), torch.rand((64, 32))]

# ---- expect
# segment seg0 -> y
#
# segment  ops  reads     writes   passes  runs as         recomputed
# seg0     5    16.0 KiB  8.0 KiB  1       kernel, cuda:1  0
#
# seg0: y <- x, w
#
# group far (device cuda:1): in seg0
#
# 24.0 KiB moved, 24.0 KiB compulsory, traffic ratio 1.000
# peak memory 8.0 KiB, inputs not counted
# model: 3.1 us, which no other cut can beat
