# define_tensor by sizes and strides: what is row-major is found out.
def f(fd):
    a = fd.define_tensor(sizes=[4, 5], strides=[5, 1], dtype=DataType.Float)
    b = fd.define_tensor(sizes=[4, 5], strides=[1, 4], dtype=DataType.Float)
    c = fd.define_tensor(sizes=[4, 5], strides=[0, 1], dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.add(a, b), c))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False, stride_order=[0, 1])
#     tv2 = fd.define_tensor(shape=[-1, -1], contiguity=[None, True], dtype=DataType.Float, is_cpu=False)
#     tv3 = fd.ops.add(tv0, tv1)
#     tv4 = fd.ops.add(tv3, tv2)
#     fd.add_output(tv4)
