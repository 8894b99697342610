# Eight rolls by one row, each added to what it rolls. Two of them are a roll by two rows, so one kernel for all would read
# nine elements of `x0` for each of its own, not 2^8, and the bound must not count more.
def rolls_by_equal_shifts(fd: FusionDefinition) -> None:
    x0 = fd.define_tensor(shape=[512, 256], contiguity=True, dtype=DataType.Float)
    a0, b0 = fd.ops.slice(x0, [1, 0], [512, 256]), fd.ops.slice(x0, [0, 0], [1, 256])
    x1 = fd.ops.add(x0, fd.ops.cat([a0, b0], dim=0))
    a1, b1 = fd.ops.slice(x1, [1, 0], [512, 256]), fd.ops.slice(x1, [0, 0], [1, 256])
    x2 = fd.ops.add(x1, fd.ops.cat([a1, b1], dim=0))
    a2, b2 = fd.ops.slice(x2, [1, 0], [512, 256]), fd.ops.slice(x2, [0, 0], [1, 256])
    x3 = fd.ops.add(x2, fd.ops.cat([a2, b2], dim=0))
    a3, b3 = fd.ops.slice(x3, [1, 0], [512, 256]), fd.ops.slice(x3, [0, 0], [1, 256])
    x4 = fd.ops.add(x3, fd.ops.cat([a3, b3], dim=0))
    a4, b4 = fd.ops.slice(x4, [1, 0], [512, 256]), fd.ops.slice(x4, [0, 0], [1, 256])
    x5 = fd.ops.add(x4, fd.ops.cat([a4, b4], dim=0))
    a5, b5 = fd.ops.slice(x5, [1, 0], [512, 256]), fd.ops.slice(x5, [0, 0], [1, 256])
    x6 = fd.ops.add(x5, fd.ops.cat([a5, b5], dim=0))
    a6, b6 = fd.ops.slice(x6, [1, 0], [512, 256]), fd.ops.slice(x6, [0, 0], [1, 256])
    x7 = fd.ops.add(x6, fd.ops.cat([a6, b6], dim=0))
    a7, b7 = fd.ops.slice(x7, [1, 0], [512, 256]), fd.ops.slice(x7, [0, 0], [1, 256])
    x8 = fd.ops.add(x7, fd.ops.cat([a7, b7], dim=0))
    fd.add_output(x8)


inputs = [torch.randn((512, 256))]

# ---- expect
# segment seg0 -> x4
# segment seg1 -> x8
#
# segment  ops  reads      writes     passes  runs as  recomputed
# seg0     16   512.0 KiB  512.0 KiB  1       kernel   0
# seg1     16   512.0 KiB  512.0 KiB  1       kernel   0
#
# seg0: x4 <- x0
#
# seg1: x8 <- x4
#
# seg0 -> seg1: x4 (512.0 KiB); in one kernel x8 would make a kernel of more than 1024 statements, what stages and index maps compute again included
#
# 2.0 MiB moved, 1.0 MiB compulsory, traffic ratio 2.000
# peak memory 1.0 MiB, inputs not counted
# model: 168.6 us, no cut below 107.8 us (gap 36.1 %)
