# test: target=sm_90
# Rows of a few vectors are taken side by side, by as many threads each as they have vectors.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    fd.add_output(fd.ops.cast(fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Float), dim=1), dtype=DataType.BFloat16))

inputs = [torch.randn((4096, 64), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# schedule lanes 8
# block x0 by 1
# inner x1
# lane x1
# width 8
# persist n1
# persist n12
# private
# teams 32
