# Of equal elements the first counts, and NaN beats all.
def places_of_extremes(fd):
    T0 = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.Float)
    nan = fd.ops.where(T0 > 2.0, float("nan"), T0)
    fd.add_output(fd.ops.argmax(T0 * 0.0, 0))
    fd.add_output(fd.ops.argmin(T0, 0, keepdim=True))
    fd.add_output(fd.ops.argmax(nan, 0))
    fd.add_output(fd.ops.argmin(nan))
    fd.add_output(fd.ops.any(T0 == 2.0))
    fd.add_output(fd.ops.all(T0, dims=[0]))

inputs = [torch.arange(4, dtype=torch.float32)]

# ---- expect
# i64[] = 0
# i64[1] = 0
# i64[] = 3
# i64[] = 3
# bool[] = True
# bool[] = False
