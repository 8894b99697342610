def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("outer", stay=False, device="cuda:1"):
        y = fd.ops.exp(x)
        with fd.group("inner", stay=True): z = fd.ops.sin(y)
        w = fd.ops.add(y, z)
    with fd.group("outer", device="cuda:1"):
        # Opened again; a group of which nothing is defined is not printed.
        with fd.group("empty"):
            pass
        v = fd.ops.mul(w, 2)
    fd.add_output(fd.ops.neg(v))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
#     with fd.group("outer", device="cuda:1"):
#         tv1 = fd.ops.exp(tv0)
#         with fd.group("inner", stay=True):
#             tv2 = fd.ops.sin(tv1)
#         tv3 = fd.ops.add(tv1, tv2)
#         tv4 = fd.ops.mul(tv3, 2)
#     tv5 = fd.ops.neg(tv4)
#     fd.add_output(tv5)
