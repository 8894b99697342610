# test: target=avx512
# A block takes a page of each row: of a half type twice as many columns as of f32.
def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    fd.add_output(fd.ops.sum(fd.ops.cast(x, dtype=DataType.Float), dims=[0]))

inputs = [torch.randn((4096, 4096), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# schedule lanes 32
# block x1 by 2048
# block x0 by 128
# inner x1
# lane x1
# jam x0 by 8
