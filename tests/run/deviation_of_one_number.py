def deviation_of_one_number(fd):
    x = fd.define_tensor(shape=[])
    fd.add_output(fd.ops.standard_deviation(x, correction=0))
    fd.add_output(fd.ops.standard_deviation(x))
    fd.add_output(fd.ops.standard_deviation(fd.ops.div(x, 0.0), dims=[], correction=0))

inputs = [torch.ones(())]

# ---- expect
# f32[] = 0.0
# f32[] = float("nan")
# f32[] = float("nan")
