def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    source = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.ComplexFloat)
    fd.add_output(fd.ops.scatter(x, index, source, dim=0))

# ---- expect
# 5:44: `scatter`: argument `src` must be a tensor of real numbers, as the one that it goes into is real, but is a value of the program
#     fd.add_output(fd.ops.scatter(x, index, source, dim=0))
#                                            ^^^^^^ expected a tensor of real numbers, as the one that it goes into is real
