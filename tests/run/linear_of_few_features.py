# Shallow products that kernels compute, with what comes before and behind: in all ranks and dtypes, by one column, from
# zeros below zero.
def linear_of_few_features(fd):
    x = fd.define_tensor(shape=[2, -1, 8], contiguity=True, dtype=DataType.BFloat16)
    w = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    d = fd.define_tensor(shape=[-1, 3], contiguity=True, dtype=DataType.Double)
    e = fd.define_tensor(shape=[3, -1], contiguity=True, dtype=DataType.Double)
    negated = fd.ops.cast(fd.ops.neg(x), dtype=DataType.BFloat16)
    a = fd.ops.gelu(fd.ops.linear(negated, w, bias))
    fd.add_output(fd.ops.add(a, 1.0))
    b = fd.ops.matmul(fd.ops.sin(d), fd.ops.cos(e))
    fd.add_output(fd.ops.exp(b))
    fd.add_output(fd.ops.sum(fd.ops.matmul(d, e), dims=[0]))

inputs = [
    torch.randn(2, 5, 8, dtype=torch.bfloat16),
    torch.randn(4, 8, dtype=torch.bfloat16),
    torch.randn(4, dtype=torch.bfloat16),
    torch.randn(6, 3, dtype=torch.float64),
    torch.randn(3, 7, dtype=torch.float64),
]

# ---- expect
# f32[2, 5, 4] = 0.993927, 0.86035156, 0.8779297, 0.859375, 0.9995823, 0.99035645, 3.796875, 5.25, 0.8833008, 3.4375, 0.89697266, 2.6171875, 2.828125, 1.0644531, 1.5898438, 0.8300781, 0.8408203, 5.125, 2.53125, 1.9179688, 0.8310547, 0.91796875, 1.9765625, 0.8515625, …
# f64[6, 7] = 0.46204238392823277, 0.4958069532861728, 0.5168145703096463, 0.5516515084562521, 0.5255127288959023, 0.6240282181623372, 0.6116979179090707, 5.3590179435728205, 4.722731212312376, 4.599864685562392, 4.295859948193571, 4.815572591178315, 1.1689892340397885, 2.9794934572323433, 0.9999645354583631, 0.8890375554980535, 0.8165370631380653, 0.7495648273371442, 0.8168788097273443, 1.0313943772122944, 0.7262444827194496, 0.8111625827109289, 0.6815014264019909, 0.6239401007833911, …
# f64[7] = 2.240240627523469, -0.1879826015721043, -0.49417509927352044, 0.9190024020943511, 0.11728319051116232, -8.481204126136722, 2.8718225691446233
