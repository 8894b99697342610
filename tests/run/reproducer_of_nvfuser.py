# test: seed=3
# A script as nvFuser prints it, older spelling: a gated residual branch with its norm over the last axis, backwards.
import torch
from nvfuser import FusionDefinition, DataType

def nvfuser_fusion_id0(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=[None, None, True], dtype=DataType.BFloat16, is_cpu=False, stride_order=[2, 1, 0])
    T1 = fd.define_tensor(shape=[-1, 1, -1], contiguity=[True, None, True], dtype=DataType.BFloat16, is_cpu=False, stride_order=[2, 1, 0])
    T2 = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.BFloat16, is_cpu=False, stride_order=[2, 1, 0])
    T3 = fd.define_tensor(shape=[-1, -1, 1], contiguity=[True, True, None], dtype=DataType.Float, is_cpu=False, stride_order=[2, 1, 0])
    T4 = fd.ops.cast(T2, dtype=DataType.Float)
    S5 = fd.define_scalar(4, dtype=DataType.Int)
    S6 = fd.define_scalar(8, dtype=DataType.Int)
    S7 = fd.define_scalar(16, dtype=DataType.Int)
    V8 = fd.define_vector([S5, S6, S7], dtype=DataType.Int)
    T9 = fd.ops.broadcast_in_dim(T3, shape=V8, broadcast_dims=[0, 1, 2])
    T10 = fd.ops.mul(T4, T9)
    T11 = fd.ops.cast(T0, dtype=DataType.Float)
    T12 = fd.ops.mul(T10, T11)
    S13 = fd.define_scalar(1.00000, dtype=DataType.Double)
    T14 = fd.ops.cast(T1, dtype=DataType.Float)
    T15 = fd.ops.add(S13, T14)
    S16 = fd.define_scalar(4, dtype=DataType.Int)
    S17 = fd.define_scalar(8, dtype=DataType.Int)
    S18 = fd.define_scalar(16, dtype=DataType.Int)
    V19 = fd.define_vector([S16, S17, S18], dtype=DataType.Int)
    T20 = fd.ops.broadcast_in_dim(T15, shape=V19, broadcast_dims=[0, 1, 2])
    T21 = fd.ops.mul(T12, T20)
    T22 = fd.ops.sum(T21, dims=[2], keepdim=False, dtype=DataType.Null)
    S23 = fd.define_scalar(4, dtype=DataType.Int)
    S24 = fd.define_scalar(8, dtype=DataType.Int)
    S25 = fd.define_scalar(1, dtype=DataType.Int)
    V26 = fd.define_vector([S23, S24, S25], dtype=DataType.Int)
    T27 = fd.ops.broadcast_in_dim(T22, shape=V26, broadcast_dims=[0, 1])
    S28 = fd.define_scalar(16.0000, dtype=DataType.Double)
    S29 = fd.ops.reciprocal(S28)
    T30 = fd.ops.mul(T27, S29)
    T31 = fd.ops.neg(T30)
    T32 = fd.ops.add(T21, T31)
    S33 = fd.define_scalar(3.00000, dtype=DataType.Double)
    T34 = fd.ops.pow(T9, S33)
    T35 = fd.ops.mul(T32, T34)
    T36 = fd.ops.sum(T10, dims=[0, 1], keepdim=False, dtype=DataType.Null)
    T37 = fd.ops.cast(T36, dtype=DataType.BFloat16)
    T38 = fd.ops.sum(T21, dims=[1], keepdim=False, dtype=DataType.Null)
    T39 = fd.ops.cast(T38, dtype=DataType.BFloat16)
    T40 = fd.ops.cast(T35, dtype=DataType.BFloat16)
    fd.add_output(T37)
    fd.add_output(T39)
    fd.add_output(T40)

with FusionDefinition() as fd:
    nvfuser_fusion_id0(fd)

inputs = [
    torch.randn((16,), dtype=torch.bfloat16, device='cuda:0').as_strided((4, 8, 16), (0, 0, 1)),
    torch.randn((64,), dtype=torch.bfloat16, device='cuda:0').as_strided((4, 1, 16), (16, 16, 1)),
    torch.randn((512,), dtype=torch.bfloat16, device='cuda:0').as_strided((4, 8, 16), (128, 16, 1)),
    torch.randn((32,), dtype=torch.float32, device='cuda:0').as_strided((4, 8, 1), (8, 1, 1)),
]
fd.execute(inputs)

# ---- expect
# bf16[16] = 2.84, -5.06, 1.73, 2.25, -16.4, -9.1, -14.5, -3.55, -4.56, 1.45, -8.44, -8.4, 19.1, 9.56, -3.06, -2.89
# bf16[4, 16] = -1.11, 20.9, -1.02, 0.01434, -1.13, 1.93, 0.0364, -1.68, 0.96, -0.00135, 8.94, 0.547, -4.94, -10.56, 0.0056, -0.527, 5.03, 0.243, 0.93, -0.169, -2.25, 0.645, -2.56, -2.5, …
# bf16[4, 8, 16] = 0.312, -1.125, -0.0091, 0.0309, -0.848, 0.332, 0.0605, 0.342, 0.361, 0.0322, 3.17, -0.432, -0.184, -2.03, 0.0432, -0.0605, 5.56, -23.0, 0.00452, 1.72, 1.8, -1.2, 1.74, 4.16, …
