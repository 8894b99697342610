# One fold with two results.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    var, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=True)
    fd.add_output(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5))))

# ---- expect
# n0 = input 0 : f32[i0, i1]
# n1 = size i1 : i64[]
# n2 = cast f32 (n1) : f32[]
# n3, n3.1, n3.2 = fold welford [1] (n0) : f32[i0], f32[i0], f32[i0]
# n4 = broadcast [old, new] (n3) : f32[i0, 1]
# n5 = broadcast [old, new] (n3.1) : f32[i0, 1]
# n7 = constant 0 : i64[]
# n8 = lt (n7, n1) : bool[]
# n9 = constant float("nan") : f32[]
# n10 = where (n8, n4, n9) : f32[i0, 1]
# n11 = div (n5, n2) : f32[i0, 1]
# n12 = sub (n0, n10) : f32[i0, i1]
# n13 = constant 1e-5 : f32[]
# n14 = add (n11, n13) : f32[i0, 1]
# n15 = rsqrt (n14) : f32[i0, 1]
# n16 = mul (n12, n15) : f32[i0, i1]
# output n16
