# Of what lies with channels innermost all is computed so; a composite is still one, of what its operand is in that order.
def scaled(fd):
    x = fd.define_tensor(shape=[8, 96, 56, 56], contiguity=True, dtype=DataType.Float, stride_order=[3, 0, 2, 1])
    mean = fd.ops.mean(x, dims=[0, 2, 3], keepdim=True)
    fd.add_output(fd.ops.silu(fd.ops.sub(x, mean)))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[8, 96, 56, 56], contiguity=[True, True, True, True], dtype=DataType.Float, is_cpu=False, stride_order=[3, 0, 2, 1])
#     tv1 = fd.ops.permute(tv0, dims=[0, 2, 3, 1])
#     tv2 = fd.ops.mean(tv0, dims=[0, 2, 3], keepdim=True)
#     tv3 = fd.ops.permute(tv2, dims=[0, 2, 3, 1])
#     tv4 = fd.ops.sub(tv1, tv3)
#     tv5 = fd.ops.neg(tv4)
#     tv6 = fd.ops.exp(tv5)
#     tv7 = fd.ops.add(1.0, tv6)
#     tv8 = fd.ops.div(tv4, tv7)
#     tv9 = fd.ops.permute(tv8, dims=[0, 3, 1, 2])
#     tv10 = fd.ops.stride_order(tv9, stride_order=[3, 0, 2, 1])
#     fd.add_output(tv10)
