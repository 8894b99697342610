# What lies along another axis than most is transposed in registers, in tiles that overlap at the ends: elements of each
# width, loads and stores, sides below a tile.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    half = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    narrow = fd.define_tensor(shape=[-1, -1, 3], contiguity=True, dtype=DataType.Double)
    planes = fd.define_tensor(shape=[-1, 3, -1], contiguity=True, dtype=DataType.Double)
    transposed = fd.ops.add(fd.ops.permute(x, dims=[1, 0]), y)
    fd.add_output(transposed)
    fd.add_output(fd.ops.neg(x), stride_order=[0, 1])
    fd.add_output(fd.ops.cast(x, dtype=DataType.Double), stride_order=[0, 1])
    fd.add_output(fd.ops.gt(x, 0.5), stride_order=[0, 1])
    fd.add_output(fd.ops.cast(fd.ops.add(fd.ops.permute(half, dims=[1, 0]), y), dtype=DataType.BFloat16))
    fd.add_output(fd.ops.add(fd.ops.permute(narrow, dims=[0, 2, 1]), planes))

inputs = [
    torch.randn((45, 70)),
    torch.randn((70, 45)),
    torch.randn((45, 70), dtype=torch.bfloat16),
    torch.randn((2, 50, 3), dtype=torch.float64),
    torch.randn((2, 3, 50), dtype=torch.float64),
]

# ---- expect
# f32[70, 45] = 1.7493107, 0.1496464, -2.973875, 1.4022279, 0.026111133, -0.6445621, 0.741095, -0.5776597, -0.06131435, -1.5120784, -2.1968582, 1.54615, -1.6052147, -2.8566027, 0.7056619, 0.28036374, 3.9203365, -0.95902306, 0.7833581, 2.1493447, 0.14732718, 2.2977443, 1.4483364, 1.6269392, …
# f32[45, 70] = -0.878312, 0.30611253, -0.6890781, 0.9282117, 1.2254366, -0.008010291, -0.531529, 0.8374412, 1.493292, 0.2159635, 0.14464442, -1.5385113, -0.928586, 0.21009897, -1.7401257, 1.5460396, 0.0049421517, -0.9329396, -0.1073503, -1.1411592, -1.1156677, -0.46508828, 0.19466144, -0.09150598, …
# f64[45, 70] = 0.8783119916915894, -0.30611252784729004, 0.6890780925750732, -0.9282116889953613, -1.2254365682601929, 0.008010290563106537, 0.5315290093421936, -0.8374412059783936, -1.493291974067688, -0.21596349775791168, -0.14464442431926727, 1.5385112762451172, 0.9285860061645508, -0.2100989669561386, 1.7401256561279297, -1.5460395812988281, -0.004942151717841625, 0.9329395890235901, 0.10735029727220535, 1.141159176826477, 1.115667700767517, 0.46508827805519104, -0.1946614384651184, 0.0915059819817543, …
# bool[45, 70] = True, False, True, False, False, False, True, False, False, False, False, True, True, False, True, False, False, True, False, True, True, False, False, False, …
# bf16[70, 45] = -0.56, -0.824, -1.664, 0.56, -0.0047, -1.39, 0.766, -1.875, -1.88, -2.73, -1.43, 0.57, -0.535, -3.8, 0.5, 0.371, 1.02, -0.973, 0.145, 2.48, -0.475, 1.52, -0.187, 2.33, …
# f64[2, 3, 50] = -1.2493354580139187, 0.7351177476918376, 0.29258304183462513, -1.868985750646899, -0.13641483145017255, 0.28748013320814725, -0.22034368505501623, -0.2659680758578197, 2.342884766708825, 0.04621025270874968, 0.3297431763096448, -1.3645751302841833, 3.1048867179852158, 0.8270968811394668, 0.3089751919859901, 0.547588149058183, -0.34946506609007993, -0.37423694456338596, -0.16120901201168697, -2.132716573701078, 1.069663884444594, -0.6737328461637555, 1.0492231541921222, -0.025922263091261527, …
