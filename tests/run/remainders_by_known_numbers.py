# The divisors 0, 1 and 4 are known to the compiler from where an element lies.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int32)
    n = fd.ops.iota(3, dtype=DataType.Int32)
    fd.add_output(fd.ops.remainder(x, fd.ops.mul(n, n)))

inputs = [torch.full((3, 3), 7, dtype=torch.int32)]

# ---- expect
# i32[3, 3] = 7, 0, 3, 7, 0, 3, 7, 0, 3
