def order_that_a_view_has(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.stride_order(fd.ops.permute(x, dims=[1, 0]), stride_order=[0, 1]))
    fd.add_output(fd.ops.stride_order(fd.ops.slice(x, [0, 1], [4, 6]), stride_order=[1, 0]))
    fd.add_output(fd.ops.stride_order(x, stride_order=[0, 1]))

# ---- expect
# segment seg0 -> tv5
#
# segment  ops  reads  writes  passes  runs as  recomputed
#
# tv2 is a view of x: no bytes moved for it
# tv4 is a view of x: no bytes moved for it
#
# tv5 is copied from x: no two outputs share memory
#
# 8.0 MiB moved, 8.0 MiB compulsory, traffic ratio 1.000
# peak memory 0 B, inputs not counted
# model: 279.6 us, which no other cut can beat
# sizes that are not given count as i0 = 1024, i1 = 1024
