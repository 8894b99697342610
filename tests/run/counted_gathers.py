# Indices that are counted and never out of range, as those of a flip: forwards, backwards, with steps, and along
# another axis than that of the source, which takes a diagonal. Twice reversed, nothing has changed.
def counted_gathers(fd):
    x = fd.define_tensor(shape=[5, 70], contiguity=True)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True)
    flipped = fd.ops.index_select(x, fd.ops.iota(70, 69, -1), dim=1)
    back = fd.ops.index_select(flipped, fd.ops.iota(70, 69, -1), dim=1)
    fd.add_output(fd.ops.max(fd.ops.abs(fd.ops.sub(back, x)), dims=[0, 1]))
    fd.add_output(fd.ops.mul(flipped, 2.0))
    fd.add_output(fd.ops.mul(fd.ops.index_select(x, fd.ops.iota(5, 4, -1), dim=0), 2.0))
    fd.add_output(fd.ops.mul(fd.ops.index_select(x, fd.ops.iota(24, 0, 3), dim=1), 2.0))
    fd.add_output(fd.ops.mul(fd.ops.index_select(x, fd.ops.iota(3, 69, -30), dim=1), 2.0))
    places = fd.ops.broadcast(fd.ops.iota(5), [False, True])
    fd.add_output(fd.ops.mul(fd.ops.take_along_axis(x, places, 1), 2.0))
    size = fd.ops.size(y, 1)
    numbers = fd.ops.iota(size, fd.ops.sub(size, 1), -1)
    fd.add_output(fd.ops.mul(fd.ops.index_select(y, numbers, dim=1), 2.0))
    fd.add_output(fd.ops.sum(fd.ops.index_select(y, numbers, dim=1), dims=[1]))
    fd.add_output(fd.ops.cumsum(fd.ops.index_select(y, numbers, dim=1), 1))


inputs = [
    torch.arange(350).to(torch.float32).as_strided((5, 70), (70, 1)),
    torch.arange(100).to(torch.float32).as_strided((3, 33), (33, 1)),
]

# ---- expect
# f32[] = 0.0
# f32[5, 70] = 138.0, 136.0, 134.0, 132.0, 130.0, 128.0, 126.0, 124.0, 122.0, 120.0, 118.0, 116.0, 114.0, 112.0, 110.0, 108.0, 106.0, 104.0, 102.0, 100.0, 98.0, 96.0, 94.0, 92.0, …
# f32[5, 70] = 560.0, 562.0, 564.0, 566.0, 568.0, 570.0, 572.0, 574.0, 576.0, 578.0, 580.0, 582.0, 584.0, 586.0, 588.0, 590.0, 592.0, 594.0, 596.0, 598.0, 600.0, 602.0, 604.0, 606.0, …
# f32[5, 24] = 0.0, 6.0, 12.0, 18.0, 24.0, 30.0, 36.0, 42.0, 48.0, 54.0, 60.0, 66.0, 72.0, 78.0, 84.0, 90.0, 96.0, 102.0, 108.0, 114.0, 120.0, 126.0, 132.0, 138.0, …
# f32[5, 3] = 138.0, 78.0, 18.0, 278.0, 218.0, 158.0, 418.0, 358.0, 298.0, 558.0, 498.0, 438.0, 698.0, 638.0, 578.0
# f32[5, 1] = 0.0, 142.0, 284.0, 426.0, 568.0
# f32[3, 33] = 64.0, 62.0, 60.0, 58.0, 56.0, 54.0, 52.0, 50.0, 48.0, 46.0, 44.0, 42.0, 40.0, 38.0, 36.0, 34.0, 32.0, 30.0, 28.0, 26.0, 24.0, 22.0, 20.0, 18.0, …
# f32[3] = 528.0, 1617.0, 2706.0
# f32[3, 33] = 32.0, 63.0, 93.0, 122.0, 150.0, 177.0, 203.0, 228.0, 252.0, 275.0, 297.0, 318.0, 338.0, 357.0, 375.0, 392.0, 408.0, 423.0, 437.0, 450.0, 462.0, 473.0, 483.0, 492.0, …
