# Any number of lanes begin with the start.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.fold(x, lambda a, b: a + b, init=5, dims=[0]))

# ---- expect
# 4:59: `fold`: argument `init` must be a start that combined with itself stays as it is, but is [5]
#     fd.add_output(fd.ops.fold(x, lambda a, b: a + b, init=5, dims=[0]))
#                                                           ^ expected a start that combined with itself stays as it is
# help: any number of runs begin with it, and two of them make 10 of 5: fold from what changes nothing, and combine the result with a start of your own
