def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.add(x, 3))

inputs = [torch.randint(0, 9, (100,))]

# ---- expect
# ; seg0
# define void @seg0(ptr %arguments, ptr %buffers, ptr %scratch, i64 %first_block, i64 %last_block) nounwind "target-cpu"="x86-64-v3" {
# entry:
#   br label %block0
# block0:
#   %t0 = getelementptr i64, ptr %arguments, i64 0
#   %t1 = load i64, ptr %t0
#   %t2 = getelementptr ptr, ptr %buffers, i64 0
#   %t3 = load ptr, ptr %t2
#   %t4 = getelementptr ptr, ptr %buffers, i64 1
#   %t5 = load ptr, ptr %t4
#   %t6 = icmp slt i64 %first_block, %last_block
#   br i1 %t6, label %block1, label %block3
# block1:
#   %t7 = phi i64 [%first_block, %block0], [%t8, %block2]
#   ; v1: i64 = const 3
#   ; for x0 in 16384*block .. min(i0, 16384*block + 16384) lanes {
#   %t9 = mul i64 %t7, 16384
#   %t10 = mul i64 %t7, 16384
#   %t11 = add i64 %t10, 16384
#   %t12 = call i64 @llvm.smin.i64(i64 %t1, i64 %t11)
#   %t13 = sub i64 %t12, %t9
#   %t14 = call i64 @llvm.smax.i64(i64 %t13, i64 0)
#   %t15 = and i64 %t14, -16
#   %t16 = add i64 %t9, %t15
#   %t17 = icmp slt i64 %t9, %t16
#   br i1 %t17, label %block4, label %block6
# block4:
#   %t18 = phi i64 [%t9, %block1], [%t19, %block5]
#   ; v0: i64 = load b0[x0]
#   %t20 = getelementptr i64, ptr %t3, i64 0
#   %t21 = getelementptr i64, ptr %t20, i64 %t18
#   %t22 = load <16 x i64>, ptr %t21, align 8
#   ; v2: i64 = add v0, v1
#   %t23 = add <16 x i64> %t22, splat (i64 3)
#   ; store b1[x0] = v2
#   %t24 = getelementptr i64, ptr %t5, i64 0
#   %t25 = getelementptr i64, ptr %t24, i64 %t18
#   store <16 x i64> %t23, ptr %t25, align 8
#   br label %block5
# block5:
#   %t19 = add nsw i64 %t18, 16
#   %t26 = icmp slt i64 %t19, %t16
#   br i1 %t26, label %block4, label %block6
# block6:
#   %t27 = icmp slt i64 %t16, %t12
#   br i1 %t27, label %block7, label %block8
# block7:
#   %t28 = sub i64 %t12, %t16
#   %t29 = trunc i64 %t28 to i32
#   %t30 = insertelement <16 x i32> poison, i32 %t29, i64 0
#   %t31 = shufflevector <16 x i32> %t30, <16 x i32> %t30, <16 x i32> splat (i32 0)
#   %t32 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t31
#   ; v0: i64 = load b0[x0]
#   %t33 = getelementptr i64, ptr %t3, i64 0
#   %t34 = getelementptr i64, ptr %t33, i64 %t16
#   %t35 = call <16 x i64> @llvm.masked.load.v16i64.p0(ptr %t34, i32 8, <16 x i1> %t32, <16 x i64> splat (i64 0))
#   ; v2: i64 = add v0, v1
#   %t36 = add <16 x i64> %t35, splat (i64 3)
#   ; store b1[x0] = v2
#   %t37 = getelementptr i64, ptr %t5, i64 0
#   %t38 = getelementptr i64, ptr %t37, i64 %t16
#   call void @llvm.masked.store.v16i64.p0(<16 x i64> %t36, ptr %t38, i32 8, <16 x i1> %t32)
#   br label %block8
# block8:
#   br label %block2
# block2:
#   %t8 = add nsw i64 %t7, 1
#   %t39 = icmp slt i64 %t8, %last_block
#   br i1 %t39, label %block1, label %block3
# block3:
#   ret void
# }
# declare <16 x i64> @llvm.masked.load.v16i64.p0(ptr, i32, <16 x i1>, <16 x i64>)
# declare i64 @llvm.smax.i64(i64, i64)
# declare i64 @llvm.smin.i64(i64, i64)
# declare void @llvm.masked.store.v16i64.p0(<16 x i64>, ptr, i32, <16 x i1>)
